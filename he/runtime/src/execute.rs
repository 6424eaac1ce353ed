//! Execution on data: every launch runs its kernel on the functional engine.
//!
//! All threads of the pool do what is ready; `order` says what that is.

mod idle;
mod order;
mod reduced;
mod replay;
mod worker;

use self::order::{Progress, Task, Turn};
pub use self::reduced::NotReduced;
pub use self::replay::{Fault, ParametersError};
use self::worker::{Pools, Worker};
use crate::flow::Flow;
use crate::launches::kernels::{Kernels, Timed};
use crate::launches::{Launch, Launches};
use codegen::NumberWords;
use rayon::Scope;
use ring::modular::Modulus;
use ring_program::data::Words;
use ring_program::{Inputs, ModulusIndex, RingProgram};
use rustc_hash::FxHashMap;
use sim::Machine;
use sim::functional::{ExecuteError, Executor, LoadError};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program that is ready to run on data.
#[derive(Debug)]
pub struct Execution<'a> {
    /// The program.
    pub program: &'a RingProgram,
    /// Its dataflow.
    pub flow: &'a Flow,
    /// Its launches.
    pub launches: &'a Launches,
    /// Its kernels.
    pub kernels: &'a Kernels,
    /// The machine.
    pub machine: &'a Machine,
}

/// A launch that failed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum LaunchError {
    /// The kernel does not exist for the launch.
    #[error(transparent)]
    Kernel(#[from] codegen::Error),
    /// The kernel cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An instruction faults: the operands are not residues.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// A word is not reduced.
    #[error(transparent)]
    NotReduced(#[from] NotReduced),
}

/// The failure of a run, with the index of the launch.
pub type Failure = (usize, LaunchError);

impl Execution<'_> {
    /// Runs the program. The result has the words of each output, in the order of
    /// [`RingProgram::outputs`].
    ///
    /// # Errors
    /// Returns an error if a launch fails.
    ///
    /// # Panics
    /// Panics if an input is missing.
    pub fn run(&self, inputs: &Inputs<'_>) -> Result<Vec<Vec<Words>>, Failure> {
        let (moduli, pools) = (moduli(self.program), Pools::new(self.program.degree().len()));
        let worker = Worker { execution: self, moduli: &moduli, pools: &pools };
        let mut progress = Progress::new(self, inputs);
        let tasks = progress.admit();
        let crew = Crew { worker, inputs, progress: Mutex::new(progress) };
        rayon::scope(|scope| crew.spawn(scope, tasks, Turn::default()));
        crew.progress.into_inner().unwrap_or_else(PoisonError::into_inner).outputs(inputs)
    }

    /// The reason for the failure of a launch in terms of the program, if there is one.
    fn explain(&self, launch: &Launch, sources: &[Words], error: LaunchError) -> LaunchError {
        match error {
            LaunchError::Execute(_) => {
                NotReduced::find(self.program, self.machine, (self.launches, launch), sources)
                    .map_or(error, LaunchError::from)
            }
            LaunchError::Kernel(_) | LaunchError::Load(_) | LaunchError::NotReduced(_) => error,
        }
    }
}

/// What the threads of an execution share.
struct Crew<'a> {
    worker: Worker<'a>,
    inputs: &'a Inputs<'a>,
    progress: Mutex<Progress<'a>>,
}

impl<'a> Crew<'a> {
    fn progress(&self) -> MutexGuard<'_, Progress<'a>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has threads do as many tasks as have become ready.
    fn spawn<'s>(&'s self, scope: &Scope<'s>, tasks: usize, after: Turn) {
        for _ in 0..tasks {
            scope.spawn(move |scope| self.advance(scope, after));
        }
    }

    /// Does the task after another one.
    fn advance<'s>(&'s self, scope: &Scope<'s>, after: Turn) {
        let Some((turn, task)) = self.progress().take(after) else { return };
        let tasks = match task {
            Task::Make(value, limb) => {
                let words = self.inputs.words(limb).expect("inputs are complete");
                self.progress().arrive(value, words)
            }
            Task::Run(index) => self.run(index),
        };
        self.spawn(scope, tasks, turn);
    }

    /// Runs a launch. Returns the number of tasks that become ready.
    fn run(&self, index: usize) -> usize {
        let Worker { execution, pools, .. } = self.worker;
        let launch = &execution.launches.launches[index];
        let sources = self.progress().sources(index);
        match self.worker.run(launch, &sources) {
            Ok(results) => {
                drop(sources);
                self.progress().finish(index, results, |words| pools.give_back_memory(words))
            }
            Err(error) => {
                let error = execution.explain(launch, &sources, error);
                self.progress().fail(index, error);
                0
            }
        }
    }
}

/// The moduli of a program.
pub(crate) fn moduli(program: &RingProgram) -> FxHashMap<ModulusIndex, Modulus> {
    let modulus = |(index, value)| (index, Modulus::new(value).expect("moduli are odd primes"));
    program.moduli().iter().map(modulus).collect()
}

/// Sets the moduli and scalars of an elementwise launch.
pub(crate) fn set_parameters(
    executor: &mut Executor,
    kernel: &Timed,
    (launches, launch): (&Launches, &Launch),
    moduli: &FxHashMap<ModulusIndex, Modulus>,
) {
    for (&register, modulus) in kernel.moduli.iter().zip(launches.moduli(launch)) {
        executor.set_modulus(register, moduli[modulus]);
    }
    let scalars = kernel.scalars.iter().zip(launches.scalars(launch));
    let constant = |(at, &scalar): (&NumberWords, &u128)| (at.space, at.words.clone(), scalar);
    executor.write_constants(scalars.map(constant));
}
