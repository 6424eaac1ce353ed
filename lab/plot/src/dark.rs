//! Charts in dark mode: a style within the SVG, for readers who prefer dark pages.
//!
//! A chart has its own background, so it is legible on a page of either kind, and where no style is read.
//! What lies on a cell of a map is black or white, and stays so.

use super::canvas::{EDGE, FINE_GRID, FRONT, GRID, INK, MARKERS, MUTED, STAR};
use plotters::prelude::{RGBColor, WHITE};
use std::fmt::Write;

/// The background.
const PANEL: RGBColor = RGBColor(28, 28, 30);

/// Markers of the last series, which are white on a light background.
const LAST: RGBColor = RGBColor(118, 118, 124);

/// The colours that change: those of texts and lines, and those of series that are too dark for a dark
/// background.
const COLOURS: [(RGBColor, RGBColor); 9] = [
    (INK, RGBColor(230, 230, 230)),
    (MUTED, RGBColor(170, 170, 174)),
    (GRID, RGBColor(60, 60, 64)),
    (FINE_GRID, RGBColor(40, 40, 43)),
    (FRONT, RGBColor(240, 92, 86)),
    (MARKERS[0].0, RGBColor(176, 132, 230)),
    (MARKERS[1].0, RGBColor(74, 155, 224)),
    (MARKERS[4].0, RGBColor(216, 122, 196)),
    (MARKERS[5].0, RGBColor(169, 196, 222)),
];

/// A colour as plotters writes it.
fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// The style. It holds for the chart alone, also where several are parts of a page.
fn style() -> String {
    let (white, panel, last) = (hex(WHITE), hex(PANEL), hex(LAST));
    let mut text = format!(
        "<style>@media (prefers-color-scheme:dark){{\
        .chart rect[fill=\"{white}\"]{{fill:{panel}}}.chart rect[stroke=\"{white}\"]{{stroke:{panel}}}\
        .chart polygon[fill=\"{white}\"]{{fill:{last}}}.chart polygon[fill=\"{white}\"][opacity=\"{STAR}\"]{{fill:{panel}}}"
    );
    for (light, dark) in COLOURS {
        let (light, dark) = (hex(light), hex(dark));
        for property in ["fill", "stroke"] {
            write!(text, ".chart [{property}=\"{light}\"]{{{property}:{dark}}}")
                .expect("writing to a string does not fail");
        }
    }
    // The edges of designs beside the front: light ones would hide the colours of a crowd.
    write!(text, ".chart [stroke=\"{}\"][opacity=\"{EDGE}\"]{{stroke:{panel}}}", hex(INK))
        .expect("writing to a string does not fail");
    text + "}</style>\n"
}

/// An SVG of plotters with the style.
pub(super) fn with_dark(svg: &str) -> String {
    let (head, body) = svg.split_once('\n').expect("the root element has a line");
    format!("{}\n{}{body}", head.replacen("<svg", "<svg class=\"chart\"", 1), style())
}

#[cfg(test)]
mod tests {
    use super::super::canvas::contrast;
    use super::*;

    #[test]
    fn texts_and_series_stand_out_from_the_dark_background() {
        let dark = |color: RGBColor| {
            let changed = COLOURS.iter().find(|(light, _)| *light == color);
            changed.map_or(color, |(_, dark)| *dark)
        };
        for text in [INK, MUTED, FRONT] {
            assert!(contrast(dark(text), PANEL) >= 4.5, "{text:?}");
            assert!(contrast(text, WHITE) >= 4.5, "{text:?}");
        }
        let series = MARKERS[..MARKERS.len() - 1].iter().map(|(series, _)| dark(*series));
        for series in series.chain([LAST]) {
            assert!(contrast(series, PANEL) >= 3.0, "{series:?}");
        }
    }

    #[test]
    fn the_style_names_the_colours_of_the_chart() {
        let svg = with_dark(
            "<svg width=\"9\" xmlns=\"http://www.w3.org/2000/svg\">\n<text fill=\"#222222\"/>\n</svg>\n",
        );
        assert!(svg.starts_with("<svg class=\"chart\" width=\"9\" xmlns"));
        assert!(svg.contains(".chart [fill=\"#222222\"]{fill:#E6E6E6}"));
        assert!(svg.ends_with("}}</style>\n<text fill=\"#222222\"/>\n</svg>\n"));
    }
}
