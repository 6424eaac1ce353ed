//! `rpu lint`

use crate::failure::Failure;
use crate::files;
use crate::machine::MachineArgs;
use crate::program::ProgramFile;
use crate::run::{Format, json};
use diagnostic::{Diagnostic, Severity};
use serde::Serialize;
use sim::lint;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Assembly text or object file, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    machine: MachineArgs,
    /// Format of the report
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// A finding in the JSON report.
#[derive(Serialize)]
struct Finding<'d> {
    severity: &'static str,
    code: Option<&'static str>,
    file: &'d str,
    /// From 1; `null` in an object file.
    line: Option<usize>,
    /// From 1, in characters.
    column: Option<usize>,
    message: &'d str,
    help: Option<&'d str>,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let machine = args.machine.load()?;
    let file = ProgramFile::read(&args.file)?;
    let fits = machine.check_fits(&file.program);
    fits.map_err(|error| Failure::wrong(format_args!("{}: {error}", args.file.display()), None))?;
    let errors = file.diagnostics(lint::errors(&file.program, &machine));
    let warnings = file.diagnostics(lint::warnings(&file.program, &machine));
    let number = errors.len();
    let all: Vec<Diagnostic> =
        errors.into_iter().chain(warnings.into_iter().map(Diagnostic::as_warning)).collect();
    let text = match args.format {
        Format::Table => all.iter().map(|finding| finding.render(false) + "\n\n").collect(),
        Format::Json => json(&all.iter().map(Finding::from).collect::<Vec<_>>())?,
    };
    files::print_text(&text)?;
    match number {
        0 => Ok(()),
        1 => Err(Failure::Work("1 error".to_owned())),
        _ => Err(Failure::Work(format!("{number} errors"))),
    }
}

impl<'d> From<&'d Diagnostic> for Finding<'d> {
    fn from(finding: &'d Diagnostic) -> Self {
        let position = finding.position();
        Self {
            severity: match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            code: finding.code,
            file: &finding.file,
            line: position.map(|(line, _)| line),
            column: position.map(|(_, column)| column),
            message: &finding.message,
            help: finding.help.as_deref(),
        }
    }
}
