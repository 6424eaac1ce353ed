//! `rpu asm`

use crate::failure::Failure;
use crate::files;
use crate::outputs::check_overwritten;
use crate::program;
use b512_asm::object;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Assembly text, or C with SPIRAL's intrinsics; or - for standard input
    #[arg(value_name = "FILE.b512")]
    file: PathBuf,
    /// Object file to write, or - for standard output; by default FILE.o
    #[arg(short, long, value_name = "FILE.o")]
    output: Option<PathBuf>,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let output = match &args.output {
        Some(output) => output.clone(),
        None if files::is_dash(&args.file) => "-".into(),
        None => args.file.with_extension("o"),
    };
    let option = format!("--output {}", diagnostic::path(&output));
    check_overwritten([(option, &*output)], [args.file.clone()])?;
    let program = program::read(&args.file)?.program;
    let content = object::write(&program).map_err(|error| Failure::wrong(error, None))?;
    files::write(&output, &content)
}
