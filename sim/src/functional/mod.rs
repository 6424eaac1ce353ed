//! Functional execution: what a program computes, without time.
//!
//! An [`Executor`] holds the memories and register files of one RPU. It runs a
//! [`Program`] instruction by instruction, checks every operand, and stops at the first fault.
//! Timing is another module's business: the two share nothing but the program.
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
//! A butterfly costs one multiplication a lane where its twiddle factors have been prepared for it,
//! as [`modular`](ring::modular) says. Words under a symbol with [`Role::Table`] count as constants
//! until something writes to them; what a load from there brings into a register is prepared once
//! and kept, over all runs, and the load itself is put off until something else than a
//! multiplication asks for the lanes. Operands are proved to be below the modulus without looking at them where that
//! follows from where they came from, and with one pass over the register where not.

mod error;
mod lanes;
#[cfg(test)]
mod tests;

pub use error::{AccessError, ExecuteError, Fault, LoadError};

use crate::machine::{LawOperands, Machine, Resources};
use b512_asm::Isa;
use b512_asm::reg::{MAX_VDM_WORDS, REGISTERS};
use b512_asm::{
    AReg, AddressMode, FeatureSet, Image, Instr, MReg, Offset, Program, Role, SReg, Space, Symbol, VReg,
};
use ring::modular::Modulus;
use ring::vector::{self, Factors, Vector};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

/// The memories and registers of one RPU, and the program that it runs.
#[derive(Debug)]
pub struct Executor {
    vdm: Vec<u128>,
    bounds: Bounds,
    sdm: Vec<u128>,
    registers: Registers,
    program: Loaded,
    constants: Constants,
    resources: Resources,
    operands: LawOperands,
}

/// What is kept of the program.
#[derive(Debug, Default)]
struct Loaded {
    instructions: Vec<Instr>,
    addresses: Vec<(AReg, u32)>,
    moduli: Vec<(MReg, Modulus)>,
    symbols: Vec<Symbol>,
}

#[derive(Debug)]
struct Registers {
    vector: [VectorRegister; REGISTERS],
    /// Where results are formed before they change places with a destination.
    spare: [VectorRegister; 2],
    /// Where a factor that is no constant is prepared.
    factor: Factors,
    scalar: [u128; REGISTERS],
    address: [u32; REGISTERS],
    modulus: [Option<Modulus>; REGISTERS],
}

#[derive(Debug)]
struct VectorRegister {
    lanes: Vector,
    /// No lane is above this; `u128::MAX` where nothing is known.
    at_most: u128,
    /// The constant words that the register was loaded from, where it was.
    source: Option<TableSlice>,
    /// Whether these words are yet to be copied to the lanes.
    pending: bool,
}

/// Upper bounds of the words in the VDM: one for each stretch of as many words as a vector has.
///
/// Results that a program stores and loads again need not be compared with the modulus again.
#[derive(Debug)]
struct Bounds {
    bounds: Vec<u128>,
    lane_bits: u32,
}

impl Bounds {
    /// The bounds of a memory of zeros.
    fn new(words: u32, isa: Isa) -> Self {
        let stretches = words.div_ceil(isa.vector_length()) as usize;
        Self { bounds: vec![0; stretches], lane_bits: isa.lane_bits() }
    }

    fn stretches(&self, words: &Range<u32>) -> Range<usize> {
        let after = (words.end as usize + (1 << self.lane_bits) - 1) >> self.lane_bits;
        words.start as usize >> self.lane_bits..after
    }

    /// A bound of `words`.
    fn at_most(&self, words: &Range<u32>) -> u128 {
        self.bounds[self.stretches(words)].iter().copied().fold(0, u128::max)
    }

    /// Notes that some of `words` were overwritten with values up to `at_most`; `all` says that
    /// every one was.
    fn overwrite(&mut self, words: &Range<u32>, at_most: u128, all: bool) {
        let stretches = self.stretches(words);
        let aligned = words.start.trailing_zeros() >= self.lane_bits;
        let whole = all && aligned && words.len() == 1 << self.lane_bits;
        for bound in &mut self.bounds[stretches] {
            *bound = if whole { at_most } else { at_most.max(*bound) };
        }
    }
}

/// The rule for a vector source of an arithmetic instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// Every lane is below the modulus.
    Reduced,
    /// Every lane is any word, if the machine's multipliers accept that.
    Multiplicand,
}

/// A butterfly of [`vector`]: `(out, out1) = kernel(a, b, w)`.
type ButterflyKernel = fn(&Modulus, [&mut [u128]; 2], &[u128], &[u128], &Factors);

/// Words of the VDM as a load selects them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct TableSlice {
    start: u32,
    mode: AddressMode,
}

/// The constant words of the VDM, and what was loaded from them as factors.
#[derive(Debug, Default)]
struct Constants {
    tables: Vec<Range<u32>>,
    prepared: FxHashMap<(TableSlice, u128), Factors>,
}

impl VectorRegister {
    fn zero(lanes: usize) -> Self {
        Self { lanes: Vector::zero(lanes), at_most: 0, source: None, pending: false }
    }

    /// Makes up for a load from the VDM that was put off.
    #[inline]
    fn settle(&mut self, vdm: &[u128]) {
        if let Some(TableSlice { start, mode }) = self.source
            && self.pending
        {
            gather(&mut self.lanes, &vdm[start as usize..], mode);
            self.pending = false;
        }
    }

    /// Checks that every lane of this register, `vs`, is below the modulus `q` of `rm`.
    ///
    /// The register must be settled.
    fn require_below(&mut self, vs: VReg, rm: MReg, q: &Modulus) -> Result<(), Fault> {
        let modulus = q.value();
        if self.at_most < modulus {
            return Ok(());
        }
        self.at_most = vector::max(&self.lanes);
        match self.lanes.iter().position(|&value| value >= modulus) {
            None => Ok(()),
            Some(lane) => {
                let value = self.lanes[lane];
                Err(Fault::LaneNotBelowModulus { register: vs, lane, value, modulus_register: rm, modulus })
            }
        }
    }
}

impl Registers {
    fn new(lanes: usize) -> Self {
        Self {
            vector: std::array::from_fn(|_| VectorRegister::zero(lanes)),
            spare: std::array::from_fn(|_| VectorRegister::zero(lanes)),
            factor: Factors::zero(lanes),
            scalar: [0; REGISTERS],
            address: [0; REGISTERS],
            modulus: [None; REGISTERS],
        }
    }

    /// The state in which a program starts.
    fn reset(&mut self, program: &Loaded) {
        for register in &mut self.vector {
            register.lanes.fill(0);
            (register.at_most, register.source, register.pending) = (0, None, false);
        }
        self.scalar = [0; REGISTERS];
        self.address = [0; REGISTERS];
        self.modulus = [None; REGISTERS];
        for &(register, address) in &program.addresses {
            self.address[register.index()] = address;
        }
        for &(register, modulus) in &program.moduli {
            self.modulus[register.index()] = Some(modulus);
        }
    }

    /// Makes the spare register `index`, all lanes of which are at most `at_most`, the new `vd`.
    fn commit(&mut self, index: usize, vd: VReg, at_most: u128) {
        self.spare[index].at_most = at_most;
        self.spare[index].source = None;
        self.spare[index].pending = false;
        std::mem::swap(&mut self.spare[index], &mut self.vector[vd.index()]);
    }

    fn modulus(&self, rm: MReg) -> Result<Modulus, Fault> {
        self.modulus[rm.index()].ok_or(Fault::ModulusUnset { register: rm })
    }

    /// Settles `vs` and checks that every lane of it is below the modulus `q` of `rm`.
    fn require_below(&mut self, vs: VReg, rm: MReg, q: &Modulus, vdm: &[u128]) -> Result<(), Fault> {
        let register = &mut self.vector[vs.index()];
        register.settle(vdm);
        register.require_below(vs, rm, q)
    }

    /// Settles `register` and checks that it is a valid `source`.
    fn require(
        &mut self,
        source: Source,
        operands: LawOperands,
        register: VReg,
        (rm, q): (MReg, &Modulus),
        vdm: &[u128],
    ) -> Result<(), Fault> {
        match (source, operands) {
            (Source::Reduced, _) => self.require_below(register, rm, q, vdm),
            (Source::Multiplicand, LawOperands::Reduced) => {
                self.require_below(register, rm, q, vdm).map_err(Fault::of_multiplicand)
            }
            (Source::Multiplicand, LawOperands::Word) => {
                self.vector[register.index()].settle(vdm);
                Ok(())
            }
        }
    }

    /// The value of `register`, which must be below the modulus `q` of `rm`.
    fn scalar_below(&self, register: SReg, rm: MReg, q: &Modulus) -> Result<u128, Fault> {
        let (value, modulus) = (self.scalar[register.index()], q.value());
        if value < modulus {
            Ok(value)
        } else {
            Err(Fault::ScalarNotBelowModulus { register, value, modulus_register: rm, modulus })
        }
    }
}

impl Constants {
    fn of(program: &Program) -> Self {
        let tables = program.symbols.iter().filter(|s| s.space == Space::Vdm && s.role == Role::Table);
        Self { tables: tables.map(|s| s.start..s.start + s.words).collect(), prepared: FxHashMap::default() }
    }

    /// The slice, where all of its words are constant.
    fn slice(&self, words: &Range<u32>, mode: AddressMode) -> Option<TableSlice> {
        let mut tables = self.tables.iter();
        tables
            .any(|table| table.start <= words.start && words.end <= table.end)
            .then_some(TableSlice { start: words.start, mode })
    }

    /// The lanes of `register`, which is `vs`, as factors: kept where they are constants from the
    /// `vdm`, formed in `scratch` where not.
    fn prepare<'a>(
        &'a mut self,
        register: &mut VectorRegister,
        vs: VReg,
        (rm, q): (MReg, &Modulus),
        vdm: &[u128],
        scratch: &'a mut Factors,
    ) -> Result<&'a Factors, Fault> {
        let slot = match register.source {
            None => scratch,
            Some(slice) => match self.prepared.entry((slice, q.value())) {
                Entry::Occupied(entry) => return Ok(entry.into_mut()),
                Entry::Vacant(entry) => {
                    // Nothing is kept of lanes that are too large.
                    register.settle(vdm);
                    register.require_below(vs, rm, q)?;
                    entry.insert(scratch.zero_like())
                }
            },
        };
        register.require_below(vs, rm, q)?;
        slot.set(q, &register.lanes);
        Ok(slot)
    }

    /// Whether `register`, which is `vs`, holds constants below the modulus.
    fn can_prepare(
        &self,
        register: &mut VectorRegister,
        vs: VReg,
        (rm, q): (MReg, &Modulus),
        vdm: &[u128],
    ) -> bool {
        let Some(slice) = register.source else { return false };
        self.prepared.contains_key(&(slice, q.value())) || {
            register.settle(vdm);
            register.require_below(vs, rm, q).is_ok()
        }
    }

    /// Whether any of `words` count as constant.
    fn contains_any(&self, words: &Range<u32>) -> bool {
        self.tables.iter().any(|table| overlap(table, words))
    }

    /// Notes that `words` are no longer constant.
    fn overwrite(&mut self, words: &Range<u32>, isa: Isa) {
        if self.contains_any(words) {
            self.tables.retain(|table| !overlap(table, words));
            self.prepared
                .retain(|(slice, _), _| !overlap(&(slice.start..slice.start + slice.mode.span(isa)), words));
        }
    }
}

/// Whether two ranges have a word in common.
fn overlap(a: &Range<u32>, b: &Range<u32>) -> bool {
    a.start < b.end && b.start < a.end
}

impl Executor {
    /// An executor of B512 programs without extensions, with memories of that many words, all zero.
    /// Multiplicands may be any words.
    pub fn new(vdm_words: u32, sdm_words: u32) -> Self {
        let (isa, features) = (Isa::B512, FeatureSet::NONE);
        let resources = Resources { isa, features, instructions: usize::MAX, vdm_words, sdm_words };
        Self::with_resources(resources, LawOperands::Word)
    }

    /// An executor with the vectors, memories, extensions and arithmetic of `machine`.
    pub fn for_machine(machine: &Machine) -> Self {
        Self::with_resources(machine.resources(), machine.law.operands)
    }

    fn with_resources(resources: Resources, operands: LawOperands) -> Self {
        let Resources { isa, vdm_words, sdm_words, .. } = resources;
        Self {
            vdm: vec![0; vdm_words as usize],
            bounds: Bounds::new(vdm_words, isa),
            sdm: vec![0; sdm_words as usize],
            registers: Registers::new(isa.vector_length() as usize),
            program: Loaded::default(),
            constants: Constants::default(),
            resources,
            operands,
        }
    }

    /// Accepts the instructions of these extensions, too.
    #[must_use]
    pub fn with_features(mut self, features: FeatureSet) -> Self {
        self.resources.features = features;
        self
    }

    /// Computes with scalar code, whatever the processor has. The results are the same.
    #[must_use]
    pub fn with_scalar_code(mut self) -> Self {
        self.registers.factor = Factors::scalar_zero(self.resources.isa.vector_length() as usize);
        self.constants.prepared.clear();
        self
    }

    /// Takes over `program`: clears both memories and fills them with its images.
    ///
    /// # Errors
    /// Where the images or symbols do not fit the memories, or an initial register value cannot
    /// be; the executor then keeps the program that it had.
    pub fn load(&mut self, program: &Program) -> Result<(), LoadError> {
        self.resources.check(program)?;
        let max = self.resources.isa.max_word();
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
        self.program = Loaded {
            moduli: moduli.collect::<Result<_, _>>()?,
            instructions: program.instructions.clone(),
            addresses: program.addresses.clone(),
            symbols: program.symbols.clone(),
        };
        self.constants = Constants::of(program);
        self.bounds.bounds.fill(0);
        for segment in &program.vdm.segments {
            self.bounds.overwrite(&(segment.start..segment.end()), u128::MAX, false);
        }
        fill(&mut self.vdm, &program.vdm);
        fill(&mut self.sdm, &program.sdm);
        Ok(())
    }

    /// Writes the words of a symbol before a run.
    ///
    /// # Errors
    /// Where the loaded program has no such symbol, or it has another number of words.
    pub fn write(&mut self, symbol: &str, words: &[u128]) -> Result<(), AccessError> {
        let (space, range) = self.locate(symbol)?;
        if words.len() != range.len() {
            let (symbol, words, given) = (symbol.into(), range.len(), words.len());
            return Err(AccessError::Length { symbol, words, given });
        }
        let max = self.resources.isa.max_word();
        if let Some(index) = words.iter().position(|&word| word > max) {
            return Err(AccessError::WordTooLarge { symbol: symbol.into(), index, value: words[index], max });
        }
        if space == Space::Vdm {
            self.constants.overwrite(&range, self.resources.isa);
            self.bounds.overwrite(&range, u128::MAX, false);
        }
        self.memory_mut(space)[range.start as usize..range.end as usize].copy_from_slice(words);
        Ok(())
    }

    /// The words of a symbol, as the last run or write left them.
    ///
    /// # Errors
    /// Where the loaded program has no such symbol.
    pub fn read(&self, symbol: &str) -> Result<&[u128], AccessError> {
        let (space, range) = self.locate(symbol)?;
        Ok(&self.memory(space)[range.start as usize..range.end as usize])
    }

    /// Runs the loaded program to its `halt`, or to its end where it has none, and returns the
    /// number of instructions executed.
    ///
    /// Registers start as the program says, the others at zero; memory starts as the last run and
    /// the writes since left it.
    ///
    /// # Errors
    /// At the first instruction that cannot do what it says. Instructions before it have taken
    /// effect; it has not.
    pub fn run(&mut self) -> Result<usize, ExecuteError> {
        self.registers.reset(&self.program);
        for index in 0..self.program.instructions.len() {
            let instr = self.program.instructions[index];
            if matches!(instr, Instr::Halt {}) {
                return Ok(index + 1);
            }
            self.step(instr).map_err(|fault| ExecuteError { index, instr, fault })?;
        }
        Ok(self.program.instructions.len())
    }

    fn memory(&self, space: Space) -> &[u128] {
        match space {
            Space::Vdm => &self.vdm,
            Space::Sdm => &self.sdm,
        }
    }

    fn memory_mut(&mut self, space: Space) -> &mut [u128] {
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

    /// Executes one instruction.
    fn step(&mut self, instr: Instr) -> Result<(), Fault> {
        let missing = instr.op().info().feature.filter(|&feature| !self.resources.features.contains(feature));
        if let Some(feature) = missing {
            return Err(Fault::Extension(feature));
        }
        match instr {
            Instr::Halt {} => Ok(()),
            Instr::Vload { vd, base, offset, mode } => self.load_vector(vd, base, offset, mode),
            Instr::Vstore { vs, base, offset, mode } => self.store_vector(vs, base, offset, mode),
            Instr::Sload { rt, offset } => self.sdm(offset).map(|v| self.registers.scalar[rt.index()] = v),
            Instr::Aload { rt, offset } => self.load_address(rt, offset),
            Instr::Mload { rt, offset } => self.load_modulus(rt, offset),
            Instr::Vadd { vd, vs, vt, rm } => self.lanewise(vd, vs, vt, rm, vector::add),
            Instr::Vsub { vd, vs, vt, rm } => self.lanewise(vd, vs, vt, rm, vector::sub),
            Instr::Vmul { vd, vs, vt, rm } => self.multiply(vd, vs, vt, rm),
            Instr::Vadds { vd, vs, rt, rm } => {
                self.with_scalar(vd, vs, rt, rm, Source::Reduced, vector::add_scalar)
            }
            Instr::Vsubs { vd, vs, rt, rm } => {
                self.with_scalar(vd, vs, rt, rm, Source::Reduced, vector::sub_scalar)
            }
            Instr::Vmuls { vd, vs, rt, rm } => {
                self.with_scalar(vd, vs, rt, rm, Source::Multiplicand, vector::multiply_scalar)
            }
            Instr::Bfly { vd, vd1, vs, vt, vt1, rm } => {
                self.butterfly([vd, vd1], [vs, vt, vt1], rm, Source::Multiplicand, vector::butterfly)
            }
            Instr::Gsbfly { vd, vd1, vs, vt, vt1, rm } => {
                self.butterfly([vd, vd1], [vs, vt, vt1], rm, Source::Reduced, vector::inverse_butterfly)
            }
            Instr::Unpklo { vd, vs, vt } => self.shuffle(vd, vs, vt, lanes::unpack::<0>),
            Instr::Unpkhi { vd, vs, vt } => self.shuffle(vd, vs, vt, lanes::unpack::<1>),
            Instr::Pklo { vd, vs, vt } => self.shuffle(vd, vs, vt, lanes::pack::<0>),
            Instr::Pkhi { vd, vs, vt } => self.shuffle(vd, vs, vt, lanes::pack::<1>),
        }
    }

    /// The words of the VDM from the first to the last that a vector load or store touches.
    fn vdm_range(&self, base: AReg, offset: Offset, mode: AddressMode) -> Result<Range<u32>, Fault> {
        let start = self.registers.address[base.index()] + offset.words();
        let end = start + mode.span(self.resources.isa);
        if end as usize > self.vdm.len() {
            return Err(Fault::OutsideVdm { first: start, last: end - 1, words: self.vdm.len() });
        }
        Ok(start..end)
    }

    fn sdm(&self, offset: Offset) -> Result<u128, Fault> {
        let word = self.sdm.get(offset.words() as usize).copied();
        word.ok_or(Fault::OutsideSdm { word: offset.words(), words: self.sdm.len() })
    }

    fn load_vector(&mut self, vd: VReg, base: AReg, offset: Offset, mode: AddressMode) -> Result<(), Fault> {
        let range = self.vdm_range(base, offset, mode)?;
        let register = &mut self.registers.vector[vd.index()];
        register.at_most = self.bounds.at_most(&range);
        register.source = self.constants.slice(&range, mode);
        register.pending = register.source.is_some();
        if !register.pending {
            gather(&mut register.lanes, &self.vdm[range.start as usize..], mode);
        }
        Ok(())
    }

    fn store_vector(&mut self, vs: VReg, base: AReg, offset: Offset, mode: AddressMode) -> Result<(), Fault> {
        let range = self.vdm_range(base, offset, mode)?;
        if self.constants.contains_any(&range) {
            for register in &mut self.registers.vector {
                register.settle(&self.vdm);
                register.source = None;
            }
            self.constants.overwrite(&range, self.resources.isa);
        }
        let register = &mut self.registers.vector[vs.index()];
        register.settle(&self.vdm);
        self.bounds.overwrite(&range, register.at_most, mode == AddressMode::Linear);
        scatter(&register.lanes, &mut self.vdm[range.start as usize..], mode);
        Ok(())
    }

    fn load_address(&mut self, rt: AReg, offset: Offset) -> Result<(), Fault> {
        let value = self.sdm(offset)?;
        if value >= u128::from(MAX_VDM_WORDS) {
            return Err(Fault::AddressTooLarge { register: rt, value });
        }
        self.registers.address[rt.index()] = value as u32;
        Ok(())
    }

    fn load_modulus(&mut self, rt: MReg, offset: Offset) -> Result<(), Fault> {
        let modulus = Modulus::new(self.sdm(offset)?);
        let modulus = modulus.map_err(|source| Fault::Modulus { register: rt, source })?;
        self.registers.modulus[rt.index()] = Some(modulus);
        Ok(())
    }

    /// `vd = kernel(vs, vt)`, lane by lane.
    fn lanewise(
        &mut self,
        vd: VReg,
        vs: VReg,
        vt: VReg,
        rm: MReg,
        kernel: fn(&Modulus, &mut [u128], &[u128], &[u128]),
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        r.require_below(vs, rm, &q, &self.vdm)?;
        r.require_below(vt, rm, &q, &self.vdm)?;
        let (a, b) = (&r.vector[vs.index()].lanes, &r.vector[vt.index()].lanes);
        kernel(&q, &mut r.spare[0].lanes, a, b);
        r.commit(0, vd, q.value() - 1);
        Ok(())
    }

    /// `vd = kernel(vs, scalar)`, lane by lane.
    fn with_scalar(
        &mut self,
        vd: VReg,
        vs: VReg,
        rt: SReg,
        rm: MReg,
        source: Source,
        kernel: fn(&Modulus, &mut [u128], &[u128], u128),
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        r.require(source, self.operands, vs, (rm, &q), &self.vdm)?;
        let scalar = r.scalar_below(rt, rm, &q)?;
        kernel(&q, &mut r.spare[0].lanes, &r.vector[vs.index()].lanes, scalar);
        r.commit(0, vd, q.value() - 1);
        Ok(())
    }

    /// `vd = vs vt`, lane by lane: `vs` is the multiplicand, and `vt` must be below the modulus.
    fn multiply(&mut self, vd: VReg, vs: VReg, vt: VReg, rm: MReg) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        if self.operands == LawOperands::Reduced {
            r.require(Source::Multiplicand, self.operands, vs, (rm, &q), &self.vdm)?;
        }
        // A product commutes: a reduced constant multiplicand can be the prepared factor. The operand
        // rule does not depend on the exchange.
        let exchange = self.constants.can_prepare(&mut r.vector[vs.index()], vs, (rm, &q), &self.vdm);
        let (x, w) = if exchange { (vt, vs) } else { (vs, vt) };
        if exchange {
            r.require_below(vt, rm, &q, &self.vdm)?;
        } else {
            r.vector[vs.index()].settle(&self.vdm);
        }
        let register = &mut r.vector[w.index()];
        let w = self.constants.prepare(register, w, (rm, &q), &self.vdm, &mut r.factor)?;
        vector::multiply(&q, &mut r.spare[0].lanes, &r.vector[x.index()].lanes, w);
        r.commit(0, vd, q.value() - 1);
        Ok(())
    }

    /// `(vd, vd1) = kernel(vs, vt, vt1)`, with `vt1` as factors.
    fn butterfly(
        &mut self,
        [vd, vd1]: [VReg; 2],
        [vs, vt, vt1]: [VReg; 3],
        rm: MReg,
        source: Source,
        kernel: ButterflyKernel,
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        let q = r.modulus(rm)?;
        r.require_below(vs, rm, &q, &self.vdm)?;
        r.require(source, self.operands, vt, (rm, &q), &self.vdm)?;
        let register = &mut r.vector[vt1.index()];
        let w = self.constants.prepare(register, vt1, (rm, &q), &self.vdm, &mut r.factor)?;
        let (a, b) = (&r.vector[vs.index()].lanes, &r.vector[vt.index()].lanes);
        let [out, out1] = &mut r.spare;
        kernel(&q, [&mut out.lanes, &mut out1.lanes], a, b, w);
        r.commit(0, vd, q.value() - 1);
        r.commit(1, vd1, q.value() - 1);
        Ok(())
    }

    /// `vd = kernel(vs, vt)`, for a kernel that moves lanes about.
    fn shuffle(
        &mut self,
        vd: VReg,
        vs: VReg,
        vt: VReg,
        kernel: fn(&mut [u128], &[u128], &[u128]),
    ) -> Result<(), Fault> {
        let r = &mut self.registers;
        for register in [vs, vt] {
            r.vector[register.index()].settle(&self.vdm);
        }
        let (a, b) = (&r.vector[vs.index()], &r.vector[vt.index()]);
        let at_most = a.at_most.max(b.at_most);
        kernel(&mut r.spare[0].lanes, &a.lanes, &b.lanes);
        r.commit(0, vd, at_most);
        Ok(())
    }
}

/// Loads `lanes` from the beginning of `words`.
fn gather(lanes: &mut [u128], words: &[u128], mode: AddressMode) {
    match mode {
        AddressMode::Linear => lanes.copy_from_slice(&words[..lanes.len()]),
        AddressMode::Strided(_) | AddressMode::StridedSkip(_) | AddressMode::Repeated(_) => {
            for (lane, out) in lanes.iter_mut().enumerate() {
                *out = words[mode.element(lane as u32) as usize];
            }
        }
    }
}

/// Stores `lanes` to the beginning of `words`.
fn scatter(lanes: &[u128], words: &mut [u128], mode: AddressMode) {
    match mode {
        AddressMode::Linear => words[..lanes.len()].copy_from_slice(lanes),
        AddressMode::Strided(_) | AddressMode::StridedSkip(_) | AddressMode::Repeated(_) => {
            for (lane, &value) in lanes.iter().enumerate() {
                words[mode.element(lane as u32) as usize] = value;
            }
        }
    }
}

/// Fills `memory` with an image and zeros.
fn fill(memory: &mut [u128], image: &Image) {
    memory.fill(0);
    for segment in &image.segments {
        memory[segment.start as usize..segment.end() as usize].copy_from_slice(&segment.words);
    }
}
