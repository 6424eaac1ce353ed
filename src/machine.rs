//! `rpu machine`

mod diff;
mod list;
mod schema;
mod show;

use crate::failure::Failure;
use crate::files;
use crate::machine_options::base;
use diagnostic::Diagnostics;
use lab_run::size_and_clock;
use sim::Machine;

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
    /// Check machine files: report all errors of each
    Check(CheckArgs),
    /// Print the keys in which two machines differ, and what follows for clock and area
    Diff(diff::Args),
    /// Print the JSON schema of a TOML format, with which editors complete and check files
    Schema(schema::Args),
}

#[derive(clap::Args)]
struct CheckArgs {
    /// Machine files, or names of built-in machines
    #[arg(value_name = "M.toml", required = true)]
    machines: Vec<String>,
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
    for name in &args.machines {
        if let Some(machine) = errors.keep(base(name).and_then(|base| base.machine(&[]))) {
            text += &format!("{name}: {}\n", facts(&machine));
        }
    }
    files::print_text(&text)?;
    Ok(errors.or(())?)
}

/// The size, clock and area of a machine in one line.
fn facts(machine: &Machine) -> String {
    format!("{}, {:.2} mm2", size_and_clock(machine), sim::Area::of(machine).total())
}
