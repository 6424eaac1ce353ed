//! The choice of a recipe by energy.
//!
//! The searches minimise cycles. Energy follows from the instructions, so recipes differ in it by their
//! plans: those with few loads and stores of the VDM take less, but their shuffles may take longer. The
//! candidates are the recipes that a search tries, the library's, and the named ones. Of those with the same
//! plans the fastest is weighed, since its program has the same instructions and the least time.

use crate::compile::compile;
use crate::recipe::Recipe;
use crate::request::Request;
use crate::search::Memory;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sim::timing::{Cycle, simulate};
use sim::{Clock, Events, Machine, RunEnergy, Work};
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// What the choice of recipes minimises.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Merit {
    /// The cycles of the program.
    #[default]
    Cycles,
    /// The energy of a run, with leakage and idle clocks; of a ring program, with its off-chip transfers.
    Energy,
    /// The product of energy and time.
    EnergyDelay,
}

impl Merit {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cycles, Self::Energy, Self::EnergyDelay];

    /// The name in options and definitions.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Energy => "energy",
            Self::EnergyDelay => "energy-delay",
        }
    }

    /// The value for the program of a recipe; `None` if it has none on the machine.
    pub fn of(self, request: &Request, recipe: &Recipe, machine: &Machine) -> Option<f64> {
        let kernel = compile(request, recipe, machine).ok()?;
        let cycles = simulate(machine, &kernel.program).cycles.0 as f64;
        let time_us = cycles / Clock::of(machine).ghz() * 1e-3;
        let events = &Events::of(&kernel.program);
        let energy = RunEnergy::of(
            machine,
            &Work { events, time_us, off_chip_bytes: None, key_bytes: 0, seeded_bytes: None },
        );
        Some(self.value(&energy, time_us))
    }

    /// The value of a run of some energy and time.
    pub const fn value(self, energy: &RunEnergy, time_us: f64) -> f64 {
        match self {
            Self::Cycles => time_us,
            Self::Energy => energy.total(),
            Self::EnergyDelay => energy.total() * time_us,
        }
    }
}

impl FromStr for Merit {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let find = Self::ALL.into_iter().find(|merit| merit.name() == name);
        find.ok_or_else(|| format!("unknown merit `{name}`, expected one of {}", names()))
    }
}

/// The recipes that a search tries.
#[derive(Default)]
pub(crate) struct Tried(Mutex<Vec<(Cycle, Recipe)>>);

impl Memory for Tried {
    fn get(&self, _: &Recipe) -> Option<Option<Cycle>> {
        None
    }

    fn put(&self, recipe: &Recipe, cycles: Option<Cycle>) {
        let mut tried = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tried.extend(cycles.map(|cycles| (cycles, recipe.clone())));
    }
}

impl Tried {
    /// The recipes with their cycles, the fastest first.
    pub(crate) fn into_recipes(self) -> Vec<(Cycle, Recipe)> {
        let mut tried = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Threads try them in any order.
        tried.sort_by_cached_key(|(cycles, recipe)| (*cycles, recipe.to_toml()));
        tried
    }
}

/// The candidate whose recipe has the least value; of recipes with the same plans only the first is weighed.
pub(crate) fn least<C>(
    candidates: Vec<(Recipe, C)>,
    value: impl Fn(&Recipe) -> Option<f64> + Sync,
) -> Option<(Recipe, C)> {
    let mut distinct: Vec<(Recipe, C)> = Vec::new();
    for candidate in candidates {
        let is_alike = |(recipe, _): &(Recipe, C)| {
            let Recipe { forwarding, method, plans, .. } = &candidate.0;
            (forwarding, method, plans) == (&recipe.forwarding, &recipe.method, &recipe.plans)
        };
        if !distinct.iter().any(is_alike) {
            distinct.push(candidate);
        }
    }
    let recipes: Vec<&Recipe> = distinct.iter().map(|(recipe, _)| recipe).collect();
    let values: Vec<Option<f64>> = recipes.par_iter().map(|recipe| value(recipe)).collect();
    let weighed = distinct.into_iter().zip(values).filter_map(|(candidate, value)| Some((candidate, value?)));
    weighed.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(candidate, _)| candidate)
}
