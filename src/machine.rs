//! `rpu machine`

mod diff;
mod list;
mod schema;
mod show;

use crate::failure::Failure;
use crate::files;
use diagnostic::{Diagnostics, counted};
use lab_run::size_and_clock;
use sim::{Machine, MachineBase};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the keys of a machine with their values, default, origin and effects
    List(list::Args),
    /// Print a machine with all its keys, as a machine file, and where each value comes from
    Show(show::Args),
    /// Check machine and technology files: report all errors of each
    Check(CheckArgs),
    /// Print the keys in which two machines differ, and what follows for clock and area
    Diff(diff::Args),
    /// Print the JSON schema of a TOML format, with which editors complete and check files
    Schema(schema::Args),
}

#[derive(clap::Args)]
struct CheckArgs {
    /// Machine files and technology files, or names of built-in ones
    #[arg(value_name = "M.toml", required = true)]
    machines: Vec<PathBuf>,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Command::List(args) => list::main(args),
        Command::Show(args) => show::main(args),
        Command::Check(args) => check(args),
        Command::Diff(args) => diff::main(args),
        Command::Schema(args) => schema::main(args),
    }
}

fn check(args: &CheckArgs) -> Result<(), Failure> {
    let mut errors = Diagnostics::default();
    let mut text = String::new();
    for path in &args.machines {
        let name = diagnostic::path(path);
        if let Some(technology) = MachineBase::of_technology(path) {
            if let Some(facts) = errors.keep(technology.and_then(|base| technology_facts(&base))) {
                text += &format!("{name}: {facts}\n");
            }
        } else if let Some(machine) = errors.keep(MachineBase::named(path).and_then(|base| base.machine(&[]))) {
            text += &format!("{name}: {}\n", facts(&machine));
        }
    }
    files::print_text(&text)?;
    Ok(errors.or(())?)
}

/// The node of a technology and what it makes of the paper's machine, and for each file how many constants it
/// gives: they may be of several nodes.
fn technology_facts(base: &MachineBase) -> Result<String, Diagnostics> {
    let machine = base.machine(&[])?;
    let technology = &machine.technology;
    let mut text = format!(
        "technology {}, {} nm; rpu-128x128: {}",
        technology.name,
        technology.node_nm,
        facts(&machine)
    );
    let constants =
        base.sources(&[])?.into_iter().filter(|source| source.key.path.starts_with("technology."));
    let mut files: Vec<(String, usize)> = Vec::new();
    for source in constants {
        match files.iter_mut().find(|(file, _)| *file == source.file) {
            Some((_, count)) => *count += 1,
            None => files.push((source.file, 1)),
        }
    }
    if files.len() > 1 {
        for (file, count) in files {
            let name = file.strip_prefix("built-in ").unwrap_or(&file);
            let node = MachineBase::of_technology(name).and_then(|base| base.ok()?.machine(&[]).ok());
            let node = node.map(|machine| format!(", {} nm", machine.technology.node_nm)).unwrap_or_default();
            text += &format!("\n  {} from {file}{node}", counted(count, "constant", "constants"));
        }
    }
    Ok(text)
}

/// The size, clock and area of a machine in one line.
fn facts(machine: &Machine) -> String {
    format!("{}, {:.2} mm2", size_and_clock(machine), sim::Area::of(machine).total())
}
