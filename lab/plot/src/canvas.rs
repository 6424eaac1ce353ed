//! The page of all charts: sizes in points, text in the embedded font, markers.

use super::labels::Rect;
use super::{MAX_SERIES, PlotError};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use std::sync::Once;

pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
pub(super) const MUTED: RGBColor = RGBColor(110, 110, 110);
pub(super) const GRID: RGBColor = RGBColor(226, 226, 226);
pub(super) const FINE_GRID: RGBColor = RGBColor(243, 243, 243);
pub(super) const FRONT: RGBColor = RGBColor(192, 40, 40);
/// The opacity of the edges of designs that are not on a front.
pub(super) const EDGE: f64 = 0.6;
/// The opacity of references, which lie on designs.
pub(super) const STAR: f64 = 0.7;
const FONT: &str = "sans-serif";
/// The size of letters over the size of a font, in plotters' vector graphics.
pub(super) const FONT_SHARE: f64 = 1.0 / 1.24;

/// Colours from dark to light, so that they differ in grey print; shapes repeat the distinction.
pub(super) const MARKERS: [(RGBColor, Shape); MAX_SERIES] = [
    (RGBColor(68, 1, 84), Shape::Circle),
    (RGBColor(49, 104, 142), Shape::Square),
    (RGBColor(53, 183, 121), Shape::Triangle),
    (RGBColor(253, 210, 37), Shape::Diamond),
    (RGBColor(150, 60, 130), Shape::TriangleDown),
    (RGBColor(110, 150, 190), Shape::Cross),
    (RGBColor(190, 190, 190), Shape::Circle),
    (RGBColor(255, 255, 255), Shape::Square),
];

/// The direction of hatching lines.
#[derive(Clone, Copy)]
enum Hatch {
    Rising,
    Falling,
    Horizontal,
    Vertical,
}

/// The hatching of each series, which distinguishes bars without colour.
const HATCHINGS: [&[Hatch]; MAX_SERIES] = [
    &[],
    &[Hatch::Rising],
    &[Hatch::Falling],
    &[Hatch::Horizontal],
    &[Hatch::Rising, Hatch::Falling],
    &[Hatch::Vertical],
    &[Hatch::Horizontal, Hatch::Vertical],
    &[],
];

/// The relative luminance of a colour, from 0 to 1, as WCAG 2 defines it.
pub(super) fn luminance(RGBColor(r, g, b): RGBColor) -> f64 {
    let linear = |part: u8| match f64::from(part) / 255.0 {
        dark if dark <= 0.04045 => dark / 12.92,
        light => ((light + 0.055) / 1.055).powf(2.4),
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// The contrast of two colours, from 1 to 21: small text needs 4.5.
pub(super) fn contrast(a: RGBColor, b: RGBColor) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Black or white: what is easier to read on a colour.
pub(super) fn ink_on(color: RGBColor) -> RGBColor {
    if contrast(color, BLACK) < contrast(color, WHITE) { WHITE } else { BLACK }
}

#[derive(Clone, Copy)]
pub(super) enum Shape {
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

/// The size of labels that are longer than their axis, in points: still longer ones are shortened.
const LEAST_LABEL: f64 = 8.0;

/// The font of all text; bitmaps have no other.
fn use_embedded_font() {
    static REGISTER: Once = Once::new();
    REGISTER.call_once(|| {
        // An invalid font shows as an error of the first text drawn.
        let _ = register_font(FONT, FontStyle::Normal, dejavu::sans::regular());
        let _ = register_font(FONT, FontStyle::Bold, dejavu::sans::bold());
    });
}

/// A pixel position.
pub(super) type Pixel = (f64, f64);

fn round((x, y): Pixel) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

/// The differences between the output media.
#[derive(Clone, Copy)]
pub(super) struct Medium {
    /// Pixels per point.
    pub(super) scale: u32,
    /// The downward shift of text, as a share of its size.
    pub(super) sink: f64,
}

/// The page; all sizes are in points.
pub(super) struct Canvas<'a, DB: DrawingBackend> {
    area: &'a DrawingArea<DB, Shift>,
    medium: Medium,
}

impl<'a, DB: DrawingBackend> Canvas<'a, DB> {
    /// A page for drawing text.
    pub(super) fn new(area: &'a DrawingArea<DB, Shift>, medium: Medium) -> Self {
        use_embedded_font();
        Self { area, medium }
    }

    pub(super) fn pixels(&self, points: f64) -> f64 {
        points * f64::from(self.medium.scale)
    }

    pub(super) fn stroke(&self, points: f64) -> u32 {
        self.pixels(points).round().max(1.0) as u32
    }

    pub(super) fn font(&self, points: f64) -> FontDesc<'static> {
        (FONT, self.pixels(points)).into_font()
    }

    pub(super) fn bold(&self, points: f64) -> FontDesc<'static> {
        (FONT, self.pixels(points), FontStyle::Bold).into_font()
    }

    pub(super) fn line(&self, points: &[Pixel], color: RGBAColor, width: f64) -> Result<(), PlotError> {
        let points: Vec<_> = points.iter().copied().map(round).collect();
        let style = color.stroke_width(self.stroke(width));
        self.area.draw(&PathElement::new(points, style)).map_err(backend)
    }

    /// Draws a dashed line.
    pub(super) fn dashes(
        &self,
        from: Pixel,
        to: Pixel,
        color: RGBAColor,
        width: f64,
    ) -> Result<(), PlotError> {
        let (across, down) = (to.0 - from.0, to.1 - from.1);
        let count = (across.hypot(down) / self.pixels(8.0)).ceil().max(1.0);
        let at = |share: f64| (from.0 + share * across, from.1 + share * down);
        (0..count as u32)
            .map(f64::from)
            .try_for_each(|dash| self.line(&[at(dash / count), at((dash + 0.6) / count)], color, width))
    }

    /// Draws a text vertically centred at `at`, which is its left or right end.
    pub(super) fn text(
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

    /// The size in points, from `least` to `size`, at which a bold text is at most `width` pixels wide. It is
    /// wider if it is too long for the least size.
    pub(super) fn fitting(&self, text: &str, size: f64, least: f64, width: f64) -> Result<f64, PlotError> {
        let (full, _) = self.size(text, &self.bold(size))?;
        Ok((size * (width / full).min(1.0)).max(least))
    }

    /// Draws a text that reads upwards, centred at `at`.
    pub(super) fn text_up(
        &self,
        text: &str,
        at: Pixel,
        font: FontDesc<'static>,
        color: RGBColor,
    ) -> Result<(), PlotError> {
        let at = (at.0 + self.medium.sink * font.get_size(), at.1);
        let style = font.transform(FontTransform::Rotate270).color(&color);
        let style = style.pos(Pos::new(HPos::Center, VPos::Center));
        self.area.draw(&Text::new(text.to_owned(), round(at), style)).map_err(backend)
    }

    /// Fills a rectangle.
    pub(super) fn fill(&self, rect: Rect, color: RGBColor) -> Result<(), PlotError> {
        let corners = [round((rect.x, rect.y)), round((rect.x + rect.width, rect.y + rect.height))];
        self.area.draw(&Rectangle::new(corners, color.filled())).map_err(backend)
    }

    /// Draws the edge of a rectangle.
    pub(super) fn outline(&self, rect: Rect, color: RGBColor, width: f64) -> Result<(), PlotError> {
        let corners = [round((rect.x, rect.y)), round((rect.x + rect.width, rect.y + rect.height))];
        self.area.draw(&Rectangle::new(corners, color.stroke_width(self.stroke(width)))).map_err(backend)
    }

    /// Fills a rectangle in the style of the `series`-th series: colour and hatching.
    pub(super) fn bar(&self, rect: Rect, series: usize) -> Result<(), PlotError> {
        let (color, _) = MARKERS[series];
        let lines = HATCHINGS[series];
        self.fill(rect, color)?;
        let hatch = ink_on(color);
        let step = self.pixels(7.0);
        let draw = |from: Pixel, to: Pixel| self.line(&[from, to], hatch.mix(0.8), 0.8);
        for &direction in lines {
            match direction {
                Hatch::Horizontal | Hatch::Vertical => {
                    let (length, across) = if matches!(direction, Hatch::Horizontal) {
                        (rect.height, false)
                    } else {
                        (rect.width, true)
                    };
                    for i in 1..=(length / step) as u32 {
                        let at = f64::from(i) * step;
                        if across {
                            draw((rect.x + at, rect.y), (rect.x + at, rect.y + rect.height))?;
                        } else {
                            draw((rect.x, rect.y + at), (rect.x + rect.width, rect.y + at))?;
                        }
                    }
                }
                Hatch::Rising | Hatch::Falling => {
                    // Lines x + y = c in the rectangle's coordinates, mirrored for falling lines.
                    for i in 1..=((rect.width + rect.height) / step) as u32 {
                        let c = f64::from(i) * step;
                        let (x0, x1) = ((c - rect.height).max(0.0), c.min(rect.width));
                        let at = |x: f64| {
                            let across = if matches!(direction, Hatch::Rising) { x } else { rect.width - x };
                            (rect.x + across, rect.y + c - x)
                        };
                        draw(at(x0), at(x1))?;
                    }
                }
            }
        }
        self.outline(rect, INK, 1.0)
    }

    /// Width and height of a text.
    pub(super) fn size(&self, text: &str, font: &FontDesc<'static>) -> Result<Pixel, PlotError> {
        let style = font.clone().into_text_style(self.area);
        let (width, height) = self.area.estimate_text_size(text, &style).map_err(backend)?;
        Ok((width.into(), height.into()))
    }

    /// Breaks a text into lines of at most `width` pixels: at its spaces, and within words that are longer
    /// than a line.
    pub(super) fn lines(
        &self,
        text: &str,
        font: &FontDesc<'static>,
        width: f64,
    ) -> Result<Vec<String>, PlotError> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for word in text.split(' ') {
            let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
            if self.size(&longer, font)?.0 <= width {
                line = longer;
                continue;
            }
            lines.extend(Some(line).filter(|line| !line.is_empty()));
            let mut rest = word;
            while self.size(rest, font)?.0 > width {
                let end = self.start(rest, font, width);
                if end == rest.len() {
                    break;
                }
                lines.push(rest[..end].to_owned());
                rest = &rest[end..];
            }
            line = rest.to_owned();
        }
        lines.push(line);
        Ok(lines)
    }

    /// The length in bytes of the start of a text that has room in `width` pixels: at least one character.
    fn start(&self, text: &str, font: &FontDesc<'static>, width: f64) -> usize {
        let ends: Vec<usize> = text.char_indices().map(|(at, letter)| at + letter.len_utf8()).collect();
        let fits = |end: &usize| self.size(&text[..*end], font).is_ok_and(|(start, _)| start <= width);
        ends.get(ends.partition_point(fits).max(1) - 1).copied().unwrap_or(0)
    }

    /// The text, or its start with an ellipsis, of at most `width` pixels.
    pub(super) fn shortened(
        &self,
        text: &str,
        font: &FontDesc<'static>,
        width: f64,
    ) -> Result<String, PlotError> {
        if self.size(text, font)?.0 <= width {
            return Ok(text.to_owned());
        }
        let (ellipsis, _) = self.size("…", font)?;
        Ok(format!("{}…", &text[..self.start(text, font, width - ellipsis)]))
    }

    /// A font, not larger than this one, and a text, perhaps shortened, that is at most `width` pixels wide
    /// with it.
    pub(super) fn fitted(
        &self,
        text: &str,
        font: FontDesc<'static>,
        width: f64,
    ) -> Result<(FontDesc<'static>, String), PlotError> {
        let (full, _) = self.size(text, &font)?;
        let least = self.pixels(LEAST_LABEL).min(font.get_size());
        let size = (font.get_size() * (width / full).min(1.0)).max(least);
        let font = font.resize(size);
        let text = if size > least { text.to_owned() } else { self.shortened(text, &font, width)? };
        Ok((font, text))
    }

    pub(super) fn marker(
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

    /// A ring around a marker.
    pub(super) fn ring(&self, at: Pixel, radius: f64, color: RGBColor) -> Result<(), PlotError> {
        let radius = self.pixels(radius).round() as i32;
        self.area.draw(&Circle::new(round(at), radius, color.stroke_width(self.stroke(1.0)))).map_err(backend)
    }
}

pub(super) fn backend(error: impl std::fmt::Display) -> PlotError {
    PlotError::Backend(error.to_string())
}
