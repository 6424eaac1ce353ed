//! The executor: the meaning of a program, on big integers.
//!
//! It judges other executions, so it is written to be seen to be right, and shares no arithmetic
//! with them. Products are exact, of 256 bits, and long division reduces them.

mod arithmetic;
mod transform;

use crate::data::{Inputs, Words};
use crate::reduction::Demand;
use crate::shape::{
    Binary, Clear, Duplicate, Galois, GaloisCoefficients, Monomial, Scalar, Transform, Unary,
};
use crate::{ConstantIndex, Limb, LimbId, Liveness, ModulusIndex, Operation, RingProgram, Shape};
use arithmetic::{Integers, bit_reverse};
use rustc_hash::FxHashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use transform::Powers;

/// Runs a program. The result has the words of each output, in the order of
/// [`RingProgram::outputs`].
///
/// # Errors
/// Returns an error if an input is missing, or if an operation reads words that are not reduced.
pub fn execute(inputs: &Inputs<'_>) -> Result<Vec<Vec<Words>>, ExecuteError> {
    let mut executor = Executor::new(inputs)?;
    while executor.step()? {}
    Ok(executor.outputs())
}

/// A run in progress.
#[derive(Debug)]
pub struct Executor<'p> {
    program: &'p RingProgram,
    liveness: Liveness,
    /// The words of each limb that has a value and is read again.
    words: Vec<Option<Words>>,
    next: usize,
    rings: FxHashMap<ModulusIndex, Integers>,
    powers: FxHashMap<(ModulusIndex, Option<ConstantIndex>), Arc<Powers>>,
}

impl<'p> Executor<'p> {
    /// A run before its first operation.
    ///
    /// # Errors
    /// Returns an error if an input is missing.
    pub fn new(inputs: &Inputs<'p>) -> Result<Self, ExecuteError> {
        let program = inputs.program();
        if let Some(group) = inputs.missing().next() {
            return Err(ExecuteError::MissingInput { name: group.name.clone() });
        }
        let words = program.limbs().iter().map(|limb| inputs.words(limb).cloned()).collect();
        let liveness = Liveness::of(program);
        let rings = program.moduli().iter().map(|(index, q)| (index, Integers::modulo(q))).collect();
        Ok(Self { program, liveness, words, next: 0, rings, powers: FxHashMap::default() })
    }

    /// The index of the next operation.
    pub fn next_operation(&self) -> usize {
        self.next
    }

    /// The words of a limb, if it has a value that is read again or is an output.
    pub fn words(&self, limb: Limb) -> Option<&Words> {
        self.words[limb.index()].as_ref()
    }

    /// Executes one operation. False after the last.
    ///
    /// # Errors
    /// Returns an error if the operation reads words that are not reduced.
    pub fn step(&mut self) -> Result<bool, ExecuteError> {
        let Some(operation) = self.program.operations().get(self.next) else { return Ok(false) };
        self.check_reduced(operation)?;
        let result = operation.result(self);
        let uses = self.liveness.after(self.next);
        for (limb, next) in operation.sources().into_iter().zip(uses.sources) {
            if let Some(limb) = limb.filter(|_| next.is_dead()) {
                self.words[limb.index()] = None;
            }
        }
        self.words[operation.destination().index()] = Some(result).filter(|_| !uses.destination.is_dead());
        self.next += 1;
        Ok(true)
    }

    /// The words of the outputs, in the order of [`RingProgram::outputs`]. Outputs that are not
    /// computed yet have no words.
    pub fn outputs(&self) -> Vec<Vec<Words>> {
        let words = |&limb: &Limb| self.words(limb).cloned().unwrap_or_default();
        self.program.outputs().iter().map(|group| group.limbs.iter().map(words).collect()).collect()
    }

    fn check_reduced(&self, operation: &Operation) -> Result<(), ExecuteError> {
        let Some(m) = operation.modulus().filter(|_| operation.demand() == Demand::Residues) else {
            return Ok(());
        };
        let modulus = self.program.moduli().value(m);
        for limb in operation.sources().into_iter().flatten() {
            let words = self.source(limb);
            if let Some(index) = words.iter().position(|&word| word >= modulus) {
                return Err(ExecuteError::NotReduced {
                    operation: self.next,
                    line: self.program.line(self.next),
                    opcode: operation.opcode(),
                    id: self.program.limbs().id(limb),
                    index,
                    word: words[index],
                    modulus,
                });
            }
        }
        Ok(())
    }

    fn source(&self, limb: Limb) -> &Words {
        self.words[limb.index()].as_ref().expect("a valid program writes limbs before it reads them")
    }

    fn n(&self) -> usize {
        self.program.degree().len()
    }

    fn ring(&self, m: ModulusIndex) -> &Integers {
        &self.rings[&m]
    }

    /// The number in the text, reduced.
    fn scalar(&self, operands: &Scalar) -> u128 {
        self.program.constants().value(operands.scalar) % self.ring(operands.m).q()
    }

    fn powers(&mut self, operands: &Transform) -> Arc<Powers> {
        let Self { program, rings, powers, .. } = self;
        let root = || program.root(operands.root, operands.m);
        let n = program.degree().len();
        let entry = powers.entry((operands.m, operands.root));
        Arc::clone(entry.or_insert_with(|| Arc::new(Powers::new(n, root(), rings[&operands.m].clone()))))
    }

    fn zip(&self, operands: &Binary, f: impl Fn(&Integers, u128, u128) -> u128) -> Words {
        let ring = self.ring(operands.m);
        let (a, b) = (self.source(operands.a), self.source(operands.b));
        a.iter().zip(&b[..]).map(|(&a, &b)| f(ring, a, b)).collect()
    }
}

/// The result of an operation.
trait Execute {
    fn result(&self, executor: &mut Executor<'_>) -> Words;
}

impl Execute for Operation {
    fn result(&self, executor: &mut Executor<'_>) -> Words {
        match self {
            Self::Add(operands) => executor.zip(operands, Integers::add),
            Self::Subtract(operands) => executor.zip(operands, Integers::sub),
            Self::Multiply(operands) => executor.zip(operands, Integers::mul),
            Self::AddScalar(operands) => with_scalar(operands, executor, Integers::add),
            Self::SubtractScalar(operands) => with_scalar(operands, executor, Integers::sub),
            Self::MultiplyScalar(operands) => with_scalar(operands, executor, Integers::mul),
            Self::Negate(Unary { a, m, .. }) => {
                let ring = executor.ring(*m);
                executor.source(*a).iter().map(|&a| ring.sub(0, a)).collect()
            }
            Self::Ntt(operands) => executor.powers(operands).forward(executor.source(operands.a)).into(),
            Self::Intt(operands) => executor.powers(operands).inverse(executor.source(operands.a)).into(),
            Self::AutomorphEvaluation(operands) => permuted(operands, executor),
            Self::AutomorphCoefficients(operands) => substituted(operands, executor),
            Self::MultiplyMonomial(operands) => shifted(operands, executor),
            Self::Copy(Duplicate { a, .. }) => Arc::clone(executor.source(*a)),
            Self::Zero(Clear { .. }) => vec![0; executor.n()].into(),
        }
    }
}

fn with_scalar(
    operands: &Scalar,
    executor: &Executor<'_>,
    f: impl Fn(&Integers, u128, u128) -> u128,
) -> Words {
    let (ring, scalar) = (executor.ring(operands.m), executor.scalar(operands));
    executor.source(operands.a).iter().map(|&a| f(ring, a, scalar)).collect()
}

/// The values at the powers of w: place i has the value at w^(2 brv(i) + 1), and gets the one at
/// w^(k (2 brv(i) + 1)).
fn permuted(operands: &Galois, executor: &Executor<'_>) -> Words {
    let (n, a, k) = (executor.n(), executor.source(operands.a), operands.k as usize);
    let bits = n.ilog2();
    let exponent = |place: usize| 2 * bit_reverse(place, bits) + 1;
    (0..n).map(|place| a[bit_reverse((k * exponent(place) % (2 * n) - 1) / 2, bits)]).collect()
}

/// The sum of a_i X^(k i), where X^n = -1.
fn substituted(operands: &GaloisCoefficients, executor: &Executor<'_>) -> Words {
    let (n, ring) = (executor.n(), executor.ring(operands.m));
    let mut result = vec![0; n];
    for (i, &a) in executor.source(operands.a).iter().enumerate() {
        let exponent = operands.k as usize * i % (2 * n);
        result[exponent % n] = if exponent < n { a } else { ring.sub(0, a) };
    }
    result.into()
}

/// The product with X^-offset, where X^-1 = -X^(n-1).
fn shifted(operands: &Monomial, executor: &Executor<'_>) -> Words {
    let (n, ring, a) = (executor.n(), executor.ring(operands.m), executor.source(operands.a));
    let from = |i: usize| i + operands.offset as usize;
    (0..n).map(|i| if from(i) < n { a[from(i)] } else { ring.sub(0, a[from(i) - n]) }).collect()
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
