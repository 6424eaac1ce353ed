//! Which RPU multiplies ciphertexts fastest within 30 mm2 and 10 W, by the width of its primes: `reports/budget.md`.

use crate::page::{Fault, Files, fill, lines, records_of, text};
use lab_run::RunReport;

/// The limits of the RPU without its off-chip memory.
const AREA_MM2: f64 = 30.0;
const POWER_W: f64 = 10.0;

const WORDS: [u32; 4] = [28, 36, 54, 60];
const BANDWIDTHS: [f64; 2] = [512.0, 1000.0];

/// A product with its rescale on one machine.
struct Design {
    word_bits: u32,
    gb_per_s: f64,
    time_us: f64,
    /// The chip, without and with the interface of the off-chip memory.
    area_mm2: [f64; 2],
    /// Without and with the off-chip memory and its interface.
    power_w: [f64; 2],
    /// The machine, in words.
    machine: String,
    /// The resource that limits most of the time, and its share.
    binds: (String, f64),
}

impl Design {
    fn of(report: &RunReport, dataflow: &str) -> Self {
        let machine = &report.machine;
        let time_us = report.time_us.expect("a run in time");
        let kernels = report.energy_kernels_uj + report.energy_static_uj;
        let binds = report.binds.iter().flatten().max_by(|a, b| a.1.total_cmp(b.1));
        let (name, share) = binds.expect("something limits a ring program");
        Self {
            word_bits: machine.isa.word_bits,
            gb_per_s: machine.hbm.gb_per_s,
            time_us,
            area_mm2: [report.area_mm2 - report.area_breakdown_mm2.hbm_phy, report.area_mm2],
            power_w: [kernels, report.energy_uj].map(|uj| uj / time_us),
            machine: format!(
                "{} | {} | {} | {dataflow}",
                machine.hple.count, machine.vdm.banks, machine.vdm.size_mib
            ),
            binds: (name.clone(), *share),
        }
    }

    fn fits(&self, whole: usize) -> bool {
        self.area_mm2[whole] <= AREA_MM2 && self.power_w[whole] <= POWER_W
    }

    fn row(&self) -> String {
        let Self { word_bits, gb_per_s, time_us, area_mm2, power_w, machine, binds } = self;
        format!(
            "| {word_bits} | {gb_per_s} | {machine} | {time_us:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {} {:.0}% |",
            area_mm2[0],
            area_mm2[1],
            power_w[0],
            power_w[1],
            binds.0,
            100.0 * binds.1
        )
    }
}

pub(crate) fn files() -> Files {
    let records = records_of("configs/sweeps/budget.toml")?;
    let designs: Vec<Design> = records
        .iter()
        .filter_map(|record| {
            let report = record.report.as_ref()?;
            let dataflow = record.point.get("dataflow").and_then(|value| value.as_str()).unwrap_or_default();
            Some(Design::of(report, dataflow))
        })
        .collect();
    let fastest = |word_bits: u32, gb_per_s: f64| {
        let these =
            designs.iter().filter(|design| (design.word_bits, design.gb_per_s) == (word_bits, gb_per_s));
        these.filter(|design| design.fits(0)).min_by(|a, b| a.time_us.total_cmp(&b.time_us))
    };
    let pairs = BANDWIDTHS.iter().flat_map(|&gb_per_s| WORDS.map(|word_bits| (word_bits, gb_per_s)));
    let best: Vec<&Design> = pairs.filter_map(|(word_bits, gb_per_s)| fastest(word_bits, gb_per_s)).collect();
    let answer = |gb_per_s: f64| -> Result<String, Fault> {
        let mut these: Vec<&&Design> = best.iter().filter(|design| design.gb_per_s == gb_per_s).collect();
        these.sort_by(|a, b| a.time_us.total_cmp(&b.time_us));
        let [first, second, ..] = these[..] else {
            return Err("two widths with a design within the limits".into());
        };
        Ok(format!(
            "**{} bits, in {:.1} us**, then {} bits, in {:.1} us",
            first.word_bits, first.time_us, second.word_bits, second.time_us
        ))
    };
    let whole = designs.iter().filter(|design| design.fits(1)).count();
    let page = fill(
        include_str!("budget.md"),
        &[
            ("points", &records.len()),
            ("failed", &(records.len() - designs.len())),
            ("area", &AREA_MM2),
            ("power", &POWER_W),
            ("first", &answer(BANDWIDTHS[0])?),
            ("second", &answer(BANDWIDTHS[1])?),
            ("fastest", &lines(best.iter().map(|design| design.row()))),
            ("whole", &whole),
        ],
    );
    Ok(vec![text("reports/budget.md", page)])
}
