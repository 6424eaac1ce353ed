//! A sweep as a SLURM job array: the number of tasks, and their scripts.
//!
//! A task of milliseconds costs a cluster more than it computes. So [`time_some`] times some points
//! first. A [`Division`] then has only as many tasks as it can keep busy, and a [`Job`]
//! contains the scripts that run them.
//!
//! The merge waits for the array with `afterany`, not `afterok`: the results of successful tasks
//! are useful, and the merge reports the number of missing points. After a failed task, a job with
//! `afterok` would stay in the queue forever.

use super::execute::{Generate, execute};
use super::journal::{Journal, JournalError};
use super::meter::Spent;
use super::plan::Plan;
use super::point::Source;
use super::shard::Shard;
use super::workload::Workload;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use shlex::QuoteError;
use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};
use thiserror::Error;

/// The maximum number of points that are timed.
const SAMPLE: usize = 32;

/// Simulates pending points one after the other until `limit` is over, at least one if there is one; their
/// records stay in the journal.
///
/// # Errors
/// As [`execute`].
pub fn time_some(
    plan: &Plan,
    journal: &mut Journal,
    limit: Duration,
    generate: &Generate<'_>,
) -> Result<Spent, JournalError> {
    let begin = Instant::now();
    let mut spent = Spent::default();
    for point in sample(&journal.pending(plan, Shard::WHOLE, false), SAMPLE) {
        spent += execute(plan, &[point], journal, generate, &|_| ())?;
        if begin.elapsed() > limit {
            break;
        }
    }
    Ok(spent)
}

/// At most `count` points, evenly spread over the sweep and in random order, so that every prefix
/// is spread, too.
fn sample(points: &[usize], count: usize) -> Vec<usize> {
    let count = count.min(points.len());
    let mut sample: Vec<usize> =
        (0..count).map(|i| points[(2 * i + 1) * points.len() / (2 * count)]).collect();
    sample.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(0));
    sample
}

/// The division of the remaining points into tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Division {
    /// Number of tasks, at least 1.
    pub tasks: usize,
    /// The estimated time of all remaining points in one task.
    pub whole: Duration,
    /// The estimated time of the longest task.
    pub longest: Duration,
}

impl Division {
    /// Divides the points of `plan` that are among `pending` into at most `tasks` tasks of
    /// `threads` threads, none shorter than `least` if possible. `spent` is the measured time of
    /// some points.
    ///
    /// Points that share a program may end up in different tasks: each task generates the programs
    /// of its points, and the estimate includes this.
    pub fn new(
        plan: &Plan,
        pending: &[usize],
        spent: &Spent,
        tasks: usize,
        threads: usize,
        least: Duration,
    ) -> Self {
        let each = |time: Duration, count: u32| time / count.max(1);
        let program = each(spent.generation + spent.execution, spent.programs);
        let (answer, point) = (each(spent.golden, spent.answers), each(spent.timing, spent.points));
        let work: Vec<(usize, u128, Workload)> = pending
            .iter()
            .map(|&index| (index, plan.class(index).program, plan.manifest.points.workload(index)))
            .collect();
        let time = |shard: Shard| {
            let here = || work.iter().filter(|(index, ..)| shard.has(*index));
            let programs: HashSet<u128> = here().map(|(_, program, _)| *program).collect();
            let rings: HashSet<&Workload> = here().map(|(.., workload)| workload).collect();
            let work =
                program * programs.len() as u32 + answer * rings.len() as u32 + point * here().count() as u32;
            work / threads.max(1) as u32
        };
        let whole = time(Shard::WHOLE);
        // Division only adds work: each task takes at least this long.
        let enough = (whole.as_secs_f64() / least.as_secs_f64().max(1e-9)) as usize;
        let tasks = enough.min(tasks).min(pending.len()).max(1);
        let longest = Shard::all(tasks).map(time).max().unwrap_or(whole);
        Self { tasks, whole, longest }
    }

    /// Whether the longest task takes longer than a limit.
    pub fn exceeds(&self, limit: &TimeLimit) -> bool {
        self.longest > limit.duration
    }
}

/// A time limit in the format of `sbatch --time`: `minutes`, `minutes:seconds`,
/// `hours:minutes:seconds`, `days-hours`, `days-hours:minutes` or `days-hours:minutes:seconds`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimeLimit {
    text: String,
    duration: Duration,
}

/// Text that is not a time limit.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "invalid time limit `{0}`: write minutes, hours:minutes:seconds or days-hours, for example 30 or 1:30:00"
)]
pub struct TimeLimitError(String);

impl TimeLimit {
    /// The limit as a duration.
    pub fn duration(&self) -> Duration {
        self.duration
    }
}

impl FromStr for TimeLimit {
    type Err = TimeLimitError;

    fn from_str(text: &str) -> Result<Self, TimeLimitError> {
        let number = |digits: &str| {
            // Rust would accept a sign, SLURM does not.
            digits
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| digits.parse::<u32>().ok())?
                .map(u64::from)
        };
        let (days, rest) = text.split_once('-').map_or((None, text), |(days, rest)| (Some(days), rest));
        let parts: Option<Vec<u64>> = rest.split(':').map(number).collect();
        let days = days.map(number);
        let seconds = match (days, parts.as_deref()) {
            (None, Some(&[minutes])) => Some(60 * minutes),
            (None, Some(&[minutes, seconds])) => Some(60 * minutes + seconds),
            (None, Some(&[hours, minutes, seconds])) => Some(3600 * hours + 60 * minutes + seconds),
            (Some(Some(days)), Some(parts @ ([_] | [_, _] | [_, _, _]))) => {
                let units = parts.iter().zip([3600, 60, 1]);
                Some(86400 * days + units.map(|(part, unit)| part * unit).sum::<u64>())
            }
            _ => None,
        };
        match seconds {
            // For SLURM, 0 means unlimited.
            Some(seconds) if seconds > 0 => {
                Ok(Self { text: text.into(), duration: Duration::from_secs(seconds) })
            }
            _ => Err(TimeLimitError(text.into())),
        }
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The parameters of a job's scripts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// The sweep's name.
    pub name: String,
    /// Tasks of the array.
    pub tasks: usize,
    /// The time limit of a task, and of the merge.
    pub time: TimeLimit,
    /// Threads of a task.
    pub threads: usize,
    /// The folder in which the commands run: an absolute path, valid on all machines.
    pub working_folder: String,
    /// The command of the whole sweep with its arguments; each task adds its shard.
    pub sweep: Vec<String>,
    /// The command of the merge with its arguments.
    pub merge: Vec<String>,
}

impl Job {
    /// The name of the script that submits the other two.
    pub const SUBMIT: &str = "submit.sh";

    /// The scripts, each with its file name. They belong in the sweep's folder; SLURM writes the
    /// output of the tasks there.
    ///
    /// # Errors
    /// Returns an error if an argument has a zero byte.
    pub fn scripts(&self) -> Result<[(&'static str, String); 3], QuoteError> {
        let Self { tasks, time, threads, .. } = self;
        // The name must not end the option's line.
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
        let name: String = self.name.chars().map(plain).collect();
        let folder = shlex::try_quote(&self.working_folder)?;
        let sweep = shlex::try_join(self.sweep.iter().map(String::as_str))?;
        let merge = shlex::try_join(self.merge.iter().map(String::as_str))?;
        // The shard contains the number of tasks: if only some are resubmitted with --array, SLURM
        // counts only those.
        let array = format!(
            "#!/bin/sh\n\
             #SBATCH --job-name=rpu-{name}\n\
             #SBATCH --array=1-{tasks}\n\
             #SBATCH --time={time}\n\
             #SBATCH --cpus-per-task={threads}\n\
             #SBATCH --output=slurm-%A-%a.log\n\
             #SBATCH --open-mode=append\n\
             #SBATCH --requeue\n\
             # Each task simulates a part of the sweep into a journal of its own. Run again, it goes on\n\
             # where it was.\n\
             set -eu\n\
             cd -- {folder}\n\
             exec {sweep} --shard \"$SLURM_ARRAY_TASK_ID/{tasks}\"\n"
        );
        let merge = format!(
            "#!/bin/sh\n\
             #SBATCH --job-name=rpu-{name}-merge\n\
             #SBATCH --time={time}\n\
             #SBATCH --output=slurm-%A-merge.log\n\
             #SBATCH --open-mode=append\n\
             #SBATCH --requeue\n\
             # Puts the journals of all tasks together; fails if points lack or failed.\n\
             set -eu\n\
             cd -- {folder}\n\
             exec {merge}\n"
        );
        let submit = "#!/bin/sh\n\
             # Submits the array and, to run when all its tasks have ended in whatever way, the merge. Run\n\
             # again, it does what is left. Arguments go to sbatch, such as --partition=long.\n\
             set -eu\n\
             cd -- \"$(dirname -- \"$0\")\"\n\
             array=$(sbatch --parsable \"$@\" array.sbatch)\n\
             merge=$(sbatch --parsable \"$@\" --dependency=\"afterany:${array%%;*}\" merge.sbatch)\n\
             echo \"array ${array%%;*}, merge ${merge%%;*}\"\n";
        Ok([("array.sbatch", array), ("merge.sbatch", merge), (Self::SUBMIT, submit.to_owned())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_over_the_sweep() {
        let points: Vec<usize> = (0..12).collect();
        let mut chosen = sample(&points, 4);
        chosen.sort_unstable();
        assert_eq!(chosen, [1, 4, 7, 10]);
        assert_eq!(sample(&points, 100).len(), 12);
        assert!(sample(&[], 4).is_empty());
    }

    #[test]
    fn limits_of_time_are_those_of_slurm() {
        let seconds = |text: &str| text.parse::<TimeLimit>().map(|limit| limit.duration().as_secs()).ok();
        assert_eq!(seconds("30"), Some(1800));
        assert_eq!(seconds("1:30"), Some(90));
        assert_eq!(seconds("2:03:04"), Some(7384));
        assert_eq!(seconds("1-0"), Some(86400));
        assert_eq!(seconds("1-2:03"), Some(86400 + 7200 + 180));
        assert_eq!(seconds("2-2:03:04"), Some(2 * 86400 + 7384));
        for wrong in
            ["", "0", "0:00", "a", "+5", "-5", "1:2:3:4", "1-", "1-2:3:4:5", "5m", "1 ", "99999999999"]
        {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn nothing_in_a_name_or_an_argument_ends_a_line_early() {
        let text = |text: &str| text.to_owned();
        let job = Job {
            name: text("a b.1_c\n#SBATCH --exclusive"),
            tasks: 3,
            time: "1:00:00".parse().unwrap(),
            threads: 2,
            working_folder: text("/a folder"),
            sweep: vec![text("rpu"), text("sweep"), text("it's.toml")],
            merge: vec![text("rpu"), text("sweep"), text("merge"), text("$HOME")],
        };
        let [(_, array), (_, merge), _] = job.scripts().unwrap();
        assert!(array.contains("\n#SBATCH --job-name=rpu-a-b.1_c--SBATCH---exclusive\n"), "{array}");
        assert_eq!(array.matches("#SBATCH --exclusive").count(), 0, "{array}");
        assert!(array.contains("\n#SBATCH --array=1-3\n#SBATCH --time=1:00:00\n#SBATCH --cpus-per-task=2\n"));
        assert!(
            array.ends_with(
                "\ncd -- '/a folder'\nexec rpu sweep \"it's.toml\" --shard \"$SLURM_ARRAY_TASK_ID/3\"\n"
            ),
            "{array}"
        );
        assert!(merge.ends_with("\nexec rpu sweep merge '$HOME'\n"), "{merge}");
    }
}
