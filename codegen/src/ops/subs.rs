//! The difference of a vector and a scalar.

use super::pointwise::Scalar;
use crate::check::Domain;
use b512_asm::Op;

pub(crate) const OP: Scalar = Scalar {
    op: Op::Vsubs,
    scalar: |ring| ring.number("by"),
    operand: Domain::input,
    result: |domain, x, claim| domain.plus_minus(x, claim.number("by"))[1],
};
