//! The negative of a polynomial: its product with -1.

use super::pointwise::Scalar;
use crate::number::Expression;
use b512_asm::Op;

pub(crate) const OP: Scalar = Scalar {
    op: Op::Vmuls,
    scalar: |_| Expression::minus_one(),
    result: |domain, _, x, _| Some(domain.negative(x)),
};
