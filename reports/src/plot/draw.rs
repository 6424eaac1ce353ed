//! The drawing routine, for any backend of plotters.

use super::axis::Axis;
use super::labels::{Page, Rect};
use super::{Chart, MAX_SERIES, PlotError, Point};
use crate::pareto::{self, Costs};
use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use std::sync::Once;

const INK: RGBColor = RGBColor(34, 34, 34);
const MUTED: RGBColor = RGBColor(110, 110, 110);
const GRID: RGBColor = RGBColor(226, 226, 226);
const FINE_GRID: RGBColor = RGBColor(243, 243, 243);
const FRONT: RGBColor = RGBColor(192, 40, 40);
const FONT: &str = "sans-serif";

/// Colours from dark to light, so that they stay apart in grey print; shapes say the same again.
const MARKERS: [(RGBColor, Shape); MAX_SERIES] = [
    (RGBColor(68, 1, 84), Shape::Circle),
    (RGBColor(49, 104, 142), Shape::Square),
    (RGBColor(53, 183, 121), Shape::Triangle),
    (RGBColor(253, 210, 37), Shape::Diamond),
    (RGBColor(150, 60, 130), Shape::TriangleDown),
    (RGBColor(110, 150, 190), Shape::Cross),
    (RGBColor(190, 190, 190), Shape::Circle),
    (RGBColor(255, 255, 255), Shape::Square),
];

/// Above this number of designs, those off the front have no names.
const NAMED_POINTS: usize = 80;

#[derive(Clone, Copy)]
enum Shape {
    Circle,
    Square,
    Triangle,
    TriangleDown,
    Diamond,
    Cross,
    Star,
}

impl Shape {
    /// Corners at radius 1 around the centre, `y` downwards; empty for a circle.
    fn corners(self) -> Vec<(f64, f64)> {
        let regular = |count: u32, first: f64, radius: fn(u32) -> f64| {
            (0..count)
                .map(|i| {
                    let angle = (first + 360.0 * f64::from(i) / f64::from(count)).to_radians();
                    (radius(i) * angle.cos(), radius(i) * angle.sin())
                })
                .collect()
        };
        match self {
            Self::Circle => Vec::new(),
            Self::Square => regular(4, 45.0, |_| 1.2),
            Self::Triangle => regular(3, -90.0, |_| 1.3),
            Self::TriangleDown => regular(3, 90.0, |_| 1.3),
            Self::Diamond => regular(4, 0.0, |_| 1.3),
            Self::Cross => regular(12, 15.0, |i| if i % 3 == 2 { 0.45 } else { 1.2 }),
            Self::Star => regular(10, -90.0, |i| if i % 2 == 0 { 1.6 } else { 0.65 }),
        }
    }
}

/// The font of all text; without it a bitmap has none.
fn use_embedded_font() {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // A font that is refused shows as an error of the first text that is drawn.
        let _ = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
        let _ = register_font(FONT, FontStyle::Bold, dejavu::sans::bold());
    });
}

/// A pixel position.
type Pixel = (f64, f64);

fn round((x, y): Pixel) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

/// What differs between the media.
#[derive(Clone, Copy)]
pub(super) struct Medium {
    /// Pixels of a point of type or line.
    pub(super) scale: u32,
    /// How far text is moved down, as a share of its size.
    pub(super) sink: f64,
}

/// The page: all sizes are in points.
struct Canvas<'a, DB: DrawingBackend> {
    area: &'a DrawingArea<DB, Shift>,
    medium: Medium,
}

impl<DB: DrawingBackend> Canvas<'_, DB> {
    fn pixels(&self, points: f64) -> f64 {
        points * f64::from(self.medium.scale)
    }

    fn stroke(&self, points: f64) -> u32 {
        self.pixels(points).round().max(1.0) as u32
    }

    fn font(&self, points: f64) -> FontDesc<'static> {
        (FONT, self.pixels(points)).into_font()
    }

    fn bold(&self, points: f64) -> FontDesc<'static> {
        (FONT, self.pixels(points), FontStyle::Bold).into_font()
    }

    fn line(&self, points: &[Pixel], color: RGBAColor, width: f64) -> Result<(), PlotError> {
        let points: Vec<_> = points.iter().copied().map(round).collect();
        let style = color.stroke_width(self.stroke(width));
        self.area.draw(&PathElement::new(points, style)).map_err(backend)
    }

    /// Draws a text with its middle at the height of `at`, which is its left or right end.
    fn text(
        &self,
        text: &str,
        at: Pixel,
        end: HPos,
        font: FontDesc<'static>,
        color: RGBColor,
    ) -> Result<(), PlotError> {
        let at = (at.0, at.1 + self.medium.sink * font.get_size());
        let style = font.color(&color).pos(Pos::new(end, VPos::Center));
        self.area.draw(&Text::new(text.to_owned(), round(at), style)).map_err(backend)
    }

    /// Width and height of a text.
    fn size(&self, text: &str, font: &FontDesc<'static>) -> Result<Pixel, PlotError> {
        let style = font.clone().into_text_style(self.area);
        let (width, height) = self.area.estimate_text_size(text, &style).map_err(backend)?;
        Ok((width.into(), height.into()))
    }

    fn marker(
        &self,
        shape: Shape,
        at: Pixel,
        radius: f64,
        fill: RGBAColor,
        edge: RGBAColor,
    ) -> Result<(), PlotError> {
        let radius = self.pixels(radius);
        let edge = edge.stroke_width(self.stroke(1.0));
        let corners = shape.corners();
        if corners.is_empty() {
            self.area.draw(&Circle::new(round(at), radius.round() as i32, fill.filled())).map_err(backend)?;
            return self.area.draw(&Circle::new(round(at), radius.round() as i32, edge)).map_err(backend);
        }
        let mut outline: Vec<_> =
            corners.iter().map(|(x, y)| round((at.0 + radius * x, at.1 + radius * y))).collect();
        self.area.draw(&Polygon::new(outline.clone(), fill.filled())).map_err(backend)?;
        outline.push(outline[0]);
        self.area.draw(&PathElement::new(outline, edge)).map_err(backend)
    }
}

fn backend(error: impl std::fmt::Display) -> PlotError {
    PlotError::Backend(error.to_string())
}

/// A design with all that its drawing depends on.
struct Design<'a> {
    point: &'a Point,
    series: usize,
    pixel: Pixel,
}

/// Draws `chart` on `area`.
pub(super) fn chart<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    chart: &Chart,
    medium: Medium,
) -> Result<(), PlotError> {
    use_embedded_font();
    let canvas = Canvas { area, medium };
    let finite = |x: f64, y: f64| x.is_finite() && y.is_finite();
    let points = || {
        let all = chart.series.iter().enumerate().flat_map(|(i, s)| s.points.iter().map(move |p| (i, p)));
        all.filter(|(_, p)| finite(p.x, p.y))
    };
    if points().next().is_none() {
        return Err(PlotError::Empty);
    }
    let references = || chart.references.iter().filter(|r| finite(r.x, r.y));
    let x_axis = Axis::new(points().map(|(_, p)| p.x).chain(references().map(|r| r.x)));
    let y_axis = Axis::new(points().map(|(_, p)| p.y).chain(references().map(|r| r.y)));
    let (Some(x_axis), Some(y_axis)) = (x_axis, y_axis) else { return Err(PlotError::Empty) };

    area.fill(&WHITE).map_err(backend)?;
    let px = |points: f64| canvas.pixels(points) as u32;
    let (plot_area, legend_area) = {
        let (width, _) = area.dim_in_pixel();
        area.split_horizontally(width - px(180.0))
    };
    let mut plot = ChartBuilder::on(&plot_area)
        .caption(&chart.title, canvas.bold(17.0).color(&INK))
        .margin(px(12.0))
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

    // The mesh would not put these at the height of their ticks.
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
    let costs: Vec<Costs> = designs.iter().map(|d| Costs { first: d.point.x, second: d.point.y }).collect();
    let front = pareto::front(&costs);
    let on_front = |i: usize| front.contains(&i);
    let marker = |series: usize| MARKERS[series];
    let radius = if designs.len() > NAMED_POINTS { 2.8 } else { 4.2 };

    // From the back to the front: series, front, other designs, designs of the front, references.
    if !one_series && designs.len() <= NAMED_POINTS {
        for series in 0..chart.series.len() {
            let line: Vec<Pixel> = designs.iter().filter(|d| d.series == series).map(|d| d.pixel).collect();
            canvas.line(&line, marker(series).0.mix(0.45), 1.0)?;
        }
    }
    let front_line: Vec<Pixel> = front.iter().map(|&i| designs[i].pixel).collect();
    canvas.line(&front_line, FRONT.to_rgba(), 2.4)?;
    for (_, design) in designs.iter().enumerate().filter(|&(i, _)| !on_front(i)) {
        let (color, shape) = marker(design.series);
        canvas.marker(shape, design.pixel, radius, color.mix(0.75), INK.mix(0.6))?;
    }
    for &i in &front {
        let (color, shape) = marker(designs[i].series);
        canvas.marker(shape, designs[i].pixel, radius + 1.2, color.to_rgba(), INK.to_rgba())?;
    }
    for reference in references() {
        canvas.marker(Shape::Star, pixel(reference.x, reference.y), 7.0, WHITE.to_rgba(), FRONT.to_rgba())?;
    }

    // Names keep off everything drawn so far.
    let mut page = Page::new(Rect {
        x: x_pixels.start.into(),
        y: y_pixels.start.into(),
        width: (x_pixels.end - x_pixels.start).into(),
        height: (y_pixels.end - y_pixels.start).into(),
    });
    for design in &designs {
        page.take(Rect::around(design.pixel, canvas.pixels(radius + 1.5)));
    }
    for ends in front_line.windows(2) {
        page.take_line(ends[0], ends[1], canvas.pixels(3.0));
    }
    for reference in references() {
        page.take(Rect::around(pixel(reference.x, reference.y), canvas.pixels(9.0)));
    }
    let name_font = canvas.font(12.5);
    let mut name = |text: &str, at: Pixel, size: f64, gap: f64, color: RGBColor| -> Result<bool, PlotError> {
        let font = name_font.resize(canvas.pixels(size));
        let place = page.place(at, canvas.size(text, &font)?, canvas.pixels(gap));
        if let Some(place) = place {
            canvas.text(text, (place.x, place.y + place.height / 2.0), HPos::Left, font, color)?;
        }
        Ok(place.is_some())
    };
    for &i in &front {
        name(&designs[i].point.name, designs[i].pixel, 12.5, 8.0, INK)?;
    }
    for reference in references() {
        name(&reference.label, pixel(reference.x, reference.y), 12.5, 13.0, FRONT)?;
    }
    if designs.len() <= NAMED_POINTS {
        for (_, design) in designs.iter().enumerate().filter(|&(i, _)| !on_front(i)) {
            name(&design.point.short_name, design.pixel, 10.0, 7.5, MUTED)?;
        }
    }
    drop(legend_area);
    legend(&canvas, chart, one_series, x_pixels.end.into(), y_pixels.start.into())?;
    area.present().map_err(backend)
}

/// The legend, with its upper left corner to the right of (`x`, `y`).
fn legend<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    chart: &Chart,
    one_series: bool,
    x: f64,
    y: f64,
) -> Result<(), PlotError> {
    let (symbol, text) = (x + canvas.pixels(26.0), x + canvas.pixels(44.0));
    let mut y = y + canvas.pixels(10.0);
    let step = canvas.pixels(20.0);
    let entry = |text: &str, x: f64, y: f64, font, color| canvas.text(text, (x, y), HPos::Left, font, color);
    let plain = || canvas.font(12.5);
    if !chart.series_label.is_empty() && !one_series {
        entry(&chart.series_label, symbol - canvas.pixels(6.0), y, canvas.bold(12.5), INK)?;
        y += step;
        for (series, (color, shape)) in chart.series.iter().zip(MARKERS) {
            canvas.marker(shape, (symbol, y), 4.6, color.to_rgba(), INK.to_rgba())?;
            entry(&series.label, text, y, plain(), INK)?;
            y += step;
        }
        y += step / 2.0;
    }
    let half = canvas.pixels(10.0);
    canvas.line(&[(symbol - half, y), (symbol + half, y)], FRONT.to_rgba(), 2.4)?;
    entry("Pareto front", text, y, plain(), INK)?;
    y += step;
    if !chart.name_label.is_empty() {
        entry(&chart.name_label, text, y, plain(), INK)?;
        y += step;
    }
    if !chart.short_name_label.is_empty() {
        entry(&format!("others: {}", chart.short_name_label), text, y, canvas.font(10.0), MUTED)?;
        y += step;
    }
    if !chart.references.is_empty() {
        canvas.marker(Shape::Star, (symbol, y), 7.0, WHITE.to_rgba(), FRONT.to_rgba())?;
        entry("reference", text, y, plain(), INK)?;
    }
    Ok(())
}
