//! The difference of two polynomials.

use super::pointwise::Binary;
use crate::check::Domain;
use b512_asm::Op;

pub(crate) const OP: Binary = Binary { op: Op::Vsub, result: Domain::difference };
