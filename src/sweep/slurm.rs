//! `rpu sweep slurm`

use super::{SweepArgs, pool};
use crate::failure::Failure;
use crate::job_array::{ArrayArgs, arguments};
use crate::numbers::whole;
use diagnostic::counted;
use lab_sweep::slurm::{self, Division};
use lab_sweep::{Journal, Plan, Shard, Spent, generate};
use std::time::Duration;

#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    sweep: SweepArgs,
    #[command(flatten)]
    array: ArrayArgs,
    /// Minimum planned run time of a task
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = whole::<u32>)]
    least: u32,
}

/// The time after which timing stops.
const TIMING: Duration = Duration::from_secs(5);

pub(super) fn main(args: &Args) -> Result<(), Failure> {
    let plan = Plan::new(&args.sweep.definition()?)?;
    let out = &args.sweep.out;
    let mut journal = Journal::open(out, Shard::WHOLE, &plan.manifest)?;
    // One thread: with several, the times would depend on shared resources.
    let spent = pool(Some(1))?.install(|| slurm::time_some(&plan, &mut journal, TIMING, &generate))?;
    let left = journal.pending(&plan, Shard::WHOLE, false);
    drop(journal);

    let least = Duration::from_secs(args.least.into());
    let division =
        Division::new(&plan, &left, &spent, args.array.tasks.get(), args.array.threads.get(), least);
    tell(args, &plan, &spent, left.len(), division);

    let mut command = vec!["sweep".to_owned()];
    command.extend(arguments(args.sweep.file.as_deref(), &args.sweep.overrides, out)?);
    args.array.write(&plan.manifest.name, division.tasks, command, out)
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
    if tasks < args.array.tasks.get() {
        let tasks = counted(tasks, "task", "tasks");
        note!("{tasks} instead of {}: more would run for less than {} s each", args.array.tasks, args.least);
    }
    match tasks {
        1 => note!("the task runs for about {longest:.1?}"),
        _ => note!("the longest of {tasks} tasks runs for about {longest:.1?}"),
    }
    if division.exceeds(&args.array.time) {
        note!("warning: this exceeds --time {}; submit again to run the rest", args.array.time);
    }
}
