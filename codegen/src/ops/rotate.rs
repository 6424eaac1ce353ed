//! The cyclic rotation of a vector, by loads from a copy: an access may begin at any word.

use super::{Builder, RingOp};
use crate::check::{Basis, Domain, PolynomialId, Words};
use crate::code::MemRef;
use crate::error::Error;
use b512_asm::AddressMode;
use golden::Settings;

pub(crate) struct Rotate;

pub(crate) const OP: Rotate = Rotate;

impl RingOp for Rotate {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.each_ring(|ring| {
            let (x, y) = (ring.input("x"), ring.output("y"));
            let (n, lanes) = (ring.n(), ring.code.isa.vector_length());
            let places = (ring.number("by") % u128::from(n)) as u32;
            let tower = ring.tower();
            let at = |buffer, word| MemRef { buffer, word, mode: AddressMode::Linear };
            // Whole vectors come from the operand itself. Others cross its end: a copy goes on with its
            // beginning.
            let source = if places.is_multiple_of(lanes) {
                x
            } else {
                let copy = ring.scratch("copy", n + lanes);
                for word in (0..n).step_by(lanes as usize) {
                    let vector = ring.code.load(at(x, word), tower);
                    ring.code.store(vector, at(copy, word), tower);
                    if word == 0 {
                        ring.code.store(vector, at(copy, n), tower);
                    }
                }
                ring.code.end_pass();
                copy
            };
            for word in (0..n).step_by(lanes as usize) {
                let vector = ring.code.load(at(source, (word + places) % n), tower);
                ring.code.store(vector, at(y, word), tower);
            }
            ring.claim(&[y], &[x]);
            Ok(())
        })
    }

    fn bases(&self, _settings: &Settings<'_>) -> Option<[Basis; 2]> {
        Some([Basis::Coefficients; 2])
    }

    fn result(
        &self,
        domain: &mut Domain,
        operands: &[PolynomialId],
        basis: Basis,
        settings: &Settings<'_>,
    ) -> Option<Words> {
        Some(domain.rotated(operands[0], settings.number("by")).in_basis(basis))
    }
}
