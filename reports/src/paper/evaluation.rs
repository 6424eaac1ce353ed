//! The simulations behind the figures and claims.

use super::Error;
use crate::kernel::{KernelSpec, ModulusSpec};
use crate::run::{RunReport, TimingReport};
use crate::sweep::{self, Definition, Status};
use b512_asm::{Function, Pipe};
use codegen::PlanChoice;
use rayon::prelude::*;
use sim::Machine;
use sim::timing::{self, Cause, Decoder, Wait, stepped};

/// The numbers of HPLEs that the paper looks at.
pub(super) const HPLES: [u32; 7] = [4, 8, 16, 32, 64, 128, 256];
/// The numbers of VDM banks that the paper looks at.
pub(super) const BANKS: [u32; 4] = [32, 64, 128, 256];
/// The ring sizes that the paper looks at.
pub(super) const SIZES: [u32; 7] = [1024, 2048, 4096, 8192, 16384, 32768, 65536];
/// The latencies of the multiplier in Fig. 8, in cycles.
pub(super) const MULTIPLIER_LATENCIES: [u32; 7] = [3, 7, 9, 11, 15, 19, 23];
/// The initiation intervals of the multiplier in Fig. 8, in cycles.
pub(super) const INTERVALS: [u32; 5] = [1, 2, 3, 4, 5];
/// The latencies of the shuffle crossbar in Fig. 9, in cycles.
pub(super) const SHUFFLE_LATENCIES: [u32; 7] = [4, 5, 6, 7, 8, 9, 10];
/// The latencies of loads and stores in Fig. 9, in cycles.
pub(super) const LOAD_STORE_LATENCIES: [u32; 4] = [4, 6, 8, 10];

/// The ring size of most figures.
const LARGEST: u32 = 65536;

/// How a transform is computed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Code {
    /// The paper's algorithm in textbook order, on the machine that reproduces the paper.
    Unoptimised,
    /// The paper's program, on the same machine.
    Paper,
    /// Our fastest, on the machine that the paper describes.
    Best,
}

impl Code {
    /// The two that are shown side by side.
    pub(super) const BOTH: [Self; 2] = [Self::Paper, Self::Best];

    /// What `--plan` calls it.
    pub(super) const fn plan(self) -> &'static str {
        match self {
            Self::Unoptimised => "unoptimised",
            Self::Paper => "paper",
            Self::Best => "best",
        }
    }

    /// What a legend calls it.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Unoptimised => "textbook order",
            Self::Paper => "the paper's program",
            Self::Best => "our fastest",
        }
    }
}

/// One simulated transform, checked against the golden model.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Run {
    /// The program.
    pub code: Code,
    /// The ring's degree.
    pub n: u32,
    /// The whole report.
    pub report: RunReport,
    /// Its cycles.
    pub timing: TimingReport,
}

impl Run {
    /// HPLEs and VDM banks.
    pub(super) const fn design(&self) -> (u32, u32) {
        (self.report.machine.hple.count, self.report.machine.vdm.banks)
    }

    /// Cycles, as a number to compute with.
    pub(super) const fn cycles(&self) -> f64 {
        self.timing.cycles as f64
    }

    /// Transforms per microsecond and square millimetre.
    pub(super) fn performance_per_area(&self) -> f64 {
        1.0 / (self.timing.time_us * self.report.area_mm2)
    }
}

/// What became of the register waits of shuffles and of the second timing model: looked up in
/// programs, not in reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Inspection {
    /// Cycles for which the front end held a shuffle back as one of its registers was busy.
    shuffle_wait: u64,
    /// Instructions, and those to which both timing models give the same cycles.
    instructions: (usize, usize),
}

/// All simulations of the paper's evaluation. They depend on nothing but the code and the built-in
/// machines: the same whatever the number of threads.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Evaluation {
    designs: Vec<Run>,
    unoptimised: Vec<Run>,
    multipliers: Vec<Run>,
    crossbars: Vec<Run>,
    sizes: Vec<Run>,
    /// At 256 HPLEs and 128 banks: textbook order, then the paper's program.
    inspections: [Inspection; 2],
}

/// The sweeps of a figure, as they stand in `configs/sweeps`: of the paper's program on the machine
/// that reproduces it, and of our fastest on the machine that the paper describes.
type Sweeps = &'static [(&'static str, &'static str)];

const DESIGNS: Sweeps = &[
    ("paper-fig4.toml", include_str!("../../../configs/sweeps/paper-fig4.toml")),
    ("best-fig4.toml", include_str!("../../../configs/sweeps/best-fig4.toml")),
];
const UNOPTIMISED: Sweeps = &[("paper-fig7.toml", include_str!("../../../configs/sweeps/paper-fig7.toml"))];
const MULTIPLIERS: Sweeps = &[
    ("paper-fig8.toml", include_str!("../../../configs/sweeps/paper-fig8.toml")),
    ("best-fig8.toml", include_str!("../../../configs/sweeps/best-fig8.toml")),
];
const CROSSBARS: Sweeps = &[
    ("paper-fig9.toml", include_str!("../../../configs/sweeps/paper-fig9.toml")),
    ("best-fig9.toml", include_str!("../../../configs/sweeps/best-fig9.toml")),
];
const RINGS: Sweeps = &[
    ("paper-fig10.toml", include_str!("../../../configs/sweeps/paper-fig10.toml")),
    ("best-fig10.toml", include_str!("../../../configs/sweeps/best-fig10.toml")),
];

impl Evaluation {
    /// Simulates everything, in the current rayon pool.
    ///
    /// # Errors
    /// Where a transform cannot be generated or computes something else than the golden model.
    pub(super) fn new() -> Result<Self, Error> {
        let all = [DESIGNS, UNOPTIMISED, MULTIPLIERS, CROSSBARS, RINGS];
        let mut figures = all
            .par_iter()
            .map(|sweeps| {
                let sweeps: Vec<Vec<Run>> =
                    sweeps.par_iter().map(|(name, text)| runs(name, text)).collect::<Result<_, _>>()?;
                Ok(sweeps.concat())
            })
            .collect::<Result<Vec<Vec<Run>>, Error>>()?
            .into_iter();
        let [designs, unoptimised, multipliers, crossbars, sizes] =
            std::array::from_fn(|_| figures.next().expect("the runs of each figure"));
        Ok(Self {
            designs,
            unoptimised,
            multipliers,
            crossbars,
            sizes,
            inspections: [inspect(Code::Unoptimised)?, inspect(Code::Paper)?],
        })
    }

    /// The 64K transform on a design, as the paper's program or our fastest.
    pub(super) fn design(&self, code: Code, hples: u32, banks: u32) -> &Run {
        find(&self.designs, |run| run.code == code && run.design() == (hples, banks))
    }

    /// All designs with one of those programs.
    pub(super) fn designs(&self, code: Code) -> Vec<&Run> {
        self.designs.iter().filter(|run| run.code == code).collect()
    }

    /// The 64K transform at 128 banks with any program.
    pub(super) fn at_128_banks(&self, code: Code, hples: u32) -> &Run {
        match code {
            Code::Unoptimised => find(&self.unoptimised, |run| run.design() == (hples, 128)),
            Code::Paper | Code::Best => self.design(code, hples, 128),
        }
    }

    /// The latency of the multiplier in the machine of such a program, in cycles.
    pub(super) fn multiplier_latency(&self, code: Code) -> u32 {
        self.design(code, 128, 128).report.machine.hple.multiplier_latency_cycles
    }

    /// The 64K transform where the multiplier has another latency and initiation interval.
    pub(super) fn multiplier(&self, code: Code, latency: u32, interval: u32) -> &Run {
        find(&self.multipliers, |run| {
            let hple = &run.report.machine.hple;
            run.code == code
                && (hple.multiplier_latency_cycles, hple.initiation_interval) == (latency, interval)
        })
    }

    /// The 64K transform where the crossbars have other latencies.
    pub(super) fn crossbars(&self, code: Code, shuffle: u32, load_store: u32) -> &Run {
        find(&self.crossbars, |run| {
            let machine = &run.report.machine;
            run.code == code
                && (machine.sbar.latency_cycles, machine.vbar.latency_cycles) == (shuffle, load_store)
        })
    }

    /// The transform of `n` points on the (128, 128) design.
    pub(super) fn size(&self, code: Code, n: u32) -> &Run {
        find(&self.sizes, |run| run.code == code && run.n == n)
    }

    /// Cycles for which the front end held shuffles of the 64K transform back at 256 HPLEs and 128
    /// banks, as a register was busy: in textbook order, and with the paper's program.
    pub(super) const fn shuffle_waits(&self) -> [u64; 2] {
        [self.inspections[0].shuffle_wait, self.inspections[1].shuffle_wait]
    }

    /// Instructions of those two programs, and how many of them have the same cycles of dispatch,
    /// issue and completion in both timing models.
    pub(super) const fn agreement(&self) -> (usize, usize) {
        let [(a, same_a), (b, same_b)] = [self.inspections[0].instructions, self.inspections[1].instructions];
        (a + b, same_a + same_b)
    }
}

fn find(runs: &[Run], wanted: impl Fn(&Run) -> bool) -> &Run {
    runs.iter().find(|run| wanted(run)).expect("the built-in sweeps have every point that is asked for")
}

/// Runs a built-in sweep.
fn runs(name: &str, text: &str) -> Result<Vec<Run>, Error> {
    let definition = Definition::parse(name, text)?;
    let plan = sweep::Plan::new(&definition)?;
    let records = sweep::records(&plan, &sweep::generate);
    let run = |(record, point): (sweep::Record, &sweep::PlannedPoint)| {
        let failed = |reason| Error::Failed { sweep: name.to_owned(), reason };
        let (Status::Ok, Some(report)) = (record.status, record.report) else {
            return Err(failed(record.error.unwrap_or_default()));
        };
        let timing = report.timing.clone().ok_or_else(|| failed("there is no timing".into()))?;
        let code = match point.kernel.plan {
            PlanChoice::Unoptimised => Code::Unoptimised,
            PlanChoice::Paper => Code::Paper,
            _ => Code::Best,
        };
        Ok(Run { code, n: point.kernel.n, report, timing })
    };
    records.into_iter().zip(&plan.points).map(run).collect()
}

/// Looks into a 64K program at 256 HPLEs and 128 banks.
fn inspect(code: Code) -> Result<Inspection, Error> {
    let failed = |reason: String| Error::Failed { sweep: format!("the `{}` program", code.plan()), reason };
    let mut machine = Machine::rpu_128x128_paper();
    machine.hple.count = 256;
    let plan = if code == Code::Unoptimised { PlanChoice::Unoptimised } else { PlanChoice::Paper };
    let spec =
        KernelSpec { function: Function::Ntt, n: LARGEST, modulus: ModulusSpec::Bits(128), root: None, plan };
    let request = spec.request().map_err(|error| failed(error.to_string()))?;
    let program = sweep::generate(&request, &machine).map_err(failed)?;
    let timing = timing::simulate(&machine, &program);
    let works = Decoder::program(&machine, &program);
    let busy = [Cause::BusyLoadStore, Cause::BusyCompute, Cause::BusyShuffle];
    let shuffle_wait = Wait::of(&machine, &works, &timing.schedule)
        .iter()
        .filter(|wait| busy.contains(&wait.cause) && works[wait.instruction].pipe == Pipe::Shuffle)
        .map(|wait| wait.to - wait.from)
        .sum();
    let second = stepped::simulate(&machine, &program);
    let same = timing.schedule.iter().zip(&second.schedule).filter(|(a, b)| a == b).count();
    Ok(Inspection { shuffle_wait, instructions: (timing.schedule.len(), same) })
}
