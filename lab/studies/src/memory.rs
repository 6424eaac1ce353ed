//! The model's memories against CACTI, Ramulator and printed numbers: `configs/tech/memory`.

mod off_chip;
mod sram;

use crate::page::{Fault, Files, fill, lines, repository, text};
use runtime::schedule::BURST_BYTES;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sim::{Area, Clock, Energy, Events, Machine, MachineFile, Override};

/// A printed number.
#[derive(Deserialize)]
struct Printed {
    quantity: String,
    design: String,
    node_nm: Option<u32>,
    bits: Option<u32>,
    value: f64,
    /// `printed` in a public text, `quoted` by one, `derived` from such numbers, or `remembered`.
    kind: String,
    source: String,
}

/// The rows of a table.
fn table<Row: DeserializeOwned>(name: &str) -> Result<Vec<Row>, Fault> {
    let mut reader = csv::Reader::from_path(repository("configs/tech/memory").join(name))?;
    Ok(reader.deserialize().collect::<Result<_, _>>()?)
}

/// The paper's machine with other values of some keys; `None` if it cannot have them.
fn machine(keys: &[&str]) -> Option<Machine> {
    let keys: Vec<Override> = keys.iter().map(|text| Override::parse(text).expect("`key=value`")).collect();
    MachineFile::built_in("rpu-128x128", &keys).ok()
}

/// The paper's machine with a VDM of some MiB.
fn with_vdm(mib: u32, more: &[&str]) -> Option<Machine> {
    let size = format!("vdm.size_mib={mib}");
    machine(&[&[size.as_str()], more].concat())
}

/// An element read from or written to the VDM, in pJ.
fn vdm_access_pj(machine: &Machine) -> f64 {
    Energy::of(machine, &Events { vdm_accesses: 1_000_000, ..Events::default() }).vdm
}

/// The factor per doubling of x of the line through some points, by least squares in logarithms.
fn growth(points: &[(f64, f64)]) -> f64 {
    let logarithms: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.log2(), y.log2())).collect();
    line(&logarithms).1.exp2()
}

/// The line `a + b x` through some points, by least squares.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>()
        / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>();
    (y - slope * x, slope)
}

/// The least and the largest of some numbers, with two decimals.
fn range(values: &[f64]) -> String {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    format!("{least:.2} to {most:.2}")
}

/// The printed numbers of a quantity beside the model's.
fn beside(printed: &[Printed], quantity: &str, model: impl Fn(&Printed) -> f64, digits: usize) -> String {
    let of = printed.iter().filter(|number| number.quantity == quantity);
    lines(of.map(|number| {
        let Printed { design, node_nm, value, kind, source, .. } = number;
        let (node, model) = (node_nm.map_or(String::new(), |nm| nm.to_string()), model(number));
        format!(
            "| {design} | {node} | {value} | {kind} | {model:.digits$} | {:.2} | {source} |",
            model / value
        )
    }))
}

/// The built-in technology for a node.
fn technology(node_nm: Option<u32>) -> &'static str {
    if node_nm == Some(7) { "technology=scaled-7nm" } else { "technology=gf12" }
}

/// A LAW engine, in um2.
fn law_um2(node_nm: Option<u32>, bits: u32) -> f64 {
    let words = format!("isa.word_bits={bits}");
    let machine = machine(&[technology(node_nm), &words]).expect("a word width of machines");
    Area::of(&machine).law / f64::from(machine.hple.count) * 1e6
}

/// The energy of a bit through the vector crossbar, by the mean way: half of the side of the paper's machine.
fn vbar_pj_per_bit_mm() -> f64 {
    let machine = Machine::rpu_128x128();
    let element = Energy::of(&machine, &Events { vbar_elements: 1_000_000, ..Events::default() }).vbar;
    element / f64::from(machine.isa.word_bits) / (Area::of(&machine).total().sqrt() / 2.0)
}

/// The share of the accesses of the paper's banks that the busy channel takes.
fn share_of_banks() -> f64 {
    let machine = Machine::rpu_128x128();
    let bytes_per_cycle = machine.hbm.gb_per_s * machine.hbm.efficiency / Clock::of(&machine).ghz();
    let bytes_of_banks = machine.instruction_set().bytes(u64::from(machine.vdm.banks * machine.vdm.ports));
    bytes_per_cycle / bytes_of_banks as f64
}

pub(crate) fn files() -> Files {
    let printed: Vec<Printed> = table("printed.csv")?;
    let hbm = &Machine::rpu_128x128().hbm;
    let power = &Machine::rpu_128x128().technology.power;
    let bit_pj = hbm.device_pj_per_bit + hbm.phy_pj_per_bit;
    let engines = beside(&printed, "engine_um2", |of| law_um2(of.node_nm, of.bits.unwrap_or(128)), 0);
    let exponent = |node, bits| (law_um2(Some(node), 2 * bits) / law_um2(Some(node), bits)).log2();
    let exponents =
        [12, 7].map(|node| format!("| {node} | {:.2} | {:.2} |", exponent(node, 32), exponent(node, 64)));
    let all = |quantity, value, digits| beside(&printed, quantity, move |_| value, digits);
    let page = fill(
        include_str!("memory.md"),
        &[
            ("engines", &engines),
            ("exponents", &lines(exponents)),
            ("widths", &beside(&printed, "width_exponent", |of| exponent(of.node_nm.unwrap_or(7), 32), 2)),
            ("off_chip_energy", &all("off_chip_pj_per_bit", bit_pj, 1)),
            ("burst", &BURST_BYTES),
            ("pieces", &all("piece_pj", 8.0 * BURST_BYTES as f64 * bit_pj, 0)),
            ("background", &all("background_w_per_stack", hbm.background_w_per_stack, 1)),
            ("phy", &all("phy_mm2_per_stack", hbm.phy_mm2_per_stack, 1)),
            ("leakage", &all("leakage_mw_per_mm2", power.leakage_mw_per_mm2, 1)),
            ("wires_of_vbar", &all("vbar_pj_per_bit_mm", vbar_pj_per_bit_mm(), 4)),
            ("device", &hbm.device_pj_per_bit),
            ("interface", &hbm.phy_pj_per_bit),
            ("stacks", &hbm.stacks()),
            ("stacks_mm2", &format!("{:.0}", hbm.stacks() * hbm.phy_mm2_per_stack)),
            ("bank_share", &format!("{:.0}", 100.0 * share_of_banks())),
            ("machine_mm2", &format!("{:.1}", Area::of(&Machine::rpu_128x128()).total())),
        ],
    );
    let page = sram::fill_in(&page, &printed)?;
    Ok(vec![text("reports/memory.md", off_chip::fill_in(&page, hbm)?)])
}
