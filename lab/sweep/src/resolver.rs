//! From the numbers of a point's alternatives to its machine, its program and its key.

use super::data::Data;
use super::definition::{Definition, ScheduleFor};
use super::hashed::{Hashed, Sections};
use super::key::PointKey;
use super::parameter::{self, Setting, column, is_parameter};
use super::point::{Class, PlannedPoint};
use super::points::{Code, Points};
use super::task::{KernelTask, Resolved, Task, resolve};
use super::workload::TECHNOLOGY;
use codegen::library::BUILT_IN;
use codegen::search::Effort;
use codegen::{PlanChoice, Recipe, Request};
use diagnostic::{Diagnostic, Diagnostics};
use golden::Operation;
use lab_run::SCHEMA;
use lab_run::model::MODEL_VERSION;
use serde::Serialize;
use sim::machine::Assignment;
use sim::machine::table::Effect;
use sim::{Machine, MachineBase, Override};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::hash::Hash;
use std::path::Path;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// The numbers of a point's alternatives, one for each axis.
pub(super) type Digits = [usize];

/// The invalid points whose errors are told apart.
const MAX_INVALID: usize = 5000;

/// Turns the alternatives of points into points.
pub(super) struct Resolver {
    definition: Definition,
    file: MachineBase,
    base: Hashed,
    axes: Vec<Axis>,
    /// The scheduling machines of [`ScheduleFor::Keys`].
    scheduled_for: Known<Vec<usize>, Hashed>,
    tasks: Known<Vec<usize>, HashedTask>,
    /// See [`Self::machine_of`].
    bases: Known<Vec<Option<usize>>, Hashed>,
    /// The sections of the base machine.
    sections: Sections,
    /// See [`Self::library_of`].
    libraries: Known<(Operation, u32), String>,
    data: Data,
}

/// What the alternatives of an axis change. Each list maps an alternative to the first one with the same
/// settings of its kind.
struct Axis {
    /// Parameters of the task.
    task: Numbers,
    /// Keys of the machine for which programs are scheduled.
    scheduled_for: Numbers,
    /// Everything on which programs depend.
    program: Numbers,
    /// Keys on which the cycles of a given program depend.
    cycles: Numbers,
    /// Keys of machines without the off-chip memory.
    kernels: Numbers,
    /// Keys on which its results, or its faults, depend.
    results: Numbers,
    /// The values of machine keys, once a point has them; `None` if one of them is invalid, or not a single
    /// key.
    machine: Vec<OnceLock<Option<Box<[Assignment]>>>>,
}

/// A number for each alternative.
type Numbers = Arc<[usize]>;

/// A task, and the hash of everything that determines its program on a given machine.
#[derive(Clone)]
struct HashedTask {
    task: Arc<Resolved>,
    hash: Arc<str>,
}

/// Values that many points share, each computed once.
struct Known<K, V>(RwLock<HashMap<K, V>>);

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Hash + Eq, V: Clone> Known<K, V> {
    fn get<E>(&self, key: K, compute: impl FnOnce() -> Result<V, E>) -> Result<V, E> {
        let found = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        match found {
            Some(value) => Ok(value),
            None => {
                let value = compute()?;
                let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
                Ok(known.entry(key).or_insert(value).clone())
            }
        }
    }
}

impl Axis {
    fn new(alternatives: &[Vec<Setting>], schedule_for: &ScheduleFor) -> Self {
        let is_scheduled = |key: &str| match schedule_for {
            ScheduleFor::Machine => !is_parameter(key),
            ScheduleFor::Base => false,
            ScheduleFor::Keys(keys) => keys.iter().any(|scheduled| scheduled == key),
        };
        // A technology is a file with many keys: stages of crossbars may follow from them.
        let has = |key: &str, effects: &[Effect]| {
            let known = sim::machine::key(key);
            key == TECHNOLOGY
                || known.is_some_and(|key| effects.iter().any(|effect| key.effects.contains(effect)))
        };
        // No program depends on these keys of machines.
        let is_beside = |key: &str| {
            let sections = ["technology.", "hbm.", "generator."];
            key == "name"
                || sections.iter().any(|section| key.starts_with(section)) && !has(key, &[Effect::Stages])
        };
        let changes_programs = |key: &str| match parameter::find(key) {
            Some(parameter) => parameter.changes_program,
            None => is_scheduled(key) && !is_beside(key),
        };
        let changes_cycles = |key: &str| has(key, &[Effect::Cycles, Effect::Stages]);
        let changes_kernels = |key: &str| !is_parameter(key) && !key.starts_with("hbm.");
        // The others that decide about results decide whether the program fits at all, which each point
        // tests.
        let changes_results = |key: &str| ["vdm.size_mib", "sdm.size_kib", "law.operands"].contains(&key);
        let keys: BTreeSet<&str> = alternatives.iter().flatten().map(|setting| &*setting.key).collect();
        // Most purposes want all keys or none. The numbers of each choice of keys are found once; definitions
        // refuse two alternatives with the same settings.
        let (none, all) = (vec![0; alternatives.len()].into(), (0..alternatives.len()).collect());
        let mut known = vec![(BTreeSet::new(), none), (keys.clone(), all)];
        let mut numbers = |is_wanted: &dyn Fn(&str) -> bool| -> Numbers {
            let wanted: BTreeSet<&str> = keys.iter().copied().filter(|key| is_wanted(key)).collect();
            if let Some((_, numbers)) = known.iter().find(|(known, _)| *known == wanted) {
                return Arc::clone(numbers);
            }
            let mut first: HashMap<String, usize> = HashMap::new();
            let text = |row: &Vec<Setting>| name(row.iter().filter(|setting| wanted.contains(&*setting.key)));
            let texts = alternatives.iter().map(text).enumerate();
            let numbers: Numbers = texts.map(|(number, text)| *first.entry(text).or_insert(number)).collect();
            known.push((wanted, Arc::clone(&numbers)));
            numbers
        };
        Self {
            task: numbers(&is_parameter),
            scheduled_for: numbers(&|key| is_scheduled(key)),
            program: numbers(&changes_programs),
            cycles: numbers(&changes_cycles),
            kernels: numbers(&changes_kernels),
            results: numbers(&changes_results),
            machine: vec![OnceLock::new(); alternatives.len()],
        }
    }
}

/// The settings of points as codes of their columns.
pub(super) struct Columns {
    /// The machine settings of each alternative of each axis that a point has.
    machine: Vec<Vec<Option<Box<[Code]>>>>,
    /// The settings of each task.
    tasks: HashMap<Vec<usize>, Vec<Code>>,
}

impl Columns {
    pub(super) fn new(definition: &Definition) -> Self {
        let machine = definition.axis_lengths().map(|length| vec![None; length]).collect();
        Self { machine, tasks: HashMap::new() }
    }

    /// The settings of a point.
    pub(super) fn codes(
        &mut self,
        resolver: &Resolver,
        point: &Digits,
        points: &mut Points,
    ) -> Result<Vec<Code>, Diagnostics> {
        let numbers = resolver.numbers(point, |axis| &axis.task);
        let mut codes = match self.tasks.get(&numbers) {
            Some(codes) => codes.clone(),
            None => {
                let codes = points.codes(&resolver.task(point)?.task.columns);
                self.tasks.insert(numbers, codes.clone());
                codes
            }
        };
        let mut code = |setting: &Setting| points.code(&setting.key, &column(&setting.key, &setting.value));
        for ((known, axis), &number) in self.machine.iter_mut().zip(resolver.definition.axes()).zip(point) {
            codes.extend(&*known[number].get_or_insert_with(|| {
                let settings = axis[number].iter().filter(|setting| !is_parameter(&setting.key));
                settings.map(&mut code).collect()
            }));
        }
        Ok(codes)
    }
}

impl Resolver {
    pub(super) fn new(definition: &Definition) -> Result<Self, Diagnostics> {
        let file = if MachineBase::is_file(Path::new(&definition.machine)) {
            MachineBase::load(definition.path(&definition.machine))?
        } else {
            MachineBase::built_in(&definition.machine)?
        };
        let base = file.machine(&definition.overrides)?;
        let sections = Sections::new(&base);
        let base = Hashed::new(base, &sections);
        let axis = |axis: &Vec<Vec<Setting>>| Axis::new(axis, &definition.schedule_for);
        Ok(Self {
            axes: definition.axes().iter().map(axis).collect(),
            data: Data::read(definition)?,
            definition: definition.clone(),
            file,
            base,
            sections,
            scheduled_for: Known::default(),
            tasks: Known::default(),
            bases: Known::default(),
            libraries: Known::default(),
        })
    }

    pub(super) fn definition(&self) -> &Definition {
        &self.definition
    }

    /// The machine without a point's settings.
    pub(super) fn base(&self) -> &Machine {
        &self.base.machine
    }

    /// The data with which programs are checked.
    pub(super) fn data(&self) -> &Data {
        &self.data
    }

    /// The errors of points, each once: most points share theirs with others. After many invalid points, the
    /// rest is not looked at.
    pub(super) fn errors(&self, points: impl Iterator<Item = Vec<usize>>) -> Diagnostics {
        let mut found: Vec<Diagnostic> = Vec::new();
        for errors in points.filter_map(|point| self.point(&point).err()).take(MAX_INVALID) {
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
    pub(super) fn rejects(&self, settings: &[Setting]) -> bool {
        settings.iter().any(|setting| match sim::machine::key(&setting.key) {
            Some(key) => !key.kind.allows(&setting.value),
            // Other keys do not depend on each other.
            None => true,
        })
    }

    /// The points with which a point shares its program and its cycles.
    pub(super) fn class(&self, point: &Digits) -> Class {
        let mut class = Class { program: 0, cycles: 0, kernels: 0, results: 0 };
        for (axis, &number) in self.axes.iter().zip(point) {
            let alternatives = axis.program.len() as u128;
            class.program = class.program * alternatives + axis.program[number] as u128;
            class.cycles = class.cycles * alternatives + axis.cycles[number] as u128;
            class.kernels = class.kernels * alternatives + axis.kernels[number] as u128;
            class.results = class.results * alternatives + axis.results[number] as u128;
        }
        class
    }

    /// The point with these alternatives.
    pub(super) fn point(&self, point: &Digits) -> Result<PlannedPoint, Diagnostics> {
        let (HashedTask { task, hash }, machine, scheduled_for) = self.parts(point)?;
        let mut settings = task.columns.clone();
        for Setting { key, value, .. } in self.definition.point_at(point) {
            if !is_parameter(key) {
                settings.insert(key.to_string(), column(key, value));
            }
        }
        Ok(PlannedPoint {
            key: key(&hash, &machine, &scheduled_for),
            task: task.task.clone(),
            stream: task.stream,
            machine: machine.machine,
            scheduled_for: scheduled_for.machine,
            settings,
        })
    }

    /// The key of a point.
    pub(super) fn key(&self, point: &Digits) -> Result<PointKey, Diagnostics> {
        let (task, machine, scheduled_for) = self.parts(point)?;
        Ok(key(&task.hash, &machine, &scheduled_for))
    }

    /// The task of a point, its machine, and the one for which it is scheduled.
    fn parts(&self, point: &Digits) -> Result<(HashedTask, Hashed, Hashed), Diagnostics> {
        let mut errors = Diagnostics::default();
        let machine = errors.keep(match self.assigned(point) {
            Some(machine) => Ok(machine),
            None => {
                let mut settings = self.definition.point_at(point);
                settings.retain(|setting| !is_parameter(&setting.key));
                self.machine(&settings)
            }
        });
        let task = errors.keep(self.task(point));
        let (Some(machine), Some(task)) = (machine, task) else { return Err(errors) };
        let scheduled_for = self.scheduled_for(&machine, point)?;
        Ok((task, machine, scheduled_for))
    }

    fn task(&self, point: &Digits) -> Result<HashedTask, Diagnostics> {
        self.tasks.get(self.numbers(point, |axis| &axis.task), || {
            let mut settings: Vec<&Setting> = self.definition.task.iter().collect();
            let own = self.definition.point_at(point).into_iter();
            settings.extend(own.filter(|setting| is_parameter(&setting.key)));
            let task = resolve(&self.definition, &self.data, &settings)?;
            let hash = self.hash_of(&task).into();
            Ok(HashedTask { task: Arc::new(task), hash })
        })
    }

    /// For each axis, the number of a point's alternative.
    fn numbers(&self, point: &Digits, of: impl Fn(&Axis) -> &Numbers) -> Vec<usize> {
        self.axes.iter().zip(point).map(|(axis, &number)| of(axis)[number]).collect()
    }

    /// The machine of a point, without its hash, if all its settings are valid and break no rule.
    pub(super) fn machine_of(&self, point: &Digits) -> Option<Machine> {
        let rows: Vec<Option<&[Assignment]>> = self.rows(point).collect();
        let values = rows.iter().copied().flatten().flatten();
        // Few alternatives are no values of single keys, such as technologies: they make bases.
        let is_file = |axis: usize| rows[axis].is_none();
        if !(0..rows.len()).any(is_file) {
            return self.base.machine.with(values);
        }
        let numbers = point.iter().enumerate().map(|(axis, number)| is_file(axis).then_some(*number));
        let base = self.bases.get(numbers.collect(), || {
            let axes = self.definition.axes().iter().zip(point).enumerate();
            let files =
                axes.filter(|(axis, _)| is_file(*axis)).flat_map(|(_, (rows, number))| &rows[*number]);
            let settings: Vec<&Setting> = files.filter(|setting| !is_parameter(&setting.key)).collect();
            self.machine(&settings)
        });
        base.ok()?.machine.with(values)
    }

    /// The machine of a point if all its settings are valid values of keys and break no rule.
    fn assigned(&self, point: &Digits) -> Option<Hashed> {
        let rows = self.assignments(point)?;
        if rows.iter().all(|row| row.is_empty()) {
            return Some(self.base.clone());
        }
        self.base.machine.with(rows.into_iter().flatten()).map(|machine| self.hashed(machine))
    }

    /// The values of machine keys of a point, if each is a value of its key.
    fn assignments(&self, point: &Digits) -> Option<Vec<&[Assignment]>> {
        self.rows(point).collect()
    }

    /// For each axis, the values of machine keys of a point's alternative, if it has no other ones.
    fn rows(&self, point: &Digits) -> impl Iterator<Item = Option<&[Assignment]>> {
        let assignments = |row: &Vec<Setting>| {
            let settings = row.iter().filter(|setting| !is_parameter(&setting.key));
            settings.map(|setting| Assignment::new(&setting.key, setting.value.clone())).collect()
        };
        let axes = self.axes.iter().zip(self.definition.axes()).zip(point);
        axes.map(move |((axis, rows), &number)| {
            axis.machine[number].get_or_init(|| assignments(&rows[number])).as_deref()
        })
    }

    /// The base machine with a point's settings.
    fn machine(&self, settings: &[&Setting]) -> Result<Hashed, Diagnostics> {
        let mut overrides = self.definition.overrides.clone();
        for setting in settings {
            overrides.push(Override::parse(&text(setting))?);
        }
        // An error of a setting is an error in the sweep file, not on the command line.
        let in_sweep = |error: Diagnostic| match settings.iter().find(|setting| text(setting) == *error.text)
        {
            Some(setting) => {
                let is_about_key = error.code == Some(diagnostic::Code::UnknownKey.name());
                let span = if is_about_key { &setting.key_span } else { &setting.span };
                let (code, help) = (error.code, error.help);
                Diagnostic { code, help, ..self.definition.error(span.clone(), error.message, "") }
            }
            None => error,
        };
        let machine = self.file.machine(&overrides);
        machine.map(|machine| self.hashed(machine)).map_err(|errors| errors.map(in_sweep))
    }

    fn hashed(&self, machine: Machine) -> Hashed {
        Hashed::new(machine, &self.sections)
    }

    /// The machine for which the program of a point is scheduled.
    fn scheduled_for(&self, machine: &Hashed, point: &Digits) -> Result<Hashed, Diagnostics> {
        let keys = match &self.definition.schedule_for {
            ScheduleFor::Machine => return Ok(machine.clone()),
            ScheduleFor::Base => return Ok(self.base.clone()),
            ScheduleFor::Keys(keys) => keys,
        };
        self.scheduled_for.get(self.numbers(point, |axis| &axis.scheduled_for), || {
            let settings = self.definition.point_at(point).into_iter();
            let settings: Vec<&Setting> =
                settings.filter(|setting| keys.iter().any(|key| **key == *setting.key)).collect();
            if settings.is_empty() { Ok(self.base.clone()) } else { self.machine(&settings) }
        })
    }

    /// The hash of everything besides machines that determines the result of a task.
    fn hash_of(&self, Resolved { task, stream, .. }: &Resolved) -> String {
        let Data { seed, inputs, expected } = &self.data;
        let identity = match task {
            Task::Kernel(kernel) => Identity::Kernel {
                claims: claims(&kernel.request),
                plan: self.plan_identity(kernel),
                seed: *seed,
                stream: *stream,
            },
            Task::Program(given) => {
                Identity::Program { blake3: &given.blake3, data: (*seed, inputs, expected), stream: *stream }
            }
            Task::Ring(ring) => {
                Identity::Ring { blake3: &ring.blake3, keys: ring.keys.name(), optimise: ring.merit.name() }
            }
        };
        hash(&(SCHEMA, MODEL_VERSION, identity))
    }

    fn plan_identity<'k>(&self, kernel: &'k KernelTask) -> PlanIdentity<'k> {
        let search = |tune, optimise| {
            let library = self.library_of(&kernel.request);
            PlanIdentity::Search { tune, optimise, library }
        };
        let effort = |effort: Option<Effort>| match effort {
            None => "off",
            Some(Effort::QUICK) => "quick",
            Some(_) => "full",
        };
        match &kernel.plan {
            PlanChoice::Known => search("off", None),
            PlanChoice::Best => search("quick", None),
            PlanChoice::Tuned(_) => search("full", None),
            PlanChoice::Least(merit, tune) => search(effort(*tune), Some(merit.name())),
            PlanChoice::Classical => PlanIdentity::Named("kl"),
            PlanChoice::Paper => PlanIdentity::Named("paper"),
            PlanChoice::Unoptimised => PlanIdentity::Named("unoptimised"),
            PlanChoice::Recipe(recipe) => PlanIdentity::Recipe(recipe),
        }
    }

    /// The hash of the library's entries for an operation and a degree.
    fn library_of(&self, request: &Request) -> String {
        let task = (request.operation, request.n());
        let Ok(library) = self.libraries.get(task, || {
            let tasks: Vec<_> = BUILT_IN.tasks_of(task.0.name(), task.1).collect();
            Ok::<_, Infallible>(hash(&tasks))
        });
        library
    }
}

/// The key of a task, by its hash, on a machine.
fn key(task: &str, machine: &Hashed, scheduled_for: &Hashed) -> PointKey {
    PointKey::of(&(task, &*machine.hash, &*scheduled_for.hash))
}

/// What a request computes, with all its settings, and the root of each ring.
pub(super) fn claims(request: &Request) -> Vec<(String, Option<u128>)> {
    let claim = |ring: usize| (request.claim(ring).to_string(), request.rings[ring].root());
    (0..request.towers()).map(claim).collect()
}

/// A setting as an override.
fn text(setting: &Setting) -> String {
    format!("{}={}", setting.key, setting.value)
}

/// Settings as a text that tells them apart.
fn name<'s>(settings: impl Iterator<Item = &'s Setting>) -> String {
    settings.map(|setting| text(setting) + "\n").collect()
}

/// Everything besides machines that determines a result. Its JSON has names and numbers only, so keys do not
/// depend on the names of types.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Identity<'a> {
    Kernel { claims: Vec<(String, Option<u128>)>, plan: PlanIdentity<'a>, seed: u64, stream: Option<u32> },
    Program { blake3: &'a str, data: (u64, &'a Words, &'a Words), stream: Option<u32> },
    Ring { blake3: &'a str, keys: &'static str, optimise: &'static str },
}

/// Words by symbol.
type Words = BTreeMap<String, Vec<u128>>;

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum PlanIdentity<'a> {
    /// Plan `best`: its search, and the hash of the recipes from which it starts.
    Search {
        tune: &'static str,
        /// What it minimises, if not cycles.
        #[serde(skip_serializing_if = "Option::is_none")]
        optimise: Option<&'static str>,
        library: String,
    },
    Named(&'static str),
    Recipe(&'a Recipe),
}

/// BLAKE3, shortened to 128 bits, as text.
fn hash(value: &impl Serialize) -> String {
    PointKey::of(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::Degree;
    use std::collections::HashSet;

    fn resolver(text: &str) -> Resolver {
        Resolver::new(&Definition::parse("s.toml", text).unwrap()).unwrap()
    }

    /// Results and kernels depend on both memories, but not on the off-chip one.
    #[test]
    fn classes_tell_points_apart_by_every_axis() {
        let distinct = |grid: &str, of: fn(&Class) -> u128| {
            let resolver = resolver(&format!("n = 1024\n[grid]\n{grid}\nhbm.gb_per_s = [512, 1024]"));
            let class = |point| of(&resolver.class(&resolver.definition().digits(point)));
            (0..18).map(class).collect::<HashSet<_>>().len()
        };
        let memories = "vdm.size_mib = [4, 8, 16]\nsdm.size_kib = [32, 64, 128]";
        assert_eq!(distinct(memories, |class| class.results), 9);
        assert_eq!(distinct(memories, |class| class.kernels), 9);
        let latencies = "vbar.latency_cycles = [3, 4, 5]\nsbar.latency_cycles = [3, 4, 5]";
        assert_eq!(distinct(latencies, |class| class.cycles), 9);
        let choices = "plan = ['kl', 'pease', 'best']\ntune = ['off', 'quick', 'full']";
        assert_eq!(distinct(choices, |class| class.program), 9);
    }

    #[test]
    fn each_task_has_a_library_of_its_own() {
        let resolver = resolver("n = 1024");
        let library = |degree| {
            let degree = Degree::new(degree).unwrap();
            resolver.library_of(&Request::with_primes(golden::NTT, degree, 60, 1).unwrap())
        };
        assert_eq!(library(1024), library(1024));
        assert_ne!(library(1024), library(65536));
    }
}
