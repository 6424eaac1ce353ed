//! Charts.

use crate::error::{raise, wrong};
use crate::interrupt;
use diagnostic::Diagnostic;
use lab_sweep::compose::{ComposeError, Form, Fronts, Request};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// A chart of results in folders or tables, as the content of an SVG or PNG file.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn plot(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    form: &str,
    x: Option<String>,
    y: Option<String>,
    colour: Option<String>,
    label: Option<String>,
    facet: Option<String>,
    conditions: Option<String>,
    front: Option<bool>,
    marks: Vec<String>,
    limits: Vec<String>,
    png: bool,
) -> PyResult<Vec<u8>> {
    let Some(form) = Form::ALL.into_iter().find(|known| known.row().0 == form) else {
        let known = Form::ALL.map(|form| form.row().0).join("`, `");
        let help = format!("the forms are `{known}`");
        return Err(raise(Diagnostic::new(format!("unknown form `{form}` of a chart")).with_help(help)));
    };
    let fronts = match front {
        None => Fronts::IfBetter,
        Some(true) => Fronts::Always,
        Some(false) => Fronts::Never,
    };
    let request = Request { prefix: "", form, x, y, colour, label, facet, conditions, fronts, marks, limits };
    interrupt::wait(py, move || {
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        let figure = request.figure(&folders).map_err(failure)?;
        let content = if png { figure.png() } else { figure.svg().map(String::into_bytes) };
        content.map_err(wrong)
    })?
}

fn failure(error: ComposeError) -> PyErr {
    match error {
        ComposeError::Condition(error) => raise(error),
        ComposeError::Unknown { message, help } => raise(Diagnostic::new(message).with_help(help)),
        ComposeError::Journal(_)
        | ComposeError::Table { .. }
        | ComposeError::Plot(_)
        | ComposeError::NotNumbers(_)
        | ComposeError::NoFront(_)
        | ComposeError::NoAxis(_)
        | ComposeError::NoMark(_)
        | ComposeError::NoEffect
        | ComposeError::Facets { .. }
        | ComposeError::Colours { .. }
        | ComposeError::TooMany { .. }
        | ComposeError::Nothing
        | ComposeError::NoResults => wrong(error),
    }
}
