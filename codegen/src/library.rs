//! The recipes that `rpu tune` has found for the machines of the paper, kept with the project.

use crate::kernel::{Recipe, Request};
use b512_asm::Function;
use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::machine::{BankMapping, Busyboard};
use std::sync::LazyLock;

/// What of a machine decides which recipe is fast on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// `hple.count`.
    pub hples: u32,
    /// `vdm.banks`.
    pub banks: u32,
    /// `vdm.mapping`.
    pub mapping: BankMapping,
    /// `frontend.busyboard`.
    pub busyboard: Busyboard,
    /// `isa.gs_butterfly`.
    pub gs_butterfly: bool,
}

impl Target {
    /// The target that a machine is.
    pub fn of(machine: &Machine) -> Self {
        Self {
            hples: machine.hple.count,
            banks: machine.vdm.banks,
            mapping: machine.vdm.mapping,
            busyboard: machine.frontend.busyboard,
            gs_butterfly: machine.isa.gs_butterfly,
        }
    }

    /// The paper's machine with this target's properties.
    pub fn machine(&self) -> Machine {
        let mut machine = Machine::rpu_128x128();
        machine.hple.count = self.hples;
        machine.vdm.banks = self.banks;
        machine.vdm.mapping = self.mapping;
        machine.frontend.busyboard = self.busyboard;
        machine.isa.gs_butterfly = self.gs_butterfly;
        machine
    }
}

/// A recipe of the library.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The function's name.
    pub function: String,
    /// The ring's degree.
    pub n: u32,
    /// The machines that it is for, each with the cycles that the program takes there.
    pub targets: Vec<Measured>,
    /// The recipe.
    pub recipe: Recipe,
}

/// A target and the cycles that a recipe takes on it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// Cycles on the paper's machine with the target's properties.
    pub cycles: u64,
    /// The target.
    pub machine: Target,
}

/// A file of the library.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// The recipes.
    #[serde(default)]
    pub entry: Vec<Entry>,
}

impl Library {
    /// Adds what a search has found, instead of what was there for that target.
    pub fn insert(&mut self, function: Function, n: u32, recipe: Recipe, measured: Measured) {
        let name = function.name();
        for entry in self.entry.iter_mut().filter(|entry| entry.function == name && entry.n == n) {
            entry.targets.retain(|target| target.machine != measured.machine);
        }
        self.entry.retain(|entry| !entry.targets.is_empty());
        let same = |entry: &&mut Entry| entry.function == name && entry.n == n && entry.recipe == recipe;
        match self.entry.iter_mut().find(same) {
            Some(entry) => entry.targets.push(measured),
            None => {
                self.entry.push(Entry { function: name.to_owned(), n, targets: vec![measured], recipe });
            }
        }
    }

    /// The recipe for a function, size and target.
    pub fn find(&self, function: Function, n: u32, target: &Target) -> Option<&Recipe> {
        let mut entries = self.entry.iter().filter(|entry| entry.function == function.name() && entry.n == n);
        let entry = entries.find(|entry| entry.targets.iter().any(|known| known.machine == *target))?;
        Some(&entry.recipe)
    }
}

/// The library that is built into the program.
pub static BUILT_IN: LazyLock<Library> = LazyLock::new(|| {
    toml::from_str(include_str!("../plans/best.toml")).expect("the built-in library is tested")
});

/// The built-in recipe for a request on a machine.
pub fn lookup(request: &Request, machine: &Machine) -> Option<Recipe> {
    BUILT_IN.find(request.function, request.n, &Target::of(machine)).cloned()
}
