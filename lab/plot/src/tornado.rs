//! Tornado charts: the range of a quantity for each of several keys, the widest on top.

use super::PlotError;
use super::axis::{Spread, ratios, with_room};
use super::canvas::{Canvas, GRID, INK};
use super::frame::{Notes, Title};
use super::labels::Rect;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// Bars around a common value.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tornado {
    /// The title.
    pub title: String,
    /// The quantity whose ratio to the common value the bars show.
    pub x_label: String,
    /// The bars; they are drawn in the order of their widths.
    pub bars: Vec<TornadoBar>,
    /// Remarks below the chart.
    pub notes: Vec<String>,
}

/// The range of one key.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TornadoBar {
    /// The key.
    pub label: String,
    /// The smallest ratio to the common value, above 0, and the key's value there.
    pub low: (f64, String),
    /// The largest one.
    pub high: (f64, String),
}

/// Where everything of a chart stands, in pixels.
struct Layout<'c> {
    /// The bars, the widest first, with the lines of their names and the texts at their ends.
    bars: Vec<(&'c TornadoBar, Vec<String>, [String; 2])>,
    /// The largest logarithm of a ratio.
    reach: f64,
    title: Title,
    /// The upper end of the plot, from the top, and its left end.
    head: f64,
    left: f64,
    /// The width of the plot, and the least height of a bar with the room around it.
    width: f64,
    row: f64,
}

/// The distance of the lines of a bar's name, the least height of a bar with the room around it, and the room
/// between plot and notes, in points.
const LINE: f64 = 15.0;
const LEAST_ROW: f64 = 20.0;
const FOOT: f64 = 52.0;

/// The largest width of a text at a bar, as a share of the chart's.
const ENDS: f64 = 0.21;
/// The width of a plot beside which texts have a column, in points.
const LEAST_PLOT: f64 = 120.0;

/// The size of the texts at bars, in points.
const TEXT: f64 = 12.0;

impl<'c> Layout<'c> {
    fn new<DB: DrawingBackend>(
        canvas: &Canvas<'_, DB>,
        region: Rect,
        chart: &'c Tornado,
    ) -> Result<Self, PlotError> {
        let p = |points: f64| canvas.pixels(points);
        let mut bars: Vec<&TornadoBar> = chart.bars.iter().collect();
        bars.retain(|bar| bar.low.0 > 0.0 && bar.high.0.is_finite());
        let width = |bar: &TornadoBar| bar.high.0.ln() - bar.low.0.ln();
        bars.sort_by(|a, b| width(b).total_cmp(&width(a)));
        let reach = bars.iter().map(|bar| bar.high.0.ln().max(-bar.low.0.ln()));
        let reach = reach.max_by(f64::total_cmp).ok_or(PlotError::Empty)?.max(1e-3);

        // Names have a third of the width at most, and the texts on each side of the bars a fifth.
        let font = canvas.font(TEXT);
        let width = |text: &str| canvas.size(text, &font).map(|(width, _)| width);
        let (mut names, mut ends) = (0.0f64, 0.0f64);
        for bar in &bars {
            names = names.max(width(&bar.label)?);
            ends = ends.max(width(&bar.low.1)?).max(width(&bar.high.1)?);
        }
        let (names, ends) = (names.min(region.width / 3.0), ends.min(ENDS * region.width));
        let texts = |bar: &'c TornadoBar| {
            let [low, high] = [&bar.low.1, &bar.high.1].map(|text| canvas.shortened(text, &font, ends));
            Ok((bar, canvas.lines(&bar.label, &font, names)?, [low?, high?]))
        };
        let bars = bars.into_iter().map(texts).collect::<Result<Vec<_>, PlotError>>()?;
        let lines = bars.iter().map(|(_, lines, _)| lines.len()).max().unwrap_or(1);
        // Beside short bars there is room for their texts, which in a narrow chart is needed for long bars.
        let left = region.x + p(24.0) + names;
        let room = region.width - p(44.0) - names;
        let mut width = room - 2.0 * ends;
        if width < p(LEAST_PLOT) {
            width = room;
            for (bar, _, [low, high]) in &bars {
                for (ratio, text) in [(bar.low.0, low), (bar.high.0, high)] {
                    let (text, _) = canvas.size(text, &font)?;
                    width = width.min((room - 2.0 * text).max(0.0) / (ratio.ln().abs() / reach).max(1e-9));
                }
            }
        }
        let title = Title::new(canvas, &chart.title, region.width)?;
        Ok(Self {
            bars,
            reach,
            head: title.height() + p(17.0),
            title,
            left: left + (room - width) / 2.0,
            width,
            row: p(LEAST_ROW.max(LINE * lines as f64 + 3.0)),
        })
    }
}

/// The height in points that a chart needs in a panel of this width in points.
pub(super) fn height<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Tornado,
    width: f64,
) -> Result<f64, PlotError> {
    let region = Rect { x: 0.0, y: 0.0, width: canvas.pixels(width), height: 0.0 };
    let layout = Layout::new(canvas, region, chart)?;
    let notes = Notes::new(canvas, region, &chart.notes)?.top();
    let height = layout.head + layout.row * layout.bars.len() as f64 + canvas.pixels(FOOT) - notes;
    Ok(height / canvas.pixels(1.0))
}

/// Draws a tornado chart in `region`.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    region: Rect,
    chart: &Tornado,
) -> Result<(), PlotError> {
    let p = |points: f64| canvas.pixels(points);
    let layout = Layout::new(canvas, region, chart)?;
    layout.title.draw(canvas, region)?;
    let notes = Notes::new(canvas, region, &chart.notes)?;
    let plot = Rect {
        x: layout.left,
        y: region.y + layout.head,
        width: layout.width,
        height: notes.top() - region.y - layout.head - p(FOOT),
    };
    let across = |ratio: f64| plot.x + plot.width * (0.5 + 0.5 * ratio.ln() / layout.reach);
    let bottom = plot.y + plot.height;
    let (ticks, tick_font) = (ratios(layout.reach), canvas.font(11.5));
    let mut spread = Vec::new();
    for (ratio, text) in &ticks {
        let (width, _) = canvas.size(text, &tick_font)?;
        spread.push(Spread { value: *ratio, middle: across(*ratio), width });
    }
    let shown = with_room(&spread, p(4.0));
    for ((ratio, text), _) in ticks.iter().zip(shown).filter(|(_, shown)| *shown) {
        let x = across(*ratio);
        canvas.line(&[(x, plot.y), (x, bottom)], GRID.to_rgba(), 1.0)?;
        canvas.text(text, (x, bottom + p(14.0)), HPos::Center, tick_font.clone(), INK)?;
    }
    let row = plot.height / layout.bars.len() as f64;
    for (i, (bar, name, [low, high])) in layout.bars.iter().enumerate() {
        let font = canvas.font(TEXT);
        let middle = plot.y + row * (i as f64 + 0.5);
        let height = (row * 0.62).min(p(26.0));
        let (x0, centre, x1) = (across(bar.low.0), across(1.0), across(bar.high.0));
        let part = |x: f64, end: f64| Rect { x, y: middle - height / 2.0, width: end - x, height };
        canvas.bar(part(x0, centre), 2)?;
        canvas.bar(part(centre, x1), 1)?;
        canvas.text(low, (x0 - p(6.0), middle), HPos::Right, font.clone(), INK)?;
        canvas.text(high, (x1 + p(6.0), middle), HPos::Left, font.clone(), INK)?;
        for (row, text) in name.iter().enumerate() {
            let below = LINE * (row as f64 - (name.len() - 1) as f64 / 2.0);
            canvas.text(text, (region.x + p(12.0), middle + p(below)), HPos::Left, font.clone(), INK)?;
        }
    }
    canvas.line(&[(across(1.0), plot.y), (across(1.0), bottom)], INK.to_rgba(), 1.4)?;
    let (font, label) = canvas.fitted(&chart.x_label, canvas.font(13.0), region.width - p(24.0))?;
    let half = canvas.size(&label, &font)?.0 / 2.0;
    let middle = (plot.x + plot.width / 2.0).min(region.x + region.width - p(12.0) - half);
    canvas.text(&label, (middle, bottom + p(36.0)), HPos::Center, font, INK)?;
    notes.draw(canvas)
}
