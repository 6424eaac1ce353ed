//! Findings in the text that they are about.

use super::operands::Operands;
use super::token::{first_word, significant, text};
use crate::compression;
use crate::lint::Finding;
use diagnostic::Diagnostic;
use std::io::BufRead;
use std::num::NonZeroU32;
use std::path::Path;

/// The findings about the program in a file, as warnings that show its lines. Those about the whole come
/// first.
///
/// # Errors
/// Returns that the file cannot be read again.
pub fn mark(path: &Path, findings: &[Finding]) -> Result<Vec<Diagnostic>, Diagnostic> {
    let name = &*diagnostic::path(path);
    let mut warnings = Vec::new();
    let unreadable = |error| Diagnostic::new(format!("cannot read the program: {error}")).in_file(name);
    let mut lines = (1..).zip(compression::open(path).map_err(unreadable)?.split(b'\n'));
    let mut line = (0, Vec::new());
    for Finding { line: number, fault } in findings {
        let number = number.map_or(0, NonZeroU32::get);
        while line.0 < number {
            let Some((next, content)) = lines.next() else { break };
            line = (next, content.map_err(unreadable)?);
        }
        let warning = fault.code.error(&fault.message).as_warning();
        let warning = match &fault.help {
            Some(help) => warning.with_help(help),
            None => warning,
        };
        warnings.push(match number {
            0 => warning.in_file(name),
            _ => {
                let whole = significant(&line.1);
                let (_, rest) = first_word(&line.1, whole.clone());
                let operands = Operands::split(&line.1, whole.clone(), "", rest);
                let span = operands.map_or(whole, |operands| operands.span(fault.part));
                warning.on_line(name, number, text(&line.1), span)
            }
        });
    }
    Ok(warnings)
}
