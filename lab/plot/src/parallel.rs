//! Parallel coordinates: a line for each design across the axes of its values.

use super::PlotError;
use super::axis::{Axis, Spread, with_room};
use super::canvas::{Canvas, FRONT, INK, MUTED, Pixel};
use super::frame::{Notes, Title};
use super::labels::Rect;
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

    /// The labelled values, their positions and their texts.
    fn ticks(&self) -> Vec<(f64, f64, String)> {
        match self {
            Self::Numbers(axis) => {
                let labels = axis.labels().into_iter();
                labels.map(|(tick, text)| (tick, axis.share(tick), text)).collect()
            }
            Self::Categories(names) => {
                let tick = |(i, name): (usize, &String)| (i as f64, self.share(i as f64, 0.5), name.clone());
                names.iter().enumerate().map(tick).collect()
            }
        }
    }
}

/// A text below an axis.
struct Tick {
    /// Where its value is, and the middle of the text, in pixels.
    at: f64,
    middle: f64,
    text: String,
    width: f64,
    /// The row of the text, from 0: neighbours that would overlap are in several rows.
    row: usize,
}

/// Where everything of a chart stands, in pixels.
struct Layout {
    title: Title,
    /// The lines of the legend.
    legend: Vec<String>,
    /// The first axis, from the top.
    head: f64,
    /// The ends of the axes.
    left: f64,
    right: f64,
    /// The lines of each axis's name, and its texts.
    names: Vec<Vec<String>>,
    ticks: Vec<Vec<Tick>>,
    /// The room that texts below an axis take, and the least distance of two axes.
    below: f64,
    step: f64,
}

/// The least distance of two axes, the distance of the rows of texts below one, and that of the lines of its
/// name, in points.
const STEP: f64 = 28.0;
const ROW: f64 = 13.0;
const NAME_LINE: f64 = 15.0;

impl Layout {
    fn new<DB: DrawingBackend>(
        canvas: &Canvas<'_, DB>,
        region: Rect,
        chart: &Parallel,
        scales: &[Scale<'_>],
    ) -> Result<Self, PlotError> {
        let p = |points: f64| canvas.pixels(points);
        let title = Title::new(canvas, &chart.title, region.width)?;
        let mut head = title.height() + p(21.0);
        let mut legend = Vec::new();
        if chart.lines.iter().any(|line| line.highlighted) {
            let order = chart.axes.iter().find(|axis| axis.categories.is_empty());
            let order = order.map_or(String::new(), |axis| format!(", in the order of {}", axis.label));
            let label = format!("{}{order}", chart.highlight_label);
            legend = canvas.lines(&label, &canvas.font(12.5), region.width - p(LEGEND))?;
            head += p(15.0 * (legend.len() - 1) as f64) + p(16.0);
        }
        // A column of names, then the axes, one below the other.
        let font = canvas.font(12.0);
        let widths = chart.axes.iter().map(|axis| Ok(canvas.size(&axis.label, &font)?.0));
        let widest = widths.collect::<Result<Vec<_>, PlotError>>()?.into_iter().fold(0.0, f64::max);
        let column = widest.min(region.width / 3.0);
        let (left, right) = (region.x + p(28.0) + column, region.x + region.width - p(20.0));
        let names = chart.axes.iter().map(|axis| canvas.lines(&axis.label, &font, column + p(1.0)));
        let names = names.collect::<Result<Vec<_>, PlotError>>()?;
        let ends = (left - p(12.0), region.x + region.width - p(3.0));
        let ticks = scales.iter().map(|scale| ticks(canvas, scale, (left, right), ends));
        let ticks = ticks.collect::<Result<Vec<_>, PlotError>>()?;
        let rows = ticks.iter().flatten().map(|tick| tick.row + 1).max().unwrap_or(1);
        let lines = names.iter().map(Vec::len).max().unwrap_or(1);
        let below = p(ROW * (rows - 1) as f64);
        let step = p(STEP).max(p(NAME_LINE * lines as f64 + 3.0)).max(p(STEP) + below);
        Ok(Self { title, legend, head: head + p(12.0), left, right, names, ticks, below, step })
    }
}

/// The room that a legend needs beside its text, in points.
const LEGEND: f64 = 67.0;

/// The texts below an axis between `left` and `right`, which stay between `ends`. Numbers that would overlap
/// are left out, names are in several rows.
fn ticks<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    scale: &Scale<'_>,
    (left, right): (f64, f64),
    ends: (f64, f64),
) -> Result<Vec<Tick>, PlotError> {
    let (font, gap) = (canvas.font(11.0), canvas.pixels(4.0));
    let mut ticks = Vec::new();
    let mut spread = Vec::new();
    for (value, share, text) in scale.ticks() {
        let text = canvas.shortened(&text, &font, ends.1 - ends.0)?;
        let (width, _) = canvas.size(&text, &font)?;
        let at = left + (right - left) * share;
        let middle = at.max(ends.0 + width / 2.0).min(ends.1 - width / 2.0);
        spread.push(Spread { value, middle, width });
        ticks.push(Tick { at, middle, text, width, row: 0 });
    }
    match scale {
        Scale::Numbers(_) => {
            let mut shown = with_room(&spread, gap).into_iter();
            ticks.retain(|_| shown.next() == Some(true));
        }
        Scale::Categories(_) => {
            let room = |rows: usize, i: usize| {
                let (a, b) = (&ticks[i], &ticks[i + rows]);
                b.middle - a.middle >= (a.width + b.width) / 2.0 + gap
            };
            let fits = |rows: &usize| (0..ticks.len() - rows).all(|i| room(*rows, i));
            let rows = (1..ticks.len()).find(fits).unwrap_or(ticks.len()).max(1);
            ticks.iter_mut().enumerate().for_each(|(i, tick)| tick.row = i % rows);
        }
    }
    Ok(ticks)
}

/// The positions on each axis.
fn scales(chart: &Parallel) -> Result<Vec<Scale<'_>>, PlotError> {
    if chart.lines.is_empty() || chart.axes.len() < 2 {
        return Err(PlotError::Empty);
    }
    let scale = |(i, axis): (usize, &'_ ParallelAxis)| {
        let values = chart.lines.iter().filter_map(move |line| line.values.get(i).copied());
        Axis::new(values).ok_or(PlotError::Empty).map(|numbers| (numbers, axis.categories.is_empty()))
    };
    let numbers: Vec<(Axis, bool)> = chart.axes.iter().enumerate().map(scale).collect::<Result<_, _>>()?;
    let scales = numbers.into_iter().zip(&chart.axes).map(|((axis, numeric), of)| match numeric {
        true => Scale::Numbers(axis),
        false => Scale::Categories(&of.categories),
    });
    Ok(scales.collect())
}

/// The height in points that a chart needs in a panel of this width in points.
pub(super) fn height<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Parallel,
    width: f64,
) -> Result<f64, PlotError> {
    let region = Rect { x: 0.0, y: 0.0, width: canvas.pixels(width), height: 0.0 };
    let layout = Layout::new(canvas, region, chart, &scales(chart)?)?;
    let steps = layout.step * (chart.axes.len() - 1) as f64;
    let notes = Notes::new(canvas, region, &chart.notes)?.top();
    let height = layout.head + steps + layout.below + canvas.pixels(24.0) - notes;
    Ok(height / canvas.pixels(1.0))
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
    let scales = scales(chart)?;
    let layout = Layout::new(canvas, region, chart, &scales)?;
    layout.title.draw(canvas, region)?;
    if !layout.legend.is_empty() {
        let y = region.y + layout.title.height() + p(21.0);
        let x = region.x + p(12.0);
        let (first, last) = (x, x + p(48.0));
        for part in 0..12 {
            let at = |part: i32| first + (last - first) * f64::from(part) / 12.0;
            canvas.line(&[(at(part), y), (at(part + 1), y)], shade(f64::from(part) / 11.0).to_rgba(), 3.0)?;
        }
        for (row, text) in layout.legend.iter().enumerate() {
            let at = (region.x + p(LEGEND), y + p(15.0 * row as f64));
            canvas.text(text, at, HPos::Left, canvas.font(12.5), INK)?;
        }
    }
    let Layout { left, right, .. } = layout;
    let notes = Notes::new(canvas, region, &chart.notes)?;
    let (top, bottom) = (region.y + layout.head, notes.top() - p(24.0) - layout.below);
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
    for (i, scale) in scales.iter().enumerate() {
        let (_, y) = pixel(i, 0.0);
        for (from, to) in scale.spans() {
            canvas.line(&[pixel(i, from), pixel(i, to)], INK.to_rgba(), 1.4)?;
        }
        for Tick { at, middle, text, width, row } in &layout.ticks[i] {
            let font = canvas.font(11.0);
            let (_, height) = canvas.size(text, &font)?;
            // Lines pass behind the text.
            let above = y + p(4.5) + p(ROW * *row as f64);
            let back = Rect { x: middle - width / 2.0 - p(2.0), y: above, width: width + p(4.0), height };
            canvas.fill(back, WHITE)?;
            canvas.line(&[(*at, y), (*at, y + p(4.0))], INK.to_rgba(), 1.0)?;
            canvas.text(text, (*middle, above + height / 2.0), HPos::Center, font, INK)?;
        }
        let rows = &layout.names[i];
        for (row, text) in rows.iter().enumerate() {
            let below = NAME_LINE * (row as f64 - (rows.len() - 1) as f64 / 2.0);
            canvas.text(text, (left - p(14.0), y + p(below)), HPos::Right, canvas.font(12.0), INK)?;
        }
    }
    notes.draw(canvas)
}
