//! The word width and the vector length for a modulus of 1,600 bits: `reports/words.md`.

use lab_sweep::{Definition, Plan, Record, generate, records};
use plot::{Figure, Line, Lines, Panel};
use std::fmt::Write;
use std::path::{Path, PathBuf};

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
        let (machine, timing) = (&report.machine, report.timing.as_ref().expect("a run in time"));
        let towers = f64::from(towers(machine.isa.word_bits));
        let bytes = 3 * (1 << 16) * u64::from(machine.isa.word_bits / 8);
        Self {
            word_bits: machine.isa.word_bits,
            length: machine.isa.vector_length,
            hples: machine.hple.count,
            cycles: timing.cycles,
            ghz: timing.frequency_ghz,
            area_mm2: report.area_mm2,
            energy_uj: towers * report.energy_uj,
            compute_us: towers * timing.time_us,
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

fn designs() -> Vec<Design> {
    let text = include_str!("../../../../configs/sweeps/words.toml");
    let plan = Plan::new(&Definition::parse("words.toml", text).unwrap()).unwrap();
    records(&plan, &generate).iter().map(Design::of).collect()
}

/// The best number of HPLEs for a word width and a vector length.
fn best(designs: &[Design], word_bits: u32, length: u32, merit: fn(&Design) -> f64) -> Design {
    let these = designs.iter().filter(|design| design.word_bits == word_bits && design.length == length);
    *these.max_by(|a, b| merit(a).total_cmp(&merit(b))).expect("each pair has a design")
}

fn chart(designs: &[Design]) -> Figure {
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
    Figure { columns: 2, panel: (560, 420), panels }
}

fn page(designs: &[Design]) -> String {
    let mut page = String::from(
        "# Word width and vector length for a modulus of 1,600 bits\n\n\
        <!-- Generated from `configs/sweeps/words.toml`: `BLESS=1 cargo test -p lab-sweep --test all words`. -->\n\n\
        Which machine transforms most polynomials of 65,536 coefficients modulo 1,600 bits, per second and mm2? The modulus\n\
        takes 51 towers of 32 bits, 26 of 64 or 13 of 128. Programs are those of `--plan best`, cycles are simulated, and\n\
        areas, clocks and energies modelled ([`docs/costs.md`](../../docs/costs.md)). For each word and vector length, the\n\
        tables show the number of HPLEs, from 64 to 256 with as many banks, that does best. All machines hold as many words\n\
        in their VDM. A star marks an area or a clock that is extrapolated. Programs for 512 elements come from the library,\n\
        others from quick searches: differences of a few percent between them say little.\n\n\
        ![Transforms per second and mm2](words.svg)\n",
    );
    for (title, merit) in [
        ("Data on chip", Design::on_chip as fn(&Design) -> f64),
        ("Data in the HBM: three words an element, at the sustained bandwidth", Design::off_chip),
    ] {
        write_table(&mut page, title, designs, merit).expect("writing to a string does not fail");
    }
    page
}

fn write_table(
    page: &mut String,
    title: &str,
    designs: &[Design],
    merit: fn(&Design) -> f64,
) -> std::fmt::Result {
    let first = designs.iter().copied().max_by(|a, b| merit(a).total_cmp(&merit(b))).expect("designs");
    writeln!(page, "\n## {title}\n")?;
    writeln!(
        page,
        "Most: words of {} bits, vectors of {}, on {} HPLEs: {:.0} transforms per second and mm2.\n",
        first.word_bits,
        first.length,
        first.hples,
        merit(&first)
    )?;
    writeln!(
        page,
        "| word | vector | HPLEs | cycles a tower | GHz | compute, us | transfer, us | mm2 | uJ | per s and mm2 |"
    )?;
    writeln!(page, "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")?;
    for word_bits in WORDS {
        for length in LENGTHS {
            let design = best(designs, word_bits, length, merit);
            let Design { hples, cycles, ghz, area_mm2, energy_uj, compute_us, transfer_us, .. } = design;
            let star = if design.extrapolated { "*" } else { "" };
            writeln!(
                page,
                "| {word_bits} | {length} | {hples} | {cycles} | {ghz:.2} | {compute_us:.1} | {transfer_us:.1} | \
                 {area_mm2:.2}{star} | {energy_uj:.0} | {:.0} |",
                merit(&design)
            )?;
        }
    }
    Ok(())
}

fn report(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reports").join(name)
}

#[test]
fn the_page_and_its_chart_are_fresh() {
    let designs = designs();
    bless::fresh(report("words.md"), page(&designs));
    bless::fresh(report("words.svg"), chart(&designs).svg().expect("a chart"));
}

#[test]
fn the_towers_hold_the_modulus() {
    for (word_bits, expected) in [(32, 51), (64, 26), (128, 13)] {
        assert_eq!(towers(word_bits), expected);
        // Primes just above the geometric mean suffice.
        assert!(f64::from(MODULUS_BITS) / f64::from(expected) < f64::from(word_bits) - 0.5);
    }
}
