//! Errors as Python exceptions that carry their diagnostics.

use diagnostic::{Diagnostic, Diagnostics, Severity, render};
use lab::program::ProgramFile;
use lab::run::RunError;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    rpu,
    RpuError,
    PyException,
    "Invalid input. The text shows each error with its line and a remedy; `diagnostics` has them one by one."
);
create_exception!(rpu, CheckError, RpuError, "A result that differs from the golden model.");

/// One error or warning.
#[pyclass(frozen, get_all, name = "Diagnostic", module = "rpu")]
pub(crate) struct Finding {
    severity: &'static str,
    code: Option<&'static str>,
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    marked: Option<String>,
    message: String,
    help: Option<String>,
    /// The finding as a terminal shows it.
    text: String,
}

#[pymethods]
impl Finding {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let place = match (&self.file, self.line, self.column) {
            (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}: "),
            _ => String::new(),
        };
        format!("<{} {place}{}>", self.severity, self.message)
    }
}

impl From<&Diagnostic> for Finding {
    fn from(finding: &Diagnostic) -> Self {
        let position = finding.position();
        Self {
            severity: match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: finding.code,
            file: Some(finding.file.to_string()).filter(|file| !file.is_empty()),
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
            marked: finding.marked().map(str::to_owned),
            message: finding.message.clone(),
            help: finding.help.as_deref().map(str::to_owned),
            text: finding.render(false),
        }
    }
}

/// The exception for errors.
pub(crate) fn raise(errors: impl Into<Diagnostics>) -> PyErr {
    let errors = errors.into();
    let list: Vec<Finding> = errors.iter().map(Finding::from).collect();
    let exception = RpuError::new_err(render(&errors, false).trim_end().to_owned());
    Python::attach(|py| match exception.value(py).setattr("diagnostics", list) {
        Ok(()) => exception,
        Err(error) => error,
    })
}

/// The exception for an error without a place.
pub(crate) fn wrong(error: impl std::fmt::Display) -> PyErr {
    raise(Diagnostic::new(error.to_string()))
}

/// The exception for the failure of a run.
pub(crate) fn run_failure(error: RunError, file: &ProgramFile) -> PyErr {
    match error {
        error if error.is_wrong_result() => CheckError::new_err(error.to_string()),
        RunError::Invalid(invalid) => {
            let mut errors = Diagnostics::default();
            file.diagnostics(invalid.defects).into_iter().for_each(|error| errors.push(error));
            raise(errors)
        }
        RunError::Execute(fault) => raise(file.fault(&fault)),
        error => wrong(error),
    }
}
