//! `rpu machine diff`

use crate::failure::Failure;
use crate::files;
use crate::format::{Format, json};
use crate::machine_options::load;
use serde::Serialize;
use sim::{Area, Clock, Machine, machine};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Machine file, or the name of a built-in machine
    #[arg(value_name = "A.toml")]
    a: PathBuf,
    /// Another machine; by default the first one
    #[arg(value_name = "B.toml")]
    b: Option<PathBuf>,
    /// Set a key of the second machine, e.g. vdm.banks=64
    #[arg(short = 'p', long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Format of the comparison
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
}

/// The differences of two machines.
#[derive(Serialize)]
struct Differences {
    keys: Vec<Difference>,
    clock_ghz: [f64; 2],
    area_mm2: [f64; 2],
    /// Whether every program that fits both takes the same cycles on both.
    same_cycles: bool,
}

#[derive(Serialize)]
struct Difference {
    key: &'static str,
    a: toml::Value,
    b: toml::Value,
    changes: String,
}

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    if args.b.is_none() && args.overrides.is_empty() {
        return Err(Failure::wrong("one machine only", "name a second machine, or set keys with -p"));
    }
    let (a, b) = (load(&args.a, &[])?, load(args.b.as_ref().unwrap_or(&args.a), &args.overrides)?);
    let differences = Differences::new(&a, &b);
    let text = match args.format {
        Format::Table => differences.table(),
        Format::Json => json(&differences)?,
    };
    files::print_text(&text)
}

impl Differences {
    fn new(a: &Machine, b: &Machine) -> Self {
        let keys = b.changes_from(a).into_iter().map(|change| Difference {
            key: change.key,
            a: change.from,
            b: change.to,
            changes: machine::key(change.key).map_or(String::new(), |key| key.effect_names()),
        });
        Self {
            keys: keys.collect(),
            clock_ghz: [a, b].map(|machine| Clock::of(machine).ghz()),
            area_mm2: [a, b].map(|machine| Area::of(machine).total()),
            same_cycles: a.has_the_timing_of(b),
        }
    }

    fn table(&self) -> String {
        let keys = self.keys.iter().map(|key| {
            let changes = if key.changes.is_empty() { "" } else { "changes " };
            [key.key.to_owned(), key.a.to_string(), key.b.to_string(), format!("{changes}{}", key.changes)]
        });
        let mut rows: Vec<[String; 4]> = keys.collect();
        let mut derived = |name: &str, [a, b]: [f64; 2], digits: usize| {
            let text = |value: f64, digits: usize| format!("{value:.digits$}");
            if a == b {
                return rows.push([name.to_owned(), text(a, digits), text(b, digits), String::new()]);
            }
            // As many digits as show the change.
            let digits = (digits..9).find(|&digits| text(a, digits) != text(b, digits)).unwrap_or(9);
            let percent = 100.0 * (b / a - 1.0);
            let places = (1..9).find(|&places| percent.abs() >= 0.1_f64.powi(places)).unwrap_or(9) as usize;
            rows.push([name.to_owned(), text(a, digits), text(b, digits), format!("{percent:+.places$}%")]);
        };
        derived("clock (GHz)", self.clock_ghz, 3);
        derived("area (mm2)", self.area_mm2, 2);
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths = [0, 1, 2].map(width);
        let mut text = String::new();
        for [name, a, b, rest] in &rows {
            let line = format!("{name:<0$}  {a:>1$}  {b:>2$}  {rest}", widths[0], widths[1], widths[2]);
            text += line.trim_end();
            text.push('\n');
        }
        if self.same_cycles {
            text += "every program takes as many cycles on one as on the other\n";
        }
        text
    }
}
