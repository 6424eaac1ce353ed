//! The inverse negacyclic transform.

use super::streams;
use super::transform::Transform;
use crate::plan::Direction;

pub(crate) const OP: Transform = Transform {
    directions: &[Direction::Inverse],
    streams: streams::inverse,
    forms: |x| [x.evaluations(), x.coefficients()],
};
