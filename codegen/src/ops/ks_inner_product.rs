//! The inner product of key switching: one multiplication and addition for each digit and part of the
//! key.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain, PolynomialId};
use crate::code::{BufferId, Claim, MemRef, ValueId};
use crate::error::Error;
use b512_asm::{AddressMode, Op};

pub(crate) struct KsInnerProduct;

impl RingOp for KsInnerProduct {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let digits = ring.number("digits");
            let [d, b, a] = ["d", "b", "a"].map(|name| {
                (0..digits).map(|digit| ring.input(&format!("{name}{digit}"))).collect::<Vec<_>>()
            });
            let outputs = [ring.output("u"), ring.output("v")];
            let tower = ring.tower();
            for word in (0..ring.n()).step_by(ring.code.isa.vector_length() as usize) {
                let at = |buffer| MemRef { buffer, word, mode: AddressMode::Linear };
                let mut sums: [Option<ValueId>; 2] = [None; 2];
                for digit in 0..d.len() {
                    let factor = ring.code.load(at(d[digit]), tower);
                    for (key, sum) in [&b, &a].into_iter().zip(&mut sums) {
                        let key = ring.code.load(at(key[digit]), tower);
                        *sum = Some(match *sum {
                            None => ring.code.apply(Op::Vmul, [factor, key], None, tower),
                            Some(sum) => ring.code.multiply_add(sum, [factor, key], tower)[0],
                        });
                    }
                }
                for (sum, output) in sums.into_iter().flatten().zip(outputs) {
                    ring.code.store(sum, at(output), tower);
                }
            }
            let inputs: Vec<BufferId> = [d, b, a].concat();
            ring.claim(&outputs, &inputs);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let inputs: Vec<PolynomialId> = claim.inputs.iter().map(|&buffer| domain.input(buffer)).collect();
        let (digits, keys) = inputs.split_at(claim.number("digits") as usize);
        let sum = |key: &[PolynomialId]| {
            let products = digits.iter().zip(key).map(|(&d, &k)| domain.pointwise(d, k)).collect::<Vec<_>>();
            let sum = products.into_iter().reduce(|sum, product| domain.sum(sum, product));
            sum.expect("there is a digit").coefficients()
        };
        let outputs = keys.chunks(digits.len()).map(sum).collect();
        Contract { inputs: inputs.iter().map(|polynomial| polynomial.coefficients()).collect(), outputs }
    }
}
