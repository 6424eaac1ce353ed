//! `rpu lint`

use crate::failure::Failure;
use crate::files;
use crate::format::{Format, json};
use crate::message::{Message, is_json};
use crate::program::ProgramArgs;
use crate::ring_file::RingFileArgs;
use crate::run_failure::failure_of;
use diagnostic::{Diagnostic, counted};
use lab_run::{RingFile, admit};
use sim::lint;

/// What `FILE` is.
const FILE: &str = "Assembly text or object file, or - for standard input; or a ring program: .fhetch, .fhetch.gz or .fhetch.xz";

#[derive(clap::Args)]
#[command(mut_arg("file", |file| file.help(FILE)))]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    ring: RingFileArgs,
    /// Format of the report
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let (errors, warnings) = match RingFile::is_meant(args.program.file()) {
        true => (Vec::new(), of_ring_program(args)?),
        false if args.ring.any() => {
            return Err(RingFileArgs::misplaced(args.program.file(), "`--manifest` and `--n`"));
        }
        false => of_kernel(args)?,
    };
    let number = errors.len();
    let all: Vec<Diagnostic> =
        errors.into_iter().chain(warnings.into_iter().map(Diagnostic::as_warning)).collect();
    let text = match args.format {
        Format::Table if is_json() => {
            all.iter().map(|finding| Message::from(finding).line() + "\n").collect()
        }
        Format::Table => all.iter().map(|finding| finding.render(false) + "\n\n").collect(),
        Format::Json => json(&all.iter().map(Message::from).collect::<Vec<_>>())?,
    };
    files::print_text(&text)?;
    match number {
        0 => Ok(()),
        _ => Err(Failure::Work(counted(number, "error", "errors"))),
    }
}

/// The errors and the warnings about a kernel.
fn of_kernel(args: &Args) -> Result<(Vec<Diagnostic>, Vec<Diagnostic>), Failure> {
    let (file, machine) = args.program.load()?;
    let errors = match admit(&file.program, &machine) {
        Ok(()) => Vec::new(),
        Err(error) => match error.in_file(&file) {
            Some(errors) => errors.iter().cloned().collect(),
            None => return Err(failure_of(error, &file, &[])),
        },
    };
    Ok((errors, file.diagnostics(lint::warnings(&file.program, &machine))))
}

/// The warnings about a ring program, which do not depend on a machine.
fn of_ring_program(args: &Args) -> Result<Vec<Diagnostic>, Failure> {
    let path = args.program.file();
    let RingFile { program, .. } = args.ring.read(path)?;
    Ok(ring_program::mark(path, &ring_program::lint(&program))?)
}
