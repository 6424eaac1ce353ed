//! `rpu prove`

use crate::failure::Failure;
use crate::files;
use crate::program::{self, ProgramArgs};
use crate::run_failure::failure_of;
use codegen::rewrite::prove;
use lab_run::{admit, check_coverage};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
}

/// Proves that a program computes its claims.
pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let (file, machine) = args.program.load()?;
    let program = &file.program;
    let admitted = admit(program, &machine).and_then(|()| check_coverage(program, |_| false));
    admitted.map_err(|error| failure_of(error, &file, &[]))?;
    prove(program).map_err(|error| {
        let place = program::place(&file, error.instruction());
        Failure::Work(format!("{place}: {error}"))
    })?;
    let claims = program.claims.iter().map(|claim| format!("proven for all data: {claim}\n"));
    files::print_text(&claims.collect::<String>())
}
