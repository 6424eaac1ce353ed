//! A screen as an SVG.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use std::fmt::Write;

/// The size of a character.
const WIDTH: f64 = 7.2;
const HEIGHT: f64 = 15.0;
const MARGIN: f64 = 8.0;
const PAPER: &str = "#1c1e22";

/// The picture of a screen.
pub(super) fn picture(buffer: &Buffer) -> String {
    let (columns, rows) = (usize::from(buffer.area.width), usize::from(buffer.area.height));
    let (width, height) = (columns as f64 * WIDTH + 2.0 * MARGIN, rows as f64 * HEIGHT + 2.0 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"{PAPER}\"/>\n"
    );
    for (row, cells) in buffer.content.chunks(columns).enumerate() {
        let style = |cell: &Cell| (cell.fg, cell.bg, cell.modifier);
        let mut column = 0;
        for run in cells.chunk_by(|a, b| style(a) == style(b)) {
            draw(&mut svg, (column, row), run);
            column += run.len();
        }
    }
    svg + "</svg>\n"
}

/// Draws characters of one style.
fn draw(svg: &mut String, (column, row): (usize, usize), run: &[Cell]) {
    let text: String = run.iter().map(Cell::symbol).collect();
    let (x, y) = (MARGIN + column as f64 * WIDTH, MARGIN + row as f64 * HEIGHT);
    let (ink, paper) = match run[0].modifier.contains(Modifier::REVERSED) {
        true => (PAPER, "#9aa0a8"),
        false => (colour(run[0].fg, "#d8dade"), colour(run[0].bg, "none")),
    };
    if paper != "none" {
        let width = run.len() as f64 * WIDTH;
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{HEIGHT}\" fill=\"{paper}\"/>"
        );
    }
    let characters: Vec<char> = text.chars().collect();
    let mut at = 0;
    // Word by word, so that columns align in every font; frames as lines.
    for word in characters.chunk_by(|a, b| kind(*a) == kind(*b)) {
        let length = word.len();
        if kind(word[0]) == Kind::Frame {
            let path = frame(word, (x + at as f64 * WIDTH, y));
            let _ = writeln!(svg, "<path d=\"{path}\" stroke=\"{ink}\" fill=\"none\"/>");
        } else if kind(word[0]) == Kind::Text {
            let word: String = word.iter().collect();
            let (x, y) = (x + at as f64 * WIDTH, y + 11.5);
            let word = word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let fit = match length {
                0..2 => String::new(),
                _ => format!(" textLength=\"{:.1}\"", length as f64 * WIDTH),
            };
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\"{fit} fill=\"{ink}\">{word}</text>");
        }
        at += length;
    }
}

/// What a character is to the picture.
#[derive(PartialEq, Eq)]
enum Kind {
    Space,
    Frame,
    Text,
}

fn kind(character: char) -> Kind {
    match character {
        ' ' => Kind::Space,
        '─' | '│' | '┌' | '┐' | '└' | '┘' => Kind::Frame,
        _ => Kind::Text,
    }
}

/// The lines of characters of frames, from the corner of the first one on.
fn frame(characters: &[char], (x, y): (f64, f64)) -> String {
    let mut left = x;
    let mut path = String::new();
    // A horizontal line is one line at any length.
    for part in characters.chunk_by(|a, b| (*a, *b) == ('─', '─')) {
        let right = left + part.len() as f64 * WIDTH;
        let (column, row, bottom) = (left + WIDTH / 2.0, y + HEIGHT / 2.0, y + HEIGHT);
        path += &match part[0] {
            '─' => format!("M{left:.1} {row:.1}H{right:.1}"),
            '│' => format!("M{column:.1} {y:.1}V{bottom:.1}"),
            '┌' => format!("M{column:.1} {bottom:.1}V{row:.1}H{right:.1}"),
            '┐' => format!("M{left:.1} {row:.1}H{column:.1}V{bottom:.1}"),
            '└' => format!("M{column:.1} {y:.1}V{row:.1}H{right:.1}"),
            _ => format!("M{left:.1} {row:.1}H{column:.1}V{y:.1}"),
        };
        left = right;
    }
    path
}

fn colour(colour: Color, other: &'static str) -> &'static str {
    match colour {
        Color::Black => PAPER,
        Color::Red => "#f07178",
        Color::Green => "#9ccc65",
        Color::Yellow => "#ffcb6b",
        Color::DarkGray => "#7f8790",
        _ => other,
    }
}
