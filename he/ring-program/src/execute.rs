//! The executor: the meaning of a program, on big integers.
//!
//! It judges other executions, so it is written to be seen to be right, and shares no arithmetic
//! with them. Products are exact, of 256 bits, and long division reduces them. Lines that do not depend on
//! each other are executed in parallel.

mod arithmetic;
mod transform;
mod window;

use crate::data::{Inputs, Words};
use crate::reduction::Demand;
use crate::shape::{
    Binary, Clear, Duplicate, Galois, GaloisCoefficients, Monomial, Scalar, Transform, Unary,
};
use crate::{ConstantIndex, Limb, LimbId, ModulusIndex, Operation, RingProgram, Shape};
use arithmetic::{Integers, bit_reverse};
use rustc_hash::FxHashMap;
use std::num::NonZeroU32;
use std::ops::{ControlFlow, Range};
use transform::Powers;
use window::Window;

/// Runs a program, one with calls by its [expansion](RingProgram::flat). The result has the words of each
/// output, in the order of [`RingProgram::outputs`].
///
/// # Errors
/// Returns an error if an input is missing, or the first one of an operation that reads words that are not
/// reduced.
pub fn execute(inputs: &Inputs<'_>) -> Result<Vec<Vec<Words>>, ExecuteError> {
    let outputs = execute_watched(inputs, &mut |_, _| ControlFlow::Continue(()))?;
    Ok(outputs.expect("nobody ends the run"))
}

/// As [`execute`], with a function that is told the lines so far and their number, from time to time, and may
/// end the run. Then the result is `None`.
///
/// # Errors
/// As [`execute`].
pub fn execute_watched(
    inputs: &Inputs<'_>,
    watch: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Option<Vec<Vec<Words>>>, ExecuteError> {
    let program = &*inputs.program().flat();
    if let Some(group) = inputs.missing().next() {
        return Err(ExecuteError::MissingInput { name: group.name.clone() });
    }
    let mut words: Vec<Option<Words>> = vec![None; program.limbs().len()];
    let mut knowledge = Knowledge::of(program);
    let lines = (WINDOW_WORDS / program.degree().len()).clamp(1, LONGEST_WINDOW);
    for start in (0..program.operations().len()).step_by(lines) {
        let end = program.operations().len().min(start + lines);
        if watch(start, program.operations().len()).is_break() {
            return Ok(None);
        }
        knowledge.add_powers(start..end);
        let executed = Window::new(program, start..end).execute(&knowledge, inputs, &mut words);
        executed.map_err(|error| error.in_text(inputs.program(), program))?;
    }
    let words = |limb: &Limb| {
        let words = words[limb.index()].clone().or_else(|| inputs.words(*limb));
        words.expect("a valid program has its outputs")
    };
    Ok(Some(program.outputs().iter().map(|group| group.limbs.iter().map(words).collect()).collect()))
}

/// The words of all results of a window: 128 MiB, or 256 MiB of wide words.
const WINDOW_WORDS: usize = 1 << 24;

/// The lines of the longest window.
const LONGEST_WINDOW: usize = 1 << 13;

/// The numbers that lines share.
struct Knowledge<'p> {
    program: &'p RingProgram,
    rings: FxHashMap<ModulusIndex, Integers>,
    powers: FxHashMap<(ModulusIndex, Option<ConstantIndex>), Powers>,
}

impl<'p> Knowledge<'p> {
    fn of(program: &'p RingProgram) -> Self {
        let rings = program.moduli().iter().map(|(index, q)| (index, Integers::modulo(q))).collect();
        Self { program, rings, powers: FxHashMap::default() }
    }

    /// Computes the powers for the transforms among these operations.
    fn add_powers(&mut self, operations: Range<usize>) {
        let n = self.program.degree().len();
        for operation in &self.program.operations()[operations] {
            if let Operation::Ntt(Transform { root, m, .. }) | Operation::Intt(Transform { root, m, .. }) =
                *operation
            {
                let new = || Powers::new(n, self.program.root(root, m), self.rings[&m].clone());
                self.powers.entry((m, root)).or_insert_with(new);
            }
        }
    }
}

/// A line with the words that it reads.
struct Line<'a> {
    knowledge: &'a Knowledge<'a>,
    index: usize,
    sources: [Option<(Limb, &'a Words)>; 2],
}

impl Line<'_> {
    fn operation(&self) -> &Operation {
        &self.knowledge.program.operations()[self.index]
    }

    fn execute(&self) -> Result<Words, ExecuteError> {
        self.check_reduced()?;
        Ok(self.operation().result(self))
    }

    fn check_reduced(&self) -> Result<(), ExecuteError> {
        let (program, operation) = (self.knowledge.program, self.operation());
        let Some(m) = operation.modulus().filter(|_| operation.demand() == Demand::Residues) else {
            return Ok(());
        };
        let modulus = program.moduli().value(m);
        for (limb, words) in self.sources.into_iter().flatten() {
            if let Some(index) = words.iter().position(|word| word >= modulus) {
                return Err(ExecuteError::NotReduced {
                    operation: self.index,
                    line: program.line(self.index),
                    opcode: operation.opcode(),
                    id: program.limbs().id(limb),
                    index,
                    word: words.at(index),
                    modulus,
                });
            }
        }
        Ok(())
    }

    fn source(&self, limb: Limb) -> &Words {
        let known = self.sources.iter().flatten().find(|(known, _)| *known == limb);
        known.expect("a line has the words of its sources").1
    }

    fn n(&self) -> usize {
        self.knowledge.program.degree().len()
    }

    fn ring(&self, m: ModulusIndex) -> &Integers {
        &self.knowledge.rings[&m]
    }

    /// The number in the text, reduced.
    fn scalar(&self, operands: &Scalar) -> u128 {
        self.knowledge.program.constants().value(operands.scalar) % self.ring(operands.m).q()
    }

    fn powers(&self, operands: &Transform) -> &Powers {
        &self.knowledge.powers[&(operands.m, operands.root)]
    }

    fn zip(&self, operands: &Binary, f: impl Fn(&Integers, u128, u128) -> u128) -> Words {
        let ring = self.ring(operands.m);
        let (a, b) = (self.source(operands.a), self.source(operands.b));
        a.iter().zip(b.iter()).map(|(a, b)| f(ring, a, b)).collect()
    }
}

/// The result of an operation.
trait Execute {
    fn result(&self, line: &Line<'_>) -> Words;
}

impl Execute for Operation {
    fn result(&self, line: &Line<'_>) -> Words {
        match self {
            Self::Add(operands) => line.zip(operands, Integers::add),
            Self::Subtract(operands) => line.zip(operands, Integers::sub),
            Self::Multiply(operands) => line.zip(operands, Integers::mul),
            Self::AddScalar(operands) => with_scalar(operands, line, Integers::add),
            Self::SubtractScalar(operands) => with_scalar(operands, line, Integers::sub),
            Self::MultiplyScalar(operands) => with_scalar(operands, line, Integers::mul),
            Self::Negate(Unary { a, m, .. }) => {
                let ring = line.ring(*m);
                line.source(*a).iter().map(|a| ring.sub(0, a)).collect()
            }
            Self::Ntt(operands) => line.powers(operands).forward(line.source(operands.a).iter()),
            Self::Intt(operands) => line.powers(operands).inverse(line.source(operands.a).iter()),
            Self::AutomorphEvaluation(operands) => permuted(operands, line),
            Self::AutomorphCoefficients(operands) => substituted(operands, line),
            Self::MultiplyMonomial(operands) => shifted(operands, line),
            Self::Copy(Duplicate { a, .. }) => line.source(*a).clone(),
            Self::Zero(Clear { .. }) => Words::zeros(line.n()),
        }
    }
}

fn with_scalar(operands: &Scalar, line: &Line<'_>, f: impl Fn(&Integers, u128, u128) -> u128) -> Words {
    let (ring, scalar) = (line.ring(operands.m), line.scalar(operands));
    line.source(operands.a).iter().map(|a| f(ring, a, scalar)).collect()
}

/// The values at the powers of w: index i has the value at w^(2 brv(i) + 1), and gets the value at w^(k (2
/// brv(i) + 1)).
fn permuted(operands: &Galois, line: &Line<'_>) -> Words {
    let (n, a, k) = (line.n(), line.source(operands.a), operands.k as usize);
    let bits = n.ilog2();
    let exponent = |index: usize| 2 * bit_reverse(index, bits) + 1;
    (0..n).map(|index| a.at(bit_reverse((k * exponent(index) % (2 * n) - 1) / 2, bits))).collect()
}

/// The sum of a_i X^(k i), where X^n = -1.
fn substituted(operands: &GaloisCoefficients, line: &Line<'_>) -> Words {
    let (n, ring) = (line.n(), line.ring(operands.m));
    let mut result = vec![0_u128; n];
    for (i, a) in line.source(operands.a).iter().enumerate() {
        let exponent = operands.k as usize * i % (2 * n);
        result[exponent % n] = if exponent < n { a } else { ring.sub(0, a) };
    }
    result[..].into()
}

/// The product with X^-offset, where X^-1 = -X^(n-1).
fn shifted(operands: &Monomial, line: &Line<'_>) -> Words {
    let (n, ring, a) = (line.n(), line.ring(operands.m), line.source(operands.a));
    let from = |i: usize| i + operands.offset as usize;
    (0..n).map(|i| if from(i) < n { a.at(from(i)) } else { ring.sub(0, a.at(from(i) - n)) }).collect()
}

impl ExecuteError {
    /// The error of the expansion `flat` of `program`, with the name that the limb has in the text.
    fn in_text(mut self, program: &RingProgram, flat: &RingProgram) -> Self {
        if let Self::NotReduced { operation, id, .. } = &mut self {
            let (body, line) = program.executed(*operation);
            let sources =
                flat.operations()[*operation].sources().into_iter().zip(body.operations()[line].sources());
            let named = sources.filter_map(|(limb, named)| limb.zip(named));
            let mut named = named.filter(|(limb, _)| flat.limbs().id(*limb) == *id);
            *id = named.next().map_or(*id, |(_, limb)| body.limbs().id(limb));
        }
        self
    }
}

/// A run that cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExecuteError {
    /// An input has no words.
    #[error("the input `{name}` is missing")]
    MissingInput {
        /// The name of the input.
        name: String,
    },
    /// An operation reads a word that is not below its modulus.
    #[error(
        "{}`{opcode}` reads the limb `{id}`, whose word {index} is {word:#x} and not below the modulus {modulus:#x}; \
         only `sr_mulps` takes words that are not reduced",
        line.map(|line| format!("line {line}: ")).unwrap_or_default()
    )]
    NotReduced {
        /// The index of the operation.
        operation: usize,
        /// Its line in the text.
        line: Option<NonZeroU32>,
        /// Its opcode.
        opcode: &'static str,
        /// The source.
        id: LimbId,
        /// The index of the word.
        index: usize,
        /// The word.
        word: u128,
        /// The modulus.
        modulus: u128,
    },
}
