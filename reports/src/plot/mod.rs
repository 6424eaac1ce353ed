//! Charts of two costs with their Pareto front, as SVG and PNG.
//!
//! [`Chart`] is the content; [`svg`] and [`png()`] draw it. Both go through one drawing routine, so
//! that they differ in their medium only.

mod axis;
mod draw;
mod labels;

use draw::Medium;
use plotters::prelude::{BitMapBackend, IntoDrawingArea, SVGBackend};
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
    /// What the series have in common: the heading of the legend. Empty without series.
    pub series_label: String,
    /// How the front's points are named: shown in the legend, e.g. `(HPLEs, banks)`.
    pub name_label: String,
    /// How the other points are named, e.g. `HPLEs`.
    pub short_name_label: String,
    /// The designs, by series. More than [`MAX_SERIES`] are drawn as one.
    pub series: Vec<Series>,
    /// Points from elsewhere to compare with; they take no part in the front.
    pub references: Vec<Reference>,
}

/// Designs that share a marker and are joined by a thin line.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Series {
    /// The entry in the legend.
    pub label: String,
    /// The designs, in the order in which the line joins them.
    pub points: Vec<Point>,
}

/// One design.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Point {
    /// The horizontal cost.
    pub x: f64,
    /// The vertical cost.
    pub y: f64,
    /// Its name where it is on the front.
    pub name: String,
    /// Its name where it is not, and there is room: short, as the series says the rest.
    pub short_name: String,
}

/// A point from another source, such as a publication.
#[derive(Clone, PartialEq, Debug)]
pub struct Reference {
    /// The horizontal cost.
    pub x: f64,
    /// The vertical cost.
    pub y: f64,
    /// Where it comes from, and what it is.
    pub label: String,
}

/// A chart that cannot be drawn.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlotError {
    /// There is nothing to draw.
    #[error("there is no point to draw: no point of the sweep has a latency and an area")]
    Empty,
    /// The drawing library failed.
    #[error("the chart could not be drawn: {0}")]
    Backend(String),
}

/// The most series that are told apart; where there are more, all designs look alike.
pub const MAX_SERIES: usize = 8;

/// Width and height of a chart in points.
const SIZE: (u32, u32) = (960, 640);
/// Pixels per point in a PNG.
const PIXELS: u32 = 2;
/// A PNG is drawn this many times larger in each direction and averaged, for smooth edges.
const OVERSAMPLING: u32 = 2;

/// How far below its nominal place a bitmap has to draw text so that its digits are centred there,
/// as a share of the font's size: the bitmap backend takes a text for higher than it is.
const BITMAP_SINK: f64 = 0.2;

/// Draws the chart as an SVG document.
///
/// # Errors
/// Where there is no point.
pub fn svg(chart: &Chart) -> Result<String, PlotError> {
    let mut text = String::new();
    draw::chart(
        &SVGBackend::with_string(&mut text, SIZE).into_drawing_area(),
        chart,
        Medium { scale: 1, sink: 0.0 },
    )?;
    Ok(text)
}

/// Draws the chart as a PNG file.
///
/// # Errors
/// Where there is no point.
pub fn png(chart: &Chart) -> Result<Vec<u8>, PlotError> {
    let (width, height) = (SIZE.0 * PIXELS, SIZE.1 * PIXELS);
    let large = (width * OVERSAMPLING, height * OVERSAMPLING);
    let mut pixels = vec![0; large.0 as usize * large.1 as usize * 3];
    let area = BitMapBackend::with_buffer(&mut pixels, large).into_drawing_area();
    draw::chart(&area, chart, Medium { scale: PIXELS * OVERSAMPLING, sink: BITMAP_SINK })?;
    drop(area);

    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let backend = |error: png::EncodingError| PlotError::Backend(error.to_string());
    let mut writer = encoder.write_header().map_err(backend)?;
    writer.write_image_data(&average(&pixels, width as usize)).map_err(backend)?;
    writer.finish().map_err(backend)?;
    Ok(file)
}

/// An RGB image of `width` pixels, each the mean of a square of [`OVERSAMPLING`]^2 pixels.
fn average(pixels: &[u8], width: usize) -> Vec<u8> {
    const FACTOR: usize = OVERSAMPLING as usize;
    let row = width * FACTOR * 3;
    let mut averaged = Vec::with_capacity(pixels.len() / (FACTOR * FACTOR));
    for rows in pixels.chunks_exact(row * FACTOR) {
        for x in 0..width {
            for channel in 0..3 {
                let samples = (0..FACTOR * FACTOR).map(|i| {
                    let (dy, dx) = (i / FACTOR, i % FACTOR);
                    usize::from(rows[dy * row + (x * FACTOR + dx) * 3 + channel])
                });
                averaged.push((samples.sum::<usize>() / (FACTOR * FACTOR)) as u8);
            }
        }
    }
    averaged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> Chart {
        let point = |x: f64, y: f64| Point { x, y, name: format!("({x}, {y})"), short_name: String::new() };
        Chart {
            title: "A < B & C".into(),
            x_label: "x (us)".into(),
            y_label: "y (mm²)".into(),
            series: vec![Series {
                label: "1".into(),
                points: vec![point(1.0, 40.0), point(20.0, 5.0), point(30.0, 30.0)],
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
    fn the_png_has_its_size_and_is_the_same_twice() {
        let file = png(&chart()).unwrap();
        let reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
        assert_eq!(reader.info().size(), (SIZE.0 * PIXELS, SIZE.1 * PIXELS));
        assert_eq!(file, png(&chart()).unwrap());
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
