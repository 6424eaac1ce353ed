//! The sum of a vector and a scalar.

use super::pointwise::Scalar;
use crate::number::Expression;
use b512_asm::Op;

pub(crate) const OP: Scalar = Scalar {
    op: Op::Vadds,
    scalar: |ring| Expression::Value(ring.number("by")),
    result: |domain, basis, x, settings| Some(domain.plus_minus(basis, x, settings.number("by"))?[0]),
};
