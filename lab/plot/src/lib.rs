//! Charts as SVG, PNG and PDF: designs of two costs with their Pareto front, bars, lines, maps of cells,
//! parallel coordinates, tornado charts.
//!
//! A [`Figure`] holds one or more [`Panel`]s. [`Figure::svg`] and [`Figure::png`] draw it with one
//! routine, so they differ only in the medium. Series differ in shape or hatching as well as in
//! colour, so that grey prints are readable.
//!
//! ```
//! use plot::{Chart, Figure, Point, Series, pareto};
//!
//! let designs = [[12.0, 9.6], [20.5, 6.7], [25.0, 7.1]];
//! let front = pareto::front(&designs);
//! assert_eq!(front, [0, 1]);
//! let point = |(index, &[x, y]): (usize, &[f64; 2])| {
//!     let front = front.contains(&index).then_some(0);
//!     Point { x, y, name: format!("design {index}"), front, ..Point::default() }
//! };
//! let points = designs.iter().enumerate().map(point).collect();
//! let chart = Chart {
//!     x_label: "area (mm²)".into(),
//!     y_label: "latency (µs)".into(),
//!     series: vec![Series { points, ..Series::default() }],
//!     ..Chart::default()
//! };
//! let svg = Figure::from(chart).svg()?;
//! assert!(svg.contains("area (mm²)"));
//! # Ok::<(), plot::PlotError>(())
//! ```

mod axis;
mod bars;
mod canvas;
mod dark;
mod frame;
mod heat;
mod labels;
mod legend;
mod lines;
mod parallel;
pub mod pareto;
mod pdf;
mod print;
mod scatter;
mod tornado;

pub use bars::{Bar, Bars, Stacking};
pub use heat::Heat;
pub use lines::{Line, Lines};
pub use parallel::{Parallel, ParallelAxis, ParallelLine};
pub use print::{FONT_SIZES, FigureFile, Format, Legend, Print, Printed, Unplaced, width_pt};
pub use tornado::{Tornado, TornadoBar};

use canvas::{Canvas, Medium, backend};
use diagnostic::printable;
use frame::Notes;
use labels::Rect;
use plotters::coord::Shift;
use plotters::prelude::{BitMapBackend, DrawingArea, DrawingBackend, IntoDrawingArea, SVGBackend, WHITE};
use print::Look;
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

/// A star: a point from another source, such as a publication, or a design of the chart that it marks.
#[derive(Clone, PartialEq, Debug)]
pub struct Reference {
    /// The horizontal cost.
    pub x: f64,
    /// The vertical cost.
    pub y: f64,
    /// Source and description.
    pub label: String,
    /// Whether it marks a design, whose quantities are the chart's own.
    pub is_design: bool,
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
    /// A width on paper in which letters leave no room for a plot.
    #[error(
        "the figure has no room for letters of this size: it needs a width of {width_mm} mm, or letters of \
         {font_pt} points"
    )]
    Narrow {
        /// The least width for the letters, in millimetres.
        width_mm: u32,
        /// The size of letters that have room in the width, in points.
        font_pt: u32,
    },
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
    /// Width and height of a panel, in points. It is higher if a legend, a title or the axes do not fit.
    pub panel: (u32, u32),
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// What all numbers rest on, below the panels: for example a technology. Empty without.
    pub basis: String,
}

impl From<Chart> for Figure {
    fn from(chart: Chart) -> Self {
        Self { columns: 1, panel: SIZE, panels: vec![Panel::Scatter(chart)], basis: String::new() }
    }
}

impl Figure {
    /// Width and height, in points. Panels are higher than wanted if a legend needs it.
    fn size(&self, look: Look) -> Result<(u32, u32), PlotError> {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns).max(1);
        let mut text = String::new();
        let area = SVGBackend::with_string(&mut text, self.panel).into_drawing_area();
        let canvas = Canvas::new(&area, SVG);
        let mut height = self.panel.1;
        for panel in &self.panels {
            // Further lines of a title make a panel higher, and take nothing from its plot.
            let titled = |title: &str| -> Result<f64, PlotError> {
                let lines = frame::Title::new(&canvas, title, canvas.pixels(self.panel.0.into()))?;
                Ok(f64::from(self.panel.1) + lines.further() / canvas.pixels(1.0))
            };
            let needed = match panel {
                Panel::Scatter(chart) => scatter::height(&canvas, chart, self.panel, look)?,
                Panel::Parallel(chart) => parallel::height(&canvas, chart, self.panel.0.into())?,
                Panel::Tornado(chart) => tornado::height(&canvas, chart, self.panel.0.into())?,
                Panel::Bars(Bars { title, .. })
                | Panel::Lines(Lines { title, .. })
                | Panel::Heat(Heat { title, .. }) => titled(title)?,
            };
            height = height.max(needed.ceil() as u32);
        }
        let (width, height) = (self.panel.0 * columns as u32, height * rows as u32);
        let page = Rect { x: 0.0, y: 0.0, width: width.into(), height: height.into() };
        Ok((width, height + self.foot(&canvas, page)?.height().ceil() as u32))
    }

    /// The basis at the lower end of a page.
    fn foot<DB: DrawingBackend>(&self, canvas: &Canvas<'_, DB>, page: Rect) -> Result<Notes, PlotError> {
        let basis = Some(self.basis.clone()).filter(|basis| !basis.is_empty());
        Notes::new(canvas, page, basis.as_slice())
    }

    /// Each panel as a figure of its own, at most `width` points wide: a page arranges them to fit its
    /// screen.
    pub fn apart(&self, width: u32) -> impl Iterator<Item = Self> {
        let panel = (self.panel.0.min(width), self.panel.1);
        self.panels.iter().map(move |one| Self {
            columns: 1,
            panel,
            panels: vec![one.clone()],
            ..self.clone()
        })
    }

    /// The figure without titles: the caption of a paper has them.
    #[must_use]
    pub fn without_titles(mut self) -> Self {
        for panel in &mut self.panels {
            let title = match panel {
                Panel::Scatter(chart) => &mut chart.title,
                Panel::Bars(bars) => &mut bars.title,
                Panel::Lines(lines) => &mut lines.title,
                Panel::Heat(heat) => &mut heat.title,
                Panel::Parallel(parallel) => &mut parallel.title,
                Panel::Tornado(tornado) => &mut tornado.title,
            };
            title.clear();
        }
        self
    }

    /// Draws the figure as an SVG document.
    ///
    /// # Errors
    /// Returns an error if a panel has nothing to draw.
    pub fn svg(&self) -> Result<String, PlotError> {
        Ok(self.dark_svg(Legend::Outside)?.0)
    }

    /// An SVG document for a screen, light or dark.
    fn dark_svg(&self, legend: Legend) -> Result<(String, Unplaced), PlotError> {
        // XML forbids most control characters, even escaped.
        let look = Look::screen(legend);
        let (text, unplaced) = self.vector(self.size(look)?, SVG, look)?;
        Ok((dark::with_dark(&printable(&text)), unplaced))
    }

    /// An SVG document for a screen, with the legend of scatter charts in a place.
    fn on_screen_svg(&self, legend: Legend) -> Result<Printed, PlotError> {
        let (text, unplaced) = self.dark_svg(legend)?;
        Ok(Printed { content: text.into_bytes(), unplaced })
    }

    /// The text of an SVG document of a size in points, and what had no room.
    fn vector(&self, size: (u32, u32), medium: Medium, look: Look) -> Result<(String, Unplaced), PlotError> {
        let mut text = String::new();
        let size = (size.0 * medium.scale, size.1 * medium.scale);
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        let unplaced = self.draw(&area, medium, look)?;
        drop(area);
        Ok((text, unplaced))
    }

    /// Draws the figure as a PNG file.
    ///
    /// # Errors
    /// Returns an error if a panel has nothing to draw.
    pub fn png(&self) -> Result<Vec<u8>, PlotError> {
        Ok(self.on_screen_png(Legend::Outside)?.content)
    }

    /// A PNG file for a screen, with the legend of scatter charts in a place.
    fn on_screen_png(&self, legend: Legend) -> Result<Printed, PlotError> {
        let medium = Medium { scale: PIXELS * OVERSAMPLING, sink: BITMAP_SINK };
        let look = Look::screen(legend);
        let (content, unplaced) = self.raster(self.size(look)?, medium, look, None)?;
        Ok(Printed { content, unplaced })
    }

    /// A PNG file of a size in points, perhaps with its pixels per metre, and what had no room.
    fn raster(
        &self,
        size: (u32, u32),
        medium: Medium,
        look: Look,
        per_metre: Option<u32>,
    ) -> Result<(Vec<u8>, Unplaced), PlotError> {
        let large = (size.0 * medium.scale, size.1 * medium.scale);
        let (width, height) = (large.0 / OVERSAMPLING, large.1 / OVERSAMPLING);
        let mut pixels = vec![0; large.0 as usize * large.1 as usize * 3];
        let area = BitMapBackend::with_buffer(&mut pixels, large).into_drawing_area();
        let unplaced = self.draw(&area, medium, look)?;
        drop(area);

        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let unit = png::Unit::Meter;
        encoder.set_pixel_dims(per_metre.map(|dots| png::PixelDimensions { xppu: dots, yppu: dots, unit }));
        let backend = |error: png::EncodingError| PlotError::Backend(error.to_string());
        let mut writer = encoder.write_header().map_err(backend)?;
        average(&mut pixels, width as usize);
        writer.write_image_data(&pixels).map_err(backend)?;
        writer.finish().map_err(backend)?;
        Ok((file, unplaced))
    }

    fn draw<DB: DrawingBackend>(
        &self,
        page: &DrawingArea<DB, Shift>,
        medium: Medium,
        look: Look,
    ) -> Result<Unplaced, PlotError> {
        let mut unplaced = Unplaced::default();
        page.fill(&WHITE).map_err(backend)?;
        let canvas = Canvas::new(page, medium);
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let foot = self.foot(&canvas, rect(page))?;
        foot.draw(&canvas)?;
        let (panels, _) = page.split_vertically(page.dim_in_pixel().1 - foot.height().ceil() as u32);
        let areas = panels.split_evenly((self.panels.len().div_ceil(columns).max(1), columns));
        for (panel, area) in self.panels.iter().zip(&areas) {
            let region = rect(area);
            match panel {
                Panel::Scatter(chart) => unplaced += scatter::draw(&canvas, area, chart, look)?,
                Panel::Bars(bars) => bars::draw(&canvas, region, bars)?,
                Panel::Lines(lines) => lines::draw(&canvas, region, lines)?,
                Panel::Heat(heat) => heat::draw(&canvas, region, heat)?,
                Panel::Parallel(parallel) => parallel::draw(&canvas, region, parallel)?,
                Panel::Tornado(tornado) => tornado::draw(&canvas, region, tornado)?,
            }
        }
        page.present().map_err(backend)?;
        Ok(unplaced)
    }
}

/// The place of an area on its page, in pixels.
fn rect<DB: DrawingBackend>(area: &DrawingArea<DB, Shift>) -> Rect {
    let (x, y) = area.get_pixel_range();
    Rect {
        x: x.start.into(),
        y: y.start.into(),
        width: (x.end - x.start).into(),
        height: (y.end - y.start).into(),
    }
}

/// Reduces an RGB image to `width` pixels a row, each the mean of a square of [`OVERSAMPLING`]^2 pixels. It
/// stays in its place: a pixel of the result is never behind the first one of its square.
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
