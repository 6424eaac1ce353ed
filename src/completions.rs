//! `rpu completions`

use crate::failure::Failure;
use crate::{Cli, files};
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rpu", &mut script);
    files::print(&script)
}
