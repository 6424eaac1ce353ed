//! The negative of a polynomial: its product with -1.

use super::pointwise::Scalar;
use b512_asm::Op;

pub(crate) const OP: Scalar = Scalar {
    op: Op::Vmuls,
    scalar: |ring| ring.modulus() - 1,
    result: |domain, _, x, _| Some(domain.negative(x)),
};
