//! `rpu diff`

use crate::failure::Failure;
use crate::files;
use crate::format::{Format, json};
use diagnostic::input::Content;
use lab_run::{Comparison, RunReport};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Output of `rpu run --format json` for the first run, or - for standard input
    #[arg(value_name = "A.json")]
    a: PathBuf,
    /// Output for the second run
    #[arg(value_name = "B.json")]
    b: PathBuf,
    /// Format of the comparison
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let (name_a, a) = read(&args.a)?;
    let (name_b, b) = read(&args.b)?;
    let comparison = Comparison::new((&name_a, &a), (&name_b, &b))?;
    let text = match args.format {
        Format::Table => comparison.table(),
        Format::Json => json(&comparison)?,
    };
    files::print_text(&text)
}

/// Reads the document of a run and the file's display name.
fn read(path: &Path) -> Result<(String, RunReport), Failure> {
    let (name, text) = files::read_text(path, Content::Document)?;
    let report = RunReport::parse(&name, &text)?;
    Ok((name, report))
}
