//! The difference of a vector and a scalar.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use b512_asm::Op;

pub(crate) struct Subs;

impl RingOp for Subs {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let by = ring.number("by");
            ring.scalar_instruction(Op::Vsubs, by);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x = domain.input(claim.inputs[0]);
        let [_, y] = domain.plus_minus(x, claim.number("by"));
        Contract { inputs: vec![x.coefficients()], outputs: vec![y.coefficients()] }
    }
}
