//! The difference of two polynomials.

use super::pointwise::Binary;
use b512_asm::Op;

pub(crate) const OP: Binary = Binary { op: Op::Vsub, result: |domain, _, a, b| domain.difference(a, b) };
