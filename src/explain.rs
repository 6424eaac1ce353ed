//! `rpu explain`

use crate::failure::Failure;
use crate::files;
use b512_asm::Code;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The code, e.g. B001
    #[arg(value_name = "CODE")]
    code: String,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let code: Code =
        args.code.parse().map_err(|error| Failure::wrong(format_args!("`{}`: {error}", args.code), None))?;
    let mut text = code.explanation();
    if code == Code::Claim {
        text += "\n`rpu gen --list` lists the operations and their settings.\n";
    }
    files::print(text.as_bytes())
}
