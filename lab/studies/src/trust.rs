//! What the numbers rest on: `reports/trust.md`.

use crate::committed::Table;
use crate::page::{Fault, Files, fill, lines, repository, text};
use lab_run::RunReport;
use lab_run::page_parts::part_label;
use lab_sweep::{Definition, Plan, generate, records};
use serde::Deserialize;
use sim::{Area, Clock};

/// The program of all rows.
const TASK: &str = "kernel = 'keyswitch'\nset = 'ark'\nkeys = 'seeded'\n";

/// The machines of the table of powers: a name, and what differs from the paper's machine.
const MACHINES: [(&str, &[&str]); 4] = [
    ("the paper's, words of 64 bits", &["isa.word_bits = 64"]),
    (
        "256 HPLEs, 16 MiB",
        &["isa.word_bits = 64", "hple.count = 256", "vdm.banks = 256", "vdm.size_mib = 16"],
    ),
    (
        "1,024 HPLEs, 64 MiB, 1 TB/s",
        &[
            "isa.word_bits = 64",
            "isa.vector_length = 2048",
            "hple.count = 1024",
            "vdm.banks = 1024",
            "vdm.size_mib = 64",
            "hbm.gb_per_s = 1024",
            "generator.words_per_cycle = 64",
        ],
    ),
    (
        "4,096 HPLEs, 512 MiB, 4 TB/s",
        &[
            "isa.word_bits = 64",
            "isa.vector_length = 4096",
            "hple.count = 4096",
            "vdm.banks = 4096",
            "vdm.size_mib = 512",
            "frontend.width = 2",
            "hbm.gb_per_s = 4096",
            "generator.words_per_cycle = 256",
        ],
    ),
];

/// Chips of other papers: W for each mm2, and where the figure stands.
const PUBLISHED: [(&str, f64, &str); 5] = [
    ("ARK, 7 nm", 0.67, "its table, as a public simulator quotes it: a sum of components at full activity"),
    ("CraterLake, 14/12 nm", 0.68, "quoted: a sum of components at full activity"),
    ("SHARP, 7 nm", 0.53, "quoted by notes on a later paper: the mean of a program"),
    ("BTS, 7 nm", 0.44, "remembered"),
    ("the RPU's paper, 12 nm", 0.36, "printed: 7.44 W over 20.5 mm2, the mean of a transform"),
];

/// Assumptions to move: a name, the keys with their other value, and its origin.
const ASSUMPTIONS: [(&str, &str, &str); 10] = [
    ("a launch of 100 cycles, not 16", "launch.cycles = 100", "assumed"),
    ("a cycle more of the VDM, for the choice of a page", "vdm.access_cycles = 3", "assumed"),
    ("a latency of 400 ns, not 120", "hbm.latency_ns = 400", "Ramulator, and an assumed way"),
    ("0.8 of the bandwidth, not 0.9", "hbm.efficiency = 0.8", "printed for another device; Ramulator"),
    ("a turn of 100 ns, not 30", "hbm.turn_ns = 100", "Ramulator"),
    (
        "wires of 0.12 pJ for a bit and mm, not 0.07",
        "technology.wires.pj_per_bit_mm = 0.12",
        "projected, quoted",
    ),
    (
        "clock tree and wires inside of parts of 60%, not 30%",
        "technology.wires.layout_factor = 1.6",
        "assumed",
    ),
    ("leakage of 40 mW for a mm2, not 15", "technology.power.leakage_mw_per_mm2 = 40", "an A100, by area"),
    ("idle LAW engines at 30% of a multiplication, not 10%", "technology.power.idle_share = 0.3", "assumed"),
    ("the vector crossbar by the paper's claim", "technology.vbar_area = 'claim'", "printed: \"minimal\""),
];

/// The run of the program on a machine, in the technology as built.
fn run(changes: &[&str], more: &[&str]) -> Result<RunReport, Fault> {
    // A key is quoted, so that `technology` may be a name beside its own keys.
    let quoted = |line: &&str| match line.split_once(" = ") {
        Some((key, value)) => format!("'{key}' = {value}\n"),
        None => String::new(),
    };
    let settings: String =
        ["technology = 'gf12-built'"].iter().chain(changes).chain(more).map(quoted).collect();
    let definition =
        Definition::parse("trust.toml", &format!("machine = 'rpu-128x128'\n{TASK}[[list]]\n{settings}"))?;
    let record = records(&Plan::new(&definition)?, &generate).remove(0);
    Ok(record.report.ok_or_else(|| format!("{changes:?}: {:?}", record.error))?)
}

/// A claim of the paper, in `reports/paper/claims.json`.
#[derive(Deserialize)]
struct Claims {
    tally: Tally,
    claims: Vec<Claim>,
}

#[derive(Deserialize)]
struct Tally {
    claims: u32,
    agree: u32,
    numbers_predicted: u32,
    numbers_agree_predicted: u32,
}

#[derive(Deserialize)]
struct Claim {
    id: String,
    parts: Vec<Number>,
}

#[derive(Deserialize)]
struct Number {
    quantity: String,
    /// Such as `+0.7%`; other texts for numbers without a ratio.
    deviation: String,
}

impl Claims {
    /// The least and the largest deviation of the numbers that are wanted, in percent.
    fn deviations(&self, wanted: impl Fn(&str, &str) -> bool) -> Result<[f64; 2], Fault> {
        let parts = self.claims.iter().flat_map(|claim| claim.parts.iter().map(|part| (&claim.id, part)));
        let these = parts.filter(|(id, part)| wanted(id, &part.quantity));
        let percents = these.filter_map(|(_, part)| part.deviation.strip_suffix('%')?.parse::<f64>().ok());
        let percents: Vec<f64> = percents.collect();
        let fold = |of: fn(f64, f64) -> f64| percents.iter().copied().reduce(of);
        match (fold(f64::min), fold(f64::max)) {
            (Some(least), Some(most)) => Ok([least, most]),
            _ => Err("claims with deviations".into()),
        }
    }
}

/// A range of ratios, or one of them.
fn times([least, most]: [f64; 2]) -> String {
    if least == most { format!("{least}") } else { format!("{least} to {most}") }
}

/// A range of deviations, in percent.
fn percent([least, most]: [f64; 2]) -> String {
    if least == most { format!("{least:+.1}%") } else { format!("{least:+.1}% to {most:+.1}%") }
}

/// The errors of the first table, from the pages of the studies that found them.
fn errors(page: &str) -> Result<String, Fault> {
    let claims: Claims =
        serde_json::from_str(&std::fs::read_to_string(repository("reports/paper/claims.json"))?)?;
    let heracles = |tolerance: &str| {
        Table::read("outside/README.md", "HERACLES' assembler: cycles", &["ratio", "tolerance"])?
            .rows("tolerance", |own| own == tolerance)?
            .range("ratio")
    };
    let rotations = Table::read(
        "outside/README.md",
        "FHE_Accelerator_Sim: rotations over the number of digits",
        &["ratio"],
    )?;
    // The model over what others print: rows of a section whose first cell passes.
    let printed = |heading: &str, first: &str, passes: &dyn Fn(&str) -> bool| {
        let all = Table::read("memory.md", heading, &[first, "model over printed"])?;
        all.rows(first, passes)?.range("model over printed")
    };
    let every = &|_: &str| true;
    let synthesised = |modules: &[&str]| {
        let sizes = Table::read("synthesis.md", "Sizes", &["module", "off by"])?;
        sizes.rows("module", |own| modules.contains(&own))?.range("off by")
    };
    let columns = ["component", "structural, mm²", "fitted, mm²"];
    let vbar = Table::read("synthesis.md", "Fitted components in gates", &columns)?;
    let vbar = vbar.rows("component", |own| own == "vbar")?;
    let ([structural, _], [fitted, _]) = (vbar.range("structural, mm²")?, vbar.range("fitted, mm²")?);
    let growth = Table::read("memory.md", "Energy of an access to SRAM", &["bytes", "range"])?
        .rows("bytes", |own| own == "32 KiB to 4 MiB")?;
    let [turns, short_turns] = ["error from 256 KiB", "from 64 KiB"]
        .map(|column| Table::read("memory.md", "Bandwidth of the off-chip memory", &[column])?.range(column));
    let is_area =
        |_: &str, quantity: &str| quantity.starts_with("area of") || quantity.starts_with("total area");
    Ok(fill(
        page,
        &[
            ("claims", &claims.tally.claims),
            ("agree", &claims.tally.agree),
            ("predicted_agree", &claims.tally.numbers_agree_predicted),
            ("predicted", &claims.tally.numbers_predicted),
            ("bulk", &times(heracles("0.1")?)),
            ("operations", &times(heracles("0.35")?)),
            ("single", &times(heracles("none")?)),
            ("rotations", &times(rotations.range("ratio")?)),
            ("areas", &percent(claims.deviations(is_area)?)),
            ("sram", &times(printed("Area of SRAM", "memory", every)?)),
            ("multiplier", &percent(synthesised(&["montgomery", "adder"])?)),
            (
                "engines",
                &times(printed("A lane that multiplies", "unit", &|unit| !unit.starts_with("FAST"))?),
            ),
            ("crossbars", &percent(synthesised(&["crossbar", "permuter"])?)),
            ("vbar", &format!("{:.0}", structural / fitted)),
            ("clock", &percent(Table::read("memory.md", "Clock", &["bank", "off by"])?.range("off by")?)),
            ("energy", &percent(claims.deviations(|id, of| (id, of) == ("C12", "energy"))?)),
            ("growth", &growth.only("range")?),
            ("turns", &turns?[1]),
            ("short_turns", &short_turns?[1]),
            (
                "bits",
                &times(printed("Energy of a transferred bit", "what", &|what| !what.contains("activation"))?),
            ),
            ("phy", &times(printed("Area of the interface", "what", every)?)),
            (
                "background",
                &times(printed("Power without transfers", "what", &|what| what.starts_with("HBM2"))?),
            ),
            (
                "leakage",
                &times(printed("Power without transfers", "what", &|what| {
                    what.contains("without its memory") || what.starts_with("RPU")
                })?),
            ),
        ],
    ))
}

pub(crate) fn files() -> Files {
    let mut powers = Vec::new();
    for (name, changes) in MACHINES {
        let report = run(changes, &[])?;
        let watts = report.power_rpu_w.ok_or("a run in time")?;
        let mark = if report.beyond_reticle { ", beyond a reticle" } else { "" };
        powers.push(format!(
            "| {name}{mark} | {:.2} ({}) | {:.1} | {watts:.1} | {:.2} |",
            Clock::of(&report.machine).ghz(),
            Clock::of(&report.machine).binds(),
            report.area_rpu_mm2,
            watts / report.area_rpu_mm2,
        ));
    }
    let published = PUBLISHED.map(|(name, density, source)| format!("| {name} | {density} | {source} |"));
    let (name, large) = MACHINES[2];
    let before = run(large, &[])?;
    let parts = before.energy_parts_uj();
    let sum: f64 = parts.iter().map(|(_, uj)| uj).sum();
    let parts = parts
        .iter()
        .map(|(part, uj)| format!("| {} | {:.1} | {:.1}% |", part_label(part), uj / 1e3, 100.0 * uj / sum));
    let parts: Vec<String> = parts.chain([format!("| sum | {:.1} | 100% |", sum / 1e3)]).collect();
    let mut moved = Vec::new();
    for (what, change, origin) in ASSUMPTIONS {
        let after = run(large, &[change])?;
        let percent = |of: fn(&RunReport) -> f64| 100.0 * (of(&after) / of(&before) - 1.0);
        moved.push(format!(
            "| {what} | {origin} | {:+.1}% | {:+.1}% | {:+.1}% |",
            percent(|report| report.time_us.unwrap_or(f64::NAN)),
            percent(|report| report.energy_uj),
            percent(|report| report.area_rpu_mm2),
        ));
    }
    let page = fill(
        &errors(include_str!("trust.md"))?,
        &[
            ("powers", &lines(powers)),
            ("published", &lines(published)),
            ("machine", &name),
            ("parts", &lines(parts)),
            ("moved", &lines(moved)),
            ("reticle", &Area::RETICLE_MM2),
        ],
    );
    Ok(vec![text("reports/trust.md", page)])
}
