//! Code generation.

use crate::error::{raise, wrong};
use crate::interrupt;
use crate::machine::PyMachine;
use crate::program::PyProgram;
use golden::Operation;
use lab_run::program::ProgramFile;
use lab_sweep::KernelTask;
use pyo3::prelude::*;
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

/// The operations with their definitions.
#[pyfunction]
pub(crate) fn operations() -> Vec<(String, String)> {
    let operations = golden::OPERATIONS.iter();
    operations.map(|operation| (operation.name().to_owned(), operation.definition().to_owned())).collect()
}
