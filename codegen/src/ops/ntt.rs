//! The forward negacyclic transform.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use crate::lower::Memory;
use crate::plan::Direction;

pub(crate) struct Ntt;

impl RingOp for Ntt {
    fn transforms(&self) -> &'static [Direction] {
        &[Direction::Forward]
    }

    fn may_overwrite_operand(&self) -> bool {
        true
    }

    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let (x, y) = (ring.input("x"), ring.output("y"));
            ring.transform(0, Memory { input: x, output: y, second: ring.second(x), times: None })?;
            ring.claim(&[y], &[x]);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x = domain.input(claim.inputs[0]);
        Contract { inputs: vec![x.coefficients()], outputs: vec![x.evaluations()] }
    }
}
