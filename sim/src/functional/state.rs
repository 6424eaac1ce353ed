//! Saved states of an execution.

use super::Executor;
use super::bounds::Bounds;
use super::memory::Memory;
use super::registers::VectorRegister;
use b512_asm::reg::REGISTERS;
use ring::Modulus;
use std::ops::Range;

/// The memories and registers of an [`Executor`] at one point of a program.
#[derive(Clone, Debug)]
pub struct State {
    vdm: Memory,
    bounds: Bounds,
    sdm: Memory,
    vector: Box<[VectorRegister; REGISTERS]>,
    scalar: [u128; REGISTERS],
    address: [u32; REGISTERS],
    modulus: [Option<Modulus>; REGISTERS],
    tables: Vec<Range<u32>>,
}

impl State {
    /// The size of its memories and registers in bytes; smaller parts do not count.
    pub fn bytes(&self) -> usize {
        self.vdm.bytes() + self.sdm.bytes() + REGISTERS * size_of_val(&self.vector[0].lanes[..])
    }
}

impl Executor {
    /// The state between two instructions.
    pub fn state(&self) -> State {
        let registers = &self.registers;
        State {
            vdm: self.vdm.clone(),
            bounds: self.bounds.clone(),
            sdm: self.sdm.clone(),
            vector: Box::new(registers.vector.clone()),
            scalar: registers.scalar,
            address: registers.address,
            modulus: registers.modulus,
            tables: self.constants.tables().to_vec(),
        }
    }

    /// Goes back, or forward, to a state of the loaded program.
    pub fn restore(&mut self, state: &State) {
        self.vdm.clone_from(&state.vdm);
        self.bounds.clone_from(&state.bounds);
        self.sdm.clone_from(&state.sdm);
        self.registers.vector.clone_from(&state.vector);
        self.registers.scalar = state.scalar;
        self.registers.address = state.address;
        self.registers.modulus = state.modulus;
        // Prepared factors stay valid: the words of a table are the same in all states in which it is
        // constant.
        self.constants.set_tables(&state.tables);
    }
}
