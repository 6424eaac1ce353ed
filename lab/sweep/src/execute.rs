//! Simulating the points of a sweep in parallel.

use super::check::{Checker, Job, check_request, guarded, strictest};
use super::journal::{self, Journal, JournalError};
use super::key::PointKey;
use super::meter::{Meter, Spent};
use super::plan::Plan;
use super::point::{PlannedPoint, Source};
use super::record::{Record, Status};
use super::task::{GivenProgram, KernelTask, RingTask, Task};
use b512_asm::Program;
use codegen::{PlanChoice, RecipeOrigin, Request, choose, compile};
use lab_run::{ProgramFacts, RunReport, StreamReport, admit, check_on_random_data, random_seeds};
use rayon::prelude::*;
use runtime::{Lifted, Runtime};
use sim::timing::{self, DecodedProgram, Timing};
use sim::{Machine, lint};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Generates the program of a point, or returns an error message. [`generate`] is the default;
/// tests use others.
pub type Generate<'a> = dyn Fn(&Request, &PlanChoice, &Machine) -> Result<Generated, String> + Sync + 'a;

/// A program and its origin.
#[derive(Clone, PartialEq, Debug)]
pub struct Generated {
    /// The program.
    pub program: Program,
    /// The origin of its recipe.
    pub origin: RecipeOrigin,
}

/// The code generator.
///
/// # Errors
/// The text of its error.
pub fn generate(request: &Request, plan: &PlanChoice, machine: &Machine) -> Result<Generated, String> {
    let choice = choose(request, machine, plan).map_err(|error| error.to_string())?;
    let kernel = compile(request, &choice.recipe, machine).map_err(|error| error.to_string())?;
    Ok(Generated { program: kernel.program, origin: choice.origin })
}

/// Simulates some points of a plan in the current rayon pool and appends their records to the journal;
/// `progress` receives each record, too. Returns where the time went.
///
/// A program that several points share is generated once, and simulated once for all machines on which it
/// takes the same cycles. Every distinct program is executed and compared with the golden model once. A
/// failure of a point becomes its record.
///
/// # Errors
/// Returns an error if the journal cannot be written.
pub fn execute(
    plan: &Plan,
    points: &[usize],
    journal: &mut Journal,
    generate: &Generate<'_>,
    progress: &(dyn Fn(&Record) + Sync),
) -> Result<Spent, JournalError> {
    let journal = Mutex::new(journal);
    each(plan, points, generate, &|record| {
        let line = journal::line(&record)?;
        journal.lock().unwrap_or_else(PoisonError::into_inner).append(&record, &line)?;
        progress(&record);
        Ok(())
    })
}

/// Simulates all points in the current rayon pool, as [`execute`] does, and returns their records
/// in the order of the sweep; nothing is written.
pub fn records(plan: &Plan, generate: &Generate<'_>) -> Vec<Record> {
    let all: Vec<usize> = (0..plan.len()).collect();
    let known = Mutex::new(HashMap::new());
    let keep = |record: Record| {
        known.lock().unwrap_or_else(PoisonError::into_inner).insert(record.key, record);
        Ok(())
    };
    each(plan, &all, generate, &keep).expect("no journal is written");
    let mut known = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    plan.manifest.points.keys().iter().filter_map(|key| known.remove(key)).collect()
}

/// Simulates points and passes the record of each to `done`, in completion order.
pub(super) fn each(
    source: &dyn Source,
    points: &[usize],
    generate: &Generate<'_>,
    done: &(dyn Fn(Record) -> Result<(), JournalError> + Sync),
) -> Result<Spent, JournalError> {
    let meter = Meter::default();
    let checker = Checker::new(source.data());
    let end = |point: PlannedPoint, origin: Option<RecipeOrigin>, result: Result<RunReport, String>| {
        done(record(point, origin, result))
    };
    // One program after the other, so that the threads finish at about the same time.
    by_class(points, |&point| source.class(point).program).into_par_iter().with_max_len(1).try_for_each(
        |group| {
            let first = source.point(group[0]);
            let program = match &first.task {
                Task::Kernel(kernel) => guarded(|| program(kernel, &first, generate, &meter)),
                Task::Program(given) => {
                    Ok(Generated { program: given.program.clone(), origin: RecipeOrigin::Given })
                }
                Task::Ring(_) => {
                    let classes = by_class(&group, |&point| source.class(point).kernels);
                    return classes.into_par_iter().with_max_len(1).try_for_each(|class| {
                        let points = class.into_iter().map(|point| source.point(point));
                        time_each(points, &meter, &end)
                    });
                }
            };
            let fail = |group: &[usize], error: &str| {
                group.iter().try_for_each(|&point| end(source.point(point), None, Err(error.to_owned())))
            };
            let Generated { program, origin } = match program {
                Ok(generated) => generated,
                Err(error) => return fail(&group, &error),
            };
            let (facts, program) = (ProgramFacts::of(&program), Arc::new(program));
            let by_results = by_results(source, group, |machine| checker.runs(&program, machine, &meter));
            let jobs = by_results.into_par_iter().map(|(group, machine)| {
                if let Task::Program(given) = &first.task {
                    let checked = guarded(|| check_given(given, &machine, source.data().seed));
                    if let Err(error) = checked {
                        return fail(&group, &error).map(|()| Vec::new());
                    }
                }
                let (facts, program) = (facts.clone(), Arc::clone(&program));
                Ok(checker.check(Job { facts, program, task: (group, origin) }, &machine, &meter))
            });
            let known: Vec<Vec<_>> = jobs.collect::<Result<_, JournalError>>()?;
            let known: Vec<_> = known.into_iter().flatten().collect();
            known.par_iter().try_for_each(|(job, verdict)| {
                let decoded = DecodedProgram::of(&job.program);
                let (group, origin) = &job.task;
                let classes = by_timing(source, group);
                classes.par_iter().try_for_each(|class| {
                    let timing = OnceLock::new();
                    class.par_iter().try_for_each(|&point| {
                        let point = source.point(point);
                        let report = verdict.clone().and_then(|checked| {
                            let simulate = || meter.timing(|| simulate(job, &decoded, &point, &timing));
                            let report = guarded(simulate)?;
                            Ok(RunReport { checked, seed: Some(source.data().seed), ..report })
                        });
                        end(point, Some(*origin), report)
                    })
                })
            })
        },
    )?;
    Ok(meter.spent())
}

/// Asks whether the machine takes a program from a file, and compares its claims with the golden model, on
/// data that it cannot know. The sweep's own data, on which every program runs, is the same for all programs.
fn check_given(given: &GivenProgram, machine: &Machine, seed: u64) -> Result<(), String> {
    let program = &given.program;
    admit(program, machine).map_err(|error| error.to_string())?;
    if program.claims.is_empty() {
        return Ok(());
    }
    let seeds = random_seeds(&given.blake3, seed, 2);
    check_on_random_data(program, machine, &seeds).map_err(|error| error.to_string())
}

/// The record of a point.
fn record(point: PlannedPoint, origin: Option<RecipeOrigin>, result: Result<RunReport, String>) -> Record {
    let (status, error, report) = match result {
        Ok(report) => (Status::Ok, None, Some(report)),
        Err(error) => (Status::Failed, Some(error), None),
    };
    let source = |origin: RecipeOrigin| (origin.name().to_owned(), origin.tried());
    let (program_source, recipes_tried) = origin.map(source).unzip();
    let (key, point) = (point.key, point.settings);
    Record { key, status, error, point, program_source, recipes_tried, report }
}

/// Generates the program of a point.
fn program(
    KernelTask { request, plan }: &KernelTask,
    point: &PlannedPoint,
    generate: &Generate<'_>,
    meter: &Meter,
) -> Result<Generated, String> {
    let generated = meter.generation(|| generate(request, plan, &point.scheduled_for))?;
    check_request(request, &generated.program)?;
    Ok(generated)
}

/// The points of a program by the machine on which it is checked: one for all if it `runs` on the machine on
/// which a fault is most likely.
fn by_results(
    source: &dyn Source,
    points: Vec<usize>,
    runs: impl Fn(&Machine) -> bool,
) -> Vec<(Vec<usize>, Arc<Machine>)> {
    let classes = by_class(&points, |&point| source.class(point).results);
    let machines: Vec<Arc<Machine>> = classes.iter().map(|class| source.point(class[0]).machine).collect();
    if machines.len() > 1 {
        let all: Vec<&Machine> = machines.iter().map(|machine| &**machine).collect();
        if let Some(strictest) = strictest(&all).filter(|machine| runs(machine)) {
            return vec![(points, Arc::new(strictest.clone()))];
        }
    }
    classes.into_iter().zip(machines).collect()
}

/// The points of a program by the timing of their machines. Keys that may change cycles tell most points
/// apart; among what they leave, resolved machines tell which keys do not.
fn by_timing(source: &dyn Source, points: &[usize]) -> Vec<Vec<usize>> {
    let classes = by_class(points, |&point| source.class(point).cycles);
    let machines: Vec<Arc<Machine>> = classes.iter().map(|class| source.point(class[0]).machine).collect();
    let timing = |&number: &usize| PointKey::of(&machines[number].with_costs_of(&machines[0]));
    let numbers: Vec<usize> = (0..classes.len()).collect();
    let same = by_class(&numbers, timing).into_iter();
    same.map(|numbers| numbers.iter().flat_map(|&number| classes[number].clone()).collect()).collect()
}

/// Values of the same class, in the order of their first ones.
fn by_class<T: Copy, K: Hash + Eq>(values: &[T], class: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut numbers: HashMap<K, usize> = HashMap::new();
    for &value in values {
        let number = *numbers.entry(class(&value)).or_insert(groups.len());
        if number == groups.len() {
            groups.push(Vec::new());
        }
        groups[number].push(value);
    }
    groups
}

/// Times a ring program on machines that differ in their off-chip memories only. It is not run on data.
fn time_each(
    points: impl Iterator<Item = PlannedPoint>,
    meter: &Meter,
    end: &dyn Fn(PlannedPoint, Option<RecipeOrigin>, Result<RunReport, String>) -> Result<(), JournalError>,
) -> Result<(), JournalError> {
    let mut points = points.peekable();
    let Some(PlannedPoint { task: Task::Ring(first), machine, .. }) = points.peek().cloned() else {
        unreachable!("a class has a ring program");
    };
    let lift = || Lifted::new(&first.program, &machine).map(Arc::new).map_err(|error| error.to_string());
    let lifted = guarded(|| meter.generation(lift));
    for point in points {
        let Task::Ring(task) = &point.task else { unreachable!("points of a class have one program") };
        let timed =
            lifted.clone().and_then(|lifted| guarded(|| meter.timing(|| time(lifted, task, &point.machine))));
        let (report, origin) =
            timed.map_or_else(|error| (Err(error), None), |(report, origin)| (Ok(report), origin));
        end(point, origin, report)?;
    }
    Ok(())
}

/// Times a ring program on a machine, and tells the origin of its kernels.
fn time(
    lifted: Arc<Lifted<'_>>,
    task: &RingTask,
    machine: &Machine,
) -> Result<(RunReport, Option<RecipeOrigin>), String> {
    let runtime = Runtime::of(&lifted, machine, (task.keys, task.merit.into()));
    let runtime = runtime.map_err(|error| error.to_string())?;
    let timeline = runtime.time(false).map_err(|error| error.to_string())?;
    let facts = ProgramFacts {
        name: task.title.clone(),
        blake3: task.blake3.clone(),
        computes: Vec::new(),
        events: runtime.events(),
    };
    let report = RunReport::new(&facts, machine).of_ring(runtime.report(&timeline));
    Ok((report, runtime.kernels().origin()))
}

/// The report of a program on the machine of a point. `shared` is the timing on all machines of its class.
fn simulate<T>(
    job: &Job<T>,
    decoded: &DecodedProgram,
    point: &PlannedPoint,
    shared: &OnceLock<Timing>,
) -> Result<RunReport, String> {
    let machine = &*point.machine;
    machine.check_fits(&job.program).map_err(|error| error.to_string())?;
    let timing = shared.get_or_init(|| timing::simulate_decoded(machine, decoded));
    if let Some(defect) = lint::overtaking(&job.program, machine, timing) {
        return Err(defect.to_string());
    }
    let stream = |runs| StreamReport::new(&job.program, machine, timing, runs as usize);
    let stream = point.stream.map(stream).transpose().map_err(|error| error.to_string())?;
    Ok(RunReport::new(&job.facts, machine).timed(&job.facts.events, timing, stream))
}

#[cfg(test)]
mod tests {
    use super::super::Definition;
    use super::*;

    /// The size of the VDM decides about cycles only through those of an access.
    #[test]
    fn points_of_the_same_access_share_their_timing() {
        let text =
            "n = 1024\nschedule_for = 'base'\n[grid]\nvdm.size_mib = [4, 8, 16, 32]\nsdm.size_kib = [32, 64]";
        let plan = Plan::new(&Definition::parse("test.toml", text).unwrap()).unwrap();
        assert_eq!(by_timing(&plan, &Vec::from_iter(0..8)), [vec![0, 1], vec![2, 3, 4, 5, 6, 7]]);
    }

    /// The one with the least memory, if a program runs there, and if all take the same operands.
    #[test]
    fn one_machine_checks_a_program_for_all_that_give_the_same_results() {
        let checked = |axes: &str, runs: bool| -> Vec<(Vec<usize>, u32, u32)> {
            let text = format!("kernel = 'add'\nn = 1024\nplan = 'kl'\nschedule_for = 'base'\n{axes}");
            let plan = Plan::new(&Definition::parse("test.toml", &text).unwrap()).unwrap();
            let all = by_results(&plan, (0..plan.len()).collect(), |_| runs).into_iter();
            all.map(|(points, machine)| (points, machine.vdm.size_mib, machine.sdm.size_kib)).collect()
        };
        let both = "[grid]\nvdm.size_mib = [8, 4]\nsdm.size_kib = [64, 32]";
        assert_eq!(checked(both, true), [(vec![0, 1, 2, 3], 4, 32)]);
        let four: Vec<_> = [(8, 64), (8, 32), (4, 64), (4, 32)].into();
        let four: Vec<_> = (0..).zip(four).map(|(point, (vdm, sdm))| (vec![point], vdm, sdm)).collect();
        assert_eq!(checked(both, false), four);
        // One machine has the larger VDM, the other the larger SDM.
        let crossed = "[zip]\nvdm.size_mib = [8, 4]\nsdm.size_kib = [32, 64]";
        assert_eq!(checked(crossed, true), [(vec![0], 8, 32), (vec![1], 4, 64)]);
        let operands = "[grid]\nlaw.operands = ['reduced', 'word']\nsdm.size_kib = [32]";
        assert_eq!(checked(operands, true).len(), 2);
    }
}
