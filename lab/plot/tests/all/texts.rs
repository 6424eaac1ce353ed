//! Where the texts of an SVG document are.

use plotters::style::{FontDesc, FontFamily, FontStyle};

/// A text of a document.
#[derive(Debug)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) is_bold: bool,
    /// Left and right end, and upper and lower end, in pixels.
    pub(crate) ends: [(f64, f64); 2],
}

impl Text {
    /// Whether it is in a picture of this size.
    pub(crate) fn is_in(&self, (width, height): (f64, f64)) -> bool {
        let [x, y] = self.ends;
        x.0 >= 0.0 && x.1 <= width && y.0 >= 0.0 && y.1 <= height
    }

    /// Whether it covers a part of another one.
    pub(crate) fn is_over(&self, other: &Self) -> bool {
        self.ends.iter().zip(other.ends).all(|(own, other)| own.0 < other.1 && other.0 < own.1)
    }
}

/// The size of a document and its texts, in the font by which places are found. The height of a text is that
/// of its capitals.
pub(crate) fn texts(svg: &str) -> ((f64, f64), Vec<Text>) {
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let head = svg.split('>').next().expect("a document");
    let view: Vec<f64> =
        head.split("viewBox=\"").nth(1).unwrap().split('"').next().unwrap().split(' ').map(number).collect();
    let text = |element: &str| {
        let (tag, text) = element.split_once(">\n").expect("a text on a line");
        let attribute = |name: &str| tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next();
        let text = text.split("\n</text>").next().unwrap();
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let is_bold = attribute("font-weight") == Some("bold");
        let style = if is_bold { FontStyle::Bold } else { FontStyle::Normal };
        let letters = number(attribute("font-size").unwrap());
        // Plotters writes this share of the size of a font.
        let font = FontDesc::new(FontFamily::SansSerif, 100.0, style);
        let width = f64::from(font.box_size(&text).unwrap().0) * letters * 1.24 / 100.0;
        let [x, y] = ["x", "y"].map(|name| number(attribute(name).unwrap()));
        let left = match attribute("text-anchor").unwrap() {
            "start" => x,
            "middle" => x - width / 2.0,
            _ => x - width,
        };
        let high = 0.7 * letters;
        let up = match attribute("dy").unwrap() {
            "0.5ex" => -high / 2.0,
            "0.76em" => 0.0,
            _ => -high,
        };
        let ends = match attribute("transform") {
            // All of these read upwards, around their middle.
            Some(_) => [(x + up, x + up + high), (y - width / 2.0, y + width / 2.0)],
            None => [(left, left + width), (y + up, y + up + high)],
        };
        Text { text, is_bold, ends }
    };
    ((view[2], view[3]), svg.split("<text").skip(1).map(text).collect())
}
