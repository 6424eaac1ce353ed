//! The timeline as a Perfetto trace: kernels, transfers, and the occupancy of the VDM.

use crate::run::Runtime;
use crate::schedule::{Span, Timeline};
use sim::trace::perfetto::{Counter, Slice, write_slices};
use std::io::{self, Write};

/// The tracks of a trace: launches of kernels, and off-chip transfers.
pub const TRACKS: [&str; 2] = ["kernels", "HBM"];

const KERNELS: usize = 0;
const TRANSFERS: usize = 1;

impl Runtime<'_> {
    /// Writes a Perfetto trace of a timeline with recorded launches and transfers.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn write_perfetto(&self, timeline: &Timeline, out: &mut impl Write) -> io::Result<()> {
        let slices = self.slices(timeline);
        let values: Vec<(u64, u64)> =
            timeline.runs.iter().map(|run| (picoseconds(run.span.begin_ns), run.vdm_words)).collect();
        let counter = Counter { name: "VDM", unit: "words", values: &values };
        write_slices(&TRACKS, &slices, counter, out)
    }

    /// The launches and transfers of a timeline, on [`TRACKS`]; those that are recorded.
    pub fn slices<'t>(&'t self, timeline: &'t Timeline) -> Vec<Slice<'t>> {
        let slice = |track, name, span: Span, annotation| Slice {
            track,
            name,
            begin_ps: picoseconds(span.begin_ns),
            end_ps: picoseconds(span.end_ns).max(picoseconds(span.begin_ns) + 1),
            annotation,
        };
        let kernels = timeline.runs.iter().filter_map(|run| {
            let launch = &self.launches().launches[run.launch as usize];
            let name = self.kernel_name(launch)?;
            let line = self.line(launch).unwrap_or(0);
            Some(slice(KERNELS, name, run.span, ("line", line)))
        });
        // A transfer leaves the channel before its last word arrives.
        let latency_ns = self.machine().hbm.latency_ns;
        let transfers = timeline.transfers.iter().map(|transfer| {
            let end_ns = transfer.span.end_ns - latency_ns;
            let span = Span { end_ns, ..transfer.span };
            slice(TRANSFERS, transfer.kind.name(), span, ("bytes", transfer.bytes))
        });
        kernels.chain(transfers).collect()
    }
}

fn picoseconds(ns: f64) -> u64 {
    (ns * 1e3).round() as u64
}
