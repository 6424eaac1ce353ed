//! `rpu explore`

use crate::bar::bar;
use crate::failure::Failure;
use crate::files;
use crate::numbers::{threads, whole};
use crate::signals;
use crate::sweep::progress::ProgressKind;
use crate::sweep::{self, definition, pool, this_shard};
use clap::Subcommand;
use diagnostic::counted;
use indicatif::ProgressBar;
use lab_sweep::explore::{Explored, Space, explore};
use lab_sweep::{Definition, Journal, Shard, generate};
use std::path::PathBuf;

mod slurm;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    search: SearchArgs,
    /// Number of threads; by default one for each core
    #[arg(short = 'j', long, value_name = "THREADS", value_parser = threads)]
    threads: Option<usize>,
    /// Search as the K-th of N, with a seed and a journal of its own; in a SLURM array job, the default is
    /// the task's number
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Format of progress on standard error. Lines of JSON, one per round, have `evaluations`,
    /// `simulated`, `front`, `hypervolume` and `neighbours_left`
    #[arg(long, value_enum, default_value = "auto", value_name = "HOW")]
    progress: ProgressKind,
    /// The same as `--progress json`
    #[arg(long, hide = true, conflicts_with = "progress")]
    json_progress: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Write an exploration as a SLURM job array, each task with a seed of its own, followed by a merge
    Slurm(slurm::Args),
}

/// The search and its folder.
#[derive(clap::Args)]
struct SearchArgs {
    /// Definition of the space: a sweep's, whose axes are the decisions, with the table [explore] for
    /// objectives and constraints
    #[arg(value_name = "SPACE.toml", required = true)]
    file: Option<PathBuf>,
    /// Set a key for all designs: a machine key, or kernel, n, modulus_bits, modulus, plan
    #[arg(short = 'p', long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Folder of the journal and the results, in the format of a sweep's
    #[arg(long, value_name = "DIR", value_parser = files::folder(), default_value = "out")]
    out: PathBuf,
    /// Designs to evaluate
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = evaluations)]
    evaluations: usize,
    /// Seed of the search; each shard adds its number
    #[arg(long, value_name = "S", default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
}

impl SearchArgs {
    fn definition(&self) -> Result<Definition, Failure> {
        definition(self.file.as_deref(), &self.overrides)
    }
}

fn evaluations(text: &str) -> Result<usize, String> {
    let count = whole(text).ok().filter(|count| (1..=10_000_000).contains(count));
    count.ok_or_else(|| "expected a number from 1 to 10000000".into())
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    match &args.command {
        None => search(args),
        Some(Command::Slurm(args)) => slurm::main(args),
    }
}

fn search(args: &Args) -> Result<(), Failure> {
    let Args { search, .. } = args;
    let shard = this_shard(args.shard)?;
    let definition = search.definition()?;
    let pool = pool(args.threads)?;
    let space = pool.install(|| Space::new(&definition))?;
    let mut journal = Journal::open(&search.out, shard, &space.manifest())?.stopped_by(signals::watch()?);
    let bar = progress_bar(args);
    let progress = |state: &Explored| tell(args, &bar, state);
    let seed = search.seed.wrapping_add(shard.number() as u64 - 1);
    let found =
        pool.install(|| explore(&space, &mut journal, search.evaluations, seed, &generate, &progress))?;
    bar.finish_and_clear();
    drop(journal);
    note!(
        "{} of {} designs evaluated, {} of them now; {}",
        found.evaluations,
        number(space.designs()),
        found.simulated,
        front(&found)
    );
    match found.neighbours_left {
        0 => note!("within each area, no design one axis away improves on the best one"),
        left => note!(
            "not evaluated: {} one axis away from the best ones within each area",
            counted(left, "design", "designs")
        ),
    }
    if found.evaluations < search.evaluations && (found.evaluations as f64) < space.designs() {
        note!("the others have values that do not go together, or are the same points");
    }
    if shard == Shard::WHOLE {
        return pool.install(|| sweep::write_results(&[&search.out], &search.out));
    }
    note!("`rpu sweep merge` merges all shards");
    Ok(())
}

/// A number of designs, for readers: whole if it is small.
fn number(designs: f64) -> String {
    if designs < 1e6 { format!("{designs:.0}") } else { format!("{designs:.1e}") }
}

/// The state of the front, for readers.
fn front(state: &Explored) -> String {
    let hypervolume = state.hypervolume.map(|volume| format!(", hypervolume {volume:.4}"));
    format!("{} on the front{}", state.front, hypervolume.unwrap_or_default())
}

impl Args {
    fn progress(&self) -> ProgressKind {
        if self.json_progress { ProgressKind::Json } else { self.progress }
    }
}

fn progress_bar(args: &Args) -> ProgressBar {
    match args.progress() {
        ProgressKind::Auto => bar(args.search.evaluations, "designs", ", {msg}"),
        ProgressKind::Json | ProgressKind::None => ProgressBar::hidden(),
    }
}

fn tell(args: &Args, bar: &ProgressBar, state: &Explored) {
    let Explored { evaluations, simulated, front, hypervolume, neighbours_left } = *state;
    bar.set_position(evaluations as u64);
    bar.set_message(self::front(state));
    if args.progress() == ProgressKind::Json {
        let line = serde_json::json!({
            "evaluations": evaluations,
            "simulated": simulated,
            "front": front,
            "hypervolume": hypervolume,
            "neighbours_left": neighbours_left,
        });
        note!("{line}");
    }
}
