//! The choice of recipes: the library is a starting point, and never hides a search.

use codegen::library::BUILT_IN;
use codegen::{Choice, PlanChoice, RecipeOrigin, Request, choose, compile};
use golden::Operation;
use proptest::prelude::RngExt as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use ring::Degree;
use sim::Machine;
use sim::machine::table::{Effect, Key, Kind};
use sim::machine::{Assignment, keys};
use sim::timing::simulate;
use toml::Value;

fn request(operation: Operation, n: u32, towers: usize) -> Request {
    Request::with_primes(operation, Degree::try_from(n).unwrap(), 60, towers).unwrap()
}

fn best(request: &Request, machine: &Machine) -> Choice {
    choose(request, machine, &PlanChoice::Best).unwrap()
}

fn cycles(request: &Request, choice: &Choice, machine: &Machine) -> u64 {
    simulate(machine, &compile(request, &choice.recipe, machine).unwrap().program).cycles.0
}

/// The keys that `docs/costs.md` calls without effect on programs and their cycles.
fn free_keys() -> Vec<&'static Key> {
    keys().filter(|key| !key.decides_timing() && !key.effects.contains(&Effect::Stages)).collect()
}

/// A random value of a key, other than a memory or a word that the programs of these tests do not fit.
fn value(key: &Key, rng: &mut TestRng) -> Value {
    match key.kind {
        Kind::Text => Value::String("another".into()),
        Kind::Bool => Value::Boolean(rng.random_bool(0.5)),
        Kind::Int(least, most) => {
            let least = match key.path {
                "isa.word_bits" => 62,
                "frontend.instruction_memory_kib" | "sdm.size_kib" => 32,
                _ => least,
            };
            Value::Integer(rng.random_range(least..=most.min(64 * least.max(1) + 64)).into())
        }
        Kind::PowerOfTwo(least, most) => Value::Integer(1 << rng.random_range(least.ilog2()..=most.ilog2())),
        Kind::Positive | Kind::Share | Kind::NotNegative => Value::Float(rng.random_range(0.01..1.0)),
        Kind::Choice(choices) => Value::String(choices[rng.random_range(0..choices.len())].text.into()),
        Kind::Clock => {
            toml::from_str::<toml::Table>("clock = [{ banks = 1, ghz = 2.5 }]").unwrap()["clock"].clone()
        }
    }
}

/// Of 200 machines that differ from the paper's in keys without effect, each has the same kernels as the
/// paper's; and so has one for each of these keys.
#[test]
fn keys_without_effect_change_no_kernel() {
    let paper = Machine::rpu_128x128();
    let requests = [request(golden::NTT, 1024, 1), request(golden::INTT, 2048, 4)];
    let expected = requests.each_ref().map(|request| best(request, &paper));
    let expected_cycles = [0, 1].map(|index| cycles(&requests[index], &expected[index], &paper));
    let (free, mut rng) = (free_keys(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    assert!(free.len() > 40, "{} keys", free.len());
    let single = free.iter().map(|&key| vec![key]).collect::<Vec<_>>();
    let several = (0..200).map(|_| {
        let count = rng.random_range(1..8);
        (0..count).map(|_| free[rng.random_range(0..free.len())]).collect()
    });
    let sets: Vec<Vec<&Key>> = single.into_iter().chain(several.collect::<Vec<_>>()).collect();
    for set in sets {
        let assignments: Vec<Assignment> =
            set.iter().map(|key| Assignment::new(key.path, value(key, &mut rng)).unwrap()).collect();
        // Some values break a rule over several keys.
        let Some(machine) = paper.with(&assignments) else { continue };
        for ((request, expected), expected_cycles) in requests.iter().zip(&expected).zip(expected_cycles) {
            let choice = best(request, &machine);
            assert_eq!(&choice, expected, "{assignments:?}");
            assert_eq!(cycles(request, &choice, &machine), expected_cycles, "{assignments:?}");
        }
    }
}

/// The same without a recipe of the library: the search finds the same.
#[test]
fn keys_without_effect_change_no_search() {
    let paper = Machine::rpu_128x128();
    let request = request(golden::NTT, 1024, 3);
    let expected = best(&request, &paper);
    for change in ["frontend.instruction_memory_kib=511", "isa.word_bits=64", "law.operands=reduced"] {
        let machine = paper.with(&[change.parse().unwrap()]).unwrap();
        assert_eq!(best(&request, &machine), expected, "{change}");
    }
}

/// A search starts from the recipe for another number of rings, and finds none that is slower.
#[test]
fn a_recipe_for_another_number_of_rings_is_no_answer() {
    let machine = Machine::rpu_128x128();
    for towers in [3, 5, 6, 7, 12] {
        let request = request(golden::NTT, 1024, towers);
        let choice = best(&request, &machine);
        let searched = matches!(choice.origin, RecipeOrigin::Tuned { .. } | RecipeOrigin::Neighbour { .. });
        assert!(searched, "{towers} rings: {}", choice.origin);
        let own = cycles(&request, &choice, &machine);
        let nearest = BUILT_IN.nearest_of_other_towers(&request, &codegen::library::Target::of(&machine));
        for recipe in nearest.take(8) {
            let other = Choice { recipe: recipe.clone(), origin: RecipeOrigin::Given };
            if let Ok(kernel) = compile(&request, &other.recipe, &machine) {
                assert!(own <= simulate(&machine, &kernel.program).cycles.0, "{towers} rings");
            }
        }
    }
}

/// A library recipe for another machine may use a method that does not apply here. It is not chosen.
#[test]
fn a_known_recipe_applies() {
    for lanes in [8, 32, 64, 128, 512, 1024] {
        let changes = [format!("isa.vector_length={lanes}"), format!("hple.count={}", lanes.min(128))];
        let machine = Machine::rpu_128x128().with(&changes.map(|change| change.parse().unwrap())).unwrap();
        for operation in [golden::NTT, golden::INTT] {
            let request = request(operation, 1024, 1);
            let choice = choose(&request, &machine, &PlanChoice::Known).unwrap();
            compile(&request, &choice.recipe, &machine)
                .unwrap_or_else(|error| panic!("{operation}, {lanes} lanes, {}: {error}", choice.origin));
        }
    }
}
