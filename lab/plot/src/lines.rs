//! Line charts.

use super::axis::Axis;
use super::canvas::{Canvas, INK, MARKERS, Pixel};
use super::frame::{self, Swatch, Texts};
use super::labels::Rect;
use super::{MAX_SERIES, PlotError};
use plotters::prelude::*;

/// Lines with common axes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lines {
    /// The title.
    pub title: String,
    /// Quantity and unit of the horizontal axis.
    pub x_label: String,
    /// Whether the horizontal axis is logarithmic. Its values are then above 0.
    pub x_logarithmic: bool,
    /// Quantity and unit of the vertical axis.
    pub y_label: String,
    /// The heading of the legend; empty without.
    pub series_label: String,
    /// The lines, at most [`MAX_SERIES`]. The horizontal axis has labels at the points of the first
    /// line.
    pub series: Vec<Line>,
}

/// One line.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Line {
    /// The entry in the legend.
    pub label: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Draws lines in `region`.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    region: Rect,
    lines: &Lines,
) -> Result<(), PlotError> {
    let series = &lines.series[..lines.series.len().min(MAX_SERIES)];
    let points = || series.iter().flat_map(|line| line.points.iter().copied());
    let across = points().map(|(x, _)| x);
    let x_axis = if lines.x_logarithmic { Axis::logarithmic(across) } else { Axis::linear(across) };
    let x_axis = x_axis.ok_or(PlotError::Empty)?;
    let y_axis = Axis::new(points().map(|(_, y)| y)).ok_or(PlotError::Empty)?;
    let texts = Texts {
        title: &lines.title,
        x_label: &lines.x_label,
        tick_lines: 1,
        y_ticks: y_axis.labels().into_iter().map(|(_, text)| text).collect(),
        y_label: &lines.y_label,
        legend: &lines.series_label,
        series: if series.len() > 1 {
            series.iter().map(|line| line.label.as_str()).collect()
        } else {
            vec![]
        },
    };
    let plot = frame::around(canvas, region, &texts, Swatch::Marker)?;
    frame::vertical(canvas, plot, &y_axis)?;
    let across = |x: f64| plot.x + plot.width * x_axis.share(x);
    let ticks = series[0].points.iter().map(|&(x, _)| (across(x), x.to_string()));
    frame::horizontal(canvas, plot, ticks)?;

    let pixel = |&(x, y): &(f64, f64)| -> Pixel { (across(x), frame::height(plot, &y_axis, y)) };
    for (line, (color, _)) in series.iter().zip(MARKERS) {
        let path: Vec<Pixel> = line.points.iter().map(pixel).collect();
        canvas.line(&path, color.mix(0.7), 1.6)?;
    }
    for (line, (color, shape)) in series.iter().zip(MARKERS) {
        for point in &line.points {
            canvas.marker(shape, pixel(point), 4.2, color.to_rgba(), INK.to_rgba())?;
        }
    }
    Ok(())
}
