//! Whole applications on machines: counts, keys, times, and what binds; and their results on data.

use crate::operations::{binding, changed_machine, machines};
use crate::page::{Fault, Files, fill, lines, text};
use programs::{
    Definition, Generated, Options, ParameterSet, Stage, find_program, generate, generate_defined,
};
use rayon::prelude::*;
use ring_program::Inputs;
use runtime::{Keys, Report, Runtime};
use sim::Machine;
use std::collections::BTreeMap;
use test_client::{digits, logistic_regression};

/// A program of a set, and the machines that run it.
struct Application {
    name: &'static str,
    program: &'static str,
    set: &'static str,
    /// Options with values.
    options: &'static [&'static str],
    machines: &'static [&'static str],
}

const MACHINES: [&str; 3] = ["paper", "fast", "narrow"];

/// The size of the off-chip memory: keys and plaintexts of a bootstrap at n = 131,072 need it.
pub(crate) const OFF_CHIP: &str = "hbm.stacks=16";

const APPLICATIONS: [Application; 6] = [
    Application {
        name: "digits",
        program: "digits",
        set: "digits",
        options: &[],
        machines: &["paper", "narrow"],
    },
    Application {
        name: "ResNet-20",
        program: "resnet20",
        set: "resnet20",
        options: &[],
        machines: &["paper", "narrow"],
    },
    Application {
        name: "training",
        program: "logistic-regression",
        set: "lattigo-n16qp1546",
        options: &["iterations=10"],
        machines: &["paper", "narrow"],
    },
    Application {
        name: "HELR",
        program: "helr",
        set: "cheddar-40",
        options: &[],
        machines: &["paper", "narrow"],
    },
    dprive("DPRIVE, 128 bits", "dprive-n17-128", &["paper", "fast"]),
    dprive("DPRIVE, 64 bits", "dprive-n17-64", &["narrow"]),
];

const fn dprive(name: &'static str, set: &'static str, machines: &'static [&'static str]) -> Application {
    let options = &["iterations=10", "momentum=nesterov", "sigmoid=chebyshev", "slots=128"];
    Application { name, program: "logistic-regression", set, options, machines }
}

pub(crate) fn files() -> Files {
    let rows = APPLICATIONS.par_iter().map(rows).collect::<Result<Vec<_>, Fault>>()?;
    let column =
        |index: usize| lines(rows.iter().map(|rows| rows[index].clone()).filter(|rows| !rows.is_empty()));
    let page = fill(
        include_str!("applications.md"),
        &[
            ("sets", &column(0)),
            ("stages", &column(1)),
            ("costs", &column(3)),
            ("too_large", &column(4)),
            ("machines", &machines(&MACHINES)?),
            ("times", &column(2)),
            ("digits", &folded(&digits::demonstrate(Machine::rpu_128x128())?)),
            ("training", &folded(&on_data()?)),
        ],
    );
    Ok(vec![text("reports/he/applications.md", page)])
}

/// Lines that fit a page: long ones go on behind a comma.
fn folded(text: &str) -> String {
    const LENGTH: usize = 108;
    let fold = |line: &str| {
        let mut folded = String::new();
        let mut rest = line.to_owned();
        while let Some(end) = rest.get(..LENGTH).and_then(|start| start.rfind(", ")) {
            folded += &format!("{},\n", &rest[..end]);
            rest = format!("      {}", &rest[end + 2..]);
        }
        folded + &rest
    };
    lines(text.trim_end().lines().map(fold))
}

/// The rows of an application: its set, its counts, its times, its costs, and notes on machines that are too
/// small.
fn rows(application: &Application) -> Result<[String; 5], Fault> {
    let name = application.name;
    let set = ParameterSet::built_in(application.set, None).expect("a built-in set")?;
    let program = find_program(application.program).expect("a program");
    let options = Options::of_assignments(application.options.iter().map(|&text| text.to_owned()))?;
    let options = program.with_defaults(&options);
    let generated = generate_defined(&program, &set, &options)?;
    let of_set = format!(
        "| {name} | `{}` | `{}` | {} | {} | {} | {} |",
        application.program,
        set.name(),
        set.degree().get(),
        set.levels(),
        set.parameters().log2_qp,
        set.security(),
    );
    let total = generated.ledger.total();
    let stages = generated.ledger.stages().iter().chain([&total]);
    let inputs = Inputs::new(&generated.program);
    let stages = stages.map(|stage| stage_row(stage, (&generated, &inputs), set.degree().get()));
    let stages = lines(std::iter::once(format!("| **{name}** |{}", " |".repeat(9))).chain(stages));
    drop(inputs);
    let time = |machine_name: &&str| -> Result<[String; 3], Fault> {
        let machine = changed_machine(machine_name, &[OFF_CHIP])?;
        let counts = (total.transforms, options.count("iterations"));
        let row = |cells: &str| format!("| {name} | {machine_name} | {cells} |");
        Ok(match cells(&generated, &set, &machine, counts) {
            Ok(cells) => [row(&cells[0]), row(&cells[1]), String::new()],
            // A memory may be too small.
            Err(error) => [
                row("| too small | | | | |"),
                String::new(),
                format!("`{machine_name}` is too small for {name}: {error}.\n"),
            ],
        })
    };
    let times = application.machines.par_iter().map(time).collect::<Result<Vec<_>, Fault>>()?;
    let [times, costs, too_large] = [0, 1, 2]
        .map(|index| lines(times.iter().map(|rows| rows[index].clone()).filter(|row| !row.is_empty())));
    Ok([of_set, stages, times, costs, too_large])
}

/// The training on data.
fn on_data() -> Result<String, Fault> {
    let set = ParameterSet::built_in("lattigo-n16qp1546", Some(16384)).expect("a built-in set")?;
    let options = Options::of([("iterations", "10")]);
    Ok(logistic_regression::demonstrate(set, &options, Machine::rpu_128x128())?)
}

/// The counts of a stage, and the bytes of its keys in words of 8 or 16 bytes, each key once.
fn stage_row(stage: &Stage, (generated, inputs): (&Generated, &Inputs<'_>), n: u64) -> String {
    let groups: BTreeMap<&str, &ring_program::Group> =
        generated.program.inputs().iter().map(|group| (group.name.as_str(), group)).collect();
    let mut bytes = 0;
    for input in &generated.inputs {
        if let Definition::Key { key, .. } = input.definition
            && stage.keys.contains(&key)
        {
            let limbs = groups[input.name.as_str()].limbs.iter().zip(&input.moduli);
            let needed = limbs.filter(|(limb, _)| inputs.is_needed(**limb));
            bytes += needed.map(|(_, modulus)| n * if modulus.ilog2() < 64 { 8 } else { 16 }).sum::<u64>();
        }
    }
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} |",
        stage.name,
        stage.level,
        stage.transforms,
        stage.products,
        stage.plaintext_products,
        stage.relinearisations,
        stage.automorphisms,
        stage.secret_switches,
        stage.keys.len(),
        bytes as f64 / f64::from(1 << 20),
    )
}

/// The time of transforms among the kernels of a run, and their number.
pub(crate) fn transforms(report: &Report) -> (f64, u64) {
    let costs = report.costs.iter().filter(|(name, _)| name.contains("ntt"));
    costs.fold((0.0, 0), |(time, count), (_, cost)| (time + cost.time_us, count + cost.operations))
}

fn report(program: &ring_program::RingProgram, machine: &Machine) -> Result<Report, Fault> {
    let runtime = Runtime::new(program, machine, Keys::Streamed)?;
    Ok(runtime.report(&runtime.time(false)?))
}

/// The time of a transform of one limb, from a rescale.
pub(crate) fn transform_us(set: &ParameterSet, machine: &Machine) -> Result<f64, Fault> {
    let program = generate(&find_program("rescale").expect("a program"), set, &Options::default())?;
    let (time, count) = transforms(&report(&program, machine)?);
    Ok(time / count as f64)
}

/// The times on a machine beside the prediction, which is all transforms, one after the other; and the costs.
fn cells(
    generated: &Generated,
    set: &ParameterSet,
    machine: &Machine,
    (count, iterations): (usize, Option<usize>),
) -> Result<[String; 2], Fault> {
    let transform = transform_us(set, machine)?;
    let report = report(&generated.program, machine)?;
    let (of_transforms, _) = transforms(&report);
    let kernels: f64 = report.costs.values().map(|cost| cost.time_us).sum();
    let Report { time_us, energy, hbm, .. } = &report;
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let each = iterations.map(|count| format!("{:.2}", time_us / 1e3 / count as f64)).unwrap_or_default();
    let times = format!(
        "{transform:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {each}",
        count as f64 * transform / 1e3,
        of_transforms / 1e3,
        (kernels - of_transforms) / 1e3,
        hbm.busy * time_us / 1e3,
        time_us / 1e3,
    );
    let costs = format!(
        "{} | {:.1} | {:.1} | {:.1} | {}",
        generated.program.length(),
        energy.total() / 1e3,
        gib(hbm.bytes_by_kind.values().sum()),
        gib(hbm.needed_bytes),
        binding(&report),
    );
    Ok([times, costs])
}
