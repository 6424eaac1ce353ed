//! Programs.

use crate::error::{CheckError, Finding, raise, run_failure, wrong};
use crate::interrupt;
use crate::machine::PyMachine;
use b512_asm::{Program, intrinsics, object};
use codegen::rewrite::{Rescheduled, prove, reschedule};
use diagnostic::Diagnostic;
use diagnostic::input::{self, Content};
use lab_run::program::ProgramFile;
use lab_run::{admit, check_coverage, program_blake3};
use pyo3::prelude::*;
use sim::lint;
use std::path::PathBuf;
use std::sync::Arc;

/// A program, and the text that it was assembled from.
#[pyclass(frozen, name = "Program", module = "rpu._rpu")]
pub(crate) struct PyProgram {
    pub(crate) file: Arc<ProgramFile>,
    /// The origin of a generated program's recipe.
    #[pyo3(get)]
    pub(crate) origin: Option<String>,
}

/// Name, memory, first word, number of words, and role of a symbol.
type Symbol = (String, &'static str, u32, u32, &'static str);

#[pymethods]
impl PyProgram {
    /// Assembles a text; `name` is its name in errors.
    #[staticmethod]
    fn assemble(py: Python<'_>, text: String, name: &str) -> PyResult<Self> {
        let file = py.detach(|| ProgramFile::parse(name, text.into_bytes())).map_err(raise)?;
        Ok(Self { file: Arc::new(file), origin: None })
    }

    /// Reads assembly text or an object file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let name = diagnostic::path(&path);
        let bytes = input::read(&path, Content::Program)
            .map_err(|error| raise(Diagnostic::new(format!("cannot read `{name}`: {error}"))))?;
        let file = py.detach(|| ProgramFile::parse(&name, bytes)).map_err(raise)?;
        Ok(Self { file: Arc::new(file), origin: None })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.file.program.name
    }

    /// Assembly text.
    #[getter]
    fn text(&self) -> String {
        self.file.program.to_string()
    }

    /// C with SPIRAL's intrinsics.
    #[getter]
    fn intrinsics(&self) -> String {
        intrinsics::print(&self.file.program)
    }

    /// The content of an object file.
    #[getter]
    fn object(&self) -> PyResult<Vec<u8>> {
        object::write(&self.file.program).map_err(wrong)
    }

    #[getter]
    fn instructions(&self) -> Vec<String> {
        let listing = self.file.program.listing();
        self.file.program.instructions.iter().map(|instr| listing.text(instr)).collect()
    }

    #[getter]
    fn claims(&self) -> Vec<String> {
        self.file.program.claims.iter().map(ToString::to_string).collect()
    }

    #[getter]
    fn symbols(&self) -> Vec<Symbol> {
        let symbols = self.file.program.symbols.iter();
        symbols.map(|s| (s.name.clone(), s.space.name(), s.start, s.words, s.role.name())).collect()
    }

    #[getter]
    fn blake3(&self) -> String {
        program_blake3(&self.file.program)
    }

    /// The program in the fastest order that is found, with the cycles before and after, and the least cycles
    /// of its vector instructions.
    fn schedule(&self, py: Python<'_>, machine: &PyMachine) -> PyResult<(Self, u64, u64, u64)> {
        let (file, machine) = (Arc::clone(&self.file), Arc::clone(&machine.machine));
        interrupt::wait(py, move || {
            let admitted =
                |program: &Program| admit(program, &machine).map_err(|error| run_failure(error, &file));
            admitted(&file.program)?;
            let Rescheduled { program, before, after, bound } =
                reschedule(&file.program, &machine).map_err(wrong)?;
            admitted(&program)?;
            let program = Self { file: Arc::new(ProgramFile::of(program)), origin: None };
            Ok((program, before.0, after.0, bound.0))
        })?
    }

    /// The claims, each proven for all data.
    fn prove(&self, py: Python<'_>, machine: &PyMachine) -> PyResult<Vec<String>> {
        let (file, machine) = (Arc::clone(&self.file), Arc::clone(&machine.machine));
        interrupt::wait(py, move || {
            let program = &file.program;
            let admitted = admit(program, &machine).and_then(|()| check_coverage(program, |_| false));
            admitted.map_err(|error| run_failure(error, &file))?;
            prove(program).map_err(|error| CheckError::new_err(error.to_string()))?;
            Ok(program.claims.iter().map(ToString::to_string).collect())
        })?
    }

    /// Faults of the program on a machine as errors, then warnings.
    fn lint(&self, machine: &PyMachine) -> PyResult<Vec<Finding>> {
        let errors: Vec<Diagnostic> = match admit(&self.file.program, &machine.machine) {
            Ok(()) => Vec::new(),
            Err(error) => match error.in_file(&self.file) {
                Some(errors) => errors.iter().cloned().collect(),
                None => return Err(wrong(error)),
            },
        };
        let warnings = self.file.diagnostics(lint::warnings(&self.file.program, &machine.machine));
        let warnings = warnings.into_iter().map(Diagnostic::as_warning);
        Ok(errors.into_iter().chain(warnings).map(|finding| Finding::from(&finding)).collect())
    }
}
