//! Faults of the system under a sweep: a full disk, folders that cannot be written, other processes, clocks.

use super::{folder, results};
use crate::common::{command, names, process, rpu, succeed};
use lab_sweep::{Definition, Journal, Plan, Shard};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::Output;
use std::time::{Duration, SystemTime};

/// The files of an uninterrupted sweep.
fn expected() -> Vec<Vec<u8>> {
    let folder = folder();
    succeed(folder.path(), &["sweep", "small.toml"]);
    results(&folder.path().join("out"))
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs a shell script with `rpu` as its first argument.
fn shell(folder: &Path, script: &str) -> Output {
    let rpu = command(folder);
    process("sh", folder).args(["-c", script, "sh"]).arg(rpu.get_program()).output().expect("a shell")
}

/// No file of an incomplete output is left.
fn assert_tidy(out: &Path) {
    let left: Vec<String> = names(out).into_iter().filter(|name| name.starts_with(".rpu")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_output_that_is_a_folder_is_named_and_the_results_stay() {
    let folder = folder();
    let (folder, out) = (folder.path(), folder.path().join("out"));
    for name in ["results.csv", "results.jsonl", "report.html", "pareto.svg"] {
        // An earlier attempt may have written it.
        let _ = fs::remove_file(out.join(name));
        fs::create_dir_all(out.join(name)).unwrap();
        let output = rpu(folder, &["sweep", "small.toml"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(told(&output).contains(name), "{name}: {}", told(&output));
        assert_tidy(&out);
        fs::remove_dir(out.join(name)).unwrap();
    }
    // A journal that is a folder cannot hold results.
    fs::rename(out.join("journal.jsonl"), out.join("kept")).unwrap();
    fs::create_dir(out.join("journal.jsonl")).unwrap();
    let output = rpu(folder, &["sweep", "small.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("journal.jsonl"), "{}", told(&output));
    fs::remove_dir(out.join("journal.jsonl")).unwrap();
    fs::rename(out.join("kept"), out.join("journal.jsonl")).unwrap();
    succeed(folder, &["sweep", "small.toml"]);
    assert_eq!(results(&out), expected());
}

/// A limit on the size of files stops writes in the middle, as a full disk does, without special rights.
#[test]
fn files_that_cannot_grow_lose_no_result() {
    let folder = folder();
    let (folder, out) = (folder.path(), folder.path().join("out"));
    // In units of 512 bytes: the journal, the outputs and the picture each meet one of these limits. A record
    // takes about 4100 bytes.
    for (limit, records) in [(1, 0), (9, 1), (24, 2), (40, 4)] {
        let script = format!("trap '' XFSZ; ulimit -f {limit}; exec \"$1\" sweep small.toml --progress none");
        let output = shell(folder, &script);
        assert_eq!(output.status.code(), Some(2), "{limit}: {}", told(&output));
        assert!(told(&output).contains("out/"), "{limit}: {}", told(&output));
        assert_tidy(&out);
        // What was written of the next record is removed.
        let journal = fs::read_to_string(out.join("journal.jsonl")).unwrap();
        let is_whole = journal.is_empty() || journal.ends_with('\n');
        assert_eq!((journal.lines().count(), is_whole), (records, true), "{limit}");
    }
    succeed(folder, &["sweep", "small.toml"]);
    assert_eq!(results(&out), expected());
}

/// A file system of its own, which becomes full and then read-only. Without the right to mount one, nothing
/// is tested; any other failure is one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_a_read_only_one_lose_no_result() {
    let folder = folder();
    let folder = folder.path();
    // A user who may become root of a namespace of their own, and may mount there.
    let probe = "mkdir probe && mount -t tmpfs none probe && mount -o remount,bind,ro probe || exit 77";
    let allowed = process("unshare", folder).args(["-rm", "sh", "-c", probe]).output();
    let why = match allowed {
        Err(error) if error.kind() == ErrorKind::NotFound => Some("there is no `unshare`".to_owned()),
        Err(error) => panic!("unshare: {error}"),
        // 1 is the status of `unshare` itself.
        Ok(output) if matches!(output.status.code(), Some(1 | 77)) => Some(told(&output)),
        Ok(output) => {
            assert!(output.status.success(), "{}", told(&output));
            None
        }
    };
    if let Some(why) = why {
        // Past the test harness, which keeps the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "NOT TESTED: sweeps on a full disk: {}", why.trim());
        return;
    }
    // A new mount of the same options, such as another size, names users that the namespace does not have: so
    // a second, larger disk, and `bind`, which changes the mount alone.
    let script = r#"
        set -e
        mkdir disk larger; mount -t tmpfs -o size=32k none disk
        status=0; "$1" sweep small.toml --out disk/out --progress none 2>full || status=$?; echo full $status
        mount -t tmpfs -o size=8m none larger; cp -r disk/out larger/out
        mount -o remount,bind,ro larger
        status=0; "$1" sweep small.toml --out larger/out --progress none 2>read-only || status=$?; echo read-only $status
        mount -o remount,bind,rw larger
        "$1" sweep small.toml --out larger/out --progress none >/dev/null; cp -r larger/out out; echo whole $?
    "#;
    let output = process("unshare", folder)
        .args(["-rm", "sh", "-c", script, "sh"])
        .arg(command(folder).get_program())
        .output()
        .expect("unshare starts");
    assert!(output.status.success(), "{}", told(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "full 2\nread-only 2\nwhole 0\n");
    let message = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert!(message("full").contains("No space left on device"), "{}", message("full"));
    assert!(message("read-only").contains("Read-only file system"), "{}", message("read-only"));
    assert_eq!(results(&folder.join("out")), expected());
}

#[test]
fn a_second_process_waits_for_no_one_and_changes_nothing() {
    let folder = folder();
    let (folder, out) = (folder.path(), folder.path().join("out"));
    let text = fs::read_to_string(folder.join("small.toml")).unwrap();
    let plan = Plan::new(&Definition::parse("small.toml", &text).unwrap()).unwrap();
    let held = Journal::open(&out, Shard::WHOLE, &plan.manifest).unwrap();
    let output = rpu(folder, &["sweep", "small.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("locked by another process"), "{}", told(&output));
    assert_eq!(fs::read(out.join("journal.jsonl")).unwrap(), b"");
    drop(held);
    succeed(folder, &["sweep", "small.toml"]);
    assert_eq!(results(&out), expected());
}

#[test]
fn results_do_not_depend_on_the_clock() {
    let folder = folder();
    let (folder, out) = (folder.path(), folder.path().join("out"));
    succeed(folder, &["sweep", "small.toml", "--shard", "1/2"]);
    // The clock was set back: what is there comes from the future.
    let future = SystemTime::now() + Duration::from_secs(1_000_000_000);
    for name in names(&out) {
        File::options().append(true).open(out.join(name)).unwrap().set_modified(future).unwrap();
    }
    succeed(folder, &["sweep", "small.toml"]);
    assert_eq!(results(&out), expected());
}
