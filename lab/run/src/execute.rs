//! The execution of one program on one machine.

use crate::inputs::{self, Domain, InputError};
use crate::program::ProgramFile;
use crate::report::{ProgramFacts, RunReport};
use crate::stream::StreamReport;
use b512_asm::{Claim as ProgramClaim, Defect, InvalidProgram, Program, Role};
use diagnostic::Diagnostics;
use golden::GoldenError;
use ring::cpu;
use runtime::schedule::consecutive::StreamError;
use sim::functional::{AccessError, ExecuteError, Executor, LoadError, check_load};
use sim::machine::LawOperands;
use sim::timing::{self, Timing};
use sim::{FitError, Machine, lint};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use thiserror::Error;

/// The parts of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Execution and timing.
    #[default]
    Full,
    /// Timing, without data.
    TimingOnly,
    /// Execution, without timing.
    FunctionalOnly,
}

/// The parameters of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The parts to run.
    pub mode: Mode,
    /// Whether to compare every output with the golden model, also on random inputs. Not possible
    /// with [`Mode::TimingOnly`].
    pub check: bool,
    /// Seed of the inputs that are not given.
    pub seed: u64,
    /// Words of input symbols. Other inputs keep the words of the program's image, or are drawn
    /// from the seed if it has none.
    pub inputs: BTreeMap<String, Vec<u128>>,
    /// Outputs that the caller compares with words of its own.
    pub expected: BTreeSet<String>,
    /// The length of a stream: consecutive runs of the program, each on its own data, that overlap
    /// with off-chip transfers. Not possible with [`Mode::FunctionalOnly`].
    pub stream: Option<usize>,
    /// Whether to run a program with defects that [`lint::errors`] finds.
    pub lenient: bool,
}

/// The result of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The document.
    pub report: RunReport,
    /// The words of each output symbol, unless the run was [`Mode::TimingOnly`].
    pub outputs: BTreeMap<String, Vec<u128>>,
    /// The cycles of every instruction, unless the run was [`Mode::FunctionalOnly`].
    pub timing: Option<Timing>,
}

/// The reason why a run failed.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum RunError {
    /// The program is too large for the machine, or needs an extension.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// A stream is too large for the machine.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// The program has defects.
    #[error("{0}")]
    Invalid(InvalidProgram),
    /// The program cannot be loaded into the machine.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The inputs do not fit the program.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An unknown symbol.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// An instruction fault.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The program has no claim to compare with the golden model.
    #[error("the program has no `.computes` line to check")]
    NoClaim,
    /// An output without a claim.
    #[error("cannot check output `{output}`: no `.computes` line says what it is")]
    Unclaimed {
        /// The output.
        output: String,
    },
    /// The golden model has another result, or none.
    #[error(transparent)]
    Golden(#[from] GoldenError),
}

impl RunError {
    /// Whether the program ran with a wrong result, in contrast to a run that could not start or
    /// finish.
    pub fn is_wrong_result(&self) -> bool {
        matches!(self, Self::Golden(GoldenError::Differs { .. }))
    }

    /// The remedy, if it is the same for every user.
    pub fn help(&self) -> Option<&'static str> {
        matches!(self, Self::NoClaim).then_some("add a line such as `.computes y = ntt(x), n=1024, ...`")
    }

    /// The defects of the program, or the fault of an instruction, with their spans in the program's file;
    /// `None` for other errors.
    pub fn in_file(&self, file: &ProgramFile) -> Option<Diagnostics> {
        match self {
            Self::Invalid(invalid) => {
                let mut errors = Diagnostics::default();
                let found = file.diagnostics(invalid.defects.clone());
                found.into_iter().for_each(|error| errors.push(error));
                Some(errors)
            }
            Self::Execute(fault) => Some(file.fault(fault).into()),
            Self::Fit(_)
            | Self::Stream(_)
            | Self::Load(_)
            | Self::Input(_)
            | Self::Access(_)
            | Self::NoClaim
            | Self::Unclaimed { .. }
            | Self::Golden(_) => None,
        }
    }
}

/// The words of symbols, by name.
type Words = BTreeMap<String, Vec<u128>>;

/// Runs `program` on `machine`.
///
/// # Errors
/// Returns an error if the program does not fit the machine or has defects, an input does not fit the
/// program, an instruction faults, or a result differs from the golden model.
pub fn run(program: &Program, machine: &Machine, options: &Options) -> Result<Outcome, RunError> {
    let facts = ProgramFacts::of(program);
    let admitted = admit(program, machine);
    let is_sound = admitted.is_ok();
    if !options.lenient || matches!(admitted, Err(RunError::Fit(_))) {
        admitted?;
    }
    let mut report = RunReport::new(&facts, machine);
    let mut outputs = BTreeMap::new();
    let begin = Instant::now();
    let mut simulated = 0;
    if options.mode != Mode::TimingOnly {
        let execution = Execution::new(program, machine, options)?;
        simulated += execution.instructions;
        report.simulator.functional_wall_s = Some(begin.elapsed().as_secs_f64());
        report.simulator.cpu = Some(cpu::Instructions::of_this_process().to_string());
        report.seed = execution.is_drawn.then_some(options.seed);
        if options.check {
            check_coverage(program, |output| options.expected.contains(output))?;
            execution.compare(program)?;
            check_on_random_data(program, machine, &random_seeds(&facts.blake3, options.seed, 2))?;
        }
        outputs = execution.outputs;
        report.checked = is_sound
            && is_compared(program, machine, |output| {
                options.check && is_claimed(program, output) || options.expected.contains(output)
            });
        report.expected = options.expected.iter().cloned().collect();
    }
    let mut timing = None;
    if options.mode != Mode::FunctionalOnly {
        let begin = Instant::now();
        let simulation = timing::simulate(machine, program);
        simulated += program.instructions.len();
        report.simulator.timing_wall_s = Some(begin.elapsed().as_secs_f64());
        let stream = |runs| StreamReport::new(program, machine, &simulation, runs);
        let stream = options.stream.map(stream).transpose()?;
        report = report.timed(&facts.events, &simulation, stream);
        timing = Some(simulation);
    }
    report.simulator.finish(simulated as u64);
    Ok(Outcome { report, outputs, timing })
}

/// The words of every input of a run of `program` on `machine`: the `given` ones, else the program's image,
/// else words drawn from `seed`.
///
/// # Errors
/// Returns an error if the program does not fit the machine, or a given input does not fit the program.
pub fn inputs_of(
    program: &Program,
    machine: &Machine,
    given: &BTreeMap<String, Vec<u128>>,
    seed: u64,
) -> Result<BTreeMap<String, Vec<u128>>, RunError> {
    machine.check_fits(program)?;
    let mut executor = Executor::for_machine(machine);
    executor.load(program)?;
    inputs::write(&mut executor, program, given, seed)?;
    let names = program.symbols.iter().filter(|symbol| symbol.role == Role::Input).map(|symbol| &symbol.name);
    names.map(|name| Ok((name.clone(), executor.read(name)?))).collect()
}

/// Whether a machine takes a program: the one question that every command asks before its work, whether it
/// runs, times, proves, reorders, lists findings or debugs. The answer depends on nothing else, such as
/// inputs or a seed.
///
/// # Errors
/// Returns an error if the program does not fit the machine, has defects, or may fault on data that it takes.
pub fn admit(program: &Program, machine: &Machine) -> Result<(), RunError> {
    check_defects(program, machine)?;
    check_load(machine, program)?;
    let any_word = machine.law.operands == LawOperands::Word;
    refuse(lint::ranges(program, machine, |input| inputs::largest(program, input, any_word, Domain::All)))
}

/// The part of [`admit`] that holds for all data.
///
/// # Errors
/// Returns an error if the program does not fit the machine or has defects.
pub fn check_defects(program: &Program, machine: &Machine) -> Result<(), RunError> {
    machine.check_fits(program)?;
    refuse(lint::errors(program, machine))
}

fn refuse(defects: Vec<Defect>) -> Result<(), RunError> {
    if defects.is_empty() { Ok(()) } else { Err(RunError::Invalid(InvalidProgram { defects })) }
}

/// Whether a claim says what an output is.
pub fn is_claimed(program: &Program, output: &str) -> bool {
    program.claims.iter().any(|claim| claim.outputs.iter().any(|name| name == output))
}

/// Whether every output of a program is `compared`, and depends on an input: what is the same for all data
/// shows nothing.
pub fn is_compared(program: &Program, machine: &Machine, compared: impl Fn(&str) -> bool) -> bool {
    let outputs = || program.symbols.iter().filter(|symbol| symbol.role == Role::Output);
    outputs().next().is_some()
        && outputs().all(|output| compared(&output.name))
        && (outputs().all(|output| is_claimed(program, &output.name))
            || lint::constant_outputs(program, machine).is_empty())
}

/// Refuses a program with an output that no claim covers, and that is not `compared` otherwise; and one with
/// a claim that defines no result.
pub fn check_coverage(program: &Program, compared: impl Fn(&str) -> bool) -> Result<(), RunError> {
    if program.claims.is_empty() {
        return Err(RunError::NoClaim);
    }
    let outputs = program.symbols.iter().filter(|symbol| symbol.role == Role::Output);
    let mut outputs = outputs.map(|symbol| &symbol.name);
    match outputs.find(|name| !is_claimed(program, name) && !compared(name)) {
        Some(output) => Err(RunError::Unclaimed { output: output.clone() }),
        None => refuse(golden::wrong_roots(program)),
    }
}

/// The seeds of the random runs of a check. They follow from the hash of the program, so that no program can
/// be made for the data on which it is checked.
pub fn random_seeds(program_blake3: &str, seed: u64, runs: usize) -> Vec<u64> {
    let seed_of = |run: usize| {
        let hash = blake3::hash(format!("{program_blake3} {seed} {run}").as_bytes());
        u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("a hash has 32 bytes"))
    };
    (0..runs).map(seed_of).collect()
}

/// Compares a program with its claims on random data, once for each seed.
pub fn check_on_random_data(program: &Program, machine: &Machine, seeds: &[u64]) -> Result<(), RunError> {
    let compare = |execution: Execution| execution.compare(program);
    seeds
        .iter()
        .try_for_each(|&seed| Execution::random(program, machine, seed)?.into_iter().try_for_each(compare))
}

/// A functional run with its data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    inputs: Words,
    outputs: Words,
    /// Instructions executed.
    instructions: usize,
    /// Whether any input came from the seed.
    is_drawn: bool,
    /// The domain of the data.
    domain: Domain,
}

impl Execution {
    /// Executes `program`.
    pub fn new(program: &Program, machine: &Machine, options: &Options) -> Result<Self, RunError> {
        Self::with(program, machine, Domain::All, |executor| {
            inputs::write(executor, program, &options.inputs, options.seed)
        })
    }

    /// Executes `program` on random values of all inputs, which replace its initial data: once on what all
    /// its claims allow, and once for each claim that allows more. Claims may forbid the data of others: such
    /// a run may end at a fault, and is then left out.
    pub fn random(program: &Program, machine: &Machine, seed: u64) -> Result<Vec<Self>, RunError> {
        let any_word = machine.law.operands == LawOperands::Word;
        let run = |domain| {
            Self::with(program, machine, domain, |executor| {
                inputs::write_random(executor, program, seed, any_word, domain).map(|()| true)
            })
        };
        let is_forbidden = |domain, run: &Result<Self, RunError>| {
            domain != Domain::All && matches!(run, Err(RunError::Execute(_)))
        };
        let domains = inputs::domains(program, any_word).into_iter();
        domains
            .map(|domain| (domain, run(domain)))
            .filter(|(domain, run)| !is_forbidden(*domain, run))
            .map(|(_, run)| run)
            .collect()
    }

    fn with(
        program: &Program,
        machine: &Machine,
        domain: Domain,
        write: impl FnOnce(&mut Executor) -> Result<bool, InputError>,
    ) -> Result<Self, RunError> {
        let mut executor = Executor::for_machine(machine);
        executor.load(program)?;
        let is_drawn = write(&mut executor)?;
        let symbols = |role| program.symbols.iter().filter(move |symbol| symbol.role == role);
        let read = |executor: &Executor, role| -> Result<Words, AccessError> {
            symbols(role).map(|s| Ok((s.name.clone(), executor.read(&s.name)?))).collect()
        };
        let inputs = read(&executor, Role::Input)?;
        let instructions = executor.run()?;
        let outputs = read(&executor, Role::Output)?;
        Ok(Self { inputs, outputs, instructions, is_drawn, domain })
    }

    /// Compares the outputs with the golden model.
    fn compare(&self, program: &Program) -> Result<(), RunError> {
        for claim in self.claims(program) {
            let (inputs, outputs) = self.claim(claim)?;
            golden::compare(claim, &inputs, &outputs)?;
        }
        Ok(())
    }

    /// The claims of the program that allow the data.
    pub fn claims<'p>(&self, program: &'p Program) -> impl Iterator<Item = &'p ProgramClaim> + use<'p> {
        let domain = self.domain;
        let allows = move |number| match domain {
            Domain::All | Domain::Unclaimed => true,
            Domain::Claim(own) => own == number,
        };
        program.claims.iter().enumerate().filter(move |(number, _)| allows(*number)).map(|(_, claim)| claim)
    }

    /// The words of each output symbol.
    pub fn outputs(&self) -> &BTreeMap<String, Vec<u128>> {
        &self.outputs
    }

    /// The operands and the results of one of the program's claims.
    pub fn claim(&self, claim: &ProgramClaim) -> Result<(Vectors<'_>, Vectors<'_>), AccessError> {
        fn find<'w>(words: &'w Words, names: &[String]) -> Result<Vectors<'w>, AccessError> {
            let unknown = |name: &String| AccessError::UnknownSymbol {
                symbol: name.clone(),
                known: words.keys().cloned().collect(),
            };
            let find = |name| words.get(name).map(Vec::as_slice).ok_or_else(|| unknown(name));
            names.iter().map(find).collect()
        }
        Ok((find(&self.inputs, &claim.inputs)?, find(&self.outputs, &claim.outputs)?))
    }
}

/// The words of several symbols.
type Vectors<'w> = Vec<&'w [u128]>;
