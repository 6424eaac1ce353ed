//! Many runs of a program and their off-chip transfers, in a run's document.

use b512_asm::Program;
use runtime::report::Hbm;
use runtime::schedule::consecutive::{Repeated, Stream, StreamError, stream};
use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::hbm::Traffic;
use sim::timing::Timing;

/// The side that limits the throughput of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bottleneck {
    /// The compute side: its occupancy is at least that of the channel.
    Compute,
    /// The channel: its occupancy is higher.
    Hbm,
}

impl Bottleneck {
    /// The bottleneck of a stream.
    pub fn of(stream: &Stream) -> Self {
        if stream.channel_ns > stream.compute_ns { Self::Hbm } else { Self::Compute }
    }
}

/// The off-chip memory in a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected the keys of a stream, or of the off-chip memory of a ring program")]
pub enum OffChip {
    /// In a stream of runs of a kernel.
    Stream(StreamReport),
    /// In a ring program.
    Ring(Hbm),
}

/// A stream of runs of one program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamReport {
    /// The number of runs.
    pub runs: usize,
    /// Words transferred per run. Tables count for each run, whether or not the machine keeps them.
    pub words_per_run: Traffic,
    /// The bytes of all transfers, the program and its parameters included.
    pub hbm_bytes: u64,
    /// Occupancy of the channel per run, in steady state: without the program.
    pub transfer_us_per_run: f64,
    /// Compute time per run, with its launch.
    pub compute_us_per_run: f64,
    /// Time from the first word loaded to the last word stored.
    pub total_us: f64,
    /// The side with the longer occupancy.
    pub bottleneck: Bottleneck,
    /// The busy share of the channel, 0 to 1.
    pub hbm_utilisation: f64,
    /// The busy share of the compute side, 0 to 1.
    pub compute_utilisation: f64,
    /// VDM that the stream needs: transferred data of each run that it holds at once, and working memory
    /// once.
    pub vdm_words_needed: u64,
    /// VDM of the machine.
    pub vdm_words: u64,
}

impl StreamReport {
    /// The stream of `runs` runs of `program`, with this timing of one.
    ///
    /// # Errors
    /// Returns an error if the VDM is too small for the runs that it must hold at once, or the off-chip
    /// memory for the words of all runs.
    pub fn new(
        program: &Program,
        machine: &Machine,
        timing: &Timing,
        runs: usize,
    ) -> Result<Self, StreamError> {
        let repeated = Repeated::of(program, machine, timing);
        let stream = stream(&repeated, machine, runs)?;
        let traffic = Traffic::of(program);
        let tables = if machine.hbm.reload_tables { traffic.tables } else { 0 };
        let bytes = program.isa.bytes(traffic.inputs + tables + traffic.outputs);
        let share = |part: f64| if stream.total_ns > 0.0 { part / stream.total_ns } else { 0.0 };
        Ok(Self {
            runs,
            words_per_run: traffic,
            hbm_bytes: stream.bytes,
            transfer_us_per_run: machine.hbm.occupancy_ns(bytes + repeated.parameter_bytes) * 1e-3
                + 2e-3 * machine.hbm.turn_ns * repeated.outputs.len() as f64,
            compute_us_per_run: stream.compute_ns * 1e-3 / runs.max(1) as f64,
            total_us: stream.total_ns * 1e-3,
            bottleneck: Bottleneck::of(&stream),
            hbm_utilisation: share(stream.channel_ns),
            compute_utilisation: share(stream.compute_ns),
            vdm_words_needed: repeated.words_needed(machine, runs),
            vdm_words: machine.vdm_words().into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_channel_limits_a_stream_if_it_is_busier() {
        for (channel_ns, compute_ns, expected) in
            [(2.0, 1.0, Bottleneck::Hbm), (1.0, 1.0, Bottleneck::Compute), (1.0, 2.0, Bottleneck::Compute)]
        {
            let stream = Stream { total_ns: 3.0, channel_ns, compute_ns, bytes: 0 };
            assert_eq!(Bottleneck::of(&stream), expected, "{stream:?}");
        }
    }
}
