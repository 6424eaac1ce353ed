//! A job array on a real SLURM. Tests start in the order of their names. This one waits for most of its time,
//! and here it is among the first.

use crate::common::repository;
use std::io::{self, Write};
use std::process::Command;

#[test]
fn an_array_on_a_real_cluster_survives_the_death_of_a_task() {
    let script = repository("tests/slurm/run.sh");
    let output = Command::new(script).arg(env!("CARGO_BIN_EXE_rpu")).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(77) {
        // Bypasses the test's capture, so that everyone sees it.
        writeln!(io::stderr(), "{}", printed.trim_end()).unwrap();
        return;
    }
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("the same bytes"), "{printed}");
}
