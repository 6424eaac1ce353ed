//! The noise of quick searches, as `reports/search.md`: how often the better of two random machines has the slower program.
//!
//! `cargo run --release -p codegen --example noise` writes the table to standard output. `RPU_PAIRS=100` compares so many pairs,
//! `RPU_SEED=99` draws others.

#[path = "../tests/all/pairs.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod pairs;

use codegen::{PlanChoice, Request, choose, compile};
use pairs::{Pair, pairs};
use rayon::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::timing::simulate;

/// The result of a search.
struct Search {
    cycles: f64,
    /// The cycles over the bound for any order of the instructions.
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
    Search { cycles, ratio: cycles / bound.0 as f64, tried: choice.origin.tried() }
}

/// The element at a percentage of a sorted list.
fn rank(sorted: &[f64], percent: usize) -> f64 {
    sorted
        .get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

/// A row for some pairs: the searches for the better and the worse machine of each.
fn row(name: &str, pairs: &[&(u32, [Search; 2])]) -> String {
    let by = |[better, worse]: &[Search; 2]| 100.0 * (better.cycles / worse.cycles - 1.0);
    let mut slower: Vec<f64> = pairs.iter().map(|(_, pair)| by(pair)).filter(|&by| by > 0.0).collect();
    slower.sort_by(f64::total_cmp);
    let searches = || pairs.iter().flat_map(|(_, pair)| pair);
    let mut ratios: Vec<f64> = searches().map(|search| search.ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let tried = searches().map(|search| search.tried).sum::<usize>() / searches().count().max(1);
    let more = slower.iter().filter(|&&by| by > 0.5).count();
    let [median, most, worst] = [50, 99, 100].map(|percent| rank(&slower, percent));
    format!(
        "| {name} | {} | {} | {more} | {median:.2}% | {most:.2}% | {worst:.2}% | {:.3} | {:.3} | {tried} |\n",
        pairs.len(),
        slower.len(),
        rank(&ratios, 50),
        ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64
    )
}

fn main() {
    let pairs = pairs(1000, 13);
    let results: Vec<(u32, [Search; 2])> = pairs
        .par_iter()
        .map(|Pair { n, better, worse, .. }| (*n, [better, worse].map(|machine| search(*n, machine))))
        .collect();
    println!("| n | pairs | slower | by more than 0.5% | median | 99% | worst | ratio | ln | trials |");
    for n in (10..=16).map(|bits| 1 << bits) {
        let of_n: Vec<_> = results.iter().filter(|(of, _)| *of == n).collect();
        print!("{}", row(&n.to_string(), &of_n));
    }
    print!("{}", row("all", &results.iter().collect::<Vec<_>>()));
}
