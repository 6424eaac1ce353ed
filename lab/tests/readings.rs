//! Agreement of each reading of the paper with its numbers.

use lab::run::RunReport;
use lab::sweep::{Definition, Plan, Record, generate, records};
use sim::machine::{Busyboard, SourceRelease};
use std::path::Path;

/// Cycles of the paper's 64K program, with a tolerance of 3%.
const CYCLES: f64 = 11305.0;

/// The cost of a machine change in percent according to the paper, and the tolerance in percentage
/// points, in the order of the sweep.
const COSTS: [(&str, f64, f64); 5] = [
    ("interval 2", 16.0, 3.0),
    ("load/store latency 10", 1.7, 1.5),
    ("shuffle latency 5", 0.0, 0.5),
    ("6", 0.0, 0.5),
    ("7", 0.0, 0.5),
];

struct Reading {
    ideal_ports: bool,
    name: String,
    cycles: f64,
    /// In percent, like [`COSTS`].
    costs: Vec<f64>,
}

impl Reading {
    fn new(points: &[Record]) -> Self {
        let reports: Vec<_> = points.iter().map(|point| point.report.as_ref().expect("a run")).collect();
        let cycles = |report: &&RunReport| report.timing.as_ref().expect("a run in time").cycles as f64;
        let cycles: Vec<_> = reports.iter().map(cycles).collect();
        let machine = &reports[0].machine;
        let ideal_ports = !machine.sram_ports_are_limited();
        let ports = if ideal_ports { "ideal ports" } else { "single-port SRAMs" };
        let release = match machine.frontend.source_release {
            SourceRelease::Read => "a source is free once it is read",
            SourceRelease::Complete => "once its reader completes",
        };
        let busyboard = match machine.frontend.busyboard {
            Busyboard::Strict => "strict busyboard",
            Busyboard::SharedReads => "readers share",
        };
        let name = [ports, release, busyboard].join(", ");
        let costs = cycles[1..].iter().map(|changed| (changed / cycles[0] - 1.0) * 100.0).collect();
        Self { ideal_ports, name, cycles: cycles[0], costs }
    }

    /// Whether the cycles, and then each cost, agree with the paper.
    fn agreements(&self) -> Vec<bool> {
        let costs = self.costs.iter().zip(COSTS).map(|(cost, (_, paper, by))| (cost - paper).abs() <= by);
        std::iter::once((self.cycles / CYCLES - 1.0).abs() <= 0.03).chain(costs).collect()
    }

    fn row(&self) -> String {
        let cells = std::iter::once(format!("{:.0}", self.cycles))
            .chain(self.costs.iter().map(|cost| format!("{cost:+.1}%")))
            .zip(self.agreements())
            .map(|(cell, agrees)| if agrees { format!(" **{cell}** |") } else { format!(" {cell} |") });
        format!("| {} |{}\n", self.name, cells.collect::<String>())
    }
}

fn readings() -> Vec<Reading> {
    let text = include_str!("../../configs/sweeps/readings.toml");
    let plan = Plan::new(&Definition::parse("readings.toml", text).unwrap()).unwrap();
    records(&plan, &generate).chunks(COSTS.len() + 1).map(Reading::new).collect()
}

fn page(readings: &[Reading]) -> String {
    let heads: String = COSTS.iter().map(|(name, ..)| format!(" {name} |")).collect();
    let paper: String = COSTS.iter().map(|(_, cost, by)| format!(" {cost:+.1}% ± {by} |")).collect();
    let rows: String = readings.iter().map(Reading::row).collect();
    format!(
        "<!-- Generated from `configs/sweeps/readings.toml`: do not edit. See docs/generated.md. -->\n\n\
        # Readings of the paper\n\n\
        The table shows the cycles of the paper's 64K program (`--plan kl`) on the (128, 128) machine, and the cost of changes to\n\
        the machine for a program that was scheduled without them. Numbers in bold agree with the paper. The default machine is\n\
        the first row. It agrees in cycles, and in the costs of an initiation interval of 2 and of load/store latency.\n\n\
        No reading agrees with every number. If the SRAMs of the register file have one port, a shuffle whose latency is not a\n\
        multiple of its four beats writes in slots in which other instructions read, and they wait for each other. If the ports\n\
        are ideal and a source is released when it is read, shuffle latency costs nothing, as in the paper; but then the program\n\
        takes fewer cycles than the paper reports, and has enough slack to hide a multiplier at half speed. A program that was\n\
        chosen together with its reading comes closer in other numbers: see `reports/paper/claims.md`.\n\n\
        | reading | cycles |{heads}\n|---|--:|{}\n| the paper | {CYCLES:.0} ± 3% |{paper}\n{rows}\n\
        The runs are those of `rpu sweep configs/sweeps/readings.toml`.\n",
        "--:|".repeat(COSTS.len()),
    )
}

#[test]
fn the_page_is_fresh_and_says_what_holds() {
    let readings = readings();
    let page = page(&readings);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/readings.md");
    bless::fresh(path, page);

    let default = &readings[0];
    assert_eq!(default.name, "single-port SRAMs, a source is free once it is read, strict busyboard");
    assert!(!default.ideal_ports);
    assert_eq!(default.agreements(), [true, true, true, false, false, false]);
    assert!(readings.iter().all(|reading| reading.agreements().contains(&false)), "one meets all: say so");
    let ideal = readings.iter().find(|reading| reading.ideal_ports).expect("ideal ports");
    assert_eq!(ideal.agreements()[3..], [true; 3]);
}
