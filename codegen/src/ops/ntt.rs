//! The forward negacyclic transform.
//!
//! Its first method, `passes`, works by a plan.

use super::streams::{self, PASSES, STREAMS};
use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use crate::lower::Memory;
use crate::plan::Direction;
use crate::request::Request;
use sim::Machine;

pub(crate) struct Ntt;

impl RingOp for Ntt {
    fn transforms(&self) -> &'static [Direction] {
        &[Direction::Forward]
    }

    fn may_overwrite_operand(&self) -> bool {
        true
    }

    fn methods(&self) -> &'static [&'static str] {
        &[PASSES, STREAMS]
    }

    fn has_plans(&self, method: &str) -> bool {
        method != STREAMS
    }

    fn obstacle(&self, method: &str, request: &Request, machine: &Machine) -> Option<String> {
        if method == STREAMS { streams::obstacle(request, machine.vector_length()) } else { None }
    }

    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let method = builder.method;
        builder.each_ring(|ring| {
            let (x, y) = (ring.input("x"), ring.output("y"));
            if method == STREAMS {
                streams::forward(ring, [x, y]);
            } else {
                ring.transform(0, Memory { input: x, output: y, second: ring.second(x), times: None })?;
            }
            ring.claim(&[y], &[x]);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x = domain.input(claim.inputs[0]);
        Contract { inputs: vec![x.coefficients()], outputs: vec![x.evaluations()] }
    }
}
