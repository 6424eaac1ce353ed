//! `rpu disasm`

use crate::failure::Failure;
use crate::files;
use crate::program;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Object file, or - for standard input
    #[arg(value_name = "FILE.o")]
    file: PathBuf,
    /// File to write
    #[arg(short, long, value_name = "FILE.b512", default_value = "-")]
    output: PathBuf,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let program = program::read(&args.file)?;
    files::write(&args.output, program.to_string().as_bytes())
}
