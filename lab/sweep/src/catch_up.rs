//! Points that are slower than others on worse machines.
//!
//! The search for a program knows one machine, so some points end up slower than others on worse machines. After all points
//! have run, each of these has a further search, which starts from the programs of the others ([`choose_beside`]). Its
//! record follows the first one in the journal, and holds the recipe.
//!
//! Ring programs, programs from files and named plans stay as they are. So do sweeps with `schedule_for`, whose points share
//! programs on purpose, and with a halving, whose decisions depend on the first records.

use super::data::Data;
use super::definition::{Definition, ScheduleFor};
use super::execute::{Generated, each};
use super::journal::{self, Batch, Journal, JournalError};
use super::key::PointKey;
use super::plan::{Beside, Plan, PlannedPoint, Source, Task};
use super::record::Record;
use super::resolver::Class;
use super::results::Results;
use codegen::search::{Slower, lags_behind};
use codegen::{Choice, Error, PlanChoice, Recipe, Request, choose, choose_beside, compile};
use lab_run::kernel::RequestSpec;
use rayon::prelude::*;
use sim::Machine;
use sim::machine::Speed;
use sim::timing::Cycle;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// The further searches of a sweep, wave by wave: a point waits for those on worse machines that have one, too.
#[derive(Default)]
pub struct CatchUp {
    /// The least cycles on a worse machine in the search for each group, by its first point.
    searched: HashMap<usize, Cycle>,
    recipes: Recipes,
}

/// The results of searches: a further search starts from them.
#[derive(Default)]
struct Recipes(Mutex<HashMap<PointKey, Choice>>);

impl Recipes {
    /// The result of [`choose`], which is known if the search has run before.
    fn choose(&self, request: &Request, plan: &PlanChoice, machine: &Machine) -> Result<Choice, Error> {
        let moduli: Vec<String> = request.basis.moduli().iter().map(u128::to_string).collect();
        let key =
            PointKey::of(&(request.operation.name(), request.n(), moduli, format!("{plan:?}"), machine));
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(choice) = known().get(&key) {
            return Ok(choice.clone());
        }
        let choice = choose(request, machine, plan)?;
        if is_searched(plan) {
            known().insert(key, choice.clone());
        }
        Ok(choice)
    }
}

/// Whether a plan is the result of a search.
const fn is_searched(plan: &PlanChoice) -> bool {
    match plan {
        PlanChoice::Best | PlanChoice::Tuned(_) => true,
        PlanChoice::Known
        | PlanChoice::Classical
        | PlanChoice::Paper
        | PlanChoice::Unoptimised
        | PlanChoice::Recipe(_) => false,
    }
}

/// The points to search for next.
pub struct Wave {
    groups: Vec<Group>,
    lagging: Vec<Lagging>,
}

/// A group to search for.
#[derive(Clone)]
struct Lagging {
    group: usize,
    /// The groups that are faster on worse machines, the fastest first, as many as the search starts from.
    ahead: Vec<usize>,
    /// The cycles of the fastest.
    cycles: Cycle,
}

/// The points with one program.
struct Group {
    points: Vec<usize>,
    first: PlannedPoint,
    request: RequestSpec,
    plan: PlanChoice,
    speed: Speed,
    /// The cycles of the program; the most if a part of the points has a new one.
    cycles: Cycle,
    /// The program in its record, if it had a further search.
    beside: Option<Beside>,
}

impl Group {
    /// The group of some points of a sweep, unless they stay as they are.
    fn new(plan: &Plan, results: &Results, points: Vec<usize>) -> Result<Option<Self>, JournalError> {
        let first = plan.point(points[0]);
        let (request, choice) = match &first.task {
            Task::Kernel(kernel) => (kernel.request, kernel.plan.clone()),
            Task::Program(_) | Task::Ring(_) => return Ok(None),
        };
        let cycles = points.iter().filter_map(|&point| Some(results.costs(point)?.cycles)).max();
        let Some(cycles) = cycles.filter(|_| is_searched(&choice)) else { return Ok(None) };
        // After a kill, a part of the points may have the new program.
        let is_whole = points.iter().all(|&point| results.is_beside(point));
        let beside = if is_whole { results.record(points[0])?.as_ref().and_then(Beside::of) } else { None };
        let speed = first.machine.speed();
        Ok(Some(Self { points, first, request, plan: choice, speed, cycles: Cycle(cycles), beside }))
    }

    /// Whether another group has the same task, on a worse machine.
    fn is_better_than(&self, other: &Self) -> bool {
        (self.request, &self.plan) == (other.request, &other.plan) && self.speed.dominates(&other.speed)
    }

    /// The recipe of its program.
    fn recipe(&self, request: &Request, recipes: &Recipes) -> Result<Recipe, Error> {
        match &self.beside {
            Some(beside) => Ok(beside.recipe.clone()),
            None => Ok(recipes.choose(request, &self.plan, &self.first.machine)?.recipe),
        }
    }
}

/// The groups of a sweep that may have further searches.
fn groups(plan: &Plan, results: &Results) -> Result<Vec<Group>, JournalError> {
    let mut by_program: BTreeMap<u128, Vec<usize>> = BTreeMap::new();
    for point in (0..plan.len()).filter(|&point| results.costs(point).is_some()) {
        by_program.entry(plan.class(point).program).or_default().push(point);
    }
    let groups = by_program.into_values().map(|points| Group::new(plan, results, points));
    groups.filter_map(Result::transpose).collect()
}

/// The groups that are slower than others on worse machines.
fn lagging(groups: &[Group]) -> Vec<Lagging> {
    let lagging = |(number, group): (usize, &Group)| {
        let is_ahead =
            |other: &&Group| lags_behind(group.cycles, other.cycles) && group.is_better_than(other);
        let mut ahead: Vec<usize> = (0..groups.len()).filter(|&other| is_ahead(&&groups[other])).collect();
        ahead.sort_by_key(|&other| groups[other].cycles);
        ahead.truncate(Slower::MOST);
        let cycles = groups[*ahead.first()?].cycles;
        Some(Lagging { group: number, ahead, cycles })
    };
    groups.par_iter().enumerate().filter_map(lagging).collect()
}

impl CatchUp {
    /// The number of machines that are slower than a worse one.
    ///
    /// # Errors
    /// Returns an error if a record cannot be read.
    pub fn slower(plan: &Plan, results: &Results) -> Result<usize, JournalError> {
        Ok(lagging(&groups(plan, results)?).len())
    }

    /// The code generator: as [`generate`](super::generate), but recipes are kept for further searches.
    ///
    /// # Errors
    /// The text of its error.
    pub fn generate(
        &self,
        request: &Request,
        plan: &PlanChoice,
        machine: &Machine,
    ) -> Result<Generated, String> {
        let choice = self.recipes.choose(request, plan, machine).map_err(|error| error.to_string())?;
        let kernel = compile(request, &choice.recipe, machine).map_err(|error| error.to_string())?;
        Ok(Generated { program: kernel.program, origin: choice.origin })
    }

    /// Whether a sweep may have points to search for again.
    pub fn concerns(definition: &Definition) -> bool {
        definition.halving.is_none() && definition.schedule_for == ScheduleFor::Machine
    }

    /// The points of a complete sweep to search for next; `None` if there are none.
    ///
    /// # Errors
    /// Returns an error if a record cannot be read.
    pub fn next(&self, plan: &Plan, results: &Results) -> Result<Option<Wave>, JournalError> {
        if !Self::concerns(plan.definition()) || results.missing() > 0 {
            return Ok(None);
        }
        let groups = groups(plan, results)?;
        let is_new = |lagging: &Lagging| {
            let group = &groups[lagging.group];
            // The same search again would end as before.
            let recorded = group.beside.as_ref().map(|beside| beside.cycles);
            let known = self.searched.get(&group.points[0]).copied().into_iter().chain(recorded).min();
            known.is_none_or(|known| lagging.cycles < known)
        };
        let lagging: Vec<Lagging> = lagging(&groups).into_iter().filter(is_new).collect();
        // A group waits for worse machines that are searched for. Equal machines go in order.
        let waits = |number: usize| {
            lagging.iter().map(|other| other.group).any(|other| {
                let is_better = groups[number].is_better_than(&groups[other]);
                other != number
                    && is_better
                    && (other < number || !groups[other].is_better_than(&groups[number]))
            })
        };
        let lagging: Vec<Lagging> = lagging.iter().filter(|lagging| !waits(lagging.group)).cloned().collect();
        Ok(if lagging.is_empty() { None } else { Some(Wave { groups, lagging }) })
    }

    /// Searches for the points of a wave in the current rayon pool, simulates them and appends their records to the journal;
    /// `progress` receives each record, too.
    ///
    /// # Errors
    /// Returns an error if the journal cannot be written.
    pub fn execute(
        &mut self,
        plan: &Plan,
        wave: &Wave,
        journal: &mut Journal,
        progress: &(dyn Fn(&Record) + Sync),
    ) -> Result<(), JournalError> {
        let journal = Mutex::new(journal);
        let done = |record: Record| {
            let line = journal::line(&record)?;
            journal.lock().unwrap_or_else(PoisonError::into_inner).append(&record, &line)?;
            progress(&record);
            Ok::<_, JournalError>(())
        };
        wave.lagging.par_iter().try_for_each(|lagging| {
            let group = &wave.groups[lagging.group];
            // What fails here has failed before, or has no better program.
            let Ok(beside) = wave.search(&self.recipes, lagging).map(Arc::new) else { return Ok(()) };
            let beside = group.points.iter().map(|&point| (point, beside.clone())).collect();
            each(&Searched { plan, beside }, &group.points, &super::generate, &done).map(|_| ())
        })?;
        let searched =
            wave.lagging.iter().map(|lagging| (wave.groups[lagging.group].points[0], lagging.cycles));
        self.searched.extend(searched);
        Ok(())
    }
}

impl Wave {
    /// Its points, as a batch.
    pub fn batch(&self) -> Batch {
        let points = self.lagging.iter().flat_map(|lagging| self.groups[lagging.group].points.clone());
        Batch { rung: None, rung_index: None, points: points.collect() }
    }

    /// The number of machines.
    pub fn machines(&self) -> usize {
        self.lagging.len()
    }

    /// Searches for the program of a group, beside those on worse machines.
    fn search(&self, recipes: &Recipes, lagging: &Lagging) -> Result<Beside, String> {
        let &Lagging { group, ref ahead, cycles } = lagging;
        let group = &self.groups[group];
        let request = group.request.resolve().map_err(|error| error.to_string())?;
        let slower = |&other: &usize| {
            let other = &self.groups[other];
            let (machine, recipe) = ((*other.first.machine).clone(), other.recipe(&request, recipes)?);
            Ok(Slower { machine, recipe, cycles: other.cycles })
        };
        let choose = || {
            let slower = ahead.iter().map(slower).collect::<Result<Vec<_>, Error>>()?;
            choose_beside(&request, &group.first.machine, &group.recipe(&request, recipes)?, &slower)
        };
        let choice = choose().map_err(|error: Error| error.to_string())?;
        Ok(Beside {
            recipe: choice.recipe,
            cycles,
            program_source: choice.origin.name().to_owned(),
            recipes_tried: choice.origin.tried(),
        })
    }
}

/// The points of a plan, of which some have programs that were searched for beside others.
pub(super) struct Searched<'p> {
    pub(super) plan: &'p Plan,
    pub(super) beside: HashMap<usize, Arc<Beside>>,
}

impl Source for Searched<'_> {
    fn point(&self, index: usize) -> PlannedPoint {
        let mut point = self.plan.point(index);
        if let (Some(beside), Task::Kernel(kernel)) = (self.beside.get(&index), &mut point.task) {
            kernel.plan = PlanChoice::Recipe(Box::new(beside.recipe.clone()));
            point.beside = Some(beside.clone());
        }
        point
    }

    fn class(&self, index: usize) -> Class {
        let class = self.plan.class(index);
        Class { program: 2 * class.program + u128::from(self.beside.contains_key(&index)), ..class }
    }

    fn data(&self) -> &Data {
        self.plan.data()
    }
}
