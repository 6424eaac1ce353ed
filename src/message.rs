//! Messages on standard error, for people or as JSON.

use clap::ValueEnum;
use diagnostic::{Diagnostic, Severity};
use lab_run::json;
use serde::Serialize;
use std::sync::OnceLock;

/// The form of errors and warnings.
#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum MessageFormat {
    /// For reading: the line, a caret, help
    #[default]
    Text,
    /// One JSON object per line
    Json,
}

static FORMAT: OnceLock<MessageFormat> = OnceLock::new();

/// Sets the form of all later messages.
pub(crate) fn set_format(format: MessageFormat) {
    // The first call counts: `main` makes it.
    let _ = FORMAT.set(format);
}

/// Whether messages are JSON.
pub(crate) fn is_json() -> bool {
    FORMAT.get() == Some(&MessageFormat::Json)
}

/// A message as JSON.
#[derive(Serialize)]
pub(crate) struct Message<'m> {
    severity: &'static str,
    code: Option<&'m str>,
    /// `null` for a message about the command line.
    file: Option<&'m str>,
    /// From 1; `null` without a position.
    line: Option<usize>,
    /// From 1, in characters.
    column: Option<usize>,
    /// The text at this position.
    marked: Option<&'m str>,
    message: &'m str,
    help: Option<&'m str>,
}

impl<'m> Message<'m> {
    /// An error of the command line.
    pub(crate) fn error(message: &'m str, help: Option<&'m str>) -> Self {
        let (code, file, line, column, marked) = (None, None, None, None, None);
        Self { severity: Severity::Error.name(), code, file, line, column, marked, message, help }
    }

    /// One line of JSON.
    pub(crate) fn line(&self) -> String {
        json::to_string(self).expect("texts and numbers become JSON")
    }
}

impl<'m> From<&'m Diagnostic> for Message<'m> {
    fn from(finding: &'m Diagnostic) -> Self {
        let position = finding.position();
        Self {
            severity: finding.severity.name(),
            code: finding.code,
            file: Some(&*finding.file).filter(|file| !file.is_empty()),
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
            marked: finding.marked(),
            message: &finding.message,
            help: finding.help.as_deref(),
        }
    }
}
