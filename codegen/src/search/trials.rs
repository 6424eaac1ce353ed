//! Trials: the cycles of recipes on one machine.

use super::Memory;
use crate::compile::Prepared;
use crate::error::Error;
use crate::recipe::Recipe;
use crate::request::Request;
use sim::Machine;
use sim::timing::{Cycle, simulate};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The trials of recipes for one request on one machine.
///
/// It keeps the code of the latest recipes: others that differ in scheduling only share it.
pub(super) struct Trials<'a> {
    request: &'a Request,
    machine: &'a Machine,
    memory: &'a dyn Memory,
    recent: Mutex<VecDeque<(Recipe, Arc<Prepared>)>>,
}

/// The number of codes that [`Trials`] keeps. One of 64K points takes some 5 MB.
const RECENT: usize = 16;

impl<'a> Trials<'a> {
    pub(super) fn new(request: &'a Request, machine: &'a Machine, memory: &'a dyn Memory) -> Self {
        Self { request, machine, memory, recent: Mutex::default() }
    }

    /// The machine.
    pub(super) fn machine(&self) -> &'a Machine {
        self.machine
    }

    /// The cycles of a recipe's program, if it has one on this machine; from the memory if it is known
    /// there.
    pub(super) fn try_recipe(&self, recipe: &Recipe) -> Option<Cycle> {
        self.memory.get(recipe).unwrap_or_else(|| {
            let cycles = self.cycles(recipe).ok();
            self.memory.put(recipe, cycles);
            cycles
        })
    }

    /// The cycles of a recipe's program.
    ///
    /// # Errors
    /// Returns an error if the recipe has no program on this machine.
    pub(super) fn cycles(&self, recipe: &Recipe) -> Result<Cycle, Error> {
        let prepared = self.prepared(recipe)?;
        let scheduled = prepared.schedule(self.machine, &recipe.tuning)?;
        let outline = prepared.outline(self.machine, &scheduled)?;
        Ok(simulate(self.machine, &outline).cycles)
    }

    /// The scheduler's [steps](crate::schedule::Scheduled::steps) for a recipe, if it has a program on this
    /// machine.
    pub(super) fn steps(&self, recipe: &Recipe) -> Option<u64> {
        let prepared = self.prepared(recipe).ok()?;
        prepared.schedule(self.machine, &recipe.tuning).ok().map(|scheduled| scheduled.steps)
    }

    /// The code of a recipe.
    ///
    /// # Errors
    /// Returns an error if the recipe has no code on this machine.
    pub(super) fn prepared(&self, recipe: &Recipe) -> Result<Arc<Prepared>, Error> {
        let recent = || self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let serves = |known: &Recipe| Prepared::serves(known, recipe, self.machine);
        let known = recent().iter().find(|(known, _)| serves(known)).map(|(_, prepared)| prepared.clone());
        if let Some(prepared) = known {
            return Ok(prepared);
        }
        let prepared = Arc::new(Prepared::new(self.request, recipe, self.machine)?);
        let mut recent = recent();
        recent.truncate(RECENT - 1);
        recent.push_front((recipe.clone(), prepared.clone()));
        Ok(prepared)
    }
}
