//! Rendering for terminals.

use crate::{Diagnostic, Diagnostics, Severity, one_line, printable};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, Title};
use std::borrow::Cow;

fn renderer(colour: bool) -> Renderer {
    if colour { Renderer::styled() } else { Renderer::plain() }
}

/// Renders a message without a position, and its help.
pub fn render_message(message: &str, help: Option<&str>, colour: bool) -> String {
    let (message, help) = (shown(message), help.map(shown));
    render_group(Group::with_title(Level::ERROR.primary_title(&*message)), help.as_deref(), colour)
}

/// The characters of a longer message that are shown.
const SHOWN: usize = 1000;

/// The bytes of lines that are shown. Longer ones are no text that someone wrote.
const LONGEST_LINE: usize = 4000;

/// A message as a terminal shows it. It may quote a very long word of a file.
fn shown(message: &str) -> Cow<'_, str> {
    match message.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(printable(&message[..end]).into_owned() + "..."),
        None => printable(message),
    }
}

fn render_group(group: Group<'_>, help: Option<&str>, colour: bool) -> String {
    renderer(colour).render(&[match help {
        Some(help) => group.element(Level::HELP.message(help)),
        None => group,
    }])
}

/// Renders all errors of a text, separated by blank lines.
pub fn render(diagnostics: &Diagnostics, colour: bool) -> String {
    let mut parts: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.render(colour)).collect();
    if diagnostics.omitted() > 0 {
        parts.push(format!("{} more not shown", diagnostics.omitted()));
    }
    parts.join("\n\n") + "\n"
}

impl Diagnostic {
    /// Renders the error: the line with a caret under the position, and the help.
    pub fn render(&self, colour: bool) -> String {
        let (message, help) = (shown(&self.message), self.help.as_deref().map(shown));
        let (file, help) = (one_line(&self.file), help.as_deref());
        let without_text = |location: &str| {
            let location = Some(location).filter(|location| !location.is_empty());
            let message = location.into_iter().chain([&*message]).collect::<Vec<_>>().join(": ");
            render_group(Group::with_title(self.title(&message)), help, colour)
        };
        let Some(span) = &self.span else { return without_text(&file) };
        // Only the lines of the span: tables make texts long, and the renderer inspects all lines.
        let start = self.text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[span.end..].find('\n').map_or(self.text.len(), |newline| span.end + newline);
        if end - start > LONGEST_LINE {
            let (line, column) = self.position().unwrap_or_default();
            return without_text(&format!("{file}:{line}:{column}"));
        }
        let line = self.lines_before as usize + self.text[..start].matches('\n').count() + 1;
        let annotation = AnnotationKind::Primary.span(span.start - start..span.end - start);
        let snippet =
            Snippet::source(&self.text[start..end]).path(&*file).line_start(line).annotation(annotation);
        render_group(self.title(&message).element(snippet), help, colour)
    }

    fn title<'t>(&'t self, message: &'t str) -> Title<'t> {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(message);
        match self.code {
            Some(code) => title.id(code),
            None => title,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_an_error_is_shown() {
        let text = "one\ntwo words\nthree\n";
        let error = Diagnostic::new("no number").at("a.b512", text, 8..13).with_help("write 2");
        assert_eq!(
            error.render(false),
            "error: no number\n --> a.b512:2:5\n  |\n2 | two words\n  |     ^^^^^\n  |\n  = help: write 2"
        );
        // Up to the longest line.
        for (length, is_shown) in [(LONGEST_LINE, true), (LONGEST_LINE + 1, false)] {
            let text = format!("one\n{}\n", "x".repeat(length));
            let error = Diagnostic::new("no number").at("a.b512", text, 4..5);
            assert_eq!(error.render(false).contains("\n2 | xxx"), is_shown, "{length}");
        }
    }

    #[test]
    fn long_words_and_lines_are_cut() {
        let word = "x".repeat(1 << 20);
        let error =
            Diagnostic::new(format!("unknown instruction `{word}`")).at("a.b512", word.as_str(), 0..1 << 20);
        let text = error.render(false);
        assert!(
            text.starts_with("error: a.b512:1:1: unknown instruction `xxx") && text.len() < 1100,
            "{text}"
        );
        let text = Diagnostic::new(word).render(false);
        assert!(text.ends_with("x...") && text.len() < 1100, "{text}");
    }
}
