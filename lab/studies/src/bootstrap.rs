//! The settings of a bootstrap, timed on two machines.

use crate::operations::{binding, changed_machine, machines};
use crate::page::{Fault, Files, fill, lines, text};
use programs::{Generated, Options, ParameterSet, find_program, generate_defined};
use ring_program::Inputs;
use runtime::traffic::is_key;
use runtime::{Keys, Report, Runtime};

const SET: &str = "lattigo-n16qp1546";

const MACHINES: [&str; 2] = ["paper", "fast"];

/// Keys and plaintexts of a whole bootstrap do not fit the memory of the machines.
const MEMORY: &str = "hbm.size_mib=24576";

/// Options of the program, by name.
const SETTINGS: [&[(&str, &str)]; 10] = [
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
];

pub(crate) fn files() -> Files {
    let set = ParameterSet::built_in(SET, None).expect("a built-in set")?;
    let rows = SETTINGS.map(|setting| row(&set, setting));
    let page = fill(
        include_str!("bootstrap.md"),
        &[
            ("set", &SET),
            ("memory", &MEMORY),
            ("machines", &machines(&MACHINES)?),
            ("rows", &lines(rows.into_iter().collect::<Result<Vec<_>, _>>()?)),
        ],
    );
    Ok(vec![text("reports/he/bootstrap.md", page)])
}

fn row(set: &ParameterSet, setting: &[(&str, &str)]) -> Result<String, Fault> {
    let values: Vec<_> =
        setting.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let program = find_program("bootstrap").expect("a program");
    let Generated { program, ledger, .. } = generate_defined(&program, set, &Options::parse(&values)?)?;
    let total = ledger.total();
    let inputs = Inputs::new(&program);
    let keys = program.inputs().iter().filter(|group| is_key(&group.name)).flat_map(|group| &group.limbs);
    let limbs = keys.filter(|&&limb| inputs.is_needed(limb)).count();
    let gigabytes = |limbs: usize| (limbs * set.degree().len() * 8) as f64 / 1e9;
    let flags: Vec<String> = setting.iter().map(|(name, text)| format!("`--{name} {text}`")).collect();
    let label = if flags.is_empty() { "default".to_owned() } else { flags.join(" ") };
    let mut row = format!(
        "| {label} | {} | {} | {} | {:.2} | {:.2} |",
        total.transforms,
        total.relinearisations + total.automorphisms + total.secret_switches,
        total.keys.len(),
        gigabytes(limbs),
        gigabytes(total.key_limbs),
    );
    for name in MACHINES {
        let machine = changed_machine(name, &[MEMORY])?;
        let runtime = Runtime::new(&program, &machine, Keys::Streamed)?;
        let report: Report = runtime.report(&runtime.time(false)?);
        row += &format!(" {:.0} | {} |", report.time_us / 1e3, binding(&report));
    }
    Ok(row)
}
