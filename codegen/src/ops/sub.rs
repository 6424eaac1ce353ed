//! The difference of two polynomials.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use b512_asm::Op;

pub(crate) struct Sub;

impl RingOp for Sub {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            ring.instruction(Op::Vsub);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let [a, b] = [0, 1].map(|operand| domain.input(claim.inputs[operand]));
        let c = domain.difference(a, b);
        Contract { inputs: vec![a.coefficients(), b.coefficients()], outputs: vec![c.coefficients()] }
    }
}
