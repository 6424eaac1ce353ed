//! The search: rounds of proposals, and the evaluation of designs.

use super::proposals::{Evaluated, Proposals};
use super::volume::hypervolume;
use super::{Design, Designs, Space};
use crate::execute::{Generate, each};
use crate::front::{Design as Competitor, Goals, is_ideal};
use crate::journal::{Journal, JournalError, line};
use crate::key::PointKey;
use crate::measure::Costs;
use crate::point::PlannedPoint;
use crate::record::Record;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The progress of an exploration after a round.
#[derive(Clone, PartialEq, Debug)]
pub struct Explored {
    /// Designs evaluated, including those with a record from before.
    pub evaluations: usize,
    /// Those of them that were simulated now.
    pub simulated: usize,
    /// Designs on the front.
    pub front: usize,
    /// The hypervolume of the front, in the natural logarithms of the objectives, below ten times those of
    /// the base machine's design: it depends on the designs of the front only. `None` if that design has no
    /// run.
    pub hypervolume: Option<f64>,
    /// Designs one axis away from the best ones within each area that have not been evaluated. 0: none of
    /// these has a better neighbour.
    pub neighbours_left: usize,
}

/// The objectives of the reference point of hypervolumes, as multiples of those of the base.
const REFERENCE: f64 = 10.0;

/// A round has the `population` by this number.
const ROUNDS: usize = 4;

/// Searches for the front of a space in the current rayon pool: first designs that are spread over the axes,
/// then rounds of proposals, until `evaluations` designs have been evaluated or there are no others.
/// Designs that are the same point count once. `progress` receives the state after each round, the last one
/// is also the result.
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
    evaluator.queue(population);
    evaluator.evaluate_queue();
    let mut proposals = Proposals::new(space, &mut random);
    let mut explored = evaluator.explored(proposals.as_ref());
    progress(&explored);
    while let Some(proposals) = proposals.as_mut().filter(|_| explored.evaluations < evaluations) {
        evaluator.state().failure.take().map_or(Ok(()), Err)?;
        let is_known = |design: &Design| evaluator.is_known(design);
        let round = proposals.round(&evaluator.evaluated(), is_known, (size / ROUNDS).max(2), &mut random);
        if round.is_empty() {
            break;
        }
        evaluator.queue(round);
        evaluator.evaluate_queue();
        explored = evaluator.explored(Some(&*proposals));
        progress(&explored);
    }
    let mut rest = space.all().filter(|design| !evaluator.is_known(design));
    while explored.evaluations < evaluations {
        evaluator.state().failure.take().map_or(Ok(()), Err)?;
        let batch: Vec<Design> = rest.by_ref().take(size).collect();
        if batch.is_empty() {
            break;
        }
        evaluator.queue(batch);
        evaluator.evaluate_queue();
        explored = evaluator.explored(proposals.as_ref());
        progress(&explored);
    }
    evaluator.state().failure.take().map_or(Ok(explored), Err)
}

/// Designs whose values are spread evenly over each axis, in an order of its own on each (a Latin hypercube).
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

/// Evaluates designs in batches, each once, those of a batch in parallel.
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
    /// The point of each evaluated design. Designs can be the same point.
    known: HashMap<Design, PointKey>,
    /// The costs of each evaluated point; `None` if it failed.
    costs: HashMap<PointKey, Option<Costs>>,
    /// The points of ideal machines.
    ideal: HashSet<PointKey>,
    /// Designs whose keys do not go together.
    invalid: HashSet<Design>,
    /// Designs beyond the budget.
    beyond: HashSet<Design>,
    simulated: usize,
    failure: Option<JournalError>,
}

impl State<'_> {
    /// Whether a design is evaluated, or cannot be.
    fn is_settled(&self, design: &Design) -> bool {
        self.known.contains_key(design) || self.invalid.contains(design)
    }
}

impl<'a> Evaluator<'a> {
    fn new(space: &'a Space, journal: &'a mut Journal, budget: usize, generate: &'a Generate<'a>) -> Self {
        let state = State {
            journal,
            queue: Vec::new(),
            known: HashMap::new(),
            costs: HashMap::new(),
            ideal: HashSet::new(),
            invalid: HashSet::new(),
            beyond: HashSet::new(),
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
        state.is_settled(design) || state.beyond.contains(design) || state.queue.contains(design)
    }

    fn evaluate_queue(&self) {
        let state = &mut *self.state();
        let (mut fresh, mut keys) = (Vec::<Design>::new(), Vec::new());
        for design in std::mem::take(&mut state.queue) {
            let Some(PlannedPoint { key, settings, .. }) = self.space.point(&design) else {
                state.invalid.insert(design);
                continue;
            };
            if settings.iter().any(|(key, value)| is_ideal(key, value)) {
                state.ideal.insert(key);
            }
            if !state.costs.contains_key(&key) && !keys.contains(&key) {
                if state.costs.len() + fresh.len() == self.budget {
                    state.beyond.insert(design);
                    continue;
                }
                match state.journal.outcome(&key) {
                    Some(outcome) => _ = state.costs.insert(key, outcome.costs),
                    None => {
                        fresh.push(design.clone());
                        keys.push(key);
                    }
                }
            }
            state.known.insert(design, key);
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
        for key in keys {
            let costs = state.journal.outcome(&key).and_then(|outcome| outcome.costs);
            state.costs.insert(key, costs);
        }
        if let Err(error) = done {
            state.failure.get_or_insert(error);
        }
    }

    fn goals(&self) -> &Goals {
        self.space.goals()
    }

    /// The reference point of hypervolumes, in logarithms.
    fn reference(&self) -> Option<Vec<f64>> {
        let state = self.state();
        let costs = state.costs.get(state.known.get(&self.space.base())?)?.as_ref()?;
        Some(self.goals().objectives.iter().map(|objective| (REFERENCE * objective.of(costs)).ln()).collect())
    }

    /// The logarithms of the objectives of the evaluated points on the front: ratios count.
    fn front(&self) -> Vec<Vec<f64>> {
        let state = self.state();
        let competitor = |(key, costs): (&PointKey, &Option<Costs>)| {
            let costs = (*costs)?;
            Some(Competitor { id: costs, costs, is_ideal: state.ideal.contains(key) })
        };
        let front = self.goals().front(state.costs.iter().filter_map(competitor));
        let objectives = &self.goals().objectives;
        front
            .iter()
            .map(|costs| objectives.iter().map(|objective| objective.of(costs).ln()).collect())
            .collect()
    }

    /// The evaluated designs that ran, in order. Ideal machines are among them only if all are ideal.
    fn evaluated(&self) -> Vec<Evaluated> {
        let state = self.state();
        let of =
            |(design, key): (&Design, &PointKey)| Some((design.clone(), *key, (*state.costs.get(key)?)?));
        let mut all: Vec<(Design, PointKey, Costs)> = state.known.iter().filter_map(of).collect();
        if all.iter().any(|(_, key, _)| !state.ideal.contains(key)) {
            all.retain(|(_, key, _)| !state.ideal.contains(key));
        }
        all.sort_by(|(a, ..), (b, ..)| a.cmp(b));
        all.into_iter().map(|(design, _, costs)| (design, costs)).collect()
    }

    fn explored(&self, proposals: Option<&Proposals<'_>>) -> Explored {
        let front = self.front();
        let points: Vec<&[f64]> = front.iter().map(Vec::as_slice).collect();
        let hypervolume = self.reference().map(|reference| hypervolume(&points, &reference));
        let is_known = |design: &Design| self.state().is_settled(design);
        let left = proposals.map(|proposals| proposals.left(&self.evaluated(), is_known).len());
        let state = self.state();
        let (evaluations, simulated) = (state.costs.len(), state.simulated);
        let neighbours_left = left.unwrap_or(0);
        Explored { evaluations, simulated, front: front.len(), hypervolume, neighbours_left }
    }
}
