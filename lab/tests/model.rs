//! A sample of results for [`MODEL_VERSION`]: a change of the models cannot go unnoticed.
//!
//! `lab/tests/model.txt` has a line for each program on each machine: operation, degree, plan, machine,
//! the hash of the program, its cycles, their causes, area and energy.

use golden::Operation;
use lab::kernel::{ModulusSpec, RequestSpec};
use lab::model::MODEL_VERSION;
use lab::run::{ProgramFacts, RunReport, TimingReport};
use lab::sweep::generate;
use rayon::prelude::*;
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

fn line((function, n, name): (Operation, u32, &str), (base, overrides): (&str, &[&str])) -> String {
    let machine = machine(base, overrides);
    let plan = lab::kernel::plan(name, Path::new("")).unwrap();
    let spec = RequestSpec { operation: function, n, modulus: ModulusSpec::Bits(120), root: None, towers: 1 };
    let program = generate(&spec.resolve().unwrap(), &plan, &machine).unwrap().program;
    let facts = ProgramFacts::of(&program);
    let timing = TimingReport::new(&machine, &simulate(&machine, &program));
    let report = RunReport::new(&facts, &machine);
    let causes: Vec<String> = timing
        .stalls
        .iter()
        .filter(|&(_, &cycles)| cycles > 0)
        .map(|(cause, cycles)| format!("{cause}={cycles}"))
        .collect();
    format!(
        "{} {n} {name} {base} {}: {} {} cycles, {}, {:.6} mm2, {:.6} uJ\n",
        function.name(),
        overrides.join(" "),
        &facts.blake3[..16],
        timing.cycles,
        causes.join(" "),
        report.area_mm2,
        report.energy_uj,
    )
}

#[test]
fn results_are_those_of_the_declared_version() {
    let all: Vec<_> = cases().into_iter().flat_map(|case| MACHINES.map(|machine| (case, machine))).collect();
    let lines: Vec<String> = all.into_par_iter().map(|(case, machine)| line(case, machine)).collect();
    let found = format!("model version {MODEL_VERSION}\n{}", lines.concat());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model.txt");
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let same_version = committed.lines().next() == found.lines().next();
    assert!(
        found == committed || !same_version || bless::blessing(),
        "the results differ from those of model version {MODEL_VERSION}. If the change is intended, raise \
         `MODEL_VERSION` in `lab/src/model.rs` and refresh the file: BLESS=1 cargo test -p lab --test model"
    );
    bless::fresh(path, found);
}
