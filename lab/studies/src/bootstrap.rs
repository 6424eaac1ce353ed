//! The settings of a bootstrap and the policies of its keys, timed on two machines.

use crate::operations::{binding, changed_machine, machines};
use crate::page::{Fault, Files, fill, lines, text};
use programs::{Generated, Options, ParameterSet, find_program, generate_defined};
use rayon::prelude::*;
use ring_program::{Inputs, RingProgram};
use runtime::traffic::is_key;
use runtime::{Keys, Report, Runtime};

const SET: &str = "lattigo-n16qp1546";

const MACHINES: [&str; 2] = ["paper", "fast"];

/// Keys and plaintexts of a whole bootstrap do not fit the memory of the machines.
const MEMORY: &str = "hbm.size_mib=24576";

/// All moduli fit, and keys have 8 bytes a word.
const WORDS: &str = "isa.word_bits=64";

/// A set with other steps.
const CHEDDAR: &str = "cheddar-40";

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
    let cheddar = ParameterSet::built_in(CHEDDAR, None).expect("a built-in set")?;
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
            ("cheddar", &CHEDDAR),
            ("row_of_cheddar", &row(&cheddar, &[])?),
            ("policies", &lines(policies)),
        ],
    );
    Ok(vec![text("reports/he/bootstrap.md", page)])
}

fn generated(set: &ParameterSet, setting: &[(&str, &str)]) -> Result<Generated, Fault> {
    let values: Vec<_> =
        setting.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let program = find_program("bootstrap").expect("a program");
    Ok(generate_defined(&program, set, &Options::parse(&values)?)?)
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

fn row(set: &ParameterSet, setting: &[(&str, &str)]) -> Result<String, Fault> {
    let Generated { program, ledger, .. } = generated(set, setting)?;
    let total = ledger.total();
    let [_, limbs] = key_limbs(&program);
    let flags: Vec<String> = setting.iter().map(|(name, text)| format!("`--{name} {text}`")).collect();
    let label = if flags.is_empty() { "default".to_owned() } else { flags.join(" ") };
    let mut row = format!(
        "| {label} | {} | {} | {} | {:.2} | {:.2} |",
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
        row += &format!(" {:.0} | {} |", report.time_us / 1e3, binding(&report));
    }
    Ok(row)
}
