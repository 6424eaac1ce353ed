//! `rpu reproduce`

use crate::failure::Failure;
use crate::files;
use reproduction::Reproduction;
use reproduction::cpu::Measurements;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of the figures, the claims and the page
    #[arg(long, value_name = "DIR", default_value = "reports/paper")]
    out: PathBuf,
    /// Write nothing; compare with the existing files, except measurements of this machine's CPU
    #[arg(long)]
    check: bool,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if args.check && !args.out.join("index.html").is_file() {
        let message = format!("`{}` has no reproduction to check", diagnostic::path(&args.out));
        return Err(Failure::wrong(
            message,
            "run this in a checkout, or name a folder that `rpu reproduce` wrote",
        ));
    }
    let evaluated = Reproduction::new()?;
    if args.check {
        let files = reproduction::files(&evaluated, None)?;
        return match reproduction::difference(&files, &args.out) {
            None => files::print(format!("{} files are fresh\n", files.len()).as_bytes()),
            Some(name) => Err(Failure::Work(format!(
                "`{}` is stale: run `rpu reproduce` to regenerate the folder",
                diagnostic::path(args.out.join(name))
            ))),
        };
    }
    let measurements = Measurements::new()?;
    files::create_folder(&args.out)?;
    for (name, content) in reproduction::files(&evaluated, Some(&measurements))? {
        files::write(&args.out.join(name), &content)?;
    }
    files::print(reproduction::summary(&evaluated).as_bytes())?;
    note!("wrote {}", diagnostic::path(args.out.join("index.html")));
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
