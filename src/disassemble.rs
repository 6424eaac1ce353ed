//! `rpu disasm`

use crate::failure::Failure;
use crate::files;
use crate::outputs::check_overwritten;
use crate::program;
use b512_asm::intrinsics;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Object file, or - for standard input
    #[arg(value_name = "FILE.o")]
    file: PathBuf,
    /// File to write
    #[arg(short, long, value_name = "FILE.b512", default_value = "-")]
    output: PathBuf,
    /// Print C with SPIRAL's intrinsics; comments that begin with `//.` are directives
    #[arg(long)]
    intrinsics: bool,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let option = format!("--output {}", diagnostic::path(&args.output));
    check_overwritten([(option, &*args.output)], [args.file.clone()])?;
    let program = program::read(&args.file)?.program;
    let text = if args.intrinsics { intrinsics::print(&program) } else { program.to_string() };
    files::write(&args.output, text.as_bytes())
}
