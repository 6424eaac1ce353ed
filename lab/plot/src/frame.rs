//! The common frame of bars, lines and maps: a title, a legend in rows, and axes around a plot.

use super::PlotError;
use super::axis::Axis;
use super::canvas::{Canvas, GRID, INK, MARKERS, MUTED, Pixel};
use super::labels::Rect;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// The symbol of a series in the legend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Swatch {
    /// A piece of a bar.
    Bar,
    /// A marker on its line.
    Marker,
}

/// Texts around a plot.
pub(super) struct Texts<'a> {
    /// The title.
    pub(super) title: &'a str,
    /// The label below the horizontal axis.
    pub(super) x_label: &'a str,
    /// Lines of tick labels between the axis and its label, at least 1.
    pub(super) tick_lines: usize,
    /// The texts at the vertical axis.
    pub(super) y_ticks: Vec<String>,
    /// The label of the vertical axis.
    pub(super) y_label: &'a str,
    /// The heading of the legend; empty without.
    pub(super) legend: &'a str,
    /// The legend's entries, one per series; none if a single series needs no name.
    pub(super) series: Vec<&'a str>,
}

/// The title of a panel: smaller if it is longer than the panel, and in lines if it is much longer.
pub(super) struct Title {
    lines: Vec<String>,
    /// The size of its letters, in points.
    size: f64,
    /// The height that it takes, and that of all lines but the first, in pixels.
    height: f64,
    further: f64,
}

/// The size of a title, and that of one with several lines, in points.
const TITLE: f64 = 15.0;
const LEAST_TITLE: f64 = 10.0;
/// The distance between the lines of a title, in points.
const TITLE_LINE: f64 = 14.0;

impl Title {
    /// The title of a panel of this width in pixels.
    pub(super) fn new<DB: DrawingBackend>(
        canvas: &Canvas<'_, DB>,
        title: &str,
        width: f64,
    ) -> Result<Self, PlotError> {
        let (lines, size) = title_lines(canvas, title, TITLE, width - canvas.pixels(2.0 * MARGIN))?;
        let further = further(canvas, &lines);
        let height = if lines.is_empty() { 0.0 } else { canvas.pixels(23.0) + further };
        Ok(Self { lines, size, height, further })
    }

    /// The height that it takes, in pixels.
    pub(super) fn height(&self) -> f64 {
        self.height
    }

    /// The height of all lines but the first.
    pub(super) fn further(&self) -> f64 {
        self.further
    }

    /// Draws it at the top of its panel.
    pub(super) fn draw<DB: DrawingBackend>(
        &self,
        canvas: &Canvas<'_, DB>,
        region: Rect,
    ) -> Result<(), PlotError> {
        for (row, line) in self.lines.iter().enumerate() {
            let y = region.y + canvas.pixels(MARGIN + 9.0) + canvas.pixels(TITLE_LINE * row as f64);
            let at = (region.x + canvas.pixels(MARGIN), y);
            canvas.text(line, at, HPos::Left, canvas.bold(self.size), INK)?;
        }
        Ok(())
    }
}

/// The lines of a bold title that has `width` pixels, none if it is empty, and the size of its letters, at
/// most `size`.
pub(super) fn title_lines<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    title: &str,
    size: f64,
    width: f64,
) -> Result<(Vec<String>, f64), PlotError> {
    if title.is_empty() {
        return Ok((Vec::new(), size));
    }
    let size = canvas.fitting(title, size, LEAST_TITLE, width)?;
    let is_one = size > LEAST_TITLE;
    let lines =
        if is_one { vec![title.to_owned()] } else { canvas.lines(title, &canvas.bold(size), width)? };
    Ok((lines, size))
}

/// The height of all lines of a title but the first, in pixels.
pub(super) fn further<DB: DrawingBackend>(canvas: &Canvas<'_, DB>, lines: &[String]) -> f64 {
    canvas.pixels(TITLE_LINE * lines.len().saturating_sub(1) as f64)
}

/// Size of labels, in points.
const LABEL: f64 = 12.5;
/// Distance between the lines of labels below an axis, in points.
const TICK: f64 = 14.0;
/// Free space around a panel, in points.
const MARGIN: f64 = 12.0;

/// Draws the texts around a plot in `region` and returns the remaining area.
pub(super) fn around<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    region: Rect,
    texts: &Texts<'_>,
    swatch: Swatch,
) -> Result<Rect, PlotError> {
    let p = |points: f64| canvas.pixels(points);
    let left = region.x + p(MARGIN);
    let right = region.x + region.width - p(MARGIN);
    let title = Title::new(canvas, texts.title, region.width)?;
    title.draw(canvas, region)?;
    let mut top = region.y + p(MARGIN) + p(9.0) + (title.height() - p(9.0)).max(0.0);
    if !texts.series.is_empty() {
        top = legend(canvas, (left, top + p(8.0)), right, texts, swatch)?;
    }
    let mut ticks: f64 = p(66.0);
    for text in &texts.y_ticks {
        let (width, _) = canvas.size(text, &canvas.font(LABEL))?;
        ticks = ticks.max(width + p(24.0));
    }
    let plot = Rect {
        x: left + ticks,
        y: top + p(8.0),
        width: right - left - ticks - p(4.0),
        height: region.y + region.height
            - p(MARGIN + 34.0)
            - p(TICK * texts.tick_lines as f64)
            - top
            - p(8.0),
    };
    let middle = (plot.x + plot.width / 2.0, region.y + region.height - p(MARGIN + 8.0));
    canvas.text(texts.x_label, middle, HPos::Center, canvas.font(14.0), INK)?;
    canvas.text_up(texts.y_label, (left + p(8.0), plot.y + plot.height / 2.0), canvas.font(14.0), INK)?;
    Ok(plot)
}

/// Draws the entries of a legend in as many rows as necessary; returns the end of the last row.
fn legend<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    at: Pixel,
    right: f64,
    texts: &Texts<'_>,
    swatch: Swatch,
) -> Result<f64, PlotError> {
    let p = |points: f64| canvas.pixels(points);
    let (mut x, mut y) = at;
    if !texts.legend.is_empty() {
        let font = canvas.bold(LABEL);
        let (width, _) = canvas.size(texts.legend, &font)?;
        canvas.text(texts.legend, (x, y), HPos::Left, font, INK)?;
        x += width + p(12.0);
    }
    let start = x;
    for (series, label) in texts.series.iter().enumerate() {
        let font = canvas.font(LABEL);
        let (width, _) = canvas.size(label, &font)?;
        if x + p(24.0) + width > right && x > start {
            (x, y) = (start, y + p(19.0));
        }
        match swatch {
            Swatch::Bar => {
                canvas.bar(Rect { x, y: y - p(6.0), width: p(18.0), height: p(12.0) }, series)?;
            }
            Swatch::Marker => {
                let (color, shape) = MARKERS[series];
                canvas.line(&[(x, y), (x + p(18.0), y)], color.mix(0.7), 1.6)?;
                canvas.marker(shape, (x + p(9.0), y), 4.4, color.to_rgba(), INK.to_rgba())?;
            }
        }
        canvas.text(label, (x + p(23.0), y), HPos::Left, font, INK)?;
        x += p(23.0) + width + p(16.0);
    }
    Ok(y + p(10.0))
}

/// Draws the vertical axis with its grid.
pub(super) fn vertical<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    plot: Rect,
    axis: &Axis,
) -> Result<(), PlotError> {
    for (tick, text) in axis.labels() {
        let y = height(plot, axis, tick);
        canvas.line(&[(plot.x, y), (plot.x + plot.width, y)], GRID.to_rgba(), 1.0)?;
        let at = (plot.x - canvas.pixels(6.0), y);
        canvas.text(&text, at, HPos::Right, canvas.font(LABEL), INK)?;
    }
    let bottom = plot.y + plot.height;
    canvas.line(&[(plot.x, plot.y), (plot.x, bottom), (plot.x + plot.width, bottom)], INK.to_rgba(), 1.0)
}

/// Writes a label, of one line or two, below the horizontal axis at each of the positions.
pub(super) fn horizontal<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    plot: Rect,
    ticks: impl Iterator<Item = (f64, String)>,
) -> Result<(), PlotError> {
    let bottom = plot.y + plot.height;
    for (x, label) in ticks {
        canvas.line(&[(x, bottom), (x, bottom + canvas.pixels(4.0))], INK.to_rgba(), 1.0)?;
        for (row, text) in label.lines().enumerate() {
            let at = (x, bottom + canvas.pixels(TICK * (row as f64 + 1.0)));
            canvas.text(text, at, HPos::Center, canvas.font(LABEL), INK)?;
        }
    }
    Ok(())
}

/// The position of a value in the plot.
pub(super) fn height(plot: Rect, axis: &Axis, value: f64) -> f64 {
    plot.y + plot.height * (1.0 - axis.share(value))
}

/// The size of notes, in points.
const SMALL: f64 = 10.5;

/// Whether small texts fit side by side into this width.
pub(super) fn notes_fit<'t, DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    mut texts: impl Iterator<Item = &'t String>,
    width: f64,
) -> Result<bool, PlotError> {
    let font = canvas.font(SMALL);
    texts.try_fold(true, |fit, text| Ok(fit && canvas.size(text, &font)?.0 <= width))
}

/// Draws a small text above `at`; `upright`, it reads upwards.
pub(super) fn note<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    text: &str,
    at: Pixel,
    upright: bool,
) -> Result<(), PlotError> {
    let font = canvas.font(SMALL);
    if !upright {
        return canvas.text(text, (at.0, at.1 - canvas.pixels(8.0)), HPos::Center, font, MUTED);
    }
    let (length, _) = canvas.size(text, &font)?;
    canvas.text_up(text, (at.0, at.1 - canvas.pixels(5.0) - length / 2.0), font, MUTED)
}

/// Remarks at the bottom of a panel.
pub(super) struct Notes {
    /// The left end of the lines, and the middle of the first one.
    start: Pixel,
    /// The height of all lines.
    height: f64,
    lines: Vec<String>,
}

/// Distance between the lines of remarks, in points.
const NOTE: f64 = 16.0;

impl Notes {
    /// Breaks remarks into lines as wide as the region.
    pub(super) fn new<DB: DrawingBackend>(
        canvas: &Canvas<'_, DB>,
        region: Rect,
        notes: &[String],
    ) -> Result<Self, PlotError> {
        let (font, width) = (canvas.font(11.0), region.width - canvas.pixels(2.0 * MARGIN));
        let lines = notes.iter().map(|note| canvas.lines(note, &font, width));
        let lines: Vec<String> = lines.collect::<Result<Vec<_>, _>>()?.concat();
        let height = canvas.pixels(NOTE * lines.len() as f64);
        let top = region.y + region.height - canvas.pixels(6.0) - height;
        Ok(Self { start: (region.x + canvas.pixels(MARGIN), top + canvas.pixels(NOTE / 2.0)), height, lines })
    }

    /// The height of all remarks, in pixels.
    pub(super) fn height(&self) -> f64 {
        self.height
    }

    /// The height at which the first remark begins, or the lower end of the region.
    pub(super) fn top(&self) -> f64 {
        self.start.1
    }

    /// Draws the remarks.
    pub(super) fn draw<DB: DrawingBackend>(&self, canvas: &Canvas<'_, DB>) -> Result<(), PlotError> {
        for (line, text) in self.lines.iter().enumerate() {
            let at = (self.start.0, self.start.1 + canvas.pixels(NOTE * line as f64));
            canvas.text(text, at, HPos::Left, canvas.font(11.0), MUTED)?;
        }
        Ok(())
    }
}
