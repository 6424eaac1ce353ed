//! The line at fault if a launch reads a word that is not reduced.
//!
//! A launch executes many lines, and its fault names an instruction. So its steps are computed again, whole
//! limb by whole limb, and every operand is compared with its modulus.

use crate::launches::{Executed, Launch, Launches, Work};
use codegen::elementwise::{Operand, Step, StepOp};
use ring::modular::Modulus;
use ring_program::data::Words;
use ring_program::{LimbId, RingProgram, Shape};
use sim::Machine;
use sim::machine::LawOperands;
use std::iter::repeat_n;

/// A word that is not below the modulus of an operation that reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "word {index} of {} is {word:#x}, which is not below the modulus {modulus:#x}",
    id.map_or_else(|| "an operand".to_owned(), |id| format!("the operand `{id}`"))
)]
pub struct NotReduced {
    /// The index of the operation in the program.
    pub operation: u32,
    /// The operand, if the launch tells it from the other one: its sum may have taken over a copy of a
    /// product.
    pub id: Option<LimbId>,
    /// The index of the word in the limb.
    pub index: usize,
    /// The word.
    pub word: u128,
    /// The modulus.
    pub modulus: u128,
}

impl NotReduced {
    /// The first operation of a launch, in the order of the program, that reads a word that is not reduced.
    pub(crate) fn find(
        program: &RingProgram,
        machine: &Machine,
        (launches, launch): (&Launches, &Launch),
        sources: &[Words],
    ) -> Option<Self> {
        let operations = launches.operations(launch);
        let moduli = launches.moduli(launch).iter().map(|&m| program.moduli().value(m));
        match launch.work {
            Work::Permute(_) => None,
            Work::Operation(_) => {
                let rings = sources.iter().zip(moduli).zip(operations);
                rings
                    .filter_map(|((words, q), lines)| check(program, words, q, (lines.result, Some(0))))
                    .min_by_key(|at| at.operation)
            }
            Work::Elementwise(shape) => {
                let moduli = moduli.map(|q| Modulus::new(q).expect("moduli are odd primes")).collect();
                let words = machine.law.operands == LawOperands::Word;
                let mut steps = Steps { program, sources, moduli, results: Vec::new(), words, found: None };
                let mut scalars = launches.scalars(launch).iter();
                for (step, &lines) in launches.shapes[shape.index()].steps.iter().zip(operations) {
                    let scalar =
                        step.op.has_scalar().then(|| *scalars.next().expect("a step has its scalar"));
                    steps.add(step, scalar, lines);
                }
                steps.found
            }
        }
    }
}

/// An operation, and which of its sources an operand is, if that is known.
type Place = (u32, Option<usize>);

/// The first word that is not below `modulus`.
fn check(
    program: &RingProgram,
    words: &Words,
    modulus: u128,
    (operation, source): Place,
) -> Option<NotReduced> {
    let (index, word) = words.iter().enumerate().find(|&(_, word)| word >= modulus)?;
    let (body, line) = program.place(operation as usize);
    let limb = source.and_then(|source| body.operations()[line].sources()[source]);
    let id = limb.map(|limb| body.limbs().id(limb));
    Some(NotReduced { operation, id, index, word, modulus })
}

/// Which source of a sum is not the product that it took over.
fn addend(program: &RingProgram, lines: Executed) -> Option<usize> {
    let [(sum_body, sum), (product_body, product)] =
        [lines.result, lines.product].map(|line| program.place(line as usize));
    let taken = Some(product_body.operations()[product].destination());
    let is_taken = sum_body.operations()[sum].sources().map(|source| source == taken);
    match is_taken {
        [true, false] if std::ptr::eq(sum_body, product_body) => Some(1),
        [false, true] if std::ptr::eq(sum_body, product_body) => Some(0),
        _ => None,
    }
}

/// The steps of a launch so far.
struct Steps<'a> {
    program: &'a RingProgram,
    sources: &'a [Words],
    moduli: Vec<Modulus>,
    results: Vec<Words>,
    /// Whether multiplicands may be any words.
    words: bool,
    found: Option<NotReduced>,
}

impl Steps<'_> {
    fn add(&mut self, step: &Step, scalar: Option<u128>, lines: Executed) {
        let q = self.moduli[usize::from(step.modulus)];
        let n = self.sources.first().map_or(0, |words| words.len());
        let scalar = || repeat_n(scalar.expect("the step has a scalar"), n).collect();
        let [first, second] = [0, 1].map(|source| (lines.result, Some(source)));
        let [factor, other] = [0, 1].map(|source| (lines.product, Some(source)));
        let sum = (lines.result, addend(self.program, lines));
        let result = match step.op {
            StepOp::Add(a, b) => {
                zip(&self.residues(a, q, first), &self.residues(b, q, second), |a, b| q.add(a, b))
            }
            StepOp::Subtract(a, b) => {
                zip(&self.residues(a, q, first), &self.residues(b, q, second), |a, b| q.sub(a, b))
            }
            StepOp::AddScalar(a) => zip(&self.residues(a, q, first), &scalar(), |a, b| q.add(a, b)),
            StepOp::SubtractScalar(a) => zip(&self.residues(a, q, first), &scalar(), |a, b| q.sub(a, b)),
            StepOp::Multiply(a, b) => {
                let b = self.residues(b, q, other);
                self.product(a, &b, q, factor)
            }
            StepOp::MultiplyScalar(a) => self.product(a, &scalar(), q, factor),
            StepOp::MultiplyAdd(a, [b, c]) => {
                let c = self.residues(c, q, other);
                let multiple = self.product(b, &c, q, factor);
                zip(&self.residues(a, q, sum), &multiple, |a, b| q.add(a, b))
            }
            StepOp::MultiplySubtract(a, [b, c]) => {
                let c = self.residues(c, q, other);
                let multiple = self.product(b, &c, q, factor);
                zip(&self.residues(a, q, sum), &multiple, |a, b| q.sub(a, b))
            }
            StepOp::MultiplyAddScalar(a, b) => {
                let multiple = self.product(b, &scalar(), q, factor);
                zip(&self.residues(a, q, sum), &multiple, |a, b| q.add(a, b))
            }
            StepOp::MultiplySubtractScalar(a, b) => {
                let multiple = self.product(b, &scalar(), q, factor);
                zip(&self.residues(a, q, sum), &multiple, |a, b| q.sub(a, b))
            }
        };
        self.results.push(result);
    }

    fn words(&self, operand: Operand) -> &Words {
        match operand {
            Operand::Input(input) => &self.sources[usize::from(input)],
            Operand::Step(step) => &self.results[usize::from(step)],
        }
    }

    /// An operand that must be reduced.
    fn residues(&mut self, operand: Operand, q: Modulus, place: Place) -> Words {
        let words = self.words(operand);
        let fault = check(self.program, words, q.value(), place);
        let residues = words.iter().map(|word| q.residue(word)).collect();
        self.found = self.found.into_iter().chain(fault).min_by_key(|fault| fault.operation);
        residues
    }

    /// The product of an operand, as a multiplicand, with residues.
    fn product(&mut self, operand: Operand, residues: &Words, q: Modulus, place: Place) -> Words {
        if !self.words {
            self.residues(operand, q, place);
        }
        zip(self.words(operand), residues, |a, b| q.mul(a, b))
    }
}

fn zip(a: &Words, b: &Words, f: impl Fn(u128, u128) -> u128) -> Words {
    a.iter().zip(b.iter()).map(|(a, b)| f(a, b)).collect()
}
