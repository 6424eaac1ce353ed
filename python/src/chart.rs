//! Charts.

use crate::error::{raise, wrong};
use crate::interrupt;
use ::plot::{FONT_SIZES, FigureFile, Format, Legend, Panel, width_pt};
use diagnostic::Diagnostic;
use lab_sweep::compose::{ComposeError, Form, Fronts, Request};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// A chart of results in folders or tables, as the content of a file.
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
    format: &str,
    width: Option<&str>,
    font_size: Option<f64>,
    title: bool,
    legend: Option<&str>,
) -> PyResult<Vec<u8>> {
    let Some(form) = Form::ALL.into_iter().find(|known| known.row().0 == form) else {
        let known = Form::ALL.map(|form| form.row().0).join("`, `");
        let help = format!("the forms are `{known}`");
        return Err(raise(Diagnostic::new(format!("unknown form `{form}` of a chart")).with_help(help)));
    };
    let given = [
        ("x", "x", x.is_some()),
        ("front", "front", front == Some(true)),
        ("colour", "colour", colour.is_some()),
        ("label", "label", label.is_some()),
        ("mark", "marks", !marks.is_empty()),
        ("limit", "limits", !limits.is_empty()),
        ("legend", "legend", legend.is_some()),
    ];
    let (name, _, without) = form.row();
    if let Some((_, option, _)) =
        given.into_iter().find(|(part, _, is_given)| *is_given && without.contains(part))
    {
        let message = format!("`{option}` has no effect on the form `{name}`");
        return Err(raise(Diagnostic::new(message).with_help("leave it out, or choose another form")));
    }
    let Some(format) = Format::of(format) else {
        return Err(argument("format", Some(format), "expected `svg`, `png` or `pdf`"));
    };
    let width_pt = width.map(width_pt).transpose().map_err(|expected| argument("width", width, &expected))?;
    let font_pt = font_size.unwrap_or(8.0);
    if !FONT_SIZES.contains(&font_pt) {
        return Err(argument("font_size", font_size, "expected a number from 3 to 72"));
    }
    if font_size.is_some() && width.is_none() {
        return Err(PyValueError::new_err(
            "`font_size` has no effect without `width`: give both, or neither",
        ));
    }
    let place = |name| Legend::ALL.into_iter().find(|place| place.name() == name);
    let Some(legend) = legend.map_or_else(|| Some(Legend::default()), place) else {
        return Err(argument("legend", legend, "expected `outside`, `inside` or `none`"));
    };
    let file = FigureFile { format, width_pt, font_pt, legend };
    let fronts = match front {
        None => Fronts::IfBetter,
        Some(true) => Fronts::Always,
        Some(false) => Fronts::Never,
    };
    let request = Request { prefix: "", form, x, y, colour, label, facet, conditions, fronts, marks, limits };
    interrupt::wait(py, move || {
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        let figure = request.figure(&folders).map_err(failure)?;
        let figure = if title { figure } else { figure.without_titles() };
        Ok(file.draw(&figure).map_err(wrong)?.content)
    })?
}

/// The keys of the points on the front of each task in two columns, as a chart of these has them: one front
/// after the other, each in ascending order of the first column.
#[pyfunction]
pub(crate) fn front(
    py: Python<'_>,
    folder: PathBuf,
    x: Option<String>,
    y: Option<String>,
    conditions: Option<String>,
) -> PyResult<Vec<String>> {
    let (label, fronts) = (Some("key".to_owned()), Fronts::Always);
    let request = Request { x, y, conditions, label, fronts, ..Request::default() };
    interrupt::wait(py, move || {
        let figure = request.figure(&[&folder]).map_err(failure)?;
        let charts = figure.panels.into_iter().filter_map(|panel| match panel {
            Panel::Scatter(chart) => Some(chart),
            Panel::Bars(_) | Panel::Lines(_) | Panel::Heat(_) | Panel::Parallel(_) | Panel::Tornado(_) => {
                None
            }
        });
        let points = charts.flat_map(|chart| chart.series).flat_map(|series| series.points);
        let mut found: Vec<(usize, f64, String)> =
            points.filter_map(|point| Some((point.front?, point.x, point.name))).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        Ok(found.into_iter().map(|(_, _, key)| key).collect())
    })?
}

fn argument(name: &str, value: Option<impl std::fmt::Display>, expected: &str) -> PyErr {
    let value = value.map_or_else(String::new, |value| value.to_string());
    PyValueError::new_err(format!("invalid value `{value}` of `{name}`: {expected}"))
}

fn failure(error: ComposeError) -> PyErr {
    match error {
        ComposeError::Condition(error) => raise(error),
        ComposeError::Unknown { message, help } => raise(Diagnostic::new(message).with_help(help)),
        ComposeError::Journal(_)
        | ComposeError::Table { .. }
        | ComposeError::Plot(_)
        | ComposeError::Empty(_)
        | ComposeError::NotNumbers(_)
        | ComposeError::NoRatio { .. }
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
