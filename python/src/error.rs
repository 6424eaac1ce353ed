//! Errors as Python exceptions that carry their diagnostics.

use diagnostic::{Diagnostic, Diagnostics, render};
use lab_run::RunError;
use lab_run::program::ProgramFile;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    rpu,
    RpuError,
    PyException,
    "Invalid input. The text shows each error with its line and a remedy; `diagnostics` has them one by one."
);
create_exception!(
    rpu,
    CheckError,
    RpuError,
    "A result that differs from the golden model, or a claim that is not proven."
);

/// One error or warning.
#[pyclass(frozen, name = "Diagnostic", module = "rpu")]
pub(crate) struct Finding(Diagnostic);

#[pymethods]
impl Finding {
    #[getter]
    fn severity(&self) -> &str {
        self.0.severity.name()
    }

    #[getter]
    fn code(&self) -> Option<&str> {
        self.0.code
    }

    #[getter]
    fn file(&self) -> Option<&str> {
        Some(&*self.0.file).filter(|file| !file.is_empty())
    }

    #[getter]
    fn line(&self) -> Option<usize> {
        self.0.position().map(|(line, _)| line)
    }

    #[getter]
    fn column(&self) -> Option<usize> {
        self.0.position().map(|(_, column)| column)
    }

    #[getter]
    fn marked(&self) -> Option<&str> {
        self.0.marked()
    }

    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    #[getter]
    fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// The finding as a terminal shows it.
    #[getter]
    fn text(&self) -> String {
        self.0.render(false)
    }

    fn __str__(&self) -> String {
        self.text()
    }

    fn __repr__(&self) -> String {
        let location = match (self.file(), self.0.position()) {
            (Some(file), Some((line, column))) => format!("{file}:{line}:{column}: "),
            _ => String::new(),
        };
        format!("<{} {location}{}>", self.severity(), self.0.message)
    }
}

impl From<&Diagnostic> for Finding {
    fn from(finding: &Diagnostic) -> Self {
        Self(finding.clone())
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

/// The exception for an error without a location.
pub(crate) fn wrong(error: impl std::fmt::Display) -> PyErr {
    raise(Diagnostic::new(error.to_string()))
}

/// The exception for the failure of a run.
pub(crate) fn run_failure(error: RunError, file: &ProgramFile) -> PyErr {
    if let Some(errors) = error.in_file(file) {
        return raise(errors);
    }
    if error.is_wrong_result() {
        return CheckError::new_err(error.to_string());
    }
    let failure = Diagnostic::new(error.to_string());
    raise(match error.help() {
        Some(help) => failure.with_help(help),
        None => failure,
    })
}
