//! Which RPU multiplies ciphertexts fastest within 30 mm2 and 10 W, by the width of its primes:
//! `reports/budget.md`.

use crate::design::{Design, failures};
use crate::page::{Fault, Files, fill, lines, records_of, text};
use lab_sweep::basis;

/// The limits of the RPU without its off-chip memory.
const AREA_MM2: f64 = 30.0;
const POWER_W: f64 = 10.0;

const WORDS: [u32; 4] = [28, 36, 54, 60];
const BANDWIDTHS: [f64; 2] = [512.0, 1000.0];

const ROWS: [&str; 12] = [
    "lanes of a vector",
    "instructions a cycle",
    "HPLEs",
    "banks",
    "VDM, MiB",
    "dataflow",
    "time, µs",
    "RPU, mm²",
    "with PHY, mm²",
    "RPU, W",
    "with HBM, W",
    "binds most",
];

/// A product with its rescale on one machine.
struct Product<'r> {
    design: Design<'r>,
    dataflow: String,
}

impl Product<'_> {
    fn fits(&self, whole: bool) -> bool {
        self.design.area_mm2(whole) <= AREA_MM2 && self.design.power_w(whole) <= POWER_W
    }

    /// The cells of its column, in the order of `ROWS`.
    fn column(&self) -> [String; ROWS.len()] {
        let Self { design, dataflow } = self;
        let machine = design.machine();
        let [rpu, chip, watts, all, binds] = design.costs();
        [
            machine.isa.vector_length.to_string(),
            machine.frontend.width.to_string(),
            machine.hple.count.to_string(),
            machine.vdm.banks.to_string(),
            machine.vdm.size_mib.to_string(),
            dataflow.clone(),
            format!("{:.1}", design.time_us()),
            rpu,
            chip,
            watts,
            all,
            binds,
        ]
    }
}

/// A table with a column for each product.
fn table(products: &[&Product<'_>]) -> String {
    let columns: Vec<_> = products.iter().map(|product| product.column()).collect();
    let bits = products.iter().map(|product| format!(" {} bits |", product.design.machine().isa.word_bits));
    let head = format!("| primes |{}", bits.collect::<String>());
    let rule = format!("|---|{}", "--:|".repeat(products.len()));
    let rows = ROWS.iter().enumerate().map(|(row, name)| {
        let cells = columns.iter().map(|column| format!(" {} |", column[row]));
        format!("| {name} |{}", cells.collect::<String>())
    });
    lines([head, rule].into_iter().chain(rows))
}

pub(crate) fn files() -> Files {
    let records = records_of("configs/sweeps/budget.toml")?;
    let products: Vec<Product<'_>> = Design::all(&records)
        .map(|design| Product { dataflow: design.text("dataflow").to_owned(), design })
        .collect();
    let word_bits = |product: &Product<'_>| product.design.machine().isa.word_bits;
    let gb_per_s = |product: &Product<'_>| product.design.machine().hbm.gb_per_s;
    let fastest = |bits: u32, bandwidth: f64| {
        let these = products.iter().filter(|of| (word_bits(of), gb_per_s(of)) == (bits, bandwidth));
        these
            .filter(|product| product.fits(false))
            .min_by(|a, b| a.design.time_us().total_cmp(&b.design.time_us()))
    };
    let best = BANDWIDTHS.map(|bandwidth| {
        WORDS.iter().filter_map(|&bits| fastest(bits, bandwidth)).collect::<Vec<&Product<'_>>>()
    });
    let answer = |best: &[&Product<'_>]| -> Result<String, Fault> {
        let mut these = best.to_vec();
        these.sort_by(|a, b| a.design.time_us().total_cmp(&b.design.time_us()));
        let [first, second, ..] = these[..] else {
            return Err("two widths with a design within the limits".into());
        };
        Ok(format!(
            "**{} bits, in {:.1} µs**, then {} bits, in {:.1} µs",
            word_bits(first),
            first.design.time_us(),
            word_bits(second),
            second.design.time_us()
        ))
    };
    let whole = match products.iter().filter(|product| product.fits(true)).count() {
        0 => "none".to_owned(),
        count => count.to_string(),
    };
    let page = fill(
        include_str!("budget.md"),
        &[
            ("basis", &basis(products.iter().map(|product| product.design.machine()))),
            ("points", &records.len()),
            ("failures", &failures(records.len(), products.len())),
            ("area", &AREA_MM2),
            ("power", &POWER_W),
            ("first", &answer(&best[0])?),
            ("second", &answer(&best[1])?),
            ("first_table", &table(&best[0])),
            ("second_table", &table(&best[1])),
            ("whole", &whole),
        ],
    );
    Ok(vec![text("reports/budget.md", page)])
}
