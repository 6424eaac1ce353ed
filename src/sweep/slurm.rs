//! `rpu sweep slurm`

use super::{SweepArgs, pool};
use crate::failure::Failure;
use crate::files;
use diagnostic::counted;
use lab::sweep::slurm::{self, Division, Job, TimeLimit};
use lab::sweep::{Journal, Plan, Shard, Spent, execute, generate};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, io};

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    sweep: SweepArgs,
    /// Maximum number of tasks; fewer if tasks would be short
    #[arg(long, value_name = "N")]
    tasks: NonZero<usize>,
    /// Time limit of each task, in the format of sbatch: minutes, hours:minutes:seconds, days-hours
    #[arg(long, value_name = "T")]
    time: TimeLimit,
    /// Threads of each task; the task requests as many CPUs
    #[arg(short = 'j', long, value_name = "THREADS", default_value = "1")]
    threads: NonZero<usize>,
    /// Minimum planned run time of a task
    #[arg(long, value_name = "SECONDS", default_value = "120")]
    least: u32,
    /// Submit the array and the merge with sbatch
    #[arg(long)]
    submit: bool,
}

/// The maximum number of timed points, and the time after which timing stops.
const SAMPLE: (usize, Duration) = (32, Duration::from_secs(5));

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    let definition = args.sweep.definition()?;
    if definition.halving.is_some() {
        // Each task would have to run all the small rings itself.
        return Err(Failure::wrong(
            "a sweep with [halving] cannot be divided into tasks",
            "run it in one process, on all cores of a node",
        ));
    }
    let plan = Plan::new(&definition)?;
    let out = &args.sweep.out;
    let mut journal = Journal::open(out, Shard::WHOLE, &plan.manifest)?;
    let spent = time_some(&plan, &mut journal)?;
    let left = journal.pending(&plan, Shard::WHOLE, false).points;
    drop(journal);

    let least = Duration::from_secs(args.least.into());
    let division = Division::new(&plan, &left, &spent, args.tasks.get(), args.threads.get(), least);
    tell(args, &plan, &spent, left.len(), division);

    let job = job(args, &plan.manifest.name, division.tasks)?;
    let scripts = job.scripts().map_err(|error| Failure::wrong(error, None))?;
    for (name, script) in scripts {
        files::write(&out.join(name), script.as_bytes())?;
        note!("wrote {}", out.join(name).display());
    }
    if args.submit { submit(out) } else { Ok(()) }
}

/// Simulates points one after the other until the time is over; their records stay in the journal.
fn time_some(plan: &Plan, journal: &mut Journal) -> Result<Spent, Failure> {
    let begin = Instant::now();
    let mut spent = Spent::default();
    let pending = journal.pending(plan, Shard::WHOLE, false);
    // One thread: with several, the times would depend on shared resources.
    let pool = pool(Some(1))?;
    for point in slurm::sample(&pending.points, SAMPLE.0) {
        let point = pending.only(vec![point]);
        spent += pool.install(|| execute(plan, &point, journal, &generate, &|_| ()))?;
        if begin.elapsed() > SAMPLE.1 {
            break;
        }
    }
    Ok(spent)
}

/// Reports the basis of the division on standard error, and any departure from the request.
fn tell(args: &Args, plan: &Plan, spent: &Spent, left: usize, division: Division) {
    let Division { tasks, whole, longest } = division;
    note!(
        "{} timed; {left} of {} left{}",
        counted(spent.points as usize, "point", "points"),
        plan.len(),
        if left == 0 { String::new() } else { format!(", about {whole:.1?} in one task") }
    );
    if left == 0 {
        note!("nothing is left to simulate: the array only merges");
        return;
    }
    if tasks < args.tasks.get() {
        let tasks = counted(tasks, "task", "tasks");
        note!("{tasks} instead of {}: more would run for less than {} s each", args.tasks, args.least);
    }
    match tasks {
        1 => note!("the task runs for about {longest:.1?}"),
        _ => note!("the longest of {tasks} tasks runs for about {longest:.1?}"),
    }
    if longest > args.time.duration() {
        note!("warning: this exceeds --time {}; submit again to run the rest", args.time);
    }
}

/// The job of a sweep. Its commands run in the current folder, so that relative paths stay valid.
fn job(args: &Args, name: &str, tasks: usize) -> Result<Job, Failure> {
    let text = |path: &Path| match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Failure::wrong(
            format_args!("`{}` is not UTF-8 and cannot be written to a script", path.display()),
            None,
        )),
    };
    let here = |path: io::Result<PathBuf>| text(&path.map_err(|error| Failure::wrong(error, None))?);
    let command = [here(env::current_exe())?, "sweep".to_owned()];
    let out = text(&args.sweep.out)?;

    let mut sweep = command.to_vec();
    if let Some(file) = &args.sweep.file {
        sweep.push(text(file)?);
    }
    for change in &args.sweep.overrides {
        sweep.extend(["-p".to_owned(), change.clone()]);
    }
    sweep.extend(["--out".to_owned(), out.clone(), "-j".to_owned(), args.threads.to_string()]);
    let mut merge = command.to_vec();
    merge.extend(["merge".to_owned(), out]);
    Ok(Job {
        name: name.to_owned(),
        tasks,
        time: args.time.clone(),
        threads: args.threads.get(),
        working_folder: here(env::current_dir())?,
        sweep,
        merge,
    })
}

/// Runs the script that calls sbatch, and prints its output: the job numbers.
fn submit(out: &Path) -> Result<(), Failure> {
    let script = out.join(Job::SUBMIT);
    let output = Command::new("sh").arg(&script).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| Failure::wrong(format_args!("cannot start sh: {error}"), None))?;
    files::print(&output.stdout)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(Failure::Work(format!("`sh {}` could not submit the sweep: {}", script.display(), output.status)))
    }
}
