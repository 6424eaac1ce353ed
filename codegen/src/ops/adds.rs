//! The sum of a vector and a scalar.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use b512_asm::Op;

pub(crate) struct Adds;

impl RingOp for Adds {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let by = ring.number("by");
            ring.scalar_instruction(Op::Vadds, by);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x = domain.input(claim.inputs[0]);
        let [y, _] = domain.plus_minus(x, claim.number("by"));
        Contract { inputs: vec![x.coefficients()], outputs: vec![y.coefficients()] }
    }
}
