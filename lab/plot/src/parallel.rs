//! Parallel coordinates: a line for each design across the axes of its values.

use super::PlotError;
use super::axis::Axis;
use super::canvas::{Canvas, FRONT, INK, MUTED, Pixel};
use super::frame::{Notes, Title};
use super::labels::Rect;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Designs as lines from axis to axis. The axes are horizontal, one below the other, so that their names are
/// readable however many there are.
///
/// Lines through one category fan out over its band in the order of the first axis of numbers, and
/// highlighted lines are coloured by the same order: a reader sees how many designs share a value, and which.
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

/// The part of a category's width that lines use.
const BAND: f64 = 0.7;

impl Scale<'_> {
    /// The position from 0, at the lower end, to 1, of a value of the design with a rank from 0 to 1.
    fn share(&self, value: f64, rank: f64) -> f64 {
        match self {
            Self::Numbers(axis) => axis.share(value),
            Self::Categories(names) => (value + 0.5 + BAND * (rank - 0.5)) / names.len().max(1) as f64,
        }
    }

    /// The parts of the axis that lines may cross: all of it, or the band of each category.
    fn spans(&self) -> Vec<(f64, f64)> {
        match self {
            Self::Numbers(_) => vec![(0.0, 1.0)],
            Self::Categories(names) => {
                (0..names.len()).map(|i| (self.share(i as f64, 0.0), self.share(i as f64, 1.0))).collect()
            }
        }
    }

    /// The labelled positions.
    fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Self::Numbers(axis) => {
                axis.ticks().into_iter().map(|tick| (axis.share(tick), axis.format_ext(&tick))).collect()
            }
            Self::Categories(names) => {
                let tick = |(i, name): (usize, &String)| (self.share(i as f64, 0.5), name.clone());
                names.iter().enumerate().map(tick).collect()
            }
        }
    }
}

/// The ranks of designs, from 0 to 1 in the order of the first axis of numbers, or as they come.
fn ranks(chart: &Parallel, lines: impl Iterator<Item = usize>) -> Vec<(usize, f64)> {
    let by = chart.axes.iter().position(|axis| axis.categories.is_empty());
    let key = |line: usize| by.and_then(|axis| chart.lines[line].values.get(axis).copied()).unwrap_or(0.0);
    let mut order: Vec<usize> = lines.collect();
    order.sort_by(|&a, &b| key(a).total_cmp(&key(b)));
    let last = order.len().saturating_sub(1).max(1) as f64;
    order.into_iter().enumerate().map(|(at, line)| (line, at as f64 / last)).collect()
}

/// The colour of a highlighted line with a rank.
fn shade(rank: f64) -> RGBColor {
    let end = RGBColor(244, 176, 40);
    let mix = |a: u8, b: u8| (f64::from(a) + rank * (f64::from(b) - f64::from(a))).round() as u8;
    RGBColor(mix(FRONT.0, end.0), mix(FRONT.1, end.1), mix(FRONT.2, end.2))
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

    let title = Title::new(canvas, &chart.title, region.width)?;
    title.draw(canvas, region)?;
    let mut top = region.y + title.height() + p(21.0);
    if chart.lines.iter().any(|line| line.highlighted) {
        let x = region.x + p(12.0);
        let (first, last) = (x, x + p(48.0));
        for part in 0..12 {
            let at = |part: i32| first + (last - first) * f64::from(part) / 12.0;
            canvas.line(
                &[(at(part), top), (at(part + 1), top)],
                shade(f64::from(part) / 11.0).to_rgba(),
                3.0,
            )?;
        }
        let order = chart.axes.iter().find(|axis| axis.categories.is_empty());
        let order = order.map_or(String::new(), |axis| format!(", in the order of {}", axis.label));
        let label = format!("{}{order}", chart.highlight_label);
        let (font, start) = (canvas.font(12.5), last + p(7.0));
        for (row, text) in canvas.lines(&label, &font, region.x + region.width - start)?.iter().enumerate() {
            top += if row > 0 { p(15.0) } else { 0.0 };
            canvas.text(text, (start, top), HPos::Left, font.clone(), INK)?;
        }
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
    let path = |line: usize, rank: f64| -> Vec<Pixel> {
        let values = chart.lines[line].values.iter().zip(&scales).enumerate();
        values.map(|(i, (&value, scale))| pixel(i, scale.share(value, rank))).collect()
    };
    let ranked = ranks(chart, 0..chart.lines.len());
    // Many lines are a shade, before which those in colour stand out.
    let few = (24.0 / chart.lines.len() as f64).clamp(0.05, 0.5);
    for pale in [true, false] {
        let strength = if pale { (few / 3.0).max(0.04) } else { few };
        for &(line, rank) in &ranked {
            if !chart.lines[line].highlighted && chart.lines[line].pale == pale {
                canvas.line(&path(line, rank), MUTED.mix(strength), 1.0)?;
            }
        }
    }
    // Highlighted lines use the whole band: they are ranked among themselves.
    for (line, rank) in ranks(chart, (0..chart.lines.len()).filter(|&line| chart.lines[line].highlighted)) {
        canvas.line(&path(line, rank), shade(rank).mix(0.9), 1.6)?;
    }
    for (i, (scale, axis)) in scales.iter().zip(&chart.axes).enumerate() {
        let (_, y) = pixel(i, 0.0);
        for (from, to) in scale.spans() {
            canvas.line(&[pixel(i, from), pixel(i, to)], INK.to_rgba(), 1.4)?;
        }
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
