//! The inverse negacyclic transform.

use super::streams;
use super::transform::Transform;
use crate::check::Basis;
use crate::plan::Direction;

pub(crate) const OP: Transform = Transform {
    directions: &[Direction::Inverse],
    streams: streams::inverse,
    bases: [Basis::Evaluations, Basis::Coefficients],
};
