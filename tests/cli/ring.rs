//! Ring programs through the command line.

use crate::common::{repository, rpu, succeed};
use std::fs;
use std::path::Path;

const Q: u128 = 0x3001;
const N: usize = 512;

/// The product of two polynomials modulo X^512 + 1, plus one input in evaluation form.
const PROGRAM: &str = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n\
    sr_ntt %4, %1, m=1\nsr_ntt %5, %2, m=1\nsr_mulp %4, %4, %5, m=1\nsr_addp %4, %4, %3, m=1\n\
    sr_addps %6, %4, 0, m=0\nsr_intt %6, %6, m=1\nhalt\n";

const MANIFEST: &str =
    r#"{"ring_dimension": 512, "inputs": {"ab": [1, 2], "evk": [3]}, "outputs": {"sum": [4], "c": [6]}}"#;

fn bytes(limbs: &[Vec<u128>]) -> Vec<u8> {
    limbs.iter().flatten().flat_map(|word| word.to_le_bytes()).collect()
}

fn prepare(folder: &Path) {
    let limb = |factor: u128| (0..N as u128).map(|i| (i * i * factor + 7) % Q).collect::<Vec<u128>>();
    fs::write(folder.join("p.fhetch"), PROGRAM).unwrap();
    fs::write(folder.join("p.json"), MANIFEST).unwrap();
    fs::write(folder.join("ab.bin"), bytes(&[limb(3), limb(5)])).unwrap();
    fs::write(folder.join("evk.bin"), bytes(&[vec![0; N]])).unwrap();
}

fn json(folder: &Path, args: &[&str]) -> serde_json::Value {
    let args: Vec<&str> = [&["run", "p.fhetch"], args, &["--format", "json"]].concat();
    serde_json::from_str(&succeed(folder, &args)).expect("one JSON document")
}

#[test]
fn a_ring_program_computes_its_outputs_and_every_key_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let data = ["--manifest", "p.json", "--input", "ab=ab.bin", "--input", "evk=evk.bin"];
    let report = json(folder, &[&data[..], &["--output", "c=c.bin", "--check"]].concat());
    assert_eq!(report["checked"], true);
    assert_eq!((&report["operations"], &report["lifted_operations"]), (&6.into(), &5.into()));
    assert_eq!(report["kernels"]["ntt"], 1);
    let limb = N * 16;
    let kinds = &report["hbm"]["bytes_by_kind"];
    assert_eq!(kinds["inputs"], 2 * limb);
    assert_eq!(kinds["keys"], limb);
    assert_eq!(kinds["outputs"], 2 * limb);
    assert_eq!(kinds["spills"], 0);
    assert!(kinds["tables"].as_u64() > Some(0) && kinds["programs"].as_u64() > Some(0));
    let binds: f64 = report["binds"].as_object().unwrap().values().map(|share| share.as_f64().unwrap()).sum();
    assert!((binds - 1.0).abs() < 1e-9, "{binds}");
    for busy in [&report["hbm"]["busy"], &report["compute"]["busy"]] {
        assert!(busy.as_f64().is_some_and(|share| share > 0.0 && share <= 1.0));
    }
    for key in ["time_us", "energy_uj", "area_mm2"] {
        assert!(report[key].as_f64() > Some(0.0), "{key}");
    }

    // The negacyclic product by its definition.
    let words: Vec<u128> = fs::read(folder.join("c.bin"))
        .unwrap()
        .as_chunks::<16>()
        .0
        .iter()
        .map(|word| u128::from_le_bytes(*word))
        .collect();
    let ab = |factor: u128, i: usize| ((i * i) as u128 * factor + 7) % Q;
    for index in [0, 1, 300, N - 1] {
        let term = |i: usize| {
            let product = ab(3, i) * ab(5, (N + index - i) % N);
            if i <= index { product } else { Q * Q - product }
        };
        assert_eq!(words[index], (0..N).map(term).sum::<u128>() % Q, "coefficient {index}");
    }
}

#[test]
fn keys_stream_come_from_seeds_or_stay_on_the_chip() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let keys = |origin: &str| {
        let report = json(folder, &["--manifest", "p.json", "--timing-only", "--keys", origin]);
        assert_eq!(report["checked"], false);
        let bytes = report["key_mib"].as_f64().unwrap() * f64::from(1 << 20);
        (report["hbm"]["bytes_by_kind"]["keys"].as_u64().unwrap(), bytes)
    };
    // What comes from off the chip, and what a memory holds.
    let limb = (N * 16) as u64;
    let (all, half) = (limb as f64, limb as f64 / 2.0);
    assert_eq!(["streamed", "seeded", "resident"].map(keys), [(limb, all), (limb / 2, half), (0, all)]);
}

#[test]
fn the_manifest_lists_the_limbs_that_a_seed_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let limb = N * 16;
    // Names of inputs and ids: all of a part a, half of a key that names no part.
    for (seeded, [streamed, from_seeds]) in
        [("[]", [3, 3]), (r#"["evk.a.0"]"#, [3, 2]), ("[2]", [3, 2]), (r#"["evk.a.0", 1]"#, [3, 1])]
    {
        let manifest = MANIFEST.replace("\"ab\"", "\"key\"").replace("\"evk\"", "\"evk.a.0\"");
        let manifest = manifest.replace("\"outputs\"", &format!("\"seeded\": {seeded}, \"outputs\""));
        fs::write(folder.join("p.json"), manifest).unwrap();
        for (origin, keys) in [("streamed", streamed), ("seeded", from_seeds)] {
            let report = json(folder, &["--timing-only", "--keys", origin]);
            let kinds = &report["hbm"]["bytes_by_kind"];
            assert_eq!(kinds["keys"], keys * limb, "{seeded} {origin}");
            assert_eq!(kinds["inputs"], (3 - streamed) * limb, "{seeded} {origin}");
        }
    }
}

#[test]
fn without_a_manifest_ids_are_names_and_a_table_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    fs::remove_file(folder.join("p.json")).unwrap();
    let args = ["run", "p.fhetch", "--n", "512", "--seed", "3", "--output", "id6=6.bin", "--check"];
    let table = succeed(folder, &args);
    for part in
        ["p.fhetch on rpu-128x128: 128 HPLEs", "ring degree 512, keys streamed", "agrees with big integers"]
    {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert_eq!(fs::metadata(folder.join("6.bin")).unwrap().len(), (N * 16) as u64);
}

#[test]
fn what_a_valid_program_hardly_means_is_shown_by_lint_and_by_a_check() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mixed =
        PROGRAM.replace("sr_addp %4, %4, %3, m=1", "sr_addp %7, %1, %2, m=1\nsr_addp %4, %4, %1, m=1");
    fs::write(folder.join("p.fhetch"), &mixed).unwrap();
    fs::write(folder.join("p.json"), MANIFEST).unwrap();
    let shown = "\
warning[F015]: p.fhetch: no line reads the input `evk`

warning[F015]: nothing reads this result
 --> p.fhetch:7:9
  |
7 | sr_addp %7, %1, %2, m=1
  |         ^^

warning[F013]: one operand has values (line 6), the other has coefficients (line 4)
 --> p.fhetch:8:17
  |
8 | sr_addp %4, %4, %1, m=1
  |                 ^^
  |
  = help: transform one of them

";
    assert_eq!(succeed(folder, &["lint", "p.fhetch"]), shown);
    let findings = succeed(folder, &["lint", "p.fhetch", "--manifest", "p.json", "--format", "json"]);
    let findings: Vec<serde_json::Value> = serde_json::from_str(&findings).expect("one JSON list");
    assert_eq!(findings.len(), 3);
    assert_eq!((&findings[2]["line"], &findings[2]["marked"]), (&8.into(), &"%1".into()));
    // What is not read does no harm to a result.
    let run = rpu(folder, &["run", "p.fhetch", "--check"]);
    let messages = String::from_utf8(run.stderr).unwrap();
    assert!(
        run.status.success() && messages.contains("warning[F013]") && !messages.contains("F015"),
        "{messages}"
    );
    let run = rpu(folder, &["run", "p.fhetch"]);
    assert_eq!(String::from_utf8(run.stderr).unwrap(), "");

    fs::write(folder.join("k.b512"), "halt\n").unwrap();
    let kernel = rpu(folder, &["lint", "k.b512", "--n", "512"]);
    assert_eq!(kernel.status.code(), Some(2));
    let message = String::from_utf8(kernel.stderr).unwrap();
    assert!(
        message.contains("`k.b512` is not a ring program")
            && message.contains("`--manifest` and `--n` are for ring programs"),
        "{message}"
    );
}

/// Numbers of another machine under the name of the paper's would mislead.
#[test]
fn the_table_and_the_page_name_each_key_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let args = "run p.fhetch --timing-only --keys resident --page p.html -p isa.word_bits=64 -p hple.count=64 -p hbm.gb_per_s=256";
    let table = succeed(folder, &args.split(' ').collect::<Vec<_>>());
    let page = fs::read_to_string(folder.join("p.html")).unwrap();
    // A page has the timeline of its run.
    assert!(page.contains("id=\"timeline\""));
    let differ = "isa.word_bits = 64, hple.count = 64, hbm.gb_per_s = 256";
    for part in ["p.fhetch on rpu-128x128: 64 HPLEs, 128 VDM banks, 1.68 GHz", differ, "resident"] {
        assert!(table.contains(part), "{part}: {table}");
        assert!(page.contains(part), "{part}");
    }
}

/// An output is compared with a file; all of them together are a check.
#[test]
fn expected_data_are_a_check_if_they_are_all_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let seed = ["--seed", "9"];
    succeed(folder, &["run", "p.fhetch", "--seed", "9", "--output", "sum=sum.bin", "--output", "c=c.npy"]);
    for (expected, names, checked) in [
        (&[][..], &[][..], false),
        (&["--expect", "c=c.npy"], &["c"], false),
        (&["--expect", "c=c.npy", "--expect", "sum=sum.bin"], &["c", "sum"], true),
    ] {
        let report = json(folder, &[&seed, expected].concat());
        assert_eq!((&report["checked"], &report["seed"]), (&checked.into(), &9.into()), "{expected:?}");
        let found = report["expected"].as_array().cloned().unwrap_or_default();
        assert_eq!(serde_json::Value::from(found), serde_json::json!(names));
    }
    fs::write(folder.join("p.json"), MANIFEST.replace("\"sum\": [4], ", "")).unwrap();
    assert_eq!(json(folder, &[&seed[..], &["--expect", "c=c.npy"]].concat())["checked"], true);
    // An output that no line computes is none.
    fs::write(folder.join("p.json"), MANIFEST.replace("\"sum\": [4]", "\"copy\": [1]")).unwrap();
    let files = ["copy=copy.bin", "c=c.npy"];
    let with = |option: &'static str| files.iter().flat_map(move |file| [option, *file]).collect::<Vec<_>>();
    succeed(folder, &[&["run", "p.fhetch"], &seed[..], &with("--output")].concat());
    assert_eq!(json(folder, &[&seed[..], &with("--expect")].concat())["checked"], false);
}

#[test]
fn options_of_ring_programs_are_refused_for_kernels() {
    let folder = tempfile::tempdir().unwrap();
    for option in [
        ["--manifest", "p.json"],
        ["--n", "512"],
        ["--inputs", "."],
        ["--keys", "resident"],
        ["--optimise", "energy"],
    ] {
        let output = rpu(folder.path(), &[&["run", "k.b512"], &option[..]].concat());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.starts_with("error: `k.b512` is not a ring program"), "{option:?}: {errors}");
    }
}

/// Inputs, copies of them and constants are no results.
#[test]
fn outputs_that_no_line_computes_are_named_and_never_checked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines = "sr_mulps %4, %1, 0, m=0\nsr_addps %5, %1, 0, m=0\nsr_addp %6, %4, %4, m=1\nhalt\n";
    let head = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nsr_addp %3, %1, %2, m=1\n";
    fs::write(folder.join("p.fhetch"), format!("{head}{lines}")).unwrap();
    for (idle, id) in [("an input", 1), ("zeros", 4), ("a copy", 5), ("a sum of zeros", 6)] {
        let manifest = |outputs: &str| {
            format!(r#"{{"ring_dimension": 512, "inputs": {{"x": [1, 2]}}, "outputs": {{{outputs}}}}}"#)
        };
        fs::write(folder.join("p.json"), manifest(&format!(r#""y": [3], "z": [{id}]"#))).unwrap();
        assert_eq!(json(folder, &["--check"])["checked"], false, "{idle}");
        let output = rpu(folder, &["run", "p.fhetch", "--check"]);
        let warning = String::from_utf8(output.stderr).unwrap();
        assert!(warning.starts_with("warning: the output `z` is not checked"), "{idle}: {warning}");
        // A limb of an output may be a copy: moduli are dropped so.
        fs::write(folder.join("p.json"), manifest(&format!(r#""y": [3, {id}]"#))).unwrap();
        assert_eq!(json(folder, &["--check"])["checked"], true, "{idle}");
        fs::write(folder.join("p.json"), manifest(&format!(r#""z": [{id}]"#))).unwrap();
        assert_eq!(rpu(folder, &["run", "p.fhetch", "--check"]).status.code(), Some(2), "{idle}");
    }
    let functions = "function move %1 -> %2\n  sr_addps %2, %1, 0, m=0\nend\nfunction twice %1 -> %2\n  \
                     sr_addp %2, %1, %1, m=1\nend\ncall twice %1 -> %3\n";
    let head = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n";
    let outputs = r#"{"ring_dimension": 512, "inputs": {"x": [1, 2]}, "outputs": {"y": [3], "z": [4]}}"#;
    fs::write(folder.join("p.json"), outputs).unwrap();
    for (function, checked) in [("move", false), ("twice", true)] {
        fs::write(folder.join("p.fhetch"), format!("{head}{functions}call {function} %2 -> %4\nhalt\n"))
            .unwrap();
        assert_eq!(json(folder, &["--check"])["checked"], checked, "{function}");
    }
}

#[test]
fn two_documents_of_ring_programs_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for (file, keys) in [("a.json", "streamed"), ("b.json", "resident")] {
        let args = ["run", "p.fhetch", "--timing-only", "--keys", keys, "--format", "json"];
        fs::write(folder.join(file), succeed(folder, &args)).unwrap();
    }
    let compared = succeed(folder, &["diff", "a.json", "b.json", "--format", "json"]);
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();
    assert_eq!(compared["same_program"], true);
    let values = &compared["values"];
    for key in ["time_us", "energy_uj", "energy_hbm_uj", "binds.hbm", "kernels.ntt", "compute.busy"] {
        assert!(values[key]["a"].as_f64() > Some(0.0), "{key}");
    }
    let keys = &values["hbm.bytes_by_kind.keys"];
    assert_eq!((&keys["a"], &keys["b"]), (&(N * 16).into(), &0.into()));
    let table = succeed(folder, &["diff", "a.json", "b.json"]);
    diagnostic::snapshot::fresh(repository("tests/cli/ring/diff.out"), table);
}

#[test]
fn a_perfetto_trace_has_kernels_and_transfers() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    let args = ["run", "p.fhetch", "--n", "512", "--timing-only", "--trace", "perfetto=t.perfetto"];
    succeed(folder, &args);
    let trace = fs::read(folder.join("t.perfetto")).unwrap();
    let has = |name: &[u8]| trace.windows(name.len()).any(|window| window == name);
    for name in ["kernels", "HBM", "VDM", "intt", "inputs", "outputs", "tables", "programs"] {
        assert!(has(name.as_bytes()), "{name}");
    }
}

#[test]
fn a_wrong_input_leaves_no_output_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    fs::write(folder.join("evk.bin"), bytes(&[vec![Q; N]])).unwrap();
    let args = ["run", "p.fhetch", "--manifest", "p.json", "--input", "ab=ab.bin", "--input", "evk=evk.bin"];
    let output = rpu(folder, &[&args[..], &["--output", "c=c.bin"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.join("c.bin").exists());
}

/// The committed network: as a program with a stage for each layer, and options that it does not have.
#[test]
fn a_network_of_orion_becomes_a_ring_program() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::copy(repository("he/programs/tests/orion/perceptron.orion"), folder.join("net.orion")).unwrap();
    let import = |more: &[&str]| rpu(folder, &[&["import", "net.orion", "-o", "p.fhetch"], more].concat());
    for (more, expected) in [
        (&["--n", "1024"][..], "error: `--n` is not 512, the degree of `net.orion`"),
        (
            &["--argument", "w=w.json"],
            "error: `--argument` for `w`: networks of Orion have no clear argument",
        ),
    ] {
        let output = import(more);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.starts_with(expected), "{errors}");
        assert!(!folder.join("p.fhetch").exists());
    }
    let output = import(&["--n", "512", "--plaintexts", "plaintexts"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(folder.join("p.fhetch")).unwrap();
    let counts = "# operations of Orion 2.1.8: 1 flatten, 2 linear_transform, 1 quad\n";
    assert!(text.contains(counts), "{text:.400}");
    assert!(folder.join("plaintexts/fc1.bias.npy").exists());
    let report = json(folder, &["--check"]);
    let stages = report["stages"].as_array().unwrap().iter().map(|stage| stage["name"].as_str().unwrap());
    assert_eq!(stages.collect::<Vec<_>>(), ["fc1", "act1", "fc2"]);
}

/// Sums of nothing are 0, not -0.
#[test]
fn a_program_without_a_launch_takes_no_time_and_moves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nsr_mulps %2, %1, 0, m=1\nhalt\n";
    fs::write(folder.join("p.fhetch"), text).unwrap();
    fs::write(folder.join("p.json"), r#"{"ring_dimension": 512, "inputs": {}, "outputs": {"z": [2]}}"#)
        .unwrap();
    let table = succeed(folder, &["run", "p.fhetch", "--timing-only", "--profile", "profile.json"]);
    for part in
        ["Time of the kernels, 0.000 us in all", "Off-chip transfers, 0 bytes in all, 0 of them compulsory"]
    {
        assert!(table.contains(part), "{part}: {table}");
    }
    assert!(!fs::read_to_string(folder.join("profile.json")).unwrap().contains("-0"));
}

/// Of several files, none has its name before all are there.
#[test]
fn a_file_that_cannot_be_written_keeps_the_others_from_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    for name in ["k.manifest.json", "page.html"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    succeed(folder, &["gen", "add", "--n", "512", "-o", "k.o"]);
    let before = crate::common::names(folder);
    for (line, failed) in [
        ("gen program keyswitch --set ark --n 2048 --level 1 -o k.fhetch", "k.manifest.json"),
        ("run p.fhetch --seed 1 --output c=c.bin --profile p.txt --page page.html", "page.html"),
        ("run k.o --output c=c.bin --trace ascii=t.txt --page page.html", "page.html"),
    ] {
        let output = rpu(folder, &line.split(' ').collect::<Vec<_>>());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {errors}");
        assert!(errors.starts_with(&format!("error: cannot write `{failed}`")), "{line}: {errors}");
        assert_eq!(crate::common::names(folder), before, "{line}");
    }
}

/// An output over an input would lose it. Another name of the file is the file.
#[test]
fn outputs_do_not_overwrite_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    fs::create_dir(folder.join("data")).unwrap();
    fs::rename(folder.join("evk.bin"), folder.join("data/evk.bin")).unwrap();
    fs::write(folder.join("mapping.json"), json(folder, &["--timing-only"]).to_string()).unwrap();
    succeed(folder, &["gen", "add", "--n", "512", "-o", "k.o"]);
    succeed(folder, &["disasm", "k.o", "-o", "k.b512"]);
    for name in ["m.toml", "plan.toml", "i.manifest.json"] {
        fs::write(folder.join(name), "").unwrap();
    }
    let contents = || -> Vec<_> {
        let names = ["p.fhetch", "p.json", "ab.bin", "data/evk.bin", "mapping.json", "k.o", "k.b512"];
        let empty = ["m.toml", "plan.toml", "i.manifest.json"];
        names.into_iter().chain(empty).map(|name| fs::read(folder.join(name)).unwrap()).collect()
    };
    let before = contents();
    let data = "--input ab=ab.bin --inputs data";
    for (line, option) in [
        ("run p.fhetch --timing-only --profile p.fhetch", "--profile p.fhetch"),
        ("run p.fhetch --timing-only --page p.json", "--page p.json"),
        (
            "run p.fhetch --timing-only --trace perfetto=./data/../p.fhetch",
            "--trace perfetto=./data/../p.fhetch",
        ),
        ("run p.fhetch --timing-only --mapping mapping.json --page mapping.json", "--page mapping.json"),
        (&format!("run p.fhetch {data} --output c=ab.bin"), "--output c=ab.bin"),
        (&format!("run p.fhetch {data} --output c=data/evk.bin"), "--output c=data/evk.bin"),
        ("run k.o --page k.o", "--page k.o"),
        ("asm k.b512 -o k.b512", "--output k.b512"),
        ("disasm k.o -o k.o", "--output k.o"),
        ("schedule k.b512 -o k.b512", "--output k.b512"),
        ("schedule k.b512 --machine m.toml -o m.toml", "--output m.toml"),
        ("gen add --n 512 --machine m.toml -o ./m.toml", "--output ./m.toml"),
        ("gen ntt --n 1024 --plan plan.toml -o plan.toml", "--output plan.toml"),
        ("gen program hmult --set p.fhetch -o p.fhetch", "--output p.fhetch"),
        ("import i.manifest.json -o i.fhetch", "--output i.fhetch"),
    ] {
        let output = rpu(folder, &line.split(' ').collect::<Vec<_>>());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {errors}");
        let expected = format!("error: `{option}` would overwrite a file that the command reads");
        assert!(errors.starts_with(&expected), "{line}: {errors}");
    }
    assert!(contents() == before);
    // What the folder has beside the inputs is written again.
    let again = format!("run p.fhetch {data} --output c=data/c.bin");
    for _ in 0..2 {
        succeed(folder, &again.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn the_help_of_lint_names_ring_programs() {
    let help = succeed(Path::new("."), &["lint", "--help"]);
    assert!(help.contains("or a ring program: .fhetch"), "{help}");
}

/// The document of a run does not state a seed from which nothing came.
#[test]
fn a_seed_without_an_input_to_draw_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    prepare(folder);
    succeed(folder, &["gen", "add", "--n", "512", "-o", "k.o"]);
    succeed(folder, &["run", "k.o", "--output", "c=c.bin"]);
    let ring = "run p.fhetch --input ab=ab.bin --input evk=evk.bin";
    let kernel = "run k.o --input a=c.bin --input b=c.bin";
    for (line, is_refused) in [
        (format!("{ring} --seed 3"), true),
        (format!("{ring} --seed 3 --check"), false),
        ("run p.fhetch --input ab=ab.bin --seed 3".into(), false),
        (format!("{kernel} --seed 3"), true),
        (format!("{kernel} --seed 3 --check"), false),
        ("run k.o --input a=c.bin --seed 3".into(), false),
    ] {
        let output = rpu(folder, &line.split(' ').collect::<Vec<_>>());
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(if is_refused { 2 } else { 0 }), "{line}: {errors}");
        assert_eq!(errors.starts_with("error: `--seed` has no effect"), is_refused, "{line}: {errors}");
    }
}
