//! `rpu prove`

use crate::failure::Failure;
use crate::files;
use crate::program::ProgramArgs;
use codegen::rewrite::{ProofError, prove};

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    program: ProgramArgs,
}

/// Proves that a program computes its claims.
pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let (file, machine) = args.program.load()?;
    let program = &file.program;
    let fits = machine.check_fits(program);
    fits.map_err(|error| Failure::wrong(format_args!("{}: {error}", file.name()), None))?;
    match prove(program) {
        Ok(()) => {}
        Err(error @ ProofError::NoClaim) => {
            let help = "add a line such as `.computes y = a * b + c, n=1024, modulus=..`";
            return Err(Failure::wrong(format_args!("{}: {error}", file.name()), help));
        }
        Err(error) => return Err(Failure::Work(format!("{}: {error}", file.name()))),
    }
    let claims = program.claims.iter().map(|claim| format!("proven for all data: {claim}\n"));
    files::print_text(&claims.collect::<String>())
}
