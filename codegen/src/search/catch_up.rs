//! The search for a machine that is slower than one that it dominates.
//!
//! A quick search knows one machine, so some machines end up slower than worse ones. This search starts from the programs of
//! the worse machines. A better machine runs a program at least as fast, conflicts at ports of the VRF aside, and
//! [moves](super::polish) remove most of these.

use super::polish::Polish;
use super::{Effort, Found, Search};
use crate::error::Error;
use crate::recipe::Recipe;
use crate::request::Request;
use crate::schedule::Tuning;
use sim::Machine;
use sim::timing::Cycle;

/// A machine, and its program for a request.
#[derive(Clone, Debug)]
pub struct Slower {
    /// The machine.
    pub machine: Machine,
    /// The recipe of its program.
    pub recipe: Recipe,
    /// The cycles of its program there.
    pub cycles: Cycle,
}

/// The share of the cycles by which a better machine may be slower: one in so many.
const TOLERANCE: u64 = 200;

/// Whether a machine with a program of `cycles` is slower than one with `other` cycles, by more than 0.5%.
pub fn lags_behind(cycles: Cycle, other: Cycle) -> bool {
    cycles > most_beside(other)
}

/// The most cycles that do not lag behind others.
fn most_beside(other: Cycle) -> Cycle {
    Cycle(other.0 + other.0 / TOLERANCE)
}

impl Slower {
    /// The most that [`catch_up`] starts from: the fastest.
    pub const MOST: usize = 4;
}

/// A step of the search.
enum Step {
    /// Polishes the fastest schedules so far.
    Leaders(Polish),
    /// Polishes the schedules of the slower machines.
    Theirs(Polish),
    /// Tries settings and changes of the fastest, so many.
    Refine(usize),
    /// A full search with this seed.
    Explore(u64),
}

/// The steps, the cheapest first.
const STEPS: [Step; 14] = [
    Step::Leaders(Polish::of(4)),
    Step::Theirs(Polish::of(4)),
    Step::Leaders(Polish::plateau(4)),
    Step::Refine(20),
    Step::Leaders(Polish::of(4)),
    Step::Theirs(Polish::plateau(8)),
    Step::Refine(60),
    Step::Leaders(Polish::of(4)),
    Step::Leaders(Polish::far()),
    Step::Leaders(Polish::plateau(30)),
    Step::Explore(0),
    Step::Leaders(Polish::plateau(30)),
    Step::Explore(1),
    Step::Leaders(Polish::plateau(60)),
];

/// Searches a recipe for a machine that is no slower than those that it dominates. It starts from their recipes and the
/// machine's own, and ends as soon as it does not [lag](lags_behind) behind the fastest of them. If it does not get there,
/// the result is the fastest recipe that it found, perhaps the machine's own.
///
/// # Errors
/// Returns the error of the machine's own recipe if no recipe has a program.
pub fn catch_up(
    request: &Request,
    machine: &Machine,
    own: &Recipe,
    slower: &[Slower],
) -> Result<Found, Error> {
    let mut slower: Vec<&Slower> = slower.iter().collect();
    slower.sort_by_key(|slower| slower.cycles);
    slower.truncate(Slower::MOST);
    let mut search = Search::new(request, machine, &(), &|_, _, _| ());
    let goal = slower.first().map_or(Cycle(u64::MAX / 2), |fastest| fastest.cycles);
    let enough = most_beside(goal);
    let theirs: Vec<Recipe> = slower.iter().map(|slower| as_on(slower, machine)).collect();
    let known = slower.iter().map(|slower| without_moves(&slower.recipe));
    let known: Vec<Recipe> = [own.clone()].into_iter().chain(theirs.iter().cloned()).chain(known).collect();
    search.try_all(&known);
    for step in STEPS {
        if search.ranked.first().is_some_and(|&(cycles, _)| cycles <= enough) {
            break;
        }
        match step {
            Step::Leaders(effort) => search.polish_leaders(effort.until(enough)),
            Step::Theirs(effort) => search.polish(&theirs, effort.until(enough)),
            Step::Refine(refinements) => search.improve(Effort { refinements, ..Effort::DEFAULT })?,
            Step::Explore(seed) => _ = search.explore(Effort { seed, ..Effort::DEFAULT }, Vec::new())?,
        }
    }
    search.result(own)
}

/// The recipe that gives `machine` the schedule of a slower one.
pub(crate) fn as_on(Slower { machine: slower, recipe, .. }: &Slower, machine: &Machine) -> Recipe {
    let assumed = slower.with(&recipe.tuning.assume);
    let assume = assumed.as_ref().unwrap_or(slower).timing_beside(machine);
    Recipe { tuning: Tuning { assume, ..recipe.tuning.clone() }, ..recipe.clone() }
}

fn without_moves(recipe: &Recipe) -> Recipe {
    Recipe { tuning: recipe.tuning.without_moves(), ..recipe.clone() }
}
