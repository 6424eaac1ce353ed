//! Figures of a given width, for papers.

use super::canvas::Medium;
use super::{BITMAP_SINK, Figure, OVERSAMPLING, PlotError};
use diagnostic::printable;

/// How a figure is printed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Print {
    /// The width of the figure, in points of 1/72 inch.
    pub width_pt: f64,
    /// The size of the labels at axes, in the same points.
    pub font_pt: f64,
}

/// The place of the legend of a scatter chart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Legend {
    /// To the right of the plot.
    #[default]
    Outside,
    /// In the plot, where it hides no design.
    Inside,
    /// Nowhere.
    None,
}

impl Legend {
    /// All places.
    pub const ALL: [Self; 3] = [Self::Outside, Self::Inside, Self::None];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Outside => "outside",
            Self::Inside => "inside",
            Self::None => "none",
        }
    }
}

/// The size of labels at axes, in points of the layout.
const LABEL: f64 = 12.5;
/// The least width of a panel, in points of the layout: others stand below it.
const LEAST_PANEL: f64 = 280.0;
/// The height of a panel over its width, if no legend stands beside the plot.
const ASPECT: f64 = 0.75;
/// Pixels of an SVG for a point of the layout, since its coordinates are whole.
const SVG_PIXELS: u32 = 8;
/// The least resolution of a PNG, in pixels per inch.
const DENSITY: f64 = 600.0;
const PER_INCH: f64 = 72.0;
const MM: f64 = 25.4;

impl Print {
    /// The figure in the layout of a print: one point of it is `font_pt / LABEL` on paper.
    fn layout(&self, figure: &Figure, legend: Legend) -> Figure {
        let width = self.width_pt * LABEL / self.font_pt;
        let columns = figure.columns.min((width / LEAST_PANEL) as usize).max(1);
        let panel = width / columns as f64;
        let aspect = match legend {
            Legend::Outside => f64::from(figure.panel.1) / f64::from(figure.panel.0),
            Legend::Inside | Legend::None => ASPECT,
        };
        let panel = (panel.round() as u32, (aspect * panel).round() as u32);
        Figure { columns, panel, panels: figure.panels.clone() }
    }

    /// Draws a figure as an SVG document, whose width and height are millimetres.
    ///
    /// # Errors
    /// Returns an error if a panel has nothing to draw.
    pub fn svg(&self, figure: &Figure, legend: Legend) -> Result<String, PlotError> {
        let figure = self.layout(figure, legend);
        let size = figure.size(legend)?;
        let text = figure.vector(size, Medium { scale: SVG_PIXELS, sink: 0.0 }, legend)?;
        let pixels = |points: u32| points * SVG_PIXELS;
        let mm = |points: u32| self.width_pt / PER_INCH * MM * f64::from(points) / f64::from(size.0);
        let in_pixels = format!("width=\"{}\" height=\"{}\"", pixels(size.0), pixels(size.1));
        let in_mm = format!("width=\"{:.3}mm\" height=\"{:.3}mm\"", mm(size.0), mm(size.1));
        Ok(printable(&text.replacen(&in_pixels, &in_mm, 1)).into_owned())
    }

    /// Draws a figure as a PNG file, with its resolution.
    ///
    /// # Errors
    /// Returns an error if a panel has nothing to draw.
    pub fn png(&self, figure: &Figure, legend: Legend) -> Result<Vec<u8>, PlotError> {
        let figure = self.layout(figure, legend);
        let points_per_inch = PER_INCH * LABEL / self.font_pt;
        let scale = (DENSITY / points_per_inch).ceil() as u32;
        let per_metre = (f64::from(scale) * points_per_inch / MM * 1e3).round() as u32;
        let medium = Medium { scale: scale * OVERSAMPLING, sink: BITMAP_SINK };
        figure.raster(figure.size(legend)?, medium, legend, Some(per_metre))
    }
}
