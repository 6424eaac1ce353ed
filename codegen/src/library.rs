//! The library: the fastest known recipes for the paper's machine and its relatives.
//!
//! Each task, an operation at one degree in some number of rings, has a file in `codegen/plans`. The
//! files are part of the crate.

use crate::bounds::PassBound;
use crate::compile::compile;
use crate::error::Error;
use crate::forwarding::Removed;
use crate::recipe::{self, Recipe};
use crate::request::Request;
use diagnostic::Diagnostics;
use diagnostic::document::{Document, Format, Item, Schema};
use ring::Degree;
use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::machine::{BankMapping, Busyboard};
use sim::timing::{Cycle, simulate};
use std::sync::LazyLock;

/// The properties of a machine that decide which recipe is fast on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `hple.count`.
    pub hples: u32,
    /// `vdm.banks`.
    pub banks: u32,
    /// `vdm.mapping`.
    #[serde(default = "interleaved", skip_serializing_if = "is_interleaved")]
    pub mapping: BankMapping,
    /// `frontend.busyboard`.
    #[serde(default = "strict", skip_serializing_if = "is_strict")]
    pub busyboard: Busyboard,
    /// `isa.gs_butterfly`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gs_butterfly: bool,
    /// `ideal.vrf_ports`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ideal_vrf_ports: bool,
    /// `vdm.multicast`.
    #[serde(default = "on", skip_serializing_if = "is_on")]
    pub multicast: bool,
}

const fn interleaved() -> BankMapping {
    BankMapping::Interleaved
}

const fn strict() -> Busyboard {
    Busyboard::Strict
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_interleaved(mapping: &BankMapping) -> bool {
    *mapping == interleaved()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_strict(busyboard: &Busyboard) -> bool {
    *busyboard == strict()
}

const fn on() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_on(switch: &bool) -> bool {
    *switch
}

impl Target {
    /// The target of a machine.
    pub fn of(machine: &Machine) -> Self {
        Self {
            hples: machine.hple.count,
            banks: machine.vdm.banks,
            mapping: machine.vdm.mapping,
            busyboard: machine.frontend.busyboard,
            gs_butterfly: machine.isa.gs_butterfly,
            ideal_vrf_ports: !machine.sram_ports_are_limited(),
            multicast: machine.vdm.multicast,
        }
    }

    /// The dissimilarity of two targets. The ratio of banks to HPLEs weighs most: it decides whether memory
    /// or arithmetic is the bottleneck.
    fn distance(&self, other: &Self) -> u32 {
        let log2 = |target: &Self| (target.hples.ilog2(), target.banks.ilog2());
        let ((hples, banks), (other_hples, other_banks)) = (log2(self), log2(other));
        let ratio = (hples + other_banks).abs_diff(other_hples + banks);
        let unlike = |weight, same: bool| if same { 0 } else { weight };
        4 * ratio
            + 2 * hples.abs_diff(other_hples)
            + unlike(16, self.mapping == other.mapping)
            + unlike(16, self.gs_butterfly == other.gs_butterfly)
            + unlike(3, self.ideal_vrf_ports == other.ideal_vrf_ports)
            + unlike(1, self.busyboard == other.busyboard)
            + unlike(1, self.multicast == other.multicast)
    }

    /// The paper's machine with this target's properties.
    pub fn machine(&self) -> Machine {
        let mut machine = Machine::rpu_128x128();
        machine.hple.count = self.hples;
        machine.vdm.banks = self.banks;
        machine.vdm.mapping = self.mapping;
        machine.frontend.busyboard = self.busyboard;
        machine.isa.gs_butterfly = self.gs_butterfly;
        machine.ideal.vrf_ports = self.ideal_vrf_ports;
        machine.vdm.multicast = self.multicast;
        machine
    }
}

/// The recipes for an operation at one degree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// The operation's name.
    pub operation: String,
    /// The ring degree.
    pub n: u32,
    /// The number of rings in one program.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub towers: usize,
    /// The recipes.
    #[serde(rename = "entry", default)]
    pub entries: Vec<Entry>,
}

/// A recipe of the library.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The targets of the recipe, each with the cycles of the program on it.
    pub targets: Vec<Measured>,
    /// The recipe.
    pub recipe: Recipe,
}

const fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(towers: &usize) -> bool {
    *towers == 1
}

impl Task {
    /// The JSON schema of the files of a library.
    pub fn schema() -> &'static Schema {
        static TASK: LazyLock<Schema> = LazyLock::new(|| {
            let mut schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("the schema is tested");
            let recipe: serde_json::Value =
                serde_json::from_str(recipe::SCHEMA).expect("the schema is tested");
            for key in ["type", "additionalProperties", "required", "properties"] {
                schema["definitions"]["recipe"][key] = recipe[key].clone();
            }
            schema["definitions"]["table"] = recipe["definitions"]["table"].clone();
            Schema::from_value(Format::Library, schema)
        });
        &TASK
    }

    /// Parses a file of a library; `file` is its name in errors.
    ///
    /// # Errors
    /// Returns all errors: the text is not TOML, a key is unknown, missing or has an invalid value, or a plan
    /// has another notation.
    pub fn parse(file: &str, text: &str) -> Result<Self, Diagnostics> {
        let document = Document::toml(file, text)?;
        let mut errors = Diagnostics::default();
        errors.keep(Self::schema().check(&document));
        for entry in document.root().get("entry").into_iter().flat_map(Item::items) {
            entry
                .get("recipe")
                .into_iter()
                .for_each(|recipe| recipe::check_plans(&document, recipe, &mut errors));
        }
        errors.in_order().or(())?;
        Ok(document.read()?)
    }

    /// The task of a request, without recipes.
    pub fn of(request: &Request) -> Self {
        let (operation, n, towers) = (request.operation.name().to_owned(), request.n(), request.towers());
        Self { operation, n, towers, entries: Vec::new() }
    }

    /// Whether a request is an instance of this task.
    fn serves(&self, request: &Request) -> bool {
        let (name, n, towers) = (request.operation.name(), request.n(), request.towers());
        self.operation == name && self.n == n && self.towers == towers
    }

    /// The request of this task, with moduli of 60 bits: they do not affect the cycles.
    ///
    /// # Errors
    /// Returns an error if the operation is unknown or the degree is invalid.
    pub fn request(&self) -> Result<Request, Error> {
        let operation = self.operation.parse().map_err(|_| Error::Operation(self.operation.clone()))?;
        Ok(Request::with_primes(operation, Degree::try_from(self.n)?, 60, self.towers)?)
    }

    /// The name of its file: `ntt-65536.toml`, or `ntt-1024-x4.toml` for four rings.
    pub fn file_name(&self) -> String {
        let Self { operation, n, towers, .. } = self;
        match towers {
            1 => format!("{operation}-{n}.toml"),
            _ => format!("{operation}-{n}-x{towers}.toml"),
        }
    }

    /// The content of its file.
    pub fn to_toml(&self) -> String {
        let value = |target: &Measured| toml::Value::try_from(target).expect("a target forms a table");
        let mut text = format!("{HEAD}operation = \"{}\"\nn = {}\n", self.operation, self.n);
        if self.towers != 1 {
            text += &format!("towers = {}\n", self.towers);
        }
        for Entry { targets, recipe } in &self.entries {
            let targets: String = targets.iter().map(|target| format!("    {},\n", value(target))).collect();
            text += &format!("\n[[entry]]\ntargets = [\n{targets}]\n[entry.recipe]\n{}", recipe.to_toml());
        }
        text
    }

    /// Its programs: each recipe with each of its targets.
    pub fn programs(&self) -> impl Iterator<Item = (&Self, &Entry, &Measured)> {
        self.entries
            .iter()
            .flat_map(move |entry| entry.targets.iter().map(move |target| (self, entry, target)))
    }

    /// The targets of its recipes, sorted: those with most in common with the paper's machine first.
    pub fn targets(&self) -> Vec<Target> {
        let paper = Target::of(&Machine::rpu_128x128());
        let mut targets: Vec<Target> = self.programs().map(|(_, _, known)| known.machine.clone()).collect();
        targets.sort_by_cached_key(|target| (target.distance(&paper), format!("{target:?}")));
        targets
    }

    /// Adds the result of a search, unless the existing recipe for that target is at least as fast.
    /// Returns whether it did.
    pub fn insert(&mut self, recipe: Recipe, measured: Measured) -> bool {
        let mut known = self.entries.iter().flat_map(|entry| &entry.targets);
        if known.any(|known| known.machine == measured.machine && known.cycles <= measured.cycles) {
            return false;
        }
        for entry in &mut self.entries {
            entry.targets.retain(|target| target.machine != measured.machine);
        }
        self.entries.retain(|entry| !entry.targets.is_empty());
        match self.entries.iter_mut().find(|entry| entry.recipe == recipe) {
            Some(entry) => entry.targets.push(measured),
            None => self.entries.push(Entry { targets: vec![measured], recipe }),
        }
        true
    }
}

/// The schema of the files of a library, as text, with the schema of recipes in it.
const SCHEMA: &str = include_str!("../schema/library.json");

/// The first lines of each file of the library.
const HEAD: &str = "#:schema ../../configs/schemas/library.json\n# The fastest known recipes of a task. Written by `rpu library build` or `rpu tune --library`.\n\n";

impl Entry {
    /// Compiles the program of a task for a target and runs it through the cycle model.
    ///
    /// # Errors
    /// Returns an error if the recipe does not suit the request or the program does not fit the target.
    pub fn measure(&self, request: &Request, target: &Target) -> Result<Standing, Error> {
        let machine = target.machine();
        let kernel = compile(request, &self.recipe, &machine)?;
        let cycles = simulate(&machine, &kernel.program).cycles;
        let passes = kernel.bounds(&machine);
        let sum = |bound: fn(&PassBound) -> Cycle| Cycle(passes.iter().map(|pass| bound(pass).0).sum());
        Ok(Standing {
            cycles,
            bound: sum(PassBound::cycles),
            resource: sum(|pass| pass.resource),
            passes: passes.len(),
            removed: kernel.recipe.forwarding.map(|_| kernel.removed),
        })
    }
}

/// A program's cycles compared with the bounds of its plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Its cycles.
    pub cycles: Cycle,
    /// The sum over its passes of the largest bound, see [`PassBound`].
    pub bound: Cycle,
    /// The sum of the resource bounds alone.
    pub resource: Cycle,
    /// Its passes.
    pub passes: usize,
    /// The loads and stores that forwarding removed, if the recipe uses it.
    pub removed: Option<Removed>,
}

/// A target and the cycles of a recipe on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Cycles on the paper's machine with the target's properties.
    pub cycles: u64,
    /// The target.
    pub machine: Target,
}

/// A library.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Library {
    /// Its tasks, each once.
    pub tasks: Vec<Task>,
}

impl Library {
    /// The entries for a request's operation, degree and number of rings.
    fn entries(&self, request: &Request) -> &[Entry] {
        self.tasks.iter().find(|task| task.serves(request)).map_or(&[], |task| &task.entries)
    }

    /// The recipes for a request's operation, degree and number of rings, on any machine.
    pub fn recipes(&self, request: &Request) -> impl Iterator<Item = &Recipe> {
        self.entries(request).iter().map(|entry| &entry.recipe)
    }

    /// The recipes for a request's operation, degree and number of rings: those for similar targets first.
    pub fn nearest(&self, request: &Request, target: &Target) -> impl Iterator<Item = &Recipe> {
        let mut entries: Vec<&Entry> = self.entries(request).iter().collect();
        // The sort is stable: of equals, the library's first comes first.
        entries.sort_by_cached_key(|entry| {
            entry.targets.iter().map(|known| known.machine.distance(target)).min()
        });
        entries.into_iter().map(|entry| &entry.recipe)
    }

    /// Looks up the recipe for a request on a target. Falls back to the nearest number of rings if
    /// the request has several, from ideal to real VRF ports, and from a VDM without multicast to one
    /// with it.
    pub fn find(&self, request: &Request, target: &Target) -> Option<&Recipe> {
        let (name, n, towers) = (request.operation.name(), request.n(), request.towers());
        let alike = |task: &&Task| (task.towers > 1) == (towers > 1) && task.operation == name && task.n == n;
        let mut tasks: Vec<&Task> = self.tasks.iter().filter(alike).collect();
        tasks.sort_by_key(|task| task.towers.abs_diff(towers));
        let with_ports = Target { ideal_vrf_ports: false, ..target.clone() };
        let with_multicast = [target, &with_ports].map(|t| Target { multicast: true, ..t.clone() });
        [target, &with_ports].into_iter().chain(&with_multicast).find_map(|target| {
            let mut entries = tasks.iter().flat_map(|task| &task.entries);
            let entry = entries.find(|entry| entry.targets.iter().any(|known| known.machine == *target));
            entry.map(|entry| &entry.recipe)
        })
    }
}

/// The files of the built-in library: name and content.
const FILES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/plans.rs"));

/// The built-in library.
pub static BUILT_IN: LazyLock<Library> = LazyLock::new(|| {
    let task = |(name, text): &(&str, &str)| {
        toml::from_str(text).unwrap_or_else(|error| panic!("codegen/plans/{name}: {error}"))
    };
    Library { tasks: FILES.iter().map(task).collect() }
});

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn each_file_has_the_name_and_the_text_of_its_task() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plans");
        assert!(FILES.len() > 30, "{} files", FILES.len());
        for ((name, _), task) in FILES.iter().zip(&BUILT_IN.tasks) {
            assert_eq!(*name, task.file_name());
            assert_eq!(toml::from_str::<Task>(&task.to_toml()).as_ref(), Ok(task), "{name}");
            bless::fresh(folder.join(name), task.to_toml());
        }
    }
}
