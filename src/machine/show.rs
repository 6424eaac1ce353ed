//! `rpu machine show`

use super::facts;
use crate::failure::Failure;
use crate::files;
use crate::format::{Format, json};
use crate::machine_options::parse_overrides;
use sim::{Machine, MachineBase, Override};
use std::fmt::Write;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Machine file, or the name of a built-in machine
    #[arg(value_name = "M.toml", default_value = "rpu-128x128")]
    machine: PathBuf,
    /// Set a key of the machine, e.g. vdm.banks=64
    #[arg(short = 'p', long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// A machine file, or the machine as JSON
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    let overrides = parse_overrides(&args.overrides)?;
    let base = MachineBase::named(&args.machine)?;
    let machine = base.machine(&overrides)?;
    let text = match args.format {
        Format::Json => json(&machine)?,
        Format::Table => {
            let sources = base.sources(&overrides)?;
            let sources = sources.iter().map(|source| match &*source.file {
                Override::SOURCE => "-p".to_owned(),
                file => format!("{file}:{}", source.line),
            });
            machine_file(&machine, &sources.collect::<Vec<_>>())
        }
    };
    files::print_text(&text)
}

/// The machine as a machine file, with the source of each key's value.
fn machine_file(machine: &Machine, sources: &[String]) -> String {
    let mut text = format!("# {}: {}\n", machine.name, facts(machine));
    let mut section = "";
    for ((key, value), source) in machine.values().into_iter().zip(sources) {
        let (of, name) = key.path.rsplit_once('.').unwrap_or(("", key.path));
        if of != section {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n[{of}]\n");
            section = of;
        }
        let setting = format!("{name} = {value}");
        let _ = writeln!(text, "{setting:<40} # {source}");
    }
    text
}
