//! The points of a sweep, resolved.

use super::data::Data;
use super::definition::{DataFile, Definition, KERNEL_KEYS, ScheduleFor, Setting};
use super::manifest::{Manifest, ManifestPoint, Settings, Workload};
use super::task::{generated, stream};
use crate::kernel::{KernelSpec, ModulusSpec, RequestSpec};
use crate::model::MODEL_VERSION;
use crate::program::{self, ProgramFile};
use crate::run::{SCHEMA, program_blake3};
use b512_asm::Program;
use codegen::library::{self, BUILT_IN};
use codegen::{PlanChoice, Recipe};
use diagnostic::{Diagnostic, Diagnostics};
use golden::Operation;
use rayon::prelude::*;
use serde::Serialize;
use sim::{Machine, MachineBase, Override};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// A sweep with every machine resolved and every key checked.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The points, each with a unique key, in the order of the sweep.
    pub points: Vec<PlannedPoint>,
    /// For each rung of the halving, the points on its ring. Points that differ only in their
    /// degree are the same there.
    pub rungs: Vec<Vec<PlannedPoint>>,
    /// The manifest of the sweep.
    pub manifest: Manifest,
    /// The data with which programs are checked.
    pub data: Data,
}

/// The program of a point.
#[derive(Clone, PartialEq, Debug)]
pub enum Task {
    /// A program to generate.
    Kernel(KernelSpec),
    /// A program from a file.
    Program(Arc<GivenProgram>),
}

/// A program from a file.
#[derive(Clone, PartialEq, Debug)]
pub struct GivenProgram {
    /// The program.
    pub program: Program,
    /// Its hash, see [`program_blake3`].
    pub blake3: String,
}

/// One point.
#[derive(Clone, Debug)]
pub struct PlannedPoint {
    /// BLAKE3, shortened to 128 bits, of everything that determines the result, including the
    /// model.
    pub key: String,
    /// Equal for points that run the same program.
    pub(super) program_key: String,
    /// The program, or the way to generate it.
    pub task: Task,
    /// The length of a stream of runs, if one is simulated.
    pub stream: Option<u32>,
    /// The machine on which it runs.
    pub machine: Arc<Machine>,
    /// The machine for which it is scheduled.
    pub scheduled_for: Arc<Machine>,
    /// The value of each column.
    pub settings: Settings,
}

impl PlannedPoint {
    /// The task of the point. Only points with the same one are comparable.
    pub fn workload(&self) -> Workload {
        Workload::of(&self.settings)
    }
}

impl Plan {
    /// Resolves a definition.
    ///
    /// # Errors
    /// Returns all errors: a machine or kernel key or its value is invalid. Each has its position.
    pub fn new(definition: &Definition) -> Result<Self, Diagnostics> {
        let resolver = Resolver::new(definition)?;
        let settings = definition.points()?;
        let resolved = settings.par_iter().map(|point| resolver.point(point));
        let resolved: Result<Vec<PlannedPoint>, _> = resolved.collect();
        let mut points = resolved.map_err(|_| resolver.errors(&settings))?;
        let mut seen = HashSet::new();
        points.retain(|point| seen.insert(point.key.clone()));

        let rungs = definition.halving.iter().flat_map(|halving| &halving.rungs);
        let rungs: Vec<Vec<PlannedPoint>> =
            rungs.map(|&n| points.par_iter().map(|point| resolver.on_rung(point, n)).collect()).collect();
        let manifest = resolver.manifest(&points, &rungs, false);
        Ok(Self { points, rungs, manifest, data: resolver.data })
    }
}

/// The common workload of all points, or the sweep's name.
fn title(definition: &Definition, points: &[PlannedPoint]) -> String {
    let Some(first) = points.first() else { return definition.name.clone() };
    let workload = Workload::of(&first.settings);
    let request = |point: &PlannedPoint| match &point.task {
        Task::Kernel(kernel) => Some(kernel.request),
        Task::Program(_) => None,
    };
    let modulus = request(first).map(|request| request.modulus);
    let same = |point: &PlannedPoint| {
        Workload::of(&point.settings) == workload && request(point).map(|request| request.modulus) == modulus
    };
    if !points.iter().all(same) {
        return definition.name.clone();
    }
    match modulus {
        Some(ModulusSpec::Value(modulus)) => {
            format!("{}, modulus {modulus:#x}: area against latency", workload.name())
        }
        Some(ModulusSpec::Bits(_)) | None => format!("{workload}: area against latency"),
    }
}

/// Turns settings into points.
pub(super) struct Resolver<'d> {
    definition: &'d Definition,
    file: MachineBase,
    base: Hashed,
    /// The scheduling machines of [`ScheduleFor::Keys`], by the settings of those keys.
    scheduled_for: Known<String, Hashed>,
    /// The kernels, by the settings that vary.
    kernels: Known<String, Resolved>,
    /// See [`Self::library_of`].
    libraries: Known<(Operation, u32), String>,
    data: Data,
}

/// A machine with the hash of its keys.
#[derive(Clone, Debug)]
struct Hashed {
    machine: Arc<Machine>,
    hash: Arc<str>,
}

impl Hashed {
    fn new(machine: Machine) -> Self {
        Self { hash: hash(&machine).into(), machine: Arc::new(machine) }
    }
}

/// A kernel as its settings give it.
#[derive(Clone)]
struct Resolved {
    task: Task,
    stream: Option<u32>,
    /// The hash of everything that determines the program on a given machine.
    hash: Arc<str>,
    /// The settings in columns.
    columns: Settings,
}

/// Values that many points share, each computed once.
struct Known<K, V>(Mutex<HashMap<K, V>>);

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Hash + Eq, V: Clone> Known<K, V> {
    fn get<E>(&self, key: K, compute: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&key).cloned();
        match found {
            Some(value) => Ok(value),
            None => {
                let value = compute()?;
                Ok(known().entry(key).or_insert(value).clone())
            }
        }
    }
}

impl<'d> Resolver<'d> {
    pub(super) fn new(definition: &'d Definition) -> Result<Self, Diagnostics> {
        let file = if definition.machine.ends_with(".toml") {
            MachineBase::load(definition.path(&definition.machine))?
        } else {
            MachineBase::built_in(&definition.machine)?
        };
        let base = Hashed::new(file.machine(&definition.overrides)?);
        Ok(Self {
            definition,
            file,
            base,
            scheduled_for: Known::default(),
            kernels: Known::default(),
            libraries: Known::default(),
            data: Data::read(definition)?,
        })
    }

    /// The machine without a point's settings.
    pub(super) fn base(&self) -> &Machine {
        &self.base.machine
    }

    /// The data with which programs are checked.
    pub(super) fn data(&self) -> &Data {
        &self.data
    }

    /// The errors of points, each once: most points share theirs with others.
    fn errors(&self, points: &[Vec<&Setting>]) -> Diagnostics {
        let mut found: Vec<Diagnostic> = Vec::new();
        for errors in points.iter().filter_map(|point| self.point(point).err()) {
            let is_new = |error: &&Diagnostic| {
                found.iter().all(|known| (&known.span, &known.message) != (&error.span, &error.message))
            };
            let new: Vec<Diagnostic> = errors.iter().filter(is_new).cloned().collect();
            found.extend(new);
            if found.len() >= Diagnostics::LIMIT {
                break;
            }
        }
        found.sort_by_key(|error| error.span.as_ref().map(|span| span.start));
        let mut errors = Diagnostics::default();
        found.into_iter().for_each(|error| errors.push(error));
        errors
    }

    /// Whether a setting is invalid whatever the others are.
    pub(super) fn rejects(&self, settings: &[&Setting]) -> bool {
        settings.iter().any(|setting| match sim::machine::key(&setting.key) {
            Some(key) => !key.kind.allows(&setting.value),
            // Other keys do not depend on each other.
            None => true,
        })
    }

    /// The manifest of these points, or of an exploration, which has those with a record.
    pub(super) fn manifest(
        &self,
        points: &[PlannedPoint],
        rungs: &[Vec<PlannedPoint>],
        explored: bool,
    ) -> Manifest {
        let definition = self.definition;
        let manifest_point = |(i, point): (usize, &PlannedPoint)| ManifestPoint {
            key: point.key.clone(),
            settings: point.settings.clone(),
            rungs: rungs.iter().map(|rung| rung[i].key.clone()).collect(),
        };
        let varying = definition.varying();
        let is_set = |key: &str| {
            let varies = varying.iter().any(|varying| varying == key);
            varies || points.iter().any(|point| point.settings.contains_key(key))
        };
        let kernel_columns = KERNEL_KEYS.into_iter().filter(|key| is_set(key)).map(str::to_owned);
        let machine_columns = varying.iter().filter(|key| !KERNEL_KEYS.contains(&key.as_str())).cloned();
        let listed = if explored { &[] } else { points };
        Manifest {
            schema: SCHEMA,
            name: definition.name.clone(),
            title: if definition.title.is_empty() {
                title(definition, points)
            } else {
                definition.title.clone()
            },
            columns: kernel_columns.chain(machine_columns).collect(),
            varying: varying.clone(),
            references: definition.references.clone(),
            halving: definition.halving.clone().filter(|_| !explored),
            explored,
            source: definition.source(),
            points: listed.iter().enumerate().map(manifest_point).collect(),
        }
    }

    /// The base machine with a point's settings.
    fn machine(&self, settings: &[&Setting]) -> Result<Hashed, Diagnostics> {
        if settings.is_empty() {
            return Ok(self.base.clone());
        }
        let text = |setting: &Setting| format!("{}={}", setting.key, setting.value);
        let mut overrides = self.definition.overrides.clone();
        for setting in settings {
            overrides.push(Override::parse(&text(setting))?);
        }
        // An error of a setting is an error in the sweep file, not on the command line.
        let in_sweep = |error: Diagnostic| match settings.iter().find(|setting| text(setting) == *error.text)
        {
            Some(setting) => Diagnostic {
                help: error.help,
                ..self.definition.error(setting.span.clone(), error.message, "")
            },
            None => error,
        };
        self.file.machine(&overrides).map(Hashed::new).map_err(|errors| errors.map(in_sweep))
    }

    /// The machine for which the program of a point is scheduled.
    fn scheduled_for(&self, machine: &Hashed, settings: &[&Setting]) -> Result<Hashed, Diagnostics> {
        let keys = match &self.definition.schedule_for {
            ScheduleFor::Machine => return Ok(machine.clone()),
            ScheduleFor::Base => return Ok(self.base.clone()),
            ScheduleFor::Keys(keys) => keys,
        };
        let settings: Vec<&Setting> =
            settings.iter().copied().filter(|setting| keys.contains(&setting.key)).collect();
        self.scheduled_for.get(name(&settings), || self.machine(&settings))
    }

    pub(super) fn point(&self, point: &[&Setting]) -> Result<PlannedPoint, Diagnostics> {
        let (kernel_settings, machine_settings): (Vec<&Setting>, Vec<&Setting>) =
            point.iter().partition(|setting| KERNEL_KEYS.contains(&setting.key.as_str()));
        let mut errors = Diagnostics::default();
        let machine = errors.keep(self.machine(&machine_settings));
        let kernel = errors.keep(self.kernels.get(name(&kernel_settings), || self.kernel(&kernel_settings)));
        let (Some(machine), Some(mut kernel)) = (machine, kernel) else { return Err(errors) };
        let scheduled_for = self.scheduled_for(&machine, &machine_settings)?;
        for setting in machine_settings {
            let value = serde_json::to_value(&setting.value).unwrap_or_default();
            kernel.columns.insert(setting.key.clone(), value);
        }
        Ok(planned(kernel, machine, scheduled_for))
    }

    /// The kernel of a point with these settings.
    fn kernel(&self, settings: &[&Setting]) -> Result<Resolved, Diagnostics> {
        let all: Vec<&Setting> = self.definition.kernel.iter().chain(settings.iter().copied()).collect();
        let stream = stream(self.definition, &all)?;
        let program = all.iter().rfind(|setting| setting.key == "program");
        let (task, mut columns) = match program {
            Some(program) => self.given(program, &all)?,
            None => {
                if let Some(DataFile { span, .. }) = self.definition.data.first() {
                    let help = "set `program`, or leave the data out: generated programs are checked on data from the seed";
                    return Err(self.definition.error(span.clone(), "data without a program", help).into());
                }
                generated(self.definition, &all)?
            }
        };
        if let Some(runs) = stream {
            columns.insert("stream".into(), runs.into());
        }
        Ok(self.resolved(task, stream, columns))
    }

    /// A program from a file.
    fn given(&self, program: &Setting, all: &[&Setting]) -> Result<(Task, Settings), Diagnostic> {
        let definition = self.definition;
        let other = all.iter().find(|setting| !["program", "stream"].contains(&setting.key.as_str()));
        if let Some(setting) = other {
            let message = format!("`{}` describes a kernel, but `program` names a file", setting.key);
            return Err(definition.error(setting.span.clone(), message, "keep one of them"));
        }
        let error = |message: String, help: &str| definition.error(program.span.clone(), message, help);
        let path = program.value.as_str().ok_or_else(|| {
            error(
                format!("invalid value {} for `program`", program.value),
                "expected the path of a file in quotes",
            )
        })?;
        let bytes = program::read(&definition.path(path))
            .map_err(|cause| error(cause.message, "name an object file or assembly text"))?;
        let program = ProgramFile::parse(path, bytes).map_err(|errors| {
            errors.iter().next().cloned().unwrap_or_else(|| error("invalid program".into(), ""))
        })?;
        let program = program.program;
        let columns = Settings::from_iter([("program".to_owned(), path.into())]);
        let blake3 = program_blake3(&program);
        Ok((Task::Program(Arc::new(GivenProgram { program, blake3 })), columns))
    }

    fn resolved(&self, task: Task, stream: Option<u32>, columns: Settings) -> Resolved {
        let data = &self.data;
        let hash = match &task {
            Task::Kernel(kernel) => {
                let plan = self.plan_identity(kernel);
                hash(&Identity::new(kernel, &plan, data.seed, stream))
            }
            Task::Program(given) => {
                let seed_and_files = (data.seed, &data.inputs, &data.expected);
                hash(&(SCHEMA, MODEL_VERSION, &given.blake3, seed_and_files, stream))
            }
        };
        Resolved { task, stream, hash: hash.into(), columns }
    }

    fn plan_identity<'k>(&self, kernel: &'k KernelSpec) -> PlanIdentity<'k> {
        let search = |effort| PlanIdentity::Search { effort, library: self.library_of(&kernel.request) };
        match &kernel.plan {
            PlanChoice::Best => search("quick".to_owned()),
            PlanChoice::Known => search("off".to_owned()),
            PlanChoice::Tuned(effort) => search(format!("{effort:?}")),
            PlanChoice::Classical => PlanIdentity::Classical,
            PlanChoice::Paper => PlanIdentity::Paper,
            PlanChoice::Unoptimised => PlanIdentity::Unoptimised,
            PlanChoice::Recipe(recipe) => PlanIdentity::Recipe(recipe),
        }
    }

    /// The hash of the library's entries for an operation and a degree.
    fn library_of(&self, request: &RequestSpec) -> String {
        let task = (request.operation, request.n);
        let Ok(library) = self.libraries.get(task, || {
            let same_task = |known: &&library::Task| known.operation == task.0.name() && known.n == task.1;
            let tasks: Vec<_> = BUILT_IN.tasks.iter().filter(same_task).collect();
            Ok::<_, Infallible>(hash(&tasks))
        });
        library
    }

    /// The point on a ring of degree `n`, unless its own degree is smaller.
    fn on_rung(&self, point: &PlannedPoint, n: u32) -> PlannedPoint {
        let (mut task, mut columns) = (point.task.clone(), point.settings.clone());
        if let Task::Kernel(kernel) = &mut task {
            kernel.request.n = n.min(kernel.request.n);
            columns.insert("n".into(), kernel.request.n.into());
        }
        let hashed =
            |machine: &Arc<Machine>| Hashed { hash: hash(&**machine).into(), machine: machine.clone() };
        let kernel = self.resolved(task, point.stream, columns);
        planned(kernel, hashed(&point.machine), hashed(&point.scheduled_for))
    }
}

fn planned(kernel: Resolved, machine: Hashed, scheduled_for: Hashed) -> PlannedPoint {
    let key_on = |machine: &Hashed| hash(&(&*kernel.hash, &*machine.hash, &*scheduled_for.hash));
    let program_key = key_on(&scheduled_for);
    let key = if machine.hash == scheduled_for.hash { program_key.clone() } else { key_on(&machine) };
    let Resolved { task, stream, columns: settings, .. } = kernel;
    let (machine, scheduled_for) = (machine.machine, scheduled_for.machine);
    PlannedPoint { key, program_key, task, stream, machine, scheduled_for, settings }
}

/// Settings as a text that tells them apart.
fn name(settings: &[&Setting]) -> String {
    settings.iter().map(|setting| format!("{}={}\n", setting.key, setting.value)).collect()
}

/// Everything beside machines that determines the result of a generated program.
#[derive(Serialize)]
struct Identity<'a> {
    schema: u32,
    model: u32,
    function: &'static str,
    n: u32,
    modulus: String,
    towers: u32,
    stream: Option<u32>,
    plan: &'a PlanIdentity<'a>,
    seed: u64,
}

#[derive(Serialize)]
enum PlanIdentity<'a> {
    /// Plan `best`: its search, and the hash of the recipes from which it starts.
    Search {
        effort: String,
        library: String,
    },
    Classical,
    Paper,
    Unoptimised,
    Recipe(&'a Recipe),
}

impl<'a> Identity<'a> {
    fn new(kernel: &KernelSpec, plan: &'a PlanIdentity<'a>, seed: u64, stream: Option<u32>) -> Self {
        let request = &kernel.request;
        Self {
            schema: SCHEMA,
            model: MODEL_VERSION,
            function: request.operation.name(),
            n: request.n,
            modulus: request.modulus.to_string(),
            towers: request.towers,
            stream,
            plan,
            seed,
        }
    }
}

/// BLAKE3, shortened to 128 bits.
fn hash(value: &impl Serialize) -> String {
    let json = serde_json::to_vec(value).expect("plain data becomes JSON");
    blake3::hash(&json).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::FIG4;
    use super::*;

    fn plan(text: &str) -> Result<Plan, Diagnostics> {
        Plan::new(&Definition::parse("test.toml", text)?)
    }

    #[test]
    fn keys_tell_points_apart_and_depend_on_what_determines_the_result() {
        let plan = plan(FIG4).unwrap();
        assert_eq!(plan.points.len(), 28);
        let base = "n = 1024\n[grid]\nhple.count = [4, 8]";
        let keys = |text: &str| -> Vec<String> {
            self::plan(text).unwrap().points.into_iter().map(|point| point.key).collect()
        };
        assert_eq!(keys(base), keys(&format!("name = 'another'\n{base}")));
        for change in
            ["seed = 1", "plan = 'kl'", "modulus_bits = 64", "kernel = 'intt'", "schedule_for = 'base'"]
        {
            let changed = keys(&format!("{change}\n{base}"));
            assert!(keys(base).iter().all(|key| !changed.contains(key)), "{change}");
        }
    }

    #[test]
    fn equal_points_count_once() {
        assert_eq!(
            plan("[[list]]\nn = 1024\n[[list]]\nn = 1024\nplan = 'best'\n[[list]]\nn = 2048")
                .unwrap()
                .points
                .len(),
            2
        );
    }

    #[test]
    fn the_program_of_the_base_machine_is_shared_where_asked() {
        let plan = plan("n = 65536\nschedule_for = 'base'\n[grid]\nhple.count = [64, 128]").unwrap();
        assert!(plan.points.iter().all(|point| point.scheduled_for.hple.count == 128));
        assert_eq!(plan.points[0].machine.hple.count, 64);
    }

    #[test]
    fn errors_stand_in_the_sweep() {
        let error = |text: &str| plan(text).unwrap_err().to_string();
        assert!(
            error("n = 4\n[grid]\nhple.cuont = [4]").starts_with("test.toml:3:15: "),
            "{}",
            error("n = 4\n[grid]\nhple.cuont = [4]")
        );
        assert!(error("n = 4\n[grid]\nhple.count = [4, 3]").starts_with("test.toml:3:18: "));
        assert_eq!(
            error("n = 1000"),
            "test.toml:1:5: invalid value 1000 for `n`; expected a power of two, such as 65536"
        );
        assert!(error("kernel = 'fft'").contains("invalid value \"fft\" for `kernel`"));
        assert!(
            error("n = 1024\n[grid]\nplan = ['best', 'worst']")
                .starts_with("test.toml:3:17: unknown plan, and no readable file")
        );
    }
}
