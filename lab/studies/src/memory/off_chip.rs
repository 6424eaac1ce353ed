//! The off-chip memory: bandwidth and latency.

use super::table;
use crate::page::{Fault, fill, lines};
use serde::Deserialize;
use sim::machine::Hbm;

/// The share of the peak of one access pattern, by Ramulator.
#[derive(Deserialize)]
struct Run {
    memory: String,
    org: String,
    refresh: String,
    scheduler: String,
    read_queue: u32,
    write_queue: u32,
    row_policy: String,
    pattern: String,
    reads_per_write: Option<u32>,
    batch_bytes: Option<u64>,
    channels: u64,
    placement: String,
    peak_gb_s: f64,
    share: f64,
}

/// The latency of a random read beside a stream.
#[derive(Deserialize)]
struct Probe {
    memory: String,
    refresh: String,
    read_pct: u32,
    /// Cycles between requests of the stream.
    interval: u32,
    share_of_peak: f64,
    probe_latency_ns: f64,
}

/// The memories: name, organisation, refresh.
const MEMORIES: [(&str, &str, &str); 4] = [
    ("hbm2-2000", "HBM2_8Gb", "none"),
    ("hbm2-2000", "HBM2_8Gb", "allbank"),
    ("hbm2-2400", "HBM2_8Gb", "allbank"),
    ("hbm3-6400", "HBM3_16Gb_8hi", "allbank"),
];

/// The shares of a memory with the ordinary controller.
struct Shares<'r>(Vec<&'r Run>);

impl<'r> Shares<'r> {
    fn of(runs: &'r [Run], (memory, org, refresh): (&str, &str, &str)) -> Self {
        let ordinary = |run: &&Run| {
            (&*run.memory, &*run.org, &*run.refresh) == (memory, org, refresh)
                && (&*run.scheduler, &*run.row_policy, &*run.placement) == ("FRFCFSRowHit", "open", "same")
                && run.write_queue == 64
                && run.read_queue < 256
        };
        Self(runs.iter().filter(ordinary).collect())
    }

    fn get(&self, pattern: &str, reads: Option<u32>, bytes: Option<u64>) -> Option<f64> {
        let is =
            |run: &&&Run| run.pattern == pattern && run.reads_per_write == reads && run.batch_bytes == bytes;
        self.0.iter().find(is).map(|run| run.share)
    }

    /// The batches of at least 64 KiB, each as the ns of its transfers at the peak, those at the shares of
    /// one direction, and the measured ones: two changes of direction make the rest.
    fn batches(&self) -> impl Iterator<Item = (&'r Run, f64, f64)> {
        let [read, write] =
            ["read", "write"].map(|pattern| self.get(pattern, None, None).unwrap_or(f64::NAN));
        let batches =
            self.0.iter().filter(|run| run.pattern == "batched" && run.batch_bytes >= Some(1 << 16));
        batches.map(move |run| {
            let bytes = run.batch_bytes.unwrap_or(0) as f64 / run.channels as f64;
            let reads = f64::from(run.reads_per_write.unwrap_or(1));
            let ideal = (reads + 1.0) * bytes / run.peak_gb_s;
            let one_way = (reads * bytes / read + bytes / write) / run.peak_gb_s;
            (*run, ideal, one_way)
        })
    }

    /// The ns of a change of direction, by least squares of the shares' relative errors.
    fn turn_ns(&self) -> f64 {
        let (mut above, mut below) = (0.0, 0.0);
        for (run, ideal, one_way) in self.batches() {
            let time = ideal / run.share;
            above += 2.0 * (time - one_way) / time.powi(2);
            below += 4.0 / time.powi(2);
        }
        above / below
    }

    /// The largest relative error of a share with that change of direction, in transfers of some bytes and
    /// more.
    fn error(&self, turn_ns: f64, least: u64) -> f64 {
        let of = self.batches().filter(|(run, ..)| run.batch_bytes >= Some(least));
        let errors =
            of.map(|(run, ideal, one_way)| (ideal / (one_way + 2.0 * turn_ns) / run.share - 1.0).abs());
        errors.fold(0.0, f64::max)
    }
}

/// The name of a memory with its refresh.
fn name((memory, _, refresh): (&str, &str, &str)) -> String {
    if refresh == "none" { format!("{memory}, no refresh") } else { memory.to_owned() }
}

/// Fills in the page's parts about the off-chip memory.
pub(super) fn fill_in(page: &str, hbm: &Hbm) -> Result<String, Fault> {
    let (runs, probes): (Vec<Run>, Vec<Probe>) = (table("hbm.csv")?, table("latency.csv")?);
    let memories = MEMORIES.map(|memory| Shares::of(&runs, memory));
    let row = |label: String, pattern: &str, reads, bytes| {
        let cells = memories
            .iter()
            .map(|of| of.get(pattern, reads, bytes).map_or(String::new(), |share| format!("{share:.3}")));
        format!("| {label} | {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut shares =
        vec![row("reads only".into(), "read", None, None), row("writes only".into(), "write", None, None)];
    for reads in [3, 2, 1] {
        shares.push(row(format!("reads to writes {reads}:1, by request"), "mixed", Some(reads), None));
    }
    for kib in [4, 64, 256, 512, 1024] {
        let label = format!("reads to writes 2:1, turns of {kib} KiB");
        shares.push(row(label, "batched", Some(2), Some(kib << 10)));
    }
    for bytes in [32, 64, 128, 256] {
        shares.push(row(format!("random reads of {bytes} bytes"), "gather", None, Some(bytes)));
    }
    let constants = MEMORIES.iter().zip(&memories).skip(1).map(|(memory, of)| {
        let one = |pattern| of.get(pattern, None, None).unwrap_or(f64::NAN);
        let turn = of.turn_ns();
        let piece = 32.0 * one("read") / of.get("gather", None, Some(32)).unwrap_or(f64::NAN);
        let [large, small] = [1 << 18, 1 << 16].map(|least| 100.0 * of.error(turn, least));
        format!(
            "| {} | {:.3} | {:.3} | {turn:.0} | {piece:.0} | {large:.1}% | {small:.1}% |",
            name(*memory),
            one("read"),
            one("write")
        )
    });
    let latency = |memory: &str, reads: u32, load: fn(&Probe) -> bool| {
        let of = probes.iter().filter(|probe| {
            (&*probe.memory, &*probe.refresh, probe.read_pct) == (memory, "allbank", reads) && load(probe)
        });
        let ns: Vec<f64> = of.map(|probe| probe.probe_latency_ns).collect();
        let [least, most] = [ns.iter().copied().reduce(f64::min), ns.iter().copied().reduce(f64::max)]
            .map(|ns| ns.map_or(String::new(), |ns| format!("{ns:.0}")));
        if least == most { least } else { format!("{least} to {most}") }
    };
    let latencies = ["hbm2-2000", "hbm2-2400", "hbm3-6400"].into_iter().flat_map(|memory| {
        [100, 67].map(|reads| {
            format!(
                "| {memory} | {reads}% | {} | {} | {} |",
                latency(memory, reads, |probe| probe.share_of_peak < 0.1),
                latency(memory, reads, |probe| (0.45..0.55).contains(&probe.share_of_peak)),
                latency(memory, reads, |probe| probe.interval <= 8)
            )
        })
    });
    Ok(fill(
        page,
        &[
            ("memories", &MEMORIES.map(name).join(" | ")),
            ("shares", &lines(shares)),
            ("constants", &lines(constants)),
            ("latencies", &lines(latencies)),
            ("efficiency", &hbm.efficiency),
            ("turn", &hbm.turn_ns),
            ("latency", &hbm.latency_ns),
        ],
    ))
}
