//! The search for a machine that is slower than one that it dominates.
//!
//! A quick search knows one machine, so some machines end up slower than worse ones. This search starts from the programs of
//! the worse machines. A better machine runs a program at least as fast, conflicts at ports of the VRF aside, and
//! [moves](super::polish) remove most of these.

use super::candidates::as_on;
use super::polish::Polish;
use super::{Effort, Found, Search};
use crate::error::Error;
use crate::recipe::Recipe;
use crate::request::Request;
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

    /// The recipe that gives `machine` its program.
    pub(crate) fn program_on(&self, machine: &Machine) -> Recipe {
        as_on(&self.recipe, &self.machine, machine)
    }
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
const STEPS: [Step; 17] = [
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
    Step::Leaders(Polish::of(4)),
    Step::Leaders(Polish::plateau(30)),
    Step::Explore(1),
    Step::Leaders(Polish::of(4)),
    Step::Leaders(Polish::far()),
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
    let theirs: Vec<Recipe> = slower.iter().map(|slower| slower.program_on(machine)).collect();
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

fn without_moves(recipe: &Recipe) -> Recipe {
    Recipe { tuning: recipe.tuning.without_moves(), ..recipe.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::{PlanChoice, choose};
    use crate::compile::compile;
    use ring::Degree;
    use sim::machine::Assignment;

    /// The recipe as on a slower machine gives its very program, whatever the two differ in.
    #[test]
    fn a_machine_is_offered_the_program_of_a_slower_one() {
        let with = |machine: &Machine, text: &str| {
            let settings: Vec<Assignment> = text.split(' ').map(|setting| setting.parse().unwrap()).collect();
            machine.with(&settings).unwrap()
        };
        let better = with(
            &Machine::rpu_128x128(),
            "isa.gs_butterfly=true isa.lane_permuter=true vdm.ports=2 frontend.busyboard=shared-reads",
        );
        let worse = [
            "hple.count=16",
            "hple.count=8 vdm.multicast=false",
            "hple.multiplier_latency_cycles=20",
            "hple.initiation_interval=2",
            "vdm.banks=64",
            "vdm.ports=1",
            "vdm.multicast=false",
            "vdm.size_mib=1",
            "vbar.latency_cycles=9 sbar.latency_cycles=7",
            "frontend.busyboard=strict",
            "frontend.dispatch_to_issue_cycles=3",
            "isa.gs_butterfly=false",
            "isa.lane_permuter=false",
        ];
        let degrees = [1024u32, 16384].map(|n| Degree::try_from(n).unwrap());
        let operations = [golden::NTT, golden::INTT, golden::POLYMUL, golden::AUTOMORPHISM];
        let requests = operations
            .map(|operation| {
                let parameters = crate::Parameters::new(operation.examples());
                degrees.map(|n| Request::with_primes(operation, n, 60, 1).unwrap().with(parameters.clone()))
            })
            .concat();
        let plans = [PlanChoice::Classical, PlanChoice::Known];
        let mut own_differs = Vec::new();
        for setting in worse {
            let machine = with(&better, setting);
            assert!(better.dominates(&machine), "{setting}");
            for (request, plan) in
                requests.iter().flat_map(|request| plans.iter().map(move |plan| (request, plan)))
            {
                let recipe = choose(request, &machine, plan).unwrap().recipe;
                let program =
                    |recipe: &Recipe, machine| compile(request, recipe, machine).map(|kernel| kernel.program);
                // The classical product does not fit the small memory.
                let Ok(theirs) = program(&recipe, &machine) else { continue };
                if program(&recipe, &better).unwrap() != theirs {
                    own_differs.push(setting);
                }
                let slower = Slower { machine: machine.clone(), recipe, cycles: Cycle(1) };
                let offered = program(&slower.program_on(&better), &better).unwrap();
                assert_eq!(offered, theirs, "{setting}, {}", request.name());
            }
        }
        own_differs.dedup();
        assert_eq!(own_differs, worse);
    }
}
