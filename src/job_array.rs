//! Job arrays for SLURM.

use crate::failure::Failure;
use crate::files;
use lab_sweep::slurm::{Job, TimeLimit};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, io};

#[derive(clap::Args)]
pub(crate) struct ArrayArgs {
    /// Number of tasks; a sweep has fewer if tasks would be short
    #[arg(long, value_name = "N")]
    pub(crate) tasks: NonZero<usize>,
    /// Time limit of each task, in the format of sbatch: minutes, hours:minutes:seconds, days-hours
    #[arg(long, value_name = "T")]
    pub(crate) time: TimeLimit,
    /// Threads of each task; the task requests as many CPUs
    #[arg(short = 'j', long, value_name = "THREADS", default_value = "1")]
    pub(crate) threads: NonZero<usize>,
    /// Submit the array and the merge with sbatch
    #[arg(long)]
    submit: bool,
}

impl ArrayArgs {
    /// Writes the scripts of a job to its folder, and submits them if asked to. Each task runs `command`, the
    /// arguments of `rpu`, for its shard. The commands run in the current folder, so that relative paths stay
    /// valid.
    pub(crate) fn write(
        &self,
        name: &str,
        tasks: usize,
        command: Vec<String>,
        out: &Path,
    ) -> Result<(), Failure> {
        let here = |path: io::Result<PathBuf>| text(&path.map_err(|error| Failure::wrong(error, None))?);
        let program = here(env::current_exe())?;
        let threads = ["-j".to_owned(), self.threads.to_string()];
        let job = Job {
            name: name.to_owned(),
            tasks,
            time: self.time.clone(),
            threads: self.threads.get(),
            working_folder: here(env::current_dir())?,
            sweep: [program.clone()].into_iter().chain(command).chain(threads).collect(),
            merge: vec![program, "sweep".to_owned(), "merge".to_owned(), text(out)?],
        };
        for (name, script) in job.scripts().map_err(|error| Failure::wrong(error, None))? {
            files::write(&out.join(name), script.as_bytes())?;
            note!("wrote {}", diagnostic::path(out.join(name)));
        }
        if self.submit { submit(out) } else { Ok(()) }
    }
}

/// The arguments that `rpu sweep` and `rpu explore` share.
pub(crate) fn arguments(
    file: Option<&Path>,
    overrides: &[String],
    out: &Path,
) -> Result<Vec<String>, Failure> {
    let mut arguments = Vec::new();
    if let Some(file) = file {
        arguments.push(text(file)?);
    }
    for change in overrides {
        arguments.extend(["-p".to_owned(), change.clone()]);
    }
    arguments.extend(["--out".to_owned(), text(out)?]);
    Ok(arguments)
}

fn text(path: &Path) -> Result<String, Failure> {
    let error = || format!("`{}` is not UTF-8 and cannot be written to a script", diagnostic::path(path));
    path.to_str().map(str::to_owned).ok_or_else(|| Failure::wrong(error(), None))
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
        Err(Failure::Work(format!(
            "`sh {}` could not submit the job: {}",
            diagnostic::path(&script),
            output.status
        )))
    }
}
