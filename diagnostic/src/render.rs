//! Rendering for terminals.

use crate::{Diagnostic, Diagnostics, Severity, printable};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, Title};

fn renderer(colour: bool) -> Renderer {
    if colour { Renderer::styled() } else { Renderer::plain() }
}

/// Renders a message without a position, and its help.
pub fn render_message(message: &str, help: Option<&str>, colour: bool) -> String {
    let (message, help) = (printable(message), help.map(printable));
    render_group(Group::with_title(Level::ERROR.primary_title(&*message)), help.as_deref(), colour)
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
        let (message, help) = (printable(&self.message), self.help.as_deref().map(printable));
        let (file, help) = (printable(&self.file), help.as_deref());
        let Some(span) = &self.span else {
            let file = Some(&*file).filter(|file| !file.is_empty());
            let message = file.into_iter().chain([&*message]).collect::<Vec<_>>().join(": ");
            return render_group(Group::with_title(self.title(&message)), help, colour);
        };
        // Only the lines of the span: tables make texts long, and the renderer inspects all lines.
        let start = self.text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.text[span.end..].find('\n').map_or(self.text.len(), |newline| span.end + newline);
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
