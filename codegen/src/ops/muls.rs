//! The product of a vector and a scalar. The multiplier reduces any word.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use b512_asm::Op;

pub(crate) struct Muls;

impl RingOp for Muls {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let by = ring.number("by");
            ring.scalar_instruction(Op::Vmuls, by);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x = domain.words(claim.inputs[0]);
        let residues = domain.residues(x);
        let y = domain.multiple(residues, claim.number("by"));
        Contract { inputs: vec![x.coefficients()], outputs: vec![y.coefficients()] }
    }
}
