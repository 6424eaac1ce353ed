//! Bars over categories, side by side or stacked.

use super::axis::Axis;
use super::canvas::Canvas;
use super::frame::{self, Swatch, Texts};
use super::labels::Rect;
use super::{MAX_SERIES, PlotError};
use plotters::prelude::*;

/// Bars: each category has one bar of each series.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bars {
    /// The title.
    pub title: String,
    /// Name and unit of the categories.
    pub x_label: String,
    /// Quantity and unit of the bars.
    pub y_label: String,
    /// The categories, from left to right; a label may have two lines.
    pub categories: Vec<String>,
    /// The series, at most [`MAX_SERIES`].
    pub series: Vec<Bar>,
    /// The arrangement of the bars in a category.
    pub stacking: Stacking,
}

/// A series of bars.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bar {
    /// The entry in the legend.
    pub label: String,
    /// The height in each category; `None` for no bar. On a logarithmic axis it must be positive.
    pub values: Vec<Option<f64>>,
    /// The note above the bar in each category; an empty list for none.
    pub notes: Vec<String>,
}

/// The arrangement of the bars in a category.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stacking {
    /// Side by side, on an axis that starts at 0.
    #[default]
    Beside,
    /// Side by side, on a logarithmic axis.
    BesideLogarithmic,
    /// Stacked; a note of the last series is above the stack.
    OnTop,
}

/// Share of a category that its bars occupy.
const GROUP: f64 = 0.82;

/// Draws bars in `region`.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    region: Rect,
    bars: &Bars,
) -> Result<(), PlotError> {
    let series = &bars.series[..bars.series.len().min(MAX_SERIES)];
    let value = |bar: &Bar, category: usize| bar.values.get(category).copied().flatten();
    let values = || series.iter().flat_map(|bar| bar.values.iter().flatten().copied());
    let sum = |category: usize| series.iter().filter_map(|bar| value(bar, category)).sum::<f64>();
    let axis = match bars.stacking {
        Stacking::Beside => values().max_by(f64::total_cmp).map(Axis::from_zero),
        Stacking::BesideLogarithmic => Axis::decades_around(values()),
        Stacking::OnTop => (0..bars.categories.len()).map(sum).max_by(f64::total_cmp).map(Axis::from_zero),
    };
    let axis = axis.ok_or(PlotError::Empty)?;
    let texts = Texts {
        title: &bars.title,
        x_label: &bars.x_label,
        tick_lines: bars.categories.iter().map(|label| label.lines().count()).max().unwrap_or(1),
        y_ticks: axis.labels().into_iter().map(|(_, text)| text).collect(),
        y_label: &bars.y_label,
        legend: "",
        series: if series.len() > 1 { series.iter().map(|bar| bar.label.as_str()).collect() } else { vec![] },
    };
    let plot = frame::around(canvas, region, &texts, Swatch::Bar)?;
    frame::vertical(canvas, plot, &axis)?;
    let width = plot.width / bars.categories.len() as f64;
    let centre = |category: usize| plot.x + (category as f64 + 0.5) * width;
    let labels = bars.categories.iter().enumerate().map(|(i, label)| (centre(i), label.clone()));
    frame::horizontal(canvas, plot, labels)?;

    let bottom = plot.y + plot.height;
    let on_top = bars.stacking == Stacking::OnTop;
    let beside = if on_top { 1 } else { series.len() };
    let bar_width = width * GROUP / beside as f64;
    let upright = !frame::notes_fit(canvas, series.iter().flat_map(|bar| &bar.notes), bar_width)?;
    for category in 0..bars.categories.len() {
        let mut below = 0.0;
        for (number, bar) in series.iter().enumerate() {
            let Some(value) = value(bar, category) else { continue };
            let slot = if on_top { 0 } else { number };
            let x = centre(category) - width * GROUP / 2.0 + slot as f64 * bar_width;
            let top = frame::height(plot, &axis, below + value);
            let foot = if on_top && below > 0.0 { frame::height(plot, &axis, below) } else { bottom };
            canvas.bar(Rect { x, y: top, width: bar_width, height: foot - top }, number)?;
            if on_top {
                below += value;
            }
            if let Some(note) = bar.notes.get(category) {
                frame::note(canvas, note, (x + bar_width / 2.0, top), upright)?;
            }
        }
    }
    Ok(())
}
