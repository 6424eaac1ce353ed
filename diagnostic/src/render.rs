//! Rendering for terminals.

use crate::{Diagnostic, Diagnostics};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

fn renderer(colour: bool) -> Renderer {
    if colour { Renderer::styled() } else { Renderer::plain() }
}

/// Renders a message without a position, and its help.
pub fn render_message(message: &str, help: Option<&str>, colour: bool) -> String {
    let group = Group::with_title(Level::ERROR.primary_title(message));
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
        let help = self.help.as_deref();
        let Some(span) = &self.span else {
            let file = Some(&*self.file).filter(|file| !file.is_empty());
            let message = file.into_iter().chain([&*self.message]).collect::<Vec<_>>().join(": ");
            return render_message(&message, help, colour);
        };
        // Only the lines of the span: tables make texts long, and the renderer inspects all lines.
        let start = self.text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[span.end..].find('\n').map_or(self.text.len(), |newline| span.end + newline);
        let line = self.lines_before as usize + self.text[..start].matches('\n').count() + 1;
        let annotation = AnnotationKind::Primary.span(span.start - start..span.end - start);
        let snippet =
            Snippet::source(&self.text[start..end]).path(&*self.file).line_start(line).annotation(annotation);
        let title = Level::ERROR.primary_title(self.message.as_str());
        let title = match self.code {
            Some(code) => title.id(code),
            None => title,
        };
        let group = title.element(snippet);
        renderer(colour).render(&[match help {
            Some(help) => group.element(Level::HELP.message(help)),
            None => group,
        }])
    }
}
