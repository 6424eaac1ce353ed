//! Documents of runs, read and compared.

use b512_asm::{PerPipe, Pipe, Program};
use lab_run::{
    Bottleneck, Bounds, Comparison, Instructions, OffChip, ProgramFacts, RunReport, StreamReport,
    Utilisation, Waits,
};
use serde_json::Value;
use sim::hbm::Traffic;
use sim::{Machine, MachineFile, Override};

fn machine(changes: &[&str]) -> Machine {
    let overrides: Vec<_> = changes.iter().map(|change| Override::parse(change).unwrap()).collect();
    MachineFile::built_in("rpu-128x128", &overrides).unwrap()
}

fn only_compute<T: Default>(value: T) -> PerPipe<T> {
    let mut pipes = PerPipe::default();
    pipes[Pipe::Compute] = value;
    pipes
}

/// A report without cycles.
fn untimed(changes: &[&str]) -> RunReport {
    let program = Program { name: "demo".into(), ..Program::default() };
    let report = RunReport::new(&ProgramFacts::of(&program), &machine(changes));
    RunReport { area_mm2: 20.5, energy_uj: 49.0, ..report }
}

/// A report with arbitrary numbers.
fn report(changes: &[&str], cycles: u64, issue: u64, conflicts: u64) -> RunReport {
    let stalls = [("issue", issue), ("busy_compute", cycles - issue), ("drain", 0)];
    RunReport {
        cycles: Some(cycles),
        frequency_ghz: Some(2.0),
        time_us: Some(cycles as f64 / 2000.0),
        instructions: Some(Instructions { pipes: only_compute(4) }),
        bounds: Some(Bounds { resource_cycles: 900, dependence_cycles: 20 }),
        bound_ratio: Some(cycles as f64 / 900.0),
        stalls: Some(stalls.map(|(cause, cycles)| (cause.to_owned(), cycles)).into()),
        utilisation: Some(Utilisation { pipes: only_compute(16.0 / cycles as f64) }),
        waits: Some(Waits { bank_conflict_cycles: conflicts, ..Waits::default() }),
        ..untimed(changes)
    }
}

fn text(report: &RunReport) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

fn refuse(text: &str) -> String {
    RunReport::parse("a.json", text).unwrap_err().to_string()
}

#[test]
fn a_document_is_read_as_it_was_written() {
    for report in [report(&["vdm.mapping=xor"], 1000, 4, 0), untimed(&["vdm.mapping=xor"])] {
        assert_eq!(RunReport::parse("a.json", &text(&report)), Ok(report));
    }
}

#[test]
fn what_is_no_document_is_refused_with_its_place() {
    let help = "; expected the JSON document of a run, as this version writes it";
    let good = text(&report(&[], 1000, 4, 0));
    let line = |key: &str| 1 + good[..good.find(key).unwrap()].matches('\n').count();
    let lines = good.lines().count();
    for (text, message) in [
        ("cycles: 5".to_owned(), "a.json:1:1: invalid JSON: expected value".to_owned()),
        (String::new(), "a.json:1:1: invalid JSON: EOF while parsing a value".into()),
        (good.clone() + "}", format!("a.json:{lines}:2: invalid JSON: trailing characters")),
        ("{}".into(), "a.json:1:2: the key `schema` is missing".into()),
        (
            good.replace("\"schema\": 3", "\"schema\": 7"),
            "a.json:2:13: `schema`: unsupported version 7, expected 3".into(),
        ),
        (
            good.replace("\"program\":", "\"programme\":"),
            format!("a.json:{lines}:1: the key `program` is missing"),
        ),
        (
            good.replacen("\"cycles\":", "\"clocks\":", 1),
            format!("a.json:{lines}:1: the key `cycles` is missing"),
        ),
        (
            good.replace("\"resource_cycles\"", "\"cycles\""),
            format!(
                "a.json:{}:3: `bounds`: the key `resource_cycles` is missing",
                line("resource_cycles") + 2
            ),
        ),
        (
            good.replace("\"count\": 128", "\"count\": \"many\""),
            format!(
                "a.json:{}:21: `machine.hple.count`: expected a whole number, found \"many\"",
                line("\"count\": 128")
            ),
        ),
    ] {
        assert_eq!(refuse(&text), message + help);
    }
}

#[test]
fn each_number_has_its_difference_and_ratio() {
    let (a, b) = (report(&[], 1000, 4, 8), report(&["vdm.banks=64", "vdm.mapping=xor"], 1250, 4, 0));
    let comparison = Comparison::new(("a.json", &a), ("b.json", &b)).unwrap();
    assert!(comparison.same_program && comparison.same_model);
    let keys: Vec<_> = comparison.machine.iter().map(|change| change.key).collect();
    assert_eq!(keys, ["vdm.banks", "vdm.mapping"]);
    let delta = |key: &str| serde_json::to_value(&comparison.values[key]).unwrap();
    let expected = |a, b, difference, ratio| {
        serde_json::json!({ "a": Value::from(a), "b": Value::from(b),
            "difference": Value::from(difference), "ratio": Value::from(ratio) })
    };
    assert_eq!(delta("cycles"), expected(1000, 1250, 250, Some(1.25)));
    assert_eq!(delta("waits.bank_conflict_cycles"), expected(8, 0, -8, Some(0.0)));
    assert_eq!(delta("stalls.drain"), expected(0, 0, 0, None));
    assert_eq!(delta("time_us")["difference"], 0.125);
    for absent in ["schema", "machine.vdm.banks", "simulator.wall_s"] {
        assert!(!comparison.values.contains_key(absent), "{absent}");
    }
}

#[test]
fn the_table_shows_what_changed() {
    let (a, b) = (report(&[], 1000, 4, 8), report(&["vdm.banks=64", "vdm.mapping=xor"], 1250, 3, 0));
    let table = Comparison::new(("a.json", &a), ("b.json", &b)).unwrap().table();
    diagnostic::snapshot::fresh(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diff.txt"), table);
    // No change, and nothing to compare.
    let same = Comparison::new(("a.json", &a), ("a.json", &a)).unwrap().table();
    assert!(!same.contains("What changed") && !same.contains(['+', '█']), "{same}");
    // A heading without rows says nothing.
    let without = report(&[], 1000, 4, 0);
    let table = Comparison::new(("a.json", &without), ("a.json", &without)).unwrap().table();
    assert!(same.contains("Delays after dispatch") && !table.contains("Delays after dispatch"), "{table}");
}

/// The time of a stream is beside that of one run, with what binds it. Energy and power of a stream count
/// transfers: a run without them is named.
#[test]
fn streams_have_their_own_time() {
    let stream = |runs: usize, total_us: f64, bottleneck: Bottleneck| {
        let stream = StreamReport {
            runs,
            words_per_run: Traffic::default(),
            hbm_bytes: 1024,
            transfer_us_per_run: total_us / 4.0,
            compute_us_per_run: 0.5,
            total_us,
            bottleneck,
            hbm_utilisation: 0.75,
            compute_utilisation: 0.25,
            vdm_words_needed: 64,
            vdm_words: 128,
        };
        RunReport { hbm: Some(OffChip::Stream(stream)), ..report(&[], 1000, 4, 0) }
    };
    let (a, b) = (stream(3, 1.0, Bottleneck::Compute), stream(1, 4.0, Bottleneck::Hbm));
    let table = |a, b| Comparison::new(("a.json", a), ("b.json", b)).unwrap().table();
    diagnostic::snapshot::fresh(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diff-streams.txt"),
        table(&a, &b),
    );
    let mixed = table(&report(&[], 1000, 4, 0), &b);
    assert!(mixed.contains("\n   one run without its transfers, not a stream\n"), "{mixed}");
    assert!(mixed.contains("\n   a stream of 1 run, which off-chip memory binds\n"), "{mixed}");
    assert!(!mixed.contains("The stream"), "{mixed}");
}

#[test]
fn runs_without_cycles_have_area_and_energy() {
    let (with, without) = (report(&[], 1000, 4, 0), untimed(&[]));
    let comparison = Comparison::new(("a.json", &without), ("b.json", &without)).unwrap();
    assert_eq!(comparison.values["area_mm2"].ratio, Some(1.0));
    assert!(comparison.table().contains("energy") && !comparison.table().contains("cycles"));
    let error = Comparison::new(("a.json", &with), ("b.json", &without)).unwrap_err();
    assert!(error.to_string().starts_with("b.json: this run has no cycles to compare"), "{error}");
}
