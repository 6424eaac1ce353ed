//! Functional execution: the results of a program, without time.
//!
//! An [`Executor`] holds the memories and register files of one RPU. It runs a
//! [`Program`] instruction by instruction, checks every operand, and stops at the first fault.
//! It shares nothing with [`timing`](crate::timing) but the program.
//!
//! ```
//! use b512_asm::{AReg, AddressMode, Instr, MReg, Offset, Program, Role, Space, Symbol, VReg};
//! use sim::functional::Executor;
//!
//! let (v, base) = (VReg::at, AReg::at(0));
//! let at = |words| Offset::new(words).expect("below 2^20");
//! let program = Program {
//!     instructions: vec![
//!         Instr::Vload { vd: v(1), base, offset: at(0), mode: AddressMode::Linear },
//!         Instr::Vadd { vd: v(2), vs: v(1), vt: v(1), rm: MReg::at(0) },
//!         Instr::Vstore { vs: v(2), base, offset: at(512), mode: AddressMode::Linear },
//!         Instr::Halt {},
//!     ],
//!     moduli: vec![(MReg::at(0), 97)],
//!     symbols: vec![
//!         Symbol { name: "x".into(), space: Space::Vdm, start: 0, words: 512, role: Role::Input },
//!         Symbol { name: "y".into(), space: Space::Vdm, start: 512, words: 512, role: Role::Output },
//!     ],
//!     ..Program::default()
//! };
//! let mut executor = Executor::new(1 << 18, 1 << 11);
//! executor.load(&program)?;
//! executor.write("x", &[50; 512])?;
//! executor.run()?;
//! assert_eq!(executor.read("y")?, [3; 512]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Speed
//!
//! A butterfly costs one multiplication a lane if its twiddle factors have been prepared for it (see
//! [`modular`](ring::modular)). Words under a symbol with [`Role::Table`](b512_asm::Role::Table) are
//! constants until something writes to them. A vector that is loaded from there is prepared once and cached
//! over all runs, and the load is deferred until something other than a multiplication needs the lanes.
//! Results carry an upper bound, so that most operands are known to be below the modulus; checking an unknown
//! one costs one pass over the register.
//!
//! A register holds words of 64 bits if its lanes come from memory and fit, or are residues modulo a number
//! below 2^64. Operations convert registers of the other width; few programs mix them. A memory holds words
//! of 64 bits until a longer one is written to it.

mod bounds;
mod constants;
mod error;
mod execute;
mod inspect;
mod lanes;
mod memory;
mod registers;
mod state;

pub use error::{AccessError, ExecuteError, Fault, LoadError};
pub use memory::Words;
pub use state::State;

use self::bounds::Bounds;
use self::constants::Constants;
use self::memory::{Memory, Width};
use self::registers::Registers;
use crate::machine::{LawOperands, Machine, Resources};
use b512_asm::reg::{MAX_VDM_WORDS, REGISTERS};
use b512_asm::{AReg, FeatureSet, Instr, Isa, MReg, Program, Space, Symbol};
use ring::modular::Modulus;
use ring::vector::Factors;
use std::ops::Range;

/// The memories and registers of one RPU, and the program that it runs.
#[derive(Debug)]
pub struct Executor {
    vdm: Memory,
    bounds: Bounds,
    sdm: Memory,
    registers: Registers,
    program: Loaded,
    constants: Constants,
    resources: Resources,
    operands: LawOperands,
}

/// The loaded program.
#[derive(Debug, Default)]
struct Loaded {
    instructions: Vec<Instr>,
    addresses: Vec<(AReg, u32)>,
    moduli: Vec<(MReg, Modulus)>,
    symbols: Vec<Symbol>,
}

/// The words of both memories that a program needs.
fn needed_words(program: &Program) -> [u32; 2] {
    [Space::Vdm, Space::Sdm].map(|space| {
        let symbols = program.symbols.iter().filter(|symbol| symbol.space == space);
        let end = symbols.map(|symbol| symbol.start + symbol.words).max().unwrap_or(0);
        end.max(program.image(space).end())
    })
}

impl Executor {
    /// An executor of B512 programs without extensions, with memories of the given numbers of
    /// words, all zero. Multiplicands may be any words.
    pub fn new(vdm_words: u32, sdm_words: u32) -> Self {
        let (isa, features) = (Isa::B512, FeatureSet::NONE);
        let resources = Resources { isa, features, instructions: usize::MAX, vdm_words, sdm_words };
        Self::with_resources(resources, LawOperands::Word)
    }

    /// An executor with the vectors, memories, extensions and arithmetic of `machine`.
    pub fn for_machine(machine: &Machine) -> Self {
        Self::with_resources(machine.resources(), machine.law.operands)
    }

    /// An executor as [`for_machine`](Self::for_machine), with memories just as large as `program`
    /// needs. Many small executors thus fit the host's memory.
    pub fn for_program(machine: &Machine, program: &Program) -> Self {
        let [vdm_words, sdm_words] = needed_words(program);
        let resources = Resources { vdm_words, sdm_words, ..machine.resources() };
        Self::with_resources(resources, machine.law.operands)
    }

    /// An executor of these resources, whose multiplier takes `operands`.
    pub fn with_resources(resources: Resources, operands: LawOperands) -> Self {
        let Resources { isa, vdm_words, sdm_words, .. } = resources;
        Self {
            vdm: Memory::zeros(vdm_words as usize, Width::Narrow),
            bounds: Bounds::new(vdm_words, isa),
            sdm: Memory::zeros(sdm_words as usize, Width::Narrow),
            registers: Registers::new(isa.vector_length() as usize),
            program: Loaded::default(),
            constants: Constants::default(),
            resources,
            operands,
        }
    }

    /// Enables these extensions.
    #[must_use]
    pub fn with_features(mut self, features: FeatureSet) -> Self {
        self.resources.features = features;
        self
    }

    /// Uses scalar code on every processor. The results are the same.
    #[must_use]
    pub fn with_scalar_code(mut self) -> Self {
        self.registers.factor = Factors::scalar_zero(self.resources.isa.vector_length() as usize);
        self.constants.forget_factors();
        self
    }

    /// Loads `program`: clears both memories and fills them with its images.
    ///
    /// # Errors
    /// Returns an error if the images or symbols do not fit the memories, or an initial register value
    /// is invalid. The executor then keeps the earlier program.
    pub fn load(&mut self, program: &Program) -> Result<(), LoadError> {
        self.install(program)?;
        let width = self.memory_width();
        self.vdm = Memory::filled(self.vdm.len(), &program.vdm, width);
        self.sdm = Memory::filled(self.sdm.len(), &program.sdm, width);
        Ok(())
    }

    /// As [`load`](Self::load), with memories just as large as `program` needs. It takes the memory that the
    /// executor has, which is faster than new memory if the program touches most of it.
    ///
    /// # Errors
    /// As for [`load`](Self::load); the executor then has no memory for its earlier program.
    pub fn reload(&mut self, program: &Program) -> Result<(), LoadError> {
        let [vdm_words, sdm_words] = needed_words(program);
        self.resources = Resources { vdm_words, sdm_words, ..self.resources };
        self.bounds = Bounds::new(vdm_words, self.resources.isa);
        self.install(program)?;
        let width = self.memory_width();
        self.vdm.refill(vdm_words as usize, &program.vdm, width);
        self.sdm.refill(sdm_words as usize, &program.sdm, width);
        Ok(())
    }

    /// Takes everything of a program but its images.
    fn install(&mut self, program: &Program) -> Result<(), LoadError> {
        let moduli = check_launch(&self.resources, program)?;
        self.program = Loaded {
            moduli,
            instructions: program.instructions.clone(),
            addresses: program.addresses.clone(),
            symbols: program.symbols.clone(),
        };
        self.constants = Constants::of(program);
        self.bounds.clear();
        for segment in &program.vdm.segments {
            self.bounds.overwrite(&(segment.start..segment.end()), u128::MAX, false);
        }
        Ok(())
    }

    /// Writes the words of a symbol before a run.
    ///
    /// # Errors
    /// Returns an error if the loaded program has no such symbol, or the symbol has another number of words,
    /// or a word is longer than the machine's.
    pub fn write(&mut self, symbol: &str, words: &[u128]) -> Result<(), AccessError> {
        let (space, range) = self.target(symbol, words)?;
        self.memory_mut(space).write(range, words);
        Ok(())
    }

    /// As [`write`](Self::write), of words of 64 bits.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn write_narrow(&mut self, symbol: &str, words: &[u64]) -> Result<(), AccessError> {
        let (space, range) = self.target(symbol, words)?;
        self.memory_mut(space).write_narrow(range, words);
        Ok(())
    }

    /// The place for the new words of a symbol, which are no constants.
    fn target<W: Copy + Into<u128>>(
        &mut self,
        symbol: &str,
        words: &[W],
    ) -> Result<(Space, Range<u32>), AccessError> {
        let (space, range) = self.locate(symbol)?;
        if words.len() != range.len() {
            let (symbol, words, given) = (symbol.into(), range.len(), words.len());
            return Err(AccessError::Length { symbol, words, given });
        }
        let max = self.resources.isa.max_word();
        let too_large = || words.iter().position(|&word| word.into() > max);
        if let Some(index) = Some(max).filter(|&max| max < u128::MAX).and_then(|_| too_large()) {
            let value = words[index].into();
            return Err(AccessError::WordTooLarge { symbol: symbol.into(), index, value, max });
        }
        if space == Space::Vdm {
            self.constants.overwrite(&range, self.resources.isa);
            self.bounds.overwrite(&range, u128::MAX, false);
        }
        Ok((space, range))
    }

    /// The bytes of host memory that both memories and the vector registers take.
    pub fn bytes_held(&self) -> usize {
        self.vdm.bytes() + self.sdm.bytes() + REGISTERS * size_of_val(&self.registers.vector[0].lanes[..])
    }

    /// Sets a modulus register for all later runs; it overrides the program's value.
    pub fn set_modulus(&mut self, register: MReg, modulus: Modulus) {
        match self.program.moduli.iter_mut().find(|(known, _)| *known == register) {
            Some((_, value)) => *value = modulus,
            None => self.program.moduli.push((register, modulus)),
        }
    }

    /// Writes constants before a run: each value to all words of its range. Words of a table remain
    /// constants.
    ///
    /// # Panics
    /// Panics if a memory has no such words.
    pub fn write_constants(&mut self, constants: impl IntoIterator<Item = (Space, Range<u32>, u128)>) {
        self.constants.forget_factors();
        for (space, words, value) in constants {
            if space == Space::Vdm {
                self.bounds.overwrite(&words, value, false);
            }
            self.memory_mut(space).fill(words, value);
        }
    }

    /// The words of a symbol after the last run or write.
    ///
    /// # Errors
    /// Returns an error if the loaded program has no such symbol.
    pub fn read(&self, symbol: &str) -> Result<Vec<u128>, AccessError> {
        self.view(symbol).map(Words::to_vec)
    }

    /// As [`read`](Self::read), without a copy.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn view(&self, symbol: &str) -> Result<Words<'_>, AccessError> {
        let (space, range) = self.locate(symbol)?;
        Ok(self.memory(space).words(range))
    }

    /// Runs the loaded program to its `halt`, or to its end if it has none, and returns the number of
    /// instructions executed.
    ///
    /// Registers start with the program's launch values, or zero. Memory keeps the content from the last run
    /// and later writes.
    ///
    /// # Errors
    /// Returns the first fault. The instructions before it have taken effect; the faulty one has not.
    pub fn run(&mut self) -> Result<usize, ExecuteError> {
        self.start();
        for index in 0..self.program.instructions.len() {
            if matches!(self.program.instructions[index], Instr::Halt {}) {
                return Ok(index + 1);
            }
            self.execute(index)?;
        }
        Ok(self.program.instructions.len())
    }

    /// The width of most words that the program will store: that of its residues.
    fn memory_width(&self) -> Width {
        let is_wide = |(_, q): &(MReg, Modulus)| Width::of(q) == Width::Wide;
        if self.program.moduli.iter().any(is_wide) { Width::Wide } else { Width::Narrow }
    }

    fn memory(&self, space: Space) -> &Memory {
        match space {
            Space::Vdm => &self.vdm,
            Space::Sdm => &self.sdm,
        }
    }

    fn memory_mut(&mut self, space: Space) -> &mut Memory {
        match space {
            Space::Vdm => &mut self.vdm,
            Space::Sdm => &mut self.sdm,
        }
    }

    fn locate(&self, name: &str) -> Result<(Space, Range<u32>), AccessError> {
        let symbol = self.program.symbols.iter().find(|symbol| symbol.name == name);
        let symbol = symbol.ok_or_else(|| AccessError::UnknownSymbol {
            symbol: name.into(),
            known: self.program.symbols.iter().map(|symbol| symbol.name.clone()).collect(),
        })?;
        Ok((symbol.space, symbol.start..symbol.start + symbol.words))
    }
}

/// Whether a machine can load `program`: its images and symbols fit the memories, its initial values the
/// registers.
///
/// # Errors
/// Returns the first value that does not fit.
pub fn check_load(machine: &Machine, program: &Program) -> Result<(), LoadError> {
    check_launch(&machine.resources(), program).map(drop)
}

/// As [`check_load`]; the moduli at launch.
fn check_launch(resources: &Resources, program: &Program) -> Result<Vec<(MReg, Modulus)>, LoadError> {
    resources.check(program)?;
    let max = resources.isa.max_word();
    for (space, image) in [(Space::Vdm, &program.vdm), (Space::Sdm, &program.sdm)] {
        for segment in &image.segments {
            if let Some(offset) = segment.words.iter().position(|&word| word > max) {
                let (address, value) = (segment.start + offset as u32, segment.words[offset]);
                return Err(LoadError::WordTooLarge { space, address, value, max });
            }
        }
    }
    if let Some(&(register, value)) = program.moduli.iter().find(|&&(_, value)| value > max) {
        return Err(LoadError::ModulusTooLarge { register, value, max });
    }
    for &(register, address) in &program.addresses {
        if address >= MAX_VDM_WORDS {
            return Err(LoadError::AddressTooLarge { register, value: address });
        }
    }
    let moduli = program.moduli.iter().map(|&(register, value)| match Modulus::new(value) {
        Ok(modulus) => Ok((register, modulus)),
        Err(source) => Err(LoadError::Modulus { register, source }),
    });
    moduli.collect()
}
