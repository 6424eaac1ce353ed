//! The off-chip memory: a stream of runs whose transfers overlap with computing.
//!
//! A *job* is one run of a program on its own data, say one RNS tower of a polynomial: its words
//! are loaded, it computes, its results are stored. One channel carries all transfers, in both
//! directions, one after the other; the compute side runs one job at a time. The VDM holds the
//! words of [`buffers`](Hbm::buffers) jobs at once. The rules, for job `i` of a stream:
//!
//! * A transfer of `w` words occupies the channel for `16 w / gb_per_s` ns, and ends
//!   [`latency_ns`](Hbm::latency_ns) after that. A transfer of no words takes no time.
//! * The channel serves transfers in one order: the first loads fill the buffers; from then on
//!   the store of a job comes before the load that takes over its buffer.
//! * Load `i` begins when the channel is free and store `i - buffers` has ended.
//! * Job `i` computes when its load has ended and job `i - 1` has computed.
//! * Store `i` begins when the channel is free and job `i` has computed.
//!
//! Instructions are not among the transfers: a program stays in its memory for the whole stream.

use crate::machine::Hbm;
use b512_asm::reg::WORD_BYTES;
use b512_asm::{Program, Role, Space, Symbol};
use serde::{Deserialize, Serialize};

/// The words that one run of a program moves between off-chip memory and VDM or SDM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traffic {
    /// Words of the inputs, loaded before the run.
    pub inputs: u64,
    /// Words of the tables, loaded before the run.
    pub tables: u64,
    /// Words of the outputs, stored after the run.
    pub outputs: u64,
}

impl Traffic {
    /// The traffic of a program, by the roles of its symbols.
    pub fn of(program: &Program) -> Self {
        let words = |role| words(program, |symbol| symbol.role == role);
        Self { inputs: words(Role::Input), tables: words(Role::Table), outputs: words(Role::Output) }
    }

    /// All words.
    pub const fn total(&self) -> u64 {
        self.inputs + self.tables + self.outputs
    }
}

/// The words of VDM that a stream of a program's runs needs: those that are moved once for each
/// buffer, working memory once.
pub fn vdm_words_needed(program: &Program, hbm: &Hbm) -> u64 {
    let of = |scratch: bool| {
        words(program, |symbol| symbol.space == Space::Vdm && (symbol.role == Role::Scratch) == scratch)
    };
    u64::from(hbm.buffers) * of(false) + of(true)
}

/// The words of the symbols that are `wanted`.
fn words(program: &Program, wanted: impl Fn(&Symbol) -> bool) -> u64 {
    program.symbols.iter().filter(|symbol| wanted(symbol)).map(|symbol| u64::from(symbol.words)).sum()
}

/// One run in a stream.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Job {
    /// Words that are loaded before it.
    pub load_words: u64,
    /// Words that are stored after it.
    pub store_words: u64,
    /// How long it computes.
    pub compute_ns: f64,
}

impl Job {
    /// `runs` jobs of a program with that traffic, each of which computes for `compute_ns`.
    ///
    /// Where the machine keeps its tables ([`Hbm::reload_tables`] is false), only the first job
    /// loads them.
    pub fn repeated(hbm: &Hbm, traffic: &Traffic, compute_ns: f64, runs: usize) -> Vec<Self> {
        let job = |i| {
            let tables = if i == 0 || hbm.reload_tables { traffic.tables } else { 0 };
            Self { load_words: traffic.inputs + tables, store_words: traffic.outputs, compute_ns }
        };
        (0..runs).map(job).collect()
    }
}

/// From when to when something happens, from the beginning of the stream.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// When it begins.
    pub begin_ns: f64,
    /// When it has ended.
    pub end_ns: f64,
}

/// When the parts of a job happen.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct JobSpans {
    /// Its words are loaded.
    pub load: Span,
    /// It computes.
    pub compute: Span,
    /// Its results are stored.
    pub store: Span,
}

/// A stream of jobs in time.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Stream {
    /// The jobs in their order.
    pub jobs: Vec<JobSpans>,
    /// When the last store has ended.
    pub total_ns: f64,
    /// How long the channel was occupied.
    pub channel_busy_ns: f64,
    /// How long the compute side was occupied.
    pub compute_busy_ns: f64,
}

/// The side that a stream waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bottleneck {
    /// Computing takes as long as the transfers or longer.
    Compute,
    /// The transfers take longer.
    Hbm,
}

impl Stream {
    /// The stream of `jobs`, in their order.
    pub fn new(hbm: &Hbm, jobs: &[Job]) -> Self {
        let mut channel = Channel { hbm, free_ns: 0.0, busy_ns: 0.0 };
        let mut spans = vec![JobSpans::default(); jobs.len()];
        let (buffers, mut computed_ns) = (hbm.buffers as usize, 0.0_f64);
        for i in 0..jobs.len() + buffers {
            let mut freed_ns = 0.0;
            // The job whose buffer is taken over, or one of the last.
            if let Some(done) = i.checked_sub(buffers) {
                let store = channel.transfer(jobs[done].store_words, spans[done].compute.end_ns);
                spans[done].store = store;
                freed_ns = store.end_ns;
            }
            if let Some(job) = jobs.get(i) {
                let load = channel.transfer(job.load_words, freed_ns);
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

    /// The side that is occupied for longer.
    pub fn bottleneck(&self) -> Bottleneck {
        if self.channel_busy_ns > self.compute_busy_ns { Bottleneck::Hbm } else { Bottleneck::Compute }
    }

    /// The share of the time for which the channel is occupied, 0 to 1.
    pub fn channel_utilisation(&self) -> f64 {
        share(self.channel_busy_ns, self.total_ns)
    }

    /// The share of the time for which the compute side is occupied, 0 to 1.
    pub fn compute_utilisation(&self) -> f64 {
        share(self.compute_busy_ns, self.total_ns)
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Hbm {
    /// How long a number of words occupies the channel.
    pub fn occupancy_ns(&self, words: u64) -> f64 {
        (words * WORD_BYTES as u64) as f64 / self.gb_per_s
    }
}

/// The channel, with what it has carried so far.
struct Channel<'m> {
    hbm: &'m Hbm,
    free_ns: f64,
    busy_ns: f64,
}

impl Channel<'_> {
    /// The next transfer, not before `ready_ns`.
    fn transfer(&mut self, words: u64, ready_ns: f64) -> Span {
        let begin_ns = self.free_ns.max(ready_ns);
        let occupancy_ns = self.hbm.occupancy_ns(words);
        let latency_ns = if words > 0 { self.hbm.latency_ns } else { 0.0 };
        self.free_ns = begin_ns + occupancy_ns;
        self.busy_ns += occupancy_ns;
        Span { begin_ns, end_ns: self.free_ns + latency_ns }
    }
}

#[cfg(test)]
mod tests;
