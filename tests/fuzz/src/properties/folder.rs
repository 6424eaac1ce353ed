//! Folders of sweeps with damaged journals, records and manifests.

use lab_sweep::outputs::Outputs;
use lab_sweep::{
    Definition, Journal, JournalError, Manifest, Plan, Results, Shard, Status, generate, line, records,
};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// A small sweep that ran: one of its points failed.
pub(crate) struct Sweep {
    manifest: Manifest,
    /// The lines of the points.
    pub(crate) lines: Vec<String>,
}

/// Four points of a short program.
const TEXT: &str = "kernel = 'add'\nn = 512\n[grid]\nhple.count = [64, 128]\nvdm.size_mib = [1, 32]\n";

pub(crate) static SWEEP: LazyLock<Sweep> = LazyLock::new(|| {
    let plan =
        Plan::new(&Definition::parse("small.toml", TEXT).expect("a valid sweep")).expect("a valid sweep");
    let mut found = records(&plan, &generate);
    let last = found.last_mut().expect("there are points");
    (last.status, last.error, last.report) = (Status::Failed, Some("no such program".to_owned()), None);
    let lines = found.iter().map(|record| line(record).expect("plain data becomes JSON")).collect();
    Sweep { manifest: plan.manifest, lines }
});

impl Sweep {
    /// The manifest's file.
    pub(crate) fn manifest(&self) -> Vec<u8> {
        serde_json::to_vec(&self.manifest).expect("plain data becomes JSON")
    }
}

/// A folder with these files, alone in its parent.
fn folder(manifest: &[u8], journal: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = folder.path().join("sweep");
    fs::create_dir(&sweep).expect("a folder");
    fs::write(sweep.join("sweep.json"), manifest).expect("a file");
    fs::write(sweep.join("journal.jsonl"), journal).expect("a file");
    folder
}

/// Bytes are a journal with the results that were written, or are refused with the location of the first
/// error. Missing points are still to be run.
pub fn journal(data: &[u8]) {
    let folder = folder(&SWEEP.manifest(), data);
    let sweep = folder.path().join("sweep");
    let results = match Results::merge(&[&sweep]) {
        Ok(results) => results,
        Err(error) => return check_error(&error),
    };
    for point in 0..results.points() {
        let found = results.line(point).expect("a readable journal");
        assert!(found.is_none_or(|found| SWEEP.lines[point].trim_end() == found), "point {point} changed");
    }
    let missing: Vec<usize> =
        (0..results.points()).filter(|&point| results.status(point).is_none()).collect();
    let plan =
        Plan::new(&Definition::parse("small.toml", TEXT).expect("a valid sweep")).expect("a valid sweep");
    let journal =
        Journal::open(&sweep, Shard::WHOLE, &plan.manifest).expect("a journal that was read before");
    assert_eq!(journal.pending(&plan, Shard::WHOLE, false), missing);
}

/// Lines with valid checksums are results or are refused with the location of the first error. All outputs
/// stay in the folder.
pub fn record(data: &[u8]) {
    let mut journal = Vec::new();
    for line in data.split_inclusive(|&byte| byte == b'\n') {
        journal.extend(with_checksum(line).unwrap_or_else(|| line.to_vec()));
    }
    let folder = folder(&SWEEP.manifest(), &journal);
    check_outputs(folder.path());
}

/// Bytes are the manifest of a sweep, or are refused. All outputs stay in the folder.
pub fn sweep_manifest(data: &[u8]) {
    let folder = folder(data, SWEEP.lines.concat().as_bytes());
    check_outputs(folder.path());
}

/// The line of a record with a checksum of its content.
fn with_checksum(line: &[u8]) -> Option<Vec<u8>> {
    const CHECKSUM: &str = ",\"checksum\":\"";
    let (content, _) = std::str::from_utf8(line).ok()?.rsplit_once(CHECKSUM)?;
    let sum = blake3::hash(content.as_bytes()).to_hex();
    Some(format!("{content}{CHECKSUM}{}\"}}\n", &sum[..16]).into_bytes())
}

/// Writes the tables of the sweep in `folder`.
fn check_outputs(folder: &Path) {
    let sweep = folder.join("sweep");
    match Results::merge(&[&sweep]) {
        Ok(results) => {
            let outputs = Outputs::new(&results);
            if let Err(error) = outputs.write(&sweep) {
                assert!(!error.to_string().is_empty());
            }
            if let Ok(summary) = outputs.summary() {
                assert!(!summary.is_empty());
            }
        }
        Err(error) => check_error(&error),
    }
    let beside: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    assert!(beside == std::slice::from_ref(&sweep), "an output beside the folder");
    for entry in fs::read_dir(&sweep).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ["csv", "svg", "html"].iter().any(|text| ending == *text)) {
            let text = fs::read_to_string(&path).expect("a text");
            let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\r');
            assert!(!text.contains(is_control), "{}: a control character", path.display());
        }
    }
}

/// An error about a record names its line.
fn check_error(error: &JournalError) {
    let text = error.to_string();
    let names_a_line = matches!(error, JournalError::Line { .. } | JournalError::Disagree { .. });
    assert!(if names_a_line { text.contains("journal.jsonl:") } else { !text.is_empty() }, "{text}");
}
