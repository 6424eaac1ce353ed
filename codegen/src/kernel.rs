//! A generated kernel: a self-contained program and its history.

use crate::bounds::{PassBound, passes};
use crate::code::{BufferId, Code};
use crate::forwarding::Removed;
use crate::layout::Layout;
use crate::number::{Expression, Number};
use crate::recipe::Recipe;
use crate::schedule::Scheduled;
use b512_asm::{Program, Space};
use sim::Machine;
use std::ops::Range;

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
    pub(crate) layout: Layout,
}

/// The location of a number that a launch sets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NumberWords {
    /// The memory.
    pub space: Space,
    /// The words; each holds the number.
    pub words: Range<u32>,
}

impl Kernel {
    /// The words that hold the number with this value: a scalar, or a vector with the number in all lanes.
    pub fn number_words(&self, value: u128) -> Option<NumberWords> {
        let holds = |number: Number| match number {
            Number::Expression(id) => self.code.expressions[id.index()] == Expression::Value(value),
            Number::Root { .. } => false,
        };
        if let Some(index) = self.code.scalars.iter().position(|scalar| holds(scalar.number)) {
            let index = index as u32;
            return Some(NumberWords { space: Space::Sdm, words: index..index + 1 });
        }
        let constant =
            self.code.constants.iter().position(|constant| constant.numbers.iter().all(|&n| holds(n)))?;
        let (_, table) =
            *self.program.addresses.iter().find(|(register, _)| *register == self.layout.addresses.table)?;
        let start = table + self.layout.addresses.constants[constant];
        let words = start..start + self.code.constants[constant].numbers.len() as u32;
        Some(NumberWords { space: Space::Vdm, words })
    }

    /// The words of the table for one of the rings. They are the whole table of the kernel for this ring
    /// alone.
    pub fn table_of(&self, ring: usize) -> Range<u32> {
        self.layout.table_of(&self.code, ring)
    }

    /// The words of the SDM that it reads.
    pub fn sdm_words(&self) -> u32 {
        self.code.scalars.len() as u32
    }

    /// Whether each result may lie in the memory of its operand: no access to the operand follows the first
    /// one to the result.
    pub fn may_work_in_place(&self) -> bool {
        let accesses = |wanted: BufferId| {
            let origins = self.scheduled.origin.iter().enumerate();
            origins.filter_map(move |(index, &origin)| {
                let memory = self.code.insts[origin?.index()].memory?;
                (memory.buffer == wanted).then_some(index)
            })
        };
        let claims = &self.code.claims;
        !claims.is_empty()
            && claims.iter().all(|claim| match (&claim.inputs[..], &claim.outputs[..]) {
                (&[input], &[output]) => {
                    // A part of a buffer is accessed under the buffer's name.
                    let is_whole = |buffer: BufferId| self.code.buffers[buffer.index()].within.is_none();
                    is_whole(input) && is_whole(output) && accesses(input).max() < accesses(output).min()
                }
                _ => false,
            })
    }

    /// The bounds of the passes of the vector code on a machine, in order.
    pub fn bounds(&self, machine: &Machine) -> Vec<PassBound> {
        passes(&self.code, &self.layout.addresses, &self.program.addresses, machine)
    }
}
