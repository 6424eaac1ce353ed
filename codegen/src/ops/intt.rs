//! The inverse negacyclic transform.

use super::builder::RingBuilder;
use super::streams;
use super::transform::Transform;
use crate::check::{Contract, Domain};
use crate::code::{BufferId, Claim};
use crate::plan::Direction;

pub(crate) struct Intt;

impl Transform for Intt {
    const DIRECTIONS: &'static [Direction] = &[Direction::Inverse];

    fn streams(ring: &mut RingBuilder<'_>, buffers: [BufferId; 2]) {
        streams::inverse(ring, buffers);
    }

    fn contract(domain: &mut Domain, claim: &Claim) -> Contract {
        let x = domain.input(claim.inputs[0]);
        Contract { inputs: vec![x.evaluations()], outputs: vec![x.coefficients()] }
    }
}
