//! The product of two polynomials: two forward transforms, a product of values, and an inverse
//! transform.
//!
//! If memory is scarce, both forward transforms advance together, in the memory of the operands, and the
//! product of values stays in registers.

use super::{Builder, RingOp, Workspace};
use crate::check::{Basis, Domain, PolynomialId, Words};
use crate::error::Error;
use crate::lower::{Memory, Second};
use crate::plan::Direction;
use b512_asm::Role;
use golden::Settings;

pub(crate) struct Polymul;

pub(crate) const OP: Polymul = Polymul;

const FORWARD: usize = 0;
const INVERSE: usize = 1;

impl RingOp for Polymul {
    fn transforms(&self) -> &'static [Direction] {
        &[Direction::Forward, Direction::Inverse]
    }

    fn may_overwrite_operand(&self) -> bool {
        true
    }

    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let in_three_buffers = builder.workspace == Workspace::Operand;
        builder.each_ring(|ring| {
            let (a, b, c) = (ring.input("a"), ring.input("b"), ring.output("c"));
            ring.claim(&[c], &[a, b]);
            if in_three_buffers && ring.product([FORWARD, INVERSE], [a, b, c])? {
                return Ok(());
            }
            let product = ring.buffer("product", Role::Scratch);
            let second = Second::Reuse(product);
            ring.transform(FORWARD, Memory { input: a, output: c, second, times: None })?;
            // The second transform does not depend on the first one.
            ring.code.first_pass();
            let second = Second::New;
            ring.transform(FORWARD, Memory { input: b, output: product, second, times: Some(c) })?;
            ring.transform(INVERSE, Memory { input: product, output: c, second, times: None })
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
        _settings: &Settings<'_>,
    ) -> Option<Words> {
        Some(domain.product(operands[0], operands[1]).in_basis(basis))
    }
}
