//! A sample of results for [`MODEL_VERSION`]: a change of the models cannot go unnoticed.
//!
//! `lab/sweep/tests/model.txt` has a line for each program on two of the machines: operation, degree, plan,
//! machine, cycles, their causes, area and energy.

use codegen::Request;
use golden::Operation;
use lab_run::model::MODEL_VERSION;
use lab_run::{Mode, Options, ProgramFacts, RunReport, run};
use lab_sweep::generate;
use rayon::prelude::*;
use ring::Degree;
use serde_json::Value;
use sim::machine::keys;
use sim::machine::table::Kind;
use sim::timing::simulate;
use sim::{Machine, MachineFile, Override};
use std::path::Path;

/// Machines that differ from the paper's in the keys that affect programs and cycles.
const MACHINES: [(&str, &[&str]); 8] = [
    ("rpu-128x128", &[]),
    ("rpu-128x128-gs", &[]),
    ("rpu-128x128-paper", &[]),
    ("rpu-128x128-xor", &[]),
    ("rpu-128x128-shared-reads", &[]),
    ("rpu-128x128", &["hple.count=32", "vdm.banks=64", "vrf.placement=div"]),
    (
        "rpu-128x128",
        &["hple.multiplier_latency_cycles=23", "hple.initiation_interval=3", "sbar.latency_cycles=9"],
    ),
    ("rpu-128x128", &["frontend.width=4", "frontend.queue_depth=4", "vdm.ports=2", "vbar.paths=split"]),
];

fn machine(name: &str, overrides: &[&str]) -> Machine {
    let overrides: Vec<Override> = overrides.iter().map(|text| Override::parse(text).unwrap()).collect();
    MachineFile::built_in(name, &overrides).unwrap()
}

fn cases() -> Vec<(Operation, u32, &'static str)> {
    let small = [golden::NTT, golden::INTT, golden::POLYMUL].into_iter().flat_map(|function| {
        [1024, 4096]
            .into_iter()
            .flat_map(move |n| ["best", "kl", "unoptimised"].into_iter().map(move |plan| (function, n, plan)))
    });
    let pointwise = [golden::ADD, golden::SUB, golden::MUL].map(|function| (function, 2048, "best"));
    small.chain(pointwise).chain([(golden::NTT, 65536, "paper")]).collect()
}

fn request(operation: Operation, n: u32) -> Request {
    Request::with_primes(operation, Degree::try_from(n).unwrap(), 120, 1).unwrap()
}

fn line((function, n, name): (Operation, u32, &str), (base, overrides): (&str, &[&str])) -> String {
    let machine = machine(base, overrides);
    let plan = lab_run::kernel::plan(name, Path::new("")).unwrap();
    let program = generate(&request(function, n), &plan, &machine).unwrap().program;
    let facts = ProgramFacts::of(&program);
    let report = RunReport::new(&facts, &machine).timed(&facts.events, &simulate(&machine, &program), None);
    let causes: Vec<String> = report
        .stalls
        .iter()
        .flatten()
        .filter(|&(_, &cycles)| cycles > 0)
        .map(|(cause, cycles)| format!("{cause}={cycles}"))
        .collect();
    format!(
        "{} {n} {name} {base} {}: {} cycles, {}, {:.6} mm2, {:.6} uJ\n",
        function.name(),
        overrides.join(" "),
        report.cycles.unwrap_or_default(),
        causes.join(" "),
        report.area_mm2,
        report.energy_uj,
    )
}

#[test]
fn results_are_those_of_the_declared_version() {
    // Each machine has programs of each kind.
    let machines = |place| [0, 3].map(|step| MACHINES[(place + step) % MACHINES.len()]);
    let all = cases().into_iter().enumerate();
    let all: Vec<_> = all.flat_map(|(place, case)| machines(place).map(|machine| (case, machine))).collect();
    let lines: Vec<String> = all.into_par_iter().map(|(case, machine)| line(case, machine)).collect();
    let found = format!("model version {MODEL_VERSION}\n{}", lines.concat());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model.txt");
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let same_version = committed.lines().next() == found.lines().next();
    assert!(
        found == committed || !same_version || diagnostic::snapshot::blessing(),
        "the results differ from those of model version {MODEL_VERSION}. If the change is intended, raise \
         `MODEL_VERSION` in `lab/run/src/model.rs` and refresh the file: BLESS=1 cargo test -p rpu-lab-sweep --test all model"
    );
    diagnostic::snapshot::fresh(path, found);
}

/// The places of values that are null, as those of numbers that are not finite.
fn nulls(value: &Value, place: &str) -> Vec<String> {
    match value {
        Value::Null => vec![place.to_owned()],
        Value::Array(values) => values.iter().flat_map(|value| nulls(value, place)).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| nulls(value, &format!("{place}.{name}"))).collect()
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// JSON has no infinity: a document would lose the number.
#[test]
fn results_are_finite_at_the_ends_of_every_range() {
    let plan = lab_run::kernel::plan("kl", Path::new("")).unwrap();
    let program = generate(&request(golden::NTT, 1024), &plan, &Machine::rpu_128x128()).unwrap().program;
    let options = Options { mode: Mode::TimingOnly, stream: Some(2), ..Options::default() };
    let nulls_of = |overrides: &[String]| {
        let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
        match run(&program, &machine("rpu-128x128", &overrides), &options) {
            Ok(run) => Some(nulls(&serde_json::to_value(run.report).unwrap(), "")),
            // A time that is beyond what is counted has no document.
            Err(error) => {
                assert!(error.to_string().contains("2^64 ps"), "{overrides:?}: {error}");
                None
            }
        }
    };
    let expected = nulls_of(&[]).unwrap();
    let ends = |kind| match kind {
        Kind::Positive => Some([Kind::LEAST, Kind::MOST]),
        Kind::Share => Some([Kind::LEAST, 1.0]),
        Kind::NotNegative => Some([0.0, Kind::MOST]),
        Kind::Text | Kind::Bool | Kind::Int(..) | Kind::PowerOfTwo(..) | Kind::Choice(_) | Kind::Clock => {
            None
        }
    };
    let ranges: Vec<(&str, [f64; 2])> = keys()
        // No machine reaches the end of this range.
        .filter(|key| key.path != "clock.ghz")
        .filter_map(|key| Some((key.path, ends(key.kind)?)))
        .collect();
    assert!(ranges.len() > 20, "{ranges:?}");
    let at = |end: usize| ranges.iter().map(move |(path, ends)| format!("{path}={:e}", ends[end]));
    for end in [0, 1] {
        let all = nulls_of(&at(end).collect::<Vec<_>>());
        assert!(all.is_none_or(|nulls| nulls == expected), "all keys at end {end}");
        for key in at(end) {
            let one = nulls_of(std::slice::from_ref(&key));
            assert!(one.is_none_or(|nulls| nulls == expected), "{key}");
        }
    }
}
