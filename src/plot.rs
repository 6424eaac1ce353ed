//! `rpu plot`

use crate::failure::Failure;
use crate::sweep;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder of the sweep
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    sweep::write_results(&[&args.folder], &args.folder)
}
