//! Which RPU multiplies ciphertexts fastest within 30 mm2 and 10 W, by the width of its primes: `reports/budget.md`.

use crate::design::Design;
use crate::page::{Fault, Files, fill, lines, records_of, text};

/// The limits of the RPU without its off-chip memory.
const AREA_MM2: f64 = 30.0;
const POWER_W: f64 = 10.0;

const WORDS: [u32; 4] = [28, 36, 54, 60];
const BANDWIDTHS: [f64; 2] = [512.0, 1000.0];

/// A product with its rescale on one machine.
struct Product<'r> {
    design: Design<'r>,
    dataflow: String,
}

impl Product<'_> {
    fn fits(&self, whole: bool) -> bool {
        self.design.area_mm2(whole) <= AREA_MM2 && self.design.power_w(whole) <= POWER_W
    }

    fn row(&self) -> String {
        let Self { design, dataflow } = self;
        let machine = design.machine();
        format!(
            "| {} | {} | {} | {} | {} | {} | {} | {dataflow} | {:.1} | {} |",
            machine.isa.word_bits,
            machine.hbm.gb_per_s,
            machine.isa.vector_length,
            machine.frontend.width,
            machine.hple.count,
            machine.vdm.banks,
            machine.vdm.size_mib,
            design.time_us(),
            design.costs()
        )
    }
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
    let pairs = BANDWIDTHS.iter().flat_map(|&bandwidth| WORDS.map(|bits| (bits, bandwidth)));
    let best: Vec<&Product<'_>> = pairs.filter_map(|(bits, bandwidth)| fastest(bits, bandwidth)).collect();
    let answer = |bandwidth: f64| -> Result<String, Fault> {
        let mut these: Vec<&&Product<'_>> = best.iter().filter(|of| gb_per_s(of) == bandwidth).collect();
        these.sort_by(|a, b| a.design.time_us().total_cmp(&b.design.time_us()));
        let [first, second, ..] = these[..] else {
            return Err("two widths with a design within the limits".into());
        };
        Ok(format!(
            "**{} bits, in {:.1} us**, then {} bits, in {:.1} us",
            word_bits(first),
            first.design.time_us(),
            word_bits(second),
            second.design.time_us()
        ))
    };
    let whole = products.iter().filter(|product| product.fits(true)).count();
    let page = fill(
        include_str!("budget.md"),
        &[
            ("points", &records.len()),
            ("failed", &(records.len() - products.len())),
            ("area", &AREA_MM2),
            ("power", &POWER_W),
            ("first", &answer(BANDWIDTHS[0])?),
            ("second", &answer(BANDWIDTHS[1])?),
            ("fastest", &lines(best.iter().map(|product| product.row()))),
            ("whole", &whole),
        ],
    );
    Ok(vec![text("reports/budget.md", page)])
}
