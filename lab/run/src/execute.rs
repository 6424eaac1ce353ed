//! The execution of one program on one machine.

use crate::inputs::{self, Domain, InputError};
use crate::program::ProgramFile;
use crate::report::{ProgramFacts, RunReport};
use crate::stream::StreamReport;
use b512_asm::{Claim as ProgramClaim, Class, InvalidProgram, Operand, Program, Role, Space};
use diagnostic::Diagnostics;
use golden::GoldenError;
use ring::cpu;
use runtime::stream::StreamError;
use sim::functional::{AccessError, ExecuteError, Executor, LoadError};
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
    machine.check_fits(program)?;
    let defects = check_defects(program, machine);
    let is_sound = defects.is_ok();
    if !options.lenient {
        defects?;
    }
    let facts = ProgramFacts::of(program);
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
        } else if is_sound {
            check_faults(program, machine, &random_seeds(&facts.blake3, options.seed, 1))?;
        }
        outputs = execution.outputs;
        report.checked = is_sound
            && is_compared(program, machine, |output| {
                options.check && is_claimed(program, output) || options.expected.contains(output)
            });
        report.expected = options.expected.iter().cloned().collect();
    } else if is_sound {
        check_faults(program, machine, &random_seeds(&facts.blake3, options.seed, 1))?;
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
    names.map(|name| Ok((name.clone(), executor.read(name)?.to_vec()))).collect()
}

/// Refuses a program with defects.
pub fn check_defects(program: &Program, machine: &Machine) -> Result<(), RunError> {
    let defects = lint::errors(program, machine);
    if defects.is_empty() { Ok(()) } else { Err(RunError::Invalid(InvalidProgram { defects })) }
}

/// Refuses a program that faults on data that it takes, as a check does. Timings touch no data, and other runs only some: on
/// random data if the program has claims, which say what it takes, or else on zeros, which are below every modulus.
fn check_faults(program: &Program, machine: &Machine, seeds: &[u64]) -> Result<(), RunError> {
    if !program.claims.is_empty() {
        return seeds.iter().try_for_each(|&seed| Execution::random(program, machine, seed).map(drop));
    }
    let loads_input = |index: usize| {
        let (instr, mut loaded) = (&program.instructions[index], None);
        instr.for_each_operand(|_, operand| {
            if let Operand::Offset(offset) = operand {
                loaded = Some(u64::from(offset.words()));
            }
        });
        let is_input = |offset| {
            let mut inputs = inputs::inputs(program).filter(|input| input.space == Space::Sdm);
            inputs.any(|input| input.contains(offset))
        };
        instr.op().class() == Class::ScalarLoad && loaded.is_some_and(is_input)
    };
    let mut executor = Executor::for_machine(machine);
    executor.load(program)?;
    match executor.run() {
        // Zero is no modulus.
        Err(error) if !loads_input(error.index) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Whether a claim says what an output is.
pub fn is_claimed(program: &Program, output: &str) -> bool {
    program.claims.iter().any(|claim| claim.outputs.iter().any(|name| name == output))
}

/// Whether every output of a program is `compared`, and depends on an input: what is the same for all data shows nothing.
pub fn is_compared(program: &Program, machine: &Machine, compared: impl Fn(&str) -> bool) -> bool {
    let outputs = || program.symbols.iter().filter(|symbol| symbol.role == Role::Output);
    outputs().next().is_some()
        && outputs().all(|output| compared(&output.name))
        && (outputs().all(|output| is_claimed(program, &output.name))
            || lint::constant_outputs(program, machine).is_empty())
}

/// Refuses a program with an output that no claim covers, and that is not `compared` otherwise.
pub fn check_coverage(program: &Program, compared: impl Fn(&str) -> bool) -> Result<(), RunError> {
    if program.claims.is_empty() {
        return Err(RunError::NoClaim);
    }
    let outputs = program.symbols.iter().filter(|symbol| symbol.role == Role::Output);
    let mut outputs = outputs.map(|symbol| &symbol.name);
    match outputs.find(|name| !is_claimed(program, name) && !compared(name)) {
        Some(output) => Err(RunError::Unclaimed { output: output.clone() }),
        None => Ok(()),
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

    /// Executes `program` on random values of all inputs, which replace its initial data: once on what all its claims
    /// allow, and once for each claim that allows more. Claims may forbid the data of others: such a run may end at a fault,
    /// and is then left out.
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
            symbols(role).map(|s| Ok((s.name.clone(), executor.read(&s.name)?.to_vec()))).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A program with x, u and p in the VDM, and a constant k.
    fn program(lines: &str) -> Program {
        let head = ".input x, 512, at 0x0\n.output y, 512, at 0x200\n.table k, 1, sdm\n.words k { 7 }\n";
        b512_asm::assemble(&format!("{head}{lines}")).unwrap()
    }

    fn checked(lines: &str, options: &Options) -> Result<RunReport, RunError> {
        run(&program(lines), &Machine::rpu_128x128(), options).map(|outcome| outcome.report)
    }

    fn check(lines: &str) -> Result<bool, RunError> {
        let options = Options { mode: Mode::FunctionalOnly, check: true, ..Options::default() };
        checked(lines, &options).map(|report| report.checked)
    }

    #[test]
    fn inputs_that_no_claim_names_are_drawn() {
        let lines = |initial: &str| {
            format!(
                ".input u, 512, at 0x400\n{initial}.modulus m0, 0xfffffffffffc001\n.modulus m1, 0x3001\n\
                 .computes y = add(x, x), n=512, modulus=0xfffffffffffc001\n\
                 sload s0, k\nvload v0, a0, x\nvload v1, a0, u\nvadd v0, v0, v0, m0\nvadd v0, v0, v1, m0\n\
                 vsubs v0, v0, s0, m0\nvstore v0, a0, y\nhalt\n"
            )
        };
        // With sevens as u, the program is right.
        for initial in [String::new(), format!(".words u {{ {} }}\n", "7 ".repeat(512))] {
            let error = check(&lines(&initial)).unwrap_err();
            assert!(error.is_wrong_result(), "{error}");
        }
    }

    #[test]
    fn a_claim_on_any_words_is_checked_on_words_beyond_the_modulus() {
        let moduli = ".modulus m0, 0xfffffffffffc001\n.modulus m1, 0x3001\nsload s0, k\nvload v0, a0, x\n";
        let claim = ".computes y = muls(x), n=512, modulus=0x3001, by=49\n";
        let right = "vmuls v1, v0, s0, m1\nvmuls v1, v1, s0, m1\nvstore v1, a0, y\n";
        // Right for words below 0x3001 only.
        let wrong = "vmuls v1, v0, s0, m0\nvmuls v1, v1, s0, m1\nvstore v1, a0, y\n";
        assert_eq!(check(&format!("{claim}{moduli}{right}halt\n")), Ok(true));
        assert!(check(&format!("{claim}{moduli}{wrong}halt\n")).unwrap_err().is_wrong_result());
        // Another claim on the same words does not hide it.
        let other = ".output s, 512, at 0x400\n.computes s = add(x, x), n=512, modulus=0xfffffffffffc001\n";
        let sum = "vadd v2, v0, v0, m0\nvstore v2, a0, s\n";
        assert_eq!(check(&format!("{claim}{other}{moduli}{right}{sum}halt\n")), Ok(true));
        assert!(check(&format!("{claim}{other}{moduli}{wrong}{sum}halt\n")).unwrap_err().is_wrong_result());
    }

    /// On data that one claim takes, and another does not, only the first is compared.
    #[test]
    fn a_claim_is_not_compared_on_data_of_others() {
        let head = ".output s, 512, at 0x400\n.table k2, 1, sdm\n.words k2 { 2 }\n\
                    .computes y = muls(x), n=512, modulus=0x3001, by=7\n\
                    .computes s = add(x, x), n=512, modulus=0xfffffffffffc001\n\
                    .modulus m0, 0xfffffffffffc001\n.modulus m1, 0x3001\n\
                    sload s0, k\nsload s1, k2\nvload v0, a0, x\nvmuls v1, v0, s0, m1\nvstore v1, a0, y\n";
        let sum = "vmuls v2, v0, s1, m0\nvstore v2, a0, s\nhalt\n";
        assert_eq!(check(&format!("{head}{sum}")), Ok(true));
        let wrong = head.replace("vmuls v1, v0, s0, m1", "vmuls v1, v0, s1, m0\nvmuls v1, v1, s0, m1");
        assert!(check(&format!("{wrong}{sum}")).unwrap_err().is_wrong_result());
    }

    #[test]
    fn a_run_without_a_check_is_not_checked() {
        let lines = ".computes y = add(x, x), n=512, modulus=97\n.modulus m0, 97\nvload v0, a0, x\n\
                     vadd v0, v0, v0, m0\nvstore v0, a0, y\nhalt\n";
        for check in [false, true] {
            assert_eq!(checked(lines, &Options { check, ..Options::default() }).unwrap().checked, check);
        }
    }

    #[test]
    fn edges_are_drawn() {
        let claim =
            ".computes y = adds(x), n=512, modulus=0x7fffffffe0001, by=0\n.modulus m1, 0x7fffffffe0001\n";
        let execution = |seed| {
            let text = format!("{claim}vload v0, a0, x\nvstore v0, a0, y\nhalt\n");
            Execution::random(&program(&text), &Machine::rpu_128x128(), seed).unwrap().remove(0)
        };
        let q = 0x7_ffff_fffe_0001;
        for edge in [0, 1, q / 2, q / 2 + 1, q - 1] {
            assert!((0..4).all(|seed| execution(seed).inputs["x"].contains(&edge)), "{edge}");
        }
        assert!(execution(0).inputs["x"].iter().all(|&word| word < q));
    }

    #[test]
    fn a_timing_refuses_what_faults_on_all_data() {
        let options = Options { mode: Mode::TimingOnly, ..Options::default() };
        let error = |lines: &str| checked(lines, &options).unwrap_err().to_string();
        let even = ".table e, 1, sdm\n.words e { 4 }\nmload m0, e\nvload v0, a0, x\nvadd v0, v0, v0, m0\nvstore v0, a0, y\nhalt\n";
        assert!(error(even).contains("mload"), "{}", error(even));
        let large =
            "sload s0, k\n.modulus m0, 3\nvload v0, a0, x\nvadds v0, v0, s0, m0\nvstore v0, a0, y\nhalt\n";
        assert!(error(large).contains("not below"), "{}", error(large));
        let right =
            ".modulus m0, 97\nsload s0, k\nvload v0, a0, x\nvadds v0, v0, s0, m0\nvstore v0, a0, y\nhalt\n";
        assert!(checked(right, &options).is_ok());
    }

    #[test]
    fn outputs_with_expected_words_are_checked() {
        let lines = ".output z, 512, at 0x400\n.modulus m0, 97\nvload v0, a0, x\nvadd v0, v0, v0, m0\n\
                     vstore v0, a0, y\nvstore v0, a0, z\nhalt\n";
        for (expected, all) in [(&["y"][..], false), (&["y", "z"], true), (&[], false)] {
            let expected = expected.iter().map(|name| (*name).to_owned()).collect();
            let report = checked(lines, &Options { expected, ..Options::default() }).unwrap();
            assert_eq!(report.checked, all);
        }
    }

    /// What one mode refuses, all modes refuse: the program takes words that its first instruction does not take.
    #[test]
    fn every_mode_refuses_what_faults_on_data_that_the_program_takes() {
        let text = ".computes y = muls(x), n=512, modulus=0x3001, by=1\n.modulus m0, 97\n\
                    vload v0, a0, x\nvadd v1, v0, v0, m0\nvstore v0, a0, y\nhalt\n";
        for (mode, check) in [
            (Mode::TimingOnly, false),
            (Mode::FunctionalOnly, false),
            (Mode::Full, false),
            (Mode::Full, true),
        ] {
            // Words below 97 fault nowhere.
            let inputs = BTreeMap::from([("x".to_owned(), vec![7; 512])]);
            let inputs = if mode == Mode::TimingOnly { BTreeMap::new() } else { inputs };
            let error = checked(text, &Options { mode, check, inputs, ..Options::default() }).unwrap_err();
            assert!(matches!(error, RunError::Execute(_)), "{mode:?}: {error}");
        }
    }

    #[test]
    fn an_output_that_depends_on_no_input_is_never_checked() {
        let lines = ".output z, 512, at 0x400\n.table t, 512, at 0x600\n.words t { 1 }\n.modulus m0, 97\n\
                     vload v0, a0, x\nvstore v0, a0, y\nvload v1, a0, t\nvstore v1, a0, z\nhalt\n";
        let lines = lines.replace("{ 1 }", &format!("{{ {} }}", "1 ".repeat(512)));
        for (store, checked) in [("vstore v1", false), ("vstore v0", true)] {
            let lines = lines.replace("vstore v1", store);
            let expected = ["y", "z"].map(str::to_owned).into();
            let report = super::tests::checked(&lines, &Options { expected, ..Options::default() }).unwrap();
            assert_eq!(report.checked, checked);
        }
    }

    /// Lenient runs go on with defects, whatever is compared.
    #[test]
    fn a_program_with_defects_is_never_checked() {
        let lines = ".modulus m0, 97\nvload v0, a0, x\nvadd v0, v0, v9, m0\nvstore v0, a0, y\nhalt\n";
        for (lines, is_sound) in [(lines.to_owned(), false), (lines.replace("v9", "v0"), true)] {
            let options = Options { expected: ["y".to_owned()].into(), lenient: true, ..Options::default() };
            assert_eq!(checked(&lines, &options).unwrap().checked, is_sound);
            assert_eq!(checked(&lines, &Options { lenient: false, ..options }).is_ok(), is_sound);
        }
    }

    /// Zeros, as which a run without claims takes the inputs, are no moduli.
    #[test]
    fn a_modulus_that_is_an_input_is_no_fault_of_the_program() {
        let lines = ".input q, 1, sdm\nmload m0, q\nvload v0, a0, x\nvadd v0, v0, v0, m0\n\
                     vstore v0, a0, y\nhalt\n";
        for mode in [Mode::TimingOnly, Mode::FunctionalOnly] {
            let inputs = BTreeMap::from([("q".to_owned(), vec![97]), ("x".to_owned(), vec![7; 512])]);
            let inputs = if mode == Mode::TimingOnly { BTreeMap::new() } else { inputs };
            checked(lines, &Options { mode, inputs, ..Options::default() }).unwrap();
        }
    }

    #[test]
    fn a_rate_counts_the_instructions_of_both_parts() {
        let lines = ".modulus m0, 97\nvload v0, a0, x\nvadd v0, v0, v0, m0\nvstore v0, a0, y\nhalt\n";
        let simulated = |mode| {
            let simulator = checked(lines, &Options { mode, ..Options::default() }).unwrap().simulator;
            (simulator.instructions_per_s.unwrap() * simulator.wall_s.unwrap()).round()
        };
        let (functional, timing) = (simulated(Mode::FunctionalOnly), simulated(Mode::TimingOnly));
        assert!(functional >= 3.0 && timing >= 3.0);
        assert_eq!(simulated(Mode::Full), functional + timing);
    }

    #[test]
    fn inputs_are_given_or_initial_or_drawn() {
        let words = |word: &str| format!("{word} ").repeat(512);
        let program = program(&format!(
            ".input u, 512, at 0x400\n.words u {{ {} }}\n.input w, 512, at 0x600\n.modulus m0, 97\nhalt\n",
            words("7")
        ));
        let machine = Machine::rpu_128x128();
        let inputs = |given| inputs_of(&program, &machine, &given, 5).unwrap();
        let drawn = |operand| inputs::draw(5, operand, 512, 97);
        let expected = |u: Vec<u128>, w: Vec<u128>| {
            BTreeMap::from([("x".to_owned(), drawn(0)), ("u".to_owned(), u), ("w".to_owned(), w)])
        };
        assert_eq!(inputs(BTreeMap::new()), expected(vec![7; 512], drawn(2)));
        let names = inputs::drawn(&program).map(|input| input.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["x", "w"]);
        let given = BTreeMap::from([("u".to_owned(), vec![1; 512]), ("w".to_owned(), vec![2; 512])]);
        assert_eq!(inputs(given), expected(vec![1; 512], vec![2; 512]));
    }

    #[test]
    fn a_report_has_the_seed_of_what_it_draws() {
        let lines = ".input u, 512, at 0x400\n.modulus m0, 97\nvload v0, a0, x\nvload v1, a0, u\n\
                     vadd v0, v0, v1, m0\nvstore v0, a0, y\nhalt\n";
        let seed = |given: &[&str]| {
            let inputs = given.iter().map(|name| ((*name).to_owned(), vec![7; 512])).collect();
            checked(lines, &Options { seed: 3, inputs, ..Options::default() }).unwrap().seed
        };
        assert_eq!((seed(&[]), seed(&["x"]), seed(&["x", "u"])), (Some(3), Some(3), None));
    }

    #[test]
    fn random_data_follow_from_the_program_the_seed_and_the_run() {
        let mut seeds = Vec::new();
        for (program, seed) in [("a", 0), ("b", 0), ("a", 1), ("a", u64::MAX)] {
            assert_eq!(random_seeds(program, seed, 2), random_seeds(program, seed, 2));
            seeds.extend(random_seeds(program, seed, 2));
        }
        assert_eq!(seeds.len(), 8);
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 8);
    }
}
