//! Errors in a source, for people: the line, a caret under the place, and what would be right.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet, Title};
use b512_asm::{Diagnostic, Diagnostics};
use std::ops::Range;

/// The text of all errors of the file `path`, with terminal colours where `colour` says so.
pub(crate) fn render(path: &str, source: &str, diagnostics: &Diagnostics, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for diagnostic in diagnostics {
        text.push_str(&renderer.render(&report(path, source, diagnostic)));
        text.push_str("\n\n");
    }
    if diagnostics.omitted() > 0 {
        text.push_str(&format!("{} more not shown\n\n", diagnostics.omitted()));
    }
    if let Some(first) = diagnostics.iter().next() {
        text.push_str(&format!("`rpu explain {}` says more about an error\n", first.code));
    }
    text
}

fn report<'a>(path: &'a str, source: &'a str, diagnostic: &'a Diagnostic) -> Vec<Group<'a>> {
    let title = Level::ERROR.primary_title(diagnostic.message.as_str()).id(diagnostic.code.name());
    vec![place(title, path, source, &diagnostic.span, diagnostic.help.as_deref())]
}

/// An error at the bytes `span` of the file `path`.
pub(crate) fn place<'a>(
    title: Title<'a>,
    path: &'a str,
    source: &'a str,
    span: &Range<usize>,
    help: Option<&'a str>,
) -> Group<'a> {
    // The lines that the error is on: tables make sources long, and the renderer looks at all it gets.
    let start = source[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
    let end = source[span.end..].find('\n').map_or(source.len(), |newline| span.end + newline);
    let line = source[..start].matches('\n').count() + 1;
    let annotation = AnnotationKind::Primary.span(span.start - start..span.end - start);
    let snippet = Snippet::source(&source[start..end]).path(path).line_start(line).annotation(annotation);
    let group = title.element(snippet);
    match help {
        Some(help) => group.element(Level::HELP.message(help)),
        None => group,
    }
}
