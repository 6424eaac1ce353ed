//! Simulating the points of a sweep in parallel.

use super::journal::{Journal, JournalError};
use super::plan::{Plan, Shard};
use super::results::{Record, Status};
use crate::run::{Execution, Options, RunReport, TimingReport};
use b512_asm::{Equation, Function, Program};
use codegen::Request;
use codegen::golden;
use codegen::number::NumberError;
use rayon::prelude::*;
use sim::{Machine, timing};
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Makes the program of a point, or says why there is none. [`generate`] is the one in use;
/// tests have others.
pub type Generate<'a> = dyn Fn(&Request, &Machine) -> Result<Program, String> + Sync + 'a;

/// The code generator.
///
/// # Errors
/// Its error's text.
pub fn generate(request: &Request, machine: &Machine) -> Result<Program, String> {
    codegen::generate(request, machine).map(|kernel| kernel.program).map_err(|error| error.to_string())
}

/// The indices of the points of a shard that have yet to be simulated: those without a record,
/// and with `retry_failed` also those that failed.
pub fn pending(plan: &Plan, shard: Shard, journal: &Journal, retry_failed: bool) -> Vec<usize> {
    let wanted = |index: &usize| match journal.status(&plan.points[*index].key) {
        None => true,
        Some(Status::Failed) => retry_failed,
        Some(Status::Ok) => false,
    };
    (0..plan.points.len()).filter(|&index| shard.has(index)).filter(wanted).collect()
}

/// Simulates points in the current rayon pool and appends their records to the journal; each goes
/// to `progress`, too.
///
/// A program that several points share is generated once. Every distinct program is executed and
/// compared with the golden model once. Whatever goes wrong with a point becomes its record.
///
/// # Errors
/// Where the journal cannot be written.
pub fn execute(
    plan: &Plan,
    points: &[usize],
    journal: &mut Journal,
    generate: &Generate<'_>,
    progress: &(dyn Fn(&Record) + Sync),
) -> Result<(), JournalError> {
    let journal = Mutex::new(journal);
    let append = |_, record: Record| {
        journal.lock().unwrap_or_else(PoisonError::into_inner).append(&record)?;
        progress(&record);
        Ok(())
    };
    each(plan, points, generate, &append)
}

/// Simulates all points in the current rayon pool, as [`execute`] does, and returns their records
/// in the order of the sweep; nothing is written.
pub fn records(plan: &Plan, generate: &Generate<'_>) -> Vec<Record> {
    let points: Vec<usize> = (0..plan.points.len()).collect();
    let slots: Vec<OnceLock<Record>> = points.iter().map(|_| OnceLock::new()).collect();
    let keep = |index: usize, record| {
        slots[index].set(record).expect("every point has one record");
        Ok::<_, Infallible>(())
    };
    let Ok(()) = each(plan, &points, generate, &keep);
    slots.into_iter().map(|slot| slot.into_inner().expect("every point has a record")).collect()
}

/// Simulates points and hands the record of each, with its index, to `done`.
fn each<E: Send>(
    plan: &Plan,
    points: &[usize],
    generate: &Generate<'_>,
    done: &(dyn Fn(usize, Record) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut by_program: HashMap<&str, usize> = HashMap::new();
    for &index in points {
        let group = *by_program.entry(&plan.points[index].program_key).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(index);
    }
    let checker = Checker::new(plan.seed);
    let record = |index: usize, result: Result<RunReport, String>| {
        let point = &plan.manifest.points[index];
        let (status, error, report) = match result {
            Ok(report) => (Status::Ok, None, Some(report)),
            Err(error) => (Status::Failed, Some(error), None),
        };
        Record { key: point.key.clone(), status, error, point: point.settings.clone(), report }
    };
    groups.par_iter().try_for_each(|group| {
        let first = &plan.points[group[0]];
        let program = guarded(|| {
            let request = first.kernel.request().map_err(|error: NumberError| error.to_string())?;
            generate(&request, &first.scheduled_for)
        });
        group.par_iter().try_for_each(|&index| {
            let result = program
                .as_ref()
                .map_err(String::clone)
                .and_then(|program| guarded(|| simulate(program, &plan.points[index].machine, &checker)));
            done(index, record(index, result))
        })
    })
}

/// A panic in one point of a long sweep is that point's failure.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(format!("internal error: {text}"))
    })
}

fn simulate(program: &Program, machine: &Machine, checker: &Checker) -> Result<RunReport, String> {
    machine.check_fits(program).map_err(|error| error.to_string())?;
    let mut report = RunReport::new(program, machine);
    checker.check(&report.program_blake3, program, machine)?;
    report.checked = true;
    report.seed = Some(checker.options.seed);
    report.timing = Some(TimingReport::new(machine, &timing::simulate(machine, program)));
    Ok(report)
}

/// Values that are computed once, by whoever asks first; the others wait.
struct Once<K, V>(Mutex<HashMap<K, Arc<OnceLock<V>>>>);

impl<K: Eq + Hash, V: Clone> Once<K, V> {
    fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    fn get(&self, key: K, compute: impl FnOnce() -> V) -> V {
        let cell = {
            let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry(key).or_default())
        };
        cell.get_or_init(compute).clone()
    }
}

/// What the golden model is asked: function, degree, modulus, root, hash of the operands.
type Question = (Function, u32, u128, u128, blake3::Hash);

/// Compares programs with the golden model, each program and each claim once.
struct Checker {
    options: Options,
    /// By the program's hash.
    programs: Once<String, Result<(), String>>,
    /// What the golden model says.
    expected: Once<Question, Arc<Result<Vec<u128>, String>>>,
}

impl Checker {
    fn new(seed: u64) -> Self {
        let options = Options { seed, ..Options::default() };
        Self { options, programs: Once::new(), expected: Once::new() }
    }

    fn check(&self, hash: &str, program: &Program, machine: &Machine) -> Result<(), String> {
        self.programs.get(hash.to_owned(), || self.check_program(program, machine))
    }

    fn check_program(&self, program: &Program, machine: &Machine) -> Result<(), String> {
        let execution = Execution::new(program, machine, &self.options).map_err(|error| error.to_string())?;
        if program.equations.is_empty() {
            return Err(crate::run::RunError::NoClaim.to_string());
        }
        for equation in &program.equations {
            let (inputs, output) = execution.claim(equation).map_err(|error| error.to_string())?;
            self.check_claim(equation, &inputs, output)?;
        }
        Ok(())
    }

    fn check_claim(&self, equation: &Equation, inputs: &[&[u128]], output: &[u128]) -> Result<(), String> {
        let Equation { function, n, modulus, root, .. } = *equation;
        let mut hasher = blake3::Hasher::new();
        for word in inputs.iter().copied().flatten() {
            hasher.update(&word.to_le_bytes());
        }
        let expected = self.expected.get((function, n, modulus, root, hasher.finalize()), || {
            let expected = golden::evaluate(function, inputs, n as usize, modulus, root);
            Arc::new(expected.map_err(|error| error.to_string()))
        });
        match &*expected {
            Ok(expected) if expected == output => Ok(()),
            Ok(_) => golden::check(equation, inputs, output).map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Definition;
    use super::*;

    #[test]
    fn records_are_in_the_order_of_the_sweep_whatever_the_number_of_threads() {
        let text = "n = 1024\n[grid]\nhple.count = [128, 64]\nplan = ['kl', 'best']";
        let plan = Plan::new(&Definition::parse("test.toml", text).unwrap()).unwrap();
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| records(&plan, &generate))
        };
        let found = with(1);
        assert_eq!(found, with(3));
        assert!(found.iter().all(|record| record.status == Status::Ok), "{found:?}");
        assert!(found.iter().map(|r| &r.key).eq(plan.points.iter().map(|p| &p.key)));
    }
}
