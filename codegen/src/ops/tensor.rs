//! The tensor product of two ciphertexts: four products, one of them with a sum.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain, PolynomialId};
use crate::code::Claim;
use crate::error::Error;
use b512_asm::Op;

pub(crate) struct Tensor;

impl RingOp for Tensor {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let inputs = ["a0", "a1", "b0", "b1"].map(|name| ring.input(name));
            let outputs = ["c0", "c1", "c2"].map(|name| ring.output(name));
            ring.each_vector(inputs, outputs, |code, tower, [a0, a1, b0, b1]| {
                let mut product = |a, b| code.apply(Op::Vmul, [a, b], None, tower);
                let (c0, half, c2) = (product(a0, b0), product(a0, b1), product(a1, b1));
                [c0, code.multiply_add(half, [a1, b0], tower)[0], c2]
            });
            ring.claim(&outputs, &inputs);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let inputs = [0, 1, 2, 3].map(|operand| domain.input(claim.inputs[operand]));
        let [a0, a1, b0, b1] = inputs;
        let [c0, left, right, c2] =
            [(a0, b0), (a0, b1), (a1, b0), (a1, b1)].map(|(a, b)| domain.pointwise(a, b));
        let outputs = [c0, domain.sum(left, right), c2];
        let coefficients = |list: &[PolynomialId]| list.iter().map(|p| p.coefficients()).collect();
        Contract { inputs: coefficients(&inputs), outputs: coefficients(&outputs) }
    }
}
