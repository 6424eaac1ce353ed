//! Compares witnesses that share no arithmetic, word for word, on the same tasks: ring operations, and
//! [operations modulo several numbers](Composite) as ring programs.

mod composite;

use crate::{Mode, Options, draw, run};
use codegen::{PlanChoice, Request, generate};
use ring_program::data::concat;
use runtime::{Keys, Runtime};
use sim::Machine;
use std::error::Error;
use thiserror::Error;

pub use composite::{Composite, Composition};

/// The results of a task for each set of operands.
pub type Results = Result<Vec<Vec<u128>>, Box<dyn Error + Send + Sync>>;

/// Operands of one computation, one vector of n residues each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operands {
    /// Their kind, for messages: `extreme` or `random`.
    pub name: &'static str,
    /// One vector for each operand of the operation.
    pub vectors: Vec<Vec<u128>>,
}

impl Operands {
    /// Operands of n residues modulo these numbers: residues at the ends of their range, and random ones
    /// from the seed, as [`draw`] generates them.
    pub fn sets(moduli: &[u128], n: usize, seed: u64) -> Vec<Self> {
        let set = |name, vector: &dyn Fn(u64, u128) -> Vec<u128>| Self {
            name,
            vectors: (0..).zip(moduli).map(|(operand, &q)| vector(operand, q)).collect(),
        };
        let extreme = |operand, q: u128| match operand {
            0 => vec![q - 1; n],
            _ => [q - 1, 0, 1].into_iter().cycle().take(n).collect(),
        };
        vec![set("extreme", &extreme), set("random", &|operand, q| draw(seed, operand, n, q))]
    }
}

/// What witnesses compute.
#[derive(Clone, Debug)]
pub enum Task {
    /// A ring operation, once in each ring of the request.
    Operation(Request),
    /// An operation modulo several numbers.
    Composite(Composite),
}

impl Task {
    /// The operation's name.
    pub fn operation(&self) -> &'static str {
        match self {
            Self::Operation(request) => request.operation.name(),
            Self::Composite(composite) => composite.composition().name(),
        }
    }

    /// The ring degree.
    pub fn n(&self) -> u32 {
        match self {
            Self::Operation(request) => request.n(),
            Self::Composite(composite) => composite.program().degree().get() as u32,
        }
    }

    /// The modulus of the first operand.
    pub fn modulus(&self) -> u128 {
        match self {
            Self::Operation(request) => request.rings[0].q(),
            Self::Composite(composite) => composite.operands()[0],
        }
    }

    /// The moduli of the operands, ring by ring.
    pub fn operands(&self) -> Vec<u128> {
        match self {
            Self::Operation(request) => {
                let inputs = request.operation.inputs().len();
                request.rings.iter().flat_map(|ring| std::iter::repeat_n(ring.q(), inputs)).collect()
            }
            Self::Composite(composite) => composite.operands().to_vec(),
        }
    }
}

/// An independent implementation of the tasks.
pub trait Witness: Sync {
    /// The name, a word or two.
    fn name(&self) -> &str;

    /// The result of a task for each set of operands, in the orders of [`golden::evaluate`], one vector after
    /// the other.
    ///
    /// # Errors
    /// Returns an error if the witness cannot compute the task.
    fn compute(&self, task: &Task, sets: &[Operands]) -> Results;
}

/// [`golden::evaluate`], and [`ring_program::execute()`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GoldenModel;

impl Witness for GoldenModel {
    fn name(&self) -> &str {
        "golden model"
    }

    fn compute(&self, task: &Task, sets: &[Operands]) -> Results {
        let evaluate = |set: &Operands| match task {
            Task::Operation(request) => {
                let vectors: Vec<&[u128]> = set.vectors.iter().map(Vec::as_slice).collect();
                let of_rings = vectors.chunks(vectors.len() / request.rings.len());
                let results = of_rings
                    .enumerate()
                    .map(|(ring, vectors)| Ok(golden::evaluate(&request.claim(ring), vectors)?.concat()));
                Ok(results.collect::<Result<Vec<_>, Box<dyn Error + Send + Sync>>>()?.concat())
            }
            Task::Composite(composite) => {
                Ok(concat(&ring_program::execute(&composite.inputs(set)?)?.concat()))
            }
        };
        sets.iter().map(evaluate).collect()
    }
}

/// The generated program, executed. A ring program is executed by the runtime.
#[derive(Clone, Debug)]
pub struct Simulator {
    /// The machine that executes it.
    pub machine: Machine,
    /// The choice of the recipe for an operation in one or several rings.
    pub plan: PlanChoice,
}

impl Witness for Simulator {
    fn name(&self) -> &str {
        "simulator"
    }

    fn compute(&self, task: &Task, sets: &[Operands]) -> Results {
        let request = match task {
            Task::Operation(request) => request,
            Task::Composite(composite) => {
                let runtime = Runtime::new(composite.program(), &self.machine, Keys::Streamed)?;
                let execute =
                    |set: &Operands| Ok(concat(&runtime.execute(&composite.inputs(set)?)?.concat()));
                return sets.iter().map(execute).collect();
            }
        };
        let program = generate(request, &self.machine, &self.plan)?.program;
        if program.claims.len() != request.rings.len() {
            return Err("the generated program does not have a claim for each ring".into());
        }
        let execute = |set: &Operands| {
            let names = program.claims.iter().flat_map(|claim| &claim.inputs);
            let inputs = names.cloned().zip(set.vectors.iter().cloned()).collect();
            let options = Options { mode: Mode::FunctionalOnly, inputs, ..Options::default() };
            let mut outcome = run(&program, &self.machine, &options)?;
            let names = program.claims.iter().flat_map(|claim| &claim.outputs);
            let outputs = names.map(|name| outcome.outputs.remove(name));
            let outputs: Option<Vec<_>> = outputs.collect();
            Ok(outputs.ok_or("the generated program has no output")?.concat())
        };
        sets.iter().map(execute).collect()
    }
}

/// The first difference between a witness and the reference.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "{operation} of {n} coefficients modulo {modulus:#x}: on the {operands} operands, the {witness} has {found} at \
     index {index} where the {reference} has {expected:#x}", found = .found.map_or("nothing".into(), |f| format!("{f:#x}"))
)]
pub struct Difference {
    /// The operation.
    pub operation: &'static str,
    /// The ring degree.
    pub n: u32,
    /// The modulus.
    pub modulus: u128,
    /// The name of the operands.
    pub operands: &'static str,
    /// The witness that differs.
    pub witness: String,
    /// The reference.
    pub reference: String,
    /// The index of the first coefficient that differs.
    pub index: usize,
    /// The witness's value there; `None` if its result is too short.
    pub found: Option<u128>,
    /// The reference's value.
    pub expected: u128,
}

/// A witness that could not compute something.
#[derive(Debug, Error)]
#[error("the {witness} cannot compute {operation} of {n} coefficients modulo {modulus:#x}: {cause}")]
pub struct WitnessError {
    /// The witness.
    pub witness: String,
    /// The operation.
    pub operation: &'static str,
    /// The ring degree.
    pub n: u32,
    /// The modulus.
    pub modulus: u128,
    /// The reason.
    #[source]
    pub cause: Box<dyn Error + Send + Sync>,
}

/// Gives all witnesses the operands of [`Operands::sets`] and compares each with `reference`.
/// Returns for each witness whether it agrees.
///
/// # Errors
/// Returns an error if a witness cannot compute the task at all.
pub fn crosscheck(
    task: &Task,
    seed: u64,
    reference: &dyn Witness,
    witnesses: &[&dyn Witness],
) -> Result<Vec<Result<(), Difference>>, WitnessError> {
    let (operation, n, modulus) = (task.operation(), task.n(), task.modulus());
    let sets = Operands::sets(&task.operands(), n as usize, seed);
    let ask = |witness: &dyn Witness| {
        witness.compute(task, &sets).map_err(|cause| WitnessError {
            witness: witness.name().into(),
            operation,
            n,
            modulus,
            cause,
        })
    };
    let expected = ask(reference)?;
    let compare = |witness: &&dyn Witness| {
        let found = ask(*witness)?;
        for (at, (set, expected)) in sets.iter().zip(&expected).enumerate() {
            let found = found.get(at).map_or(&[][..], Vec::as_slice);
            if let Some(index) = (0..expected.len()).find(|&index| found.get(index) != Some(&expected[index]))
            {
                return Ok(Err(Difference {
                    operation,
                    n,
                    modulus,
                    operands: set.name,
                    witness: witness.name().into(),
                    reference: reference.name().into(),
                    index,
                    found: found.get(index).copied(),
                    expected: expected[index],
                }));
            }
        }
        Ok(Ok(()))
    };
    witnesses.iter().map(compare).collect()
}
