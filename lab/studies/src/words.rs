//! The word width and the vector length for a modulus of 1,600 bits: `reports/words.md`.

use crate::page::{Files, fill, lines, records_of, text};
use lab_sweep::{Record, basis};
use plot::{Figure, Line, Lines, Panel};
use sim::Clock;

/// Bits of the whole modulus.
const MODULUS_BITS: u32 = 1600;
const WORDS: [u32; 3] = [32, 64, 128];
const LENGTHS: [u32; 7] = [64, 128, 256, 512, 1024, 2048, 4096];

/// The transform of a polynomial on one machine.
#[derive(Clone, Copy)]
struct Design {
    word_bits: u32,
    length: u32,
    hples: u32,
    cycles: u64,
    ghz: f64,
    area_mm2: f64,
    energy_uj: f64,
    /// Times of all towers: computation, and transfers of data, twiddles and results.
    compute_us: f64,
    transfer_us: f64,
    /// Whether costs are extrapolated.
    extrapolated: bool,
}

impl Design {
    fn of(record: &Record) -> Self {
        let report =
            record.report.as_ref().unwrap_or_else(|| panic!("{:?}: {:?}", record.point, record.error));
        let (machine, (time_us, cycles)) = (&report.machine, report.duration().expect("a run in time"));
        let towers = f64::from(towers(machine.isa.word_bits));
        let bytes = machine.instruction_set().bytes(3 << 16);
        Self {
            word_bits: machine.isa.word_bits,
            length: machine.isa.vector_length,
            hples: machine.hple.count,
            cycles,
            ghz: Clock::of(machine).ghz(),
            area_mm2: report.area_mm2,
            energy_uj: towers * report.energy_uj,
            compute_us: towers * time_us,
            transfer_us: towers * machine.hbm.occupancy_ns(bytes) * 1e-3,
            extrapolated: !machine.extrapolated().is_empty(),
        }
    }

    /// Transforms of the whole polynomial per second and mm2, from data on chip.
    fn on_chip(&self) -> f64 {
        1e6 / self.compute_us / self.area_mm2
    }

    /// The same, with data in the off-chip memory.
    fn off_chip(&self) -> f64 {
        1e6 / self.compute_us.max(self.transfer_us) / self.area_mm2
    }
}

/// Towers of the modulus: a prime of a word is below 2^`word_bits`, so an exact fit needs one more.
fn towers(word_bits: u32) -> u32 {
    MODULUS_BITS / word_bits + 1
}

/// The best number of HPLEs for a word width and a vector length.
fn best(designs: &[Design], word_bits: u32, length: u32, merit: fn(&Design) -> f64) -> Design {
    let these = designs.iter().filter(|design| design.word_bits == word_bits && design.length == length);
    *these.max_by(|a, b| merit(a).total_cmp(&merit(b))).expect("each pair has a design")
}

fn chart(designs: &[Design], basis: String) -> Figure {
    let panel = |title: &str, merit: fn(&Design) -> f64| {
        let line = |word_bits: u32| Line {
            label: format!("{word_bits} bits"),
            points: LENGTHS
                .iter()
                .map(|&length| (f64::from(length), merit(&best(designs, word_bits, length, merit))))
                .collect(),
        };
        Panel::Lines(Lines {
            title: title.into(),
            x_label: "Elements of a vector".into(),
            x_logarithmic: true,
            y_label: "Transforms per s and mm²".into(),
            series_label: "word".into(),
            series: WORDS.iter().map(|&word_bits| line(word_bits)).collect(),
        })
    };
    let panels = vec![panel("Data on chip", Design::on_chip), panel("Data in the HBM", Design::off_chip)];
    Figure { columns: 2, panel: (560, 420), panels, basis }
}

pub(crate) fn files() -> Files {
    let records = records_of("configs/sweeps/words.toml")?;
    let basis = basis(records.iter().filter_map(|record| Some(&record.report.as_ref()?.machine)));
    let designs: Vec<Design> = records.iter().map(Design::of).collect();
    let [on_chip, off_chip] = [Design::on_chip, Design::off_chip].map(|merit| table(&designs, merit));
    let page = fill(
        include_str!("words.md"),
        &[
            ("basis", &basis),
            ("first_on_chip", &on_chip[0]),
            ("on_chip", &on_chip[1]),
            ("first_off_chip", &off_chip[0]),
            ("off_chip", &off_chip[1]),
        ],
    );
    Ok(vec![text("reports/words.md", page), text("reports/words.svg", chart(&designs, basis).svg()?)])
}

/// The design that does best, and the rows of all words and vector lengths.
fn table(designs: &[Design], merit: fn(&Design) -> f64) -> [String; 2] {
    let first = designs.iter().max_by(|a, b| merit(a).total_cmp(&merit(b))).expect("designs");
    let Design { word_bits, length, hples, .. } = first;
    let first = format!(
        "words of {word_bits} bits, vectors of {length}, on {hples} HPLEs: {:.0} transforms per second and mm²",
        merit(first)
    );
    let pairs = WORDS.iter().flat_map(|&word_bits| LENGTHS.map(|length| (word_bits, length)));
    let row = |(word_bits, length)| {
        let design = best(designs, word_bits, length, merit);
        let Design { hples, cycles, ghz, area_mm2, energy_uj, compute_us, transfer_us, .. } = design;
        let star = if design.extrapolated { "*" } else { "" };
        format!(
            "| {word_bits} | {length} | {hples} | {cycles} | {ghz:.2} | {compute_us:.1} | {transfer_us:.1} | \
             {area_mm2:.2}{star} | {energy_uj:.0} | {:.0} |",
            merit(&design)
        )
    };
    [first, lines(pairs.map(row))]
}
