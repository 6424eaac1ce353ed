//! Points that run a ring program of a generator, such as `hmult`.

use super::definition::{Definition, ScheduleFor, Setting};
use super::manifest::Settings;
use super::plan::Task;
use diagnostic::{Diagnostic, Diagnostics, nearest};
use golden::Operation;
use lab_run::{ProgramFacts, RingTiming, RunReport};
use programs::{DATAFLOWS, Options, PROGRAMS, ParameterSet, SETS, find_dataflow, find_program};
use ring_program::RingProgram;
use runtime::{Keys, Runtime};
use sim::Machine;
use std::sync::Arc;

/// A ring program of a generator.
#[derive(Clone, PartialEq, Debug)]
pub struct RingTask {
    /// Its name, such as `hmult`.
    pub name: String,
    /// The program.
    pub program: RingProgram,
    /// BLAKE3 of its text, in hexadecimal.
    pub blake3: String,
    /// The origin of its keys.
    pub keys: Keys,
}

/// The settings of ring programs.
const RING_KEYS: [&str; 6] = ["kernel", "set", "n", "level", "dataflow", "keys"];

/// The values of `keys`.
const KEYS: [(&str, Keys); 3] =
    [("streamed", Keys::Streamed), ("seeded", Keys::Seeded), ("resident", Keys::Resident)];

/// Whether some settings name a ring program: by its parameter set, or by a name that no operation has.
pub(super) fn is_ring_program(settings: &[&Setting]) -> bool {
    let kernel = settings.iter().rfind(|setting| setting.key == "kernel");
    let name = kernel.and_then(|setting| setting.value.as_str()).unwrap_or_default();
    settings.iter().any(|setting| setting.key == "set")
        || (find_program(name).is_some() && name.parse::<Operation>().is_err())
}

/// The ring program of some settings, of which later ones take precedence, and its columns.
pub(super) fn ring_program(
    definition: &Definition,
    settings: &[&Setting],
) -> Result<(Task, Settings), Diagnostics> {
    if let Some(other) = settings.iter().find(|setting| !RING_KEYS.contains(&setting.key.as_str())) {
        let message = format!("`{}` describes a kernel, but `set` makes a ring program", other.key);
        let help = "the keys of ring programs are kernel, set, n, level, dataflow and keys";
        return Err(definition.error(other.span.clone(), message, help).into());
    }
    if definition.schedule_for != ScheduleFor::Machine {
        let help = "leave `schedule_for` out";
        let message = "a ring program has kernels of its own for each machine";
        return Err(definition.error(0..0, message, help).into());
    }
    let values = Values { definition, settings };
    let program = values
        .named("kernel", find_program, PROGRAMS.iter().map(|program| program.name))?
        .ok_or_else(|| definition.error(0..0, "missing `kernel`", "name a program, such as \"hmult\""))?;
    let set = values.set()?;
    let mut options =
        Options { level: values.number("level")?.map(|level| level as usize), ..Options::default() };
    if let Some(dataflow) = values.named("dataflow", find_dataflow, DATAFLOWS.iter().map(|flow| flow.name))? {
        options.dataflow = dataflow;
    }
    let find_keys = |name: &str| Some(KEYS.iter().find(|(known, _)| *known == name)?.1);
    let keys = values.named("keys", find_keys, KEYS.iter().map(|(name, _)| *name))?.unwrap_or_default();
    let ring_program = programs::generate(&program, &set, &options).map_err(|error| {
        let culprit = ["level", "set"].into_iter().find_map(|key| values.get(key));
        definition.error(culprit.map_or(0..0, |setting| setting.span.clone()), error.to_string(), "")
    })?;
    let mut text = Vec::new();
    ring_program
        .write("", &mut text)
        .map_err(|error| definition.error(0..0, format!("cannot write the ring program: {error}"), ""))?;
    let mut columns = Settings::new();
    for key in RING_KEYS {
        if let Some(setting) = values.get(key) {
            columns.insert(key.to_owned(), serde_json::to_value(&setting.value).unwrap_or_default());
        }
    }
    columns.insert("n".into(), set.degree().get().into());
    let blake3 = blake3::hash(&text).to_hex().to_string();
    let task = RingTask { name: program.name.to_owned(), program: ring_program, blake3, keys };
    Ok((Task::Ring(Arc::new(task)), columns))
}

/// Settings with their values.
struct Values<'d> {
    definition: &'d Definition,
    settings: &'d [&'d Setting],
}

impl<'d> Values<'d> {
    fn get(&self, key: &str) -> Option<&'d Setting> {
        self.settings.iter().rfind(|setting| setting.key == key).copied()
    }

    fn wrong(&self, setting: &Setting, help: String) -> Diagnostic {
        let message = format!("invalid value {} for `{}`", setting.value, setting.key);
        self.definition.error(setting.span.clone(), message, help)
    }

    /// A value that is one of some names.
    fn named<T>(
        &self,
        key: &str,
        find: impl Fn(&str) -> Option<T>,
        names: impl Iterator<Item = &'static str> + Clone,
    ) -> Result<Option<T>, Diagnostic> {
        let Some(setting) = self.get(key) else { return Ok(None) };
        let name = setting.value.as_str().unwrap_or_default();
        let help = || match nearest(name, names.clone()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("expected one of {}", names.clone().collect::<Vec<_>>().join(", ")),
        };
        find(name).map(Some).ok_or_else(|| self.wrong(setting, help()))
    }

    fn number(&self, key: &str) -> Result<Option<u64>, Diagnostic> {
        let Some(setting) = self.get(key) else { return Ok(None) };
        let number = setting.value.as_integer().and_then(|number| u64::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.wrong(setting, "expected a whole number".into()))
    }

    /// The parameter set: a built-in one, or a file.
    fn set(&self) -> Result<ParameterSet, Diagnostics> {
        let n = self.number("n")?;
        let names = || SETS.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
        let Some(setting) = self.get("set") else {
            let span = self.get("kernel").map_or(0..0, |setting| setting.span.clone());
            let help = format!("add `set = \"{}\"`, for example; the sets are {}", SETS[0].0, names());
            return Err(self.definition.error(span, "a ring program without a parameter set", help).into());
        };
        let name = setting.value.as_str().unwrap_or_default();
        if let Some(set) = ParameterSet::built_in(name, n) {
            return set;
        }
        let path = self.definition.path(name);
        let Ok(text) = std::fs::read_to_string(&path) else {
            let help = format!("the sets are {}; or give the path of a TOML file", names());
            return Err(self.wrong(setting, help).into());
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        ParameterSet::parse(&stem, &path.display().to_string(), &text, n)
    }
}

/// Times a ring program on a machine. It is not run on data.
pub(super) fn time(task: &RingTask, machine: &Machine) -> Result<RunReport, String> {
    let runtime = Runtime::new(&task.program, machine).map_err(|error| error.to_string())?;
    let timeline = runtime.time(task.keys, false).map_err(|error| error.to_string())?;
    let facts = ProgramFacts {
        name: task.name.clone(),
        blake3: task.blake3.clone(),
        computes: Vec::new(),
        events: runtime.events(),
    };
    let ring = RingTiming::new(&runtime.report(&timeline));
    Ok(RunReport { ring: Some(ring), ..RunReport::new(&facts, machine) })
}
