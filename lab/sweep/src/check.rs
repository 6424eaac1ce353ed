//! Comparison of a sweep's programs with the golden model.
//!
//! Each distinct program is executed once, and the golden model computes each result once. Both
//! take time, but no thread waits for another: if another thread is computing the verdict of a job,
//! the job is set aside, and that thread continues it.

use super::data::Data;
use super::meter::Meter;
use b512_asm::{Claim, Program};
use codegen::Request;
use lab_run::{Execution, Options, ProgramFacts, check_coverage, check_defects, is_claimed, is_compared};
use sim::Machine;
use sim::machine::LawOperands;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whether a program was compared with anything: with its claims, or with given data. The error is the
/// difference.
pub(super) type Verdict = Result<bool, String>;

/// A program and the work that follows its verdict.
pub(super) struct Job<T> {
    pub(super) program: Arc<Program>,
    pub(super) facts: ProgramFacts,
    /// The caller's data.
    pub(super) task: T,
}

/// A program, by its hash, and what of a machine decides about its results.
type Run = (String, Conditions);

/// What of a machine decides about the results of programs that fit it: the words of its VDM and of its SDM,
/// and the multiplicands that it accepts. The last also decides about the data of the check.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Conditions {
    vdm_words: u32,
    sdm_words: u32,
    operands: LawOperands,
}

impl Conditions {
    fn of(machine: &Machine) -> Self {
        let operands = machine.law.operands;
        Self { vdm_words: machine.vdm_words(), sdm_words: machine.sdm_words(), operands }
    }

    /// Whether a program that runs under these conditions has the same results under others.
    fn imply(&self, others: &Self) -> bool {
        self.vdm_words <= others.vdm_words
            && self.sdm_words <= others.sdm_words
            && self.operands == others.operands
    }
}

/// The machine on which a program is most likely to have a fault: without one there, it has the same results
/// on all others.
pub(super) fn strictest<'m>(machines: &[&'m Machine]) -> Option<&'m Machine> {
    let implies = |one: &Machine, other: &Machine| Conditions::of(one).imply(&Conditions::of(other));
    machines.iter().find(|one| machines.iter().all(|other| implies(one, other))).copied()
}

/// A request to the golden model: the hash of an operation, its settings and its operands.
type Question = blake3::Hash;

/// Compares programs with the golden model.
pub(super) struct Checker<'d, T> {
    options: Options,
    data: &'d Data,
    state: Mutex<State<T>>,
}

struct State<T> {
    /// `None` while a thread computes the verdict.
    verdicts: HashMap<Run, Option<Verdict>>,
    /// The hash of the golden model's result; `None` while a thread computes it.
    answers: HashMap<Question, Option<Result<blake3::Hash, String>>>,
    waiting: Vec<Waiting<T>>,
}

/// A job that was set aside.
struct Waiting<T> {
    job: Job<T>,
    run: Run,
    /// Its execution's result; `None` if an earlier job has the same program.
    evidence: Option<Evidence>,
}

/// The results to compare with the golden model.
struct Evidence {
    executions: Vec<Execution>,
    /// Whether the results are compared with anything.
    compared: bool,
    /// For each execution and each claim that allows its data, the request to the golden model and the hash
    /// of the output.
    claims: Vec<(Question, blake3::Hash)>,
}

impl<'d, T> Checker<'d, T> {
    pub(super) fn new(data: &'d Data) -> Self {
        let options = Options { seed: data.seed, inputs: data.inputs.clone(), ..Options::default() };
        let state = State { verdicts: HashMap::new(), answers: HashMap::new(), waiting: Vec::new() };
        Self { options, data, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job, whose program runs on `machine`. Returns all jobs with known verdicts: this
    /// one, none, or also some that were set aside earlier. Some call returns every job.
    pub(super) fn check(&self, job: Job<T>, machine: &Machine, meter: &Meter) -> Vec<(Job<T>, Verdict)> {
        let run = (job.facts.blake3.clone(), Conditions::of(machine));
        {
            let mut state = self.state();
            match state.verdicts.get(&run) {
                Some(Some(verdict)) => return vec![(job, verdict.clone())],
                Some(None) => {
                    state.waiting.push(Waiting { job, run, evidence: None });
                    return Vec::new();
                }
                None => _ = state.verdicts.insert(run.clone(), None),
            }
        }
        let evidence = guarded(|| meter.execution(|| self.execute(&job.program, machine)));
        match evidence {
            Err(error) => {
                let mut state = self.state();
                state.verdicts.insert(run, Some(Err(error.clone())));
                let mut known = vec![(job, Err(error))];
                known.extend(state.settled());
                known
            }
            Ok(evidence) => {
                for ((execution, claim), (question, _)) in
                    compared(&evidence.executions, &job.program).zip(&evidence.claims)
                {
                    self.answer(question, claim, execution, meter);
                }
                let mut state = self.state();
                state.waiting.push(Waiting { job, run, evidence: Some(evidence) });
                state.settled()
            }
        }
    }

    /// Whether a program runs on a machine without a fault.
    pub(super) fn runs(&self, program: &Program, machine: &Machine, meter: &Meter) -> bool {
        guarded(|| meter.execution(|| self.execute(program, machine))).is_ok()
    }

    fn execute(&self, program: &Program, machine: &Machine) -> Result<Evidence, String> {
        check_defects(program, machine).map_err(|error| error.to_string())?;
        let Data { seed, inputs, expected } = self.data;
        let executions = if inputs.is_empty() && expected.is_empty() {
            if !program.claims.is_empty() {
                check_coverage(program, |_| false).map_err(|error| error.to_string())?;
            }
            Execution::random(program, machine, *seed)
        } else {
            Execution::new(program, machine, &self.options).map(|execution| vec![execution])
        };
        let executions = executions.map_err(|error| error.to_string())?;
        let outputs = executions[0].outputs();
        self.data.compare(outputs)?;
        let claim = |(execution, claim): (&Execution, &Claim)| {
            let (inputs, outputs) = execution.claim(claim).map_err(|error| error.to_string())?;
            Ok((question(claim, &inputs), hash(&outputs)))
        };
        let claims = compared(&executions, program).map(claim).collect::<Result<_, String>>()?;
        let compared = is_compared(program, machine, |output| {
            is_claimed(program, output) || self.data.expected.contains_key(output)
        });
        Ok(Evidence { executions, compared, claims })
    }

    /// Runs the golden model, unless it has run for this request.
    fn answer(&self, question: &Question, claim: &Claim, execution: &Execution, meter: &Meter) {
        match self.state().answers.entry(*question) {
            Entry::Occupied(_) => return,
            Entry::Vacant(place) => _ = place.insert(None),
        }
        let answer = guarded(|| {
            let (inputs, _) = execution.claim(claim).map_err(|error| error.to_string())?;
            let evaluate = || golden::evaluate(claim, &inputs);
            let expected = meter.golden(evaluate).map_err(|error| error.to_string())?;
            Ok(hash(&expected))
        });
        self.state().answers.insert(*question, Some(answer));
    }
}

impl<T> State<T> {
    /// Removes the waiting jobs whose verdicts are now known.
    fn settled(&mut self) -> Vec<(Job<T>, Verdict)> {
        let Self { verdicts, answers, waiting } = self;
        for Waiting { job, run, evidence } in waiting.iter() {
            let verdict = evidence.as_ref().and_then(|e| e.verdict(&job.program, answers));
            if verdict.is_some() {
                verdicts.insert(run.clone(), verdict);
            }
        }
        let known = |run: &Run| verdicts.get(run)?.clone();
        let settled = waiting.extract_if(.., |waiting| known(&waiting.run).is_some());
        settled.filter_map(|Waiting { job, run, .. }| known(&run).map(|verdict| (job, verdict))).collect()
    }
}

impl Evidence {
    /// `None` if the golden model has not computed everything yet.
    fn verdict(
        &self,
        program: &Program,
        answers: &HashMap<Question, Option<Result<blake3::Hash, String>>>,
    ) -> Option<Verdict> {
        let mut verdict = Ok(self.compared);
        for ((execution, claim), (question, output)) in compared(&self.executions, program).zip(&self.claims)
        {
            let agrees = match answers.get(question)?.as_ref()? {
                Ok(expected) if expected == output => Ok(()),
                // Only the full comparison can locate the difference.
                Ok(_) => guarded(|| compare(execution, claim)),
                Err(error) => Err(error.clone()),
            };
            verdict = verdict.and_then(|compared| agrees.map(|()| compared));
        }
        Some(verdict)
    }
}

/// Each execution with each claim that allows its data.
fn compared<'e>(
    executions: &'e [Execution],
    program: &'e Program,
) -> impl Iterator<Item = (&'e Execution, &'e Claim)> {
    executions.iter().flat_map(|execution| execution.claims(program).map(move |claim| (execution, claim)))
}

fn compare(execution: &Execution, claim: &Claim) -> Result<(), String> {
    let (inputs, outputs) = execution.claim(claim).map_err(|error| error.to_string())?;
    golden::compare(claim, &inputs, &outputs).map_err(|error| error.to_string())
}

/// Checks that a program claims what was requested: in each tower the operation, with the settings of the
/// request.
///
/// # Errors
/// Returns the first claim that is missing.
pub(super) fn check_request(request: &Request, program: &Program) -> Result<(), String> {
    let missing = (0..request.towers()).map(|tower| request.claim(tower)).find(|wanted| {
        let is_wanted =
            |claim: &Claim| claim.expressions == wanted.expressions && claim.settings == wanted.settings;
        !program.claims.iter().any(is_wanted)
    });
    match missing {
        Some(claim) => Err(format!("the program does not claim what was requested: `{claim}`")),
        None => Ok(()),
    }
}

/// The hash of vectors in sequence.
fn hash(vectors: &[impl AsRef<[u128]>]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for vector in vectors {
        hasher.update(bytemuck::cast_slice(vector.as_ref()));
    }
    hasher.finalize()
}

/// Equal for claims with equal results, whatever the names of their symbols.
fn question(claim: &Claim, inputs: &[&[u128]]) -> Question {
    let numbered = |names: &[String]| (0..names.len()).map(|number| number.to_string()).collect();
    let (outputs, inputs_of_claim) = (numbered(&claim.outputs), numbered(&claim.inputs));
    let nameless = Claim { outputs, inputs: inputs_of_claim, ..claim.clone() };
    let mut hasher = blake3::Hasher::new();
    hasher.update(nameless.to_string().as_bytes());
    hasher.update(hash(inputs).as_bytes());
    hasher.finalize()
}

/// Turns a panic in one point of a long sweep into that point's failure.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(format!("internal error: {text}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::{Degree, Ring};

    #[test]
    fn a_question_does_not_depend_on_the_names_of_symbols() {
        let ring = Ring::with_smallest_root(Degree::new(1024).unwrap(), 12289).unwrap();
        let claim = Request::single(golden::NTT, ring).claim(0);
        let asked = |claim: &Claim, word: u128| question(claim, &[&[word; 1024]]);
        let other = |names: &[String]| names.iter().map(|name| format!("other_{name}")).collect();
        for same in [
            Claim { inputs: other(&claim.inputs), ..claim.clone() },
            Claim { outputs: other(&claim.outputs), ..claim.clone() },
        ] {
            assert_eq!(asked(&same, 3), asked(&claim, 3), "{same}");
        }
        assert_ne!(asked(&claim, 3), asked(&claim, 4));
    }
}
