//! Runs.

use crate::error::{raise, run_failure, wrong};
use crate::interrupt;
use crate::machine::PyMachine;
use crate::program::PyProgram;
use diagnostic::Diagnostic;
use diagnostic::input::{self, Content};
use lab_run::program::{ProgramFile, coefficients};
use lab_run::{Comparison, Form, Mode, Options, Outcome, RunReport, page, run as run_program, table};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::{Machine, Trace};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A finished run.
#[pyclass(frozen, name = "Run", module = "rpu._rpu")]
pub(crate) struct PyRun {
    file: Arc<ProgramFile>,
    machine: Arc<Machine>,
    outcome: Outcome,
}

/// Text, pipe, dispatch, issue, end in the pipe, completion, and cause of the longest wait of an instruction.
type Row = (String, &'static str, u64, u64, u64, u64, Option<&'static str>);

#[pymethods]
impl PyRun {
    /// The document of the run, one JSON object.
    #[getter]
    fn report(&self) -> PyResult<String> {
        serde_json::to_string(&self.outcome.report).map_err(wrong)
    }

    /// The words of each output.
    #[getter]
    fn outputs(&self) -> BTreeMap<String, Vec<u128>> {
        self.outcome.outputs.clone()
    }

    /// The report as a terminal shows it.
    #[getter]
    fn table(&self) -> String {
        table(&self.outcome.report)
    }

    /// A page with causes, timeline, area and energy.
    #[getter]
    fn page(&self) -> String {
        page(&self.outcome.report, self.trace().as_ref())
    }

    /// The cycles of each instruction; empty without timing.
    #[getter]
    fn timeline(&self) -> Vec<Row> {
        let Some(trace) = self.trace() else { return Vec::new() };
        let row = |interval: sim::trace::Interval<'_>| {
            let [dispatch, issue] = [interval.dispatch, interval.issue].map(|cycle| cycle.0);
            let [free, complete] = [interval.pipe_free, interval.complete].map(|cycle| cycle.0);
            let wait = interval.longest_wait().map(|cause| cause.name());
            (trace.text(interval.index), interval.pipe.name(), dispatch, issue, free, complete, wait)
        };
        trace.intervals().map(row).collect()
    }
}

impl PyRun {
    fn trace(&self) -> Option<Trace<'_>> {
        self.outcome.timing.as_ref().map(|timing| Trace::new(&self.machine, &self.file.program, timing))
    }
}

/// Runs a program on a machine.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn run(
    py: Python<'_>,
    program: &PyProgram,
    machine: &PyMachine,
    inputs: BTreeMap<String, Vec<u128>>,
    seed: u64,
    check: bool,
    execute: bool,
    timing: bool,
    stream: Option<usize>,
    lenient: bool,
) -> PyResult<PyRun> {
    let mode = match (execute, timing) {
        (true, true) => Mode::Full,
        (true, false) => Mode::FunctionalOnly,
        (false, true) => Mode::TimingOnly,
        (false, false) => return Err(PyValueError::new_err("nothing to do: neither execution nor timing")),
    };
    if check && !execute {
        return Err(PyValueError::new_err("a check needs execution"));
    }
    if stream.is_some() && !timing {
        return Err(PyValueError::new_err("a stream needs timing"));
    }
    let options = Options { mode, check, seed, inputs, stream, lenient, ..Options::default() };
    let (file, machine) = (Arc::clone(&program.file), Arc::clone(&machine.machine));
    interrupt::wait(py, move || {
        let outcome = run_program(&file.program, &machine, &options);
        let outcome = outcome.map_err(|error| run_failure(error, &file))?;
        Ok(PyRun { file, machine, outcome })
    })?
}

/// Compares two documents of runs, with their names: as a table, and as one JSON object.
#[pyfunction]
pub(crate) fn diff(a: (String, String), b: (String, String)) -> PyResult<(String, String)> {
    let read = |(name, text): &(String, String)| RunReport::parse(name, text).map_err(raise);
    let comparison = Comparison::new((&a.0, &read(&a)?), (&b.0, &read(&b)?)).map_err(raise)?;
    Ok((comparison.table(), serde_json::to_string(&comparison).map_err(wrong)?))
}

/// Reads a file of coefficients.
#[pyfunction]
pub(crate) fn read_coefficients(path: PathBuf) -> PyResult<Vec<u128>> {
    let (name, form) = (diagnostic::path(&path), Form::of(&path).map_err(raise)?);
    let bytes = input::read(&path, Content::Data)
        .map_err(|error| raise(Diagnostic::new(format!("cannot read `{name}`: {error}"))))?;
    coefficients(form, &name, &bytes).map_err(raise)
}
