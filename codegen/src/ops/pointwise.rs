//! Operations that take one instruction for each vector.

use super::builder::RingBuilder;
use super::{Builder, RingOp};
use crate::check::{Basis, Domain, PolynomialId, Words};
use crate::error::Error;
use crate::number::Expression;
use b512_asm::Op;
use golden::Settings;

/// An operation on two polynomials `a` and `b`, with the result `c`.
pub(crate) struct Binary {
    /// The instruction.
    pub(crate) op: Op,
    /// Its result.
    pub(crate) result: fn(&mut Domain, Basis, PolynomialId, PolynomialId) -> PolynomialId,
}

impl RingOp for Binary {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let (a, b, c) = (ring.input("a"), ring.input("b"), ring.output("c"));
            ring.pointwise([a, b], c, |code, tower, values| code.apply(self.op, values, None, tower));
            ring.claim(&[c], &[a, b]);
            Ok(())
        })
    }

    fn result(
        &self,
        domain: &mut Domain,
        operands: &[PolynomialId],
        basis: Basis,
        _settings: &Settings<'_>,
    ) -> Option<Words> {
        Some((self.result)(domain, basis, operands[0], operands[1]).in_basis(basis))
    }
}

/// An operation on a polynomial `x` and a scalar, with the result `y`.
pub(crate) struct Scalar {
    /// The instruction.
    pub(crate) op: Op,
    /// The scalar.
    pub(crate) scalar: fn(&RingBuilder<'_>) -> Expression,
    /// The result of the instruction, if it is one in that basis.
    pub(crate) result: fn(&mut Domain, Basis, PolynomialId, &Settings<'_>) -> Option<PolynomialId>,
}

impl RingOp for Scalar {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let (x, y, scalar) = (ring.input("x"), ring.output("y"), (self.scalar)(ring));
            let number = ring.code.number(scalar);
            ring.pointwise([x], y, |code, tower, [x]| code.with_scalar(self.op, x, number, tower));
            ring.claim(&[y], &[x]);
            Ok(())
        })
    }

    fn result(
        &self,
        domain: &mut Domain,
        operands: &[PolynomialId],
        basis: Basis,
        settings: &Settings<'_>,
    ) -> Option<Words> {
        (self.result)(domain, basis, operands[0], settings).map(|result| result.in_basis(basis))
    }
}
