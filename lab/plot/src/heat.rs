//! Maps of cells with values.

use super::PlotError;
use super::canvas::{Canvas, INK, ink_on};
use super::frame::{self, Swatch, Texts};
use super::labels::Rect;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

/// A map of cells. Low values are dark blue, high values light yellow; every cell shows its value,
/// and the two highest also their rank.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Heat {
    /// The title.
    pub title: String,
    /// Quantity and unit of the columns.
    pub x_label: String,
    /// Quantity and unit of the rows.
    pub y_label: String,
    /// The columns, from left to right.
    pub columns: Vec<String>,
    /// The rows, from bottom to top.
    pub rows: Vec<String>,
    /// The values, row by row, printed with `decimals` digits.
    pub values: Vec<f64>,
    /// Digits after the decimal point.
    pub decimals: usize,
}

/// Colours at equal distances from the lowest to the highest value, with increasing luminance.
const COLORS: [RGBColor; 5] = [
    RGBColor(8, 29, 88),
    RGBColor(34, 94, 168),
    RGBColor(65, 182, 196),
    RGBColor(199, 233, 180),
    RGBColor(255, 255, 217),
];

/// The colour of a share from 0 to 1.
fn color(share: f64) -> RGBColor {
    let position = share.clamp(0.0, 1.0) * (COLORS.len() - 1) as f64;
    let below = (position as usize).min(COLORS.len() - 2);
    let rest = position - below as f64;
    let mix = |a: u8, b: u8| (f64::from(a) + rest * (f64::from(b) - f64::from(a))).round() as u8;
    let (RGBColor(r0, g0, b0), RGBColor(r1, g1, b1)) = (COLORS[below], COLORS[below + 1]);
    RGBColor(mix(r0, r1), mix(g0, g1), mix(b0, b1))
}

/// Draws a map in `region`.
pub(super) fn draw<DB: DrawingBackend>(
    canvas: &Canvas<'_, DB>,
    region: Rect,
    heat: &Heat,
) -> Result<(), PlotError> {
    let low = heat.values.iter().copied().min_by(f64::total_cmp).ok_or(PlotError::Empty)?;
    let high = heat.values.iter().copied().max_by(f64::total_cmp).ok_or(PlotError::Empty)?;
    let span = if high > low { high - low } else { 1.0 };
    let mut ranked: Vec<usize> = (0..heat.values.len()).collect();
    ranked.sort_by(|&a, &b| heat.values[b].total_cmp(&heat.values[a]));
    let texts = Texts {
        title: &heat.title,
        x_label: &heat.x_label,
        tick_lines: 1,
        y_ticks: heat.rows.clone(),
        y_label: &heat.y_label,
        legend: "",
        series: vec![],
    };
    let plot = frame::around(canvas, region, &texts, Swatch::Bar)?;
    let (columns, rows) = (heat.columns.len() as f64, heat.rows.len() as f64);
    let (width, height) = (plot.width / columns, plot.height / rows);
    let labels = heat.columns.iter().enumerate();
    let labels = labels.map(|(i, label)| (plot.x + (i as f64 + 0.5) * width, label.clone()));
    frame::horizontal(canvas, plot, labels)?;
    for (row, label) in heat.rows.iter().enumerate() {
        let y = plot.y + plot.height - (row as f64 + 1.0) * height;
        let at = (plot.x - canvas.pixels(6.0), y + height / 2.0);
        canvas.text(label, at, HPos::Right, canvas.font(12.5), INK)?;
        for column in 0..heat.columns.len() {
            let index = row * heat.columns.len() + column;
            let Some(&value) = heat.values.get(index) else { continue };
            let cell = Rect { x: plot.x + column as f64 * width, y, width, height };
            let fill = color((value - low) / span);
            let ink = ink_on(fill);
            canvas.fill(cell, fill)?;
            canvas.outline(cell, WHITE, 1.0)?;
            let decimals = heat.decimals;
            let middle = (cell.x + width / 2.0, cell.y + height / 2.0);
            canvas.text(&format!("{value:.decimals$}"), middle, HPos::Center, canvas.font(12.5), ink)?;
            if let Some(rank) = ranked.iter().take(2).position(|&i| i == index) {
                let below = (middle.0, middle.1 + canvas.pixels(15.0));
                canvas.text(["best", "second"][rank], below, HPos::Center, canvas.bold(10.5), ink)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{contrast, luminance};
    use super::*;

    #[test]
    fn higher_values_are_lighter() {
        let shades: Vec<f64> = (0..=20).map(|i| luminance(color(f64::from(i) / 20.0))).collect();
        assert!(shades.windows(2).all(|pair| pair[0] < pair[1]), "{shades:?}");
        assert_eq!(color(0.0), COLORS[0]);
        assert_eq!(color(1.0), COLORS[4]);
    }

    #[test]
    fn values_are_legible_on_every_cell() {
        let shades = (0..=400).map(|i| color(f64::from(i) / 400.0));
        let least = shades.map(|shade| contrast(shade, ink_on(shade))).min_by(f64::total_cmp).unwrap();
        assert!(least >= 4.5, "{least}");
    }
}
