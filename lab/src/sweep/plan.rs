//! The points of a sweep, resolved.

use super::definition::{Definition, KERNEL_KEYS, ScheduleFor, Setting};
use super::manifest::{Manifest, ManifestPoint, Settings, Workload};
use crate::kernel::{self, KernelSpec, ModulusSpec, RequestSpec, parse_u128};
use crate::model::MODEL_VERSION;
use crate::run::SCHEMA;
use codegen::library::{BUILT_IN, Task};
use codegen::search::Effort;
use codegen::{PlanChoice, Recipe};
use diagnostic::Diagnostic;
use golden::{Operation, UnknownOperation};
use rayon::prelude::*;
use serde::Serialize;
use sim::{Machine, MachineBase, Override};
use std::collections::{HashMap, HashSet};
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
    /// Seed of the data for checking programs.
    pub seed: u64,
}

/// One point.
#[derive(Clone, Debug)]
pub struct PlannedPoint {
    /// BLAKE3, shortened to 128 bits, of everything that determines the result, including the
    /// model.
    pub key: String,
    /// Equal for points that run the same program.
    pub(super) program_key: String,
    /// The kernel.
    pub kernel: KernelSpec,
    /// The machine on which it runs.
    pub machine: Arc<Machine>,
    /// The machine for which it is scheduled.
    pub scheduled_for: Arc<Machine>,
    /// The value of each column.
    pub settings: Settings,
}

impl Plan {
    /// Resolves a definition.
    ///
    /// # Errors
    /// Returns an error if a machine or kernel key or its value is invalid; the error has its
    /// position.
    pub fn new(definition: &Definition) -> Result<Self, Diagnostic> {
        let resolver = Resolver::new(definition)?;
        let resolve = |point: Vec<&Setting>| resolver.point(&point);
        let resolved = definition.points()?.into_par_iter().map(resolve);
        let mut points: Vec<PlannedPoint> = resolved.collect::<Result<_, _>>()?;
        let mut seen = HashSet::new();
        points.retain(|point| seen.insert(point.key.clone()));

        let rungs = definition.halving.iter().flat_map(|halving| &halving.rungs);
        let rungs: Vec<Vec<PlannedPoint>> =
            rungs.map(|&n| points.par_iter().map(|point| resolver.on_rung(point, n)).collect()).collect();
        let manifest_point = |(i, point): (usize, &PlannedPoint)| ManifestPoint {
            key: point.key.clone(),
            settings: point.settings.clone(),
            rungs: rungs.iter().map(|rung| rung[i].key.clone()).collect(),
        };
        let varying = definition.varying();
        let is_set = |key: &str| points.iter().any(|point| point.settings.contains_key(key));
        let kernel_columns = KERNEL_KEYS.into_iter().filter(|key| is_set(key)).map(str::to_owned);
        let machine_columns = varying.iter().filter(|key| !KERNEL_KEYS.contains(&key.as_str())).cloned();
        let manifest = Manifest {
            schema: SCHEMA,
            name: definition.name.clone(),
            title: if definition.title.is_empty() {
                title(definition, &points)
            } else {
                definition.title.clone()
            },
            columns: kernel_columns.chain(machine_columns).collect(),
            varying: varying.clone(),
            references: definition.references.clone(),
            halving: definition.halving.clone(),
            source: definition.source(),
            points: points.iter().enumerate().map(manifest_point).collect(),
        };
        Ok(Self { points, rungs, manifest, seed: definition.seed })
    }
}

/// The common workload of all points, or the sweep's name.
fn title(definition: &Definition, points: &[PlannedPoint]) -> String {
    let same = |other: &PlannedPoint| {
        let (a, b) = (&points[0].kernel, &other.kernel);
        a.request == b.request
    };
    match points.first() {
        Some(PlannedPoint {
            kernel: KernelSpec { request: RequestSpec { modulus, .. }, .. },
            settings,
            ..
        }) if points.iter().all(same) => {
            let workload = match modulus {
                ModulusSpec::Bits(_) => Workload::of(settings).to_string(),
                ModulusSpec::Value(modulus) => {
                    format!("{}, modulus {modulus:#x}", Workload::of(settings).name())
                }
            };
            format!("{workload}: area against latency")
        }
        _ => definition.name.clone(),
    }
}

/// Turns settings into points.
struct Resolver<'d> {
    definition: &'d Definition,
    file: MachineBase,
    base: Arc<Machine>,
    /// The scheduling machines of [`ScheduleFor::Keys`], by the settings of those keys.
    scheduled_for: Mutex<HashMap<String, Arc<Machine>>>,
    /// See [`Self::library_of`].
    libraries: Mutex<HashMap<(Operation, u32), String>>,
}

impl<'d> Resolver<'d> {
    fn new(definition: &'d Definition) -> Result<Self, Diagnostic> {
        let file = if definition.machine.ends_with(".toml") {
            MachineBase::load(definition.path(&definition.machine))?
        } else {
            MachineBase::built_in(&definition.machine)?
        };
        let base = Arc::new(file.machine(&definition.overrides)?);
        Ok(Self { definition, file, base, scheduled_for: Mutex::default(), libraries: Mutex::default() })
    }

    /// The base machine with a point's settings.
    fn machine(&self, settings: &[&Setting]) -> Result<Arc<Machine>, Diagnostic> {
        if settings.is_empty() {
            return Ok(Arc::clone(&self.base));
        }
        let text = |setting: &Setting| format!("{}={}", setting.key, setting.value);
        let mut overrides = self.definition.overrides.clone();
        for setting in settings {
            overrides.push(Override::parse(&text(setting))?);
        }
        let machine = self.file.machine(&overrides).map_err(|error| {
            // An error of a setting is an error in the sweep file, not on the command line.
            match settings.iter().find(|setting| text(setting) == *error.text) {
                Some(setting) => Diagnostic {
                    help: error.help,
                    ..self.definition.error(setting.span.clone(), error.message, "")
                },
                None => error,
            }
        });
        machine.map(Arc::new)
    }

    /// The machine for which the program of a point is scheduled.
    fn scheduled_for(
        &self,
        machine: &Arc<Machine>,
        settings: &[&Setting],
    ) -> Result<Arc<Machine>, Diagnostic> {
        let keys = match &self.definition.schedule_for {
            ScheduleFor::Machine => return Ok(Arc::clone(machine)),
            ScheduleFor::Base => return Ok(Arc::clone(&self.base)),
            ScheduleFor::Keys(keys) => keys,
        };
        let settings: Vec<&Setting> =
            settings.iter().copied().filter(|setting| keys.contains(&setting.key)).collect();
        let name: String =
            settings.iter().map(|setting| format!("{}={}\n", setting.key, setting.value)).collect();
        let known = || self.scheduled_for.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&name).cloned();
        match found {
            Some(machine) => Ok(machine),
            None => {
                let machine = self.machine(&settings)?;
                Ok(Arc::clone(known().entry(name).or_insert(machine)))
            }
        }
    }

    fn point(&self, point: &[&Setting]) -> Result<PlannedPoint, Diagnostic> {
        let definition = self.definition;
        let (kernel_settings, machine_settings): (Vec<&Setting>, Vec<&Setting>) =
            point.iter().partition(|setting| KERNEL_KEYS.contains(&setting.key.as_str()));
        let machine = self.machine(&machine_settings)?;
        let scheduled_for = self.scheduled_for(&machine, &machine_settings)?;
        let (kernel, plan_name, tune) = kernel(definition, definition.kernel.iter().chain(kernel_settings))?;

        let (request, mut settings) = (kernel.request, Settings::new());
        settings.insert("kernel".into(), request.operation.name().into());
        settings.insert("n".into(), request.n.into());
        match request.modulus {
            ModulusSpec::Bits(bits) => settings.insert("modulus_bits".into(), bits.into()),
            ModulusSpec::Value(modulus) => settings.insert("modulus".into(), format!("{modulus:#x}").into()),
        };
        settings.insert("plan".into(), plan_name.into());
        if let Some(tune) = tune {
            settings.insert("tune".into(), tune.name().into());
        }
        for setting in machine_settings {
            let value = serde_json::to_value(&setting.value).unwrap_or_default();
            settings.insert(setting.key.clone(), value);
        }
        Ok(self.planned(kernel, machine, scheduled_for, settings))
    }

    fn planned(
        &self,
        kernel: KernelSpec,
        machine: Arc<Machine>,
        scheduled_for: Arc<Machine>,
        settings: Settings,
    ) -> PlannedPoint {
        let plan = self.plan_identity(&kernel);
        let key_on =
            |machine| Identity::new(&kernel, &plan, machine, &scheduled_for, self.definition.seed).key();
        let program_key = key_on(&scheduled_for);
        let key = if Arc::ptr_eq(&machine, &scheduled_for) { program_key.clone() } else { key_on(&machine) };
        PlannedPoint { key, program_key, kernel, machine, scheduled_for, settings }
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
        let known = || self.libraries.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known().get(&task).cloned();
        found.unwrap_or_else(|| {
            let same_task = |known: &&Task| known.operation == task.0.name() && known.n == task.1;
            let tasks: Vec<&Task> = BUILT_IN.tasks.iter().filter(same_task).collect();
            let hash = hash(&tasks);
            known().insert(task, hash.clone());
            hash
        })
    }

    /// The point on a ring of degree `n`, unless its own degree is smaller.
    fn on_rung(&self, point: &PlannedPoint, n: u32) -> PlannedPoint {
        let mut kernel = point.kernel.clone();
        kernel.request.n = n.min(kernel.request.n);
        let mut settings = point.settings.clone();
        settings.insert("n".into(), kernel.request.n.into());
        self.planned(kernel, Arc::clone(&point.machine), Arc::clone(&point.scheduled_for), settings)
    }
}

/// The kernel of some settings, of which later ones take precedence, the name of its plan, and the search
/// if one is set.
fn kernel<'a>(
    definition: &Definition,
    settings: impl Iterator<Item = &'a Setting>,
) -> Result<(KernelSpec, String, Option<Tune>), Diagnostic> {
    let mut spec =
        RequestSpec { operation: golden::NTT, n: 65536, modulus: ModulusSpec::Bits(128), root: None };
    let (mut plan, mut plan_name) = (PlanChoice::Best, "best".to_owned());
    let mut tune = None;
    for Setting { key, value, span } in settings {
        let wrong = |help: String| {
            let message = format!("invalid value {value} for `{key}`");
            definition.error(span.clone(), message, help)
        };
        let integer = || value.as_integer().and_then(|value| u32::try_from(value).ok());
        match key.as_str() {
            "kernel" => {
                let operation = value.as_str().unwrap_or_default().parse();
                spec.operation =
                    operation.map_err(|error: UnknownOperation| wrong(error.help().to_owned()))?;
            }
            "n" => {
                let n = integer().filter(|n| n.is_power_of_two() && *n >= 2);
                spec.n = n.ok_or_else(|| wrong("expected a power of two, such as 65536".into()))?;
            }
            "modulus_bits" => {
                let bits = integer().filter(|bits| (2..=128).contains(bits));
                spec.modulus = ModulusSpec::Bits(bits.ok_or_else(|| wrong("expected 2 to 128 bits".into()))?);
            }
            "modulus" => {
                let modulus = value.as_str().and_then(parse_u128);
                let modulus = modulus.or_else(|| value.as_integer().and_then(|value| value.try_into().ok()));
                let help = "write a number, in quotes if it has more than 63 bits: \"0x1000...\"";
                spec.modulus = ModulusSpec::Value(modulus.ok_or_else(|| wrong(help.into()))?);
            }
            "tune" => {
                let named = |known: &&(Tune, &str)| Some(known.1) == value.as_str();
                let (found, _) = TUNES
                    .iter()
                    .find(named)
                    .ok_or_else(|| wrong("expected \"off\", \"quick\" or \"full\"".into()))?;
                tune = Some(*found);
            }
            _ => {
                plan_name =
                    value.as_str().ok_or_else(|| wrong("expected a name in quotes".into()))?.to_owned();
                plan = kernel::plan(&plan_name, &definition.path(&plan_name)).map_err(|error| {
                    if error.text.is_empty() {
                        let help = error.help.clone().unwrap_or_default();
                        definition.error(span.clone(), error.message, help)
                    } else {
                        error
                    }
                })?;
            }
        }
    }
    if let (PlanChoice::Best, Some(tune)) = (&plan, tune) {
        plan = tune.choice();
    }
    Ok((KernelSpec { request: spec, plan }, plan_name, tune))
}

/// The search for plan `best`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tune {
    Off,
    Quick,
    Full,
}

/// The values of `tune`.
const TUNES: [(Tune, &str); 3] = [(Tune::Off, "off"), (Tune::Quick, "quick"), (Tune::Full, "full")];

impl Tune {
    fn choice(self) -> PlanChoice {
        match self {
            Self::Off => PlanChoice::Known,
            Self::Quick => PlanChoice::Best,
            Self::Full => PlanChoice::Tuned(Effort::DEFAULT),
        }
    }

    fn name(self) -> &'static str {
        TUNES.iter().find(|(tune, _)| *tune == self).map_or("", |(_, name)| name)
    }
}

/// Everything that determines the result of a point.
#[derive(Serialize)]
struct Identity<'a> {
    schema: u32,
    model: u32,
    function: &'static str,
    n: u32,
    modulus: String,
    plan: &'a PlanIdentity<'a>,
    seed: u64,
    machine: &'a Machine,
    scheduled_for: &'a Machine,
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
    fn new(
        kernel: &KernelSpec,
        plan: &'a PlanIdentity<'a>,
        machine: &'a Machine,
        scheduled_for: &'a Machine,
        seed: u64,
    ) -> Self {
        let request = &kernel.request;
        Self {
            schema: SCHEMA,
            model: MODEL_VERSION,
            function: request.operation.name(),
            n: request.n,
            modulus: request.modulus.to_string(),
            plan,
            seed,
            machine,
            scheduled_for,
        }
    }

    fn key(&self) -> String {
        hash(self)
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

    fn plan(text: &str) -> Result<Plan, Diagnostic> {
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
            plan("[[list]]\nn = 1024\n[[list]]\nn = 1024\n[[list]]\nn = 2048").unwrap().points.len(),
            2
        );
    }

    #[test]
    fn the_program_of_the_base_machine_is_shared_where_asked() {
        let plan = plan("schedule_for = 'base'\n[grid]\nhple.count = [64, 128]").unwrap();
        assert!(plan.points.iter().all(|point| point.scheduled_for.hple.count == 128));
        assert_eq!(plan.points[0].machine.hple.count, 64);
    }

    #[test]
    fn errors_stand_in_the_sweep() {
        let error = |text: &str| plan(text).unwrap_err().to_string();
        assert!(
            error("[grid]\nhple.cuont = [4]").starts_with("test.toml:2:15: "),
            "{}",
            error("[grid]\nhple.cuont = [4]")
        );
        assert!(error("[grid]\nhple.count = [4, 3]").starts_with("test.toml:2:18: "));
        assert_eq!(
            error("n = 1000"),
            "test.toml:1:5: invalid value 1000 for `n`; expected a power of two, such as 65536"
        );
        assert!(error("kernel = 'fft'").contains("invalid value \"fft\" for `kernel`"));
        assert!(
            error("[grid]\nplan = ['best', 'worst']")
                .starts_with("test.toml:2:17: unknown plan, and no readable file")
        );
    }
}
