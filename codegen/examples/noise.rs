//! The quality of quick searches: their noise on random pairs of machines, and how close programs come to
//! their bounds.
//!
//! `cargo run --release -p rpu-codegen --example noise` prints a line for each degree. `RPU_PAIRS=100`
//! compares so many pairs, `RPU_SEED=99` draws others.

use codegen::testing::pairs::{Noise, Pair, pairs};
use codegen::{PlanChoice, Request, choose, compile};
use rayon::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::timing::simulate;

/// The result of a search.
struct Search {
    n: u32,
    cycles: f64,
    /// The cycles over the bound of every order of the instructions.
    ratio: f64,
    tried: usize,
}

fn search(n: u32, machine: &Machine) -> Search {
    let degree = Degree::try_from(n).expect("a power of two");
    let request = Request::with_primes(golden::NTT, degree, 60, 1).expect("there are such primes");
    let choice = choose(&request, machine, &PlanChoice::Best).expect("each machine has a program");
    let kernel = compile(&request, &choice.recipe, machine).expect("the search compiled it");
    let timing = simulate(machine, &kernel.program);
    let bound = timing.bounds.resource.max(timing.bounds.dependence);
    let cycles = timing.cycles.0 as f64;
    Search { n, cycles, ratio: cycles / bound.0 as f64, tried: choice.origin.tried() }
}

/// A line for the searches of some pairs, each for the better and the worse machine.
fn line(name: &str, pairs: &[&[Search; 2]]) {
    let noise: Vec<f64> = pairs.iter().map(|[better, worse]| better.cycles / worse.cycles).collect();
    let searches: Vec<&Search> = pairs.iter().copied().flatten().collect();
    let mean = |of: &dyn Fn(&Search) -> f64| {
        searches.iter().map(|search| of(search)).sum::<f64>() / searches.len() as f64
    };
    let (ratio, tried) = (mean(&|search| search.ratio.ln()).exp(), mean(&|search| search.tried as f64));
    println!("{name}: {}; {ratio:.3} times the bound, {tried:.0} trials", Noise::of(&noise));
}

fn main() {
    let search_both =
        |Pair { n, better, worse, .. }: &Pair| [better, worse].map(|machine| search(*n, machine));
    let results: Vec<[Search; 2]> = pairs(1000, u32::MAX, 13).par_iter().map(search_both).collect();
    for n in (10..=16).map(|bits| 1 << bits) {
        let of_n: Vec<_> = results.iter().filter(|[search, _]| search.n == n).collect();
        line(&format!("n = {n}"), &of_n);
    }
    line("all", &results.iter().collect::<Vec<_>>());
}
