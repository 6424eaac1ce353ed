//! `rpu explain`

use crate::failure::Failure;
use crate::files;
use b512_asm::Code;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The code, such as B001, D001 or F001; without it, all codes are listed
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

/// The families of errors: assembly, documents, ring programs. Each code has its title and its explanation.
pub(crate) fn codes() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    let assembly = Code::ALL.iter().map(|code| {
        let list = "\n`rpu gen --list` lists the operations and their settings.\n";
        let more = if *code == Code::Claim { list } else { "" };
        (code.name(), code.title(), code.explanation() + more)
    });
    let documents = diagnostic::Code::ALL.iter().map(|code| (code.name(), code.title(), code.explanation()));
    let programs = ring_program::Code::ALL.iter().map(|code| (code.name(), code.title(), code.explanation()));
    assembly.chain(documents).chain(programs)
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let Some(wanted) = &args.code else {
        let list: String = codes().map(|(name, title, _)| format!("{name}: {title}\n")).collect();
        return files::print(list.as_bytes());
    };
    let (_, _, text) = codes().find(|(name, ..)| name.eq_ignore_ascii_case(wanted)).ok_or_else(|| {
        let message = format!("unknown code `{wanted}`");
        Failure::wrong(message, "each error shows its code in brackets; `rpu explain` lists all codes")
    })?;
    files::print(text.as_bytes())
}
