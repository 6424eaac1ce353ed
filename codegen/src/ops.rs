//! The operations, one file each: their transforms, their code and their proof rule.
//!
//! The golden model defines the list. An operation without a file here does not compile.

mod builder;

mod add;
mod adds;
mod automorphism;
mod intt;
mod mac;
mod mul;
mod muls;
mod neg;
mod ntt;
mod pointwise;
mod polymul;
mod rotate;
mod streams;
mod sub;
mod subs;
mod transform;

pub(crate) use builder::{Builder, Workspace};

use crate::check::{Basis, Domain, PolynomialId, Words};
use crate::error::Error;
use crate::plan::Direction;
use crate::request::Request;
use golden::{Operation, Settings};
use sim::Machine;

/// The code generator's view of an operation.
pub(crate) trait RingOp: Sync {
    /// The transforms of its code, in the order of a recipe's plans.
    fn transforms(&self) -> &'static [Direction] {
        &[]
    }

    /// Whether it can save memory by overwriting its operand.
    fn may_overwrite_operand(&self) -> bool {
        false
    }

    /// The names of its methods if it has several, the preferred ones first.
    fn methods(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether one of its methods works by the plans of its transforms.
    fn has_plans(&self, _method: &str) -> bool {
        !self.transforms().is_empty()
    }

    /// The reason why one of its methods does not suit a request or a machine.
    fn obstacle(&self, _method: &str, _request: &Request, _machine: &Machine) -> Option<String> {
        None
    }

    /// Appends its code, its buffers and its claims.
    ///
    /// # Errors
    /// Returns an error if a plan is invalid.
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error>;

    /// The bases in which the operands and the result are; `None` if any will do, one for all.
    fn bases(&self, _settings: &Settings<'_>) -> Option<[Basis; 2]> {
        None
    }

    /// The proof rule: the abstract value of the result, from those of as many operands as the operation
    /// takes, in a basis that [`Self::bases`] allows. `None` if the abstract values cannot express it.
    fn result(
        &self,
        domain: &mut Domain,
        operands: &[PolynomialId],
        basis: Basis,
        settings: &Settings<'_>,
    ) -> Option<Words>;
}

/// The method for a request on a machine: the recipe's, or else the first that suits. The name is empty for
/// an operation with only one method.
///
/// # Errors
/// Returns an error if the operation has no such method, or if it does not suit.
pub(crate) fn method(
    recipe: Option<&str>,
    request: &Request,
    machine: &Machine,
) -> Result<&'static str, Error> {
    let (operation, op) = (request.operation, of(request.operation));
    let methods = op.methods();
    let obstacle = |method: &str| op.obstacle(method, request, machine);
    let Some(name) = recipe else {
        let suits = methods.iter().find(|method| obstacle(method).is_none());
        return Ok(suits.or(methods.first()).copied().unwrap_or_default());
    };
    let Some(method) = methods.iter().find(|&&method| method == name) else {
        return Err(Error::UnknownMethod { operation, method: name.to_owned(), methods });
    };
    match obstacle(method) {
        Some(obstacle) => Err(Error::Method { operation, method, obstacle }),
        None => Ok(method),
    }
}

macro_rules! registry {
    ($(($module:ident, $CONSTANT:ident))*) => {
        /// The implementation of an operation.
        pub(crate) fn of(operation: Operation) -> &'static dyn RingOp {
            match operation.name() {
                $(stringify!($module) => &$module::OP,)*
                name => unreachable!("`{name}` is not in the list of operations"),
            }
        }
    };
}

::golden::for_each_operation!(registry);
