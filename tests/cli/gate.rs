//! Every command asks one question before its work: whether the machine takes the program. And what a command
//! writes, others read.

use crate::common::{repository, rpu, succeed};
use std::fs;
use std::path::Path;

const SMALL: [&str; 6] = ["-p", "isa.vector_length=64", "-p", "hple.count=64", "-p", "vdm.banks=64"];
const SPLIT: [&str; 6] = ["-p", "hple.count=64", "-p", "vbar.paths=split", "-p", "vdm.ports=2"];

/// A program of 64 lanes that computes y = 3 x, with some lines in place of others.
fn scaled(changes: &[(&str, &str)]) -> String {
    let text = ".isa vector_length=64\n.input x, 64\n.output y, 64\n.table k, 1, sdm\n.words k { 3 }\n.modulus m0, 0x3001\n\
                .computes y = x * 3, n=64, modulus=0x3001\nsload s0, k\nvload v0, a0, x\nvmuls v1, v0, s0, m0\n\
                vstore v1, a0, y\nhalt\n";
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}

/// What each command says of a program on a machine: its error, or nothing.
fn verdicts(folder: &Path, machine: &[&str]) -> Vec<(&'static str, Option<String>)> {
    fs::write(folder.join("s.toml"), "program = \"k.b512\"\n").unwrap();
    let commands: [(&str, &[&str]); 7] = [
        ("run", &["run", "k.b512"]),
        ("run --timing-only", &["run", "k.b512", "--timing-only"]),
        ("prove", &["prove", "k.b512"]),
        ("schedule", &["schedule", "k.b512", "-o", "scheduled.b512"]),
        ("lint", &["lint", "k.b512"]),
        ("debug", &["debug", "k.b512"]),
        ("sweep", &["sweep", "s.toml", "--out", "out", "--progress", "none"]),
    ];
    let verdict = |(name, command): (&'static str, &[&str])| {
        let output = rpu(folder, &[command, machine].concat());
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        let is_accepted = output.status.success() || text.contains("the debugger needs a terminal");
        let _ = fs::remove_dir_all(folder.join("out"));
        (name, (!is_accepted).then(|| text.into_owned()))
    };
    commands.into_iter().map(verdict).collect()
}

#[test]
fn every_command_refuses_the_same_programs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let split = fs::read_to_string(repository("tests/cli/refuse/prove_split_paths.case")).unwrap();
    let (_, split) = split.split_once("==> k.b512\n").unwrap();
    let next_symbol =
        fs::read_to_string(repository("tests/cli/refuse/word_of_the_next_symbol.case")).unwrap();
    let (_, next_symbol) = next_symbol.split_once("==> k.b512\n").unwrap();
    let refused: [(&str, String, &[&str]); 12] = [
        (
            "word 0x5 of the SDM is read before it is written",
            scaled(&[("sload s0, k", "sload s0, 5")]),
            &SMALL,
        ),
        ("(`k` + 0) is read before it is written", scaled(&[(".words k { 3 }\n", "")]), &SMALL),
        ("the SDM has", scaled(&[("sload s0, k", "sload s0, 1000000")]), &SMALL),
        (
            "the VDM has",
            scaled(&[("v0, a0, x", "v0, a1, 0"), (".modulus", ".address a1, 60000000\n.modulus")]),
            &SMALL,
        ),
        ("`s1` is read before it is written", scaled(&[("v0, s0", "v0, s1")]), &SMALL),
        ("no instruction writes word 0 of output `y`", scaled(&[("vstore v1, a0, y\n", "")]), &SMALL),
        ("overlaps", scaled(&[(".output y, 64", ".input u, 64, at 64\n.output y, 64, at 64")]), &SMALL),
        ("not below", scaled(&[("{ 3 }", "{ 0x4000 }")]), &SMALL),
        ("before an earlier", split.to_owned(), &SPLIT),
        ("lane 63 of `v0` may be", next_symbol.to_owned(), &SMALL),
        (
            "which need not be an address",
            scaled(&[
                (".input x, 64", ".input x, 64\n.input p, 1, sdm, at 9"),
                ("sload s0", "aload a1, p\nsload s0"),
            ]),
            &SMALL,
        ),
        (
            "which need not be a modulus",
            scaled(&[
                (".input x, 64", ".input x, 64\n.input p, 1, sdm, at 9"),
                ("sload s0", "mload m1, p\nsload s0"),
            ]),
            &SMALL,
        ),
    ];
    for (message, text, machine) in &refused {
        fs::write(folder.join("k.b512"), text).unwrap();
        for (command, error) in verdicts(folder, machine) {
            let error = error.unwrap_or_else(|| panic!("{command} accepts:\n{text}"));
            assert!(error.contains(message), "{command}: expected `{message}`\n{error}\n{text}");
        }
    }
    // Too small a machine: for the vectors, for the program's instructions.
    fs::write(folder.join("k.b512"), scaled(&[])).unwrap();
    assert!(verdicts(folder, &SPLIT).iter().all(|(_, error)| error.is_some()));
    // On other machines they are right.
    for (text, machine) in [(scaled(&[]), &SMALL[..]), (split.to_owned(), &[])] {
        fs::write(folder.join("k.b512"), &text).unwrap();
        for (command, error) in verdicts(folder, machine) {
            assert_eq!(error, None, "{command} refuses:\n{text}");
        }
    }
}

#[test]
fn the_debugger_shows_refused_programs_if_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.b512"), scaled(&[("sload s0, k", "sload s0, 5")])).unwrap();
    let arguments = [&["debug", "k.b512", "--lenient"][..], &SMALL].concat();
    let output = rpu(folder.path(), &arguments);
    assert!(String::from_utf8_lossy(&output.stderr).contains("the debugger needs a terminal"));
}

/// Programs as text, as objects, scheduled, and disassembled; data in each form.
#[test]
fn what_each_writer_writes_every_reader_reads() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rotated = fs::read_to_string(repository("tests/cli/refuse/prove_split_paths.case")).unwrap();
    let (_, rotated) = rotated.split_once("==> k.b512\n").unwrap();
    // Without arithmetic, without a modulus of its own, with a modulus in the SDM, and with two.
    let copied = ".input x, 1024\n.output y, 1024\n.computes y = rotate(x, by=512), n=1024, modulus=0x3001\nvload v0, a0, x\n\
                  vstore v0, a0, y + 512\nvload v0, a0, x + 512\nvstore v0, a0, y\nhalt\n";
    let loaded = ".input x, 512\n.output y, 512\n.table q, 1, sdm\n.words q { 0x3001 }\n.computes y = x + x, n=512, modulus=0x3001\n\
                  mload m5, q\nvload v0, a0, x\nvadd v1, v0, v0, m5\nvstore v1, a0, y\nhalt\n";
    let unclaimed = loaded.replace(".computes y = x + x, n=512, modulus=0x3001\n", "");
    let two = ".input x, 512\n.input u, 512\n.output y, 512\n.output z, 512\n.modulus m7, 0x3001\n.modulus m9, 0xfffffffffffc001\n\
               .computes y = x + x, n=512, modulus=0x3001\n.computes z = u + u, n=512, modulus=0xfffffffffffc001\nvload v3, a0, u\n\
               vadd v4, v3, v3, m9\nvstore v4, a0, z\nvload v0, a0, x\nvadd v1, v0, v0, m7\nvstore v1, a0, y\nhalt\n";
    let kernels = ["kernels-b512/ntt1024.b512"].map(|path| fs::read_to_string(repository(path)).unwrap());
    let texts = [rotated, copied, loaded, &unclaimed, two].into_iter().map(str::to_owned).chain(kernels);
    for (number, text) in texts.enumerate() {
        let first = format!("{number}.b512");
        fs::write(folder.join(&first), &text).unwrap();
        let mut files = vec![first.clone()];
        let mut write = |arguments: &[&str], file: String| {
            succeed(folder, &[arguments, &["-o", &file]].concat());
            files.push(file);
        };
        write(&["asm", &first], format!("{number}.o"));
        write(&["schedule", &first], format!("{number}.scheduled.b512"));
        write(&["schedule", &format!("{number}.o")], format!("{number}.scheduled.o"));
        for object in [format!("{number}.o"), format!("{number}.scheduled.o")] {
            let disassembled = succeed(folder, &["disasm", &object]);
            files.push(format!("{object}.b512"));
            fs::write(folder.join(format!("{object}.b512")), disassembled).unwrap();
        }
        let has_claims = text.contains(".computes");
        for (at, file) in files.iter().enumerate() {
            succeed(folder, &["lint", file]);
            succeed(folder, &["schedule", file, "-o", "again.b512"]);
            if has_claims {
                succeed(folder, &["prove", file]);
                succeed(folder, &["run", file, "--check"]);
            }
            for ending in ["bin", "json", "npy"] {
                let data = format!("y=y{number}.{ending}");
                // The first program writes what the others must compute.
                let option = if at == 0 { "--output" } else { "--expect" };
                let output = text.lines().find_map(|line| line.strip_prefix(".output "));
                let name = output.and_then(|line| line.split(',').next()).expect("an output");
                succeed(folder, &["run", file, option, &data.replacen('y', name, 1), "--functional-only"]);
            }
        }
    }
}
