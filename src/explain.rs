//! `rpu explain`

use crate::failure::Failure;
use crate::files;
use b512_asm::Code;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The code, e.g. B001 or D001
    #[arg(value_name = "CODE")]
    code: String,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if let Ok(code) = args.code.parse::<diagnostic::Code>() {
        return files::print(code.explanation().as_bytes());
    }
    let code: Code = args.code.parse().map_err(|error| {
        let (first, last) =
            (diagnostic::Code::ALL[0], diagnostic::Code::ALL[diagnostic::Code::ALL.len() - 1]);
        let message = format!("`{}`: {error}, and {first} to {last}", args.code);
        Failure::wrong(message, "each error shows its code in brackets")
    })?;
    let mut text = code.explanation();
    if code == Code::Claim {
        text += "\n`rpu gen --list` lists the operations and their settings.\n";
    }
    files::print(text.as_bytes())
}
