//! The timeline as a Perfetto trace: owners, kernels, transfers, and the occupancy of the VDM; and the busy
//! shares of the machine over time.

use crate::report::Profile;
use crate::run::Runtime;
use crate::schedule::{Span, Timeline};
use b512_asm::Pipe;
use sim::Clock;
use sim::trace::perfetto::{Counter, Slice, write_slices};
use std::io::{self, Write};

/// The tracks of a trace: stages with the operations and functions in them, launches of kernels, and off-chip
/// transfers.
pub const TRACKS: [&str; 3] = ["owners", "kernels", "HBM"];

const OWNERS: usize = 0;
const KERNELS: usize = 1;
const TRANSFERS: usize = 2;

/// The busy share of a part of the machine over time.
#[derive(Clone, PartialEq, Debug)]
pub struct Load {
    /// The name for people.
    pub name: &'static str,
    /// The busy share of each of some intervals of equal length, from 0 to 1.
    pub shares: Vec<f64>,
}

impl Runtime<'_> {
    /// Writes a Perfetto trace of a timeline with recorded launches and transfers.
    ///
    /// # Errors
    /// Returns the errors of the writer.
    pub fn write_perfetto(&self, timeline: &Timeline, out: &mut impl Write) -> io::Result<()> {
        let profile = self.profile(timeline);
        let mut slices = owners(&profile);
        slices.extend(self.slices(timeline));
        let values: Vec<(u64, u64)> =
            timeline.runs.iter().map(|run| (picoseconds(run.span.begin_ns), run.vdm_words)).collect();
        let counter = Counter { name: "VDM", unit: "words", values: &values };
        write_slices(&TRACKS, &slices, counter, out)
    }

    /// The launches and transfers of a timeline, on [`TRACKS`]; those that are recorded. A transfer that
    /// others cut contains them.
    pub fn slices<'t>(&'t self, timeline: &'t Timeline) -> Vec<Slice<'t>> {
        let kernels = timeline.runs.iter().filter_map(|run| {
            let launch = &self.launches().launches[run.launch as usize];
            let name = self.kernel(launch)?.name;
            let line = self.line(launch).unwrap_or(0);
            Some(slice(KERNELS, name, run.span, ("line", line)))
        });
        let transfers = timeline.transfers.iter().map(|transfer| {
            let span = self.on_channel(transfer.span);
            slice(TRANSFERS, transfer.kind.name(), span, ("bytes", transfer.bytes))
        });
        kernels.chain(transfers).collect()
    }

    /// The busy shares of `intervals` intervals of a timeline with recorded launches and transfers, from all
    /// of them. The multiplications and the accesses of a launch are spread evenly over its time.
    pub fn loads(&self, timeline: &Timeline, intervals: usize) -> Vec<Load> {
        let ghz = Clock::of(self.machine()).ghz();
        let bins = Bins { length_ns: timeline.total_ns / intervals.max(1) as f64, count: intervals };
        let [mut kernels, mut multipliers, mut ports, mut channel] = [(); 4].map(|()| vec![0.0; intervals]);
        for run in &timeline.runs {
            let launch = &self.launches().launches[run.launch as usize];
            let Some(kernel) = self.kernel(launch) else { continue };
            let Span { begin_ns, end_ns } = run.span;
            let cycles = (end_ns - begin_ns) * ghz;
            let runs = f64::from(kernel.runs);
            let slots = f64::from(self.machine().hple.count) * cycles;
            let access = kernel.timing.utilisation(self.machine()).pipes[Pipe::LoadStore];
            bins.add(&mut kernels, run.span, runs * kernel.timing.cycles.0 as f64 / cycles);
            bins.add(&mut multipliers, run.span, runs * kernel.events.multiplications as f64 / slots);
            bins.add(&mut ports, run.span, runs * access * kernel.timing.cycles.0 as f64 / cycles);
        }
        // Transfers that others cut contain these, and the channel is busy in between.
        let mut spans: Vec<Span> =
            timeline.transfers.iter().map(|transfer| self.on_channel(transfer.span)).collect();
        spans.sort_by(|one, other| one.begin_ns.total_cmp(&other.begin_ns));
        let mut end_ns = 0.0f64;
        for span in spans {
            let begin_ns = span.begin_ns.max(end_ns);
            if span.end_ns > begin_ns {
                bins.add(&mut channel, Span { begin_ns, ..span }, 1.0);
                end_ns = span.end_ns;
            }
        }
        let names = ["kernels", "multipliers", "load/store", "HBM"];
        let shares = [kernels, multipliers, ports, channel];
        names.into_iter().zip(shares).map(|(name, shares)| Load { name, shares }).collect()
    }

    /// The time of a transfer on the channel: its last word arrives later.
    fn on_channel(&self, span: Span) -> Span {
        Span { end_ns: (span.end_ns - self.machine().hbm.latency_ns).max(span.begin_ns), ..span }
    }
}

/// Intervals of equal length.
struct Bins {
    length_ns: f64,
    count: usize,
}

impl Bins {
    /// Adds to the shares of the intervals that a span meets.
    fn add(&self, shares: &mut [f64], Span { begin_ns, end_ns }: Span, share: f64) {
        let [from, to] = [begin_ns, end_ns].map(|ns| ns / self.length_ns);
        for (bin, sum) in
            shares.iter_mut().enumerate().take(self.count.min(to.ceil() as usize)).skip(from as usize)
        {
            let start = bin as f64;
            *sum += share * (to.min(start + 1.0) - from.max(start)).max(0.0);
        }
    }
}

/// The owners of all times, each name as long as its launches follow each other.
fn owners(profile: &Profile) -> Vec<Slice<'_>> {
    let mut slices: Vec<Slice<'_>> = Vec::new();
    // The slices of the names that are open, the outermost first.
    let mut open: Vec<usize> = Vec::new();
    let mut now = 0;
    for part in profile.parts.iter().filter(|part| part.waiting_ps + part.busy_ps > 0) {
        let entry = &profile.entries[part.entry as usize];
        let path = entry.owner.path();
        let common =
            open.iter().zip(&path).take_while(|(slice, name)| slices[**slice].name == **name).count();
        open.drain(common..).for_each(|slice| slices[slice].end_ps = now);
        for name in &path[common..] {
            open.push(slices.len());
            let annotation = ("depth", open.len() as u64);
            slices.push(Slice { track: OWNERS, name, begin_ps: now, end_ps: now, annotation });
        }
        now += part.waiting_ps + part.busy_ps;
    }
    open.into_iter().for_each(|slice| slices[slice].end_ps = now);
    slices
}

fn slice<'t>(track: usize, name: &'t str, span: Span, annotation: (&'t str, u64)) -> Slice<'t> {
    let begin_ps = picoseconds(span.begin_ns);
    Slice { track, name, begin_ps, end_ps: picoseconds(span.end_ns).max(begin_ps + 1), annotation }
}

fn picoseconds(ns: f64) -> u64 {
    (ns * 1e3).round() as u64
}
