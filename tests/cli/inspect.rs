//! What the command line shows of a program and of itself: registers, data in every form, man pages, traces;
//! and that it needs no checkout.

use crate::common::{command, names, repository, rpu, succeed};
use std::fs;
use std::path::Path;

const SCALE: &str = ".kernel scale\n.input x, 512\n.output y, 512\n.table k, 1, sdm\n.words k { 5 }\n\
    .modulus m1, 0x3001\n.computes y = muls(x), n=512, modulus=0x3001, by=5\n\
    sload s0, k\nvload v0, a0, x\nvmuls v1, v0, s0, m1\nvstore v1, a0, y\nhalt\n";

/// The program and the words 0, 1, 2, .. as its input.
fn prepare(folder: &Path) {
    fs::write(folder.join("scale.b512"), SCALE).unwrap();
    let words: Vec<String> = (0..512).map(|word| word.to_string()).collect();
    fs::write(folder.join("x.json"), format!("[{}]", words.join(","))).unwrap();
}

#[test]
fn registers_and_words_are_printed_before_any_instruction() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let dump = |names: &str, at: &str| {
        succeed(folder, &["run", "scale.b512", "--input", "x=x.json", "--dump", names, "--at", at])
    };
    let text = dump("v0..v1,s0,m1,m2", "11");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["before line 11, `vstore v1, a0, y`", "v0 mod 0x3001"]);
    assert!(
        lines[2].starts_with("    0:   0x0   0x1   0x2   0x3 ") && lines[2].ends_with("   0xf"),
        "{}",
        lines[2]
    );
    let v1 = lines.iter().position(|line| *line == "v1 mod 0x3001").expect("v1");
    assert!(lines[v1 + 1].starts_with("    0:   0x0   0x5   0xa   0xf  0x14 "), "{}", lines[v1 + 1]);
    assert_eq!(lines[lines.len() - 3..], ["s0 mod 0x3001: 0x5", "m1: 0x3001", "m2 is not set"]);
    // Before the store and after it; the symbol's first access is the store.
    assert_eq!(dump("y+2", "y"), "before line 11, `vstore v1, a0, y`\ny+2 mod 0x3001: 0x0\n");
    assert_eq!(dump("y+2", "#4"), "before line 12, `halt`\ny+2 mod 0x3001: 0xa\n");
    assert_eq!(dump("y+2", "end"), "at the end\ny+2 mod 0x3001: 0xa\n");

    let args = ["run", "scale.b512", "--input", "x=x.json", "--dump", "v1", "--format", "json"];
    let output = rpu(folder, &args);
    let dump: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!((&dump["instruction"], &dump["values"]["v1"][511]), (&5.into(), &"0x9fb".into()));
    let report: serde_json::Value = serde_json::from_slice(&output.stderr).expect("the report");
    assert!(report["cycles"].as_u64() > Some(0));
}

/// Arrays have one axis if the program's moduli fit 64 bits, else a second one of two halves.
#[test]
fn data_comes_and_goes_as_numpy_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (bits, shape) in [("60", "(1024,)"), ("128", "(1024, 2)")] {
        succeed(folder, &["gen", "ntt", "--n", "1024", "--modulus-bits", bits, "-o", "ntt.o"]);
        succeed(folder, &["gen", "intt", "--n", "1024", "--modulus-bits", bits, "-o", "intt.o"]);
        let outputs = ["--output", "y=y.npy", "--output", "y=y.bin"];
        succeed(folder, &[&["run", "ntt.o", "--seed", "7"][..], &outputs].concat());
        let file = fs::read(folder.join("y.npy")).unwrap();
        let header = format!("{{'descr': '<u8', 'fortran_order': False, 'shape': {shape}, }}");
        assert!(file[10..].starts_with(header.as_bytes()), "{bits}");
        // Two halves of 64 bits have the bytes of a word.
        if bits == "128" {
            assert!(file.ends_with(&fs::read(folder.join("y.bin")).unwrap()));
        }
        succeed(folder, &["run", "ntt.o", "--seed", "7", "--expect", "y=y.npy"]);
        succeed(folder, &["run", "intt.o", "--input", "x=y.npy", "--output", "y=x.npy"]);
        succeed(folder, &["run", "ntt.o", "--input", "x=x.npy", "--expect", "y=y.bin"]);
    }
}

#[test]
fn limbs_of_ring_programs_are_rows_of_an_array() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(
        folder.join("p.fhetch"),
        "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nsr_addp %3, %1, %2, m=1\nhalt\n",
    )
    .unwrap();
    let manifest = r#"{"ring_dimension": 512, "inputs": {"ab": [1, 2]}, "outputs": {"c": [3]}}"#;
    fs::write(folder.join("p.json"), manifest).unwrap();
    let words: Vec<String> = (0..1024).map(|word| word.to_string()).collect();
    fs::write(folder.join("ab.json"), format!("[{}]", words.join(","))).unwrap();
    let run = ["run", "p.fhetch", "--input", "ab=ab.json", "--output", "c=c.npy", "--output", "c=c.json"];
    succeed(folder, &run);
    let array = fs::read(folder.join("c.npy")).unwrap();
    assert!(array[10..].starts_with(b"{'descr': '<u8', 'fortran_order': False, 'shape': (1, 512), }"));
    let sums: Vec<String> = serde_json::from_slice(&fs::read(folder.join("c.json")).unwrap()).unwrap();
    assert_eq!((sums.len(), &*sums[0], &*sums[511]), (512, "0x200", "0x5fe"));
    for file in ["c=c.npy", "c=c.json"] {
        succeed(folder, &["run", "p.fhetch", "--input", "ab=ab.json", "--expect", file]);
    }
    let output = rpu(folder, &["run", "p.fhetch", "--seed", "1", "--expect", "c=c.npy"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("`c` differs from c.npy in "), "{errors}");
    assert!(errors.contains("drawn at random, with the seed 1: ab\n"), "{errors}");
    // Rows of another length.
    fs::write(folder.join("ab.json"), format!("[{}]", words[..1000].join(","))).unwrap();
    let output = rpu(folder, &run);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("limb 1 (`%2`) of the input `ab`: found 488 words in place of 512"), "{errors}");
}

#[test]
fn limbs_beyond_64_bits_have_two_halves() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let manifest = r#"{"ring_dimension": 512, "inputs": {"ab": [1, 2]}, "outputs": {"c": [3]}}"#;
    fs::write(folder.join("p.json"), manifest).unwrap();
    for (modulus, shape) in [("0x3001", "(1, 512)"), ("0xffffffffffffffffffffffffffff2801", "(1, 512, 2)")] {
        let text = format!(
            "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] {modulus}\nsr_addp %3, %1, %2, m=1\nhalt\n"
        );
        fs::write(folder.join("p.fhetch"), text).unwrap();
        succeed(folder, &["run", "p.fhetch", "--seed", "1", "--output", "c=c.npy"]);
        let header = format!("{{'descr': '<u8', 'fortran_order': False, 'shape': {shape}, }}");
        assert!(fs::read(folder.join("c.npy")).unwrap()[10..].starts_with(header.as_bytes()), "{modulus}");
    }
}

#[test]
fn every_command_has_a_man_page() {
    let folder = tempfile::tempdir().unwrap();
    let page = succeed(folder.path(), &["man"]);
    assert!(page.contains(".TH rpu 1"), "{page}");
    succeed(folder.path(), &["man", "-o", "man"]);
    let pages = names(&folder.path().join("man"));
    for name in ["rpu.1", "rpu-run.1", "rpu-sweep.1", "rpu-sweep-merge.1", "rpu-gen-program.1", "rpu-man.1"] {
        assert!(pages.iter().any(|page| page == name), "{name} is not in {pages:?}");
    }
    let help = succeed(folder.path(), &["--help"]);
    let commands =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for command in commands.filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let name = command.split_whitespace().next().unwrap();
        assert!(name == "help" || pages.contains(&format!("rpu-{name}.1")), "{name}");
    }
    let run = fs::read_to_string(folder.path().join("man/rpu-run.1")).unwrap();
    assert!(run.contains(".TH rpu-run 1") && run.contains(r"\-\-dump"), "{run}");
}

#[test]
fn traces_name_symbols() {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    let trace = |kind: &str| {
        let kind = format!("{kind}=-");
        succeed(folder.path(), &["run", "scale.b512", "--timing-only", "--trace", &kind])
    };
    let lines = trace("ascii");
    assert!(lines.lines().nth(2).is_some_and(|line| line.starts_with("1  vload v0, a0, x      ")), "{lines}");
    let log = trace("kanata");
    assert!(log.contains("\t1: vload v0, a0, x\n") && log.contains("\tXload_store\n"), "{log}");
    assert!(log.contains("\tXcompute\n") && !log.contains("\tX\n"), "{log}");
}

/// Machines, technologies, sweeps, parameter sets and recipes are built in: commands of the README run in an
/// empty folder.
#[test]
fn the_program_works_without_its_checkout() {
    let folder = tempfile::tempdir().unwrap();
    let sources = repository("");
    for line in [
        "gen ntt --n 1024 --modulus-bits 128 -o k.o",
        "run k.o --machine rpu-128x128 --check",
        "run k.o -p technology=scaled-7nm --timing-only",
        "tune ntt --n 1024 -p vdm.mapping=xor --effort 1 --no-cache -o plan.toml",
        "library ntt --n 1K",
        "machine list vdm",
        "machine diff rpu-128x128 rpu-128x128-xor",
        "machine schema sweep",
        "gen program keyswitch --set dprive -o ks.fhetch",
        "explain B004",
        "isa",
        "man -o man",
    ] {
        let output = command(folder.path()).args(line.split(' ')).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "rpu {line}: {errors}");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains(&sources) && !errors.contains(&sources), "rpu {line} names the checkout");
    }
}
