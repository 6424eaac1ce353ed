//! Legends of scatter charts: beside, below or in the plot.

use super::canvas::{Canvas, FRONT, GRID, INK, MARKERS, MUTED, Pixel, STAR, Shape};
use super::labels::{Page, Rect};
use super::{Chart, MAX_SERIES, PlotError};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::borrow::Cow;
use std::cmp::Ordering;

/// The colour of a star: that of published points, or of a marked design.
pub(super) fn star(is_design: bool) -> RGBColor {
    if is_design { INK } else { FRONT }
}

/// The height in points that the legend of a chart needs, with everything above it, in a panel of this width.
pub(super) fn height<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Chart,
    width: f64,
) -> Result<f64, PlotError> {
    let legend =
        Legend { canvas, x: canvas.pixels(width - WIDTH - MARGIN), end: canvas.pixels(width), y: 0.0 };
    let rows = entries(canvas, chart, true)
        .into_iter()
        .map(|entry| legend.rows(&entry))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(HEAD + rows.iter().map(|(_, height)| height).sum::<f64>() / canvas.pixels(1.0))
}

/// The symbol of an entry of the legend.
#[derive(Clone, Copy)]
enum Symbol {
    None,
    Series(usize),
    Front,
    Star { is_design: bool },
    Limit,
    Ring,
    Dot,
}

/// An entry of the legend.
struct Entry<'c> {
    symbol: Symbol,
    text: Cow<'c, str>,
    /// The start of the text, in points from the plot.
    indent: f64,
    font: FontDesc<'static>,
    color: RGBColor,
    /// Free space above and below it, in points.
    space: (f64, f64),
}

/// The start of the texts next to symbols, in points from the plot.
const TEXT: f64 = 44.0;
/// The start of headings and remarks, in points from the plot.
const HEADING: f64 = 20.0;
/// The width of the legend, in points.
pub(super) const WIDTH: f64 = 180.0;
/// Free space around the plot beside a legend, in points.
const MARGIN: f64 = 12.0;
/// Free space around a legend below the plot, in points.
const BELOW_MARGIN: f64 = 6.0;
/// The space for the title above the legend, and below the legend, in points.
const HEAD: f64 = 60.0;

/// The entries of a chart's legend. Points off the front may have names.
fn entries<'c, DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &'c Chart,
    has_short_names: bool,
) -> Vec<Entry<'c>> {
    let entry = |symbol: Symbol, text: Cow<'c, str>| Entry {
        symbol,
        text,
        indent: TEXT,
        font: canvas.font(12.5),
        color: INK,
        space: (0.0, 0.0),
    };
    let mut entries = Vec::new();
    if !chart.series_label.is_empty() && chart.series.len() <= MAX_SERIES {
        let heading = entry(Symbol::None, (&chart.series_label).into());
        entries.push(Entry { indent: HEADING, font: canvas.bold(12.5), ..heading });
        let series = chart.series.iter().enumerate();
        entries.extend(series.map(|(i, series)| entry(Symbol::Series(i), (&series.label).into())));
        entries.last_mut().into_iter().for_each(|last| last.space.1 = 10.0);
    }
    if !chart.without_front {
        entries.push(match chart.scattered_front {
            true => entry(Symbol::None, "large: Pareto front".into()),
            false => entry(Symbol::Front, "Pareto front".into()),
        });
    }
    if !chart.name_label.is_empty() && !chart.without_front {
        entries.push(entry(Symbol::None, format!("labels: {}", chart.name_label).into()));
    }
    let short = &chart.short_name_label;
    if has_short_names && !short.is_empty() && (chart.without_front || *short != chart.name_label) {
        let small = if chart.without_front { "" } else { "small " };
        let labels = entry(Symbol::None, format!("{small}labels: {short}").into());
        entries.push(Entry { font: canvas.font(10.0), color: MUTED, ..labels });
    }
    for (is_design, text) in [(false, "reference"), (true, "marked design")] {
        if chart.references.iter().any(|reference| reference.is_design == is_design) {
            entries.push(entry(Symbol::Star { is_design }, text.into()));
        }
    }
    entries.extend(chart.limits.iter().map(|limit| entry(Symbol::Limit, (&limit.label).into())));
    let points = || chart.series.iter().flat_map(|series| &series.points);
    if points().any(|point| point.marked) {
        entries.push(entry(Symbol::Ring, (&chart.mark_label).into()));
    }
    if points().any(|point| point.dotted) {
        entries.push(entry(Symbol::Dot, (&chart.dot_label).into()));
    }
    entries.extend(chart.notes.iter().map(|note| Entry {
        indent: HEADING,
        font: canvas.font(11.0),
        space: (6.0, 0.0),
        ..entry(Symbol::None, note.into())
    }));
    entries
}

/// Draws the symbol of an entry, larger or smaller than usual.
fn symbol<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    symbol: Symbol,
    at: Pixel,
    share: f64,
) -> Result<(), PlotError> {
    let half = canvas.pixels(10.0 * share);
    match symbol {
        Symbol::None => {}
        Symbol::Series(series) => {
            let (color, shape) = MARKERS[series];
            canvas.marker(shape, at, 4.6 * share, color.to_rgba(), INK.to_rgba())?;
        }
        Symbol::Front => {
            canvas.line(&[(at.0 - half, at.1), (at.0 + half, at.1)], FRONT.to_rgba(), 2.4)?;
        }
        Symbol::Limit => {
            canvas.dashes((at.0 - half, at.1), (at.0 + half, at.1), MUTED.to_rgba(), 1.6)?;
        }
        Symbol::Star { is_design } => {
            canvas.marker(Shape::Star, at, 7.0 * share, WHITE.mix(STAR), star(is_design).to_rgba())?;
        }
        Symbol::Ring => {
            canvas.marker(Shape::Circle, at, 2.8 * share, MUTED.to_rgba(), MUTED.to_rgba())?;
            canvas.ring(at, 6.0 * share, MUTED)?;
        }
        Symbol::Dot => {
            canvas.marker(Shape::Circle, at, 4.6 * share, MUTED.to_rgba(), INK.to_rgba())?;
            canvas.marker(Shape::Circle, at, 1.9 * share, WHITE.to_rgba(), WHITE.to_rgba())?;
        }
    }
    Ok(())
}

/// The places that a legend in a plot tries in each direction, less one.
const PLACES: u32 = 24;
/// The size of letters of a legend in columns, the distance of its rows, and the start of its texts, in
/// points.
const LETTERS: f64 = 10.5;
const ROW: f64 = 13.5;
const INSIDE_TEXT: f64 = 22.0;
/// The size of its symbols, as a share of the usual one.
const BLOCK: f64 = 0.75;
/// The room around a legend in a plot that is better free for names, in points.
const HALO: f64 = 14.0;

/// A legend in columns, with a heading.
struct Block<'c, 'a, DB: DrawingBackend> {
    canvas: &'c Canvas<'a, DB>,
    heading: Option<Entry<'c>>,
    /// The entries with symbols, and the width of each.
    entries: Vec<(Entry<'c>, f64)>,
    /// The entries without symbols, but for the heading.
    texts: Vec<Entry<'c>>,
    font: FontDesc<'static>,
    /// The width of the heading.
    title: f64,
}

/// The columns of a block: entries in each, their widths, and width and height of all.
struct Columns {
    rows: usize,
    widths: Vec<f64>,
    size: Pixel,
}

impl<'c, 'a, DB: DrawingBackend> Block<'c, 'a, DB> {
    fn new(canvas: &'c Canvas<'a, DB>, entries: Vec<Entry<'c>>) -> Result<Self, PlotError> {
        let (mut texts, entries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| matches!(entry.symbol, Symbol::None));
        let is_heading = |entry: &Entry<'_>| entry.indent == HEADING && entry.space == (0.0, 0.0);
        let heading = texts.iter().position(is_heading).map(|at| texts.remove(at));
        let font = canvas.font(LETTERS);
        let width =
            |entry: &Entry<'_>| Ok(canvas.pixels(INSIDE_TEXT + 10.0) + canvas.size(&entry.text, &font)?.0);
        let entries = entries.into_iter().map(|entry| width(&entry).map(|width| (entry, width)));
        let entries = entries.collect::<Result<_, PlotError>>()?;
        let title = match &heading {
            Some(heading) => canvas.pixels(14.0) + canvas.size(&heading.text, &canvas.bold(LETTERS))?.0,
            None => 0.0,
        };
        Ok(Self { canvas, heading, entries, texts, font, title })
    }

    /// The height of the heading.
    fn first(&self) -> f64 {
        self.heading.as_ref().map_or(0.0, |_| self.canvas.pixels(ROW))
    }

    fn columns(&self, columns: usize) -> Columns {
        let rows = self.entries.len().div_ceil(columns).max(1);
        let widest = |column: &[(Entry<'_>, f64)]| column.iter().map(|(_, width)| *width).fold(0.0, f64::max);
        let widths: Vec<f64> = self.entries.chunks(rows).map(widest).collect();
        let width = widths.iter().sum::<f64>().max(self.title);
        Columns { rows, widths, size: (width, self.first() + self.canvas.pixels(ROW * rows as f64 + 4.0)) }
    }

    /// Draws the heading and the columns, whose upper left corner is `at`.
    fn draw(&self, at: Pixel, columns: &Columns) -> Result<(), PlotError> {
        let (canvas, p) = (self.canvas, |points: f64| self.canvas.pixels(points));
        if let Some(heading) = &self.heading {
            let at = (at.0 + p(6.0), at.1 + p(8.5));
            canvas.text(&heading.text, at, HPos::Left, canvas.bold(LETTERS), INK)?;
        }
        let mut x = at.0;
        for (column, width) in self.entries.chunks(columns.rows).zip(&columns.widths) {
            for (row, (entry, _)) in column.iter().enumerate() {
                let y = at.1 + self.first() + p(ROW * row as f64 + 8.5);
                symbol(canvas, entry.symbol, (x + p(12.0), y), BLOCK)?;
                canvas.text(&entry.text, (x + p(INSIDE_TEXT), y), HPos::Left, self.font.clone(), INK)?;
            }
            x += width;
        }
        Ok(())
    }

    /// The columns below a plot, as many as have room, and the lines of texts below them.
    fn below(&self, width: f64) -> Result<(Columns, Vec<String>), PlotError> {
        let width = width - self.canvas.pixels(2.0 * BELOW_MARGIN);
        let columns = (1..=self.entries.len().max(1)).rev().map(|columns| self.columns(columns));
        let columns = columns.into_iter().find(|columns| columns.size.0 <= width);
        let lines = self.texts.iter().map(|entry| self.canvas.lines(&entry.text, &self.font, width));
        let lines = lines.collect::<Result<Vec<_>, _>>()?.concat();
        Ok((columns.unwrap_or_else(|| self.columns(1)), lines))
    }

    /// Draws all below a plot.
    fn draw_below(&self, at: Pixel, width: f64) -> Result<(), PlotError> {
        let (columns, lines) = self.below(width)?;
        self.draw(at, &columns)?;
        let p = |points: f64| self.canvas.pixels(points);
        for (row, line) in lines.iter().enumerate() {
            let at = (at.0 + p(6.0), at.1 + columns.size.1 + p(ROW * row as f64 + 6.0));
            self.canvas.text(line, at, HPos::Left, self.font.clone(), MUTED)?;
        }
        Ok(())
    }
}

/// The height in points of a legend below a plot of this width in pixels.
pub(super) fn height_below<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Chart,
    width: f64,
) -> Result<f64, PlotError> {
    let block = Block::new(canvas, entries(canvas, chart, true))?;
    let (columns, lines) = block.below(width)?;
    Ok(columns.size.1 / canvas.pixels(1.0) + ROW * lines.len() as f64 + BELOW_MARGIN)
}

/// Draws a legend in the plot, in columns: symbols only, since a caption explains labels. It takes the place
/// nearest to a corner that hides nothing. Returns whether there is one.
pub(super) fn inside<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Chart,
    page: &mut Page,
) -> Result<bool, PlotError> {
    let block = Block::new(canvas, entries(canvas, chart, false))?;
    let (plot, gap) = (page.bounds(), canvas.pixels(3.0));
    let free = |columns: Columns| {
        let (width, height) = columns.size;
        let room = [plot.width - width - 2.0 * gap, plot.height - height - 2.0 * gap];
        let places = (0..=PLACES).flat_map(|x| (0..=PLACES).map(move |y| [x, y].map(f64::from)));
        let places = places.map(|place| place.map(|at| at / f64::from(PLACES)));
        let candidates = places.map(|[x, y]| {
            let place = Rect { x: plot.x + gap + x * room[0], y: plot.y + gap + y * room[1], width, height };
            let covered = [place, place.wider(canvas.pixels(HALO))].map(|place| page.covered(&place));
            (covered, x.min(1.0 - x) + y.min(1.0 - y), place)
        });
        let best = candidates.min_by(better);
        best.filter(|_| room.iter().all(|room| *room > 0.0)).map(|best| (best, columns))
    };
    let shapes = (1..=4).map(|columns| block.columns(columns)).filter_map(free);
    let best = shapes.min_by(|(a, _), (b, _)| better(a, b));
    let free = best.filter(|(([covered, _], ..), _)| *covered == 0.0);
    let Some(((_, _, place), columns)) = free else { return Ok(false) };
    canvas.fill(place, WHITE)?;
    canvas.outline(place, GRID, 1.0)?;
    page.take(place);
    block.draw((place.x, place.y), &columns)?;
    Ok(true)
}

/// A place of a legend: what it covers, alone and with the room around it, its distance from a corner, and
/// itself.
type Candidate = ([f64; 2], f64, Rect);

fn better(a: &Candidate, b: &Candidate) -> Ordering {
    a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal).then(a.1.total_cmp(&b.1))
}

/// Draws a legend to the right of a plot, between two ends, from a height on.
pub(super) fn beside<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Chart,
    has_short_names: bool,
    (x, end): (f64, f64),
    y: f64,
) -> Result<(), PlotError> {
    let mut legend = Legend { canvas, x, end, y };
    entries(canvas, chart, has_short_names).iter().try_for_each(|entry| legend.draw(entry))
}

/// Draws a legend below a plot, between two ends, from a height on.
pub(super) fn below<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Chart,
    has_short_names: bool,
    (x, end): (f64, f64),
    y: f64,
) -> Result<(), PlotError> {
    let block = Block::new(canvas, entries(canvas, chart, has_short_names))?;
    block.draw_below((x + canvas.pixels(BELOW_MARGIN), y), end - x)
}

/// The legend to the right of the plot.
struct Legend<'c, 'a, DB: DrawingBackend> {
    canvas: &'c Canvas<'a, DB>,
    /// The end of the plot, in pixels.
    x: f64,
    /// The end of the page.
    end: f64,
    /// The position of the next entry.
    y: f64,
}

/// The distance between lines of an entry, as a share of the font's size.
const LINE: f64 = 1.25;

impl<DB: DrawingBackend> Legend<'_, '_, DB> {
    /// The lines of an entry, and its height in pixels.
    fn rows(&self, entry: &Entry<'_>) -> Result<(Vec<String>, f64), PlotError> {
        let start = self.x + self.canvas.pixels(entry.indent);
        let rows = self.canvas.lines(&entry.text, &entry.font, self.end - self.canvas.pixels(4.0) - start)?;
        let (above, below) = entry.space;
        let lines = LINE * entry.font.get_size() * (rows.len() - 1) as f64;
        Ok((rows, self.canvas.pixels(above + below + 20.0) + lines))
    }

    /// Draws an entry.
    fn draw(&mut self, entry: &Entry<'_>) -> Result<(), PlotError> {
        let canvas = self.canvas;
        let (rows, height) = self.rows(entry)?;
        let first = self.y + canvas.pixels(entry.space.0);
        symbol(canvas, entry.symbol, (self.x + canvas.pixels(26.0), first), 1.0)?;
        let x = self.x + canvas.pixels(entry.indent);
        for (i, row) in rows.iter().enumerate() {
            let y = first + LINE * entry.font.get_size() * i as f64;
            canvas.text(row, (x, y), HPos::Left, entry.font.clone(), entry.color)?;
        }
        self.y += height;
        Ok(())
    }
}
