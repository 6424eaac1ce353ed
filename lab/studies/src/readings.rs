//! Agreement of each reading of the paper with its numbers.

use crate::page::{Files, fill, lines, records_of, text};
use lab_run::RunReport;
use lab_sweep::Record;
use sim::machine::{Busyboard, SourceRelease};

/// Cycles of the paper's 64K program, with a tolerance of 3%.
const CYCLES: f64 = 11305.0;

/// The cost of a machine change in percent according to the paper, and the tolerance in percentage
/// points, in the order of the sweep.
const COSTS: [(f64, f64); 5] = [(16.0, 3.0), (1.7, 1.5), (0.0, 0.5), (0.0, 0.5), (0.0, 0.5)];

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
        let cycles = |report: &&RunReport| report.cycles.expect("a run in time") as f64;
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
        let costs = self.costs.iter().zip(COSTS).map(|(cost, (paper, by))| (cost - paper).abs() <= by);
        std::iter::once((self.cycles / CYCLES - 1.0).abs() <= 0.03).chain(costs).collect()
    }

    fn row(&self) -> String {
        let cells = std::iter::once(format!("{:.0}", self.cycles))
            .chain(self.costs.iter().map(|cost| format!("{cost:+.1}%")))
            .zip(self.agreements())
            .map(|(cell, agrees)| if agrees { format!(" **{cell}** |") } else { format!(" {cell} |") });
        format!("| {} |{}", self.name, cells.collect::<String>())
    }
}

/// The paper's program on the literal machine, with one number of cycles per instruction in the front end.
struct FrontEnd {
    /// In the order of [`CLAIMS`].
    numbers: Vec<f64>,
}

/// Claims on the paper's program: id, quantity, the paper's value and the tolerance.
const CLAIMS: [(&str, &str, f64, f64); 4] = [
    ("C1", "time of the 64K transform, µs", 6.7, 0.335),
    ("C8", "time on (256, 32) over (256, 256)", 3.5, 0.175),
    ("C9", "time on (128, 128) over (256, 128), increase in percent", 16.0, 2.0),
    ("C14", "cycles with an initiation interval of 2, increase in percent", 16.0, 2.0),
];

impl FrontEnd {
    /// From the points of the sweep with this number: (128, 128), the same with an interval of 2, (256, 128),
    /// (256, 32) and (256, 256).
    fn new(points: &[Record]) -> Self {
        let reports: Vec<_> = points.iter().map(|point| point.report.as_ref().expect("a run")).collect();
        let [time, slow, wide, few_banks, many_banks] = reports[..] else { panic!("five designs") };
        let us = |report: &RunReport| report.duration().expect("a run in time").0;
        let cycles = |report: &RunReport| report.duration().expect("a run in time").1 as f64;
        let increase = |more: f64, less: f64| (more / less - 1.0) * 100.0;
        Self {
            numbers: vec![
                us(time),
                us(few_banks) / us(many_banks),
                increase(us(time), us(wide)),
                increase(cycles(slow), cycles(time)),
            ],
        }
    }
}

pub(crate) fn files() -> Files {
    let readings = records_of("configs/sweeps/readings.toml")?;
    let readings: Vec<Reading> = readings.chunks(COSTS.len() + 1).map(Reading::new).collect();
    let front_ends: Vec<FrontEnd> =
        records_of("configs/sweeps/front-end.toml")?.chunks(5).map(FrontEnd::new).collect();
    check_prose(&readings, &front_ends)?;
    let row_of_claim = |(place, (id, quantity, paper, tolerance)): (usize, &(&str, &str, f64, f64))| {
        let cell = |own: &FrontEnd| {
            let number = own.numbers[place];
            let mark = if (number - paper).abs() <= *tolerance { "**" } else { "" };
            format!(" {mark}{number:.2}{mark} |")
        };
        format!("| {id} | {quantity} | {paper} |{}", front_ends.iter().map(cell).collect::<String>())
    };
    let page = fill(
        include_str!("readings.md"),
        &[
            ("cycles", &CYCLES),
            ("paper", &COSTS.map(|(cost, by)| format!(" {cost:+.1}% ± {by} |")).concat()),
            ("readings", &lines(readings.iter().map(Reading::row))),
            ("claims", &lines(CLAIMS.iter().enumerate().map(row_of_claim))),
        ],
    );
    Ok(vec![text("docs/readings.md", page)])
}

/// What the prose of the page says must hold for its numbers.
fn check_prose(readings: &[Reading], front_ends: &[FrontEnd]) -> Result<(), String> {
    let misfit = |own: &FrontEnd, claim: usize| (own.numbers[claim] / CLAIMS[claim].2 - 1.0).abs();
    let [one, two] = front_ends else { return Err("front ends of one and of two cycles".to_owned()) };
    let default = &readings[0];
    let agree = |reading: &Reading| !reading.agreements().contains(&false);
    let shuffles_are_free = |reading: &Reading| reading.agreements()[3..] == [true; 3];
    let statements = [
        (
            (1..CLAIMS.len()).all(|claim| misfit(two, claim) < misfit(one, claim)),
            "two cycles per instruction come nearer to three claims",
        ),
        (
            default.name == "single-port SRAMs, a source is free once it is read, strict busyboard",
            "the first row is the default machine",
        ),
        (
            default.agreements() == [true, true, true, false, false, false],
            "the default machine agrees in cycles, interval and load/store latency",
        ),
        (!readings.iter().any(agree), "no reading agrees with every number"),
        (
            readings.iter().find(|reading| reading.ideal_ports).is_some_and(shuffles_are_free),
            "with ideal ports, shuffle latency costs nothing",
        ),
    ];
    match statements.into_iter().find(|(holds, _)| !holds) {
        Some((_, statement)) => Err(format!("readings.md says that {statement}, which no longer holds")),
        None => Ok(()),
    }
}
