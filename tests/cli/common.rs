//! Shared helpers of the command-line tests.

use std::path::Path;
use std::process::{Command, Output};

/// A file of the repository.
pub(crate) fn repository(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

/// `rpu` in a folder, without SLURM's environment.
pub(crate) fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rpu"));
    for variable in ["SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"] {
        command.env_remove(variable);
    }
    command.current_dir(folder);
    command
}

/// Runs `rpu` in a folder.
pub(crate) fn rpu(folder: &Path, args: &[&str]) -> Output {
    command(folder).args(args).output().expect("rpu starts")
}

/// Runs `rpu`, which must succeed, and returns its standard output.
#[track_caller]
pub(crate) fn succeed(folder: &Path, args: &[&str]) -> String {
    let output = rpu(folder, args);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "rpu {}: {}\n{errors}", args.join(" "), output.status);
    String::from_utf8(output.stdout).expect("results are UTF-8")
}

/// The names of the files in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
