//! The product of two polynomials: two forward transforms, a product of values, and an inverse
//! transform.
//!
//! If memory is scarce, both forward transforms advance together, in the memory of the operands, and the
//! product of values stays in registers.

use super::{Builder, RingOp, Workspace};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use crate::lower::{Memory, Second};
use crate::plan::Direction;
use b512_asm::Role;

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

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let [a, b] = [0, 1].map(|operand| domain.input(claim.inputs[operand]));
        let c = domain.product(a, b);
        Contract { inputs: vec![a.coefficients(), b.coefficients()], outputs: vec![c.coefficients()] }
    }
}
