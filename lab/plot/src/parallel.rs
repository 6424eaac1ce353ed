//! Parallel coordinates: a line for each design across the axes of its values.

use super::PlotError;
use super::axis::Axis;
use super::canvas::{Canvas, FRONT, INK, MUTED, Pixel};
use super::frame::Notes;
use super::labels::Rect;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Designs as lines from axis to axis. The axes are horizontal, one below the other, so that their names are
/// readable however many there are.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Parallel {
    /// The title.
    pub title: String,
    /// The axes, from the top down; at least two.
    pub axes: Vec<ParallelAxis>,
    /// The designs.
    pub lines: Vec<ParallelLine>,
    /// The meaning of highlighted lines.
    pub highlight_label: String,
    /// Remarks below the chart.
    pub notes: Vec<String>,
}

/// One axis.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ParallelAxis {
    /// Quantity and unit.
    pub label: String,
    /// The names of the values 0, 1 and so on, evenly spaced; empty for numbers.
    pub categories: Vec<String>,
}

/// One design.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ParallelLine {
    /// Its value on each axis, finite.
    pub values: Vec<f64>,
    /// Whether it is drawn in front, in colour.
    pub highlighted: bool,
    /// Whether it is pale.
    pub pale: bool,
}

/// An axis with its positions.
enum Scale<'a> {
    Numbers(Axis),
    Categories(&'a [String]),
}

impl Scale<'_> {
    /// The position from 0, at the lower end, to 1.
    fn share(&self, value: f64) -> f64 {
        match self {
            Self::Numbers(axis) => axis.share(value),
            Self::Categories(names) => (value + 0.5) / names.len().max(1) as f64,
        }
    }

    /// The labelled positions.
    fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Self::Numbers(axis) => {
                axis.ticks().into_iter().map(|tick| (axis.share(tick), axis.format_ext(&tick))).collect()
            }
            Self::Categories(names) => {
                let tick = |(i, name): (usize, &String)| (self.share(i as f64), name.clone());
                names.iter().enumerate().map(tick).collect()
            }
        }
    }
}

/// Draws parallel coordinates in `region`.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    region: Rect,
    chart: &Parallel,
) -> Result<(), PlotError> {
    let p = |points: f64| canvas.pixels(points);
    if chart.lines.is_empty() || chart.axes.len() < 2 {
        return Err(PlotError::Empty);
    }
    let scale = |(i, axis): (usize, &'_ ParallelAxis)| {
        let values = chart.lines.iter().filter_map(move |line| line.values.get(i).copied());
        Axis::new(values).ok_or(PlotError::Empty).map(|numbers| (numbers, axis.categories.is_empty()))
    };
    let numbers: Vec<(Axis, bool)> = chart.axes.iter().enumerate().map(scale).collect::<Result<_, _>>()?;
    let scales: Vec<Scale<'_>> = numbers
        .into_iter()
        .zip(&chart.axes)
        .map(
            |((axis, numeric), of)| {
                if numeric { Scale::Numbers(axis) } else { Scale::Categories(&of.categories) }
            },
        )
        .collect();

    canvas.text(
        &chart.title,
        (region.x + p(12.0), region.y + p(21.0)),
        HPos::Left,
        canvas.bold(15.0),
        INK,
    )?;
    let mut top = region.y + p(44.0);
    if chart.lines.iter().any(|line| line.highlighted) {
        let x = region.x + p(12.0);
        canvas.line(&[(x, top), (x + p(20.0), top)], FRONT.to_rgba(), 2.0)?;
        canvas.text(&chart.highlight_label, (x + p(27.0), top), HPos::Left, canvas.font(12.5), INK)?;
        top += p(16.0);
    }
    // A column of labels, then the axes, one below the other.
    let label_font = canvas.font(12.0);
    let widths = chart.axes.iter().map(|axis| Ok(canvas.size(&axis.label, &label_font)?.0));
    let widest = widths.collect::<Result<Vec<_>, PlotError>>()?.into_iter().fold(0.0, f64::max);
    let column = widest.min(region.width / 3.0);
    let (left, right) = (region.x + p(28.0) + column, region.x + region.width - p(20.0));
    let notes = Notes::new(canvas, region, &chart.notes)?;
    let (top, bottom) = (top + p(12.0), notes.top() - p(24.0));
    let step = (bottom - top) / (chart.axes.len() - 1) as f64;
    let pixel =
        |axis: usize, share: f64| -> Pixel { (left + (right - left) * share, top + step * axis as f64) };
    let path = |line: &ParallelLine| -> Vec<Pixel> {
        line.values.iter().zip(&scales).enumerate().map(|(i, (&v, scale))| pixel(i, scale.share(v))).collect()
    };
    let few = (300.0 / chart.lines.len() as f64).clamp(0.06, 0.5);
    let behind = |pale: bool| chart.lines.iter().filter(move |line| !line.highlighted && line.pale == pale);
    for line in behind(true) {
        canvas.line(&path(line), MUTED.mix((few / 3.0).max(0.04)), 1.0)?;
    }
    for line in behind(false) {
        canvas.line(&path(line), MUTED.mix(few), 1.0)?;
    }
    for line in chart.lines.iter().filter(|line| line.highlighted) {
        canvas.line(&path(line), FRONT.mix(0.75), 1.6)?;
    }
    for (i, (scale, axis)) in scales.iter().zip(&chart.axes).enumerate() {
        let (_, y) = pixel(i, 0.0);
        canvas.line(&[pixel(i, 0.0), pixel(i, 1.0)], INK.to_rgba(), 1.4)?;
        for (share, text) in scale.ticks() {
            let (x, _) = pixel(i, share);
            let font = canvas.font(11.0);
            let (width, height) = canvas.size(&text, &font)?;
            // Lines pass behind the text.
            let back = Rect { x: x - width / 2.0 - p(2.0), y: y + p(4.5), width: width + p(4.0), height };
            canvas.fill(back, WHITE)?;
            canvas.line(&[(x, y), (x, y + p(4.0))], INK.to_rgba(), 1.0)?;
            canvas.text(&text, (x, y + p(4.5) + height / 2.0), HPos::Center, font, INK)?;
        }
        let rows = canvas.lines(&axis.label, &label_font, column + p(1.0))?;
        for (row, text) in rows.iter().enumerate() {
            let below = 15.0 * (row as f64 - (rows.len() - 1) as f64 / 2.0);
            canvas.text(text, (left - p(14.0), y + p(below)), HPos::Right, label_font.clone(), INK)?;
        }
    }
    notes.draw(canvas)
}
