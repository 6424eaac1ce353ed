//! The operations, one file each.
//!
//! [`for_each_operation!`](crate::for_each_operation) lists them. Every layer that knows operations
//! expands this list into its own registry, so that an operation without a file in one of the
//! layers does not compile.

use crate::error::UnknownOperation;
use crate::operation::Operation;
use diagnostic::nearest;
use std::str::FromStr;

pub mod add;
pub mod adds;
pub mod automorphism;
pub mod bconv;
pub mod intt;
pub mod ks_inner_product;
pub mod mac;
pub mod mod_down;
pub mod mod_switch;
pub mod mod_up;
pub mod mul;
pub mod muls;
pub mod neg;
pub mod ntt;
pub mod polymul;
pub mod rescale;
pub mod rns_join;
pub mod rns_split;
pub mod sub;
pub mod subs;
pub mod tensor;

/// Calls the macro `$then` with the list of operations: for each, the module (which has the
/// operation's name), its type, and its constant.
///
/// ```
/// macro_rules! names {
///     ($(($module:ident, $Type:ident, $CONSTANT:ident))*) => { [$(stringify!($module)),*] };
/// }
/// assert_eq!(golden::for_each_operation!(names)[0], golden::NTT.name());
/// ```
#[macro_export]
macro_rules! for_each_operation {
    ($then:ident) => {
        $then! {
            (ntt, Ntt, NTT)
            (intt, Intt, INTT)
            (polymul, Polymul, POLYMUL)
            (add, Add, ADD)
            (sub, Sub, SUB)
            (mul, Mul, MUL)
            (mac, Mac, MAC)
            (neg, Neg, NEG)
            (adds, Adds, ADDS)
            (subs, Subs, SUBS)
            (muls, Muls, MULS)
            (automorphism, Automorphism, AUTOMORPHISM)
            (tensor, Tensor, TENSOR)
            (ks_inner_product, KsInnerProduct, KS_INNER_PRODUCT)
            (bconv, Bconv, BCONV)
            (mod_up, ModUp, MOD_UP)
            (mod_down, ModDown, MOD_DOWN)
            (rescale, Rescale, RESCALE)
            (mod_switch, ModSwitch, MOD_SWITCH)
            (rns_split, RnsSplit, RNS_SPLIT)
            (rns_join, RnsJoin, RNS_JOIN)
        }
    };
}

macro_rules! registry {
    ($(($module:ident, $Type:ident, $CONSTANT:ident))*) => {
        $(
            #[doc = concat!("The operation `", stringify!($module), "`.")]
            pub const $CONSTANT: Operation = Operation::new(&$module::$Type);
        )*

        /// Every operation, in display order.
        pub const OPERATIONS: &[Operation] = &[$($CONSTANT),*];
    };
}

for_each_operation!(registry);

/// The operation of that name.
pub fn find(name: &str) -> Option<Operation> {
    OPERATIONS.iter().copied().find(|operation| operation.name() == name)
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    /// The operation of that name, also with hyphens for underscores.
    fn from_str(name: &str) -> Result<Self, UnknownOperation> {
        find(&name.replace('-', "_")).ok_or_else(|| UnknownOperation::new(name, help(name)))
    }
}

/// The operation with the most similar name, or else all of them.
fn help(name: &str) -> String {
    let names = || OPERATIONS.iter().map(|operation| operation.name());
    match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the operations are {}", names().collect::<Vec<_>>().join(", ")),
    }
}
