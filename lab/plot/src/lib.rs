//! Charts as SVG and PNG: designs of two costs with their Pareto front, bars, lines, maps of cells, parallel
//! coordinates, tornado charts.
//!
//! A [`Figure`] holds one or more [`Panel`]s. [`Figure::svg`] and [`Figure::png`] draw it with one
//! routine, so they differ only in the medium. Series differ in shape or hatching as well as in
//! colour, so that grey prints are readable.

mod axis;
mod bars;
mod canvas;
mod dark;
mod frame;
mod heat;
mod labels;
mod lines;
mod parallel;
pub mod pareto;
mod scatter;
mod tornado;

pub use bars::{Bar, Bars, Stacking};
pub use heat::Heat;
pub use lines::{Line, Lines};
pub use parallel::{Parallel, ParallelAxis, ParallelLine};
pub use tornado::{Tornado, TornadoBar};

use canvas::{Canvas, Medium, backend};
use diagnostic::printable;
use labels::Rect;
use plotters::coord::Shift;
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend, WHITE};
use thiserror::Error;

/// A scatter chart of designs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// Quantity and unit of the horizontal axis.
    pub x_label: String,
    /// Quantity and unit of the vertical axis.
    pub y_label: String,
    /// The heading of the legend. Empty without series.
    pub series_label: String,
    /// What the names of the front's points list, shown in the legend: for example `HPLEs, VDM banks`.
    pub name_label: String,
    /// What the other points' names list: for example `HPLEs`.
    pub short_name_label: String,
    /// The designs, by series. More than [`MAX_SERIES`] series are drawn as one.
    pub series: Vec<Series>,
    /// Published points for comparison; they are not part of the front.
    pub references: Vec<Reference>,
    /// Lines across the chart.
    pub limits: Vec<Limit>,
    /// The meaning of marked points, in the legend.
    pub mark_label: String,
    /// The meaning of dotted points, in the legend.
    pub dot_label: String,
    /// Remarks below the legend.
    pub notes: Vec<String>,
    /// Whether the fronts are left out. All designs then have their short names only.
    pub without_front: bool,
    /// Whether designs on a front are not joined: it has more objectives than the chart has axes.
    pub scattered_front: bool,
}

/// Designs with the same marker.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Series {
    /// The entry in the legend.
    pub label: String,
    /// The designs, in the order of the line.
    pub points: Vec<Point>,
    /// Whether a thin line joins them. It has a meaning if they differ in one key, and are in its order.
    pub joined: bool,
}

/// One design.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Point {
    /// The horizontal quantity.
    pub x: f64,
    /// The vertical quantity.
    pub y: f64,
    /// Its name if it is on the front.
    pub name: String,
    /// Its short name if it is not on the front and there is room; the series implies the rest.
    pub short_name: String,
    /// Whether a ring marks it.
    pub marked: bool,
    /// Whether its marker has a light dot.
    pub dotted: bool,
    /// Whether it is pale: it cannot be on a front.
    pub pale: bool,
    /// The number of the front that it is on, if it is on one. A line joins the designs on a front.
    pub front: Option<usize>,
}

/// A point from another source, such as a publication.
#[derive(Clone, PartialEq, Debug)]
pub struct Reference {
    /// The horizontal cost.
    pub x: f64,
    /// The vertical cost.
    pub y: f64,
    /// Source and description.
    pub label: String,
}

/// A limit of a quantity.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    /// Whether it is one of the vertical quantity.
    pub vertical: bool,
    /// Its value.
    pub value: f64,
    /// The entry in the legend.
    pub label: String,
}

/// A chart that cannot be drawn.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlotError {
    /// There is nothing to draw.
    #[error("the chart has no points")]
    Empty,
    /// The drawing library failed.
    #[error("cannot draw the chart: {0}")]
    Backend(String),
}

/// The maximum number of distinguishable series; with more, all designs look alike.
pub const MAX_SERIES: usize = 8;

/// Width and height of a stand-alone [`Chart`], in points.
const SIZE: (u32, u32) = (960, 640);
/// Pixels per point in a PNG.
const PIXELS: u32 = 2;
/// The oversampling factor of a PNG in each direction, for smooth edges.
const OVERSAMPLING: u32 = 2;

/// The downward shift of text in bitmaps that centres its digits, as a share of the font's size:
/// the bitmap backend overestimates the height of text.
const BITMAP_SINK: f64 = 0.2;

/// A vector graphic.
const SVG: Medium = Medium { scale: 1, sink: 0.0 };

/// One drawing with its title, axes and legend.
#[derive(Clone, PartialEq, Debug)]
pub enum Panel {
    /// Designs of two costs.
    Scatter(Chart),
    /// Bars over categories.
    Bars(Bars),
    /// Lines over numbers.
    Lines(Lines),
    /// A map of cells.
    Heat(Heat),
    /// Parallel coordinates.
    Parallel(Parallel),
    /// A tornado chart.
    Tornado(Tornado),
}

/// Panels of one size in rows.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// Panels in a row, at least 1.
    pub columns: usize,
    /// Width and height of a panel, in points. It is higher if a legend does not fit.
    pub panel: (u32, u32),
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

impl From<Chart> for Figure {
    fn from(chart: Chart) -> Self {
        Self { columns: 1, panel: SIZE, panels: vec![Panel::Scatter(chart)] }
    }
}

impl Figure {
    /// Width and height, in points. Panels are higher than wanted if a legend needs it.
    fn size(&self) -> Result<(u32, u32), PlotError> {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns).max(1);
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, self.panel).into_drawing_area();
        let canvas = Canvas::new(&area, SVG);
        let mut height = self.panel.1;
        for panel in &self.panels {
            if let Panel::Scatter(chart) = panel {
                let needed = scatter::height(&canvas, chart, self.panel.0.into())?;
                height = height.max(needed.ceil() as u32);
            }
        }
        Ok((self.panel.0 * columns as u32, height * rows as u32))
    }

    /// Each panel as a figure of its own, at most `width` points wide: a page arranges them to fit its screen.
    pub fn apart(&self, width: u32) -> impl Iterator<Item = Self> {
        let panel = (self.panel.0.min(width), self.panel.1);
        self.panels.iter().map(move |one| Self { columns: 1, panel, panels: vec![one.clone()] })
    }

    /// Draws the figure as an SVG document.
    ///
    /// # Errors
    /// Returns an error if a panel has nothing to draw.
    pub fn svg(&self) -> Result<String, PlotError> {
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, self.size()?).into_drawing_area();
        self.draw(&area, SVG)?;
        drop(area);
        // XML forbids most control characters, even escaped.
        Ok(dark::with_dark(&printable(&text)))
    }

    /// Draws the figure as a PNG file.
    ///
    /// # Errors
    /// Returns an error if a panel has nothing to draw.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        let (width, height) = self.size()?;
        let (width, height) = (width * PIXELS, height * PIXELS);
        let large = (width * OVERSAMPLING, height * OVERSAMPLING);
        let mut pixels = vec![0; large.0 as usize * large.1 as usize * 3];
        let area = BitMapBackend::with_buffer(&mut pixels, large).into_drawing_area();
        self.draw(&area, Medium { scale: PIXELS * OVERSAMPLING, sink: BITMAP_SINK })?;
        drop(area);

        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let backend = |error: png::EncodingError| PlotError::Backend(error.to_string());
        let mut writer = encoder.write_header().map_err(backend)?;
        average(&mut pixels, width as usize);
        writer.write_image_data(&pixels).map_err(backend)?;
        writer.finish().map_err(backend)?;
        Ok(file)
    }

    fn draw<DB: DrawingBackend>(
        &self,
        page: &DrawingArea<DB, Shift>,
        medium: Medium,
    ) -> Result<(), PlotError> {
        page.fill(&WHITE).map_err(backend)?;
        let canvas = Canvas::new(page, medium);
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let areas = page.split_evenly((self.panels.len().div_ceil(columns).max(1), columns));
        for (panel, area) in self.panels.iter().zip(&areas) {
            let (x, y) = area.get_pixel_range();
            let region = Rect {
                x: x.start.into(),
                y: y.start.into(),
                width: (x.end - x.start).into(),
                height: (y.end - y.start).into(),
            };
            match panel {
                Panel::Scatter(chart) => scatter::draw(&canvas, area, chart)?,
                Panel::Bars(bars) => bars::draw(&canvas, region, bars)?,
                Panel::Lines(lines) => lines::draw(&canvas, region, lines)?,
                Panel::Heat(heat) => heat::draw(&canvas, region, heat)?,
                Panel::Parallel(parallel) => parallel::draw(&canvas, region, parallel)?,
                Panel::Tornado(tornado) => tornado::draw(&canvas, region, tornado)?,
            }
        }
        page.present().map_err(backend)
    }
}

/// Draws a stand-alone chart as an SVG document.
///
/// # Errors
/// Returns an error if there are no points.
pub fn svg(chart: &Chart) -> Result<String, PlotError> {
    Figure::from(chart.clone()).svg()
}

/// Draws a stand-alone chart as a PNG file.
///
/// # Errors
/// Returns an error if there are no points.
pub fn png(chart: &Chart) -> Result<Vec<u8>, PlotError> {
    Figure::from(chart.clone()).png()
}

/// Reduces an RGB image to `width` pixels a row, each the mean of a square of [`OVERSAMPLING`]^2 pixels. It stays in its place:
/// a pixel of the result is never behind the first one of its square.
fn average(pixels: &mut Vec<u8>, width: usize) {
    const FACTOR: usize = OVERSAMPLING as usize;
    let row = width * FACTOR * 3;
    let samples = pixels.len() / (FACTOR * FACTOR);
    for sample in 0..samples {
        let (pixel, channel) = (sample / 3, sample % 3);
        let square = pixel / width * FACTOR * row + pixel % width * FACTOR * 3 + channel;
        let of = |i: usize| usize::from(pixels[square + i / FACTOR * row + i % FACTOR * 3]);
        pixels[sample] = ((0..FACTOR * FACTOR).map(of).sum::<usize>() / (FACTOR * FACTOR)) as u8;
    }
    pixels.truncate(samples);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let point =
            |x: f64, y: f64, front| Point { x, y, name: format!("({x}, {y})"), front, ..Point::default() };
        Chart {
            title: "A < B & C".into(),
            x_label: "x (us)".into(),
            y_label: "y (mm²)".into(),
            series: vec![Series {
                label: "1".into(),
                points: vec![point(1.0, 40.0, Some(0)), point(20.0, 5.0, Some(0)), point(30.0, 30.0, None)],
                joined: true,
            }],
            ..Chart::default()
        }
    }

    #[test]
    fn the_svg_names_the_front_and_only_the_front() {
        let svg = svg(&chart()).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for text in ["A &lt; B &amp; C", "x (us)", "y (mm²)", "(1, 40)", "(20, 5)"] {
            assert!(svg.contains(text), "{text} is missing");
        }
        assert!(!svg.contains("(30, 30)"));
    }

    #[test]
    fn a_chart_has_several_fronts_or_none_and_joins_those_of_its_two_quantities() {
        let mut chart = chart();
        let lines = |chart: &Chart| svg(chart).unwrap().matches("<polyline").count();
        let one = lines(&chart);
        chart.series[0].points[2].front = Some(1);
        let two = svg(&chart).unwrap();
        assert!(two.contains("(30, 30)"), "the only design on its front");
        assert!(two.contains("Pareto front"));
        chart.series[0].points[2].front = Some(0);
        assert_eq!(lines(&chart), one);
        chart.scattered_front = true;
        // Neither the front nor its entry in the legend.
        assert_eq!(lines(&chart), one - 2);
        assert!(svg(&chart).unwrap().contains("large: Pareto front"));
        chart.without_front = true;
        let none = svg(&chart).unwrap();
        assert!(!none.contains("Pareto front") && !none.contains("(1, 40)"));
    }

    #[test]
    fn parallel_coordinates_and_tornado_charts_name_keys_and_values() {
        let axis = |label: &str, categories: &[&str]| ParallelAxis {
            label: label.into(),
            categories: categories.iter().map(|&name| name.into()).collect(),
        };
        let line =
            |values: [f64; 2], highlighted| ParallelLine { values: values.into(), highlighted, pale: false };
        let parallel = Parallel {
            title: "designs".into(),
            axes: vec![axis("banks", &["32", "64"]), axis("time (us)", &[])],
            lines: vec![line([0.0, 5.0], true), line([1.0, 9.0], false)],
            highlight_label: "front".into(),
            notes: vec!["a remark".into()],
        };
        let figure = |panel| Figure { columns: 1, panel: (600, 400), panels: vec![panel] };
        let svg = figure(Panel::Parallel(parallel.clone())).svg().unwrap();
        for text in ["designs", "banks", "64", "time (us)", "front", "a remark"] {
            assert!(svg.contains(text), "{text} is missing");
        }
        let empty = Parallel { lines: Vec::new(), ..parallel };
        assert_eq!(figure(Panel::Parallel(empty)).svg(), Err(PlotError::Empty));

        let bar = TornadoBar { label: "banks".into(), low: (0.5, "64".into()), high: (4.0, "32".into()) };
        let tornado = Tornado { title: "time".into(), bars: vec![bar], ..Tornado::default() };
        let svg = figure(Panel::Tornado(tornado.clone())).svg().unwrap();
        assert!(svg.contains("banks") && svg.contains("x 2\n") && svg.contains("32"));
        let empty = Tornado { bars: Vec::new(), ..tornado };
        assert_eq!(figure(Panel::Tornado(empty)).svg(), Err(PlotError::Empty));
    }

    #[test]
    fn marked_points_have_a_ring_and_an_entry_in_the_legend() {
        let mut chart = chart();
        (chart.mark_label, chart.notes) = ("outside".into(), vec!["a remark".into()]);
        let plain = svg(&chart).unwrap();
        assert!(plain.contains("a remark") && !plain.contains("outside"));
        chart.series[0].points[2].marked = true;
        let marked = svg(&chart).unwrap();
        assert!(marked.contains("outside"));
        // One at the point, two in the legend.
        assert_eq!(marked.matches("<circle").count(), plain.matches("<circle").count() + 4);
        (chart.series[0].points[1].dotted, chart.dot_label) = (true, "inside".into());
        let dotted = svg(&chart).unwrap();
        assert!(dotted.contains("inside") && !marked.contains("inside"));
    }

    #[test]
    fn the_legend_tells_what_labels_list_if_there_are_any() {
        let mut chart = chart();
        (chart.name_label, chart.short_name_label) = ("HPLEs, banks".into(), "HPLEs".into());
        // The point off the front has no name.
        let svg_of = |chart: &Chart| svg(chart).unwrap();
        assert!(svg_of(&chart).contains("labels: HPLEs, banks") && !svg_of(&chart).contains("small labels"));
        chart.series[0].points[2].short_name = "64".into();
        assert!(svg_of(&chart).contains("small labels: HPLEs"));
        chart.short_name_label = chart.name_label.clone();
        assert!(!svg_of(&chart).contains("small labels"), "both list the same");
        chart.without_front = true;
        assert_eq!(svg_of(&chart).matches("labels: ").count(), 1);
    }

    #[test]
    fn the_png_has_its_size_and_is_the_same_twice() {
        let file = png(&chart()).unwrap();
        let reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
        assert_eq!(reader.info().size(), (SIZE.0 * PIXELS, SIZE.1 * PIXELS));
        assert_eq!(file, png(&chart()).unwrap());
    }

    #[test]
    fn a_legend_breaks_its_lines_rather_than_leave_the_page() {
        let names = "hple multiplier latency, hple initiation interval, vbar latency, sbar latency";
        let mut wide = chart();
        wide.name_label = names.into();
        wide.short_name_label = names.into();
        wide.series_label = names.into();
        let svg = svg(&wide).unwrap();
        let texts = svg.lines().filter(|line| !line.starts_with('<')).map(str::trim);
        let texts =
            texts.filter(|text| !text.is_empty() && names.contains(text.trim_start_matches("labels: ")));
        let texts: Vec<&str> = texts.collect();
        // Three texts of several lines; the last one in small print.
        assert!(texts.len() >= 7 && texts.iter().all(|text| text.len() <= 32), "{texts:?}");
    }

    #[test]
    fn limits_are_lines_within_the_axes_and_entries_of_the_legend() {
        let plain = svg(&chart()).unwrap();
        let limit = |vertical, value| Limit { vertical, value, label: format!("at most {value}") };
        let limited = Chart { limits: vec![limit(false, 50.0), limit(true, 60.0)], ..chart() };
        let limited = svg(&limited).unwrap();
        assert!(limited.contains("at most 50") && limited.contains("at most 60"));
        // The axes reach to the limits.
        let ticks = |svg: &str| svg.matches("\n50\n").count();
        assert_eq!((ticks(&plain), ticks(&limited)), (0, 2));
        let undefined = Chart { limits: vec![limit(true, f64::NAN)], ..chart() };
        assert!(svg(&undefined).is_ok());
    }

    #[test]
    fn a_page_is_high_enough_for_its_legend() {
        let height = |chart: &Chart| -> (f64, f64) {
            let svg = svg(chart).unwrap();
            let number = |text: &str| text.split('"').nth(1).unwrap().parse::<f64>().unwrap();
            let lowest = svg.match_indices(" y=\"").map(|(at, _)| number(&svg[at..])).fold(0.0, f64::max);
            (number(&svg[svg.find(" height=").unwrap()..]), lowest)
        };
        let mut long = chart();
        assert_eq!(height(&long).0, f64::from(SIZE.1));
        long.notes =
            (0..30).map(|i| format!("Not modelled: costs of key {i} (a reason of several words)")).collect();
        let (height, lowest) = height(&long);
        assert!(lowest > f64::from(SIZE.1) && lowest + 5.0 < height, "{lowest} of {height}");
        assert!(png(&long).is_ok());
    }

    #[test]
    fn a_chart_without_points_is_an_error() {
        assert_eq!(svg(&Chart::default()), Err(PlotError::Empty));
        let mut undefined = chart();
        undefined.series[0].points.iter_mut().for_each(|point| point.x = f64::NAN);
        assert_eq!(svg(&undefined), Err(PlotError::Empty));
    }

    #[test]
    fn a_single_point_is_drawn() {
        let mut single = chart();
        single.series[0].points.truncate(1);
        assert!(svg(&single).unwrap().contains("(1, 40)"));
    }
}
