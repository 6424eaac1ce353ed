//! A generated kernel: a self-contained program and its history.

use crate::bounds::{PassBound, passes};
use crate::code::{Code, Scalar};
use crate::forwarding::Removed;
use crate::number::{Expression, Number};
use crate::recipe::Recipe;
use crate::schedule::{Addresses, Scheduled};
use b512_asm::Program;
use sim::Machine;

/// A generated kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// The program.
    pub program: Program,
    /// The recipe that it was compiled from.
    pub recipe: Recipe,
    /// The vector code that the program executes.
    pub code: Code,
    /// The loads and stores that forwarding removed from the code.
    pub removed: Removed,
    /// The schedule of the code.
    pub scheduled: Scheduled,
    /// The memory map.
    pub(crate) addresses: Addresses,
}

impl Kernel {
    /// The word of the SDM that holds the scalar with this value, if the kernel has such a scalar.
    pub fn scalar_address(&self, value: u128) -> Option<u32> {
        let holds = |scalar: &Scalar| match scalar.number {
            Number::Expression(id) => self.code.expressions[id.index()] == Expression::Value(value),
            Number::Root { .. } => false,
        };
        self.code.scalars.iter().position(holds).map(|index| index as u32)
    }

    /// The bounds of the passes of the vector code on a machine, in order.
    pub fn bounds(&self, machine: &Machine) -> Vec<PassBound> {
        passes(&self.code, &self.addresses, &self.program.addresses, machine)
    }
}
