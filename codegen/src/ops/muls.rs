//! The product of a vector and a scalar. The multiplier reduces any word.

use super::pointwise::Scalar;
use crate::check::Domain;
use b512_asm::Op;

pub(crate) const OP: Scalar = Scalar {
    op: Op::Vmuls,
    scalar: |ring| ring.number("by"),
    operand: Domain::words,
    result: |domain, x, claim| {
        let residues = domain.residues(x);
        domain.multiple(residues, claim.number("by"))
    },
};
