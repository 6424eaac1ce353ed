//! The off-chip memory: streams of runs whose transfers overlap with compute.
//!
//! A *job* is one run of a program on its own data, for example one RNS tower of a polynomial. It
//! loads its words, computes, and stores its results. One channel carries all transfers in both
//! directions sequentially. The compute side runs one job at a time. The VDM holds the words of
//! [`buffers`](Hbm::buffers) jobs concurrently. These rules apply to job `i` of a stream:
//!
//! * A transfer of `b` bytes occupies the channel for `b / (gb_per_s * efficiency / shared_by)` ns and
//!   ends [`latency_ns`](Hbm::latency_ns) later. An empty transfer takes no time.
//! * The order of transfers is fixed. The first loads fill the buffers. After that, the store of a
//!   job precedes the load that reuses its buffer.
//! * Load `i` begins when the channel is free and store `i - buffers` has ended.
//! * Job `i` begins to compute when its load has ended and job `i - 1` has finished computing.
//! * Store `i` begins when the channel is free and job `i` has finished computing.
//!
//! Instructions are not transferred: a program stays in its memory for the whole stream.
//!
//! The memory holds the words of all jobs of a stream.

use crate::machine::Hbm;
use b512_asm::{Isa, Program, Role, Space, Symbol};
use serde::{Deserialize, Serialize};

/// The words that one run of a program transfers between off-chip memory and VDM or SDM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// The words of the inputs, loaded before the run.
    pub inputs: u64,
    /// The words of the tables, loaded before the run.
    pub tables: u64,
    /// The words of the outputs, stored after the run.
    pub outputs: u64,
}

impl Traffic {
    /// The traffic of a program, derived from the roles of its symbols.
    pub fn of(program: &Program) -> Self {
        let words = |role| words(program, |symbol| symbol.role == role);
        Self { inputs: words(Role::Input), tables: words(Role::Table), outputs: words(Role::Output) }
    }

    /// The total number of words.
    pub const fn total(&self) -> u64 {
        self.inputs + self.tables + self.outputs
    }
}

/// The words of VDM that a stream of a program's runs needs. Transferred words count once per
/// buffer; scratch words count once.
pub fn vdm_words_needed(program: &Program, hbm: &Hbm) -> u64 {
    let of = |scratch: bool| {
        words(program, |symbol| symbol.space == Space::Vdm && (symbol.role == Role::Scratch) == scratch)
    };
    u64::from(hbm.buffers) * of(false) + of(true)
}

/// The words of the symbols that satisfy `wanted`.
fn words(program: &Program, wanted: impl Fn(&Symbol) -> bool) -> u64 {
    program.symbols.iter().filter(|symbol| wanted(symbol)).map(|symbol| u64::from(symbol.words)).sum()
}

/// One run in a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Job {
    /// The bytes loaded before the run.
    pub load_bytes: u64,
    /// The bytes stored after the run.
    pub store_bytes: u64,
    /// The compute time, in ns.
    pub compute_ns: f64,
}

impl Job {
    /// `runs` jobs of a program with the given instruction set, traffic and a compute time of
    /// `compute_ns` each.
    ///
    /// If the machine keeps its tables ([`Hbm::reload_tables`] is false), only the first job loads
    /// them.
    pub fn repeated(hbm: &Hbm, isa: Isa, traffic: &Traffic, compute_ns: f64, runs: usize) -> Vec<Self> {
        let word_bytes = u64::from(isa.word_bytes());
        let job = |i| {
            let tables = if i == 0 || hbm.reload_tables { traffic.tables } else { 0 };
            let load_bytes = (traffic.inputs + tables) * word_bytes;
            Self { load_bytes, store_bytes: traffic.outputs * word_bytes, compute_ns }
        };
        (0..runs).map(job).collect()
    }
}

/// A time interval, relative to the beginning of the stream.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// The beginning, in ns.
    pub begin_ns: f64,
    /// The end, in ns.
    pub end_ns: f64,
}

/// The time intervals of a job.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct JobSpans {
    /// The load of its words.
    pub load: Span,
    /// Its computation.
    pub compute: Span,
    /// The store of its results.
    pub store: Span,
}

/// The timing of a stream of jobs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Stream {
    /// The intervals of the jobs, in stream order.
    pub jobs: Vec<JobSpans>,
    /// The end of the last store, in ns.
    pub total_ns: f64,
    /// The occupancy of the channel, in ns.
    pub channel_busy_ns: f64,
    /// The occupancy of the compute side, in ns.
    pub compute_busy_ns: f64,
}

/// The side that limits the throughput of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bottleneck {
    /// The compute side: it is occupied at least as long as the channel.
    Compute,
    /// The channel: its occupancy is higher.
    Hbm,
}

impl Stream {
    /// Computes the timing of `jobs`, in order.
    pub fn new(hbm: &Hbm, jobs: &[Job]) -> Self {
        let mut channel = Channel { hbm, free_ns: 0.0, busy_ns: 0.0 };
        let mut spans = vec![JobSpans::default(); jobs.len()];
        let (buffers, mut computed_ns) = (hbm.buffers as usize, 0.0_f64);
        for i in 0..jobs.len() + buffers {
            let mut freed_ns = 0.0;
            // The job whose buffer is reused, or one of the last jobs.
            if let Some(done) = i.checked_sub(buffers) {
                let store = channel.transfer(jobs[done].store_bytes, spans[done].compute.end_ns);
                spans[done].store = store;
                freed_ns = store.end_ns;
            }
            if let Some(job) = jobs.get(i) {
                let load = channel.transfer(job.load_bytes, freed_ns);
                let begin_ns = load.end_ns.max(computed_ns);
                computed_ns = begin_ns + job.compute_ns;
                spans[i].load = load;
                spans[i].compute = Span { begin_ns, end_ns: computed_ns };
            }
        }
        Self {
            total_ns: spans.iter().map(|job| job.store.end_ns).fold(0.0, f64::max),
            channel_busy_ns: channel.busy_ns,
            compute_busy_ns: jobs.iter().map(|job| job.compute_ns).sum(),
            jobs: spans,
        }
    }

    /// The side with the higher occupancy.
    pub fn bottleneck(&self) -> Bottleneck {
        if self.channel_busy_ns > self.compute_busy_ns { Bottleneck::Hbm } else { Bottleneck::Compute }
    }

    /// The utilisation of the channel, from 0 to 1.
    pub fn channel_utilisation(&self) -> f64 {
        share(self.channel_busy_ns, self.total_ns)
    }

    /// The utilisation of the compute side, from 0 to 1.
    pub fn compute_utilisation(&self) -> f64 {
        share(self.compute_busy_ns, self.total_ns)
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Hbm {
    /// The channel occupancy of a transfer of `bytes` bytes, in ns.
    pub fn occupancy_ns(&self, bytes: u64) -> f64 {
        bytes as f64 / self.sustained_gb_per_s()
    }

    /// The bytes of one RPU's memory.
    pub fn capacity_bytes(&self) -> u64 {
        (u64::from(self.size_mib) << 20) / u64::from(self.shared_by)
    }

    /// Checks that the memory holds `needed` bytes.
    ///
    /// # Errors
    /// Returns an error if it is smaller.
    pub fn check_fits(&self, needed: u64) -> Result<(), BeyondHbm> {
        let capacity = self.capacity_bytes();
        let size_mib = needed.saturating_mul(self.shared_by.into()).div_ceil(1 << 20);
        if needed <= capacity { Ok(()) } else { Err(BeyondHbm { needed, capacity, size_mib }) }
    }

    /// The bandwidth that transfers of one RPU sustain, in 1e9 bytes a second.
    pub fn sustained_gb_per_s(&self) -> f64 {
        self.gb_per_s * self.efficiency / f64::from(self.shared_by)
    }
}

/// Data beyond the end of the off-chip memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "the data need {needed} bytes of off-chip memory, but the RPU has {capacity}; \
     set `hbm.size_mib` to {size_mib} or more"
)]
pub struct BeyondHbm {
    /// The bytes that the data need.
    pub needed: u64,
    /// The bytes of the memory that the RPU has.
    pub capacity: u64,
    /// The least size of the memory that suffices, in MiB.
    pub size_mib: u64,
}

/// The state of the channel.
struct Channel<'m> {
    hbm: &'m Hbm,
    free_ns: f64,
    busy_ns: f64,
}

impl Channel<'_> {
    /// Schedules the next transfer, at `ready_ns` or later.
    fn transfer(&mut self, bytes: u64, ready_ns: f64) -> Span {
        let begin_ns = self.free_ns.max(ready_ns);
        let occupancy_ns = self.hbm.occupancy_ns(bytes);
        let latency_ns = if bytes > 0 { self.hbm.latency_ns } else { 0.0 };
        self.free_ns = begin_ns + occupancy_ns;
        self.busy_ns += occupancy_ns;
        Span { begin_ns, end_ns: self.free_ns + latency_ns }
    }
}

#[cfg(test)]
mod tests;
