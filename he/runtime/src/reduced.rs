//! The line at fault if a launch reads a word that is not reduced.
//!
//! A launch executes many lines, and its fault names an instruction. So its steps are computed again, whole
//! limb by whole limb, and every operand is compared with its modulus.

use crate::lift::{Executed, Launch, Launches, Work};
use codegen::elementwise::{Operand, Step, StepOp};
use ring::modular::Modulus;
use ring_program::RingProgram;
use ring_program::data::Words;
use sim::Machine;
use sim::machine::LawOperands;
use std::iter::repeat_n;

/// A word that is not below the modulus of an operation that reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("word {index} of an operand is {word:#x}, which is not below the modulus {modulus:#x}")]
pub struct NotReduced {
    /// The index of the operation in the program.
    pub operation: u32,
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
        sources: &[&Words],
    ) -> Option<Self> {
        let operations = launches.operations(launch);
        let moduli = launches.moduli(launch).iter().map(|&m| program.moduli().value(m));
        match launch.work {
            Work::Permute(_) => None,
            Work::Operation(_) => {
                let rings = sources.iter().zip(moduli).zip(operations);
                rings
                    .filter_map(|((words, q), lines)| check(words, q, lines.result))
                    .min_by_key(|at| at.operation)
            }
            Work::Elementwise(shape) => {
                let moduli = moduli.map(|q| Modulus::new(q).expect("moduli are odd primes")).collect();
                let words = machine.law.operands == LawOperands::Word;
                let mut steps = Steps { sources, moduli, results: Vec::new(), words, found: None };
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

/// The first word that is not below `modulus`.
fn check(words: &Words, modulus: u128, operation: u32) -> Option<NotReduced> {
    let (index, word) = words.iter().enumerate().find(|&(_, word)| word >= modulus)?;
    Some(NotReduced { operation, index, word, modulus })
}

/// The steps of a launch so far.
struct Steps<'a> {
    sources: &'a [&'a Words],
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
        let (sum, product) = (lines.result, lines.product);
        let result = match step.op {
            StepOp::Add(a, b) => {
                zip(&self.residues(a, q, sum), &self.residues(b, q, sum), |a, b| q.add(a, b))
            }
            StepOp::Subtract(a, b) => {
                zip(&self.residues(a, q, sum), &self.residues(b, q, sum), |a, b| q.sub(a, b))
            }
            StepOp::AddScalar(a) => zip(&self.residues(a, q, sum), &scalar(), |a, b| q.add(a, b)),
            StepOp::SubtractScalar(a) => zip(&self.residues(a, q, sum), &scalar(), |a, b| q.sub(a, b)),
            StepOp::Multiply(a, b) => {
                let b = self.residues(b, q, product);
                self.product(a, &b, q, product)
            }
            StepOp::MultiplyScalar(a) => self.product(a, &scalar(), q, product),
            StepOp::MultiplyAdd(a, [b, c]) => {
                let c = self.residues(c, q, product);
                let multiple = self.product(b, &c, q, product);
                zip(&self.residues(a, q, sum), &multiple, |a, b| q.add(a, b))
            }
            StepOp::MultiplySubtract(a, [b, c]) => {
                let c = self.residues(c, q, product);
                let multiple = self.product(b, &c, q, product);
                zip(&self.residues(a, q, sum), &multiple, |a, b| q.sub(a, b))
            }
            StepOp::MultiplyAddScalar(a, b) => {
                let multiple = self.product(b, &scalar(), q, product);
                zip(&self.residues(a, q, sum), &multiple, |a, b| q.add(a, b))
            }
            StepOp::MultiplySubtractScalar(a, b) => {
                let multiple = self.product(b, &scalar(), q, product);
                zip(&self.residues(a, q, sum), &multiple, |a, b| q.sub(a, b))
            }
        };
        self.results.push(result);
    }

    fn words(&self, operand: Operand) -> &Words {
        match operand {
            Operand::Input(input) => self.sources[usize::from(input)],
            Operand::Step(step) => &self.results[usize::from(step)],
        }
    }

    /// An operand that must be reduced.
    fn residues(&mut self, operand: Operand, q: Modulus, operation: u32) -> Words {
        let words = self.words(operand);
        let fault = check(words, q.value(), operation);
        let residues = words.iter().map(|word| q.residue(word)).collect();
        self.found = self.found.into_iter().chain(fault).min_by_key(|fault| fault.operation);
        residues
    }

    /// The product of an operand, as a multiplicand, with residues.
    fn product(&mut self, operand: Operand, residues: &Words, q: Modulus, operation: u32) -> Words {
        if !self.words {
            self.residues(operand, q, operation);
        }
        zip(self.words(operand), residues, |a, b| q.mul(a, b))
    }
}

fn zip(a: &Words, b: &Words, f: impl Fn(u128, u128) -> u128) -> Words {
    a.iter().zip(b.iter()).map(|(a, b)| f(a, b)).collect()
}
