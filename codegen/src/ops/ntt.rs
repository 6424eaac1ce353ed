//! The forward negacyclic transform.

use super::streams;
use super::transform::Transform;
use crate::check::Basis;
use crate::plan::Direction;

pub(crate) const OP: Transform = Transform {
    directions: &[Direction::Forward],
    streams: streams::forward,
    bases: [Basis::Coefficients, Basis::Evaluations],
};
