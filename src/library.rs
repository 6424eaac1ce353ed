//! `rpu library`

use crate::failure::Failure;
use crate::files;
use crate::numbers::degree;
use codegen::forwarding::Removed;
use codegen::library::{BUILT_IN, Entry, Measured, Standing, Target, Task};
use codegen::search::{Effort, build};
use golden::Operation;
use rayon::prelude::*;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Operation to list; by default all
    #[arg(value_name = "KERNEL")]
    kernel: Option<Operation>,
    /// Ring degrees to list; by default all
    #[arg(long, value_name = "N", value_parser = degree)]
    n: Vec<u32>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Search the library's recipes anew, without the library
    Build(BuildArgs),
}

#[derive(clap::Args)]
struct BuildArgs {
    /// Task to build, such as `ntt-1024` or `ntt-1024-x4`; by default all of the library
    #[arg(long, value_name = "TASK")]
    task: Vec<String>,
    /// Random scheduler settings to try for the fastest plans of each target, for 65536 points; smaller
    /// programs get up to 16 times as many
    #[arg(long, value_name = "COUNT", default_value_t = Effort::DEFAULT.refinements)]
    refinements: usize,
    /// Folder for the tasks' files
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

const COLUMNS: [&str; 13] = [
    "kernel",
    "n",
    "towers",
    "HPLEs",
    "banks",
    "mapping",
    "busyboard",
    "other",
    "cycles",
    "bound",
    "ratio",
    "forwarded",
    "plan",
];

/// The text below the table.
const NOTE: &str = "
The bound holds for every schedule of the plan: the sum of the bounds of its passes. A program of one pass at its bound is
optimal for its plan.
";

/// Generates the best known programs. Tabulates their cycles against the bounds of their plans, and
/// the loads and stores that forwarding removed, in Markdown.
pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if let Some(Command::Build(args)) = &args.command {
        return rebuild(args);
    }
    let listed = |task: &&Task| {
        let kernel = args.kernel.is_none_or(|kernel| kernel.name() == task.operation);
        kernel && (args.n.is_empty() || args.n.contains(&task.n))
    };
    let tasks = BUILT_IN.tasks().filter(listed);
    let mut programs: Vec<_> = tasks.flat_map(Task::programs).collect();
    // The vector length of B512 comes first.
    let usual_length = Target::default().vector_length;
    programs.sort_by_cached_key(|(task, _, known)| {
        let target = &known.machine;
        let memory = (name(&target.mapping), name(&target.busyboard));
        let latencies = (target.multiplier_latency, target.sbar_latency, target.vbar_latency);
        let properties = (target.gs_butterfly, target.ideal_vrf_ports, !target.multicast, memory, latencies);
        let length = (target.vector_length != usual_length, target.vector_length);
        (&task.operation, task.towers, task.n, length, properties, target.hples, target.banks)
    });
    let mut rows: Vec<Vec<String>> = programs
        .par_iter()
        .map(|(task, entry, known)| {
            let standing = entry.measure(&task.request()?, &known.machine)?;
            Ok(row(task, entry, &known.machine, standing))
        })
        .collect::<Result<_, codegen::Error>>()
        .map_err(|error| Failure::wrong(error, None))?;
    rows.insert(0, COLUMNS.map(str::to_owned).to_vec());
    files::print((markdown(&rows) + NOTE).as_bytes())
}

/// Searches recipes for the library's tasks and targets, and writes one file per task.
fn rebuild(args: &BuildArgs) -> Result<(), Failure> {
    let name = |task: &Task| task.file_name().trim_end_matches(".toml").to_owned();
    if let Some(unknown) = args.task.iter().find(|given| !BUILT_IN.tasks().any(|t| name(t) == **given)) {
        let known: Vec<String> = BUILT_IN.tasks().map(name).collect();
        let help = Some(format!("the library's tasks are {}", known.join(", ")));
        return Err(Failure::Wrong { message: format!("unknown task `{unknown}`"), help });
    }
    // Before a search of minutes.
    std::fs::create_dir_all(&args.output).map_err(|error| {
        Failure::wrong(format_args!("cannot make the folder `{}`: {error}", args.output.display()), None)
    })?;
    let effort = Effort { refinements: args.refinements, ..Effort::DEFAULT };
    let chosen = |task: &&Task| args.task.is_empty() || args.task.contains(&name(task));
    let start = Instant::now();
    for task in BUILT_IN.tasks().filter(chosen) {
        let wrong = |error: codegen::Error| Failure::wrong(error, None);
        let request = task.request().map_err(wrong)?;
        let report = |Measured { cycles, machine }: &Measured| {
            let Target { hples, banks, .. } = machine;
            let place = [vec![format!("{hples} HPLEs"), format!("{banks} banks")], others(machine)]
                .concat()
                .join(", ");
            eprintln!("{}: {cycles} cycles on {place}", name(task));
        };
        let built = build(&request, &task.targets(), effort, &report).map_err(wrong)?;
        files::write(&args.output.join(built.file_name()), built.to_toml().as_bytes())?;
        eprintln!("{}: written after {} s", name(task), start.elapsed().as_secs());
    }
    Ok(())
}

fn row(task: &Task, entry: &Entry, target: &Target, standing: Standing) -> Vec<String> {
    let method = entry.recipe.method.as_deref();
    let plans: Vec<&str> =
        method.into_iter().chain(entry.recipe.plans.iter().map(|plan| &*plan.name)).collect();
    let Standing { cycles, bound, removed, .. } = standing;
    let removed = removed.map(|Removed { loads, stores }| format!("{loads} + {stores}"));
    vec![
        task.operation.clone(),
        task.n.to_string(),
        task.towers.to_string(),
        target.hples.to_string(),
        target.banks.to_string(),
        name(&target.mapping),
        name(&target.busyboard),
        others(target).join(", "),
        cycles.to_string(),
        bound.to_string(),
        format!("{:.2}", cycles.0 as f64 / bound.0 as f64),
        removed.unwrap_or_default(),
        plans.join(", "),
    ]
}

/// The properties of a target that have no column of their own and differ from the paper's machine.
fn others(target: &Target) -> Vec<String> {
    let usual = Target::default();
    let switches = [
        ("gs butterfly", target.gs_butterfly),
        ("ideal vrf ports", target.ideal_vrf_ports),
        ("no multicast", !target.multicast),
    ];
    let numbers = [
        ("vector", target.vector_length, usual.vector_length),
        ("multiplier", target.multiplier_latency, usual.multiplier_latency),
        ("vbar", target.vbar_latency, usual.vbar_latency),
        ("sbar", target.sbar_latency, usual.sbar_latency),
    ];
    let switches = switches.iter().filter(|(_, on)| *on).map(|&(name, _)| name.to_owned());
    let numbers = numbers.iter().filter(|(_, own, usual)| own != usual);
    switches.chain(numbers.map(|(name, own, _)| format!("{name} {own}"))).collect()
}

/// The name of a value in a machine file.
fn name(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("a variant becomes a string");
    value.as_str().unwrap_or_default().to_owned()
}

/// A table with a heading row. Columns are padded for reading as text; columns of numbers are
/// aligned to the right.
fn markdown(rows: &[Vec<String>]) -> String {
    let columns = rows[0].len();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let number = |column: usize| rows.get(1).is_some_and(|row| row[column].parse::<f64>().is_ok());
    let mut text = String::new();
    for (number_of_row, row) in rows.iter().enumerate() {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            text += &if number(column) { format!("| {cell:>width$} ") } else { format!("| {cell:<width$} ") };
        }
        text += "|\n";
        if number_of_row == 0 {
            for (column, width) in widths.iter().enumerate() {
                let dashes = "-".repeat(width + 1);
                text += &if number(column) { format!("|{dashes}:") } else { format!("|{dashes}-") };
            }
            text += "|\n";
        }
    }
    text
}
