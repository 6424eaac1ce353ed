//! `rpu schedule`

use crate::failure::Failure;
use crate::files;
use crate::outputs::check_overwritten;
use crate::program::{self, ProgramArgs};
use crate::run_failure::failure_of;
use codegen::rewrite::{Rescheduled, reschedule};
use lab_run::admit;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
    /// File to write: an object if its name ends in .o, else text
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// Reorders a program for a machine and renames its registers.
pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let option = format!("--output {}", diagnostic::path(&args.output));
    check_overwritten([(option, &*args.output)], args.program.files())?;
    let (file, machine) = args.program.load()?;
    admit(&file.program, &machine).map_err(|error| failure_of(error, &file, &[]))?;
    let rescheduled = reschedule(&file.program, &machine);
    let rescheduled = rescheduled.map_err(|error| {
        let place = program::place(&file, error.instruction());
        Failure::wrong(format_args!("{place}: {error}"), None)
    })?;
    let Rescheduled { program, before, after, bound } = rescheduled;
    // What is written is what every command takes.
    admit(&program, &machine).map_err(|error| {
        let message = format!("{}: in another order, {error}", file.name());
        Failure::wrong(message, "this is a fault of `rpu schedule`: please report it")
    })?;
    if after < before {
        let gain = 100.0 * (1.0 - after.0 as f64 / before.0 as f64);
        note!(
            "{after} cycles instead of {before}: {gain:.1}% fewer; these instructions take at least {bound}"
        );
        note!("proven to leave the same words in every output");
    } else {
        note!("no order found with fewer than {before} cycles; these instructions take at least {bound}");
    }
    files::write(&args.output, &files::program_file(&args.output, &program)?)
}
