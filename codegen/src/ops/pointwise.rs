//! Operations that take one instruction for each vector.

use super::builder::RingBuilder;
use super::{Builder, RingOp};
use crate::check::{Contract, Domain, PolynomialId};
use crate::code::{BufferId, Claim};
use crate::error::Error;
use crate::number::Expression;
use b512_asm::Op;

/// An operation on two polynomials `a` and `b`, with the result `c`.
pub(crate) struct Binary {
    /// The instruction.
    pub(crate) op: Op,
    /// Its result.
    pub(crate) result: fn(&mut Domain, PolynomialId, PolynomialId) -> PolynomialId,
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

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let [a, b] = [0, 1].map(|operand| domain.input(claim.inputs[operand]));
        let c = (self.result)(domain, a, b);
        Contract { inputs: vec![a.coefficients(), b.coefficients()], outputs: vec![c.coefficients()] }
    }
}

/// An operation on a polynomial `x` and a scalar, with the result `y`.
pub(crate) struct Scalar {
    /// The instruction.
    pub(crate) op: Op,
    /// The scalar.
    pub(crate) scalar: fn(&RingBuilder<'_>) -> u128,
    /// The operand: residues, or any words.
    pub(crate) operand: fn(&mut Domain, BufferId) -> PolynomialId,
    /// The result of the instruction.
    pub(crate) result: fn(&mut Domain, PolynomialId, &Claim) -> PolynomialId,
}

impl RingOp for Scalar {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let (x, y, scalar) = (ring.input("x"), ring.output("y"), (self.scalar)(ring));
            let number = ring.code.number(Expression::Value(scalar));
            ring.pointwise([x], y, |code, tower, [x]| code.with_scalar(self.op, x, number, tower));
            ring.claim(&[y], &[x]);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x = (self.operand)(domain, claim.inputs[0]);
        let y = (self.result)(domain, x, claim);
        Contract { inputs: vec![x.coefficients()], outputs: vec![y.coefficients()] }
    }
}
