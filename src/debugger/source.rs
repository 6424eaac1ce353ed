//! A program with the lines of its file, and the words that its instructions access.

use b512_asm::{AddressMode, Class, Instr, Operand, Program, Space, Symbol};

/// A program with the lines of its file.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The program.
    pub program: Program,
    /// The line of each instruction, from 1; `None` for a program that is not from a text.
    lines: Option<Vec<usize>>,
    accesses: Vec<Option<Access>>,
}

/// The words that an instruction accesses.
#[derive(Clone, Copy, Debug)]
enum Access {
    Vdm { address: u32, mode: AddressMode },
    Sdm { word: u32 },
}

impl Listing {
    /// A program and the line of each of its instructions, if it is from a text.
    ///
    /// # Panics
    /// Panics if the numbers of lines and instructions differ.
    pub fn new(program: Program, lines: Option<Vec<usize>>) -> Self {
        assert!(lines.as_ref().is_none_or(|lines| lines.len() == program.instructions.len()));
        let accesses = accesses(&program);
        Self { program, lines, accesses }
    }

    /// The line of an instruction.
    pub fn line(&self, index: usize) -> Option<usize> {
        self.lines.as_ref()?.get(index).copied()
    }

    /// The line of each instruction.
    pub(crate) fn lines(&self) -> Option<&[usize]> {
        self.lines.as_deref()
    }

    /// The name of an instruction for a user: its line, or `#` and its index.
    pub fn name(&self, index: usize) -> String {
        self.line(index).map_or_else(|| format!("#{index}"), |line| format!("line {line}"))
    }

    /// The words of the VDM that an instruction stores.
    pub(crate) fn stored(&self, index: usize) -> impl Iterator<Item = u32> + use<> {
        let is_store = self.program.instructions[index].vector_access().is_some_and(|access| access.store);
        let access = self.accesses[index].filter(|_| is_store);
        let lanes = self.program.isa.vector_length();
        let words = move |access| match access {
            Access::Vdm { address, mode } => {
                Some((0..lanes).map(move |lane| address.wrapping_add(mode.element(lane))))
            }
            Access::Sdm { .. } => None,
        };
        access.and_then(words).into_iter().flatten()
    }

    /// Whether an instruction reads or writes words of a symbol.
    pub(crate) fn accesses(&self, index: usize, symbol: &Symbol) -> bool {
        match (self.accesses[index], symbol.space) {
            (Some(Access::Vdm { address, mode }), Space::Vdm) => {
                let lanes = 0..self.program.isa.vector_length();
                let mut words = lanes.map(|lane| address.wrapping_add(mode.element(lane)));
                words.any(|word| symbol.contains(word.into()))
            }
            (Some(Access::Sdm { word }), Space::Sdm) => symbol.contains(word.into()),
            (None | Some(Access::Vdm { .. } | Access::Sdm { .. }), _) => false,
        }
    }
}

/// The accesses of each instruction. Address registers are followed through loads of constants.
fn accesses(program: &Program) -> Vec<Option<Access>> {
    let mut addresses = [0; b512_asm::reg::REGISTERS];
    for &(register, address) in &program.addresses {
        addresses[register.index()] = address;
    }
    let mut access = |instr: &Instr| {
        if let Some(vector) = instr.vector_access() {
            let address = addresses[vector.base.index()].wrapping_add(vector.offset.words());
            return Some(Access::Vdm { address, mode: vector.mode });
        }
        if instr.class() != Class::ScalarLoad {
            return None;
        }
        let mut word = 0;
        instr.for_each_operand(|_, operand| {
            if let Operand::Offset(offset) = operand {
                word = offset.words();
            }
        });
        if let Instr::Aload { rt, .. } = instr {
            addresses[rt.index()] = program.sdm.word(word) as u32;
        }
        Some(Access::Sdm { word })
    };
    program.instructions.iter().map(&mut access).collect()
}
