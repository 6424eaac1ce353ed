//! `rpu sweep`

use crate::failure::Failure;
use crate::files;
use crate::machine_options::parse_overrides;
use crate::numbers::threads;
use crate::program::is_program;
use crate::signals;
use clap::Subcommand;
use diagnostic::counted;
use diagnostic::input::Content;
use lab_sweep::outputs::{OutputError, Outputs};
use lab_sweep::{
    Definition, FIG4, JournalError, Plan, Record, Results, Selection, Shard, Status, check_presentation,
    is_sweep, run,
};
use progress::{Progress, ProgressKind};
use std::path::{Path, PathBuf};

pub(crate) mod progress;
mod replay;
mod slurm;
mod verify;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    sweep: SweepArgs,
    /// Number of threads; by default one for each core
    #[arg(short = 'j', long, value_name = "THREADS", value_parser = threads)]
    threads: Option<usize>,
    /// Run every N-th point, starting with the K-th; in a SLURM array job, the default is the
    /// task's share
    #[arg(long, value_name = "K/N")]
    shard: Option<Shard>,
    /// Run failed points again
    #[arg(long)]
    retry_failed: bool,
    /// Format of progress on standard error. Lines of JSON, at most one per second and one at the end, have
    /// `points`, `done`, `failed`, `points_per_s` and `remaining_s`
    #[arg(long, value_enum, default_value = "auto", value_name = "HOW")]
    progress: ProgressKind,
}

/// The sweep and its folder.
#[derive(clap::Args)]
struct SweepArgs {
    /// Sweep definition; by default the 28 machines of the paper's Fig. 4
    #[arg(value_name = "SWEEP.toml")]
    file: Option<PathBuf>,
    /// Set a key for all points: a machine key, or kernel, n, modulus_bits, modulus, plan
    #[arg(short = 'p', long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Folder of the journal and the results
    #[arg(long, value_name = "DIR", value_parser = files::folder(), default_value = "out")]
    out: PathBuf,
}

impl SweepArgs {
    fn definition(&self) -> Result<Definition, Failure> {
        definition(self.file.as_deref(), &self.overrides)
    }
}

/// The definition in a file, or the built-in one, with keys set on the command line.
pub(crate) fn definition(file: Option<&Path>, overrides: &[String]) -> Result<Definition, Failure> {
    let mut definition = match file {
        None => Definition::parse("built-in fig4", FIG4)?,
        Some(path) if is_program(path) => {
            let message = format!("`{}` is a program, not a sweep", diagnostic::path(path));
            let help = "write a sweep with `program = \"FILE\"`; `rpu run FILE` runs it once";
            return Err(Failure::wrong(message, help));
        }
        Some(path) => {
            let (name, text) = files::read_text(path, Content::Document)?;
            Definition::parse(&name, &text)?.in_folder(path.parent().unwrap_or(Path::new("")))
        }
    };
    for change in parse_overrides(overrides)? {
        definition.set(&change)?;
    }
    Ok(definition)
}

#[derive(Subcommand)]
enum Command {
    /// Merge the journals of all shards and write the results
    Merge {
        /// Folders of shards of one sweep
        #[arg(value_name = "DIR", value_parser = files::folder(), required = true)]
        folders: Vec<PathBuf>,
        /// Folder to write to; by default the first folder
        #[arg(long, value_name = "DIR", value_parser = files::folder())]
        out: Option<PathBuf>,
    },
    /// Show the progress of a sweep
    Status {
        /// Folders of shards of one sweep
        #[arg(value_name = "DIR", value_parser = files::folder(), required = true)]
        folders: Vec<PathBuf>,
    },
    /// Simulate one point again, print its record, and compare it with the journal
    Replay(replay::Args),
    /// Simulate recorded points again and compare them with the journal
    Verify(verify::Args),
    /// Write a sweep as a SLURM job array, sized by timing a few points, followed by a merge
    Slurm(slurm::Args),
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    match &args.command {
        None => sweep(args),
        Some(Command::Merge { folders, out }) => {
            let mut folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
            folders.iter().try_for_each(|folder| check_presentation(folder))?;
            let out = out.as_deref().unwrap_or(folders[0]);
            if !folders.contains(&out) && is_sweep(out) {
                // It was merged before.
                folders.push(out);
            }
            if folders != [out] {
                Results::merge(&folders)?.save(out)?;
                folders = vec![out];
            }
            write_results(&folders, out)
        }
        Some(Command::Status { folders }) => {
            let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
            files::print_text(&status(&Results::merge(&folders)?))
        }
        Some(Command::Replay(args)) => replay::main(args),
        Some(Command::Verify(args)) => verify::main(args),
        Some(Command::Slurm(args)) => slurm::main(args),
    }
}

fn sweep(args: &Args) -> Result<(), Failure> {
    let out = &args.sweep.out;
    let shard = this_shard(args.shard)?;
    let definition = args.sweep.definition()?;
    let pool = pool(args.threads)?;
    let plan = pool.install(|| Plan::new(&definition))?;
    if let Some((point, count)) = plan.repeated() {
        let points = counted(
            count,
            "point is the same as another and counts",
            "points are the same as others and count",
        );
        let setting = |key: &String| point.settings.get(key).map(|value| format!("{key} = {value}"));
        let settings: Vec<String> = plan.manifest.varying.iter().filter_map(setting).collect();
        note!("{points} once, for example {}", settings.join(", "));
    }
    let part = Selection { shard, retry_failed: args.retry_failed, stop: signals::watch()? };
    let progress = Progress::new(args.progress);
    let varying = &plan.manifest.varying;
    let done = |points: usize, record: &Record| progress.done(points, record, varying);
    let simulated = pool.install(|| run(&plan, out, &part, &done))?;
    progress.finish();
    // The results have their own view of the points.
    drop(plan);

    if shard == Shard::WHOLE {
        pool.install(|| write_results(&[out], out))
    } else {
        note!(
            "shard {shard}: {} simulated; `rpu sweep merge` merges all shards",
            counted(simulated, "point", "points")
        );
        Ok(())
    }
}

/// The shard of this process: as given, or of the SLURM task, or the whole.
pub(crate) fn this_shard(given: Option<Shard>) -> Result<Shard, Failure> {
    match given {
        Some(shard) => Ok(shard),
        None => Ok(slurm_shard()?.unwrap_or(Shard::WHOLE)),
    }
}

/// The most threads that work on a core.
const THREADS_PER_CORE: usize = 4;

/// The number of threads: as given, up to four for each core, or one for each core.
pub(crate) fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool, Failure> {
    // Results do not depend on their number, and many idle ones slow the others down.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = threads.map_or(0, |threads| threads.min(THREADS_PER_CORE * cores));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Failure::wrong(error, None))
}

/// The shard of a task in a SLURM job array.
fn slurm_shard() -> Result<Option<Shard>, Failure> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let (Some(id), Some(count)) = (number("SLURM_ARRAY_TASK_ID"), number("SLURM_ARRAY_TASK_COUNT")) else {
        return Ok(None);
    };
    let first = number("SLURM_ARRAY_TASK_MIN").unwrap_or(1);
    let shard = format!("{}/{count}", id.wrapping_sub(first).wrapping_add(1)).parse();
    let help = "number the tasks of the array without gaps: --array=1-N";
    shard.map(Some).map_err(|_| {
        Failure::wrong(
            format_args!("SLURM_ARRAY_TASK_ID={id} is outside the {count} tasks that start at {first}"),
            help,
        )
    })
}

/// Writes the results in `folders` to `out` and prints the front. Fails if any point failed.
pub(crate) fn write_results(folders: &[&Path], out: &Path) -> Result<(), Failure> {
    let results = Results::merge(folders)?;
    files::create_folder(out)?;
    let outputs = Outputs::new(&results);
    let names = outputs.write(out)?;
    files::print_text(&outputs.summary()?)?;
    for name in names {
        note!("wrote {}", diagnostic::path(out.join(name)));
    }
    let (total, failed, missing) = (results.points(), results.failed(), results.missing());
    let is_failed = |point: &usize| results.status(*point) == Some(Status::Failed);
    match (results.recorded().find(is_failed), missing) {
        (Some(first), _) => {
            let record = results.record(first)?;
            let name = record.as_ref().map(|record| record.name(&results.manifest.varying));
            let error = record.as_ref().and_then(|record| record.error.as_deref());
            Err(Failure::Work(format!(
                "{failed} of {total} points failed; the first, {}: {}",
                name.as_deref().unwrap_or("without a record"),
                error.unwrap_or("no reason given")
            )))
        }
        (None, 0) => Ok(()),
        (None, missing) => Err(Failure::Work(format!("{missing} of {total} points have not run yet"))),
    }
}

fn status(results: &Results) -> String {
    let points = counted(results.points(), "point", "points");
    // A search chooses its designs one after the other: those to come have no number yet.
    let explored = results.manifest.explored.is_some();
    let text = if explored {
        format!("{}: an exploration, {points} so far\n", results.manifest.name)
    } else {
        format!("{}: {points}\n", results.manifest.name)
    };
    let failed = results.failed();
    let counts = [("ok", results.recorded().count() - failed), ("failed", failed)];
    let missing = ("missing", results.missing());
    let missing = Some(missing).filter(|_| !explored);
    let lines = counts.into_iter().chain(missing).map(|(name, count)| format!("  {name:<8} {count}\n"));
    text + &lines.collect::<String>()
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        let help = match &error {
            JournalError::Stopped => return signals::interrupted(),
            JournalError::NoSweep { .. } => Some("name a folder that `rpu sweep --out DIR` wrote"),
            JournalError::Line { .. } | JournalError::Disagree { .. } => {
                Some("delete that line; its point runs again")
            }
            JournalError::Occupied { .. }
            | JournalError::OtherKind { .. }
            | JournalError::OtherSpace { .. } => Some("choose another folder with --out"),
            JournalError::OtherModel { .. } => Some(
                "choose another folder with --out; `rpu sweep verify` compares its results with this rpu's",
            ),
            JournalError::OtherSweep { .. } | JournalError::Models { .. } => {
                Some("merge folders of one sweep, each made with the same options by the same rpu")
            }
            JournalError::Manifest { .. } | JournalError::Record { .. } => {
                Some("run the sweep again in a new folder")
            }
            JournalError::Locked { .. } => Some("wait for it, or choose another folder with --out"),
            JournalError::NoFolder | JournalError::Io { .. } => None,
        };
        Failure::wrong(error, help)
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Journal(error) => error.into(),
            error => Failure::wrong(error, None),
        }
    }
}
