//! Proof that a program computes the same as its vector code; [the parent](super) has the rules.

use super::terms::{CodeFault, Term, Terms, Word, applied, evaluate};
use crate::code::{BufferId, Code};
use b512_asm::reg::REGISTERS;
use b512_asm::{
    AReg, AddressMode, Direction, Instr, InvalidProgram, Isa, Operand, Pipe, Program, Role, Space,
    VectorAccess,
};
use thiserror::Error;

/// The first difference that the proof finds between a program and its vector code.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ScheduleFault {
    /// A program that is not well-formed.
    #[error(transparent)]
    Invalid(#[from] InvalidProgram),
    /// A program for another vector length or word width.
    #[error("the program is for {program}, its vector code for {code}")]
    Isa {
        /// The program's instruction set.
        program: Isa,
        /// The vector code's instruction set.
        code: Isa,
    },
    /// Vector code that is invalid by itself.
    #[error(transparent)]
    Code(#[from] CodeFault),
    /// A buffer of the code without a matching symbol.
    #[error("`{0}` is not a symbol of the buffer's size and role")]
    Symbol(String),
    /// Claims that differ from the code's.
    #[error("the program's claims differ from those of its vector code")]
    Claims,
    /// An instruction that is invalid, or computes no value of the code.
    #[error("instruction {at} `{instr}` {problem}")]
    Instruction {
        /// Its index in the program.
        at: usize,
        /// The instruction, as assembly text.
        instr: String,
        /// The defect.
        problem: String,
    },
    /// An output word with a wrong final result.
    #[error("word {word} of `{output}` ends as {found} instead of {expected}")]
    Output {
        /// The output symbol.
        output: String,
        /// The word.
        word: usize,
        /// The content that the code leaves.
        expected: String,
        /// The content that the program leaves.
        found: String,
    },
}

/// Proves that `program` computes the same as `code`, for all data: after a run, every output word
/// that the code writes holds the code's result.
///
/// Buffers of the code are the program's symbols with the same names. Nothing else connects the
/// two.
///
/// # Errors
/// Returns the first difference.
pub fn schedule(code: &Code, program: &Program) -> Result<(), ScheduleFault> {
    program.check()?;
    if program.isa != code.isa {
        return Err(ScheduleFault::Isa { program: program.isa, code: code.isa });
    }
    let mut terms = Terms::default();
    let inputs: Vec<BufferId> = (0..code.buffers.len() as u32).map(BufferId).collect();
    let expected = evaluate(code, &inputs, &mut terms)?;
    claims(code, program)?;
    let mut run = Run::new(code, program, &mut terms)?;
    for (at, instr) in program.instructions.iter().enumerate() {
        if matches!(instr, Instr::Halt {}) {
            break;
        }
        run.step(instr).map_err(|problem| ScheduleFault::Instruction {
            at,
            instr: instr.to_string(),
            problem,
        })?;
    }
    let memory = run.memory;
    for (number, buffer) in code.buffers.iter().enumerate() {
        let Some(symbol) = program.symbol(&buffer.name).filter(|_| buffer.role == Role::Output) else {
            continue;
        };
        let start = code.start(BufferId(number as u32));
        let expected = &expected[start.buffer.index()][start.word as usize..];
        for (word, &expected) in expected.iter().take(buffer.words as usize).enumerate() {
            let found = memory[symbol.start as usize + word].content;
            if expected != Word::Undefined && expected != found {
                return Err(ScheduleFault::Output {
                    output: buffer.name.clone(),
                    word,
                    expected: terms.describe(code, expected),
                    found: terms.describe(code, found),
                });
            }
        }
    }
    Ok(())
}

fn claims(code: &Code, program: &Program) -> Result<(), ScheduleFault> {
    let expected = code.claims.iter().map(|claim| code.stated(claim));
    if expected.eq(program.claims.iter().cloned().map(Some)) { Ok(()) } else { Err(ScheduleFault::Claims) }
}

/// A word of the program's memory.
#[derive(Clone, Copy)]
struct Cell {
    content: Word,
    writable: bool,
    /// Whether it has its initial word, which no data replace. Once an instruction has read it, it stays: the
    /// next run reads it again.
    is_initial: bool,
}

/// The program's registers and memory.
struct Run<'a> {
    code: &'a Code,
    program: &'a Program,
    terms: &'a mut Terms,
    memory: Vec<Cell>,
    vectors: [Option<Term>; REGISTERS],
    scalars: [Option<u128>; REGISTERS],
    addresses: [u32; REGISTERS],
    moduli: [Option<u128>; REGISTERS],
}

impl<'a> Run<'a> {
    fn new(code: &'a Code, program: &'a Program, terms: &'a mut Terms) -> Result<Self, ScheduleFault> {
        let symbols = || program.symbols.iter().filter(|symbol| symbol.space == Space::Vdm);
        let ends = symbols().map(|symbol| symbol.start + symbol.words).chain([program.vdm.end()]);
        let empty = Cell { content: Word::Undefined, writable: false, is_initial: false };
        let mut memory = vec![empty; ends.max().unwrap_or(0) as usize];
        // The words of tables last, which other symbols may share: the next run reads them again.
        for is_table in [false, true] {
            for symbol in symbols().filter(|symbol| (symbol.role == Role::Table) == is_table) {
                let cells = &mut memory[symbol.start as usize..][..symbol.words as usize];
                cells.iter_mut().for_each(|cell| cell.writable = !is_table);
            }
        }
        for segment in &program.vdm.segments {
            let cells = memory[segment.start as usize..].iter_mut().zip(&segment.words);
            for (cell, &word) in cells {
                (cell.content, cell.is_initial) = (terms.number(word), true);
            }
        }
        let buffers = code.buffers.iter().enumerate();
        for (number, buffer) in buffers.filter(|(_, buffer)| buffer.has_symbol) {
            let fits = |symbol: &&b512_asm::Symbol| {
                (symbol.space, symbol.words, symbol.role) == (Space::Vdm, buffer.words, buffer.role)
            };
            let Some(symbol) = program.symbol(&buffer.name).filter(fits) else {
                return Err(ScheduleFault::Symbol(buffer.name.clone()));
            };
            if buffer.role == Role::Input {
                let start = code.start(BufferId(number as u32));
                // The data of an input replace its initial words.
                for word in 0..buffer.words {
                    let cell = &mut memory[(symbol.start + word) as usize];
                    (cell.content, cell.is_initial) = (Word::Input(start.buffer, start.word + word), false);
                }
            }
        }
        let mut addresses = [0; REGISTERS];
        for &(reg, address) in &program.addresses {
            addresses[reg.index()] = address;
        }
        let mut moduli = [None; REGISTERS];
        for &(reg, modulus) in &program.moduli {
            moduli[reg.index()] = Some(modulus);
        }
        let (vectors, scalars) = ([None; REGISTERS], [None; REGISTERS]);
        Ok(Self { code, program, terms, memory, vectors, scalars, addresses, moduli })
    }

    /// Executes an instruction, or says why it cannot be right.
    fn step(&mut self, instr: &Instr) -> Result<(), String> {
        if !instr.pipe().is_queued() {
            self.load_scalar(instr)
        } else if instr.pipe() == Pipe::LoadStore {
            self.load_or_store(instr)
        } else {
            self.compute(instr)
        }
    }

    /// Executes `halt`, or a load of a scalar, address or modulus register.
    fn load_scalar(&mut self, instr: &Instr) -> Result<(), String> {
        let mut word = 0;
        instr.for_each_operand(|_, operand| {
            if let Operand::Offset(offset) = operand {
                word = self.sdm(offset.words());
            }
        });
        let mut result = Ok(());
        instr.for_each_operand(|_, operand| match operand {
            Operand::SReg(reg) => self.scalars[reg.index()] = Some(word),
            Operand::MReg(reg) => self.moduli[reg.index()] = Some(word),
            Operand::AReg(reg) => match u32::try_from(word) {
                Ok(address) => self.addresses[reg.index()] = address,
                Err(_) => result = Err("loads an invalid address".to_owned()),
            },
            Operand::VReg(_) | Operand::Offset(_) | Operand::Mode(_) | Operand::Map(_) => {}
        });
        result
    }

    fn load_or_store(&mut self, instr: &Instr) -> Result<(), String> {
        let VectorAccess { base, offset, mode, .. } =
            instr.vector_access().expect("the load/store pipeline accesses the VDM");
        let addresses = self.words(base, offset.words(), mode)?;
        for vd in instr.vector_writes().iter() {
            let words: Vec<Word> = addresses.iter().map(|&at| self.memory[at].content).collect();
            let term = self.terms.find_gathered(&words).ok_or_else(|| self.strange_load(&words))?;
            self.vectors[vd.index()] = Some(term);
            for &at in &addresses {
                let cell = &mut self.memory[at];
                cell.writable &= !cell.is_initial;
            }
        }
        for vs in instr.vector_reads().iter() {
            let term = self.vectors[vs.index()].ok_or(format!("reads {vs}, which is undefined"))?;
            for (lane, &at) in addresses.iter().enumerate() {
                let cell = &mut self.memory[at];
                if !cell.writable {
                    return Err(self.strange_store(at as u32));
                }
                (cell.content, cell.is_initial) = (self.terms.lane(term, lane), false);
            }
        }
        Ok(())
    }

    fn compute(&mut self, instr: &Instr) -> Result<(), String> {
        let (mut sources, mut results) = (Vec::with_capacity(3), Vec::with_capacity(2));
        let (mut scalar, mut modulus, mut map) = (None, None, None);
        let mut undefined = None;
        instr.for_each_operand(|spec, operand| {
            let defined = match operand {
                Operand::VReg(reg) if spec.direction == Direction::Write => {
                    results.push(reg);
                    true
                }
                Operand::VReg(reg) => {
                    sources.extend(self.vectors[reg.index()]);
                    self.vectors[reg.index()].is_some()
                }
                Operand::SReg(reg) => {
                    scalar = self.scalars[reg.index()];
                    scalar.is_some()
                }
                Operand::MReg(reg) => {
                    modulus = self.moduli[reg.index()];
                    modulus.is_some()
                }
                Operand::Map(given) => {
                    map = Some(given);
                    true
                }
                Operand::AReg(_) | Operand::Offset(_) | Operand::Mode(_) => true,
            };
            if !defined {
                undefined.get_or_insert(spec.name);
            }
        });
        if let Some(name) = undefined {
            return Err(format!("reads `{name}`, which is undefined"));
        }
        for (result, reg) in results.into_iter().enumerate() {
            let key = applied(instr.op(), &sources, scalar, modulus, map, result);
            let term = self.terms.applied.get(&key).copied().ok_or_else(|| {
                let sources: Vec<String> =
                    sources.iter().map(|&source| self.terms.name(self.code, source)).collect();
                format!("computes no value of the code; its sources are {}", sources.join(", "))
            })?;
            self.vectors[reg.index()] = Some(term);
        }
        Ok(())
    }

    /// The word addresses of a load or store, lane by lane.
    fn words(&self, base: AReg, offset: u32, mode: AddressMode) -> Result<Vec<usize>, String> {
        let first = u64::from(self.addresses[base.index()]) + u64::from(offset);
        let addresses = (0..self.code.isa.vector_length()).map(|lane| {
            let address = first + u64::from(mode.element(lane));
            if address < self.memory.len() as u64 {
                Ok(address as usize)
            } else {
                Err(format!("reaches word {address} of the memory, which belongs to no symbol"))
            }
        });
        addresses.collect()
    }

    fn strange_store(&self, word: u32) -> String {
        let symbols = self.program.symbols.iter().filter(|symbol| symbol.space == Space::Vdm);
        let mut holders: Vec<_> = symbols.filter(|symbol| symbol.contains(word.into())).collect();
        holders.sort_by_key(|symbol| symbol.role != Role::Table);
        match holders.first() {
            Some(table) if table.role == Role::Table => {
                format!("overwrites word {word} of the memory, a constant of `{}`", table.name)
            }
            Some(symbol) => format!(
                "overwrites word {word} of the memory, an initial word of `{}` that the program has read: the \
                 next run would read another",
                symbol.name
            ),
            None => format!(
                "overwrites word {word} of the memory, which belongs to no symbol; give it one, such as \
                 `.scratch NAME, WORDS, at {word}`"
            ),
        }
    }

    fn strange_load(&self, words: &[Word]) -> String {
        if let Some(lane) = words.iter().position(|&word| word == Word::Undefined) {
            return format!("loads an undefined word into lane {lane}");
        }
        let [first, last] = [0, words.len() - 1].map(|lane| self.terms.describe(self.code, words[lane]));
        format!("matches no load of the code: lane 0 is {first}, the last lane is {last}")
    }

    fn sdm(&self, offset: u32) -> u128 {
        self.program.sdm.word(offset)
    }
}
