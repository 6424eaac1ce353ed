//! `rpu crosscheck`. Its output is in golden files in `tests/cli/crosscheck`.

use crate::common::{self, repository};
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// One small size, fixed operands, one set of kernels.
const SMALL: [&str; 8] = ["--n", "1024", "--bits", "30", "--seed", "7", "--kernels", "wide"];

/// Runs `rpu crosscheck` with the given C++ compiler and no visible GPU.
fn crosscheck(compiler: &Path, args: &[&str]) -> Output {
    command(compiler, args).output().expect("rpu starts")
}

fn command(compiler: &Path, args: &[&str]) -> Command {
    let mut command = common::command(&std::env::temp_dir());
    // The user's cache keeps what the compiler made of the kernels.
    let cache = ["HOME", "XDG_CACHE_HOME"].map(|name| Some((name, std::env::var_os(name)?)));
    command.envs(cache.into_iter().flatten()).env("CXX", compiler).env("CUDA_VISIBLE_DEVICES", "");
    command.arg("crosscheck").args(args);
    command
}

#[track_caller]
fn assert_golden(name: &str, found: Vec<u8>) {
    let golden = Path::new(&repository("tests/cli/crosscheck")).join(name);
    diagnostic::snapshot::fresh(golden, found);
}

/// Whether the emulation can run. A compiler that is there and fails is a failure.
fn has_compiler() -> bool {
    match Command::new("g++").arg("--version").output() {
        Ok(output) => {
            assert!(output.status.success(), "g++ fails: {}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::NotFound, "g++: {error}");
            // Past the test harness, which keeps the output of tests that pass.
            let _ = writeln!(std::io::stderr(), "NOT TESTED: emulated CUDA kernels: there is no g++");
            false
        }
    }
}

/// Every kernel, with its longest moduli.
#[test]
fn witnesses_agree() {
    if !has_compiler() {
        return;
    }
    let output = crosscheck(Path::new("g++"), &["--n", "1024", "--seed", "7"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_golden("agree.out", output.stdout);
}

#[test]
fn a_machine_without_a_compiler_is_told_what_it_misses() {
    let output = crosscheck(Path::new("no-such-compiler"), &SMALL);
    assert_eq!(output.status.code(), Some(0));
    assert_golden("skipped.out", output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.starts_with("warning: SKIPPED the emulated CUDA kernels: cannot run `no-such-compiler`"),
        "{errors}"
    );
}

#[test]
fn a_gpu_that_is_asked_for_must_be_there() {
    let output = crosscheck(Path::new("g++"), &[&SMALL[..], &["--gpu"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("error: no CUDA device: "), "{errors}");
    assert!(errors.contains("help: leave --gpu out"), "{errors}");
}

/// Makes the compiler break one line of the kernels, which no other witness shares.
#[test]
fn a_difference_is_named_and_fails() {
    if !has_compiler() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let compiler = folder.path().join("breaking-g++");
    let script = "#!/bin/sh\nfor last; do :; done\n\
                  [ -f \"$last\" ] && sed -i 's/leave(Reg x) const { return x; }/leave(Reg x) const { return x ^ (threadIdx.x == 100); }/' \"$last\"\n\
                  exec g++ \"$@\"\n";
    fs::write(&compiler, script).expect("a script");
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).expect("a script that can run");
    let mut command = command(&compiler, &SMALL);
    // Other tests must not use the output of a broken compiler.
    let output = command.env("XDG_CACHE_HOME", folder.path()).output().expect("rpu starts");
    assert_golden("differ.out", output.stdout);
    assert_golden("differ.err", output.stderr);
    assert_eq!(output.status.code(), Some(1));
}

/// An emulated thread is a fiber, and kernels whose threads wait for each other need all of them at once.
#[test]
fn long_transforms_of_resident_kernels_are_not_emulated() {
    let size = ["--n", "8192", "--bits", "30", "--seed", "7"];
    let output = crosscheck(Path::new("g++"), &[&size[..], &["--kernels", "he-booster-local"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let table = String::from_utf8_lossy(&output.stdout);
    let rows = table.lines().filter(|line| line.contains("he-booster-local"));
    assert!(
        rows.clone().count() > 0 && rows.clone().all(|row| row.ends_with("agrees     skipped")),
        "{table}"
    );
}

#[test]
fn a_size_without_kernels_is_refused() {
    let output = crosscheck(Path::new("g++"), &["--n", "512"]);
    assert_eq!(output.status.code(), Some(2));
    assert_golden("size.err", output.stderr);
    let output = crosscheck(Path::new("g++"), &["--bits", "60", "--kernels", "cheddar"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    // Behind the warning of a machine without a compiler.
    assert!(errors.contains("error: no CUDA kernels for these options"), "{errors}");
}

/// Lists have commas, or an option for each element.
#[test]
fn degrees_are_given_as_the_default_is_shown() {
    let help = crosscheck(Path::new("missing"), &["--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("[default: 1024,65536]"));
    for degrees in [&["--n", "1024,2K"][..], &["--n", "1024", "--n", "2K"]] {
        let output = crosscheck(Path::new("missing"), &[degrees, &SMALL[2..]].concat());
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        let has_row = |n: &str| table.lines().any(|line| line.split_whitespace().any(|cell| cell == n));
        assert!(
            has_row("1024") && has_row("2048"),
            "{degrees:?}: {table}{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
