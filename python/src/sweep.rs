//! Sweeps and explorations.

use crate::error::{raise, wrong};
use crate::interrupt::{self, LOOK};
use diagnostic::Diagnostics;
use lab_sweep::explore::{self as search_of, Explored, Space};
use lab_sweep::outputs::Outputs;
use lab_sweep::{
    Definition, FIG4, Journal, JournalError, Measure, Plan, Record, Results, Selection, Shard, Workload,
    generate, run,
};
use pyo3::prelude::*;
use sim::Override;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The state of the work that its thread shares.
#[derive(Default)]
struct Shared {
    stop: Arc<AtomicBool>,
    done: AtomicUsize,
}

/// Runs a sweep, or what is missing of it in the folder, and writes the results there. Returns the number of
/// failed points. `progress` is called with the number of points done and their total.
///
/// The definition is TOML text; without text, the machines of the paper's Fig. 4.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    text: Option<&str>,
    name: &str,
    overrides: Vec<String>,
    folder: PathBuf,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<usize> {
    let definition = definition(text, name, &overrides)?;
    let pool = pool(threads)?;
    let plan = py.detach(|| pool.install(|| Plan::new(&definition))).map_err(raise)?;
    watched(py, plan.len(), progress.as_ref(), |shared| pool.install(|| simulate(&plan, &folder, shared)))
}

/// Searches a space, or goes on with the search in the folder, and writes the results there. Returns the
/// number of failed designs. `progress` is called with the number of evaluated designs and `evaluations`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python passes them by name")]
pub(crate) fn explore(
    py: Python<'_>,
    text: &str,
    name: &str,
    overrides: Vec<String>,
    folder: PathBuf,
    evaluations: usize,
    seed: u64,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<usize> {
    let definition = definition(Some(text), name, &overrides)?;
    let pool = pool(threads)?;
    let space = py.detach(|| pool.install(|| Space::new(&definition))).map_err(raise)?;
    watched(py, evaluations, progress.as_ref(), |shared| {
        pool.install(|| search(&space, &folder, evaluations, seed, shared))
    })
}

/// The points in a folder by their keys: the number of its task, and the first objective of its front.
#[pyfunction]
pub(crate) fn tasks(py: Python<'_>, folder: PathBuf) -> PyResult<BTreeMap<String, (usize, &'static str)>> {
    interrupt::wait(py, move || {
        let results = Results::merge(&[&folder]).map_err(wrong)?;
        let points = &results.manifest.points;
        let mut tasks: BTreeMap<Workload, Vec<usize>> = BTreeMap::new();
        for point in results.recorded() {
            tasks.entry(points.workload(point)).or_default().push(point);
        }
        let objective = |task: &Workload| match &results.manifest.goals {
            Some(goals) => goals.objectives[0],
            None if task.stream > 0 => Measure::StreamUs,
            None => Measure::TimeUs,
        };
        let of_task = |(number, (task, members)): (usize, (&Workload, &Vec<usize>))| {
            let place = (number, objective(task).name());
            members.iter().map(move |&point| (points.key(point).to_string(), place)).collect::<Vec<_>>()
        };
        Ok(tasks.iter().enumerate().flat_map(of_task).collect())
    })?
}

fn pool(threads: usize) -> PyResult<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(wrong)
}

/// The result of work in a thread of its own. Meanwhile, `progress` is called, and a signal stops the work.
fn watched(
    py: Python<'_>,
    total: usize,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&Shared) -> Result<usize, String> + Send,
) -> PyResult<usize> {
    let shared = Shared::default();
    py.detach(|| {
        std::thread::scope(|scope| {
            let work = scope.spawn(|| work(&shared));
            let mut interrupted = Ok(());
            while !work.is_finished() {
                std::thread::sleep(LOOK);
                if interrupted.is_ok()
                    && let Err(error) = report(&shared, total, progress)
                {
                    shared.stop.store(true, Ordering::Relaxed);
                    interrupted = Err(error);
                }
            }
            let result = work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            interrupted?;
            report(&shared, total, progress)?;
            result.map_err(wrong)
        })
    })
}

/// Calls `progress`, and lets the interpreter look at signals.
fn report(shared: &Shared, total: usize, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(progress) = progress else { return Ok(()) };
        progress.call1(py, (shared.done.load(Ordering::Relaxed), total)).map(drop)
    })
}

fn definition(text: Option<&str>, name: &str, overrides: &[String]) -> PyResult<Definition> {
    let (name, text) = text.map_or(("built-in fig4", FIG4), |text| (name, text));
    let mut definition = Definition::parse(name, text).map_err(raise)?;
    let mut errors = Diagnostics::default();
    for text in overrides {
        let change = errors.keep(Override::parse(text));
        if let Some(change) = change {
            errors.keep(definition.set(&change));
        }
    }
    errors.or(definition).map_err(raise)
}

/// Simulates the missing points and writes the results. Returns the number of failed points.
fn simulate(plan: &Plan, folder: &Path, shared: &Shared) -> Result<usize, String> {
    let text = |error: JournalError| error.to_string();
    let part = Selection { shard: Shard::WHOLE, retry_failed: false, stop: Arc::clone(&shared.stop) };
    let done = |_: usize, _: &Record| _ = shared.done.fetch_add(1, Ordering::Relaxed);
    run(plan, folder, &part, &done).map_err(text)?;
    write(folder)
}

/// Searches and writes the results. Returns the number of failed designs.
fn search(
    space: &Space,
    folder: &Path,
    evaluations: usize,
    seed: u64,
    shared: &Shared,
) -> Result<usize, String> {
    let text = |error: JournalError| error.to_string();
    let journal = Journal::open(folder, Shard::WHOLE, &space.manifest()).map_err(text)?;
    let mut journal = journal.stopped_by(Arc::clone(&shared.stop));
    let done = |state: &Explored| shared.done.store(state.evaluations, Ordering::Relaxed);
    search_of::explore(space, &mut journal, evaluations, seed, &generate, &done).map_err(text)?;
    drop(journal);
    write(folder)
}

/// Writes the results of a folder's journal. Returns the number of failed points.
fn write(folder: &Path) -> Result<usize, String> {
    let results = Results::merge(&[folder]).map_err(|error| error.to_string())?;
    Outputs::new(&results).write(folder).map_err(|error| error.to_string())?;
    Ok(results.failed())
}
