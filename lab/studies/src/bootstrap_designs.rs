//! The best RPUs for a bootstrap, by area: `reports/bootstrap-designs.md`.

use crate::design::Design;
use crate::page::{Fault, Files, fill, lines, records_of, text};
use programs::ParameterSet;

/// The largest areas of the RPU without its off-chip memory's interface, in mm2: the paper's machine, and two of the size of
/// published accelerators.
const AREAS_MM2: [f64; 3] = [20.5, 100.0, 400.0];

const BANDWIDTHS: [f64; 3] = [512.0, 1024.0, 2048.0];

/// The set of `configs/sweeps/bootstrap.toml`.
const SET: &str = "lattigo-n16qp1546";

/// A published time of a bootstrap, in ms, with its system, its kind and its source.
const PUBLISHED: [(&str, f64, &str, &str); 10] = [
    ("Cheddar, RTX 5090, with Theodosian", 12.8, "measured", "Theodosian, arXiv 2512.18345"),
    ("Cheddar, RTX 5090", 22.1, "measured", "Theodosian, arXiv 2512.18345"),
    ("Cheddar, A100 with 80 GB", 48.5, "measured", "Cheddar"),
    ("Cheddar, RTX 4090", 51.9, "measured", "Cheddar"),
    ("Cheddar, V100", 112.4, "measured", "Cheddar"),
    ("GME, an MI100 with more memory on the chip", 33.6, "simulated", "Cheddar's table"),
    ("Poseidon, FPGA", 128.0, "measured", "Cheddar's table"),
    ("FAB, FPGA", 477.0, "measured", "Cheddar's table"),
    ("Caramel, two A30", 147.0, "measured", "Caramel"),
    ("Cerium, several GPUs", 7.5, "measured", "Cerium, arXiv 2512.11269"),
];

fn fastest<'d, 'r>(designs: impl Iterator<Item = &'d Design<'r>>) -> Option<&'d Design<'r>>
where
    'r: 'd,
{
    designs.min_by(|a, b| a.time_us().total_cmp(&b.time_us()))
}

pub(crate) fn files() -> Files {
    let records = records_of("configs/sweeps/bootstrap.toml")?;
    let designs: Vec<Design<'_>> = Design::all(&records).collect();
    let set = ParameterSet::built_in(SET, None).ok_or("a built-in set")??;
    let slots = set.degree().len() / 2;
    let bootstrap = set.bootstrap().ok_or("a set with a bootstrap")?;
    // A ciphertext of one modulus has no level left.
    let levels = set.levels() - bootstrap.depth() - 1;
    let ns_per_slot = |us: f64| 1e3 * us / (slots * levels) as f64;
    let row = |design: &Design<'_>| {
        let machine = design.machine();
        format!(
            "{} | {} | {} | {} | {} | {:.2} | {:.1} | {}",
            machine.hbm.gb_per_s,
            design.text("keys"),
            machine.hple.count,
            machine.vdm.banks,
            machine.vdm.size_mib,
            design.time_us() / 1e3,
            ns_per_slot(design.time_us()),
            design.costs()
        )
    };
    let mut best = Vec::new();
    for area in AREAS_MM2 {
        for bandwidth in BANDWIDTHS {
            let fits = |design: &&Design<'_>| {
                design.area_mm2(false) <= area && design.machine().hbm.gb_per_s == bandwidth
            };
            let line = fastest(designs.iter().filter(fits)).map_or_else(
                || format!("| {area} | {bandwidth} | no design of the sweep |"),
                |design| format!("| {area} | {} |", row(design)),
            );
            best.push(line);
        }
    }
    let first = fastest(designs.iter()).ok_or("a design that runs")?;
    let published =
        PUBLISHED.map(|(system, ms, kind, source)| format!("| {system} | {kind} | {ms} | {source} |"));
    let page = fill(
        include_str!("bootstrap_designs.md"),
        &[
            ("points", &records.len()),
            ("failed", &(records.len() - designs.len())),
            ("slots", &slots),
            ("levels", &levels),
            ("best", &lines(best)),
            ("published", &lines(published)),
            ("fastest", &format!("{:.2}", first.time_us() / 1e3)),
            ("rpus", &(first.time_us() / 1e3).ceil()),
            ("over", &format!("{:.2}", first.time_us() / 1e3 / PUBLISHED[0].1)),
            ("compute", &format!("{:.0}", 100.0 * first.compute_share())),
            ("channel", &format!("{:.0}", 100.0 * first.channel_share())),
        ],
    );
    Ok::<_, Fault>(vec![text("reports/bootstrap-designs.md", page)])
}
