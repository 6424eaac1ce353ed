//! Key switch, product and rotation on four machines beside published systems, and a recorded bootstrap on
//! three of them.
//!
//! ```sh
//! cargo run -p lab-sweep --example comparison                                  # reports/he/operations.md
//! cargo run -p lab-sweep --example comparison -- boot_sparse_n512.fhetch.xz    # and reports/he/bootstrap.md
//! ```

mod published;

use programs::{Generator, Options, ParameterSet, find_dataflow, find_program, generate};
use ring_program::{Interface, RingProgram, read_file};
use runtime::report::HBM_PJ_PER_BIT;
use runtime::{Keys, Report, Runtime};
use sim::{Machine, MachineBase, Override};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Machines: names, and changes to the paper's.
const MACHINES: [(&str, &[&str]); 4] = [
    ("paper", &[]),
    ("large", &["vdm.size_mib=32"]),
    ("fast", &["vdm.size_mib=32", "hple.count=256", "vdm.banks=256", "hbm.gb_per_s=1024"]),
    (
        "narrow",
        &["isa.word_bits=64", "vdm.size_mib=16", "hple.count=256", "vdm.banks=256", "hbm.gb_per_s=2048"],
    ),
];

/// The machines of the bootstrap.
const OF_BOOTSTRAP: [&str; 3] = ["paper", "fast", "narrow"];

const SETS: [&str; 5] = ["ark", "bts1", "bts2", "bts3", "dprive"];

/// The dataflows among which each row has the fastest. `mp` and `dc` are slower at all sizes of the VDM here
/// (`reports/dataflows.md`).
const DATAFLOWS: [&str; 3] = ["oc", "oct", "ocs"];

const OPERATIONS: [&str; 3] = ["keyswitch", "hmult", "hrot"];

fn machine(name: &str) -> Result<Machine, Box<dyn Error>> {
    let (_, changes) = MACHINES.iter().find(|(known, _)| *known == name).expect("a machine of the table");
    let changes = changes.iter().map(|text| Override::parse(text)).collect::<Result<Vec<_>, _>>()?;
    Ok(MachineBase::built_in("rpu-128x128")?.machine(&changes)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reports/he");
    lab_run::files::write(&folder.join("operations.md"), operations(&folder)?.as_bytes())?;
    if let Some(trace) = std::env::args_os().nth(1) {
        lab_run::files::write(&folder.join("bootstrap.md"), bootstrap(Path::new(&trace))?.as_bytes())?;
    }
    Ok(())
}

/// The machines as a table.
fn machines(names: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut table = String::from(
        "| machine | HPLEs | words, bits | VDM, MiB | HBM, GB/s | GHz | mm2 |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for name in names {
        let machine = machine(name)?;
        let star = if machine.extrapolated().is_empty() { "" } else { "*" };
        writeln!(
            table,
            "| {name} | {} | {} | {} | {} | {:.2} | {:.1}{star} |",
            machine.hple.count,
            machine.isa.word_bits,
            machine.vdm.size_mib,
            machine.hbm.gb_per_s,
            machine.frequency_ghz(),
            sim::Area::of(&machine).total(),
        )?;
    }
    Ok(table)
}

/// The resource that limits the largest part of the time, and that part.
fn binding(report: &Report) -> String {
    let most = report.binds.iter().max_by(|a, b| a.1.total_cmp(b.1));
    most.map_or_else(String::new, |(resource, share)| format!("{resource} {:.0}%", 100.0 * share))
}

/// A run, with streamed and resident keys.
fn run(program: &RingProgram, machine: &Machine) -> Result<[Report; 2], Box<dyn Error>> {
    let runtime = Runtime::new(program, machine)?;
    let (streamed, resident) = (runtime.time(Keys::Streamed, false)?, runtime.time(Keys::Resident, false)?);
    Ok([runtime.report(&streamed), runtime.report(&resident)])
}

/// The program in the dataflow that is fastest on the machine, with its name.
fn fastest(
    program: &Generator,
    set: &ParameterSet,
    machine: &Machine,
) -> Result<(&'static str, [Report; 2]), Box<dyn Error>> {
    let mut best: Option<(&'static str, [Report; 2])> = None;
    let mut failure = None;
    for name in DATAFLOWS {
        let dataflow = find_dataflow(name).expect("a dataflow");
        let program = generate(program, set, &Options { dataflow, ..Options::default() })?;
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

fn operations(folder: &Path) -> Result<String, Box<dyn Error>> {
    let names: Vec<&str> = MACHINES.iter().map(|(name, _)| *name).collect();
    let mut page = format!(
        "# Key switch, product and rotation\n\n\
        <!-- Generated: `cargo run -p lab-sweep --example comparison`. -->\n\n\
        Our rows are **simulated**: programs of `rpu gen program`, timed with their off-chip traffic. Areas and energies\n\
        are modelled; a star marks an extrapolated area. The energy of the HBM is that of its accesses, {HBM_PJ_PER_BIT} pJ a bit,\n\
        an assumption. Rows of others are **published**; the column says whether they were measured or simulated. A product\n\
        includes its rescale, merged with the mod-down. The dataflow is the fastest of `oc`, `oct` and `ocs` with streamed\n\
        keys; `keys on chip` is the same program with keys in a memory of their own, which the area leaves out. `binds` is the\n\
        resource that limits the largest part of the time; `hbm` if no kernel runs.\n\n{}",
        machines(&names)?
    );
    for set in SETS {
        write_set(&mut page, set)?;
    }
    page += "\n## Published\n\nNot the same computations: parameters and security differ. All ASIC figures are simulated.\n\n";
    page += &published::table(&folder.join("published.csv"))?;
    Ok(page)
}

fn write_set(page: &mut String, name: &str) -> Result<(), Box<dyn Error>> {
    let set = ParameterSet::built_in(name, None).expect("a built-in set")?;
    writeln!(
        page,
        "\n## `{name}`: n = {}, {} + {} moduli, {} digits\n",
        set.degree().get(),
        set.levels(),
        set.p().len(),
        set.digits()
    )?;
    writeln!(
        page,
        "| operation | machine | dataflow | time, us | binds | keys on chip, us | HBM, MiB | kernels, mJ | HBM, mJ |"
    )?;
    writeln!(page, "|---|---|---|--:|---|--:|--:|--:|--:|")?;
    for operation in OPERATIONS {
        let program = find_program(operation).expect("a program");
        for (machine_name, _) in MACHINES {
            let machine = machine(machine_name)?;
            if set.q().iter().any(|q| q.ilog2() >= machine.isa.word_bits) {
                writeln!(page, "| {operation} | {machine_name} | | moduli exceed the words | | | | | |")?;
                continue;
            }
            match fastest(&program, &set, &machine) {
                Ok((dataflow, [streamed, resident])) => {
                    let bytes: u64 = streamed.hbm.bytes_by_kind.values().sum();
                    writeln!(
                        page,
                        "| {operation} | {machine_name} | {dataflow} | {:.0} | {} | {:.0} | {:.0} | {:.2} | {:.2} |",
                        streamed.time_us,
                        binding(&streamed),
                        resident.time_us,
                        bytes as f64 / f64::from(1 << 20),
                        streamed.energy_uj / 1000.0,
                        streamed.hbm.energy_uj / 1000.0
                    )?;
                }
                Err(error) => {
                    eprintln!("{name} {operation} {machine_name}: {error}");
                    writeln!(page, "| {operation} | {machine_name} | | does not fit the VDM | | | | | |")?;
                }
            }
        }
    }
    Ok(())
}

fn bootstrap(trace: &Path) -> Result<String, Box<dyn Error>> {
    let program = read_file(trace, Interface::Degree(512))?;
    let mut page = format!(
        "# A recorded bootstrap\n\n\
        <!-- Generated: `cargo run -p lab-sweep --example comparison -- boot_sparse_n512.fhetch.xz`. -->\n\n\
        `boot_sparse_n512` is a CKKS bootstrap of OpenFHE at n = 512, recorded limb by limb: {} operations. The parameters are\n\
        test parameters, not secure. Times are simulated. On data, the runtime's results equal the recorded digests\n\
        (`RING_PROGRAM_TRACES=DIR cargo test -p runtime --test all traces`). Areas and energies are modelled; a star marks\n\
        an extrapolated area. The energy of the HBM is that of its accesses, {HBM_PJ_PER_BIT} pJ a bit, an assumption.\n\n{}\n\
        | machine | time, us | lifted | HBM, MiB | HBM is busy | kernels, mJ | HBM, mJ |\n|---|--:|--:|--:|--:|--:|--:|\n",
        program.operations().len(),
        machines(&OF_BOOTSTRAP)?
    );
    let mut shares = String::new();
    for name in OF_BOOTSTRAP {
        let [report, _] = run(&program, &machine(name)?)?;
        let bytes: u64 = report.hbm.bytes_by_kind.values().sum();
        writeln!(
            page,
            "| {name} | {:.0} | {:.1}% | {:.0} | {:.0}% | {:.2} | {:.2} |",
            report.time_us,
            100.0 * report.lifted_operations as f64 / report.operations as f64,
            bytes as f64 / f64::from(1 << 20),
            100.0 * report.hbm.busy,
            report.energy_uj / 1000.0,
            report.hbm.energy_uj / 1000.0
        )?;
        for (resource, share) in &report.binds {
            writeln!(shares, "| {name} | {resource} | {:.1}% |", 100.0 * share)?;
        }
    }
    page += "\n## What binds\n\nThe share of the time that each resource limits; `latency` stands for kernels whose pipes are all idle for half\nof their cycles or longer, `hbm` for the time without a kernel.\n\n| machine | resource | share |\n|---|---|--:|\n";
    Ok(page + &shares)
}
