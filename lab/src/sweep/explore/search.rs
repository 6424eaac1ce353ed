//! The search: NSGA-II over designs.

use super::{Design, Designs, Measure, Space};
use crate::sweep::execute::{Generate, each};
use crate::sweep::goals::Goals;
use crate::sweep::halving::Costs;
use crate::sweep::journal::{Journal, JournalError, line};
use crate::sweep::record::Record;
use heuropt::core::{Candidate, Evaluation, Objective, ObjectiveSpace, Problem, Rng as Unused};
use heuropt::metrics::hypervolume_nd;
use heuropt::prelude::{Nsga2, Nsga2Config};
use heuropt::traits::{Initializer, Optimizer, Variation};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The progress of an exploration after a generation.
#[derive(Clone, PartialEq, Debug)]
pub struct Explored {
    /// Designs evaluated, including those with a record from before.
    pub evaluations: usize,
    /// Those of them that were simulated now.
    pub simulated: usize,
    /// Designs on the front.
    pub front: usize,
    /// The hypervolume of the front, in the logarithms of the objectives, below the worst design of the
    /// first generation that keeps the constraints; 0 if none does.
    pub hypervolume: f64,
}

/// The share of children that mix two parents.
const CROSSOVER: f64 = 0.9;
/// The share of mutations that draw any alternative; others take a neighbour.
const DRAWN: f64 = 0.2;
/// The attempts to make a child that has not been evaluated.
const ATTEMPTS: usize = 32;
/// Generations without a new design after which the space counts as exhausted.
const IDLE_GENERATIONS: usize = 20;
/// A logarithm beyond those of all costs.
const WORST: f64 = 1e6;

/// Searches for the front of a space in the current rayon pool, until `evaluations` designs have been
/// evaluated or no new ones are found. `progress` receives the state after each generation, the last one is
/// also the result.
///
/// # Errors
/// Returns an error if the journal cannot be written.
pub fn explore(
    space: &Space,
    journal: &mut Journal,
    evaluations: usize,
    seed: u64,
    generate: &Generate<'_>,
    progress: &(dyn Fn(&Explored) + Sync),
) -> Result<Explored, JournalError> {
    let evaluator = Evaluator::new(space, journal, evaluations, generate);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let size = space.exploration().population;
    let mut population = spread(&space.axes(), size, &mut random);
    population[0] = space.base();
    evaluator.queue(population.clone());
    evaluator.evaluate_queue();
    let reference = evaluator.worst();
    let (mut explored, mut idle) = (evaluator.explored(&reference), 0);
    progress(&explored);
    while explored.evaluations < evaluations && idle < IDLE_GENERATIONS {
        evaluator.state().failure.take().map_or(Ok(()), Err)?;
        let config = Nsga2Config { population_size: size, generations: 1, seed: random.random() };
        let children = Children { evaluator: &evaluator, random: &mut random };
        let result = Nsga2::new(config, Given(population), children).run(&evaluator);
        population = result.population.into_vec().into_iter().map(|candidate| candidate.decision).collect();
        let before = explored.evaluations;
        explored = evaluator.explored(&reference);
        idle = if explored.evaluations == before { idle + 1 } else { 0 };
        progress(&explored);
    }
    evaluator.state().failure.take().map_or(Ok(explored), Err)
}

/// Designs whose values are spread evenly over each axis, in an order of its own on each.
fn spread(axes: &[usize], size: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Design> {
    let mut designs = vec![Design::new(); size];
    for &count in axes {
        let mut places: Vec<usize> = (0..size).collect();
        places.shuffle(random);
        for (design, place) in designs.iter_mut().zip(places) {
            let share = (place as f64 + random.random::<f64>()) / size as f64;
            design.push(((share * count as f64) as usize).min(count - 1));
        }
    }
    designs
}

/// Evaluates designs in batches, each once.
///
/// The library asks for one evaluation after the other, after it has drawn all children of a generation.
/// They wait in a queue, and the first request evaluates them all, in parallel.
struct Evaluator<'a> {
    space: &'a Space,
    generate: &'a Generate<'a>,
    /// The most designs to evaluate.
    budget: usize,
    state: Mutex<State<'a>>,
}

struct State<'a> {
    journal: &'a mut Journal,
    queue: Vec<Design>,
    /// The costs of each evaluated design; `None` if it failed.
    known: HashMap<Design, Option<Costs>>,
    /// Designs whose keys do not go together, and those beyond the budget.
    left_out: HashSet<Design>,
    simulated: usize,
    failure: Option<JournalError>,
}

impl<'a> Evaluator<'a> {
    fn new(space: &'a Space, journal: &'a mut Journal, budget: usize, generate: &'a Generate<'a>) -> Self {
        let state = State {
            journal,
            queue: Vec::new(),
            known: HashMap::new(),
            left_out: HashSet::new(),
            simulated: 0,
            failure: None,
        };
        Self { space, generate, budget, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queue(&self, designs: impl IntoIterator<Item = Design>) {
        self.state().queue.extend(designs);
    }

    /// Whether a design is evaluated, will be, or cannot be.
    fn is_known(&self, design: &Design) -> bool {
        let state = self.state();
        state.known.contains_key(design) || state.left_out.contains(design) || state.queue.contains(design)
    }

    fn evaluate_queue(&self) {
        let state = &mut *self.state();
        let (mut fresh, mut keys) = (Vec::<Design>::new(), Vec::new());
        for design in std::mem::take(&mut state.queue) {
            if fresh.contains(&design) || state.known.contains_key(&design) {
                continue;
            }
            let within = state.known.len() + fresh.len() < self.budget;
            match self.space.point(&design).filter(|_| within) {
                Some(point) => match state.journal.outcome(&point.key) {
                    Some(outcome) => _ = state.known.insert(design, outcome.costs),
                    None => {
                        fresh.push(design);
                        keys.push(point.key);
                    }
                },
                None => _ = state.left_out.insert(design),
            }
        }
        state.simulated += fresh.len();
        let all: Vec<usize> = (0..fresh.len()).collect();
        let designs = Designs { space: self.space, designs: fresh };
        let journal = Mutex::new(&mut *state.journal);
        let append = |record: Record| {
            let line = line(&record)?;
            journal.lock().unwrap_or_else(PoisonError::into_inner).append(&record, &line)
        };
        let done = each(&designs, &all, self.generate, &append);
        for (design, key) in designs.designs.into_iter().zip(keys) {
            let costs = state.journal.outcome(&key).and_then(|outcome| outcome.costs);
            state.known.insert(design, costs);
        }
        if let Err(error) = done {
            state.failure.get_or_insert(error);
        }
    }

    fn goals(&self) -> &Goals {
        self.space.goals()
    }

    /// The objectives as logarithms, so that ratios count, and the violation of the constraints.
    fn evaluation(&self, costs: &Costs) -> Evaluation {
        let objectives = self.goals().objectives.iter().map(|objective| objective.of(costs).ln());
        let violation = self.goals().constraints.iter().map(|constraint| constraint.violation(costs));
        Evaluation::constrained(objectives.collect(), violation.sum())
    }

    /// The largest logarithm of each objective among the evaluated designs that keep the constraints.
    fn worst(&self) -> Vec<f64> {
        let state = self.state();
        let feasible: Vec<&Costs> =
            state.known.values().flatten().filter(|costs| self.goals().allow(costs)).collect();
        let largest = |objective: &Measure| {
            let values = feasible.iter().map(|costs| objective.of(costs).ln());
            values.fold(f64::NEG_INFINITY, f64::max)
        };
        self.goals().objectives.iter().map(largest).collect()
    }

    /// The evaluated designs on the front.
    fn front(&self) -> Vec<Candidate<()>> {
        let state = self.state();
        let designs = state.known.values().flatten().map(|&costs| (costs, costs));
        let front = self.goals().front(designs);
        front.iter().map(|costs| Candidate::new((), self.evaluation(costs))).collect()
    }

    fn explored(&self, reference: &[f64]) -> Explored {
        let front = self.front();
        let hypervolume = if reference.iter().all(|worst| worst.is_finite()) {
            hypervolume_nd(&front, &self.objectives(), reference)
        } else {
            0.0
        };
        let state = self.state();
        let (evaluations, simulated) = (state.known.len(), state.simulated);
        Explored { evaluations, simulated, front: front.len(), hypervolume }
    }
}

impl Problem for Evaluator<'_> {
    type Decision = Design;

    fn objectives(&self) -> ObjectiveSpace {
        let objectives = self.goals().objectives.iter();
        ObjectiveSpace::new(objectives.map(|objective| Objective::minimize(objective.name())).collect())
    }

    fn evaluate(&self, design: &Design) -> Evaluation {
        if !self.state().queue.is_empty() {
            self.evaluate_queue();
        }
        match self.state().known.get(design) {
            Some(Some(costs)) => self.evaluation(costs),
            _ => Evaluation::constrained(vec![WORST; self.goals().objectives.len()], WORST),
        }
    }
}

/// The population of the generation before.
struct Given(Vec<Design>);

impl Initializer<Design> for Given {
    fn initialize(&mut self, _: usize, _: &mut Unused) -> Vec<Design> {
        std::mem::take(&mut self.0)
    }
}

/// Children of two designs.
struct Children<'e, 'a> {
    evaluator: &'e Evaluator<'a>,
    random: &'e mut Xoshiro256PlusPlus,
}

impl Children<'_, '_> {
    /// A child with about `mutations` mutations.
    fn child(&mut self, parents: &[Design], mutations: f64) -> Design {
        let mixed = self.random.random_bool(CROSSOVER);
        let mut child = parents[0].clone();
        let axes = self.evaluator.space.axes();
        let rate = (mutations / axes.len() as f64).min(1.0);
        for (axis, count) in axes.into_iter().enumerate() {
            if mixed && self.random.random_bool(0.5) {
                child[axis] = parents[1][axis];
            }
            if self.random.random_bool(rate) {
                child[axis] = if self.random.random_bool(DRAWN) {
                    self.random.random_range(0..count)
                } else if self.random.random_bool(0.5) {
                    (child[axis] + 1).min(count - 1)
                } else {
                    child[axis].saturating_sub(1)
                };
            }
        }
        child
    }
}

impl Variation<Design> for Children<'_, '_> {
    fn vary(&mut self, parents: &[Design], _: &mut Unused) -> Vec<Design> {
        let mut child = parents[0].clone();
        for attempt in 0..ATTEMPTS {
            child = self.child(parents, 1.0 + attempt as f64 / 4.0);
            if !self.evaluator.is_known(&child) {
                break;
            }
        }
        self.evaluator.queue([child.clone()]);
        vec![child]
    }
}
