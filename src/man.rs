//! `rpu man`

use crate::failure::Failure;
use crate::files;
use clap::CommandFactory;
use clap_mangen::Man;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder to write `rpu.1` and a page of each subcommand to, such as `rpu-run.1`; without it, print the
    /// page of `rpu` itself
    #[arg(short, long, value_name = "DIR", value_parser = files::folder())]
    output: Option<PathBuf>,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let mut command = crate::Cli::command();
    command.build();
    let Some(folder) = &args.output else {
        return files::print(&page(&command, "rpu")?);
    };
    files::create_folder(folder)?;
    for (name, command) in pages(&command, "rpu") {
        files::write(&folder.join(format!("{name}.1")), &page(command, &name)?)?;
    }
    Ok(())
}

/// A command and all commands below it, each with the name of its page.
fn pages<'c>(command: &'c clap::Command, name: &str) -> Vec<(String, &'c clap::Command)> {
    let subcommands = command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
    let below =
        subcommands.flat_map(|subcommand| pages(subcommand, &format!("{name}-{}", subcommand.get_name())));
    std::iter::once((name.to_owned(), command)).chain(below).collect()
}

/// The page of a command in roff.
fn page(command: &clap::Command, name: &str) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let man =
        Man::new(command.clone()).title(name.to_owned()).source(format!("rpu {}", env!("CARGO_PKG_VERSION")));
    man.render(&mut page).map_err(|error| Failure::Work(error.to_string()))?;
    Ok(page)
}
