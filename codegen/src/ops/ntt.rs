//! The forward negacyclic transform.

use super::streams;
use super::transform::Transform;
use crate::plan::Direction;

pub(crate) const OP: Transform = Transform {
    directions: &[Direction::Forward],
    streams: streams::forward,
    forms: |x| [x.coefficients(), x.evaluations()],
};
