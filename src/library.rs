//! `rpu library`

use crate::failure::Failure;
use crate::files;
use crate::numbers::{degree, whole};
use codegen::forwarding::Removed;
use codegen::library::{BUILT_IN, Entry, Measured, Standing, Target, Task, noise};
use codegen::search::{Effort, build};
use golden::Operation;
use rayon::prelude::*;
use ring::Degree;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;
use toml::Value;

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
    n: Vec<Degree>,
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
    /// Effort of the search for each target: how many times the budget of a quick search it has
    #[arg(long, value_name = "TIMES", default_value_t = Effort::FULL.budget, value_parser = whole::<u32>)]
    effort: u32,
    /// Folder for the tasks' files
    #[arg(short, long, value_name = "DIR", value_parser = files::folder())]
    output: PathBuf,
}

const COLUMNS: [&str; 10] =
    ["n", "towers", "HPLEs", "banks", "other", "cycles", "passes", "ratio", "forwarded", "plan"];

/// The text below the tables.
const NOTE: &str = "\
*Passes* is the sum of the bounds of its passes. It is a bound for a program of one pass: at it, the program is optimal for its
plan. Passes may overlap, so a program of several can take less.
";

/// Generates the best known programs. For each kernel, tabulates their cycles against the bounds of their
/// passes, and the loads and stores that forwarding removed, in Markdown.
pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    if let Some(Command::Build(args)) = &args.command {
        return rebuild(args);
    }
    let listed = |task: &&Task| {
        let kernel = args.kernel.is_none_or(|kernel| kernel.name() == task.operation);
        kernel && (args.n.is_empty() || args.n.iter().any(|n| n.get() == u64::from(task.n)))
    };
    let tasks = BUILT_IN.tasks().filter(listed);
    let mut programs: Vec<_> = tasks.flat_map(Task::programs).collect();
    programs.sort_by_cached_key(|(task, _, known)| {
        let machine = known.machine.machine();
        let (hples, banks) = (machine.hple.count, machine.vdm.banks);
        (&task.operation, task.towers, task.n, others(&known.machine), hples, banks)
    });
    if programs.is_empty() {
        return Err(no_program(args));
    }
    let rows: Vec<(&str, Vec<String>)> = programs
        .par_iter()
        .map(|(task, entry, known)| {
            let standing = entry.measure(&task.request()?, &known.machine)?;
            Ok((&*task.operation, row(task, entry, &known.machine, standing)))
        })
        .collect::<Result<_, codegen::Error>>()
        .map_err(|error| Failure::wrong(error, None))?;
    let table = |group: &[(&str, Vec<String>)]| {
        let heading = std::iter::once(COLUMNS.map(str::to_owned).to_vec());
        let rows: Vec<Vec<String>> = heading.chain(group.iter().map(|(_, row)| row.clone())).collect();
        format!("## `{}`\n\n{}\n", group[0].0, markdown(&rows))
    };
    let tables: String = rows.chunk_by(|a, b| a.0 == b.0).map(table).collect();
    let (slower, pairs) = noise(BUILT_IN.tasks());
    let rank = |percent: usize| {
        let place = (slower.len() * percent / 100).min(slower.len().saturating_sub(1));
        slower.get(place).copied().unwrap_or_default()
    };
    let [median, most, worst] = [50, 99, 100].map(rank);
    let noise = format!(
        "\nNoise of the searches: of {pairs} pairs in the whole library of which one machine dominates the other, {} have a slower program \
         on the dominating machine: by {median:.1}% in the median, {most:.1}% at 99%, {worst:.1}% at most.\n",
        slower.len()
    );
    files::print((tables + NOTE + &noise).as_bytes())
}

/// The library has nothing that was asked for.
fn no_program(args: &Args) -> Failure {
    let degrees: Vec<String> = args.n.iter().map(|n| format!("n = {n}")).collect();
    let message = match args.kernel {
        Some(kernel) if degrees.is_empty() => format!("the library has no program of `{}`", kernel.name()),
        Some(kernel) => {
            format!("the library has no program of `{}` with {}", kernel.name(), degrees.join(", "))
        }
        None => format!("the library has no program with {}", degrees.join(", ")),
    };
    let mut known: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for task in BUILT_IN.tasks() {
        known.entry(&task.operation).or_default().insert(task.n);
    }
    let known = known.into_iter().map(|(kernel, degrees)| {
        let degrees: Vec<String> = degrees.iter().map(u32::to_string).collect();
        format!("`{kernel}` with n = {}", degrees.join(", "))
    });
    Failure::Wrong { message, help: Some(format!("it has {}", known.collect::<Vec<_>>().join("; "))) }
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
    files::create_folder(&args.output)?;
    let effort = Effort { budget: args.effort, ..Effort::FULL };
    let chosen = |task: &&Task| args.task.is_empty() || args.task.contains(&name(task));
    let start = Instant::now();
    for task in BUILT_IN.tasks().filter(chosen) {
        let wrong = |error: codegen::Error| Failure::wrong(error, None);
        let request = task.request().map_err(wrong)?;
        let report = |Measured { cycles, machine }: &Measured| {
            note!("{}: {cycles} cycles on {}", name(task), place(machine));
        };
        let built = build(&request, &task.targets(), effort, &report).map_err(wrong)?;
        files::write(&args.output.join(built.file_name()), built.to_toml().as_bytes())?;
        note!("{}: written after {} s", name(task), start.elapsed().as_secs());
    }
    Ok(())
}

fn row(task: &Task, entry: &Entry, target: &Target, standing: Standing) -> Vec<String> {
    let (machine, method) = (target.machine(), entry.recipe.method.as_deref());
    let plans: Vec<&str> =
        method.into_iter().chain(entry.recipe.plans.iter().map(|plan| &*plan.name)).collect();
    let Standing { cycles, pass_sum, removed, .. } = standing;
    let removed = removed.map(|Removed { loads, stores }| format!("{loads} + {stores}"));
    vec![
        task.n.to_string(),
        task.towers.to_string(),
        machine.hple.count.to_string(),
        machine.vdm.banks.to_string(),
        others(target),
        cycles.to_string(),
        pass_sum.to_string(),
        format!("{:.2}", cycles.0 as f64 / pass_sum.0 as f64),
        removed.unwrap_or_default(),
        plans.join(", "),
    ]
}

/// A target in words.
fn place(target: &Target) -> String {
    let (machine, others) = (target.machine(), others(target));
    let size = format!("{} HPLEs, {} banks", machine.hple.count, machine.vdm.banks);
    if others.is_empty() { size } else { format!("{size}, {others}") }
}

/// The properties of a target that have no column of their own and differ from the paper's machine.
fn others(target: &Target) -> String {
    let others = target.unusual().filter(|(key, ..)| !["hple.count", "vdm.banks"].contains(&key.path));
    let text = |(_, name, value): (_, &str, &Value)| match value {
        Value::Boolean(true) => name.to_owned(),
        Value::Boolean(false) => format!("no {name}"),
        Value::String(text) => text.clone(),
        value => format!("{name} {value}"),
    };
    others.map(text).collect::<Vec<_>>().join(", ").replace('_', " ")
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
