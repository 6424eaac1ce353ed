//! Holding the programs of a sweep to the golden model.
//!
//! Each distinct program is executed once, and the golden model is asked each question once. Both
//! take their time, and no thread waits for another meanwhile: a job whose verdict another thread
//! is about to find out is laid aside, and that thread goes on with it.

use super::meter::Meter;
use crate::run::{Execution, Options, ProgramFacts, RunError};
use b512_asm::{Claim, Program};
use sim::Machine;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether a program computes what it claims; if not, what is wrong.
pub(super) type Verdict = Result<(), String>;

/// A program and what is to be done once its verdict is known.
pub(super) struct Job<T> {
    pub(super) program: Program,
    pub(super) facts: ProgramFacts,
    /// For whoever gets the job back.
    pub(super) task: T,
}

/// A question to the golden model: the hash of an operation, its settings and its operands.
type Question = blake3::Hash;

/// Compares programs with the golden model.
pub(super) struct Checker<T> {
    options: Options,
    state: Mutex<State<T>>,
}

struct State<T> {
    /// By the program's hash; `None` while a thread finds it out.
    verdicts: HashMap<String, Option<Verdict>>,
    /// The hash of the golden model's result; `None` while a thread computes it.
    answers: HashMap<Question, Option<Result<blake3::Hash, String>>>,
    waiting: Vec<Waiting<T>>,
}

/// A job that was laid aside.
struct Waiting<T> {
    job: Job<T>,
    /// What its execution gave; none where another job with the same program is ahead.
    evidence: Option<Evidence>,
}

/// What is compared with the golden model.
struct Evidence {
    execution: Execution,
    /// Of each claim of the program, what the golden model is asked and the hash of the output.
    claims: Vec<(Question, blake3::Hash)>,
}

impl<T> Checker<T> {
    pub(super) fn new(seed: u64) -> Self {
        let options = Options { seed, ..Options::default() };
        let state = State { verdicts: HashMap::new(), answers: HashMap::new(), waiting: Vec::new() };
        Self { options, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a job, whose program runs on `machine`, and returns all jobs whose verdicts have become
    /// known: this one, none, or also some that were laid aside before. Every job comes back from
    /// some call.
    pub(super) fn check(&self, job: Job<T>, machine: &Machine, meter: &Meter) -> Vec<(Job<T>, Verdict)> {
        {
            let mut state = self.state();
            match state.verdicts.get(&job.facts.blake3) {
                Some(Some(verdict)) => return vec![(job, verdict.clone())],
                Some(None) => {
                    state.waiting.push(Waiting { job, evidence: None });
                    return Vec::new();
                }
                None => _ = state.verdicts.insert(job.facts.blake3.clone(), None),
            }
        }
        let evidence = guarded(|| meter.execution(|| self.execute(&job.program, machine)));
        match evidence {
            Err(error) => {
                let mut state = self.state();
                state.verdicts.insert(job.facts.blake3.clone(), Some(Err(error.clone())));
                let mut known = vec![(job, Err(error))];
                known.extend(state.settled());
                known
            }
            Ok(evidence) => {
                for (claim, (question, _)) in job.program.claims.iter().zip(&evidence.claims) {
                    self.answer(question, claim, &evidence.execution, meter);
                }
                let mut state = self.state();
                state.waiting.push(Waiting { job, evidence: Some(evidence) });
                state.settled()
            }
        }
    }

    fn execute(&self, program: &Program, machine: &Machine) -> Result<Evidence, String> {
        if program.claims.is_empty() {
            return Err(RunError::NoClaim.to_string());
        }
        let execution = Execution::new(program, machine, &self.options).map_err(|error| error.to_string())?;
        let claim = |claim: &Claim| {
            let (inputs, outputs) = execution.claim(claim).map_err(|error| error.to_string())?;
            Ok((question(claim, &inputs), hash(&outputs)))
        };
        let claims = program.claims.iter().map(claim).collect::<Result<_, String>>()?;
        Ok(Evidence { execution, claims })
    }

    /// Asks the golden model, unless it has been asked.
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
    /// Takes the jobs from those that wait whose verdicts follow from what is known now.
    fn settled(&mut self) -> Vec<(Job<T>, Verdict)> {
        let Self { verdicts, answers, waiting } = self;
        for Waiting { job, evidence } in waiting.iter() {
            let verdict = evidence.as_ref().and_then(|e| e.verdict(&job.program.claims, answers));
            if verdict.is_some() {
                verdicts.insert(job.facts.blake3.clone(), verdict);
            }
        }
        let known = |job: &Job<T>| verdicts.get(&job.facts.blake3)?.clone();
        let settled = waiting.extract_if(.., |waiting| known(&waiting.job).is_some());
        settled.filter_map(|Waiting { job, .. }| known(&job).map(|verdict| (job, verdict))).collect()
    }
}

impl Evidence {
    /// `None` where the golden model has not answered everything yet.
    fn verdict(
        &self,
        claims: &[Claim],
        answers: &HashMap<Question, Option<Result<blake3::Hash, String>>>,
    ) -> Option<Verdict> {
        let mut verdict = Ok(());
        for (claim, (question, output)) in claims.iter().zip(&self.claims) {
            let agrees = match answers.get(question)?.as_ref()? {
                Ok(expected) if expected == output => Ok(()),
                // Only the full comparison can say where they differ.
                Ok(_) => guarded(|| self.compare(claim)),
                Err(error) => Err(error.clone()),
            };
            verdict = verdict.and(agrees);
        }
        Some(verdict)
    }

    fn compare(&self, claim: &Claim) -> Verdict {
        let (inputs, outputs) = self.execution.claim(claim).map_err(|error| error.to_string())?;
        golden::compare(claim, &inputs, &outputs).map_err(|error| error.to_string())
    }
}

/// The hash of vectors, one after the other.
fn hash(vectors: &[impl AsRef<[u128]>]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for vector in vectors {
        hasher.update(bytemuck::cast_slice(vector.as_ref()));
    }
    hasher.finalize()
}

/// Equal for claims with equal results, whatever the names of their symbols.
fn question(claim: &Claim, inputs: &[&[u128]]) -> Question {
    let nameless = Claim { outputs: Vec::new(), inputs: Vec::new(), ..claim.clone() };
    let mut hasher = blake3::Hasher::new();
    hasher.update(nameless.to_string().as_bytes());
    hasher.update(hash(inputs).as_bytes());
    hasher.finalize()
}

/// A panic in one point of a long sweep is that point's failure.
pub(super) fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(format!("internal error: {text}"))
    })
}
