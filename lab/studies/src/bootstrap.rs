//! The settings of a bootstrap and the policies of its keys, timed on two machines.

use crate::applications::{transform_us, transforms};
use crate::operations::{binding, changed_machine, machines};
use crate::page::{Fault, Files, fill, lines, text};
use programs::{Generated, Options, ParameterSet, SETS, find_program, generate_defined};
use rayon::prelude::*;
use ring_program::{Inputs, RingProgram};
use runtime::schedule::traffic::is_key;
use runtime::{Keys, Report, Runtime};
use sim::Clock;

const SET: &str = "lattigo-n16qp1546";

const MACHINES: [&str; 2] = ["paper", "fast"];

/// Keys and plaintexts of a whole bootstrap do not fit the memory of the machines.
const MEMORY: &str = "hbm.stacks=4";

/// All moduli fit, and keys have 8 bytes a word.
const WORDS: &str = "isa.word_bits=64";

/// Changes of the set: their name, and what takes the place of what in its text.
const CHANGES: [(&str, &[(&str, &str)]); 6] = [
    ("none", &[]),
    ("OpenFHE's steps", &[("\"lattigo\"", "\"openfhe\"")]),
    ("Cheddar's steps", &[("\"lattigo\"", "\"cheddar\"")]),
    (
        "3 matrices of CoeffToSlot",
        &[("bits = 56, count = 4", "bits = 56, count = 3"), ("coeff_to_slot = 4", "coeff_to_slot = 3")],
    ),
    (
        "2 matrices of SlotToCoeff",
        &[("bits = 39, count = 3", "bits = 39, count = 2"), ("slot_to_coeff = 3", "slot_to_coeff = 2")],
    ),
    (
        "no sparse secret: K = 32, degree 46, 4 double angles",
        &[
            ("bits = 60, count = 8", "bits = 60, count = 10"),
            ("digits = 5", "digits = 6"),
            ("eval_mod = 8", "eval_mod = 10"),
            ("range = 16", "range = 32"),
            ("degree = 30", "degree = 46"),
            ("double_angles = 3", "double_angles = 4"),
            ("ephemeral_weight = 32", ""),
        ],
    ),
];

/// Other sets, and what sets them apart.
const SETS_APART: [(&str, &str); 3] = [
    ("lattigo-n16qp1547", "arcsine of degree 7"),
    ("lattigo-n16qp1767", "dense secret"),
    ("cheddar-40", "Cheddar's steps, four digits"),
];

/// What was predicted of the first program on the paper's machine before it was generated: lines, transforms,
/// the cycles of one (printed in the paper) and the clock in GHz.
const PREDICTED: (u64, u64, u64, f64) = (141_000, 10_412, 6_852, 1.7);

/// Options of the program, by name.
const SETTINGS: [&[(&str, &str)]; 14] = [
    &[],
    &[("rescale", "merged")],
    &[("hoisting", "single")],
    &[("hoisting", "none")],
    &[("hoisting", "horner")],
    &[("hoisting", "horner"), ("rescale", "merged")],
    &[("hoisting", "min-ks")],
    &[("slots", "4096")],
    &[("slots", "256")],
    &[("slots", "256"), ("hoisting", "min-ks")],
    &[("slots", "256"), ("message-ratio", "12")],
    &[("slots", "256"), ("meta-bits", "18")],
    &[("slot-to-coeff", "first"), ("message-ratio", "14")],
    &[("slot-to-coeff", "first"), ("message-ratio", "14"), ("slots", "256")],
];

/// A policy of keys.
struct Policy {
    name: &'static str,
    /// Options of the program.
    setting: &'static [(&'static str, &'static str)],
    keys: Keys,
    /// Whether each key is stored for its highest used level only.
    is_per_level: bool,
}

const fn policy(
    name: &'static str,
    setting: &'static [(&'static str, &'static str)],
    keys: Keys,
    is_per_level: bool,
) -> Policy {
    Policy { name, setting, keys, is_per_level }
}

const MIN_KS: &[(&str, &str)] = &[("hoisting", "min-ks")];

const POLICIES: [Policy; 7] = [
    policy("full", &[], Keys::Streamed, false),
    policy("per level", &[], Keys::Streamed, true),
    policy("per level, seeded", &[], Keys::Seeded, true),
    policy("per level, Min-KS", MIN_KS, Keys::Streamed, true),
    policy("per level, Min-KS, seeded", MIN_KS, Keys::Seeded, true),
    policy("on chip", &[], Keys::Resident, true),
    policy("on chip, Min-KS", MIN_KS, Keys::Resident, true),
];

pub(crate) fn files() -> Files {
    let set = ParameterSet::built_in(SET, None).expect("a built-in set")?;
    let rows = SETTINGS.par_iter().map(|setting| row(&set, setting)).collect::<Result<Vec<_>, _>>()?;
    let changes = CHANGES.par_iter().map(|(change, texts)| set_row(change, &changed(texts)?));
    let mut sets = changes.collect::<Result<Vec<_>, Fault>>()?;
    let apart = SETS_APART.par_iter().map(|(name, what)| {
        let set = ParameterSet::built_in(name, None).expect("a built-in set")?;
        set_row(&format!("`{name}`: {what}"), &set)
    });
    sets.extend(apart.collect::<Result<Vec<_>, Fault>>()?);
    let policies = MACHINES.par_iter().flat_map(|name| POLICIES.par_iter().map(move |policy| (name, policy)));
    let policies =
        policies.map(|(name, policy)| policy_row(&set, name, policy)).collect::<Result<Vec<_>, _>>()?;
    let page = fill(
        include_str!("bootstrap.md"),
        &[
            ("set", &SET),
            ("memory", &MEMORY),
            ("machines", &machines(&MACHINES)?),
            ("rows", &lines(rows)),
            ("sets", &lines(sets)),
            ("prediction", &prediction(&set)?),
            ("policies", &lines(policies)),
        ],
    );
    Ok(vec![text("reports/he/bootstrap.md", page)])
}

fn generated(set: &ParameterSet, setting: &[(&str, &str)]) -> Result<Generated, Fault> {
    let program = find_program("bootstrap").expect("a program");
    Ok(generate_defined(&program, set, &Options::of(setting.iter().copied()))?)
}

/// The limbs of keys: all, and those that the program reads.
fn key_limbs(program: &RingProgram) -> [usize; 2] {
    let inputs = Inputs::new(program);
    let keys = program.inputs().iter().filter(|group| is_key(&group.name)).flat_map(|group| &group.limbs);
    [keys.clone().count(), keys.filter(|&&limb| inputs.is_needed(limb)).count()]
}

fn gigabytes(set: &ParameterSet, limbs: usize) -> f64 {
    (limbs * set.degree().len() * 8) as f64 / 1e9
}

/// The row of a policy of keys on a machine.
fn policy_row(
    set: &ParameterSet,
    machine_name: &str,
    &Policy { name, setting, keys, is_per_level }: &Policy,
) -> Result<String, Fault> {
    let Generated { program, .. } = generated(set, setting)?;
    let [all, read] = key_limbs(&program);
    let stored = if is_per_level { read } else { all };
    let stored = if keys == Keys::Seeded { stored / 2 } else { stored };
    let machine = changed_machine(machine_name, &[MEMORY, WORDS])?;
    let runtime = Runtime::new(&program, &machine, keys)?;
    let report: Report = runtime.report(&runtime.time(false)?);
    let moved = report.hbm.bytes_by_kind.get("keys").copied().unwrap_or(0);
    Ok(format!(
        "| {name} | {machine_name} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {:.0} | {:.1} | {} |",
        gigabytes(set, stored),
        moved as f64 / 1e9,
        report.area.keys,
        report.area.total(),
        report.time_us / 1e3,
        report.energy.total() / 1e3,
        report.energy.total() / report.time_us,
        binding(&report),
    ))
}

/// The set with other texts in place of some of its own.
fn changed(texts: &[(&str, &str)]) -> Result<ParameterSet, Fault> {
    let (_, own) = SETS.iter().find(|(name, _)| *name == SET).expect("a built-in set");
    let text = texts.iter().fold((*own).to_owned(), |text, (from, to)| text.replacen(from, to, 1));
    Ok(ParameterSet::parse(SET, "set.toml", &text, None)?)
}

/// The row of the options of a program.
fn row(set: &ParameterSet, setting: &[(&str, &str)]) -> Result<String, Fault> {
    let flags: Vec<String> = setting.iter().map(|(name, text)| format!("`--{name} {text}`")).collect();
    let label = if flags.is_empty() { "default".to_owned() } else { flags.join(" ") };
    Ok(format!("| {label} |{}", cells(set, setting)?))
}

/// The row of a set, without options.
fn set_row(label: &str, set: &ParameterSet) -> Result<String, Fault> {
    let left = set.levels() - set.bootstrap().ok_or("a set with a bootstrap")?.depth();
    let (levels, log2_qp) = (set.levels(), set.parameters().log2_qp);
    Ok(format!("| {label} | {levels} | {left} | {log2_qp:.0} |{}", cells(set, &[])?))
}

/// The counts and times of a program.
fn cells(set: &ParameterSet, setting: &[(&str, &str)]) -> Result<String, Fault> {
    let Generated { program, ledger, .. } = generated(set, setting)?;
    let total = ledger.total();
    let [_, limbs] = key_limbs(&program);
    let mut cells = format!(
        " {} | {} | {} | {:.2} | {:.2} |",
        total.transforms,
        total.relinearisations + total.automorphisms + total.secret_switches,
        total.keys.len(),
        gigabytes(set, limbs),
        gigabytes(set, total.key_limbs),
    );
    for name in MACHINES {
        let machine = changed_machine(name, &[MEMORY])?;
        let runtime = Runtime::new(&program, &machine, Keys::Streamed)?;
        let report: Report = runtime.report(&runtime.time(false)?);
        cells += &format!(" {:.0} | {} |", report.time_us / 1e3, binding(&report));
    }
    Ok(cells)
}

/// The rows that compare the prediction with the first program on the paper's machine.
fn prediction(set: &ParameterSet) -> Result<String, Fault> {
    let Generated { program, ledger, .. } = generated(set, &[])?;
    let machine = changed_machine("paper", &[MEMORY])?;
    let cycles = transform_us(set, &machine)? * Clock::of(&machine).ghz() * 1e3;
    let runtime = Runtime::new(&program, &machine, Keys::Streamed)?;
    let report: Report = runtime.report(&runtime.time(false)?);
    let (of_transforms, _) = transforms(&report);
    let kernels: f64 = report.costs.values().map(|cost| cost.time_us).sum();
    let (lines_predicted, count, of_one, ghz) = PREDICTED;
    let predicted_ms = (count * of_one) as f64 / ghz / 1e6;
    let mut rows = vec![
        format!("| lines | {lines_predicted} | {} |", program.length()),
        format!("| transforms | {count} | {} |", ledger.total().transforms),
        format!("| cycles of a transform | {of_one} | {cycles:.0} |"),
        format!("| transforms, ms | {predicted_ms:.1} | {:.1} |", of_transforms / 1e3),
        format!("| other kernels, ms | | {:.1} |", (kernels - of_transforms) / 1e3),
    ];
    for (kind, &bytes) in report.hbm.bytes_by_kind.iter().filter(|(_, bytes)| **bytes > 0) {
        let ms = bytes as f64 / machine.hbm.gb_per_s / 1e6;
        rows.push(format!("| HBM, {kind}, ms | | {ms:.1} |"));
    }
    rows.push(format!("| all, ms | | {:.1} |", report.time_us / 1e3));
    Ok(lines(rows))
}
