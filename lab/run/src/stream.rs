//! Many runs of a program and their off-chip transfers, in a run's document.

use b512_asm::Program;
use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::hbm::{self, BeyondHbm, Bottleneck, Job, JobSpans, Stream, Traffic};

/// A stream of runs of one program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StreamReport {
    /// The number of runs.
    pub runs: usize,
    /// Words transferred per run. Tables count for each run, whether or not the machine keeps them.
    pub words_per_run: Traffic,
    /// Occupancy of the channel per run, in steady state.
    pub transfer_us_per_run: f64,
    /// Compute time per run.
    pub compute_us_per_run: f64,
    /// Time from the first word loaded to the last word stored.
    pub total_us: f64,
    /// The side with the longer occupancy.
    pub bottleneck: Bottleneck,
    /// The busy share of the channel, 0 to 1.
    pub hbm_utilisation: f64,
    /// The busy share of the compute side, 0 to 1.
    pub compute_utilisation: f64,
    /// VDM that the stream needs: transferred data once per buffer, and working memory once.
    pub vdm_words_needed: u64,
    /// VDM of the machine. If it is smaller, the stream assumes a larger one.
    pub vdm_words: u64,
    /// The times of each run's parts.
    pub jobs: Vec<JobSpans>,
}

impl StreamReport {
    /// The stream of `runs` runs of `program`, each with a compute time of `compute_us`.
    ///
    /// # Errors
    /// Returns an error if the off-chip memory is too small for the words of all runs.
    pub fn new(
        program: &Program,
        machine: &Machine,
        compute_us: f64,
        runs: usize,
    ) -> Result<Self, BeyondHbm> {
        let traffic = Traffic::of(program);
        let jobs = Job::repeated(&machine.hbm, program.isa, &traffic, compute_us * 1e3, runs);
        machine.hbm.check_fits(jobs.iter().map(|job| job.load_bytes + job.store_bytes).sum())?;
        let stream = Stream::new(&machine.hbm, &jobs);
        let bytes = jobs.last().map_or(0, |job| job.load_bytes + job.store_bytes);
        Ok(Self {
            runs,
            words_per_run: traffic,
            transfer_us_per_run: machine.hbm.occupancy_ns(bytes) * 1e-3,
            compute_us_per_run: compute_us,
            total_us: stream.total_ns * 1e-3,
            bottleneck: stream.bottleneck(),
            hbm_utilisation: stream.channel_utilisation(),
            compute_utilisation: stream.compute_utilisation(),
            vdm_words_needed: hbm::vdm_words_needed(program, &machine.hbm),
            vdm_words: machine.vdm_words().into(),
            jobs: stream.jobs,
        })
    }
}
