//! Figures of a given width, for papers.

use super::canvas::{FONT_SHARE, Medium};
use super::pdf::Sheet;
use super::{BITMAP_SINK, Figure, OVERSAMPLING, PlotError};
use diagnostic::printable;
use plotters::prelude::IntoDrawingArea;
use std::ops::{AddAssign, RangeInclusive};

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
    /// Beside the plot, or below it where it is narrow.
    #[default]
    Outside,
    /// In the plot, where it hides no design; outside if there is no such place.
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

/// A format of figures on paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A vector graphic whose width and height are millimetres.
    Svg,
    /// A picture with its resolution.
    Png,
    /// A page with the fonts that it needs.
    Pdf,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Svg, Self::Png, Self::Pdf];

    /// The extension of its files.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
            Self::Pdf => "pdf",
        }
    }

    /// The format of files with an extension.
    pub fn of(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.extension() == extension)
    }
}

/// A drawn figure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Printed {
    /// The file.
    pub content: Vec<u8>,
    /// What had no room.
    pub unplaced: Unplaced,
}

/// What had no room in a figure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unplaced {
    /// Designs on a front whose name is missing.
    pub designs: usize,
    /// Stars whose name is missing: references, and marked designs.
    pub stars: usize,
    /// Whether a legend that was to be in a plot is outside.
    pub legend: bool,
}

impl AddAssign for Unplaced {
    fn add_assign(&mut self, other: Self) {
        self.designs += other.designs;
        self.stars += other.stars;
        self.legend |= other.legend;
    }
}

/// A file with a figure, on paper if it has a width.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FigureFile {
    /// The format.
    pub format: Format,
    /// The width in points. A page of a PDF has one always: by default 17 cm.
    pub width_pt: Option<f64>,
    /// The size of the labels at axes on paper, in points.
    pub font_pt: f64,
    /// The place of the legend.
    pub legend: Legend,
}

/// The width of a PDF by default, in points: 17 cm.
const TWO_COLUMNS: f64 = 17.0 * 72.0 / 2.54;

impl FigureFile {
    /// Draws a figure.
    ///
    /// # Errors
    /// Returns an error if there is nothing to draw, or no room for it.
    pub fn draw(&self, figure: &Figure) -> Result<Printed, PlotError> {
        let Self { format, width_pt, font_pt, legend } = *self;
        match (width_pt.or((format == Format::Pdf).then_some(TWO_COLUMNS)), format) {
            (Some(width_pt), _) => Print { width_pt, font_pt }.draw(figure, legend, format),
            (None, Format::Png) => with_legend(legend, |legend| figure.on_screen_png(legend)),
            (None, Format::Svg | Format::Pdf) => with_legend(legend, |legend| figure.on_screen_svg(legend)),
        }
    }
}

/// Draws with a legend. If no place in a plot is free for it, it is outside in all panels.
fn with_legend(
    legend: Legend,
    draw: impl Fn(Legend) -> Result<Printed, PlotError>,
) -> Result<Printed, PlotError> {
    let printed = draw(legend)?;
    if !printed.unplaced.legend {
        return Ok(printed);
    }
    let mut outside = draw(Legend::Outside)?;
    outside.unplaced.legend = true;
    Ok(outside)
}

/// The sizes of labels on paper, in points.
pub const FONT_SIZES: RangeInclusive<f64> = 3.0..=72.0;

/// Points of 1/72 inch in each unit of a width.
const UNITS: [(&str, f64); 4] = [("cm", 72.0 / 2.54), ("mm", 72.0 / 25.4), ("in", 72.0), ("pt", 1.0)];

/// A width on paper, such as `8.5cm`, in points. A page of the largest usual format has 1.2 m.
///
/// # Errors
/// Returns what was expected.
pub fn width_pt(text: &str) -> Result<f64, String> {
    let expected = || "expected a number and a unit, such as 8.5cm, 85mm, 3.3in or 240pt".to_owned();
    let known = |(unit, points): (&str, f64)| Some((text.strip_suffix(unit)?, points));
    let (number, points) = UNITS.into_iter().find_map(known).ok_or_else(expected)?;
    let width = number.trim().parse::<f64>().map_err(|_| expected())? * points;
    if (72.0..=3456.0).contains(&width) { Ok(width) } else { Err("expected 1in to 48in".to_owned()) }
}

/// The place of the legend in a scatter chart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Beside,
    Below,
    Inside,
    Nowhere,
}

/// The sizes of scatter charts, in points of the layout.
pub(super) struct Sizes {
    /// Free space around the plot.
    pub(super) margin: f64,
    /// The room for the labels of each axis.
    pub(super) x_labels: f64,
    pub(super) y_labels: f64,
    /// The size of the title's letters, at most.
    pub(super) title: f64,
    /// The radius of a marker, and that of one among very many.
    pub(super) radius: f64,
    pub(super) crowd: f64,
    /// How much larger a star is than a marker: its notches are outside of the marker.
    pub(super) star: f64,
    /// Whether names are placed together, and not one after the other.
    pub(super) arranged: bool,
}

/// What differs between scatter charts on a screen and on paper.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) place: Place,
    pub(super) sizes: &'static Sizes,
}

impl Look {
    /// On a screen.
    pub(super) fn screen(legend: Legend) -> Self {
        Self { place: legend.place(Place::Beside), sizes: &SCREEN }
    }
}

impl Legend {
    /// The place, if outside of the plot is `outside`.
    fn place(self, outside: Place) -> Place {
        match self {
            Self::Outside => outside,
            Self::Inside => Place::Inside,
            Self::None => Place::Nowhere,
        }
    }
}

const SCREEN: Sizes = Sizes {
    margin: 12.0,
    x_labels: 48.0,
    y_labels: 58.0,
    title: 17.0,
    radius: 4.2,
    crowd: 2.8,
    star: 4.8,
    arranged: false,
};
const PAPER: Sizes = Sizes {
    margin: 5.0,
    x_labels: 36.0,
    y_labels: 48.0,
    title: 15.0,
    radius: 2.8,
    crowd: 1.9,
    star: 3.2,
    arranged: true,
};

/// The size of labels at axes, in points of the layout. Backends write a share of a font's size.
const LABEL: f64 = 12.5 * FONT_SHARE;
/// Fonts that viewers have. They are narrower than the embedded one, by which places are found.
const FONTS: &str = "Arial, Helvetica, 'Liberation Sans', sans-serif";
/// The least width of a figure, in points of the layout: 56 mm for letters of 8 points.
const LEAST_WIDTH: f64 = 200.0;
/// The least width of a panel, in points of the layout: others stand below it.
const LEAST_PANEL: f64 = 240.0;
/// The least width of a panel with its legend beside it.
const LEAST_BESIDE: f64 = 480.0;
/// The height of a panel over its width, if no legend stands beside the plot.
const ASPECT: f64 = 0.75;
/// Pixels of an SVG and of a PDF for a point of the layout, since coordinates are whole. Both show one
/// picture.
const PIXELS: u32 = 32;
/// The least resolution of a PNG, in pixels per inch.
const DENSITY: f64 = 600.0;
const PER_INCH: f64 = 72.0;
const MM: f64 = 25.4;

impl Print {
    /// The figure in the layout of a print: one point of it is `font_pt / LABEL` on paper.
    fn layout(&self, figure: &Figure, legend: Legend) -> (Figure, Look) {
        let width = self.width_pt * LABEL / self.font_pt;
        let columns = figure.columns.min((width / LEAST_PANEL) as usize).max(1);
        let panel = width / columns as f64;
        let place = legend.place(if panel < LEAST_BESIDE { Place::Below } else { Place::Beside });
        let aspect = match place {
            Place::Beside => f64::from(figure.panel.1) / f64::from(figure.panel.0),
            Place::Below | Place::Inside | Place::Nowhere => ASPECT,
        };
        let panel = (panel.round() as u32, (aspect * panel).round() as u32);
        (Figure { columns, panel, ..figure.clone() }, Look { place, sizes: &PAPER })
    }

    /// Refuses letters that leave no room for a plot.
    fn check(&self) -> Result<(), PlotError> {
        let least_pt = LEAST_WIDTH * self.font_pt / LABEL;
        if self.width_pt >= least_pt {
            return Ok(());
        }
        Err(PlotError::Narrow {
            width_mm: (least_pt / PER_INCH * MM).ceil() as u32,
            font_pt: (self.width_pt * LABEL / LEAST_WIDTH).floor() as u32,
        })
    }

    /// Draws a figure as a file.
    ///
    /// # Errors
    /// Returns an error if a panel has nothing to draw, or no room for its letters.
    pub fn draw(&self, figure: &Figure, legend: Legend, format: Format) -> Result<Printed, PlotError> {
        with_legend(legend, |legend| self.draw_with(figure, legend, format))
    }

    /// Draws a figure with the legend in this place, or without it if the place is not free.
    fn draw_with(&self, figure: &Figure, legend: Legend, format: Format) -> Result<Printed, PlotError> {
        self.check()?;
        let (figure, look) = self.layout(figure, legend);
        let size = figure.size(look)?;
        let medium = |scale: u32| Medium { scale, sink: 0.0 };
        let (content, unplaced) = match format {
            Format::Svg => {
                let (text, unplaced) = figure.vector(size, medium(PIXELS), look)?;
                (self.in_millimetres(&text, size).into_bytes(), unplaced)
            }
            Format::Png => {
                let points_per_inch = PER_INCH * LABEL / self.font_pt;
                let scale = (DENSITY / points_per_inch).ceil() as u32;
                let per_metre = (f64::from(scale) * points_per_inch / MM * 1e3).round() as u32;
                let medium = Medium { scale: scale * OVERSAMPLING, sink: BITMAP_SINK };
                figure.raster(size, medium, look, Some(per_metre))?
            }
            Format::Pdf => {
                let mut sheet = Sheet::new((size.0 * PIXELS, size.1 * PIXELS))?;
                let unplaced = figure.draw(&sheet.pen().into_drawing_area(), medium(PIXELS), look)?;
                (sheet.file(self.width_pt)?, unplaced)
            }
        };
        Ok(Printed { content, unplaced })
    }

    /// An SVG document whose width and height are millimetres, in fonts that viewers have.
    fn in_millimetres(&self, text: &str, size: (u32, u32)) -> String {
        let pixels = |points: u32| points * PIXELS;
        let mm = |points: u32| self.width_pt / PER_INCH * MM * f64::from(points) / f64::from(size.0);
        let in_pixels = format!("width=\"{}\" height=\"{}\"", pixels(size.0), pixels(size.1));
        let in_mm = format!("width=\"{:.3}mm\" height=\"{:.3}mm\"", mm(size.0), mm(size.1));
        let text = text.replacen(&in_pixels, &in_mm, 1);
        let text = text.replace(" font-family=\"sans-serif\"", &format!(" font-family=\"{FONTS}\""));
        printable(&text).into_owned()
    }
}
