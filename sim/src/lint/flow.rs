//! The flow of values from inputs to outputs.

use super::memory::Memory;
use crate::machine::{Machine, Resources};
use b512_asm::reg::REGISTERS;
use b512_asm::{
    AddressMode, Claim, Class, Code, Defect, Direction, Instr, Operand, Part, Program, Role, Space, Symbol,
    VectorAccess,
};
use std::ops::Range;

/// A set of inputs, by number modulo 62.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct InputSet(u64);

impl InputSet {
    /// A value that has not been written.
    const UNDEFINED: Self = Self(0);
    /// A constant.
    const CONSTANT: Self = Self(1 << 63);
    /// Of words of an input that no instruction has written.
    const UNTOUCHED: Self = Self(1 << 62);
    /// The set of all inputs.
    const INPUTS: u64 = Self::UNTOUCHED.0 - 1;

    fn input(number: usize) -> Self {
        Self::CONSTANT.and(Self(1 << (number % 62)))
    }

    fn is_defined(self) -> bool {
        self.0 & Self::CONSTANT.0 != 0
    }

    /// The origin of a result of both.
    fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the value depends on an input.
    fn is_variable(self) -> bool {
        self.0 & Self::INPUTS != 0
    }

    /// Whether the sets share an input.
    fn meets(self, other: Self) -> bool {
        self.0 & other.0 & Self::INPUTS != 0
    }

    /// Whether an instruction has written the value.
    fn is_written(self) -> bool {
        self.is_defined() && self.0 & Self::UNTOUCHED.0 == 0
    }

    /// The origin of a copy.
    fn loaded(self) -> Self {
        Self(self.0 & !Self::UNTOUCHED.0)
    }
}

/// The number of an instruction; [`NONE`](Self::NONE) for initial values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Writer(u32);

impl Writer {
    const NONE: Self = Self(u32::MAX);
}

/// What a word or a register holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Content {
    origin: InputSet,
    writer: Writer,
}

impl Content {
    /// A value from before the first instruction.
    fn initial(origin: InputSet) -> Self {
        Self { origin, writer: Writer::NONE }
    }
}

/// A register file.
type File = [Content; REGISTERS];

/// What the pass follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Follow {
    /// The inputs that values depend on.
    Origins,
    /// Also the instructions that write values, and the accesses.
    Uses,
}

/// A load or store with its effective address.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) instruction: usize,
    pub(super) address: u32,
    pub(super) mode: AddressMode,
    pub(super) store: bool,
}

/// The state of the pass.
#[derive(Debug)]
pub(super) struct Flow<'p> {
    program: &'p Program,
    follow: Follow,
    resources: Resources,
    vdm: Memory<Content>,
    sdm: Memory<Content>,
    vector: File,
    scalar: File,
    address: File,
    modulus: File,
    /// The values of the address registers; `None` if an input determines it.
    addresses: [Option<u32>; REGISTERS],
    /// Whether a store has an address that an input determines.
    stores_anywhere: bool,
    /// Instructions whose results are used.
    used: Vec<bool>,
    accesses: Vec<Access>,
    defects: Vec<Defect>,
}

impl<'p> Flow<'p> {
    /// The state before the first instruction.
    pub(super) fn new(program: &'p Program, machine: &Machine, follow: Follow) -> Self {
        let resources = machine.resources();
        let memory = |words| Memory::new(words, resources.isa, Content::initial(InputSet::UNDEFINED));
        let (mut vdm, mut sdm) = (memory(resources.vdm_words), memory(resources.sdm_words));
        for (space, memory) in [(Space::Vdm, &mut vdm), (Space::Sdm, &mut sdm)] {
            for segment in &program.image(space).segments {
                let words = range(segment.start, segment.words.len());
                memory.fill(words, Content::initial(InputSet::CONSTANT));
            }
            for (number, symbol) in inputs(program).filter(|(_, symbol)| symbol.space == space) {
                let words = range(symbol.start, symbol.words as usize);
                memory.fill(words, Content::initial(InputSet::input(number).and(InputSet::UNTOUCHED)));
            }
        }
        let file = |origin| [Content::initial(origin); REGISTERS];
        let mut modulus = file(InputSet::UNDEFINED);
        for (register, _) in &program.moduli {
            modulus[register.index()].origin = InputSet::CONSTANT;
        }
        let mut addresses = [Some(0); REGISTERS];
        for &(register, address) in &program.addresses {
            addresses[register.index()] = Some(address);
        }
        let instructions = if follow == Follow::Uses { program.instructions.len() } else { 0 };
        Self {
            program,
            follow,
            resources,
            vdm,
            sdm,
            vector: file(InputSet::UNDEFINED),
            scalar: file(InputSet::UNDEFINED),
            address: file(InputSet::CONSTANT),
            modulus,
            addresses,
            stores_anywhere: false,
            used: vec![false; instructions],
            accesses: Vec::new(),
            defects: Vec::new(),
        }
    }

    /// Follows all instructions.
    pub(super) fn run(&mut self) {
        for (index, instr) in self.program.instructions.iter().enumerate() {
            self.step(index, instr);
        }
    }

    /// The defects that the instructions have shown.
    pub(super) fn take_defects(&mut self) -> Vec<Defect> {
        std::mem::take(&mut self.defects)
    }

    /// Loads and stores with known addresses.
    pub(super) fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    fn report(&mut self, code: Code, index: usize, message: String, help: impl Into<Option<String>>) {
        self.defects.push(Defect { code, part: Part::Instruction(index), message, help: help.into() });
    }

    fn step(&mut self, index: usize, instr: &Instr) {
        let mut origin = InputSet::CONSTANT;
        instr.for_each_directed_operand(|direction, operand| {
            if direction == Direction::Read {
                origin = origin.and(self.read_register(index, operand));
            }
        });
        match instr.op().class() {
            Class::Load | Class::Store => {
                let access = instr.vector_access().expect("loads and stores access the VDM");
                origin = origin.and(self.access_vdm(index, access, origin));
            }
            Class::ScalarLoad => origin = self.load_scalar(index, instr),
            Class::Halt
            | Class::Add
            | Class::Subtract
            | Class::Multiply
            | Class::Butterfly(_)
            | Class::Permute(_) => {}
        }
        instr.for_each_directed_operand(|direction, operand| {
            if direction == Direction::Write {
                self.write_register(index, operand, origin);
            }
        });
        // The caller sees the effect of a `halt`, and of words that no pass follows.
        if instr.op().class() == Class::Halt || self.stores_anywhere {
            self.use_result(Writer(index as u32));
        }
    }

    /// What a register holds.
    fn register(&mut self, operand: Operand) -> Option<&mut Content> {
        match operand {
            Operand::VReg(register) => Some(&mut self.vector[register.index()]),
            Operand::SReg(register) => Some(&mut self.scalar[register.index()]),
            Operand::AReg(register) => Some(&mut self.address[register.index()]),
            Operand::MReg(register) => Some(&mut self.modulus[register.index()]),
            Operand::Offset(_) | Operand::Mode(_) | Operand::Map(_) => None,
        }
    }

    /// A value that an instruction writes.
    fn result(&self, index: usize, origin: InputSet) -> Content {
        match self.follow {
            // Without its writer: words of the same origin are one run.
            Follow::Origins => Content::initial(origin),
            Follow::Uses => Content { origin, writer: Writer(index as u32) },
        }
    }

    fn read_register(&mut self, index: usize, operand: Operand) -> InputSet {
        let Some(held) = self.register(operand) else { return InputSet::CONSTANT };
        let Content { origin, writer } = *held;
        if origin.is_defined() {
            self.use_result(writer);
            return origin;
        }
        // One report is enough.
        held.origin = InputSet::CONSTANT;
        if let Operand::MReg(register) = operand {
            let help = format!("set it with `.modulus {register}, ..` or `mload`");
            self.report(Code::UnsetModulus, index, format!("`{register}` has no modulus"), help);
        } else {
            let message = format!("`{operand}` is read before it is written");
            self.report(Code::Undefined, index, message, "load it first".to_owned());
        }
        InputSet::CONSTANT
    }

    fn write_register(&mut self, index: usize, operand: Operand, origin: InputSet) {
        let result = self.result(index, origin);
        if let Some(register) = self.register(operand) {
            *register = result;
        }
    }

    fn use_result(&mut self, writer: Writer) {
        mark(&mut self.used, writer);
    }

    /// Follows a load or store. Returns the origin of the words that it loads.
    fn access_vdm(&mut self, index: usize, access: VectorAccess, origin: InputSet) -> InputSet {
        let VectorAccess { store, base, offset, mode } = access;
        let Some(base) = self.addresses[base.index()] else {
            self.stores_anywhere |= store;
            return InputSet::CONSTANT;
        };
        let address = u64::from(base) + u64::from(offset.words());
        let end = address + u64::from(mode.span(self.resources.isa));
        let words = self.vdm.len();
        if end > words as u64 {
            let message = format!("the access ends at word {end:#x}, but the VDM has {words:#x} words");
            self.report(Code::OutsideMemory, index, message, "`vdm.size_mib` sets its size".to_owned());
            return InputSet::CONSTANT;
        }
        let address = address as u32;
        if self.follow == Follow::Uses {
            self.accesses.push(Access { instruction: index, address, mode, store });
        }
        if store {
            self.vdm.store(address, mode, self.result(index, origin));
            InputSet::CONSTANT
        } else {
            self.load(index, address, mode)
        }
    }

    fn load(&mut self, index: usize, address: u32, mode: AddressMode) -> InputSet {
        let mut origin = InputSet::CONSTANT;
        let (mut undefined, mut last) = (None, Writer::NONE);
        let used = &mut self.used;
        self.vdm.load(address, mode, |word, source| {
            origin = origin.and(source.origin);
            if !source.origin.is_defined() {
                undefined.get_or_insert(word);
            }
            if source.writer != last {
                last = source.writer;
                mark(used, last);
            }
        });
        if undefined.is_some() {
            // One report is enough.
            let define = |source: Content| match source.origin.is_defined() {
                true => source,
                false => Content { origin: InputSet::CONSTANT, ..source },
            };
            self.vdm.change(address, mode, define);
        }
        if let Some(word) = undefined.filter(|_| !self.stores_anywhere) {
            let message = format!("{} is read before it is written", word_of(self.program, Space::Vdm, word));
            let help = "store to it first, or declare an input or `.words`";
            self.report(Code::Undefined, index, message, help.to_owned());
        }
        origin.loaded()
    }

    /// Follows a load from the SDM. Returns the origin of the word.
    fn load_scalar(&mut self, index: usize, instr: &Instr) -> InputSet {
        let (mut offset, mut target) = (0, None);
        instr.for_each_operand(|_, operand| match operand {
            Operand::Offset(words) => offset = words.words(),
            Operand::AReg(register) => target = Some(register),
            Operand::VReg(_) | Operand::SReg(_) | Operand::MReg(_) | Operand::Mode(_) | Operand::Map(_) => {}
        });
        let words = self.sdm.len();
        let Some(Content { origin, .. }) = self.sdm.get(offset as usize) else {
            let message = format!("the access is to word {offset:#x}, but the SDM has {words:#x} words");
            self.report(Code::OutsideMemory, index, message, "`sdm.size_kib` sets its size".to_owned());
            return InputSet::CONSTANT;
        };
        if let Some(target) = target {
            let value = u32::try_from(self.program.sdm.word(offset)).ok();
            self.addresses[target.index()] = value.filter(|_| !origin.is_variable());
        }
        if !origin.is_defined() {
            let message =
                format!("{} is read before it is written", word_of(self.program, Space::Sdm, offset));
            self.report(Code::Undefined, index, message, "give it a value with `.words`".to_owned());
            return InputSet::CONSTANT;
        }
        origin.loaded()
    }

    /// The outputs that have the same words whatever the inputs are. Without any if a store has an unknown
    /// address.
    pub(super) fn constant_outputs(&mut self) -> Vec<&'p Symbol> {
        let symbols = &self.program.symbols;
        let mut outputs: Vec<&Symbol> =
            symbols.iter().filter(|symbol| symbol.role == Role::Output && !self.stores_anywhere).collect();
        outputs.retain(|output| self.output(output).is_some_and(|(origin, _)| !origin.is_variable()));
        outputs
    }

    /// The defects of the outputs after the last instruction. Their words are used.
    pub(super) fn outputs(&mut self) -> Vec<Defect> {
        let mut defects = Vec::new();
        let program = self.program;
        for (number, output) in (0..).zip(&program.symbols).filter(|(_, symbol)| symbol.role == Role::Output)
        {
            let defect = |code, message| Defect { code, part: Part::Symbol(number), message, help: None };
            let Some((origin, undefined)) = self.output(output) else { continue };
            if let Some(word) = undefined {
                let message = format!("no instruction writes word {word} of output `{}`", output.name);
                defects.push(defect(Code::Unwritten, message));
            } else if let Some(claim) = claim_of(program, output) {
                let operands = || inputs(program).filter(|(_, input)| claim.inputs.contains(&input.name));
                let claimed =
                    operands().fold(InputSet::CONSTANT, |set, (number, _)| set.and(InputSet::input(number)));
                if !origin.meets(claimed) {
                    let names: Vec<String> =
                        operands().map(|(_, input)| format!("`{}`", input.name)).collect();
                    let message = format!("output `{}` does not depend on {}", output.name, names.join(", "));
                    defects.push(defect(Code::Independent, message));
                }
            }
        }
        if self.stores_anywhere { Vec::new() } else { defects }
    }

    /// The origin of an output and the first of its words that no instruction writes, as an index; words of
    /// the image count as written. `None` for an output beyond the memory.
    fn output(&mut self, output: &Symbol) -> Option<(InputSet, Option<usize>)> {
        let words = range(output.start, output.words as usize);
        let memory = match output.space {
            Space::Vdm => &self.vdm,
            Space::Sdm => &self.sdm,
        };
        if words.end > memory.len() {
            return None;
        }
        let (mut origin, mut undefined) = (InputSet::CONSTANT, None);
        for (word, source) in memory.pieces(words.clone()) {
            origin = origin.and(source.origin);
            if !source.origin.is_written() {
                undefined.get_or_insert(word - words.start);
            }
            mark(&mut self.used, source.writer);
        }
        Some((origin, undefined))
    }

    /// Results that nothing reads.
    pub(super) fn unused(&self) -> Vec<Defect> {
        let unused = self.used.iter().enumerate().filter(|(_, used)| !**used);
        let defect = |(index, _)| Defect {
            code: Code::Unused,
            part: Part::Instruction(index),
            message: "nothing reads the result".into(),
            help: None,
        };
        unused.map(defect).collect()
    }
}

/// The inputs with their numbers.
pub(super) fn inputs(program: &Program) -> impl Iterator<Item = (usize, &Symbol)> {
    program.symbols.iter().filter(|symbol| symbol.role == Role::Input).enumerate()
}

fn claim_of<'p>(program: &'p Program, output: &Symbol) -> Option<&'p Claim> {
    program.claims.iter().find(|claim| claim.outputs.contains(&output.name))
}

pub(super) fn range(start: u32, words: usize) -> Range<usize> {
    start as usize..start as usize + words
}

/// Notes that an instruction's result is used.
fn mark(used: &mut [bool], writer: Writer) {
    if let Some(used) = used.get_mut(writer.0 as usize) {
        *used = true;
    }
}

/// A word of a memory as text, with its symbol.
pub(super) fn word_of(program: &Program, space: Space, word: u32) -> String {
    let symbols = program.symbols.iter().filter(|symbol| symbol.space == space);
    match symbols.filter(|symbol| symbol.contains(word.into())).min_by_key(|symbol| symbol.words) {
        Some(symbol) => format!("word {word:#x} (`{}` + {})", symbol.name, word - symbol.start),
        None => format!("word {word:#x} of the {space}"),
    }
}
