//! The negative of a polynomial: its product with -1.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use b512_asm::Op;

pub(crate) struct Neg;

impl RingOp for Neg {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let minus_one = ring.modulus() - 1;
            ring.scalar_instruction(Op::Vmuls, minus_one);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x = domain.input(claim.inputs[0]);
        let y = domain.negative(x);
        Contract { inputs: vec![x.coefficients()], outputs: vec![y.coefficients()] }
    }
}
