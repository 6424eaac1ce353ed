//! The best RPUs for a bootstrap, by area, and beside published systems: `reports/bootstrap-designs.md`.

use crate::best_machine::{again, least, number, searched};
use crate::design::{Design, failures, simulated};
use crate::page::{Fault, Files, fill, lines, records_of, text};
use programs::ParameterSet;
use sim::Area;
use std::collections::BTreeSet;

/// The largest areas of the RPU without its off-chip memory's interface, in mm2: the paper's machine, and two
/// of the size of published accelerators.
const AREAS_MM2: [f64; 5] = [20.5, 60.0, 100.0, 400.0, f64::INFINITY];

const BANDWIDTHS: [f64; 4] = [512.0, 1024.0, 2048.0, 4096.0];

/// The time to reach, in ms.
const GOAL_MS: f64 = 1.0;

/// Published accelerators: the name, the MiB of the sweep next to their memory on the chip, and the GB/s next
/// to those of their off-chip memory.
const ACCELERATORS: [(&str, u32, f64); 2] = [("ARK", 512, 1024.0), ("SHARP", 192, 1024.0)];

/// The public simulator FHE_Accelerator_Sim, with a machine of ARK's class: what it leaves out or does, and
/// ms.
const ARK_CLASS: [(&str, f64); 4] = [
    ("as it is", 13.94),
    ("with keys that rotations share", 8.51),
    ("and with seeds, and plaintexts made on the chip", 7.19),
    ("and with SlotToCoeff first", 5.42),
];

/// RPUs that share an off-chip memory: its bandwidth in GB/s, and the most mm2 of all of them.
const SHARED: [(f64, f64); 4] =
    [(2048.0, 400.0), (4096.0, 400.0), (2048.0, f64::INFINITY), (4096.0, f64::INFINITY)];

/// The set of `configs/sweeps/bootstrap.toml`.
const SET: &str = "lattigo-n16qp1546";

/// The forms of the algorithm that `configs/spaces/bootstrap.toml` varies.
const FORMS: [&str; 5] =
    ["hoisting", "dataflow", "digits", "coeff_to_slot_matrices", "slot_to_coeff_matrices"];

/// A published time of a bootstrap, in ms, with its system, its kind and its source.
const PUBLISHED: [(&str, f64, &str, &str); 10] = [
    ("Cheddar, RTX 5090, with Theodosian", 12.8, "measured", "Theodosian, arXiv 2512.18345"),
    ("Cheddar, RTX 5090", 22.1, "measured", "Theodosian, arXiv 2512.18345"),
    (
        "Cheddar, A100 with 80 GB",
        48.5,
        "measured",
        "Cheddar's preprint; 40.0 in the printed version, by notes on it",
    ),
    ("Cheddar, RTX 4090", 51.9, "measured", "Cheddar"),
    ("Cheddar, V100", 112.4, "measured", "Cheddar"),
    ("GME, an MI100 with more memory on the chip", 33.6, "simulated", "Cheddar's table"),
    ("Poseidon, FPGA", 128.0, "measured", "Cheddar's table"),
    (
        "FAB, FPGA",
        477.0,
        "measured",
        "Cheddar's table; doubtful, since FAB's abstract says 1.5 times as fast as a GPU that takes 328 ms",
    ),
    ("Caramel, two A30", 147.0, "measured", "Caramel"),
    ("Cerium, several GPUs", 7.5, "measured", "Cerium, arXiv 2512.11269"),
];

/// The cycles of a slow launch: one that rewrites the addresses of its operands, word by word.
const SLOW_LAUNCH: u32 = 100;

/// What a design should have the least of.
type Cost = fn(&Design<'_>) -> f64;

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
    let machine_cells = |design: &Design<'_>| {
        let machine = design.machine();
        format!(
            "{} | {} | {} | {} | {}",
            design.text("keys"),
            machine.isa.vector_length,
            machine.frontend.width,
            machine.vdm.banks,
            machine.vdm.size_mib,
        )
    };
    let time_cells = |design: &Design<'_>| {
        let costs = design.costs().join(" | ");
        format!("{:.2} | {:.1} | {costs}", design.time_us() / 1e3, design.slot_level_ns())
    };
    // A row in the table of times and costs, and one in the table of machines.
    let both = |name: &str, design: &Design<'_>| {
        let hples = design.machine().hple.count;
        [time_cells(design), machine_cells(design)].map(|cells| format!("| {name} | {hples} | {cells} |"))
    };
    let limit = |area: f64| if area.is_finite() { area.to_string() } else { "none".to_owned() };
    let mut best = Vec::new();
    for area in AREAS_MM2 {
        for bandwidth in BANDWIDTHS {
            let fits = |design: &&Design<'_>| {
                design.area_mm2(false) <= area && design.machine().hbm.gb_per_s == bandwidth
            };
            let design = fastest(designs.iter().filter(fits)).ok_or("a design within the area")?;
            best.push(both(&format!("{} | {bandwidth}", limit(area)), design));
        }
    }
    let first = fastest(designs.iter()).ok_or("a design that runs")?;
    let gpu_ms = PUBLISHED[0].1;
    let beats = |design: &&Design<'_>| design.time_us() / 1e3 <= gpu_ms;
    let costs: [(&str, Cost); 4] = [
        ("time", |design| design.time_us()),
        ("area", |design| design.area_mm2(false)),
        ("power", |design| design.power_w(true)),
        ("energy", |design| design.power_w(true) * design.time_us()),
    ];
    let mut faster = Vec::new();
    for (what, cost) in costs {
        let least = designs.iter().filter(beats).min_by(|a, b| cost(a).total_cmp(&cost(b)));
        let design = least.ok_or("a design as fast as the GPU")?;
        faster.push(both(&format!("{what} | {}", design.machine().hbm.gb_per_s), design));
    }

    let mut accelerators = Vec::new();
    for (name, mib, gb_per_s) in ACCELERATORS {
        let is_like = |design: &&Design<'_>| {
            let machine = design.machine();
            machine.vdm.size_mib == mib && machine.hbm.gb_per_s == gb_per_s
        };
        let counts: BTreeSet<u32> = designs.iter().map(|design| design.machine().hple.count).collect();
        for count in counts {
            let of_count =
                designs.iter().filter(is_like).filter(|design| design.machine().hple.count == count);
            let design = fastest(of_count).ok_or("a design with these memories")?;
            accelerators.push(both(name, design));
        }
    }
    let mut shared = Vec::new();
    for (gb_per_s, area) in SHARED {
        for count in [1.0, 2.0, 4.0] {
            let fits = |design: &&Design<'_>| {
                design.machine().hbm.gb_per_s * count == gb_per_s && design.area_mm2(false) * count <= area
            };
            let design = fastest(designs.iter().filter(fits)).ok_or("a design with a part of the memory")?;
            let [ms, mm2] = [design.time_us() / 1e3, design.area_mm2(false)];
            let name = format!("{gb_per_s} | {} | {count} | {}", limit(area), design.machine().hple.count);
            let times = format!(
                "{ms:.2} | {:.2} | {mm2:.1} | {:.1} | {:.0}%",
                ms / count,
                mm2 * count,
                100.0 * design.channel_share(),
            );
            shared.push([times, machine_cells(design)].map(|cells| format!("| {name} | {cells} |")));
        }
    }
    let (space, rows) = searched("bootstrap", "bootstrap-designs")?;
    let mut explored = Vec::new();
    for area in AREAS_MM2 {
        let within = rows.iter().filter(|row| number(row, "area_mm2") - number(row, "hbm_phy_mm2") <= area);
        let row_of = least(within, "slot_level_ns");
        let record = again(&space.manifest().columns, row_of)?;
        let design = Design::all(std::slice::from_ref(&record)).next().ok_or("a design that runs")?;
        let fits = |design: &&Design<'_>| design.area_mm2(false) <= area;
        let of_sweep = fastest(designs.iter().filter(fits)).ok_or("a design within the area")?;
        let [times, machine] = both(&limit(area), &design);
        let forms = FORMS.map(|key| row_of.get(key).map_or("", String::as_str)).join(" | ");
        explored.push([
            format!("{times} {:.2} |", design.time_us() / of_sweep.time_us()),
            format!(
                "{machine} {} | {} | {} | {forms} |",
                design.machine().hbm.gb_per_s,
                row_of["frontend.busyboard"],
                row_of["frontend.queue_depth"],
            ),
        ]);
    }
    let mut rest = Vec::new();
    for area in AREAS_MM2 {
        let fits = |design: &&Design<'_>| design.area_mm2(false) <= area;
        let design = fastest(designs.iter().filter(fits)).ok_or("a design within the area")?;
        let task =
            |kernel: &str| format!("kernel = '{kernel}'\nset = '{SET}'\nkeys = '{}'\n", design.text("keys"));
        let slow = format!("{}launch.cycles = {SLOW_LAUNCH}\n", task("bootstrap"));
        let slow_us = simulated(design.machine(), &slow)?;
        let mut products_us = 0.0;
        // A product at a level has a rescale to the level below it.
        for level in 2..=levels + 1 {
            products_us += simulated(design.machine(), &format!("{}level = {level}\n", task("hmult")))?;
        }
        let slot_levels = (slots * levels) as f64;
        let all_ns = 1e3 * (design.time_us() + products_us) / slot_levels;
        rest.push(format!(
            "| {} | {:.2} | {:.1} | {all_ns:.1} | {:.2} | {:+.0}% |",
            limit(area),
            design.time_us() / 1e3,
            design.slot_level_ns(),
            slow_us / 1e3,
            100.0 * (slow_us / design.time_us() - 1.0),
        ));
    }
    let ark_class = ARK_CLASS.map(|(what, ms)| format!("| {what} | {ms} |"));

    let kernels_ms = first.compute_share() * first.time_us() / 1e3;
    let bound_ms = kernels_ms / first.bound_ratio().ok_or("a design with kernels")?;
    let gigabytes = first.channel_share() * first.time_us() * first.machine().hbm.gb_per_s / 1e6;
    let published =
        PUBLISHED.map(|(system, ms, kind, source)| format!("| {system} | {kind} | {ms} | {source} |"));
    let pairs = [best, explored, faster, shared, accelerators];
    let [best, explored, faster, shared, accelerators] =
        pairs.map(|rows| [0, 1].map(|table| lines(rows.iter().map(|row: &[String; 2]| row[table].clone()))));
    let page = fill(
        include_str!("bootstrap_designs.md"),
        &[
            ("best", &best[0]),
            ("best_machines", &best[1]),
            ("rest", &lines(rest)),
            ("reticle", &Area::RETICLE_MM2),
            ("launch", &first.machine().launch.cycles),
            ("slow_launch", &SLOW_LAUNCH),
            ("explored", &explored[0]),
            ("explored_machines", &explored[1]),
            ("faster", &faster[0]),
            ("faster_machines", &faster[1]),
            ("shared", &shared[0]),
            ("shared_machines", &shared[1]),
            ("accelerators", &accelerators[0]),
            ("accelerators_machines", &accelerators[1]),
            ("points", &records.len()),
            ("failures", &failures(records.len(), designs.len())),
            ("slots", &slots),
            ("levels", &levels),
            ("published", &lines(published)),
            ("fastest", &format!("{:.2}", first.time_us() / 1e3)),
            ("gpu", &gpu_ms),
            ("ark_class", &lines(ark_class)),
            ("evaluations", &rows.len()),
            ("designs", &format!("{:.1e}", space.designs())),
            ("goal", &GOAL_MS),
            ("kernels", &format!("{kernels_ms:.1}")),
            ("bound", &format!("{bound_ms:.1}")),
            ("hples", &first.machine().hple.count),
            ("most", &format!("{:.0}", f64::from(first.machine().hple.count) * bound_ms / GOAL_MS)),
            ("gigabytes", &format!("{gigabytes:.1}")),
            ("bandwidth", &format!("{:.0}", gigabytes / GOAL_MS * 1e3)),
            ("compute", &format!("{:.0}", 100.0 * first.compute_share())),
            ("channel", &format!("{:.0}", 100.0 * first.channel_share())),
        ],
    );
    Ok::<_, Fault>(vec![text("reports/bootstrap-designs.md", page)])
}
