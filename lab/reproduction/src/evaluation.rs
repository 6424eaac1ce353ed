//! The simulations behind the figures and claims.

use super::Error;
use super::setting::PaperSetting;
use b512_asm::{Pipe, Program};
use codegen::{PlanChoice, Request};
use configs::evaluation::{CROSSBARS, DESIGNS, MULTIPLIERS, RINGS, UNOPTIMISED};
use lab_run::{Instructions, ProgramFacts, RunReport};
use lab_sweep::{Definition, Status};
use rayon::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::machine::Values;
use sim::timing::{self, Cause, Wait, stepped};

/// The numbers of HPLEs in the paper.
pub(super) const HPLES: [u32; 7] = [4, 8, 16, 32, 64, 128, 256];
/// The numbers of VDM banks in the paper.
pub(super) const BANKS: [u32; 4] = [32, 64, 128, 256];
/// The ring sizes in the paper.
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

/// The program of a transform.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Code {
    /// The paper's algorithm in textbook order, on the machine that reproduces the paper.
    Unoptimised,
    /// The paper's program, on the same machine.
    Paper,
    /// Our fastest program, on the machine that the paper describes.
    Best,
}

impl Code {
    /// The two programs that are shown side by side.
    pub(super) const BOTH: [Self; 2] = [Self::Paper, Self::Best];

    /// Its name as `--plan`.
    pub(super) const fn plan(self) -> &'static str {
        match self {
            Self::Unoptimised => "unoptimised",
            Self::Paper => "paper",
            Self::Best => "best",
        }
    }

    /// Its name in a legend.
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
    /// The ring degree.
    pub n: u32,
    /// The full report.
    pub report: RunReport,
    /// Its cycles.
    pub timing: Cycles,
}

/// The results of the cycle model that claims are about.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cycles {
    pub cycles: u64,
    pub frequency_ghz: f64,
    pub time_us: f64,
    pub instructions: Instructions,
}

impl Cycles {
    fn of(report: &RunReport) -> Option<Self> {
        let (time_us, cycles) = report.duration()?;
        let (frequency_ghz, instructions) = (report.frequency_ghz?, report.instructions?);
        Some(Self { cycles, frequency_ghz, time_us, instructions })
    }
}

impl Run {
    /// HPLEs and VDM banks.
    pub(super) fn design(&self) -> (u32, u32) {
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

/// Shuffle wait cycles and model agreement, measured on programs rather than in reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Inspection {
    /// Cycles for which a busy register held a shuffle at the front end.
    shuffle_wait: u64,
    /// Instructions, and those for which both timing models agree.
    instructions: (usize, usize),
}

/// All simulations of the paper's evaluation. They depend only on the code and the built-in
/// machines, not on the number of threads.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Evaluation {
    designs: Vec<Run>,
    unoptimised: Vec<Run>,
    multipliers: Vec<Run>,
    crossbars: Vec<Run>,
    sizes: Vec<Run>,
    /// At 256 HPLEs and 128 banks: textbook order, then the paper's program. Only remarks of claims
    /// need them, so trials of a setting omit them.
    inspections: Option<[Inspection; 2]>,
}

impl Evaluation {
    /// Simulates everything, in the current rayon pool.
    ///
    /// # Errors
    /// Returns an error if a transform cannot be generated or disagrees with the golden model.
    pub(super) fn new() -> Result<Self, Error> {
        let all = [DESIGNS, UNOPTIMISED, MULTIPLIERS, CROSSBARS, RINGS];
        let mut figures = all
            .par_iter()
            .map(|sweeps| {
                let sweeps: Vec<Vec<Run>> = sweeps.par_iter().map(runs).collect::<Result<_, _>>()?;
                Ok(sweeps.concat())
            })
            .collect::<Result<Vec<Vec<Run>>, Error>>()?
            .into_iter();
        let [designs, unoptimised, multipliers, crossbars, sizes] =
            std::array::from_fn(|_| figures.next().expect("the runs of each figure"));
        let inspections = [PlanChoice::Unoptimised, PlanChoice::Paper]
            .map(|plan| inspect(&Machine::rpu_128x128_paper(), &request(LARGEST)?, &plan));
        let [unoptimised_order, paper] = inspections;
        let inspections = Some([unoptimised_order?, paper?]);
        let all = Self { designs, unoptimised, multipliers, crossbars, sizes, inspections };
        Code::BOTH.into_iter().try_for_each(|code| all.check(code))?;
        Ok(all)
    }

    /// Simulates only what the claims about the paper's program need, in another setting: nothing
    /// of our fastest program, and the points of Figs. 8 and 9 that claims use. The programs are
    /// not executed on data.
    ///
    /// # Errors
    /// Returns an error if a transform cannot be generated.
    pub(super) fn of(setting: &PaperSetting, rings: &Rings) -> Result<Self, Error> {
        let PaperSetting { machine, .. } = setting;
        let on = |hples, banks| {
            let mut machine = machine.clone();
            machine
                .edit(|values| (values.hple.count, values.vdm.banks) = (hples, banks))
                .expect("the designs of Fig. 4 are machines");
            machine
        };
        let run = |code, n, plan: &PlanChoice, machine: &Machine| {
            let program = generate(rings.request(n), plan, machine)?;
            Ok(simulate(code, n, &program, machine))
        };
        let designs: Vec<(u32, u32)> =
            HPLES.iter().flat_map(|&hples| BANKS.map(|banks| (hples, banks))).collect();
        let reference = generate(rings.request(LARGEST), &setting.plan(LARGEST), machine)?;
        let below = |change: &dyn Fn(&mut Values)| {
            let mut machine = machine.clone();
            machine.edit(change).expect("the values of Figs. 8 and 9 are allowed");
            simulate(Code::Paper, LARGEST, &reference, &machine)
        };
        let own = machine.hple.multiplier_latency_cycles;
        let multipliers = MULTIPLIER_LATENCIES.iter().map(|&latency| (latency, 1));
        let multipliers = multipliers.chain(INTERVALS.iter().map(|&interval| (own, interval)));
        let crossbars = SHUFFLE_LATENCIES.iter().map(|&shuffle| (shuffle, LOAD_STORE_LATENCIES[0]));
        let crossbars =
            crossbars.chain(LOAD_STORE_LATENCIES.iter().map(|&latency| (SHUFFLE_LATENCIES[0], latency)));
        Ok(Self {
            designs: designs
                .into_par_iter()
                .map(|(hples, banks)| run(Code::Paper, LARGEST, &setting.plan(LARGEST), &on(hples, banks)))
                .collect::<Result<_, Error>>()?,
            unoptimised: HPLES
                .into_par_iter()
                .map(|hples| run(Code::Unoptimised, LARGEST, &PlanChoice::Unoptimised, &on(hples, 128)))
                .collect::<Result<_, Error>>()?,
            multipliers: multipliers
                .map(|(latency, interval)| {
                    below(&|values| {
                        values.hple.multiplier_latency_cycles = latency;
                        values.hple.initiation_interval = interval;
                    })
                })
                .collect(),
            crossbars: crossbars
                .map(|(shuffle, load_store)| {
                    below(&|values| {
                        values.sbar.latency_cycles = shuffle;
                        values.vbar.latency_cycles = load_store;
                    })
                })
                .collect(),
            sizes: SIZES
                .into_par_iter()
                .map(|n| run(Code::Paper, n, &setting.plan(n), machine))
                .collect::<Result<_, Error>>()?,
            inspections: None,
        })
    }

    /// Checks that every point of figures and claims exists.
    fn check(&self, code: Code) -> Result<(), Error> {
        let missing = |what: String| Error::Missing { what };
        let own = self.design(code, 128, 128).report.machine.hple.multiplier_latency_cycles;
        if !MULTIPLIER_LATENCIES.contains(&own) {
            return Err(missing(format!(
                "in the sweep of Fig. 8 of the `{}` program for its machine's own multiplier latency, {own} cycles: \
                 the latencies are {MULTIPLIER_LATENCIES:?}",
                code.plan()
            )));
        }
        Ok(())
    }

    /// The 64K transform on a design, as the paper's program or our fastest.
    pub(super) fn design(&self, code: Code, hples: u32, banks: u32) -> &Run {
        find(&self.designs, |run| run.code == code && run.design() == (hples, banks))
    }

    /// All designs with one of these programs.
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

    /// What all numbers rest on: the technologies of all machines.
    pub(super) fn basis(&self) -> String {
        let all = [&self.designs, &self.unoptimised, &self.multipliers, &self.crossbars, &self.sizes];
        lab_sweep::basis(all.into_iter().flatten().map(|run| &run.report.machine))
    }

    /// The multiplier latency in the machine of such a program, in cycles.
    pub(super) fn multiplier_latency(&self, code: Code) -> u32 {
        self.design(code, 128, 128).report.machine.hple.multiplier_latency_cycles
    }

    /// The 64K transform with another multiplier latency and initiation interval.
    pub(super) fn multiplier(&self, code: Code, latency: u32, interval: u32) -> &Run {
        find(&self.multipliers, |run| {
            let hple = &run.report.machine.hple;
            run.code == code
                && (hple.multiplier_latency_cycles, hple.initiation_interval) == (latency, interval)
        })
    }

    /// The 64K transform with other crossbar latencies.
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

    /// Cycles for which busy registers held shuffles of the 64K transform at the front end, at 256
    /// HPLEs and 128 banks: in textbook order, and with the paper's program.
    pub(super) fn shuffle_waits(&self) -> Option<[u64; 2]> {
        Some(self.inspections?.map(|inspection| inspection.shuffle_wait))
    }

    /// The instructions of both programs, and how many of them have the same cycles of dispatch, issue and
    /// completion in both timing models.
    pub(super) fn agreement(&self) -> Option<(usize, usize)> {
        let [(a, same_a), (b, same_b)] = self.inspections?.map(|inspection| inspection.instructions);
        Some((a + b, same_a + same_b))
    }
}

fn find(runs: &[Run], wanted: impl Fn(&Run) -> bool) -> &Run {
    runs.iter().find(|run| wanted(run)).expect("the built-in sweeps have every point that is asked for")
}

/// Runs a built-in sweep.
fn runs(&(name, text): &configs::File) -> Result<Vec<Run>, Error> {
    let definition = Definition::parse(&format!("{name}.toml"), text)?;
    let plan = lab_sweep::Plan::new(&definition)?;
    let records = lab_sweep::records(&plan, &lab_sweep::generate);
    let run = |(record, point): (lab_sweep::Record, lab_sweep::PlannedPoint)| {
        let failed = |reason| Error::Failed { sweep: name.to_owned(), reason };
        let (Status::Ok, Some(report)) = (record.status, record.report) else {
            return Err(failed(record.error.unwrap_or_default()));
        };
        let timing = Cycles::of(&report).ok_or_else(|| failed("there is no timing".into()))?;
        let lab_sweep::Task::Kernel(kernel) = &point.task else {
            return Err(failed("a point has no kernel".into()));
        };
        let code = match kernel.plan {
            PlanChoice::Unoptimised => Code::Unoptimised,
            PlanChoice::Paper => Code::Paper,
            PlanChoice::Best
            | PlanChoice::Known
            | PlanChoice::Least(..)
            | PlanChoice::Tuned(_)
            | PlanChoice::Classical
            | PlanChoice::Recipe(_) => Code::Best,
        };
        Ok(Run { code, n: kernel.request.n(), report, timing })
    };
    records.into_iter().zip(plan.points()).map(run).collect()
}

/// The common parts of the requests for each size: finding moduli and roots costs time.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Rings(Vec<Request>);

impl Rings {
    /// Finds them.
    ///
    /// # Errors
    /// Returns an error if a size has none.
    pub(super) fn new() -> Result<Self, Error> {
        SIZES.into_iter().map(request).collect::<Result<_, _>>().map(Self)
    }

    /// The transform of `n` points, one of [`SIZES`].
    pub(super) fn request(&self, n: u32) -> &Request {
        self.0.iter().find(|request| request.n() == n).expect("a request of each size")
    }

    /// Cycles of the 64K transform in a setting.
    ///
    /// # Errors
    /// Returns an error if it cannot be generated.
    pub(super) fn cycles(&self, setting: &PaperSetting) -> Result<u64, Error> {
        let program = generate(self.request(LARGEST), &setting.plan(LARGEST), &setting.machine)?;
        Ok(timing::simulate(&setting.machine, &program).cycles.0)
    }
}

/// The transform of `n` points modulo a prime of 128 bits.
fn request(n: u32) -> Result<Request, Error> {
    let request = Degree::try_from(n).and_then(|n| Request::with_primes(golden::NTT, n, 128, 1));
    request.map_err(|error| failed(n, error.to_string()))
}

fn generate(request: &Request, plan: &PlanChoice, machine: &Machine) -> Result<Program, Error> {
    let generated = lab_sweep::generate(request, plan, machine);
    generated.map(|generated| generated.program).map_err(|reason| failed(request.n(), reason))
}

fn failed(n: u32, reason: String) -> Error {
    Error::Failed { sweep: format!("the transform of {n} points"), reason }
}

/// Runs a program through the cycle model.
fn simulate(code: Code, n: u32, program: &Program, machine: &Machine) -> Run {
    let facts = ProgramFacts::of(program);
    let report =
        RunReport::new(&facts, machine).timed(&facts.events, &timing::simulate(machine, program), None);
    let timing = Cycles::of(&report).expect("it has a timing");
    Run { code, n, report, timing }
}

/// Looks into a program at 256 HPLEs.
fn inspect(machine: &Machine, request: &Request, plan: &PlanChoice) -> Result<Inspection, Error> {
    let mut machine = machine.clone();
    machine.edit(|values| values.hple.count = 256).expect("256 HPLEs are allowed");
    let program = generate(request, plan, &machine)?;
    let timing = timing::simulate(&machine, &program);
    let shuffle_wait = Wait::of(&machine, &program, &timing.timestamps)
        .iter()
        .filter(|wait| {
            matches!(wait.cause, Cause::Busy(_))
                && program.instructions[wait.instruction].pipe() == Pipe::Shuffle
        })
        .map(|wait| wait.to - wait.from)
        .sum();
    let second = stepped::simulate(&machine, &program);
    let same = timing.timestamps.iter().zip(&second.timestamps).filter(|(a, b)| a == b).count();
    Ok(Inspection { shuffle_wait, instructions: (timing.timestamps.len(), same) })
}
