//! The product of a vector and a scalar. The multiplier reduces any word.

use super::pointwise::Scalar;
use crate::number::Expression;
use b512_asm::Op;

pub(crate) const OP: Scalar = Scalar {
    op: Op::Vmuls,
    scalar: |ring| Expression::Value(ring.number("by")),
    result: |domain, _, x, settings| {
        let residues = domain.residues(x);
        Some(domain.multiple(residues, settings.number("by")))
    },
};
