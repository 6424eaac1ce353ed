//! Transforms: their methods are the same in both directions.
//!
//! The first method, `passes`, works by a plan; the other one is [`streams`].

use super::streams;
use super::{Builder, RingOp, builder::RingBuilder};
use crate::check::{Basis, Domain, PolynomialId, Words};
use crate::code::BufferId;
use crate::error::Error;
use crate::lower::Memory;
use crate::plan::Direction;
use crate::request::Request;
use golden::Settings;
use sim::Machine;

/// The names of the methods: by streams, and by a plan.
const STREAMS: &str = "streams";
const PASSES: &str = "passes";

/// An operation that is one transform of its operand `x` to its result `y`.
pub(crate) struct Transform {
    /// The transform.
    pub(crate) directions: &'static [Direction],
    /// Appends the transform by streams.
    pub(crate) streams: fn(&mut RingBuilder<'_>, [BufferId; 2]),
    /// The bases of operand and result.
    pub(crate) bases: [Basis; 2],
}

impl RingOp for Transform {
    fn transforms(&self) -> &'static [Direction] {
        self.directions
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
                (self.streams)(ring, [x, y]);
            } else {
                ring.transform(0, Memory { input: x, output: y, second: ring.second(x), times: None })?;
            }
            ring.claim(&[y], &[x]);
            Ok(())
        })
    }

    fn bases(&self, _settings: &Settings<'_>) -> Option<[Basis; 2]> {
        Some(self.bases)
    }

    fn result(
        &self,
        _domain: &mut Domain,
        operands: &[PolynomialId],
        _basis: Basis,
        _settings: &Settings<'_>,
    ) -> Option<Words> {
        let [_, basis] = self.bases;
        Some(operands[0].in_basis(basis))
    }
}
