//! A product plus a sum, coefficient by coefficient.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use b512_asm::Op;

pub(crate) struct Mac;

pub(crate) const OP: Mac = Mac;

impl RingOp for Mac {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let [a, b, c] = ["a", "b", "c"].map(|name| ring.input(name));
            let d = ring.output("d");
            ring.pointwise([a, b, c], d, |code, tower, [a, b, c]| {
                let product = code.apply(Op::Vmul, [a, b], None, tower);
                code.apply(Op::Vadd, [product, c], None, tower)
            });
            ring.claim(&[d], &[a, b, c]);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let [a, b, c] = [0, 1, 2].map(|operand| domain.input(claim.inputs[operand]));
        let product = domain.pointwise(a, b);
        let d = domain.sum(product, c);
        let inputs = [a, b, c].map(|polynomial| polynomial.coefficients()).to_vec();
        Contract { inputs, outputs: vec![d.coefficients()] }
    }
}
