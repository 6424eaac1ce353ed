//! Tornado charts: the range of a quantity for each of several keys, the widest on top.

use super::PlotError;
use super::axis::ratios;
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

/// Draws a tornado chart in `region`.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    region: Rect,
    chart: &Tornado,
) -> Result<(), PlotError> {
    let p = |points: f64| canvas.pixels(points);
    let position = |ratio: f64| ratio.ln();
    let mut bars: Vec<&TornadoBar> = chart.bars.iter().collect();
    bars.retain(|bar| bar.low.0 > 0.0 && bar.high.0.is_finite());
    let width = |bar: &TornadoBar| position(bar.high.0) - position(bar.low.0);
    bars.sort_by(|a, b| width(b).total_cmp(&width(a)));
    let reach = bars.iter().map(|bar| position(bar.high.0).max(-position(bar.low.0)));
    let reach = reach.max_by(f64::total_cmp).ok_or(PlotError::Empty)?.max(1e-3);

    let font = canvas.font(12.0);
    let width = |text: &String| canvas.size(text, &font).map(|(width, _)| width);
    let (mut labels, mut ends) = (0.0f64, 0.0f64);
    for bar in &bars {
        labels = labels.max(width(&bar.label)?);
        ends = ends.max(width(&bar.low.1)?).max(width(&bar.high.1)?);
    }
    let title = Title::new(canvas, &chart.title, region.width)?;
    title.draw(canvas, region)?;
    let head = title.height() + p(17.0);
    let notes = Notes::new(canvas, region, &chart.notes)?;
    let plot = Rect {
        x: region.x + p(24.0) + labels + ends,
        y: region.y + head,
        width: region.width - p(44.0) - labels - 2.0 * ends,
        height: notes.top() - region.y - head - p(52.0),
    };
    let across = |ratio: f64| plot.x + plot.width * (0.5 + 0.5 * position(ratio) / reach);
    let bottom = plot.y + plot.height;
    for (ratio, text) in ratios(reach) {
        let x = across(ratio);
        canvas.line(&[(x, plot.y), (x, bottom)], GRID.to_rgba(), 1.0)?;
        canvas.text(&text, (x, bottom + p(14.0)), HPos::Center, canvas.font(11.5), INK)?;
    }
    let row = plot.height / bars.len() as f64;
    for (i, bar) in bars.iter().enumerate() {
        let middle = plot.y + row * (i as f64 + 0.5);
        let height = (row * 0.62).min(p(26.0));
        let (x0, centre, x1) = (across(bar.low.0), across(1.0), across(bar.high.0));
        let part = |x: f64, end: f64| Rect { x, y: middle - height / 2.0, width: end - x, height };
        canvas.bar(part(x0, centre), 2)?;
        canvas.bar(part(centre, x1), 1)?;
        canvas.text(&bar.low.1, (x0 - p(6.0), middle), HPos::Right, font.clone(), INK)?;
        canvas.text(&bar.high.1, (x1 + p(6.0), middle), HPos::Left, font.clone(), INK)?;
        canvas.text(&bar.label, (region.x + p(12.0), middle), HPos::Left, font.clone(), INK)?;
    }
    canvas.line(&[(across(1.0), plot.y), (across(1.0), bottom)], INK.to_rgba(), 1.4)?;
    let middle = (plot.x + plot.width / 2.0, bottom + p(36.0));
    canvas.text(&chart.x_label, middle, HPos::Center, canvas.font(13.0), INK)?;
    notes.draw(canvas)
}
