//! Code generation.

use crate::error::{raise, wrong};
use crate::interrupt;
use crate::machine::PyMachine;
use crate::program::PyProgram;
use codegen::PlanChoice;
use codegen::search::{Effort, Memory};
use diagnostic::Diagnostic;
use golden::Operation;
use lab_run::program::ProgramFile;
use lab_sweep::KernelTask;
use lab_sweep::tuning::{self, Cache, TuneError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

/// Generates a program of an operation. The parameters are names and texts, as the rows of
/// [`PARAMETERS`](lab_sweep::parameter::PARAMETERS) say.
#[pyfunction]
pub(crate) fn generate(
    py: Python<'_>,
    operation: &str,
    parameters: Vec<(String, String)>,
    machine: &PyMachine,
) -> PyResult<PyProgram> {
    let operation: Operation = operation.parse().map_err(wrong)?;
    let machine = Arc::clone(&machine.machine);
    interrupt::wait(py, move || {
        let KernelTask { request, plan } = KernelTask::parse(operation, &parameters).map_err(raise)?;
        let generated = lab_sweep::generate(&request, &plan, &machine).map_err(wrong)?;
        let origin = Some(generated.origin.to_string());
        Ok(PyProgram { file: Arc::new(ProgramFile::of(generated.program)), origin })
    })?
}

/// A program by a plan from a search, the plan's text, its cycles, those of plan `best`, and the number of
/// plans tried.
type Tuned = (PyProgram, String, u64, u64, usize);

/// Searches for a faster plan than `best`. The cache is a folder that keeps the cycles of every tried plan.
#[pyfunction]
pub(crate) fn tune(
    py: Python<'_>,
    operation: &str,
    parameters: Vec<(String, String)>,
    machine: &PyMachine,
    effort: u32,
    seed: u64,
    cache: Option<PathBuf>,
) -> PyResult<Tuned> {
    let operation: Operation = operation.parse().map_err(wrong)?;
    let machine = Arc::clone(&machine.machine);
    interrupt::wait(py, move || {
        let request = tuning::request(operation, parameters).map_err(raise)?;
        let cache =
            cache.map(|folder| Cache::open(&folder, &request, &machine)).transpose().map_err(wrong)?;
        let memory: &dyn Memory = cache.as_ref().map_or(&(), |cache| cache);
        let effort = Effort { budget: effort, seed };
        let tuned = tuning::tune(&request, &machine, effort, memory, &|_, _, _| ());
        let tuned = tuned.map_err(|error| match error {
            TuneError::Kernel(error) => wrong(error),
            TuneError::WrongMemory => raise(
                Diagnostic::new(error.to_string()).with_help("delete the folder `cache`, or leave it out"),
            ),
        })?;
        let text = tuned.recipe.to_toml();
        let plan = PlanChoice::Recipe(Box::new(tuned.recipe));
        let generated = lab_sweep::generate(&request, &plan, &machine).map_err(wrong)?;
        let program = PyProgram { file: Arc::new(ProgramFile::of(generated.program)), origin: None };
        Ok((program, text, tuned.cycles.0, tuned.before.0, tuned.tried))
    })?
}

/// The operations with their definitions.
#[pyfunction]
pub(crate) fn operations() -> Vec<(String, String)> {
    let operations = golden::OPERATIONS.iter();
    operations.map(|operation| (operation.name().to_owned(), operation.definition().to_owned())).collect()
}
