//! A product plus a sum, coefficient by coefficient.

use super::{Builder, RingOp};
use crate::check::{Basis, Domain, PolynomialId, Words};
use crate::error::Error;
use b512_asm::Op;
use golden::Settings;

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

    fn result(
        &self,
        domain: &mut Domain,
        operands: &[PolynomialId],
        basis: Basis,
        _settings: &Settings<'_>,
    ) -> Option<Words> {
        let product = domain.product_in(basis, operands[0], operands[1]);
        Some(domain.sum(product, operands[2]).in_basis(basis))
    }
}
