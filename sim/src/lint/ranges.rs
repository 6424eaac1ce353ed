//! The largest words that registers and memories may hold.
//!
//! Only scalar loads, operands of arithmetic and the memory's words depend on data: a program has no
//! branches, and its addresses come from launch values and the SDM. So one pass with the largest word of each
//! place answers for all data at once. A bound is exact for constants and inputs. A result is below its
//! modulus, or below what its operands give without reduction.

use super::flow::{inputs, range, word_of};
use super::memory::Memory;
use crate::machine::{LawOperands, Machine};
use b512_asm::reg::{MAX_VDM_WORDS, REGISTERS};
use b512_asm::{
    AReg, AddressMode, Code, Defect, Image, Instr, Isa, MReg, Offset, Part, Program, SReg, Space, Symbol,
    VReg,
};
use ring::Modulus;

/// The largest word in each lane of a vector.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Lanes {
    /// One bound of all lanes.
    Same(u128),
    /// A bound of each lane.
    Each(Box<[u128]>),
}

impl Lanes {
    fn of(words: impl Iterator<Item = u128>) -> Self {
        let words: Box<[u128]> = words.collect();
        match words.iter().all(|word| *word == words[0]) {
            true => Self::Same(words[0]),
            false => Self::Each(words),
        }
    }

    fn lane(&self, lane: usize) -> u128 {
        match self {
            Self::Same(word) => *word,
            Self::Each(words) => words[lane],
        }
    }

    fn map(&self, of: impl Fn(u128) -> u128) -> Self {
        match self {
            Self::Same(word) => Self::Same(of(*word)),
            Self::Each(words) => Self::of(words.iter().map(|word| of(*word))),
        }
    }

    fn with(&self, other: &Self, of: impl Fn(u128, u128) -> u128) -> Self {
        match (self, other) {
            (Self::Same(a), Self::Same(b)) => Self::Same(of(*a, *b)),
            (Self::Each(a), _) => Self::of((0..).zip(a).map(|(lane, a)| of(*a, other.lane(lane)))),
            (Self::Same(a), Self::Each(b)) => Self::of(b.iter().map(|b| of(*a, *b))),
        }
    }

    /// The first lane whose word may be `modulus` or more, with that word.
    fn not_below(&self, modulus: u128) -> Option<(usize, u128)> {
        match self {
            Self::Same(word) => (*word >= modulus).then_some((0, *word)),
            Self::Each(words) => (0..).zip(words.iter().copied()).find(|(_, word)| *word >= modulus),
        }
    }
}

/// The largest sum of two words below `q`.
fn sum(a: u128, b: u128, q: u128) -> u128 {
    a.checked_add(b).filter(|sum| *sum < q).unwrap_or(q - 1)
}

/// The largest difference of two words below `q`.
fn difference(a: u128, b: u128, q: u128) -> u128 {
    if b == 0 { a } else { q - 1 }
}

/// The largest product modulo `q` of any word and a word below `q`.
fn product(a: u128, b: u128, q: u128) -> u128 {
    a.checked_mul(b).filter(|product| *product < q).unwrap_or(q - 1)
}

/// The data decide where the program reads or writes from here on.
struct Undecided;

/// The state of the pass.
struct Ranges<'p> {
    program: &'p Program,
    isa: Isa,
    operands: LawOperands,
    vdm: Memory<u128>,
    /// The largest words of inputs in the SDM; `None` for other words.
    sdm: Memory<Option<u128>>,
    vector: [Lanes; REGISTERS],
    scalar: [u128; REGISTERS],
    address: [u32; REGISTERS],
    /// `None` if an input determines it.
    modulus: [Option<u128>; REGISTERS],
    defects: Vec<Defect>,
}

/// The operands that may be outside of their ranges on data that a program takes: words of its image, and up
/// to the `largest` word of each input. If it has claims, none of its addresses and moduli is an input, as no
/// claim can say what it takes there. Without claims the caller decides them: operands under such a modulus
/// are in range, and what follows such an address is not examined.
///
/// The program has no other [`errors`](super::errors).
pub fn ranges(program: &Program, machine: &Machine, largest: impl Fn(&Symbol) -> u128) -> Vec<Defect> {
    let mut ranges = Ranges::new(program, machine, largest);
    for (index, instr) in program.instructions.iter().enumerate() {
        if let Err(Undecided) = ranges.step(index, instr) {
            break;
        }
    }
    ranges.defects
}

impl<'p> Ranges<'p> {
    fn new(program: &'p Program, machine: &Machine, largest: impl Fn(&Symbol) -> u128) -> Self {
        let (resources, operands) = (machine.resources(), machine.law.operands);
        let isa = resources.isa;
        let mut vdm = Memory::new(resources.vdm_words, isa, 0);
        fill(&mut vdm, &program.vdm, &limits(program));
        let mut sdm = Memory::new(resources.sdm_words, isa, None);
        for (_, symbol) in inputs(program) {
            let (words, largest) = (range(symbol.start, symbol.words as usize), largest(symbol));
            match symbol.space {
                Space::Vdm => vdm.update(words, |word| word.max(largest)),
                Space::Sdm => sdm.fill(words, Some(largest)),
            }
        }
        let mut address = [0; REGISTERS];
        program.addresses.iter().for_each(|(register, value)| address[register.index()] = *value);
        let mut modulus = [None; REGISTERS];
        program.moduli.iter().for_each(|(register, value)| modulus[register.index()] = Some(*value));
        let vector = std::array::from_fn(|_| Lanes::Same(0));
        let (scalar, defects) = ([0; REGISTERS], Vec::new());
        Self { program, isa, operands, vdm, sdm, vector, scalar, address, modulus, defects }
    }

    fn step(&mut self, index: usize, instr: &Instr) -> Result<(), Undecided> {
        let lanes = self.isa.vector_length() as usize;
        match *instr {
            Instr::Halt {} => {}
            Instr::Vload { vd, base, offset, mode } => {
                if let Some(address) = self.effective(base, offset, mode) {
                    self.vector[vd.index()] = self.load(address, mode);
                }
            }
            Instr::Vstore { vs, base, offset, mode } => {
                if let Some(address) = self.effective(base, offset, mode) {
                    match &self.vector[vs.index()] {
                        Lanes::Same(word) => self.vdm.store(address, mode, *word),
                        Lanes::Each(words) => self.vdm.store_each(address, mode, words),
                    }
                }
            }
            Instr::Sload { rt, offset } => self.load_scalar(rt, offset),
            Instr::Aload { rt, offset } => return self.load_address(index, rt, offset),
            Instr::Mload { rt, offset } => self.load_modulus(index, rt, offset),
            Instr::Vadd { vd, vs, vt, rm } => self.compute(vd, rm, |this, q| {
                this.reduce(index, [vs, vt], rm, q);
                this.of(vs).with(this.of(vt), |a, b| sum(a, b, q))
            }),
            Instr::Vsub { vd, vs, vt, rm } => self.compute(vd, rm, |this, q| {
                this.reduce(index, [vs, vt], rm, q);
                match vs == vt {
                    true => Lanes::Same(0),
                    false => this.of(vs).with(this.of(vt), |a, b| difference(a, b, q)),
                }
            }),
            Instr::Vmul { vd, vs, vt, rm } => self.compute(vd, rm, |this, q| {
                this.reduce_multiplicand(index, vs, rm, q);
                this.reduce(index, [vt], rm, q);
                this.of(vs).with(this.of(vt), |a, b| product(a, b, q))
            }),
            Instr::Vadds { vd, vs, rt, rm } => self.compute(vd, rm, |this, q| {
                this.reduce(index, [vs], rm, q);
                let scalar = this.reduce_scalar(index, rt, rm, q);
                this.of(vs).map(|a| sum(a, scalar, q))
            }),
            Instr::Vsubs { vd, vs, rt, rm } => self.compute(vd, rm, |this, q| {
                this.reduce(index, [vs], rm, q);
                let scalar = this.reduce_scalar(index, rt, rm, q);
                this.of(vs).map(|a| difference(a, scalar, q))
            }),
            Instr::Vmuls { vd, vs, rt, rm } => self.compute(vd, rm, |this, q| {
                this.reduce_multiplicand(index, vs, rm, q);
                let scalar = this.reduce_scalar(index, rt, rm, q);
                this.of(vs).map(|a| product(a, scalar, q))
            }),
            Instr::Bfly { vd, vd1, vs, vt, vt1, rm } => self.compute_two([vd, vd1], rm, |this, q| {
                this.reduce_multiplicand(index, vt, rm, q);
                this.reduce(index, [vs, vt1], rm, q);
                let (u, v) = (this.of(vs), this.of(vt).with(this.of(vt1), |v, w| product(v, w, q)));
                [u.with(&v, |u, v| sum(u, v, q)), u.with(&v, |u, v| difference(u, v, q))]
            }),
            Instr::Gsbfly { vd, vd1, vs, vt, vt1, rm } => self.compute_two([vd, vd1], rm, |this, q| {
                this.reduce(index, [vs, vt, vt1], rm, q);
                let (u, v) = (this.of(vs), this.of(vt));
                let part = u.with(v, |u, v| difference(u, v, q));
                [u.with(v, |u, v| sum(u, v, q)), part.with(this.of(vt1), |part, w| product(part, w, q))]
            }),
            Instr::Unpklo { vd, vs, vt } => self.shuffle(vd, [vs, vt], |lane| (lane % 2, lane / 2)),
            Instr::Unpkhi { vd, vs, vt } => self.shuffle(vd, [vs, vt], |lane| (lane % 2, (lanes + lane) / 2)),
            Instr::Pklo { vd, vs, vt } => {
                self.shuffle(vd, [vs, vt], |lane| (2 * lane / lanes, 2 * lane % lanes))
            }
            Instr::Pkhi { vd, vs, vt } => {
                self.shuffle(vd, [vs, vt], |lane| (2 * lane / lanes, 2 * lane % lanes + 1));
            }
            Instr::Vaff { vd, vs, map } => self.shuffle(vd, [vs, vs], |lane| (0, map.source(lane, lanes))),
        }
        Ok(())
    }

    fn of(&self, register: VReg) -> &Lanes {
        &self.vector[register.index()]
    }

    /// The effective address of an access; `None` for one beyond the memory.
    fn effective(&self, base: AReg, offset: Offset, mode: AddressMode) -> Option<u32> {
        let address = self.address[base.index()].checked_add(offset.words())?;
        let end = u64::from(address) + u64::from(mode.span(self.isa));
        (end <= self.vdm.len() as u64).then_some(address)
    }

    fn load(&self, address: u32, mode: AddressMode) -> Lanes {
        let (mut first, mut is_same) = (None, true);
        self.vdm.load(address, mode, |_, word| is_same &= *first.get_or_insert(word) == word);
        match first {
            Some(word) if is_same => Lanes::Same(word),
            _ => {
                let word = |lane| self.vdm.get((address + mode.element(lane)) as usize).unwrap_or(0);
                Lanes::of((0..self.isa.vector_length()).map(word))
            }
        }
    }

    /// `vd = result`; the least words if nothing is known of the modulus.
    fn compute(&mut self, vd: VReg, rm: MReg, result: impl FnOnce(&mut Self, u128) -> Lanes) {
        let modulus = self.modulus[rm.index()];
        self.vector[vd.index()] = modulus.map_or(Lanes::Same(0), |q| result(self, q));
    }

    /// `(vd, vd1) = results`; the least words if nothing is known of the modulus.
    fn compute_two(
        &mut self,
        registers: [VReg; 2],
        rm: MReg,
        results: impl FnOnce(&mut Self, u128) -> [Lanes; 2],
    ) {
        let none = [0; 2].map(Lanes::Same);
        let results = self.modulus[rm.index()].map_or(none, |q| results(self, q));
        for (register, result) in registers.into_iter().zip(results) {
            self.vector[register.index()] = result;
        }
    }

    /// Moves lanes: `source` tells which of the two registers a lane comes from, and its lane there.
    fn shuffle(&mut self, vd: VReg, registers: [VReg; 2], source: impl Fn(usize) -> (usize, usize)) {
        let sources = registers.map(|register| self.of(register));
        let result = match sources {
            [Lanes::Same(a), Lanes::Same(b)] if a == b => Lanes::Same(*a),
            _ => Lanes::of((0..self.isa.vector_length() as usize).map(|lane| {
                let (register, lane) = source(lane);
                sources[register].lane(lane)
            })),
        };
        self.vector[vd.index()] = result;
    }

    fn report(&mut self, code: Code, index: usize, message: String, help: impl Into<Option<String>>) {
        self.defects.push(Defect { code, part: Part::Instruction(index), message, help: help.into() });
    }

    /// Requires that registers are below the modulus `q` in `rm`. One report is enough: they count as below
    /// from here on.
    fn reduce<const N: usize>(&mut self, index: usize, registers: [VReg; N], rm: MReg, q: u128) {
        let help = match self.operands {
            LawOperands::Word => "a product with one, as `vmuls` computes, reduces any word",
            LawOperands::Reduced => "`law.operands = \"word\"` lets a product with one reduce it",
        };
        for register in registers {
            self.require(index, register, (rm, q), "", help);
        }
    }

    /// As [`reduce`](Self::reduce), of a multiplicand.
    fn reduce_multiplicand(&mut self, index: usize, register: VReg, rm: MReg, q: u128) {
        match self.operands {
            LawOperands::Word => {}
            LawOperands::Reduced => {
                self.require(
                    index,
                    register,
                    (rm, q),
                    "the multiplicand ",
                    "`law.operands = \"word\"` accepts it",
                );
            }
        }
    }

    fn require(&mut self, index: usize, register: VReg, (rm, q): (MReg, u128), what: &str, help: &str) {
        if let Some((lane, word)) = self.of(register).not_below(q) {
            let message = format!(
                "lane {lane} of {what}`{register}` may be {word:#x}, which is not below {q:#x}, the modulus in `{rm}`"
            );
            self.report(Code::NotReduced, index, message, help.to_owned());
            self.vector[register.index()] = self.of(register).map(|word| word.min(q - 1));
        }
    }

    /// Requires that a scalar is below the modulus `q` in `rm`, and returns its bound.
    fn reduce_scalar(&mut self, index: usize, register: SReg, rm: MReg, q: u128) -> u128 {
        let word = self.scalar[register.index()];
        if word >= q {
            let message =
                format!("`{register}` may be {word:#x}, which is not below {q:#x}, the modulus in `{rm}`");
            self.report(Code::NotReduced, index, message, None);
            self.scalar[register.index()] = q - 1;
        }
        self.scalar[register.index()]
    }

    /// The largest word of the inputs of which a word of the SDM is one; `None` for others.
    fn input(&self, offset: Offset) -> Option<u128> {
        self.sdm.get(offset.words() as usize).flatten()
    }

    fn load_scalar(&mut self, register: SReg, offset: Offset) {
        let word = self.program.sdm.word(offset.words());
        self.scalar[register.index()] = self.input(offset).map_or(word, |largest| word.max(largest));
    }

    fn load_address(&mut self, index: usize, register: AReg, offset: Offset) -> Result<(), Undecided> {
        if self.input(offset).is_some() {
            self.report_input(Code::Address, index, offset, "an address");
            return Err(Undecided);
        }
        let word = self.program.sdm.word(offset.words());
        let address = u32::try_from(word).ok().filter(|address| *address < MAX_VDM_WORDS);
        let Some(address) = address else {
            let help = format!("the largest address is {:#x}", MAX_VDM_WORDS - 1);
            self.report(Code::Address, index, format!("`{register}` cannot hold {word:#x}"), help);
            return Err(Undecided);
        };
        self.address[register.index()] = address;
        Ok(())
    }

    fn load_modulus(&mut self, index: usize, register: MReg, offset: Offset) {
        self.modulus[register.index()] = None;
        if self.input(offset).is_some() {
            return self.report_input(Code::Modulus, index, offset, "a modulus");
        }
        let word = self.program.sdm.word(offset.words());
        match Modulus::new(word) {
            Ok(_) => self.modulus[register.index()] = Some(word),
            Err(error) => {
                let message = format!("invalid modulus for `{register}`: {error}");
                self.report(Code::Modulus, index, message, "a modulus is odd and at least 3".to_owned());
            }
        }
    }

    /// Reports that an input gives an address or a modulus, if claims should hold for all data.
    fn report_input(&mut self, code: Code, index: usize, offset: Offset, what: &str) {
        if !self.program.claims.is_empty() {
            let word = word_of(self.program, Space::Sdm, offset.words());
            let message = format!("{word} is an input, which need not be {what}");
            self.report(code, index, message, "make it a `.table` with `.words`".to_owned());
        }
    }
}

/// The moduli of a program, in ascending order.
fn limits(program: &Program) -> Vec<u128> {
    let loaded = program.instructions.iter().filter_map(|instr| {
        let Instr::Mload { offset, .. } = instr else { return None };
        Some(program.sdm.word(offset.words()))
    });
    let mut limits: Vec<u128> = program.moduli.iter().map(|(_, modulus)| *modulus).chain(loaded).collect();
    limits.sort_unstable();
    limits.dedup();
    limits
}

/// Fills a memory with an image. Consecutive words below the same moduli count as the largest of them: no
/// rule tells them apart, and most vectors thus have one bound.
fn fill(memory: &mut Memory<u128>, image: &Image, limits: &[u128]) {
    for segment in &image.segments {
        let mut rest = &segment.words[..];
        let mut start = segment.start as usize;
        while let Some(first) = rest.first() {
            let above = limits.partition_point(|limit| limit <= first);
            let least = above.checked_sub(1).map_or(0, |below| limits[below]);
            let largest = limits.get(above).map_or(u128::MAX, |limit| limit - 1);
            let is_alike = |word: &&u128| (least..=largest).contains(*word);
            let (mut words, mut bound) = (0, 0);
            for word in rest.iter().take_while(is_alike) {
                (words, bound) = (words + 1, bound.max(*word));
            }
            memory.fill(start..start + words, bound);
            (rest, start) = (&rest[words..], start + words);
        }
    }
}
