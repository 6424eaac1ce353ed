//! Errors in text files as values: the position, the message, and help.
//!
//! All files share one type: programs, machines, sweeps, plans, claims and JSON documents. A [`Diagnostic`]
//! carries no layout; the feature `render` has a renderer for terminals. [`input`] reads the files within
//! limits, and [`printable`] makes their text safe to show. The feature `document` reads TOML and JSON with
//! the span of each part, and checks them against schemas.
//!
//! ```
//! use diagnostic::Diagnostic;
//!
//! let text = "banks = 12\n";
//! let error = Diagnostic::new("invalid value 12 for `banks`")
//!     .at("machine.toml", text, 8..10)
//!     .with_help("expected a power of two");
//! assert_eq!(error.position(), Some((1, 9)));
//! assert_eq!(
//!     error.to_string(),
//!     "machine.toml:1:9: invalid value 12 for `banks`; expected a power of two"
//! );
//! ```

mod code;
#[cfg(feature = "document")]
pub mod document;
pub mod input;
mod lines;
mod number;
mod printable;
#[cfg(feature = "document")]
mod reason;
#[cfg(feature = "render")]
mod render;
#[doc(hidden)]
pub mod snapshot;

pub use code::Code;
#[doc(hidden)]
pub use code::explanation;
pub use lines::Lines;
pub use number::{number, number_with_separators};
pub use printable::{is_line, one_line, path, printable};
#[cfg(feature = "document")]
pub use reason::reason;
#[cfg(feature = "render")]
pub use render::{render, render_message};

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// Bytes of a text, `start` included, `end` excluded; both are character boundaries.
pub type Span = Range<usize>;

/// The consequence of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Severity {
    /// The text is refused.
    #[default]
    Error,
    /// The text is accepted.
    Warning,
}

impl Severity {
    /// The word for users.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One error in a text, or one warning.
#[derive(Clone, PartialEq, Eq, Debug, Default, Error)]
pub struct Diagnostic {
    /// The consequence.
    pub severity: Severity,
    /// The name of the file for users; empty for a text without a name.
    pub file: Arc<str>,
    /// The whole text, or some consecutive lines of a long one; empty if it could not be read.
    pub text: Arc<str>,
    /// The number of lines of the file before `text`.
    pub lines_before: u32,
    /// The bytes of `text` that are wrong; `None` if the error concerns the file as a whole.
    pub span: Option<Span>,
    /// A code with a longer explanation, such as `B001`.
    pub code: Option<&'static str>,
    /// The error in one line.
    pub message: String,
    /// The remedy.
    pub help: Option<Box<str>>,
}

impl Diagnostic {
    /// An error without position and help.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// The error with a code.
    pub fn with_code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    /// The error with help.
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into().into()), ..self }
    }

    /// A warning instead of an error.
    pub fn as_warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }

    /// The error in a file as a whole.
    pub fn in_file(self, file: impl AsRef<str>) -> Self {
        Self { file: file.as_ref().into(), ..self }
    }

    /// The error at `span` of `text`. [`Lines::mark`] is for texts with many errors.
    pub fn at(self, file: impl AsRef<str>, text: impl Into<Arc<str>>, span: impl Into<Option<Span>>) -> Self {
        Self { file: file.as_ref().into(), text: text.into(), span: span.into(), ..self }
    }

    /// The error at `span` of a single line of a file, the one with the number `line`, from 1.
    ///
    /// Readers of long files do not keep the whole text.
    pub fn on_line(self, file: impl AsRef<str>, line: u32, text: impl Into<Arc<str>>, span: Span) -> Self {
        Self { lines_before: line.saturating_sub(1), ..self.at(file, text, span) }
    }

    /// The part of the text that is wrong. `None` without a span.
    pub fn marked(&self) -> Option<&str> {
        self.text.get(self.span.clone()?)
    }

    /// Line and column of the error, both from 1; columns count characters. `None` without a span.
    pub fn position(&self) -> Option<(usize, usize)> {
        let before = self.text.get(..self.span.as_ref()?.start)?;
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.lines_before as usize + before.matches('\n').count() + 1;
        Some((line, before[line_start..].chars().count() + 1))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&*self.file, self.position()) {
            ("", None) => {}
            (file, None) => write!(f, "{file}: ")?,
            ("", Some((line, column))) => write!(f, "{line}:{column}: ")?,
            (file, Some((line, column))) => write!(f, "{file}:{line}:{column}: ")?,
        }
        if let Some(code) = self.code {
            write!(f, "{code}: ")?;
        }
        f.write_str(&self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, "; {help}"))
    }
}

/// The errors in a text or in several, in the order of their positions.
///
/// Errors after the first [`Diagnostics::LIMIT`] are only counted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    omitted: usize,
}

impl Diagnostics {
    /// The number of errors that are kept.
    pub const LIMIT: usize = 20;

    /// The errors.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// The number of errors that are not listed.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// Adds an error. An unknown name is an error where it occurs first.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let same = |known: &Diagnostic| {
            (&known.message, &known.help, &known.file)
                == (&diagnostic.message, &diagnostic.help, &diagnostic.file)
        };
        if diagnostic.message.starts_with("unknown ") && self.list.iter().any(same) {
            return;
        }
        if self.list.len() < Self::LIMIT {
            self.list.push(diagnostic);
        } else {
            self.omitted += 1;
        }
    }

    /// True if errors from now on are only counted: nobody reads their help.
    pub fn is_full(&self) -> bool {
        self.list.len() == Self::LIMIT
    }

    /// The number of errors, listed or not.
    pub fn len(&self) -> usize {
        self.list.len() + self.omitted
    }

    /// True if there are no errors.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Sorts the errors by position and attaches the text to them.
    ///
    /// # Errors
    /// Returns the errors if there are any.
    pub fn into_result(mut self, text: &str) -> Result<(), Self> {
        if self.is_empty() {
            return Ok(());
        }
        let text: Arc<str> = text.into();
        self.list.iter_mut().for_each(|diagnostic| diagnostic.text = Arc::clone(&text));
        self.list.sort_by_key(|diagnostic| diagnostic.span.as_ref().map(|span| span.start));
        Err(self)
    }

    /// The value of a step, or `None` if it failed; its errors are added to these.
    pub fn keep<T, E: Into<Self>>(&mut self, step: Result<T, E>) -> Option<T> {
        let errors: Self = match step {
            Ok(value) => return Some(value),
            Err(errors) => errors.into(),
        };
        errors.list.into_iter().for_each(|diagnostic| self.push(diagnostic));
        self.omitted += errors.omitted;
        None
    }

    /// The value of work without errors.
    ///
    /// # Errors
    /// Returns the errors if there are any.
    pub fn or<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }

    /// The errors in the order of their positions; those without one come first.
    pub fn in_order(mut self) -> Self {
        self.list.sort_by_key(|diagnostic| diagnostic.span.as_ref().map(|span| span.start));
        self
    }

    /// The errors, each changed by `change`.
    pub fn map(mut self, change: impl FnMut(Diagnostic) -> Diagnostic) -> Self {
        self.list = self.list.into_iter().map(change).collect();
        self
    }

    /// The errors of a text that was read from `file`.
    pub fn in_file(mut self, file: &str) -> Self {
        self.list.iter_mut().for_each(|diagnostic| diagnostic.file = file.into());
        self
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self { list: vec![diagnostic], omitted: 0 }
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.iter().enumerate() {
            let newline = if i > 0 { "\n" } else { "" };
            write!(f, "{newline}{diagnostic}")?;
        }
        match self.omitted {
            0 => Ok(()),
            omitted => write!(f, "\nand {omitted} more"),
        }
    }
}

impl std::error::Error for Diagnostics {}

/// A number with its noun: `counted(1, "modulus", "moduli")` is `1 modulus`.
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The candidate that is most similar to `word`, if the two differ in at most a third of their
/// characters. Upper and lower case are the same.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    let near = |candidate: &'a str| {
        let other = candidate.chars().count();
        let most = length.max(other).max(3) / 3;
        // Time and memory are proportional to the product of both lengths, and words may be very long.
        if length.abs_diff(other) > most {
            return None;
        }
        let distance =
            strsim::damerau_levenshtein(&word.to_ascii_lowercase(), &candidate.to_ascii_lowercase());
        (distance < other && distance <= most).then_some((distance, candidate))
    };
    // Of equals the first by name: candidates may come in any order.
    candidates.into_iter().filter_map(near).min().map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_close_or_none() {
        let names = ["vadd", "vadds", "vsub", "halt"];
        assert_eq!(nearest("vaddd", names), Some("vadd"));
        assert_eq!(nearest("HALT", names), Some("halt"));
        assert_eq!(nearest("multiply", names), None);
        assert_eq!(nearest("xx", ["x"]), None);
        assert_eq!(nearest("vaddx", ["vaddz", "vaddy"]), Some("vaddy"));
        assert_eq!(nearest(&"x".repeat(1 << 26), names), None);
    }

    #[test]
    fn columns_count_characters() {
        assert_eq!(Diagnostic::new("").at("", "a\nå∂x", 7..8).position(), Some((2, 3)));
        assert_eq!(Diagnostic::new("").position(), None);
    }

    #[test]
    fn lines_are_counted_from_the_start_of_the_file() {
        let error = Diagnostic::new("unknown name").on_line("a", 1_000_000, "b c", 2..3);
        assert_eq!(error.to_string(), "a:1000000:3: unknown name");
        assert_eq!(error.marked(), Some("c"));
    }

    #[test]
    fn steps_leave_their_errors() {
        let mut errors = Diagnostics::default();
        assert_eq!(errors.keep(Ok::<_, Diagnostic>(1)), Some(1));
        assert_eq!(errors.keep(Err::<(), _>(Diagnostic::new("first"))), None);
        assert_eq!(errors.keep(Err::<(), _>(Diagnostics::from(Diagnostic::new("second")))), None);
        assert_eq!((errors.len(), errors.or(()).unwrap_err().to_string()), (2, "first\nsecond".to_owned()));
        // Also those that are not listed.
        let many = || {
            let mut errors = Diagnostics::default();
            (0..25).for_each(|number| errors.push(Diagnostic::new(number.to_string())));
            errors
        };
        let mut errors = many();
        assert_eq!(errors.keep(Err::<(), _>(many())), None);
        assert_eq!((errors.iter().count(), errors.omitted(), errors.len()), (20, 30, 50));
    }

    #[test]
    fn a_list_is_full_at_its_limit() {
        let mut errors = Diagnostics::default();
        let full = (0..21).map(|number| {
            errors.push(Diagnostic::new(number.to_string()));
            errors.is_full()
        });
        assert!(full.eq((1..=21).map(|count| count >= Diagnostics::LIMIT)));
    }

    #[test]
    fn lists_are_ordered_and_changed() {
        let mut errors = Diagnostics::default();
        for (message, span) in [("late", Some(7..8)), ("early", Some(2..3)), ("file", None)] {
            errors.push(Diagnostic { span, ..Diagnostic::new(message) });
        }
        let errors = errors.in_order().map(Diagnostic::as_warning);
        let mut seen = Vec::new();
        for error in &errors {
            seen.push((error.severity.name(), error.message.as_str()));
        }
        assert_eq!(seen, [("warning", "file"), ("warning", "early"), ("warning", "late")]);
        assert_eq!(Severity::default().name(), "error");
    }

    #[test]
    fn errors_are_sorted_and_the_rest_is_counted() {
        let mut diagnostics = Diagnostics::default();
        for start in (0..25).rev() {
            diagnostics.push(Diagnostic { span: Some(start..start), ..Diagnostic::new("error") });
        }
        let errors = diagnostics.into_result(&" ".repeat(25)).unwrap_err().in_file("a");
        assert_eq!(errors.iter().next().unwrap().to_string(), "a:1:6: error");
        assert!(errors.to_string().ends_with("a:1:25: error\nand 5 more"));
    }
}
