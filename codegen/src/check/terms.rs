//! Vector code as terms; [the parent](super) defines them.

use crate::code::{BufferId, Code, ConstantId, Inst, InstId, Tower, TowerId};
use crate::number::{Expression, Number as Known};
use b512_asm::{Direction, LaneMap, Op, OperandKind, Pipe, Role};
use ring::modular::Modulus;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use thiserror::Error;

/// Vector code that is invalid by itself.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("instruction {inst} of the vector code {problem}")]
pub struct CodeFault {
    /// The instruction of the code.
    pub inst: u32,
    /// The defect.
    pub problem: &'static str,
}

/// A vector, identified by its computation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Term(u32);

/// A number, as an index of [`Terms::numbers`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Number(u32);

/// The content of a word of memory. If a vector was gathered from words, its lanes are named by
/// those words and never as lanes: equal contents have one name, however they were moved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Word {
    Undefined,
    Input(BufferId, u32),
    Number(Number),
    Lane(Term, u16),
}

/// An operation on terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Applied {
    op: Op,
    sources: [Option<Term>; 3],
    scalar: Option<u128>,
    modulus: Option<u128>,
    map: Option<LaneMap>,
    /// Which of the operation's results.
    result: u8,
}

/// The part of the vector code that a term comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Owner {
    Inst(InstId),
    Constant(ConstantId),
}

/// The terms of the vector code.
#[derive(Default)]
pub(super) struct Terms {
    gathered: FxHashMap<Rc<[Word]>, Term>,
    pub(super) applied: FxHashMap<Applied, Term>,
    numbers: FxHashMap<u128, Number>,
    owners: Vec<Owner>,
    /// The words of each term that was gathered from words.
    words: Vec<Option<Rc<[Word]>>>,
}

impl Terms {
    pub(super) fn number(&mut self, number: u128) -> Word {
        let next = Number(self.numbers.len() as u32);
        Word::Number(*self.numbers.entry(number).or_insert(next))
    }

    /// The term gathered from these words, if the code has it.
    pub(super) fn find_gathered(&self, words: &[Word]) -> Option<Term> {
        if let Word::Lane(term, 0) = words[0]
            && words.iter().enumerate().all(|(lane, &word)| word == Word::Lane(term, lane as u16))
        {
            return Some(term);
        }
        self.gathered.get(words).copied()
    }

    /// The content of a word after a store of this lane.
    pub(super) fn lane(&self, term: Term, lane: usize) -> Word {
        self.words[term.0 as usize].as_ref().map_or(Word::Lane(term, lane as u16), |words| words[lane])
    }

    fn new_term(&mut self, owner: Owner, words: Option<Rc<[Word]>>) -> Term {
        self.owners.push(owner);
        self.words.push(words);
        Term(self.owners.len() as u32 - 1)
    }

    fn gather(&mut self, words: Vec<Word>, owner: Owner) -> Term {
        self.find_gathered(&words).unwrap_or_else(|| {
            let words: Rc<[Word]> = words.into();
            let term = self.new_term(owner, Some(Rc::clone(&words)));
            self.gathered.insert(words, term);
            term
        })
    }

    fn apply(&mut self, applied: Applied, owner: Owner) -> Term {
        if let Some(&term) = self.applied.get(&applied) {
            return term;
        }
        let term = self.new_term(owner, None);
        self.applied.insert(applied, term);
        term
    }

    pub(super) fn describe(&self, code: &Code, word: Word) -> String {
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

    /// A term as text.
    pub(super) fn name(&self, code: &Code, term: Term) -> String {
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
pub(super) fn applied(
    op: Op,
    sources: &[Term],
    scalar: Option<u128>,
    modulus: Option<u128>,
    map: Option<LaneMap>,
    result: usize,
) -> Applied {
    let mut in_order = [None; 3];
    for (slot, &term) in in_order.iter_mut().zip(sources) {
        *slot = Some(term);
    }
    if op.class().commutes() && sources.len() == 2 {
        in_order[..2].sort_unstable();
    }
    Applied { op, sources: in_order, scalar, modulus, map, result: result as u8 }
}

fn reads(op: Op, kind: OperandKind) -> usize {
    let specs = op.info().operands.iter();
    specs.filter(|spec| spec.kind == kind && spec.direction == Direction::Read).count()
}

/// The known numbers of the code, as residues of each tower.
struct Residues<'c> {
    code: &'c Code,
    towers: Vec<Powers>,
}

/// The powers of a tower's psi.
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
}

impl<'c> Residues<'c> {
    fn new(code: &'c Code) -> Self {
        Self { code, towers: code.towers.iter().map(Powers::new).collect() }
    }

    fn get(&self, number: Known, tower: TowerId) -> Option<u128> {
        let powers = self.towers.get(tower.index())?;
        match number {
            Known::Root { exponent, scaled } => {
                let power = *powers.powers.get(exponent as usize)?;
                Some(if scaled { powers.modulus.as_ref()?.mul(power, powers.over_n) } else { power })
            }
            Known::Expression(id) => value(powers.modulus.as_ref()?, self.code.expressions.get(id.index())?),
        }
    }
}

/// The residue of an expression.
fn value(modulus: &Modulus, expression: &Expression) -> Option<u128> {
    match expression {
        Expression::Value(number) => Some(modulus.residue(*number)),
        Expression::Negative(of) => Some(modulus.neg(value(modulus, of)?)),
        Expression::Inverse(of) => modulus.inverse(value(modulus, of)?),
    }
}

/// Evaluates the vector code to terms, and returns the final content of each word of its buffers.
/// Its input buffers hold the contents of the buffers with the indices `inputs`.
pub(super) fn evaluate(
    code: &Code,
    inputs: &[BufferId],
    terms: &mut Terms,
) -> Result<Vec<Vec<Word>>, CodeFault> {
    let residues = Residues::new(code);
    let mut constants = vec![None; code.constants.len()];
    let mut values: Vec<Option<Term>> = vec![None; code.values as usize];
    let mut memory: Vec<Vec<Word>> =
        code.buffers.iter().map(|buffer| vec![Word::Undefined; buffer.words as usize]).collect();
    // A part's words are those of the buffer that holds it.
    for (number, buffer) in code.buffers.iter().enumerate() {
        let start = code.start(BufferId(number as u32));
        let words = &mut memory[start.buffer.index()][start.word as usize..][..buffer.words as usize];
        for segment in &buffer.content.segments {
            let words = words[segment.start as usize..].iter_mut().zip(&segment.words);
            words.for_each(|(word, &number)| *word = terms.number(number));
        }
        if buffer.role == Role::Input {
            let input = inputs[start.buffer.index()];
            words.iter_mut().zip(start.word..).for_each(|(word, at)| *word = Word::Input(input, at));
        }
    }
    for (number, inst) in code.insts.iter().enumerate() {
        let id = InstId(number as u32);
        let fault = |problem| CodeFault { inst: id.0, problem };
        let sources = inst.sources.iter().map(|value| values.get(value.index()).copied().flatten());
        let sources: Option<Vec<Term>> = sources.collect();
        let mut sources = sources.ok_or(fault("reads a value before it is defined"))?;
        if let Some(constant) = inst.constant {
            let known = constants.get(constant.index()).copied().ok_or(fault("has no such constant"))?;
            let term = match known {
                Some(term) => term,
                None => {
                    let words = constant_words(code, constant, &residues, terms);
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
        if inst.op.pipe() == Pipe::LoadStore {
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
                    buffer[word] = terms.lane(sources[0], lane);
                }
            }
            continue;
        }
        let tower = &code.towers[inst.tower.index()];
        let scalar = inst.scalar.map(|id| {
            let scalar = code.scalars.get(id.index())?;
            residues.get(scalar.number, scalar.tower)
        });
        let scalar = match scalar {
            None => None,
            Some(value) => Some(value.ok_or(fault("multiplies by a scalar without a value"))?),
        };
        if scalar.is_some() != (reads(inst.op, OperandKind::SReg) > 0) {
            return Err(fault("has another number of scalars than its operation"));
        }
        let has_map = inst.op.info().operands.iter().any(|spec| spec.kind == OperandKind::Map);
        if inst.map.is_some() != has_map {
            return Err(fault("has a map of lanes, or none, unlike its operation"));
        }
        let modulus = (reads(inst.op, OperandKind::MReg) > 0).then_some(tower.modulus);
        for (result, value) in inst.results.iter().enumerate() {
            let applied = applied(inst.op, &sources, scalar, modulus, inst.map, result);
            let term = terms.apply(applied, Owner::Inst(id));
            let slot = values.get_mut(value.index()).ok_or(fault("defines a value that does not exist"))?;
            *slot = Some(term);
        }
    }
    Ok(memory)
}

fn constant_words(
    code: &Code,
    constant: ConstantId,
    residues: &Residues<'_>,
    terms: &mut Terms,
) -> Option<Vec<Word>> {
    let constant = &code.constants[constant.index()];
    let lanes = (0..code.isa.vector_length() as usize).map(|lane| {
        let number = *constant.numbers.get(lane.checked_rem(constant.numbers.len())?)?;
        Some(terms.number(residues.get(number, constant.tower)?))
    });
    lanes.collect()
}

/// The words of a load or store of the code, lane by lane, if they lie in its buffer.
fn words_of(code: &Code, inst: &Inst) -> Option<Vec<usize>> {
    let memory = inst.memory?;
    let size = code.buffers.get(memory.buffer.index())?.words;
    let lanes = 0..code.isa.vector_length();
    let words = lanes.map(|lane| memory.word.checked_add(memory.mode.element(lane)));
    words.map(|word| word.filter(|&word| word < size).map(|word| word as usize)).collect()
}
