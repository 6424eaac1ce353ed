//! `rpu lint`

use crate::failure::Failure;
use crate::files;
use crate::format::{Format, json};
use crate::message::Message;
use crate::program::ProgramArgs;
use diagnostic::{Diagnostic, counted};
use sim::lint;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// Format of the report
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let (file, machine) = args.program.load()?;
    let fits = machine.check_fits(&file.program);
    fits.map_err(|error| Failure::wrong(format_args!("{}: {error}", file.name()), None))?;
    let errors = file.diagnostics(lint::errors(&file.program, &machine));
    let warnings = file.diagnostics(lint::warnings(&file.program, &machine));
    let number = errors.len();
    let all: Vec<Diagnostic> =
        errors.into_iter().chain(warnings.into_iter().map(Diagnostic::as_warning)).collect();
    let text = match args.format {
        Format::Table => all.iter().map(|finding| finding.render(false) + "\n\n").collect(),
        Format::Json => json(&all.iter().map(Message::from).collect::<Vec<_>>())?,
    };
    files::print_text(&text)?;
    match number {
        0 => Ok(()),
        _ => Err(Failure::Work(counted(number, "error", "errors"))),
    }
}
