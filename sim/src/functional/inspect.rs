//! Execution one instruction at a time, and the contents of registers and memories between.

use super::{ExecuteError, Executor};
use b512_asm::{AReg, MReg, SReg, Space, VReg};
use std::ops::Range;

impl Executor {
    /// Sets the registers to the program's launch values, or zero, as at the beginning of [`run`](Self::run).
    pub fn start(&mut self) {
        self.registers.reset(&self.program.addresses, &self.program.moduli);
    }

    /// Executes the instruction of the loaded program with this index. After [`start`](Self::start), the
    /// instructions in their order are a [`run`](Self::run).
    ///
    /// # Errors
    /// Returns its fault; it has then no effect.
    ///
    /// # Panics
    /// Panics if the program has no such instruction.
    pub fn execute(&mut self, index: usize) -> Result<(), ExecuteError> {
        let instr = self.program.instructions[index];
        self.step(instr).map_err(|fault| ExecuteError { index, instr, fault })
    }

    /// The lanes of a vector register.
    pub fn vector(&mut self, register: VReg) -> Vec<u128> {
        let lanes = self.resources.isa.vector_length() as usize;
        let register = &mut self.registers.vector[register.index()];
        register.settle(&self.vdm);
        (0..lanes).map(|lane| register.lane(lane)).collect()
    }

    /// The word in a scalar register.
    pub fn scalar(&self, register: SReg) -> u128 {
        self.registers.scalar[register.index()]
    }

    /// The word address in an address register.
    pub fn address(&self, register: AReg) -> u32 {
        self.registers.address[register.index()]
    }

    /// The modulus in a modulus register; `None` if it was never set.
    pub fn modulus(&self, register: MReg) -> Option<u128> {
        self.registers.modulus[register.index()].map(|modulus| modulus.value())
    }

    /// Consecutive words of a memory; fewer if the memory ends before.
    pub fn words(&self, space: Space, words: Range<u32>) -> Vec<u128> {
        let memory = self.memory(space);
        let within = |word: u32| word.min(memory.len() as u32);
        memory.words(within(words.start)..within(words.end)).to_vec()
    }
}
