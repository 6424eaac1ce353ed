//! SRAM: energy, area, ports and time.

use super::{Printed, beside, growth, line, range, table, technology, vdm_access_pj, with_vdm};
use crate::page::{Fault, fill, lines};
use serde::Deserialize;
use sim::{Area, Clock, Machine};
use std::collections::BTreeSet;

/// A macro by CACTI.
#[derive(Clone, Deserialize)]
struct Macro {
    node_nm: u32,
    cell: String,
    temperature_k: u32,
    objective: String,
    ports: String,
    width_bits: u32,
    bytes: u64,
    access_ns: f64,
    read_pj: f64,
    write_pj: f64,
    area_um2: f64,
}

impl Macro {
    /// The mean of a read and a write.
    fn pj(&self) -> f64 {
        (self.read_pj + self.write_pj) / 2.0
    }

    /// The options of one run: cells, objective.
    fn options(&self) -> (&str, &str) {
        (&self.cell, &self.objective)
    }
}

/// The options that the tables show; the others give ranges.
const SHOWN: (&str, &str) = ("itrs-hp", "mixed");

/// Macros of 128 bits at 22 nm and 350 K, with some ports.
struct Macros(Vec<Macro>);

impl Macros {
    fn with_ports(all: &[Macro], ports: &str) -> Self {
        let has = |row: &&Macro| {
            (row.node_nm, row.temperature_k, row.width_bits) == (22, 350, 128) && row.ports == ports
        };
        Self(all.iter().filter(has).cloned().collect())
    }

    /// A quantity of the macros with these options, by bytes.
    fn series(&self, options: (&str, &str), quantity: fn(&Macro) -> f64) -> Vec<(f64, f64)> {
        let of = self.0.iter().filter(|row| row.options() == options);
        let mut points: Vec<(f64, f64)> = of.map(|row| (row.bytes as f64, quantity(row))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    fn at(&self, options: (&str, &str), bytes: f64, quantity: fn(&Macro) -> f64) -> Option<f64> {
        self.series(options, quantity).into_iter().find(|point| point.0 == bytes).map(|point| point.1)
    }

    /// Every choice of options.
    fn all_options(&self) -> BTreeSet<(&str, &str)> {
        self.0.iter().map(Macro::options).collect()
    }

    /// The growth of a quantity in a range, as shown and over all options.
    fn growth(&self, (from, to): (f64, f64), quantity: fn(&Macro) -> f64) -> (f64, String) {
        let of = |options| {
            let mut points = self.series(options, quantity);
            points.retain(|point| (from..=to).contains(&point.0));
            (points.len() >= 4).then(|| growth(&points))
        };
        let all: Vec<f64> = self.all_options().into_iter().filter_map(of).collect();
        (of(SHOWN).expect("the shown options have all sizes"), range(&all))
    }

    /// A quantity over its value at 32 KiB, as shown and over all options.
    fn relative(&self, bytes: f64, quantity: fn(&Macro) -> f64) -> Option<(f64, String)> {
        let of = |options| Some(self.at(options, bytes, quantity)? / self.at(options, 32.0 * KIB, quantity)?);
        let all: Vec<f64> = self.all_options().into_iter().filter_map(of).collect();
        Some((of(SHOWN)?, range(&all)))
    }
}

const KIB: f64 = 1024.0;

/// Sizes of the VDM, in MiB, with 128 banks.
const VDM_MIB: [u32; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// The bytes of a bank.
fn bank(mib: u32) -> f64 {
    f64::from(mib) * 8.0 * KIB
}

fn size(bytes: f64) -> String {
    if bytes < KIB {
        format!("{bytes} B")
    } else if bytes < KIB * KIB {
        format!("{} KiB", bytes / KIB)
    } else {
        format!("{} MiB", bytes / KIB / KIB)
    }
}

/// The growth of the model's accesses in a range of banks.
fn model_growth((from, to): (f64, f64)) -> String {
    let sizes = VDM_MIB.into_iter().filter(|&mib| (from..=to).contains(&bank(mib)));
    let point = |mib| Some((bank(mib), vdm_access_pj(&with_vdm(mib, &[])?)));
    let points: Vec<(f64, f64)> = sizes.filter_map(point).collect();
    if points.len() < 2 { String::new() } else { format!("{:.2}", growth(&points)) }
}

/// The bytes of a bank and the period in ns of each printed clock.
fn printed_periods() -> Vec<(f64, f64)> {
    let clocks = &Machine::rpu_128x128().technology.clock;
    // The clock at the most banks is bound by something else.
    let slower = clocks.iter().filter(|point| point.banks <= 128);
    slower.map(|point| (4.0 * KIB * KIB / f64::from(point.banks), 1.0 / point.ghz)).collect()
}

/// The slope of the VDM's area in its size: mm2 of each further MiB.
fn mm2_per_mib(node_nm: Option<u32>) -> f64 {
    let vdm = |mib| Area::of(&with_vdm(mib, &[technology(node_nm)]).expect("a size of VDMs")).vdm;
    (vdm(32) - vdm(16)) / 16.0
}

/// Fills in the page's parts about SRAM.
pub(super) fn fill_in(page: &str, printed: &[Printed]) -> Result<String, Fault> {
    let all: Vec<Macro> = table("sram.csv")?;
    let one = Macros::with_ports(&all, "1rw");
    let ranges = [
        (512.0, 4.0 * KIB),
        (512.0, 32.0 * KIB),
        (32.0 * KIB, 4096.0 * KIB),
        (4096.0 * KIB, 524_288.0 * KIB),
    ];
    let growths = ranges.map(|within| {
        let (energy, energies) = one.growth(within, Macro::pj);
        let (area, _) = one.growth(within, |row| row.area_um2);
        let (time, _) = one.growth(within, |row| row.access_ns);
        let model = model_growth(within);
        let (from, to) = (size(within.0), size(within.1));
        format!("| {from} to {to} | {energy:.2} | {energies} | {model} | {area:.2} | {time:.2} |")
    });

    let fast = ("itrs-hp", "fast");
    let access = |bytes| one.at(fast, bytes, |row| row.access_ns).expect("the table has the sizes of banks");
    let periods = printed_periods();
    let fit = line(&periods.iter().map(|&(bytes, ns)| (access(bytes), ns)).collect::<Vec<_>>());
    let predicted = |bytes| fit.0 + fit.1 * access(bytes);
    let clocks = periods.iter().map(|&(bytes, ns)| {
        let (line, bank) = (predicted(bytes), size(bytes));
        format!(
            "| {bank} | {ns:.3} | {:.3} | {line:.3} | {:+.1}% |",
            access(bytes),
            100.0 * (line / ns - 1.0)
        )
    });

    let fastest_ns = periods.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let banks = VDM_MIB.into_iter().filter(|&mib| mib >= 4).filter_map(|mib| {
        let bytes = bank(mib);
        let (energy, energies) = one.relative(bytes, Macro::pj)?;
        let cycles = (predicted(bytes) / fastest_ns - 0.01).ceil();
        let paper = vdm_access_pj(&with_vdm(4, &[])?);
        let model = with_vdm(mib, &[]).map_or_else(
            || "| |".to_owned(),
            |machine| {
                let (pj, ghz) = (vdm_access_pj(&machine), Clock::of(&machine).ghz());
                format!("{pj:.1} | {:.2} | {ghz:.2}", pj / paper)
            },
        );
        let access = predicted(bytes);
        Some(format!(
            "| {mib} | {} | {model} | {energy:.2} | {energies} | {access:.2} | {cycles} |",
            size(bytes)
        ))
    });

    let wires = |mib: u32| {
        let machine = with_vdm(mib, &[])?;
        let vdm = Area::of(&machine).vdm;
        let beyond = vdm - f64::from(mib) * mm2_per_mib(None);
        Some(format!(
            "| {mib} | {vdm:.2} | {:.3} | {beyond:.2} | {:.3} |",
            vdm / f64::from(mib),
            beyond / f64::from(mib)
        ))
    };
    let wires = lines([4, 8, 16, 32].into_iter().filter_map(wires));

    let two = ["1r1w", "2rw"].map(|ports| (ports, Macros::with_ports(&all, ports)));
    let ports = two.iter().flat_map(|(ports, two)| {
        let one = &one;
        [512.0, 2.0 * KIB, 32.0 * KIB, 1024.0 * KIB].into_iter().filter_map(move |bytes| {
            let ratio = |quantity| Some(two.at(SHOWN, bytes, quantity)? / one.at(SHOWN, bytes, quantity)?);
            let (area, energy) = (ratio(|row| row.area_um2)?, ratio(Macro::pj)?);
            Some(format!(
                "| {ports} | {} | {area:.2} | {energy:.2} | {:.2} |",
                size(bytes),
                ratio(|row| row.access_ns)?
            ))
        })
    });
    let technology = &Machine::rpu_128x128().technology;
    let anchors = printed.iter().filter(|of| of.quantity == "sram_64_bit_pj");
    let anchors = anchors.map(|of| format!("| {} | {} | {} | {} |", of.design, of.value, of.kind, of.source));
    Ok(fill(
        page,
        &[
            ("growths", &lines(growths)),
            ("anchors", &lines(anchors)),
            ("banks", &lines(banks)),
            ("clocks", &lines(clocks)),
            ("intercept", &format!("{:.3}", fit.0)),
            ("slope", &format!("{:.3}", fit.1)),
            ("densities", &beside(printed, "sram_mm2_per_mib", |of| mm2_per_mib(of.node_nm), 3)),
            ("wires", &wires),
            ("ports", &lines(ports)),
            ("second_port", &technology.area.sram_second_port),
            ("growth", &technology.energy.sram_growth_with_words),
            ("growth_beyond", &technology.energy.sram_growth_beyond_32_kib),
        ],
    ))
}
