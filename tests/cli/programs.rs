//! Programs through the command line: generate, assemble, disassemble, run, check.

use crate::common::{command, names, repository, rpu, succeed};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fs;
use std::path::Path;

fn json(folder: &Path, args: &[&str]) -> serde_json::Value {
    let args: Vec<&str> = [args, &["--format", "json"]].concat();
    serde_json::from_str(&succeed(folder, &args)).expect("one JSON document")
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn text_and_objects_turn_into_each_other_and_stay_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "ntt", "--n", "1024", "-o", "k.b512"]);
    succeed(folder, &["gen", "ntt", "--n", "1024", "-o", "k.o"]);
    succeed(folder, &["asm", "k.b512", "-o", "assembled.o"]);
    assert_eq!(read(folder, "assembled.o"), read(folder, "k.o"));
    succeed(folder, &["disasm", "k.o", "-o", "disassembled.b512"]);
    assert_eq!(read(folder, "disassembled.b512"), read(folder, "k.b512"));
    assert_eq!(succeed(folder, &["gen", "ntt", "--n", "1024"]).into_bytes(), read(folder, "k.b512"));

    let (text, object) = (json(folder, &["run", "k.b512"]), json(folder, &["run", "k.o"]));
    assert_eq!(text["program_blake3"], object["program_blake3"]);
    assert_eq!(text["cycles"], object["cycles"]);
}

#[test]
fn words_of_any_width_hold_moduli_that_fill_them() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for bits in [28, 36, 54, 128].into_iter().chain((0..6).map(|_| rng.random_range(28..=128))) {
        let (bits, word) = (bits.to_string(), format!("isa.word_bits={bits}"));
        for operation in ["ntt", "polymul"] {
            let request = ["gen", operation, "--n", "1024", "--modulus-bits", &bits, "--plan", "kl"];
            succeed(folder, &[&request[..], &["-p", &word, "-o", "k.o"]].concat());
            let report = json(folder, &["run", "k.o", "--check", "--stream", "4", "-p", &word]);
            assert_eq!(report["checked"], true, "{operation}, {bits} bits");
        }
    }
    let other = rpu(folder, &["run", "k.o", "-p", "isa.word_bits=33"]);
    assert!(
        String::from_utf8_lossy(&other.stderr)
            .contains("but the machine has vectors of 512 words of 33 bits")
    );
}

#[test]
fn a_vdm_of_up_to_512_mib_runs_transforms_and_ring_programs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "program", "keyswitch", "--set", "ark", "--n", "8192", "-o", "k.fhetch"]);
    for size in ["32", "512"] {
        let size = format!("vdm.size_mib={size}");
        succeed(folder, &["gen", "ntt", "--n", "64K", "--plan", "kl", "-p", &size, "-o", "k.o"]);
        let transform = json(folder, &["run", "k.o", "--check", "-p", &size]);
        assert_eq!(
            (&transform["checked"], &transform["frequency_ghz"]),
            (&true.into(), &1.68.into()),
            "{size}"
        );
        let program = ["run", "k.fhetch", "--timing-only", "-p", "isa.word_bits=64", "-p", &size];
        assert!(json(folder, &program)["time_us"].as_f64() > Some(0.0), "{size}");
    }
    let refused = rpu(folder, &["run", "k.o", "-p", "vdm.size_mib=513"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("a whole number from 1 to 512"));
}

#[test]
fn a_report_has_every_key_and_its_cycles_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "ntt", "--n", "1024", "--modulus-bits", "128", "-o", "k.o"]);
    let report = json(folder, &["run", "k.o", "--check", "--seed", "7"]);
    assert_eq!(report["checked"], true);
    assert_eq!(report["seed"], 7);
    let cycles = report["cycles"].as_u64().expect("cycles");
    let stalls = report["stalls"].as_object().expect("stalls");
    assert_eq!(stalls.values().map(|cycles| cycles.as_u64().expect("a number")).sum::<u64>(), cycles);
    assert_eq!(stalls["unattributed"], 0);
    assert!(stalls["issue"].as_u64() > Some(0));
    let bounds =
        ["resource_cycles", "dependence_cycles"].map(|bound| report["bounds"][bound].as_u64().unwrap());
    assert!(bounds.iter().all(|bound| *bound > 0 && *bound <= cycles));
    assert_eq!(report["bound_ratio"], cycles as f64 / bounds[0].max(bounds[1]) as f64);
    for pipe in ["load_store", "compute", "shuffle"] {
        assert!(report["utilisation"][pipe].as_f64().is_some_and(|share| share > 0.0 && share <= 1.0));
        assert!(report["instructions"][pipe].as_u64() > Some(0));
    }
    let time = report["time_us"].as_f64().expect("a time");
    let frequency = report["frequency_ghz"].as_f64().expect("a clock");
    assert!((time - cycles as f64 / frequency / 1000.0).abs() < 1e-9);
    for key in ["area_mm2", "energy_uj"] {
        assert!(report[key].as_f64() > Some(0.0), "{key}");
    }
    let number = |key: &str| report[key].as_f64().unwrap();
    let of_the_rpu = number("energy_kernels_uj") + number("energy_static_uj");
    assert!((number("power_rpu_w") - of_the_rpu / time).abs() < 1e-9);
    assert_eq!(report["machine"]["hple"]["count"], 128);
    assert_eq!(report["program_blake3"].as_str().map(str::len), Some(64));
    assert!(report["simulator"]["wall_s"].as_f64() > Some(0.0));
    assert!(report["simulator"]["instructions_per_s"].as_f64() > Some(0.0));

    let again = json(folder, &["run", "k.o", "--check", "--seed", "7"]);
    let without_speed = |mut report: serde_json::Value| {
        report["simulator"] = serde_json::Value::Null;
        report
    };
    assert_eq!(without_speed(report), without_speed(again));
}

#[test]
fn scalar_code_gives_the_same_results() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "polymul", "--n", "1024", "--modulus-bits", "128", "-o", "k.o"]);
    let run = |cpu: &str, output: &str| {
        let mut command = command(folder);
        let output = format!("c={output}");
        command.args(["run", "k.o", "--check", "--format", "json", "--output", &output]);
        command.env("RPU_CPU", cpu).output().expect("rpu starts")
    };
    let mut reports = [("native", "native.bin"), ("scalar", "scalar.bin")].map(|(cpu, output)| {
        serde_json::from_slice::<serde_json::Value>(&run(cpu, output).stdout).expect("a report")
    });
    assert_eq!(reports[1]["simulator"]["cpu"], "scalar");
    for report in &mut reports {
        report["simulator"].take();
    }
    let [native, scalar] = reports;
    assert_eq!(native, scalar);
    assert_eq!(read(folder, "native.bin"), read(folder, "scalar.bin"));

    let refused = run("vector", "refused.bin");
    assert_eq!(refused.status.code(), Some(2));
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(error.contains("invalid value `vector` of the environment variable RPU_CPU"), "{error}");
    assert!(!folder.join("refused.bin").exists());
}

#[test]
fn transforms_undo_each_other_and_products_follow() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for kernel in ["ntt", "intt"] {
        succeed(
            folder,
            &["gen", kernel, "--n", "1024", "--modulus-bits", "128", "-o", &format!("{kernel}.o")],
        );
    }
    let x: Vec<u8> = (0..1024u128).flat_map(|i| ((i * i * i) << 64 | i).to_le_bytes()).collect();
    fs::write(folder.join("x.bin"), &x).unwrap();
    succeed(folder, &["run", "ntt.o", "--input", "x=x.bin", "--output", "y=y.bin", "--check"]);
    assert_ne!(read(folder, "y.bin"), x);
    succeed(folder, &["run", "intt.o", "--input", "x=y.bin", "--output", "y=z.bin", "--functional-only"]);
    assert_eq!(read(folder, "z.bin"), x);
}

#[test]
fn one_program_transforms_in_several_rings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "ntt", "--n", "1024", "--towers", "3", "--plan", "kl", "-o", "three.o"]);
    let report = json(folder, &["run", "three.o", "--check"]);
    assert_eq!(report["checked"], true);
    // The smallest roots for 12289 and 18433; with `--root`, given roots in the order of the moduli.
    let gen_with = ["gen", "ntt", "--n", "1024", "--plan", "kl", "--modulus", "12289,18433", "-o", "two.o"];
    succeed(folder, &gen_with);
    succeed(folder, &["run", "two.o", "--check"]);
    let output = rpu(folder, &[&gen_with[..], &["--root", "3"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("1 root for 2 moduli"), "{errors}");
}

#[test]
fn settings_give_the_scalars_of_all_rings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let moduli = "12289,18433,40961";
    for (kernel, scalar, claims) in [
        ("adds", "0x12345", ["0x12345"; 3]),
        ("subs", "0,1,2", ["0x0", "0x1", "0x2"]),
        ("muls", "1,18432,7", ["0x1", "0x4800", "0x7"]),
    ] {
        let setting = format!("by={scalar}");
        let generate = ["gen", kernel, "--n", "1024", "--modulus", moduli, "--setting", &setting];
        let text = succeed(folder, &[&generate[..], &["-o", "-"]].concat());
        for (ring, by) in claims.iter().enumerate() {
            let claim = text.lines().find(|line| line.contains(&format!("y{ring} = {kernel}(x{ring})")));
            assert!(claim.is_some_and(|claim| claim.ends_with(&format!("by={by}"))), "{claim:?}");
        }
        fs::write(folder.join("k.b512"), text).unwrap();
        assert_eq!(json(folder, &["run", "k.b512", "--check"])["checked"], true);
    }
}

/// A multiplication by one reduces words of another modulus.
#[test]
fn products_take_words_that_are_not_reduced() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let words: Vec<u128> = (0..1024u128).map(|i| u128::MAX - i * i * i).collect();
    let bytes = |words: &[u128]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    fs::write(folder.join("x.bin"), bytes(&words)).unwrap();
    let run = ["run", "k.o", "--input", "x=x.bin", "--output", "y=y.bin", "--check"];
    for kernel in ["muls", "adds"] {
        let by = ["--setting", "by=1", "--modulus", "12289", "-o", "k.o"];
        succeed(folder, &[&["gen", kernel, "--n", "1024"], &by[..]].concat());
        if kernel == "muls" {
            succeed(folder, &run);
            let residues: Vec<u128> = words.iter().map(|word| word % 12289).collect();
            assert_eq!(read(folder, "y.bin"), bytes(&residues));
        } else {
            let errors = String::from_utf8_lossy(&rpu(folder, &run).stderr).into_owned();
            assert!(errors.contains("not below the modulus"), "{errors}");
        }
    }
}

#[test]
fn hand_written_kernels_run_and_agree_with_the_golden_model() {
    for kernel in ["vadd", "mul1024", "dot2", "ntt1024"] {
        let file = repository(&format!("kernels-b512/{kernel}.b512"));
        let report = json(Path::new("."), &["run", &file, "--check"]);
        assert_eq!(report["checked"], true, "{kernel}");
    }
}

#[test]
fn a_wrong_result_is_a_failure_of_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(repository("kernels-b512/vadd.b512")).unwrap();
    fs::write(folder.path().join("wrong.b512"), text.replace("vadd   v2, v0, v1", "vadd   v2, v0, v0"))
        .unwrap();
    let output = rpu(folder.path(), &["run", "wrong.b512", "--check", "--output", "c=c.bin"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("`c` differs from a + b in 512 of 512 coefficients:\n"), "{errors}");
    assert_eq!(names(folder.path()), ["wrong.b512"]);
}

/// Other expressions than the kernel's are refuted by data, and not proven.
#[test]
fn wrong_claims_are_refuted() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = fs::read_to_string(repository("kernels-b512/dot2.b512")).unwrap();
    let claim = "a * b + c * d";
    let file = |expression: &str| {
        fs::write(folder.join("k.b512"), text.replace(&format!("y = {claim}"), &format!("y = {expression}")))
    };
    file("d * c + b * a").unwrap();
    assert_eq!(json(folder, &["run", "k.b512", "--check"])["checked"], true);
    let proven = succeed(folder, &["prove", "k.b512"]);
    assert_eq!(proven, "proven for all data: y = d * c + b * a, n=4096, modulus=0xfffffffffffc001\n");
    for (expression, difference) in [
        (
            "a * b - c * d",
            "has c[0] * d[0] where a * b - c * d has -c[0] * d[0]; 4096 of its 4096 words differ",
        ),
        ("a * b + c * d + d", "lacks d[0], which a * b + c * d + d has"),
        ("a * b + c * d + 1", "lacks 1, which "),
        ("2 * (a * b + c * d)", "has a[0] * b[0] + c[0] * d[0] where "),
        ("polymul(a, b) + c * d", "has a[0] * b[0] where polymul(a, b) + c * d has polymul(a, b)[0]"),
    ] {
        file(expression).unwrap();
        let refutation = format!("no proof: word 0 of `y` {difference}");
        for (command, text) in [("run", "`y` differs from "), ("prove", &refutation)] {
            let check = if command == "run" { &["--check"][..] } else { &[] };
            let output = rpu(folder, &[&[command, "k.b512"], check].concat());
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(1) && errors.contains(text), "{expression}: {errors}");
        }
    }
}

#[test]
fn timing_alone_needs_no_data_and_execution_alone_no_machine() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "polymul", "--n", "1024", "-o", "k.o"]);
    let timing = json(folder, &["run", "k.o", "--timing-only"]);
    assert!(timing["cycles"].as_u64() > Some(0));
    assert_eq!(timing["checked"], false);
    assert!(timing["simulator"]["functional_wall_s"].is_null());
    let functional = json(folder, &["run", "k.o", "--functional-only", "--check"]);
    assert_eq!(functional["cycles"], serde_json::Value::Null);
    assert_eq!(functional["checked"], true);
}

#[test]
fn the_table_shows_where_the_cycles_go() {
    let table = succeed(Path::new("."), &["run", &repository("kernels-b512/ntt1024.b512"), "--check"]);
    for text in [
        "cycles",
        "resource bound",
        "Where the cycles of the front end go",
        "in which each pipe is occupied",
        "golden model",
        "█",
    ] {
        assert!(table.contains(text), "{text} is missing in\n{table}");
    }
}

#[test]
fn two_runs_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let kernel = repository("kernels-b512/ntt1024.b512");
    for (file, changes) in [("a.json", &[][..]), ("b.json", &["-p", "vdm.banks=16", "-p", "vdm.mapping=xor"])]
    {
        let run = [&["run", &kernel, "--timing-only", "--format", "json"], changes].concat();
        fs::write(folder.join(file), succeed(folder, &run)).unwrap();
    }
    let [a, b] = ["a.json", "b.json"].map(|name| -> serde_json::Value {
        serde_json::from_slice(&read(folder, name)).expect("one JSON document")
    });
    let diff = json(folder, &["diff", "a.json", "b.json"]);
    assert_eq!(diff["same_program"], true);
    assert_eq!(diff["b"]["program_blake3"], b["program_blake3"]);
    let changes = diff["machine"].as_array().expect("changes");
    let keys: Vec<_> = changes.iter().map(|change| change["key"].as_str().expect("a key")).collect();
    assert_eq!(keys, ["vdm.banks", "vdm.mapping"]);
    assert_eq!((&changes[0]["from"], &changes[1]["to"]), (&128.into(), &"xor".into()));
    let cycles = &diff["values"]["cycles"];
    assert_eq!((&cycles["a"], &cycles["b"]), (&a["cycles"], &b["cycles"]));
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    assert!(number(&cycles["difference"]) > 0.0 && number(&cycles["ratio"]) > 1.0, "{cycles}");
    // The differences of the causes add up to the difference of the cycles.
    let values = diff["values"].as_object().expect("values");
    let of_stalls = values.iter().filter(|(key, _)| key.starts_with("stalls."));
    let sum: f64 = of_stalls.map(|(_, delta)| number(&delta["difference"])).sum();
    assert_eq!(sum, number(&cycles["difference"]));

    let table = succeed(folder, &["diff", "a.json", "b.json"]);
    for text in
        ["the same program", "vdm.banks    128 -> 16", "Where the cycles of the front end go", "B / A", "█"]
    {
        assert!(table.contains(text), "{text} is missing in\n{table}");
    }
}

#[test]
fn reference_commands_print_something() {
    let here = Path::new(".");
    assert!(succeed(here, &["isa"]).lines().filter(|line| line.contains("opcode")).count() >= 17);
    assert!(succeed(here, &["explain", "B004"]).contains("0 to 63"));
    assert!(succeed(here, &["explain", "f005"]).contains("modulus_count 2"));
    let codes = succeed(here, &["explain"]);
    for line in ["B001: unknown instruction", "D007: unreadable file", "F001: unknown opcode"] {
        assert!(codes.lines().any(|known| known == line), "{codes}");
    }
    assert!(succeed(here, &["gen", "--list"]).contains("polymul"));
    let list = succeed(here, &["gen", "--list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["kernels"][0]["name"], "ntt");
    assert_eq!(list["kernels"][0]["settings"][2]["name"], "root");
    let text = succeed(here, &["gen", "program", "--list"]);
    for line in ["  hmult ", "  --dataflow ", "  oc: "] {
        assert!(text.contains(line), "{text}");
    }
    let list = succeed(here, &["gen", "program", "--list", "--format", "json"]);
    let list: serde_json::Value = serde_json::from_str(&list).unwrap();
    let of = |kind: &str, name: &str| {
        list[kind].as_array().unwrap().iter().find(|row| row["name"] == name).cloned().unwrap()
    };
    let options = of("programs", "hoisted-rotations")["options"].clone();
    assert!(options.as_array().unwrap().contains(&"rotations".into()), "{options}");
    assert!(of("options", "dataflow")["values"].as_array().unwrap().contains(&"oc".into()));
    assert!(list["sets"].as_array().unwrap().contains(&"dprive".into()));
    assert!(succeed(here, &["completions", "bash"]).contains("rpu"));
}

#[test]
fn a_stream_overlaps_transfers_with_computing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    succeed(folder, &["gen", "ntt", "--n", "1024", "--modulus-bits", "128", "--plan", "kl", "-o", "k.o"]);
    let alone = json(folder, &["run", "k.o"]);
    assert!(alone.get("hbm").is_none(), "no stream was asked for");

    let without = ["-p", "hbm.latency_ns=0", "-p", "hbm.turn_ns=0"];
    let hbm = json(folder, &[&["run", "k.o", "--stream", "5"][..], &without].concat())["hbm"].clone();
    let of = |key: &str| hbm[key].as_f64().expect("a number");
    assert_eq!(hbm["runs"], 5);
    let ratio = of("compute_us_per_run") / alone["time_us"].as_f64().unwrap();
    let cycles = alone["cycles"].as_f64().unwrap();
    // The first run waits for a cycle for each of its five parameters.
    assert!((ratio - (cycles + 16.0 + 5.0 / 5.0) / cycles).abs() < 1e-5, "a launch takes 16 cycles: {ratio}");
    // Each element but one takes three words, at 0.9 of 512 GB/s, and a launch five words of parameters.
    assert!((of("transfer_us_per_run") - 3076.0 * 16.0 / (0.9 * 512e3)).abs() < 1e-9);
    // The transfers overlap: only the first load and the last store show, with a fetch of the program.
    assert_eq!(hbm["bottleneck"], "compute");
    let shown = of("total_us") - 5.0 * of("compute_us_per_run");
    let transfer = of("transfer_us_per_run");
    assert!((transfer..1.2 * transfer).contains(&shown), "{shown}, {transfer}");

    let slow = json(folder, &["run", "k.o", "--stream", "5", "-p", "hbm.gb_per_s=64"])["hbm"].clone();
    assert_eq!(slow["bottleneck"], "hbm");
    assert!((slow["hbm_utilisation"].as_f64().unwrap() - 1.0).abs() < 0.15);
    let told = succeed(folder, &["run", "k.o", "--stream", "5"]);
    assert!(told.contains("A stream of 5 runs") && !told.contains("This needs"), "{told}");
    let small = ["run", "k.o", "--stream", "50", "-p", "hbm.buffers=40", "-p", "vdm.size_mib=1"];
    let output = rpu(folder, &small);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr);
    let need = "the words of 40 runs at once need 122840 words of the VDM, but the machine has 65536";
    assert!(told.contains(need), "{told}");
    let told = succeed(folder, &[&small[..], &["-p", "hbm.buffers=21"]].concat());
    assert!(told.contains("those of 21 at once"), "{told}");
}

#[test]
fn a_technology_is_fitted_to_claims() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let written = succeed(folder, &["fit"]);
    assert_eq!(written, fs::read_to_string(repository("configs/tech/gf12.toml")).unwrap());

    let claims = fs::read_to_string(repository("configs/tech/gf12.claims.toml")).unwrap();
    fs::write(folder.join("mine.toml"), claims.replace("name = \"gf12\"", "name = \"mine\"")).unwrap();
    succeed(folder, &["fit", "mine.toml", "-o", "tech.toml"]);
    succeed(folder, &["gen", "ntt", "--n", "1024", "-o", "k.o"]);
    let report = json(folder, &["run", "k.o", "-p", "technology=tech.toml"]);
    assert_eq!(report["machine"]["technology"]["name"], "mine");

    fs::write(folder.join("bad.toml"), claims.replace("component = \"hples\"", "component = \"vpu\""))
        .unwrap();
    let output = rpu(folder, &["fit", "bad.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown component `vpu`"));
}

#[test]
fn programs_for_other_vector_lengths_and_word_widths_keep_their_claims() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (lanes, word_bits, operation) in [
        (64, 64, "ntt"),
        (256, 64, "ntt"),
        (512, 64, "ntt"),
        (512, 32, "mul"),
        (1024, 64, "ntt"),
        (1024, 64, "intt"),
        (1024, 128, "polymul"),
        (4096, 128, "mac"),
    ] {
        let keys = [
            format!("isa.vector_length={lanes}"),
            format!("isa.word_bits={word_bits}"),
            "hple.count=64".to_owned(),
        ];
        let machine: Vec<&str> = keys.iter().flat_map(|key| ["-p", key]).collect();
        let bits = (word_bits - 4).to_string();
        let generate = ["gen", operation, "--n", "4096", "--modulus-bits", &bits, "-o", "k.o"];
        succeed(folder, &[&generate[..], &machine].concat());
        let report = json(folder, &[&["run", "k.o", "--check"][..], &machine].concat());
        assert_eq!(report["checked"], true, "{keys:?}");
        assert_eq!(report["machine"]["isa"]["vector_length"], lanes);
        assert!(report["cycles"].as_u64() > Some(0));
    }
}

/// Reads a value that nothing defines, and stores a result that nothing reads.
const WASTEFUL: &str = "\
.input x, 8192
.output y, 512
.modulus m1, 97
vload v1, a0, x, strided 2^4
vadd v2, v1, v3, m1
vstore v1, a0, y
vstore v1, a0, y
halt
";

#[test]
fn lint_reports_errors_and_waste_with_their_lines() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("k.b512"), WASTEFUL).unwrap();
    let output = rpu(folder, &["lint", "k.b512", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let findings: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).expect("one JSON list");
    let found: Vec<String> = findings
        .iter()
        .map(|found| format!("{} {}:{}:{}", found["severity"], found["code"], found["line"], found["column"]))
        .collect();
    let expected = [
        "\"error\" \"B022\":5:1",
        "\"warning\" \"B029\":4:1",
        "\"warning\" \"B028\":5:1",
        "\"warning\" \"B028\":6:1",
    ];
    assert_eq!(found, expected);
    let lines =
        String::from_utf8(rpu(folder, &["lint", "k.b512", "--message-format", "json"]).stdout).unwrap();
    let lines: Result<Vec<serde_json::Value>, _> = lines.lines().map(serde_json::from_str).collect();
    assert_eq!(lines.expect("a JSON object in each line"), findings);
    let text = String::from_utf8(rpu(folder, &["lint", "k.b512"]).stdout).unwrap();
    assert!(text.contains("warning[B029]: 64 rounds of bank accesses instead of 4"), "{text}");
    assert!(text.contains(" --> k.b512:4:1"), "{text}");
    succeed(folder, &["gen", "ntt", "--n", "1024", "-o", "good.o"]);
    assert!(!succeed(folder, &["lint", "good.o"]).contains("error"));
}

#[test]
fn lenient_turns_errors_of_the_data_flow_into_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("k.b512"), WASTEFUL).unwrap();
    assert_eq!(rpu(folder, &["run", "k.b512"]).status.code(), Some(2));
    let output = rpu(folder, &["run", "k.b512", "--lenient", "--format", "json"]);
    assert!(output.status.success());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!(report["checked"], false);
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(messages.contains("warning[B022]: `v3` is read before it is written"), "{messages}");
}

/// The result is right for the words of the image only: a check also runs on random ones.
#[test]
fn a_check_does_not_rely_on_the_initial_data() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = "\
.input a, 512
.input b, 512
.output c, 512
.modulus m1, 0x61
.words a { 0 }
.words b { 0 }
.computes c = mul(a, b), n=512, modulus=0x61
vload v1, a0, a
vload v2, a0, b
vadd v3, v1, v2, m1
vstore v3, a0, c
halt
";
    fs::write(folder.join("k.b512"), source).unwrap();
    succeed(folder, &["run", "k.b512"]);
    let output = rpu(folder, &["run", "k.b512", "--check"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn outputs_are_compared_with_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let kernel = repository("kernels-b512/vadd.b512");
    succeed(folder, &["run", &kernel, "--output", "c=c.json", "--output", "c=c.bin", "--seed", "3"]);
    // The same words in both forms.
    for file in ["c=c.json", "c=c.bin"] {
        let table = succeed(folder, &["run", &kernel, "--seed", "3", "--expect", file]);
        assert!(table.contains("compared: `c` as expected"), "{table}");
    }
    let report = json(folder, &["run", &kernel, "--seed", "3", "--expect", "c=c.json"]);
    assert_eq!((&report["checked"], &report["expected"]), (&true.into(), &serde_json::json!(["c"])));
    let output = rpu(folder, &["run", &kernel, "--seed", "4", "--expect", "c=c.json"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("`c` differs from c.json in 512 of 512 coefficients"), "{errors}");
    assert_eq!(errors.matches("and should be").count(), 4, "{errors}");
    assert!(errors.contains("drawn at random, with the seed 4: a, b\n"), "{errors}");
    // Data on standard output leave no room for the report there.
    let output = rpu(folder, &["run", &kernel, "--seed", "3", "--output", "c=-"]);
    assert_eq!(output.stdout, fs::read(folder.join("c.bin")).unwrap());
    assert!(String::from_utf8(output.stderr).unwrap().contains("Where the cycles of the front end go"));
}

#[test]
fn degrees_have_units() {
    let folder = tempfile::tempdir().unwrap();
    let generated = |n: &str| rpu(folder.path(), &["gen", "add", &format!("--n={n}")]);
    assert_eq!(generated("1K").stdout, succeed(folder.path(), &["gen", "add", "--n", "1024"]).into_bytes());
    assert_eq!(generated("0x400").stdout, generated("1K").stdout);
    assert_eq!(generated("64k").stdout, succeed(folder.path(), &["gen", "add", "--n", "65536"]).into_bytes());
    let refused = |n: &str| String::from_utf8(generated(n).stderr).unwrap();
    assert!(refused("2").starts_with("error: unsupported degree n = 2: "), "{}", refused("2"));
    for text in ["", "K", "1", "1000", "1KK", "-2", "1M", "256K", "1099511627776", "99999999999999999999M"] {
        let message = format!("error: invalid value '{text}' for '--n <N>'");
        assert!(refused(text).starts_with(&message), "{text}: {}", refused(text));
    }
}
