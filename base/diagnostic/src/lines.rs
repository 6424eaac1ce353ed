//! The lines of a text that has many diagnostics.

use crate::{Diagnostic, Span};

/// A text with the beginnings of its lines.
///
/// [`Diagnostic::at`] keeps the whole text and counts its lines for a position, which is too much for each of
/// as many diagnostics as a text has lines.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t str,
    /// The first byte of each line, in order.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// Finds the lines of a text.
    pub fn new(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(end, _)| end + 1)).collect();
        Self { text, starts }
    }

    /// The line of a byte, from 1. The end of a line belongs to it.
    pub fn number(&self, byte: usize) -> usize {
        self.starts.partition_point(|&start| start <= byte)
    }

    /// The diagnostic at `span` of the text, with the lines of the span only.
    ///
    /// # Panics
    /// Panics if the span is not within the text.
    pub fn mark(&self, diagnostic: Diagnostic, file: impl AsRef<str>, span: Span) -> Diagnostic {
        let line = self.number(span.start);
        let start = self.starts[line - 1];
        let end = self.starts.get(self.number(span.end)).map_or(self.text.len(), |&next| next - 1);
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        diagnostic.on_line(file, line, &self.text[start..end], span.start - start..span.end - start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against positions in the whole text.
    #[test]
    fn lines_have_the_positions_of_the_text() {
        for text in ["", "\n", "one", "one\ntwo\n\nfour", "\n\nüml\u{e4}ut x\n"] {
            let lines = Lines::new(text);
            let places: Vec<usize> = (0..=text.len()).filter(|&byte| text.is_char_boundary(byte)).collect();
            for (index, &start) in places.iter().enumerate() {
                for &end in &places[index..] {
                    let marked = lines.mark(Diagnostic::new("wrong"), "a.txt", start..end);
                    let whole = Diagnostic::new("wrong").at("a.txt", text, start..end);
                    assert_eq!(marked.to_string(), whole.to_string());
                    assert_eq!(marked.marked(), whole.marked());
                    assert_eq!(Some(lines.number(start)), whole.position().map(|(line, _)| line));
                    let before = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
                    let after = text[end..].find('\n').map_or(text.len(), |newline| end + newline);
                    assert_eq!(*marked.text, text[before..after], "{start}..{end}");
                }
            }
        }
    }
}
