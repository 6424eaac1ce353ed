//! Key switch, product and rotation on four machines beside published systems.

use crate::design::most;
use crate::page::{Fault, Files, fill, lines, repository, text};
use lab_sweep::basis;
use programs::{Generator, Options, ParameterSet, find_dataflow, find_program, generate};
use ring_program::RingProgram;
use runtime::{Keys, Report, Runtime};
use serde::Deserialize;
use sim::Clock;
use sim::{Machine, MachineBase, Override};

const MACHINES: [&str; 4] = ["paper", "large", "fast", "narrow"];

const SETS: [&str; 5] = ["ark", "bts1", "bts2", "bts3", "dprive"];

/// The dataflows among which each row has the fastest. `mp` and `dc` are slower at all sizes of the VDM here
/// (`reports/dataflows.md`).
const DATAFLOWS: [&str; 3] = ["oc", "oct", "ocs"];

const OPERATIONS: [&str; 3] = ["keyswitch", "hmult", "hrot"];

pub(crate) fn machine(name: &str) -> Result<Machine, Fault> {
    changed_machine(name, &[])
}

/// A built-in machine with changes. Pages call the paper's `paper`.
pub(crate) fn changed_machine(name: &str, changes: &[&str]) -> Result<Machine, Fault> {
    let name = if name == "paper" { "rpu-128x128" } else { name };
    let changes = changes.iter().map(|text| Override::parse(text)).collect::<Result<Vec<_>, _>>()?;
    Ok(MachineBase::built_in(name)?.machine(&changes)?)
}

/// The rows of machines, and how to run a program on them.
pub(crate) fn machines(names: &[&str]) -> Result<String, Fault> {
    let row = |name: &&str| {
        let machine = machine(name)?;
        let star = if machine.extrapolated().is_empty() { "" } else { "*" };
        Ok(format!(
            "| {name} | {} | {} | {} | {} | {} | {:.2} | {:.1}{star} |",
            machine.hple.count,
            machine.vdm.banks,
            machine.isa.word_bits,
            machine.vdm.size_mib,
            machine.hbm.gb_per_s,
            Clock::of(&machine).ghz(),
            sim::Area::of(&machine).total(),
        ))
    };
    let rows = names.iter().map(row).collect::<Result<Vec<_>, Fault>>()?;
    let machines = names.iter().map(|name| machine(name)).collect::<Result<Vec<_>, Fault>>()?;
    Ok(format!(
        "{}\n\n{}. Each machine is built in, `paper` as `rpu-128x128`: `rpu run P.fhetch --machine narrow`.",
        lines(rows),
        basis(&machines)
    ))
}

/// The resource that limits the largest part of the time, and that part.
pub(crate) fn binding(report: &Report) -> String {
    most(&report.binds)
}

/// A run, with streamed and resident keys.
fn run(program: &RingProgram, machine: &Machine) -> Result<[Report; 2], Fault> {
    let report = |keys| -> Result<Report, Fault> {
        let runtime = Runtime::new(program, machine, keys)?;
        Ok(runtime.report(&runtime.time(false)?))
    };
    Ok([report(Keys::Streamed)?, report(Keys::Resident)?])
}

/// The program in the dataflow that is fastest on the machine, with its name.
fn fastest(
    program: &Generator,
    set: &ParameterSet,
    machine: &Machine,
) -> Result<(&'static str, [Report; 2]), Fault> {
    let mut best: Option<(&'static str, [Report; 2])> = None;
    let mut failure = None;
    for name in DATAFLOWS {
        let dataflow = find_dataflow(name).expect("a dataflow");
        let program = generate(program, set, &Options::of([("dataflow", dataflow.name)]))?;
        match run(&program, machine) {
            Ok(reports) => {
                if best.as_ref().is_none_or(|(_, [known, _])| reports[0].time_us < known.time_us) {
                    best = Some((dataflow.name, reports));
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    match (best, failure) {
        (Some(best), _) => Ok(best),
        (None, Some(error)) => Err(error),
        (None, None) => unreachable!("each dataflow runs or fails"),
    }
}

pub(crate) fn files() -> Files {
    let sets = SETS.map(section).into_iter().collect::<Result<Vec<_>, _>>()?;
    let page = fill(
        include_str!("operations.md"),
        &[("machines", &machines(&MACHINES)?), ("sets", &lines(sets)), ("published", &published()?)],
    );
    Ok(vec![text("reports/he/operations.md", page)])
}

/// The part of the page on a parameter set.
fn section(name: &str) -> Result<String, Fault> {
    let set = ParameterSet::built_in(name, None).expect("a built-in set")?;
    let mut rows = Vec::new();
    for operation in OPERATIONS {
        let program = find_program(operation).expect("a program");
        for machine_name in MACHINES {
            rows.push(format!(
                "| {operation} | {machine_name} |{}",
                cells(&program, &set, &machine(machine_name)?)
            ));
        }
    }
    Ok(fill(
        include_str!("operations/set.md"),
        &[
            ("name", &name),
            ("n", &set.degree().get()),
            ("q", &set.levels()),
            ("p", &set.p().len()),
            (
                "digits",
                &if set.digits() == 1 { "1 digit".to_owned() } else { format!("{} digits", set.digits()) },
            ),
            ("parameters", &set.parameters()),
            ("rows", &lines(rows)),
        ],
    ))
}

/// The results of a program on a machine.
fn cells(program: &Generator, set: &ParameterSet, machine: &Machine) -> String {
    if set.q().iter().any(|q| q.ilog2() >= machine.isa.word_bits) {
        return " | too wide | | | | | | |".to_owned();
    }
    match fastest(program, set, machine) {
        Ok((dataflow, [streamed, resident])) => {
            let bytes: u64 = streamed.hbm.bytes_by_kind.values().sum();
            format!(
                " {dataflow} | {:.0} | {} | {} | {:.0} | {:.0} | {:.2} | {:.2} |",
                streamed.time_us,
                binding(&streamed),
                streamed.compute.bound_ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
                resident.time_us,
                bytes as f64 / f64::from(1 << 20),
                streamed.energy.kernels / 1000.0,
                streamed.energy.hbm / 1000.0
            )
        }
        Err(error) => {
            eprintln!("{}: {error}", program.name);
            " | too large | | | | | | |".to_owned()
        }
    }
}

/// A row of the published figures, a file written by hand.
#[derive(Deserialize)]
struct Row {
    system: String,
    kind: String,
    operation: String,
    parameters: String,
    time_ms: f64,
    source: String,
}

fn published() -> Result<String, Fault> {
    let row = |row: Result<Row, csv::Error>| {
        let Row { system, kind, operation, parameters, time_ms, source } = row?;
        Ok(format!("| {system} | {kind} | {operation} | {parameters} | {time_ms} | {source} |"))
    };
    let mut reader = csv::Reader::from_path(repository("reports/he/published.csv"))?;
    Ok(lines(reader.deserialize().map(row).collect::<Result<Vec<_>, Fault>>()?))
}
