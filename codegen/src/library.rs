//! The library: the fastest known recipes for the paper's machine and its relatives.
//!
//! Each task, an operation at one degree in some number of rings, has a file in `codegen/plans`. The
//! files are part of the crate.

mod built_in;
mod target;

pub use self::built_in::{BUILT_IN, Library};
pub use self::target::Target;

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
use sim::machine::Speed;
use sim::timing::{Cycle, simulate};
use std::sync::LazyLock;

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
            schema["definitions"]["target"] = Target::schema();
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
        let mut text = format!("{HEAD}operation = \"{}\"\nn = {}\n", self.operation, self.n);
        if self.towers != 1 {
            text += &format!("towers = {}\n", self.towers);
        }
        for Entry { targets, recipe } in &self.entries {
            let line = |Measured { cycles, machine }: &Measured| {
                format!("    {{ cycles = {cycles}, machine = {} }},\n", machine.to_toml())
            };
            let targets: String = targets.iter().map(line).collect();
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

    /// Its recipes, each with the most similar of its targets: those for similar targets first.
    pub fn nearest<'a>(
        &'a self,
        target: &Target,
    ) -> impl Iterator<Item = (&'a Recipe, &'a Target)> + use<'a> {
        let mut entries: Vec<(u32, &Recipe, &Target)> = Vec::new();
        for entry in &self.entries {
            let targets = entry.targets.iter().map(|known| (known.machine.distance(target), &known.machine));
            entries.extend(targets.min_by_key(|(distance, _)| *distance).map(|(d, t)| (d, &entry.recipe, t)));
        }
        // The sort is stable: of equals, the task's first comes first.
        entries.sort_by_key(|(distance, ..)| *distance);
        entries.into_iter().map(|(_, recipe, target)| (recipe, target))
    }

    /// The targets of its recipes, sorted: those with most in common with the paper's machine first.
    pub fn targets(&self) -> Vec<Target> {
        let paper = Target::of(&Machine::rpu_128x128());
        let mut targets: Vec<Target> = self.programs().map(|(_, _, known)| known.machine.clone()).collect();
        targets.sort_by_cached_key(|target| (target.distance(&paper), format!("{target:?}")));
        targets
    }

    /// The cycles of the program for a target.
    pub fn cycles(&self, target: &Target) -> Option<u64> {
        let known = self.programs().find(|(_, _, known)| known.machine == *target);
        known.map(|(_, _, known)| known.cycles)
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

/// The noise of the searches: for each pair of a dominating and a dominated target of a task, the excess of
/// the dominating target's cycles, in percent, if there is one, in ascending order; and the number of pairs.
pub fn noise<'t>(tasks: impl IntoIterator<Item = &'t Task>) -> (Vec<f64>, usize) {
    let (mut slower, mut pairs) = (Vec::new(), 0);
    for task in tasks {
        let known: Vec<(Speed, u64)> =
            task.programs().map(|(_, _, known)| (known.machine.machine().speed(), known.cycles)).collect();
        for (speed, own) in &known {
            for (_, other) in known.iter().filter(|(other, _)| other != speed && speed.dominates(other)) {
                pairs += 1;
                slower.extend((own > other).then(|| 100.0 * (*own as f64 / *other as f64 - 1.0)));
            }
        }
    }
    slower.sort_by(f64::total_cmp);
    (slower, pairs)
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
            pass_sum: sum(PassBound::cycles),
            resource: sum(|pass| pass.resource),
            passes: passes.len(),
            removed: kernel.recipe.forwarding.map(|_| kernel.removed),
        })
    }
}

/// A program's cycles compared with the bounds of its passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Its cycles.
    pub cycles: Cycle,
    /// The sum over its passes of the largest bound, see [`PassBound`]. It bounds programs of one pass;
    /// passes may overlap.
    pub pass_sum: Cycle,
    /// The sum of the resource bounds alone.
    pub resource: Cycle,
    /// Its passes.
    pub passes: usize,
    /// The loads and stores that forwarding removed, if the recipe uses it.
    pub removed: Option<Removed>,
}

/// A target and the cycles of a recipe on it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Cycles on the paper's machine with the target's properties.
    pub cycles: u64,
    /// The target.
    pub machine: Target,
}
