//! The sum of two polynomials.

use super::pointwise::Binary;
use b512_asm::Op;

pub(crate) const OP: Binary = Binary { op: Op::Vadd, result: |domain, _, a, b| domain.sum(a, b) };
