//! The operations, one file each.
//!
//! [`for_each_operation!`](crate::for_each_operation) lists them. Every layer that knows operations
//! expands this list into its own registry, so that an operation without a file in one of the
//! layers does not compile.

use crate::error::UnknownOperation;
use crate::operation::Operation;
use diagnostic::nearest;
use std::str::FromStr;

pub(crate) mod add;
pub(crate) mod adds;
pub(crate) mod automorphism;
pub(crate) mod intt;
pub(crate) mod mac;
pub(crate) mod mul;
pub(crate) mod muls;
pub(crate) mod neg;
pub(crate) mod ntt;
pub(crate) mod polymul;
pub(crate) mod rotate;
pub(crate) mod sub;
pub(crate) mod subs;

/// Calls the macro `$then` with the list of operations: for each, the module, which has the operation's
/// name, and its constant.
///
/// ```
/// macro_rules! names {
///     ($(($module:ident, $CONSTANT:ident))*) => { [$(stringify!($module)),*] };
/// }
/// assert_eq!(golden::for_each_operation!(names)[0], golden::NTT.name());
/// ```
#[macro_export]
macro_rules! for_each_operation {
    ($then:ident) => {
        $then! {
            (ntt, NTT)
            (intt, INTT)
            (polymul, POLYMUL)
            (add, ADD)
            (sub, SUB)
            (mul, MUL)
            (mac, MAC)
            (neg, NEG)
            (adds, ADDS)
            (subs, SUBS)
            (muls, MULS)
            (automorphism, AUTOMORPHISM)
            (rotate, ROTATE)
        }
    };
}

macro_rules! registry {
    ($(($module:ident, $CONSTANT:ident))*) => {
        $(
            #[doc = concat!("The operation `", stringify!($module), "`.")]
            pub const $CONSTANT: Operation = Operation::new(&$module::SIGNATURE, $module::evaluate);
        )*

        /// Every operation, in display order.
        pub const OPERATIONS: &[Operation] = &[$($CONSTANT),*];
    };
}

for_each_operation!(registry);

/// The operation that is meant where none is named: the first.
pub const DEFAULT: Operation = OPERATIONS[0];

/// The operation of that name.
pub fn find(name: &str) -> Option<Operation> {
    OPERATIONS.iter().copied().find(|operation| operation.name() == name)
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    /// The operation of that name.
    fn from_str(name: &str) -> Result<Self, UnknownOperation> {
        find(name).ok_or_else(|| UnknownOperation::new(name, help(name)))
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
