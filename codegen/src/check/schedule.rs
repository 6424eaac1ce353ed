//! The program computes what the vector code does; [the parent](super) has the rules.

use crate::code::{BufferId, Code, ConstantId, Inst, InstId, Tower};
use b512_asm::reg::{REGISTERS, VECTOR_LENGTH};
use b512_asm::{
    AReg, AddressMode, Direction, Equation, Instr, InvalidProgram, Op, Operand, OperandKind, Program, Role,
    Space,
};
use sim::modular::Modulus;
use std::collections::HashMap;
use thiserror::Error;

/// Where the proof that a program carries out vector code breaks down.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ScheduleFault {
    /// A program that no machine can take.
    #[error(transparent)]
    Invalid(#[from] InvalidProgram),
    /// Vector code that has no meaning by itself.
    #[error("instruction {inst} of the vector code {problem}")]
    Code {
        /// The instruction of the code.
        inst: u32,
        /// What is wrong.
        problem: &'static str,
    },
    /// A buffer of the code without its symbol, or memory that two owners initialise.
    #[error("`{symbol}` {problem}")]
    Memory {
        /// The symbol.
        symbol: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// Equations that are not the code's claims.
    #[error("the program's equations are not the claims of its vector code")]
    Equations,
    /// An instruction that computes something else than the code, or cannot be.
    #[error("instruction {at} `{instr}` {problem}")]
    Instruction {
        /// Its place in the program.
        at: usize,
        /// The instruction, as assembly text.
        instr: String,
        /// What is wrong.
        problem: String,
    },
    /// An output word with a wrong result in the end.
    #[error("word {word} of `{output}` ends as {found} instead of {expected}")]
    Output {
        /// The output symbol.
        output: String,
        /// The word.
        word: usize,
        /// What the code leaves there.
        expected: String,
        /// What the program leaves there.
        found: String,
    },
}

/// Proves that `program` computes what `code` does, for all data: that after a run every word of
/// the outputs which the code writes holds what the code leaves there.
///
/// Buffers of the code are the program's symbols of the same name. Nothing else connects the two.
///
/// # Errors
/// The first place where the proof breaks down.
pub fn schedule(code: &Code, program: &Program) -> Result<(), ScheduleFault> {
    program.check()?;
    let mut terms = Terms::default();
    let expected = evaluate(code, &mut terms)?;
    equations(code, program)?;
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
    for (buffer, expected) in code.buffers.iter().zip(&expected) {
        let Some(symbol) = program.symbol(&buffer.name).filter(|_| buffer.role == Role::Output) else {
            continue;
        };
        for (word, &expected) in expected.iter().enumerate() {
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

/// A vector, by how it is computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Term(u32);

/// A number, by its place in [`Terms::numbers`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Number(u32);

/// What a word of memory holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Word {
    Undefined,
    Input(BufferId, u32),
    Number(Number),
    Lane(Term, u16),
}

/// An operation on terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Applied {
    op: Op,
    sources: [Option<Term>; 3],
    scalar: Option<u128>,
    modulus: Option<u128>,
    /// Which of the operation's results.
    result: u8,
}

/// The part of the vector code that a term belongs to.
#[derive(Clone, Copy, Debug)]
enum Owner {
    Inst(InstId),
    Constant(ConstantId),
}

/// The terms of the vector code.
#[derive(Default)]
struct Terms {
    gathered: HashMap<Box<[Word]>, Term>,
    applied: HashMap<Applied, Term>,
    numbers: HashMap<u128, Number>,
    owners: Vec<Owner>,
}

impl Terms {
    fn number(&mut self, number: u128) -> Word {
        let next = Number(self.numbers.len() as u32);
        Word::Number(*self.numbers.entry(number).or_insert(next))
    }

    /// The term that these words make up, where the code has it.
    fn find_gathered(&self, words: &[Word]) -> Option<Term> {
        if let Word::Lane(term, 0) = words[0]
            && words.iter().enumerate().all(|(lane, &word)| word == Word::Lane(term, lane as u16))
        {
            return Some(term);
        }
        self.gathered.get(words).copied()
    }

    fn new_term(&mut self, owner: Owner) -> Term {
        self.owners.push(owner);
        Term(self.owners.len() as u32 - 1)
    }

    fn gather(&mut self, words: Vec<Word>, owner: Owner) -> Term {
        self.find_gathered(&words).unwrap_or_else(|| {
            let term = self.new_term(owner);
            self.gathered.insert(words.into(), term);
            term
        })
    }

    fn apply(&mut self, applied: Applied, owner: Owner) -> Term {
        if let Some(&term) = self.applied.get(&applied) {
            return term;
        }
        let term = self.new_term(owner);
        self.applied.insert(applied, term);
        term
    }

    fn describe(&self, code: &Code, word: Word) -> String {
        match word {
            Word::Undefined => "undefined".to_owned(),
            Word::Input(buffer, word) => format!("word {word} of `{}`", code.buffers[buffer.index()].name),
            Word::Number(number) => {
                let found = self.numbers.iter().find(|&(_, &other)| other == number);
                found.map_or_else(|| "a number".to_owned(), |(value, _)| format!("{value:#x}"))
            }
            Word::Lane(term, lane) => format!("lane {lane} of {}", self.name(code, term)),
        }
    }

    /// A term in words.
    fn name(&self, code: &Code, term: Term) -> String {
        match self.owners[term.0 as usize] {
            Owner::Constant(ConstantId(id)) => format!("constant {id}"),
            Owner::Inst(id) => {
                let mnemonic = code.insts[id.index()].op.info().mnemonic;
                format!("the result of the code's instruction {} ({mnemonic})", id.0)
            }
        }
    }
}

/// The operation with its operands in a standard order.
fn applied(op: Op, sources: &[Term], scalar: Option<u128>, modulus: Option<u128>, result: usize) -> Applied {
    let mut in_order = [None; 3];
    for (place, &term) in in_order.iter_mut().zip(sources) {
        *place = Some(term);
    }
    if matches!(op, Op::Vadd | Op::Vmul) {
        in_order[..2].sort_unstable();
    }
    Applied { op, sources: in_order, scalar, modulus, result: result as u8 }
}

fn reads(op: Op, kind: OperandKind) -> usize {
    let specs = op.info().operands.iter();
    specs.filter(|spec| spec.kind == kind && spec.direction == Direction::Read).count()
}

/// The numbers that the factors of a tower stand for.
struct Powers {
    modulus: Option<Modulus>,
    /// psi^0 to psi^(2n - 1).
    powers: Vec<u128>,
    over_n: u128,
}

impl Powers {
    fn new(tower: &Tower) -> Self {
        let Ok(modulus) = Modulus::new(tower.modulus) else {
            return Self { modulus: None, powers: Vec::new(), over_n: 0 };
        };
        let root = modulus.prepare(modulus.residue(tower.root));
        let next = |&power: &u128| Some(modulus.mul_prepared(power, root));
        let powers = std::iter::successors(Some(1), next).take(2 * tower.n as usize).collect();
        let over_n = modulus.inverse(modulus.residue(tower.n.into())).unwrap_or(0);
        Self { modulus: Some(modulus), powers, over_n }
    }

    fn get(&self, exponent: u32, scaled: bool) -> Option<u128> {
        let power = *self.powers.get(exponent as usize)?;
        Some(if scaled { self.modulus?.mul(power, self.over_n) } else { power })
    }
}

/// Evaluates the vector code to terms, and returns what it leaves in each word of its buffers.
fn evaluate(code: &Code, terms: &mut Terms) -> Result<Vec<Vec<Word>>, ScheduleFault> {
    let powers: Vec<Powers> = code.towers.iter().map(Powers::new).collect();
    let mut constants = vec![None; code.constants.len()];
    let mut values: Vec<Option<Term>> = vec![None; code.values as usize];
    let content = |(number, buffer): (usize, &crate::code::Buffer)| -> Vec<Word> {
        let word = |word| match buffer.role {
            Role::Input => Word::Input(BufferId(number as u32), word),
            _ => Word::Undefined,
        };
        (0..buffer.words).map(word).collect()
    };
    let mut memory: Vec<Vec<Word>> = code.buffers.iter().enumerate().map(content).collect();
    for (number, inst) in code.insts.iter().enumerate() {
        let id = InstId(number as u32);
        let fault = |problem| ScheduleFault::Code { inst: id.0, problem };
        let sources = inst.sources.iter().map(|value| values.get(value.index()).copied().flatten());
        let sources: Option<Vec<Term>> = sources.collect();
        let mut sources = sources.ok_or(fault("reads a value before it is defined"))?;
        if let Some(constant) = inst.constant {
            let known = constants.get(constant.index()).copied().ok_or(fault("has no such constant"))?;
            let term = match known {
                Some(term) => term,
                None => {
                    let words = constant_words(code, constant, &powers, terms);
                    let words = words.ok_or(fault("has a constant without a value"))?;
                    terms.gather(words, Owner::Constant(constant))
                }
            };
            constants[constant.index()] = Some(term);
            sources.push(term);
        }
        if sources.len() != reads(inst.op, OperandKind::VReg) {
            return Err(fault("has another number of operands than its operation"));
        }
        if inst.op.pipe() == b512_asm::Pipe::LoadStore {
            let words = words_of(code, inst).ok_or(fault("loads or stores beyond its buffer"))?;
            let buffer = &mut memory[inst.memory.expect("it has words").buffer.index()];
            if inst.op == Op::Vload {
                let words: Vec<Word> = words.into_iter().map(|word| buffer[word]).collect();
                if words.contains(&Word::Undefined) {
                    return Err(fault("loads a word that has no value"));
                }
                let term = terms.gather(words, Owner::Inst(id));
                inst.results.iter().for_each(|value| values[value.index()] = Some(term));
            } else {
                for (lane, word) in words.into_iter().enumerate() {
                    buffer[word] = Word::Lane(sources[0], lane as u16);
                }
            }
            continue;
        }
        let tower = &code.towers[inst.tower.index()];
        let scalar = (reads(inst.op, OperandKind::SReg) > 0).then(|| powers[inst.tower.index()].over_n);
        let modulus = (reads(inst.op, OperandKind::MReg) > 0).then_some(tower.modulus);
        for (result, value) in inst.results.iter().enumerate() {
            let term = terms.apply(applied(inst.op, &sources, scalar, modulus, result), Owner::Inst(id));
            let place = values.get_mut(value.index()).ok_or(fault("defines a value that does not exist"))?;
            *place = Some(term);
        }
    }
    Ok(memory)
}

fn constant_words(
    code: &Code,
    constant: ConstantId,
    powers: &[Powers],
    terms: &mut Terms,
) -> Option<Vec<Word>> {
    let constant = &code.constants[constant.index()];
    let powers = &powers[constant.tower.index()];
    let lanes = (0..VECTOR_LENGTH).map(|lane| {
        let factor = constant.factors.get(lane.checked_rem(constant.factors.len())?)?;
        Some(terms.number(powers.get(factor.exponent, factor.scaled)?))
    });
    lanes.collect()
}

/// The words of a load or store of the code, lane by lane, where they lie in its buffer.
fn words_of(code: &Code, inst: &Inst) -> Option<Vec<usize>> {
    let memory = inst.memory?;
    let size = code.buffers.get(memory.buffer.index())?.words;
    let words = (0..VECTOR_LENGTH as u32).map(|lane| memory.word.checked_add(memory.mode.element(lane)));
    words.map(|word| word.filter(|&word| word < size).map(|word| word as usize)).collect()
}

fn equations(code: &Code, program: &Program) -> Result<(), ScheduleFault> {
    let name = |buffer: &BufferId| code.buffers[buffer.index()].name.clone();
    let expected = code.claims.iter().map(|claim| {
        let tower = &code.towers[claim.tower.index()];
        Equation {
            output: name(&claim.output),
            function: claim.function,
            inputs: claim.inputs.iter().map(name).collect(),
            n: tower.n,
            modulus: tower.modulus,
            root: if claim.function.needs_root() { tower.root } else { 0 },
        }
    });
    if expected.eq(program.equations.iter().cloned()) { Ok(()) } else { Err(ScheduleFault::Equations) }
}

/// A word of the program's memory.
#[derive(Clone, Copy)]
struct Cell {
    content: Word,
    writable: bool,
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
        let empty = Cell { content: Word::Undefined, writable: false };
        let mut memory = vec![empty; ends.max().unwrap_or(0) as usize];
        for symbol in symbols().filter(|symbol| symbol.role != Role::Table) {
            for word in 0..symbol.words {
                memory[(symbol.start + word) as usize].writable = true;
            }
        }
        let mut initialise = |address: u32, content, writable, symbol: &str| {
            let cell = &mut memory[address as usize];
            if cell.content != Word::Undefined {
                let symbol = symbol.to_owned();
                return Err(ScheduleFault::Memory {
                    symbol,
                    problem: "shares words with another input or table",
                });
            }
            *cell = Cell { content, writable };
            Ok(())
        };
        for (number, buffer) in code.buffers.iter().enumerate() {
            let fits = |symbol: &&b512_asm::Symbol| {
                (symbol.space, symbol.words, symbol.role) == (Space::Vdm, buffer.words, buffer.role)
            };
            let Some(symbol) = program.symbol(&buffer.name).filter(fits) else {
                let symbol = buffer.name.clone();
                return Err(ScheduleFault::Memory { symbol, problem: "is no symbol of that size and role" });
            };
            if buffer.role == Role::Input {
                for word in 0..buffer.words {
                    let content = Word::Input(BufferId(number as u32), word);
                    initialise(symbol.start + word, content, true, &buffer.name)?;
                }
            }
        }
        for segment in &program.vdm.segments {
            for (address, &word) in (segment.start..).zip(&segment.words) {
                initialise(address, terms.number(word), false, "the initial contents of the memory")?;
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
        match *instr {
            Instr::Vload { vd, base, offset, mode } => {
                let addresses = self.words(base, offset.words(), mode)?;
                let words: Vec<Word> = addresses.iter().map(|&at| self.memory[at].content).collect();
                let term = self.terms.find_gathered(&words).ok_or_else(|| self.strange_load(&words))?;
                self.vectors[vd.index()] = Some(term);
            }
            Instr::Vstore { vs, base, offset, mode } => {
                let term = self.vectors[vs.index()].ok_or(format!("reads {vs}, which holds nothing"))?;
                for (lane, at) in self.words(base, offset.words(), mode)?.into_iter().enumerate() {
                    let cell = &mut self.memory[at];
                    if !cell.writable {
                        return Err(format!(
                            "overwrites word {at} of the memory, which is a table or nothing"
                        ));
                    }
                    cell.content = Word::Lane(term, lane as u16);
                }
            }
            Instr::Sload { rt, offset } => self.scalars[rt.index()] = Some(self.sdm(offset.words())),
            Instr::Mload { rt, offset } => self.moduli[rt.index()] = Some(self.sdm(offset.words())),
            Instr::Aload { rt, offset } => {
                let address = u32::try_from(self.sdm(offset.words()));
                self.addresses[rt.index()] = address.map_err(|_| "loads what is no address".to_owned())?;
            }
            _ => self.compute(instr)?,
        }
        Ok(())
    }

    fn compute(&mut self, instr: &Instr) -> Result<(), String> {
        let (mut sources, mut results) = (Vec::with_capacity(3), Vec::with_capacity(2));
        let (mut scalar, mut modulus) = (None, None);
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
                Operand::AReg(_) | Operand::Offset(_) | Operand::Mode(_) => true,
            };
            if !defined {
                undefined.get_or_insert(spec.name);
            }
        });
        if let Some(name) = undefined {
            return Err(format!("reads `{name}`, which holds nothing"));
        }
        for (result, reg) in results.into_iter().enumerate() {
            let key = applied(instr.op(), &sources, scalar, modulus, result);
            let term = self.terms.applied.get(&key).copied().ok_or_else(|| {
                let sources: Vec<String> =
                    sources.iter().map(|&source| self.terms.name(self.code, source)).collect();
                format!("computes nothing that the code does; its sources are {}", sources.join(", "))
            })?;
            self.vectors[reg.index()] = Some(term);
        }
        Ok(())
    }

    /// The word addresses of a load or store, lane by lane.
    fn words(&self, base: AReg, offset: u32, mode: AddressMode) -> Result<Vec<usize>, String> {
        let first = u64::from(self.addresses[base.index()]) + u64::from(offset);
        let addresses = (0..VECTOR_LENGTH as u32).map(|lane| {
            let address = first + u64::from(mode.element(lane));
            if address < self.memory.len() as u64 {
                Ok(address as usize)
            } else {
                Err(format!("reaches word {address} of the memory, which belongs to no symbol"))
            }
        });
        addresses.collect()
    }

    fn strange_load(&self, words: &[Word]) -> String {
        if let Some(lane) = words.iter().position(|&word| word == Word::Undefined) {
            return format!("loads a word into lane {lane} that holds nothing");
        }
        let [first, last] = [0, VECTOR_LENGTH - 1].map(|lane| self.terms.describe(self.code, words[lane]));
        format!("loads what no load of the code does: lane 0 is {first}, the last lane {last}")
    }

    fn sdm(&self, offset: u32) -> u128 {
        self.program.sdm.word(offset)
    }
}
