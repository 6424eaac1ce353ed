//! Designs of two costs with their Pareto front, for any backend of plotters.

use super::axis::{Axis, Spread, with_room};
use super::canvas::{Canvas, EDGE, FINE_GRID, FRONT, GRID, INK, MARKERS, MUTED, Pixel, STAR, Shape, backend};
use super::frame;
use super::labels::{Page, Placement, Rect, Wish};
use super::legend::{self, star};
use super::print::{Look, Place, Sizes, Unplaced};
use super::{Chart, MAX_SERIES, PlotError, Point};
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::collections::{BTreeMap, HashSet};

/// Above this number of designs, only those on the front have names, rings and dots.
const NAMED_POINTS: usize = 80;
/// The largest number of designs on fronts whose names are placed together.
const NAMED_FRONT: usize = 60;

/// A design with everything that its drawing depends on.
struct Design<'a> {
    point: &'a Point,
    series: usize,
    pixel: Pixel,
}

/// Draws `chart` on `area`, a part of the page. Returns what had no room.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    area: &DrawingArea<DB, Shift>,
    chart: &Chart,
    look: Look,
) -> Result<Unplaced, PlotError> {
    let Look { place, sizes } = look;
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
    let (width, height) = area.dim_in_pixel();
    let (plot_area, legend_area) = match place {
        Place::Beside => area.split_horizontally(width - px(legend::WIDTH)),
        Place::Below => {
            area.split_vertically(height - px(legend::height_below(canvas, chart, width.into())?))
        }
        Place::Inside | Place::Nowhere => area.split_horizontally(width),
    };
    let (lines, size) = title(canvas, chart, plot_area.dim_in_pixel().0.into(), sizes)?;
    let around = px(sizes.margin);
    let plot_area = plot_area.margin(around, around, around, around);
    let plot_area = lines.iter().try_fold(plot_area, |rest, line| {
        rest.titled(line, canvas.bold(size).color(&INK)).map_err(backend)
    })?;
    // Room for the texts of all ticks.
    let tick_font = canvas.font(12.5);
    let width_of = |text: &str| canvas.size(text, &tick_font).map(|(width, _)| width);
    let widest = y_axis
        .labels()
        .iter()
        .try_fold(0.0, |widest, (_, text)| Ok::<f64, PlotError>(f64::max(widest, width_of(text)?)))?;
    let (_, letters) = canvas.size(&chart.y_label, &canvas.font(14.0))?;
    let y_labels = (widest + canvas.pixels(12.0) + letters).max(canvas.pixels(sizes.y_labels));
    let (width, height) = plot_area.dim_in_pixel();
    let (width, height) = (f64::from(width) - y_labels, f64::from(height));
    // The last text may be beyond the plot, where no legend stands.
    let labels = x_axis.labels();
    let right = match labels.last() {
        Some((tick, text)) if place != Place::Beside => {
            let (half, share) = (width_of(text)? / 2.0, x_axis.share(*tick));
            let margin = canvas.pixels(sizes.margin);
            ((half - (1.0 - share) * (width + margin)) / share.max(0.1) - margin).max(0.0)
        }
        _ => 0.0,
    };
    let width = width - right;
    let mut spread = Vec::new();
    for (tick, text) in labels {
        spread.push(Spread { value: tick, middle: width * x_axis.share(tick), width: width_of(&text)? });
    }
    let shown = with_room(&spread, canvas.pixels(2.0));
    let hidden = spread.iter().zip(shown).filter(|(_, shown)| !shown).map(|(label, _)| label.value);
    let hidden: Vec<f64> = hidden.collect();
    let [(x_font, x_label), (y_font, y_label)] = [
        canvas.fitted(&chart.x_label, canvas.font(14.0), width)?,
        canvas.fitted(&chart.y_label, canvas.font(14.0), height - canvas.pixels(sizes.x_labels))?,
    ];
    let label_font = if x_font.get_size() < y_font.get_size() { x_font } else { y_font };

    let mut plot = ChartBuilder::on(&plot_area)
        .margin_right(right.ceil() as u32)
        .x_label_area_size(px(sizes.x_labels))
        .y_label_area_size(y_labels.round() as u32)
        .build_cartesian_2d(x_axis.clone(), y_axis.clone())
        .map_err(backend)?;
    plot.configure_mesh()
        .x_desc(x_label)
        .y_desc(y_label)
        .axis_desc_style(label_font.color(&INK))
        .x_label_formatter(&|tick| {
            if hidden.contains(tick) { String::new() } else { x_axis.format_ext(tick) }
        })
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
    for (tick, text) in y_axis.labels() {
        let (_, y) = plot.backend_coord(&(0.0, tick));
        let at = (f64::from(x_pixels.start) - canvas.pixels(8.0), f64::from(y));
        canvas.text(&text, at, HPos::Right, tick_font.clone(), INK)?;
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
    let radius = if is_crowd { sizes.crowd } else { sizes.radius };

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

    // From the back to the front: rings, series, front, references, other designs, designs of the front. A
    // star is larger than the marker of a design before it.
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
        canvas.marker(Shape::Star, at, radius + sizes.star, WHITE.mix(STAR), edge.to_rgba())?;
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
        page.take(Rect::around(pixel(reference.x, reference.y), canvas.pixels(1.3 * (radius + sizes.star))));
    }
    let mut unplaced = Unplaced {
        legend: place == Place::Inside && !legend::inside(canvas, chart, &mut page)?,
        ..Unplaced::default()
    };
    let names = Names { canvas, font: canvas.font(12.5) };
    let mut has_short_names = false;
    if sizes.arranged && front.len() <= NAMED_FRONT {
        let of_references =
            references().map(|r| (r.label.as_str(), pixel(r.x, r.y), REFERENCE.on_paper(star(r.is_design))));
        let of_front = front.iter().map(|&i| (designs[i].point.name.as_str(), designs[i].pixel, PAPER_FRONT));
        let others = designs.iter().enumerate().filter(|&(i, _)| !is_crowd && !on_front(i));
        let of_others = others.map(|(_, d)| (d.point.short_name.as_str(), d.pixel, PAPER_OTHERS));
        let all = of_references.chain(of_front).chain(of_others).filter(|(text, ..)| !text.is_empty());
        let all: Vec<_> = all.collect();
        let wishes = all.iter().map(|(text, at, style)| names.wish(text, *at, *style));
        let places = page.arrange(&wishes.collect::<Result<Vec<_>, _>>()?);
        for ((text, at, style), placement) in all.into_iter().zip(places) {
            match (placement, style.of) {
                (Some(placement), _) => names.draw(text, at, style, placement)?,
                (None, Of::Star) => unplaced.stars += 1,
                (None, Of::Front) => unplaced.designs += 1,
                (None, Of::Other) => {}
            }
            has_short_names |= placement.is_some() && style.of == Of::Other;
        }
    } else {
        let mut name = |text: &str, at: Pixel, style: Style| -> Result<bool, PlotError> {
            if text.is_empty() {
                return Ok(false);
            }
            let Wish { point, size, gap, farthest, .. } = names.wish(text, at, style)?;
            let placement = page.place(point, size, gap, farthest);
            placement.map_or(Ok(()), |placement| names.draw(text, at, style, placement))?;
            Ok(placement.is_some())
        };
        for reference in references() {
            let style = Style { color: star(reference.is_design), ..REFERENCE };
            let is_named = name(&reference.label, pixel(reference.x, reference.y), style)?;
            unplaced.stars += usize::from(!is_named && !reference.label.is_empty());
        }
        // Designs that differ in other keys than the named ones have one name, at the first of them.
        let mut named = HashSet::new();
        for &i in &front {
            let text = designs[i].point.name.as_str();
            if !named.contains(text) && name(text, designs[i].pixel, ON_FRONT)? {
                named.insert(text);
            }
        }
        let names = front.iter().map(|&i| designs[i].point.name.as_str());
        unplaced.designs = names.filter(|name| !name.is_empty() && !named.contains(name)).count();
        if !is_crowd {
            for (_, design) in designs.iter().enumerate().filter(|&(i, _)| !on_front(i)) {
                has_short_names |= name(&design.point.short_name, design.pixel, BESIDE_FRONT)?;
            }
        }
    }
    let (legend_x, legend_y) = legend_area.get_pixel_range();
    let x = (f64::from(legend_x.start), f64::from(legend_x.end));
    match place {
        Place::Beside => {
            let y = f64::from(y_pixels.start) + canvas.pixels(10.0);
            legend::beside(canvas, chart, has_short_names, (x_pixels.end.into(), x.1), y)?;
        }
        Place::Below => legend::below(canvas, chart, has_short_names, x, legend_y.start.into())?,
        Place::Inside | Place::Nowhere => {}
    }
    Ok(unplaced)
}

/// The lines of the title over a plot of this width in pixels, and the size of their letters.
fn title<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Chart,
    width: f64,
    sizes: &Sizes,
) -> Result<(Vec<String>, f64), PlotError> {
    frame::title_lines(canvas, &chart.title, sizes.title, width - canvas.pixels(2.0 * sizes.margin))
}

/// The height in points of a chart in a panel of this width and usual height, in points: it has room for the
/// legend, and for all lines of the title.
pub(super) fn height<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Chart,
    panel: (u32, u32),
    look: Look,
) -> Result<f64, PlotError> {
    let [width, usual] = [panel.0, panel.1].map(f64::from);
    let below = if look.place == Place::Below {
        legend::height_below(canvas, chart, canvas.pixels(width))?
    } else {
        0.0
    };
    let (beside, legend) = if look.place == Place::Beside {
        (legend::WIDTH, legend::height(canvas, chart, width)?)
    } else {
        (0.0, 0.0)
    };
    let (lines, _) = title(canvas, chart, canvas.pixels(width - beside), look.sizes)?;
    Ok((usual + below).max(legend) + frame::further(canvas, &lines) / canvas.pixels(1.0))
}

/// Names of designs.
struct Names<'c, 'a, DB: DrawingBackend> {
    canvas: &'c Canvas<'a, DB>,
    font: FontDesc<'static>,
}

impl<DB: DrawingBackend> Names<'_, '_, DB> {
    fn font(&self, style: Style) -> FontDesc<'static> {
        self.font.resize(self.canvas.pixels(style.size))
    }

    fn wish(&self, text: &str, point: Pixel, style: Style) -> Result<Wish, PlotError> {
        let Style { gap, farthest, of, .. } = style;
        let size = self.canvas.size(text, &self.font(style))?;
        Ok(Wish { point, size, gap: self.canvas.pixels(gap), farthest, needed: of != Of::Other })
    }

    fn draw(&self, text: &str, at: Pixel, style: Style, placement: Placement) -> Result<(), PlotError> {
        let Placement { rect, covers, leader } = placement;
        if let Some(end) = leader {
            // It begins at the edge of the marker.
            let (across, down) = (end.0 - at.0, end.1 - at.1);
            let share = 0.75 * self.canvas.pixels(style.gap) / across.hypot(down);
            let start = (at.0 + share * across, at.1 + share * down);
            self.canvas.line(&[start, end], MUTED.mix(0.6), 0.8)?;
        }
        if covers {
            self.canvas.fill(rect, WHITE)?;
        }
        let at = (rect.x, rect.y + rect.height / 2.0);
        self.canvas.text(text, at, HPos::Left, self.font(style), style.color)
    }
}

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
    of: Of,
}

/// What has a name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// A reference, or a marked design.
    Star,
    /// A design on a front.
    Front,
    /// Another design, whose name is not needed.
    Other,
}

impl Style {
    /// The style on paper of a name in a colour.
    fn on_paper(self, color: RGBColor) -> Self {
        Self { size: PAPER_FRONT.size, gap: 8.0, color, ..self }
    }
}

/// There are few references, so their names may be far away.
const REFERENCE: Style = Style { size: 12.5, gap: 13.0, farthest: 13.0, color: FRONT, of: Of::Star };
const ON_FRONT: Style = Style { size: 12.5, gap: 8.0, farthest: 4.0, color: INK, of: Of::Front };
const BESIDE_FRONT: Style = Style { size: 10.0, gap: 7.5, farthest: 4.0, color: MUTED, of: Of::Other };
/// On paper: names of designs are smaller than labels at axes, and stand close to smaller markers.
const PAPER_FRONT: Style = Style { size: 10.0, gap: 5.5, farthest: 13.0, color: INK, of: Of::Front };
const PAPER_OTHERS: Style = Style { size: 9.0, gap: 4.8, farthest: 2.0, color: MUTED, of: Of::Other };

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
