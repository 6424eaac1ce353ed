//! Designs of two costs with their Pareto front, for any backend of plotters.

use super::axis::Axis;
use super::canvas::{Canvas, EDGE, FINE_GRID, FRONT, GRID, INK, MARKERS, MUTED, Pixel, STAR, Shape, backend};
use super::labels::{Page, Placement, Rect};
use super::{Chart, Legend as Place, MAX_SERIES, PlotError, Point};
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// Above this number of designs, only those on the front have names, rings and dots.
const NAMED_POINTS: usize = 80;

/// A design with everything that its drawing depends on.
struct Design<'a> {
    point: &'a Point,
    series: usize,
    pixel: Pixel,
}

/// Draws `chart` on `area`, a part of the page.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    area: &DrawingArea<DB, Shift>,
    chart: &Chart,
    legend: Place,
) -> Result<(), PlotError> {
    let finite = |x: f64, y: f64| x.is_finite() && y.is_finite();
    let points = || {
        let all = chart.series.iter().enumerate().flat_map(|(i, s)| s.points.iter().map(move |p| (i, p)));
        all.filter(|(_, p)| finite(p.x, p.y))
    };
    if points().next().is_none() {
        return Err(PlotError::Empty);
    }
    let references = || chart.references.iter().filter(|r| finite(r.x, r.y));
    let limits = |vertical: bool| {
        let own = chart.limits.iter().filter(move |limit| limit.vertical == vertical);
        own.map(|limit| limit.value).filter(|value| value.is_finite())
    };
    let x_axis = Axis::new(points().map(|(_, p)| p.x).chain(references().map(|r| r.x)).chain(limits(false)));
    let y_axis = Axis::new(points().map(|(_, p)| p.y).chain(references().map(|r| r.y)).chain(limits(true)));
    let (Some(x_axis), Some(y_axis)) = (x_axis, y_axis) else { return Err(PlotError::Empty) };

    let px = |points: f64| canvas.pixels(points) as u32;
    let (plot_area, legend_area) = {
        let (width, _) = area.dim_in_pixel();
        area.split_horizontally(width - if legend == Place::Outside { px(LEGEND) } else { 0 })
    };
    let mut plot = ChartBuilder::on(&plot_area);
    if !chart.title.is_empty() {
        plot.caption(&chart.title, canvas.bold(17.0).color(&INK));
    }
    let mut plot = plot
        .margin(px(MARGIN))
        .x_label_area_size(px(48.0))
        .y_label_area_size(px(58.0))
        .build_cartesian_2d(x_axis, y_axis.clone())
        .map_err(backend)?;
    plot.configure_mesh()
        .x_desc(&chart.x_label)
        .y_desc(&chart.y_label)
        .axis_desc_style(canvas.font(14.0).color(&INK))
        .label_style(canvas.font(12.5).color(&INK))
        .axis_style(INK.stroke_width(canvas.stroke(1.0)))
        .bold_line_style(GRID.stroke_width(canvas.stroke(1.0)))
        .light_line_style(FINE_GRID.stroke_width(canvas.stroke(1.0)))
        .set_all_tick_mark_size(px(4.0))
        .y_label_formatter(&|_| String::new())
        .draw()
        .map_err(backend)?;
    let pixel = |x: f64, y: f64| {
        let (x, y) = plot.backend_coord(&(x, y));
        (f64::from(x), f64::from(y))
    };

    // The mesh would not put these labels at the height of their ticks.
    let (x_pixels, y_pixels) = plot.plotting_area().get_pixel_range();
    for tick in y_axis.ticks() {
        let (_, y) = plot.backend_coord(&(0.0, tick));
        let at = (f64::from(x_pixels.start) - canvas.pixels(8.0), f64::from(y));
        canvas.text(&y_axis.format_ext(&tick), at, HPos::Right, canvas.font(12.5), INK)?;
    }

    let one_series = chart.series.len() > MAX_SERIES;
    let designs: Vec<Design<'_>> = points()
        .map(|(series, point)| Design {
            point,
            series: if one_series { 0 } else { series },
            pixel: pixel(point.x, point.y),
        })
        .collect();
    let fronts = if chart.without_front { Vec::new() } else { fronts(&designs) };
    let front: Vec<usize> = fronts.concat();
    let on_front: HashSet<usize> = front.iter().copied().collect();
    let on_front = |i: usize| on_front.contains(&i);
    let is_crowd = designs.len() > NAMED_POINTS;
    let distinct = || {
        let all = designs.iter().enumerate();
        all.filter(|&(i, _)| !is_crowd || on_front(i)).map(|(_, design)| design)
    };
    let marker = |series: usize| MARKERS[series];
    let radius = if is_crowd { 2.8 } else { 4.2 };

    let across = limits(true).map(|y| {
        let (_, y) = pixel(designs[0].point.x, y);
        [(f64::from(x_pixels.start), y), (f64::from(x_pixels.end), y)]
    });
    let upright = limits(false).map(|x| {
        let (x, _) = pixel(x, designs[0].point.y);
        [(x, f64::from(y_pixels.start)), (x, f64::from(y_pixels.end))]
    });
    let limit_lines: Vec<[Pixel; 2]> = across.chain(upright).collect();
    for [from, to] in &limit_lines {
        canvas.dashes(*from, *to, MUTED.to_rgba(), 1.6)?;
    }

    // From the back to the front: rings, series, front, references, other designs, designs of the front. A star is larger
    // than the marker of a design before it.
    for design in distinct().filter(|design| design.point.marked) {
        canvas.ring(design.pixel, radius + 3.2, MUTED)?;
    }
    let mut series_lines: Vec<Vec<Pixel>> = Vec::new();
    if !one_series && !is_crowd {
        for (series, _) in chart.series.iter().enumerate().filter(|(_, series)| series.joined) {
            let line: Vec<Pixel> = designs.iter().filter(|d| d.series == series).map(|d| d.pixel).collect();
            canvas.line(&line, marker(series).0.mix(0.45), 1.0)?;
            series_lines.push(line);
        }
    }
    let steps = |front: &Vec<usize>| stairs(front.iter().map(|&i| designs[i].pixel));
    let front_lines: Vec<Vec<Pixel>> = fronts.iter().filter(|_| !chart.scattered_front).map(steps).collect();
    for line in &front_lines {
        canvas.line(line, FRONT.to_rgba(), 1.8)?;
    }
    for reference in references() {
        let (at, edge) = (pixel(reference.x, reference.y), star(reference.is_design));
        canvas.marker(Shape::Star, at, radius + STAR_POINTS, WHITE.mix(STAR), edge.to_rgba())?;
    }
    for (_, design) in designs.iter().enumerate().filter(|&(i, _)| !on_front(i)) {
        let (color, shape) = marker(design.series);
        let strength = if design.point.pale { 0.15 } else { 0.75 };
        canvas.marker(shape, design.pixel, radius, color.mix(strength), INK.mix(EDGE))?;
    }
    for &i in &front {
        let (color, shape) = marker(designs[i].series);
        canvas.marker(shape, designs[i].pixel, radius + 1.2, color.to_rgba(), INK.to_rgba())?;
    }
    for design in distinct().filter(|design| design.point.dotted) {
        canvas.marker(Shape::Circle, design.pixel, 0.4 * radius, WHITE.to_rgba(), WHITE.to_rgba())?;
    }
    // Names avoid everything drawn so far.
    let mut page = Page::new(Rect {
        x: x_pixels.start.into(),
        y: y_pixels.start.into(),
        width: (x_pixels.end - x_pixels.start).into(),
        height: (y_pixels.end - y_pixels.start).into(),
    });
    for design in &designs {
        page.take(Rect::around(design.pixel, canvas.pixels(radius + 1.5)));
    }
    for ends in front_lines.iter().flat_map(|line| line.windows(2)) {
        page.take_line(ends[0], ends[1], canvas.pixels(3.0));
    }
    for [from, to] in &limit_lines {
        page.avoid_line(*from, *to, canvas.pixels(2.0));
    }
    for line in &series_lines {
        line.windows(2).for_each(|ends| page.avoid_line(ends[0], ends[1], canvas.pixels(2.0)));
    }
    for reference in references() {
        page.take(Rect::around(pixel(reference.x, reference.y), canvas.pixels(1.3 * (radius + STAR_POINTS))));
    }
    if legend == Place::Inside {
        inside(canvas, entries(canvas, chart, false), &mut page)?;
    }
    let name_font = canvas.font(12.5);
    let mut name = |text: &str, at: Pixel, style: Style| -> Result<bool, PlotError> {
        let Style { size, gap, farthest, color } = style;
        if text.is_empty() {
            return Ok(false);
        }
        let font = name_font.resize(canvas.pixels(size));
        let placement = page.place(at, canvas.size(text, &font)?, canvas.pixels(gap), farthest);
        if let Some(Placement { rect, covers, leader }) = placement {
            if let Some(end) = leader {
                // It begins at the edge of the marker.
                let (across, down) = (end.0 - at.0, end.1 - at.1);
                let share = 0.75 * canvas.pixels(gap) / across.hypot(down);
                canvas.line(&[(at.0 + share * across, at.1 + share * down), end], MUTED.mix(0.6), 0.8)?;
            }
            if covers {
                canvas.fill(rect, WHITE)?;
            }
            canvas.text(text, (rect.x, rect.y + rect.height / 2.0), HPos::Left, font, color)?;
        }
        Ok(placement.is_some())
    };
    for reference in references() {
        let style = Style { color: star(reference.is_design), ..REFERENCE };
        name(&reference.label, pixel(reference.x, reference.y), style)?;
    }
    // Designs that differ in other keys than the named ones have one name, at the first of them.
    let mut names = HashSet::new();
    for &i in &front {
        let text = designs[i].point.name.as_str();
        if !names.contains(text) && name(text, designs[i].pixel, ON_FRONT)? {
            names.insert(text);
        }
    }
    let mut has_short_names = false;
    if !is_crowd {
        for (_, design) in designs.iter().enumerate().filter(|&(i, _)| !on_front(i)) {
            has_short_names |= name(&design.point.short_name, design.pixel, BESIDE_FRONT)?;
        }
    }
    if legend == Place::Outside {
        let (legend_x, _) = legend_area.get_pixel_range();
        let y = f64::from(y_pixels.start) + canvas.pixels(10.0);
        let mut legend = Legend { canvas, x: x_pixels.end.into(), end: legend_x.end.into(), y };
        entries(canvas, chart, has_short_names).iter().try_for_each(|entry| legend.draw(entry))?;
    }
    Ok(())
}

/// The colour of a star: that of published points, or of a marked design.
fn star(is_design: bool) -> RGBColor {
    if is_design { INK } else { FRONT }
}

/// How much larger a star is than a marker, in points: its notches are outside of the marker.
const STAR_POINTS: f64 = 4.8;

/// The style of names next to points.
#[derive(Clone, Copy)]
struct Style {
    /// The size of the font, in points.
    size: f64,
    /// The least distance from the point, in points.
    gap: f64,
    /// The largest distance, in gaps.
    farthest: f64,
    color: RGBColor,
}

/// There are few references, so their names may be far away.
const REFERENCE: Style = Style { size: 12.5, gap: 13.0, farthest: 13.0, color: FRONT };
const ON_FRONT: Style = Style { size: 12.5, gap: 8.0, farthest: 4.0, color: INK };
const BESIDE_FRONT: Style = Style { size: 10.0, gap: 7.5, farthest: 4.0, color: MUTED };

/// The line of a front: level to the column of the next design, then down to it. Designs above the line are
/// dominated; a straight line from design to design would promise designs that nobody has.
fn stairs(front: impl Iterator<Item = Pixel>) -> Vec<Pixel> {
    let mut line: Vec<Pixel> = Vec::new();
    for (x, y) in front {
        if let Some(&(_, level)) = line.last() {
            line.push((x, level));
        }
        line.push((x, y));
    }
    line
}

/// The designs on each front, from left to right.
fn fronts(designs: &[Design<'_>]) -> Vec<Vec<usize>> {
    let mut fronts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (i, design) in designs.iter().enumerate() {
        if let Some(front) = design.point.front {
            fronts.entry(front).or_default().push(i);
        }
    }
    fronts
        .values_mut()
        .for_each(|front| front.sort_by(|&a, &b| designs[a].point.x.total_cmp(&designs[b].point.x)));
    fronts.into_values().collect()
}

/// The height in points that the legend of a chart needs, with everything above it, in a panel of this width.
pub(super) fn height<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Chart,
    width: f64,
) -> Result<f64, PlotError> {
    let legend =
        Legend { canvas, x: canvas.pixels(width - LEGEND - MARGIN), end: canvas.pixels(width), y: 0.0 };
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
const LEGEND: f64 = 180.0;
/// Free space around the plot, in points.
const MARGIN: f64 = 12.0;
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

/// Draws the symbol of an entry.
fn symbol<DB: DrawingBackend>(canvas: &Canvas<'_, DB>, symbol: Symbol, at: Pixel) -> Result<(), PlotError> {
    let half = canvas.pixels(10.0);
    match symbol {
        Symbol::None => {}
        Symbol::Series(series) => {
            let (color, shape) = MARKERS[series];
            canvas.marker(shape, at, 4.6, color.to_rgba(), INK.to_rgba())?;
        }
        Symbol::Front => {
            canvas.line(&[(at.0 - half, at.1), (at.0 + half, at.1)], FRONT.to_rgba(), 2.4)?;
        }
        Symbol::Limit => {
            canvas.dashes((at.0 - half, at.1), (at.0 + half, at.1), MUTED.to_rgba(), 1.6)?;
        }
        Symbol::Star { is_design } => {
            canvas.marker(Shape::Star, at, 7.0, WHITE.mix(STAR), star(is_design).to_rgba())?;
        }
        Symbol::Ring => {
            canvas.marker(Shape::Circle, at, 2.8, MUTED.to_rgba(), MUTED.to_rgba())?;
            canvas.ring(at, 6.0, MUTED)?;
        }
        Symbol::Dot => {
            canvas.marker(Shape::Circle, at, 4.6, MUTED.to_rgba(), INK.to_rgba())?;
            canvas.marker(Shape::Circle, at, 1.9, WHITE.to_rgba(), WHITE.to_rgba())?;
        }
    }
    Ok(())
}

/// The places that a legend in a plot tries in each direction, less one.
const PLACES: u32 = 24;
/// The distance of the rows of a legend in a plot, in points.
const ROW: f64 = 16.0;
/// The start of the texts of a legend in a plot, in points.
const INSIDE_TEXT: f64 = 27.0;

/// Draws a legend in the plot, in columns: symbols only, since a caption explains labels. It takes the place
/// nearest to a corner that hides nothing, or else the least.
fn inside<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    entries: Vec<Entry<'_>>,
    page: &mut Page,
) -> Result<(), PlotError> {
    let p = |points: f64| canvas.pixels(points);
    let (headings, entries): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| matches!(entry.symbol, Symbol::None));
    let heading = headings.iter().find(|entry| entry.indent == HEADING && entry.space == (0.0, 0.0));
    let font = canvas.font(11.0);
    let mut widths = Vec::with_capacity(entries.len());
    for entry in &entries {
        widths.push(p(INSIDE_TEXT + 10.0) + canvas.size(&entry.text, &font)?.0);
    }
    let title = match heading {
        Some(heading) => p(14.0) + canvas.size(&heading.text, &canvas.bold(11.0))?.0,
        None => 0.0,
    };
    let first = heading.map_or(0.0, |_| p(ROW));
    let shapes = (1..=4).map(|columns| {
        let rows = entries.len().div_ceil(columns).max(1);
        let widths: Vec<f64> =
            widths.chunks(rows).map(|column| column.iter().copied().fold(0.0, f64::max)).collect();
        let width = widths.iter().sum::<f64>().max(title);
        (rows, widths, width, first + p(ROW * rows as f64 + 4.0))
    });
    let (plot, gap) = (page.bounds(), p(3.0));
    let free = |(rows, widths, width, height): (usize, Vec<f64>, f64, f64)| {
        let room = [plot.width - width - 2.0 * gap, plot.height - height - 2.0 * gap];
        let places = (0..=PLACES).flat_map(|x| (0..=PLACES).map(move |y| [x, y].map(f64::from)));
        let places = places.map(|place| place.map(|at| at / f64::from(PLACES)));
        let candidates = places.map(|[x, y]| {
            let place = Rect { x: plot.x + gap + x * room[0], y: plot.y + gap + y * room[1], width, height };
            (page.covered(&place), x.min(1.0 - x) + y.min(1.0 - y), place)
        });
        let best = candidates.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        best.filter(|_| room.iter().all(|room| *room > 0.0)).map(|best| (best, rows, widths))
    };
    let best =
        shapes.filter_map(free).min_by(|(a, ..), (b, ..)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // A legend larger than the plot is none.
    let Some(((covered, _, place), rows, widths)) = best else { return Ok(()) };
    if covered == 0.0 {
        canvas.fill(place, WHITE)?;
        canvas.outline(place, GRID, 1.0)?;
    }
    page.take(place);
    if let Some(heading) = heading {
        let at = (place.x + p(6.0), place.y + p(10.0));
        canvas.text(&heading.text, at, HPos::Left, canvas.bold(11.0), INK)?;
    }
    let mut x = place.x;
    for (column, width) in entries.chunks(rows).zip(&widths) {
        for (row, entry) in column.iter().enumerate() {
            let y = place.y + first + p(ROW * row as f64 + 10.0);
            symbol(canvas, entry.symbol, (x + p(14.0), y))?;
            canvas.text(&entry.text, (x + p(INSIDE_TEXT), y), HPos::Left, font.clone(), INK)?;
        }
        x += width;
    }
    Ok(())
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
        symbol(canvas, entry.symbol, (self.x + canvas.pixels(26.0), first))?;
        let x = self.x + canvas.pixels(entry.indent);
        for (i, row) in rows.iter().enumerate() {
            let y = first + LINE * entry.font.get_size() * i as f64;
            canvas.text(row, (x, y), HPos::Left, entry.font.clone(), entry.color)?;
        }
        self.y += height;
        Ok(())
    }
}
