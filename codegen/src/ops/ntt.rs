//! The forward negacyclic transform.

use super::builder::RingBuilder;
use super::streams;
use super::transform::Transform;
use crate::check::{Contract, Domain};
use crate::code::{BufferId, Claim};
use crate::plan::Direction;

pub(crate) struct Ntt;

impl Transform for Ntt {
    const DIRECTIONS: &'static [Direction] = &[Direction::Forward];

    fn streams(ring: &mut RingBuilder<'_>, buffers: [BufferId; 2]) {
        streams::forward(ring, buffers);
    }

    fn contract(domain: &mut Domain, claim: &Claim) -> Contract {
        let x = domain.input(claim.inputs[0]);
        Contract { inputs: vec![x.coefficients()], outputs: vec![x.evaluations()] }
    }
}
