//! `rpu reproduce`

use crate::failure::Failure;
use crate::files;
use reproduction::Reproduction;
use reproduction::cpu::Measurements;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of the figures, the claims and the page
    #[arg(long, value_name = "DIR", value_parser = files::folder(), default_value = "reports/paper")]
    out: PathBuf,
    /// Write nothing; compare with the existing files, except measurements of this machine's CPU
    #[arg(long)]
    check: bool,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if args.check { check(&args.out) } else { write(&args.out) }
}

fn check(folder: &Path) -> Result<(), Failure> {
    if !folder.join("index.html").is_file() {
        let message = format!("`{}` has no reproduction to check", diagnostic::path(folder));
        return Err(Failure::wrong(
            message,
            "run this in a checkout, or name a folder that `rpu reproduce` wrote",
        ));
    }
    let files = reproduction::files(&Reproduction::new()?, None)?;
    match reproduction::difference(&files, folder) {
        None => files::print(format!("{} files are fresh\n", files.len()).as_bytes()),
        Some(name) => Err(Failure::Work(format!(
            "`{}` is stale: run `rpu reproduce` to regenerate the folder",
            diagnostic::path(folder.join(name))
        ))),
    }
}

fn write(folder: &Path) -> Result<(), Failure> {
    let evaluated = Reproduction::new()?;
    let measurements = Measurements::new()?;
    files::create_folder(folder)?;
    for (name, content) in reproduction::files(&evaluated, Some(&measurements))? {
        files::write(&folder.join(name), &content)?;
    }
    files::print(reproduction::summary(&evaluated).as_bytes())?;
    note!("wrote {}", diagnostic::path(folder.join("index.html")));
    Ok(())
}

impl From<reproduction::Error> for Failure {
    fn from(error: reproduction::Error) -> Self {
        match error {
            reproduction::Error::Config(error) => error.into(),
            error => Failure::Work(error.to_string()),
        }
    }
}
