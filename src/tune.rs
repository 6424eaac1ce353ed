//! `rpu tune`

use crate::bar::bar;
use crate::failure::Failure;
use crate::files;
use crate::machine_options::MachineArgs;
use crate::numbers::whole;
use crate::rows::{self, Rows, TaskRows};
use codegen::library::{Measured, Target, Task};
use codegen::search::{Effort, Memory};
use diagnostic::input::Content;
use golden::Operation;
use lab_sweep::tuning::{self, Cache, CacheError, TuneError, Tuned};
use sim::Machine;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Operation to plan; `rpu gen --list` prints the names
    #[arg(value_name = "KERNEL")]
    kernel: Operation,
    #[command(flatten)]
    rows: Rows<TaskRows>,
    /// A setting of the kernel that its ring does not give; `rpu gen --list` prints the settings
    #[arg(long, value_name = "NAME=VALUE")]
    setting: Vec<String>,
    #[command(flatten)]
    machine: MachineArgs,
    /// Effort of the search: how many times the budget of a quick search it has
    #[arg(long, value_name = "TIMES", default_value_t = Effort::FULL.budget, value_parser = whole::<u32>)]
    effort: u32,
    /// Seed of the random settings; equal seeds find equal plans
    #[arg(long, value_name = "SEED", default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// File for the plan, to use with `--plan`
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Folder that keeps the cycles of every tried plan, so that a repeated or interrupted search
    /// tries each only once; by default `rpu` in the user's cache folder
    #[arg(long, value_name = "DIR", value_parser = files::folder())]
    cache: Option<PathBuf>,
    /// Try every plan and keep no results
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
    /// Update the task's file in a folder such as `codegen/plans` instead, if the plan is faster than
    /// the file's
    #[arg(long, value_name = "DIR", value_parser = files::folder(), conflicts_with = "output")]
    library: Option<PathBuf>,
}

pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let machine = args.machine.load()?;
    let given = [args.rows.given.clone(), rows::settings(&args.setting)?].concat();
    let request = tuning::request(args.kernel, given)?;
    // Before a search of minutes.
    let library = args.library.as_deref().map(|folder| {
        check_target(&machine)?;
        let path = folder.join(Task::of(&request).file_name());
        let task = if path.exists() { read_task(&path)? } else { Task::of(&request) };
        Ok::<_, Failure>((path, task))
    });
    let library = library.transpose()?;
    files::check_output(library.as_ref().map_or(&args.output, |(path, _)| path))?;
    let cache = cache_folder(args).and_then(|folder| {
        let cache = Cache::open(&folder, &request, &machine);
        let no_cache = |error: CacheError| note!("warning: no cache of measurements: {error}");
        cache.map_err(no_cache).ok()
    });
    let memory: &dyn Memory = cache.as_ref().map_or(&(), |cache| cache);
    let effort = Effort { budget: args.effort, seed: args.seed };
    let bar = bar(0, "plans", ", best {msg} cycles");
    let tuned = tuning::tune(&request, &machine, effort, memory, &|tried, total, best| {
        bar.set_length(total as u64);
        bar.set_position(tried as u64);
        bar.set_message(best.to_string());
    });
    bar.finish_and_clear();
    let Tuned { recipe, cycles, found, tried, before, origin } = tuned.map_err(|error| {
        let help = "delete the folder, or search again with --no-cache";
        Failure::wrong(&error, matches!(error, TuneError::WrongMemory).then_some(help))
    })?;
    note!("best of {tried} plans: {found} cycles; plan `best` ({origin}): {before} cycles");
    if cycles < before {
        let gain = 100.0 * (1.0 - cycles.0 as f64 / before.0 as f64);
        note!("the search found a plan that is {gain:.1}% faster");
    } else {
        note!("the search found nothing faster; the result is plan `best`");
    }
    let Some((path, mut task)) = library else {
        return files::write(&args.output, recipe.to_toml().as_bytes());
    };
    let measured = Measured { cycles: cycles.0, machine: Target::of(&machine) };
    if !task.insert(recipe, measured) {
        note!("the library's plan is at least as fast");
        return Ok(());
    }
    files::write(&path, task.to_toml().as_bytes())
}

/// Refuses a machine that a library cannot tell from another.
fn check_target(machine: &Machine) -> Result<(), Failure> {
    let other = Target::of(machine).machine();
    let differing = machine.resolved().changes_from(&other).into_iter().find(|change| change.key != "name");
    match differing {
        None => Ok(()),
        Some(change) => Err(Failure::wrong(
            format_args!("a library has no machines with `{} = {}`", change.key, change.to),
            "leave --library out: --output writes the plan to a file",
        )),
    }
}

/// A task's file of a library.
fn read_task(path: &Path) -> Result<Task, Failure> {
    let (name, text) = files::read_text(path, Content::Document)?;
    Ok(Task::parse(&name, &text)?)
}

fn cache_folder(args: &Args) -> Option<PathBuf> {
    // The rules of these variables have a relative path ignored, as if it were not set.
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let default = || folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    match &args.cache {
        _ if args.no_cache => None,
        Some(folder) => Some(folder.clone()),
        None => default().map(|folder| folder.join("rpu")),
    }
}
