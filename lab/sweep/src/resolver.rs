//! From the numbers of a point's alternatives to its machine, its program and its key.

use super::data::Data;
use super::definition::{DataFile, Definition, KERNEL_KEYS, ScheduleFor, Setting};
use super::hashed::{Hashed, MachineTexts};
use super::key::PointKey;
use super::manifest::Settings;
use super::plan::{GivenProgram, PlannedPoint, Task};
use super::points::{Code, Points};
use super::ring_task::{is_ring_program, ring_program};
use super::task::{generated, stream};
use codegen::library::BUILT_IN;
use codegen::{PlanChoice, Recipe};
use diagnostic::{Diagnostic, Diagnostics};
use golden::Operation;
use lab_run::kernel::{KernelSpec, RequestSpec};
use lab_run::model::MODEL_VERSION;
use lab_run::program::{self, ProgramFile};
use lab_run::{SCHEMA, program_blake3};
use serde::Serialize;
use serde_json::Value;
use sim::machine::Assignment;
use sim::machine::table::Effect;
use sim::{Machine, MachineBase, Override};
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

/// The numbers of a point's alternatives, one for each axis.
pub(super) type Digits = [usize];

/// Turns the alternatives of points into points.
pub(super) struct Resolver {
    definition: Definition,
    file: MachineBase,
    base: Hashed,
    axes: Vec<Axis>,
    /// The scheduling machines of [`ScheduleFor::Keys`].
    scheduled_for: Known<Vec<usize>, Hashed>,
    /// The kernels.
    kernels: Known<Vec<usize>, Arc<Resolved>>,
    /// The texts of the base machine.
    texts: MachineTexts,
    /// See [`Self::library_of`].
    libraries: Known<(Operation, u32), String>,
    data: Data,
}

/// What the alternatives of an axis change. Each list maps an alternative to the first one with the same settings
/// of its kind.
struct Axis {
    /// Settings of the kernel.
    kernel: Vec<usize>,
    /// Keys of the machine for which programs are scheduled.
    scheduled_for: Vec<usize>,
    /// Everything on which programs depend.
    program: Vec<usize>,
    /// Keys on which the cycles of a given program depend.
    cycles: Vec<usize>,
    /// The values of machine keys; `None` if one of them is invalid, or not a single key.
    machine: Vec<Option<Vec<Assignment>>>,
}

/// The points that share work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Class {
    /// Equal for points that run the same program.
    pub(super) program: u128,
    /// Equal for points on whose machines a program takes the same cycles.
    pub(super) cycles: u128,
}

/// A kernel as its settings give it.
#[derive(Clone)]
pub(super) struct Resolved {
    task: Task,
    stream: Option<u32>,
    /// The hash of everything that determines the program on a given machine.
    hash: Arc<str>,
    /// The settings in columns.
    columns: Settings,
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
        let is_kernel = |key: &str| KERNEL_KEYS.contains(&key);
        let is_scheduled = |key: &str| match schedule_for {
            ScheduleFor::Machine => !is_kernel(key),
            ScheduleFor::Base => false,
            ScheduleFor::Keys(keys) => keys.iter().any(|scheduled| scheduled == key),
        };
        // No program depends on them. A stream is of runs of one program.
        let is_beside = |key: &str| {
            ["name", "technology", "stream"].contains(&key)
                || ["technology.", "hbm."].iter().any(|section| key.starts_with(section))
        };
        let changes_programs = |key: &str| (is_kernel(key) || is_scheduled(key)) && !is_beside(key);
        let changes_cycles = |key: &str| {
            let effects = |key: &sim::machine::table::Key| key.effects.contains(&Effect::Cycles);
            sim::machine::key(key).is_some_and(effects)
        };
        let numbers = |is_wanted: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let mut first: HashMap<String, usize> = HashMap::new();
            let text = |row: &Vec<Setting>| name(row.iter().filter(|setting| is_wanted(&setting.key)));
            let texts = alternatives.iter().map(text).enumerate();
            texts.map(|(number, text)| *first.entry(text).or_insert(number)).collect()
        };
        let machine = |row: &Vec<Setting>| {
            let settings = row.iter().filter(|setting| !is_kernel(&setting.key));
            settings.map(|setting| Override::parse(&text(setting)).ok()?.assignment()).collect()
        };
        Self {
            kernel: numbers(&is_kernel),
            scheduled_for: numbers(&|key| is_scheduled(key)),
            program: numbers(&changes_programs),
            cycles: numbers(&changes_cycles),
            machine: alternatives.iter().map(machine).collect(),
        }
    }
}

/// The settings of points as codes of their columns.
pub(super) struct Columns {
    /// The machine settings of each alternative of each axis.
    machine: Vec<Vec<Vec<Code>>>,
    /// The settings of each kernel.
    kernels: HashMap<Vec<usize>, Vec<Code>>,
}

impl Columns {
    pub(super) fn new(definition: &Definition, points: &mut Points) -> Self {
        let mut codes = |row: &Vec<Setting>| -> Vec<Code> {
            let settings = row.iter().filter(|setting| !KERNEL_KEYS.contains(&setting.key.as_str()));
            settings.map(|setting| points.code(&setting.key, &value(setting))).collect()
        };
        let mut axis = |axis: &Vec<Vec<Setting>>| axis.iter().map(&mut codes).collect();
        Self { machine: definition.axes().iter().map(&mut axis).collect(), kernels: HashMap::new() }
    }

    /// The settings of a point.
    pub(super) fn codes(
        &mut self,
        resolver: &Resolver,
        point: &Digits,
        points: &mut Points,
    ) -> Result<Vec<Code>, Diagnostics> {
        let numbers = resolver.numbers(point, |axis| &axis.kernel);
        let mut codes = match self.kernels.get(&numbers) {
            Some(codes) => codes.clone(),
            None => {
                let codes = points.codes(&resolver.resolved_kernel(point)?.columns);
                self.kernels.insert(numbers, codes.clone());
                codes
            }
        };
        let rows = self.machine.iter().zip(point).map(|(axis, &number)| &axis[number]);
        codes.extend(rows.flatten());
        Ok(codes)
    }
}

/// The value of a setting in results.
fn value(setting: &Setting) -> Value {
    serde_json::to_value(&setting.value).unwrap_or_default()
}

impl Resolver {
    pub(super) fn new(definition: &Definition) -> Result<Self, Diagnostics> {
        let file = if definition.machine.ends_with(".toml") {
            MachineBase::load(definition.path(&definition.machine))?
        } else {
            MachineBase::built_in(&definition.machine)?
        };
        let base = file.machine(&definition.overrides)?;
        let texts = MachineTexts::new(&base);
        let base = Hashed::new(base, &texts);
        let axis = |axis: &Vec<Vec<Setting>>| Axis::new(axis, &definition.schedule_for);
        Ok(Self {
            axes: definition.axes().iter().map(axis).collect(),
            data: Data::read(definition)?,
            definition: definition.clone(),
            file,
            base,
            texts,
            scheduled_for: Known::default(),
            kernels: Known::default(),
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

    /// The errors of points, each once: most points share theirs with others.
    pub(super) fn errors(&self, points: impl Iterator<Item = Vec<usize>>) -> Diagnostics {
        let mut found: Vec<Diagnostic> = Vec::new();
        for errors in points.filter_map(|point| self.point(&point).err()) {
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
        let mut class = Class { program: 0, cycles: 0 };
        for (axis, &number) in self.axes.iter().zip(point) {
            let alternatives = axis.program.len() as u128;
            class.program = class.program * alternatives + axis.program[number] as u128;
            class.cycles = class.cycles * alternatives + axis.cycles[number] as u128;
        }
        class
    }

    /// The point with these alternatives.
    pub(super) fn point(&self, point: &Digits) -> Result<PlannedPoint, Diagnostics> {
        let (kernel, machine, scheduled_for) = self.parts(point)?;
        let mut kernel = (*kernel).clone();
        for setting in self.definition.point_at(point) {
            if !KERNEL_KEYS.contains(&setting.key.as_str()) {
                kernel.columns.insert(setting.key.clone(), value(setting));
            }
        }
        Ok(planned(kernel, &machine, &scheduled_for))
    }

    /// The key of a point.
    pub(super) fn key(&self, point: &Digits) -> Result<PointKey, Diagnostics> {
        let (kernel, machine, scheduled_for) = self.parts(point)?;
        Ok(key(&kernel, &machine, &scheduled_for))
    }

    /// The kernel of a point, its machine, and the one for which it is scheduled.
    fn parts(&self, point: &Digits) -> Result<(Arc<Resolved>, Hashed, Hashed), Diagnostics> {
        let mut errors = Diagnostics::default();
        let machine = errors.keep(match self.assigned(point) {
            Some(machine) => Ok(machine),
            None => {
                let mut settings = self.definition.point_at(point);
                settings.retain(|setting| !KERNEL_KEYS.contains(&setting.key.as_str()));
                self.machine(&settings)
            }
        });
        let kernel = errors.keep(self.resolved_kernel(point));
        let (Some(machine), Some(kernel)) = (machine, kernel) else { return Err(errors) };
        let scheduled_for = self.scheduled_for(&machine, point)?;
        Ok((kernel, machine, scheduled_for))
    }

    fn resolved_kernel(&self, point: &Digits) -> Result<Arc<Resolved>, Diagnostics> {
        self.kernels.get(self.numbers(point, |axis| &axis.kernel), || {
            let mut settings = self.definition.point_at(point);
            settings.retain(|setting| KERNEL_KEYS.contains(&setting.key.as_str()));
            self.kernel(&settings).map(Arc::new)
        })
    }

    /// For each axis, the number of a point's alternative.
    fn numbers(&self, point: &Digits, of: impl Fn(&Axis) -> &Vec<usize>) -> Vec<usize> {
        self.axes.iter().zip(point).map(|(axis, &number)| of(axis)[number]).collect()
    }

    /// The machine of a point if all its settings are valid values of keys and break no rule.
    fn assigned(&self, point: &Digits) -> Option<Hashed> {
        let rows = self.axes.iter().zip(point).map(|(axis, &number)| axis.machine[number].as_ref());
        let rows: Vec<&Vec<Assignment>> = rows.collect::<Option<_>>()?;
        if rows.iter().all(|row| row.is_empty()) {
            return Some(self.base.clone());
        }
        self.base.machine.with(rows.into_iter().flatten()).map(|machine| self.hashed(machine))
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
        Hashed::new(machine, &self.texts)
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
            let settings: Vec<&Setting> = settings.filter(|setting| keys.contains(&setting.key)).collect();
            if settings.is_empty() { Ok(self.base.clone()) } else { self.machine(&settings) }
        })
    }

    /// The kernel of a point with these settings.
    fn kernel(&self, settings: &[&Setting]) -> Result<Resolved, Diagnostics> {
        let all: Vec<&Setting> = self.definition.kernel.iter().chain(settings.iter().copied()).collect();
        let stream = stream(&self.definition, &all)?;
        let program = all.iter().rfind(|setting| setting.key == "program");
        let (task, mut columns) = match program {
            Some(program) => self.given(program, &all)?,
            None => {
                if let Some(DataFile { span, .. }) = self.definition.data.first() {
                    let help = "set `program`, or leave the data out: generated programs are checked on data from the seed";
                    return Err(self.definition.error(span.clone(), "data without a program", help).into());
                }
                if is_ring_program(&all) {
                    ring_program(&self.definition, &all)?
                } else {
                    generated(&self.definition, &all)?
                }
            }
        };
        if let Some(runs) = stream {
            columns.insert("stream".into(), runs.into());
        }
        Ok(self.resolved(task, stream, columns))
    }

    /// A program from a file.
    fn given(&self, program: &Setting, all: &[&Setting]) -> Result<(Task, Settings), Diagnostic> {
        let definition = &self.definition;
        let other = all.iter().find(|setting| !["program", "stream"].contains(&setting.key.as_str()));
        if let Some(setting) = other {
            let message = format!("`{}` describes a kernel, but `program` names a file", setting.key);
            return Err(definition.error(setting.key_span.clone(), message, "keep one of them"));
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
        self.data.check(definition, &program)?;
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
            Task::Ring(ring) => hash(&(SCHEMA, MODEL_VERSION, &ring.blake3, format!("{:?}", ring.keys))),
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
            let tasks: Vec<_> = BUILT_IN.tasks_of(task.0.name(), task.1).collect();
            Ok::<_, Infallible>(hash(&tasks))
        });
        library
    }
}

/// The key of a kernel on a machine.
fn key(kernel: &Resolved, machine: &Hashed, scheduled_for: &Hashed) -> PointKey {
    PointKey::of(&(&*kernel.hash, &*machine.hash, &*scheduled_for.hash))
}

fn planned(kernel: Resolved, machine: &Hashed, scheduled_for: &Hashed) -> PlannedPoint {
    let key = key(&kernel, machine, scheduled_for);
    let Resolved { task, stream, columns: settings, .. } = kernel;
    let (machine, scheduled_for) = (machine.machine.clone(), scheduled_for.machine.clone());
    PlannedPoint { key, task, stream, machine, scheduled_for, settings }
}

/// A setting as an override.
fn text(setting: &Setting) -> String {
    format!("{}={}", setting.key, setting.value)
}

/// Settings as a text that tells them apart.
fn name<'s>(settings: impl Iterator<Item = &'s Setting>) -> String {
    settings.map(|setting| text(setting) + "\n").collect()
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

/// BLAKE3, shortened to 128 bits, as text.
fn hash(value: &impl Serialize) -> String {
    PointKey::of(value).to_string()
}
