//! The product of two polynomials, coefficient by coefficient.

use super::pointwise::Binary;
use crate::check::Domain;
use b512_asm::Op;

pub(crate) const OP: Binary = Binary { op: Op::Vmul, result: Domain::product_in };
