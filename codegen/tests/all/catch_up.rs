//! Searches beside slower machines.

use codegen::search::{Slower, lags_behind};
use codegen::{Choice, Kernel, PlanChoice, Recipe, Request, check, choose, choose_beside, compile};
use ring::Degree;
use sim::machine::Assignment;
use sim::timing::{Cycle, simulate};
use sim::{Machine, machine};

fn request(n: u32) -> Request {
    Request::with_primes(golden::NTT, Degree::try_from(n).unwrap(), 60, 1).unwrap()
}

fn with(settings: &[&str]) -> Machine {
    let settings: Vec<Assignment> = settings.iter().map(|text| text.parse().unwrap()).collect();
    Machine::rpu_128x128().with(&settings).unwrap()
}

/// A kernel and its cycles.
fn measure(request: &Request, recipe: &Recipe, machine: &Machine) -> (Kernel, Cycle) {
    let kernel = compile(request, recipe, machine).unwrap();
    let cycles = simulate(machine, &kernel.program).cycles;
    (kernel, cycles)
}

/// The choice for the better machine, which lags by itself, and the kernels of both.
fn beside(n: u32, better: &Machine, worse: &Machine) -> (Choice, Kernel, Kernel) {
    assert!(better.dominates(worse));
    let request = request(n);
    let best = |machine| choose(&request, machine, &PlanChoice::Best).unwrap().recipe;
    let (own, theirs) = (best(better), best(worse));
    let (_, alone) = measure(&request, &own, better);
    let (other, cycles) = measure(&request, &theirs, worse);
    assert!(lags_behind(alone, cycles), "{alone} cycles, and {cycles} on the worse machine");

    let slower = Slower { machine: worse.clone(), recipe: theirs, cycles };
    let choice = choose_beside(&request, better, &own, &[slower]).unwrap();
    let (kernel, found) = measure(&request, &choice.recipe, better);
    assert!(!lags_behind(found, cycles), "{found} cycles, and {cycles} on the worse machine");
    assert!(choice.origin.to_string().ends_with(&format!("{found} cycles")), "{}", choice.origin);
    check::lowering(&kernel.code).unwrap();
    check::schedule(&kernel.code, &kernel.program).unwrap();
    // As text, a recipe is complete.
    assert_eq!(Recipe::parse("plan", &choice.recipe.to_toml()).unwrap(), choice.recipe);
    (choice, kernel, other)
}

#[test]
fn a_machine_gets_the_program_of_a_slower_one() {
    let common = ["hple.multiplier_latency_cycles=5", "frontend.queue_depth=2"];
    let worse = with(&common);
    let better = with(&[&common[..], &["vdm.ports=2"]].concat());
    let (choice, kernel, other) = beside(1024, &better, &worse);
    assert_eq!(choice.origin.name(), "dominated");
    let assumed: Vec<String> = choice.recipe.tuning.assume.iter().map(ToString::to_string).collect();
    assert_eq!(assumed, ["vdm.ports=1"]);
    assert_eq!(kernel.program, other.program);
}

/// The slower machine's program meets other conflicts at ports of the VRF, which moves remove.
#[test]
fn moves_mend_the_program_of_a_slower_machine() {
    let common = ["sbar.latency_cycles=7", "vbar.latency_cycles=9", "hple.multiplier_latency_cycles=9"];
    let better = with(&[&common[..], &["frontend.busyboard=shared-reads"]].concat());
    let (choice, kernel, other) = beside(8192, &better, &with(&common));
    assert_eq!(choice.origin.name(), "tuned");
    assert!(!choice.recipe.tuning.moves.is_empty());
    assert_eq!(kernel.program.instructions.len(), other.program.instructions.len());
    // Without the moves, it is slower.
    let mut recipe = choice.recipe.clone();
    recipe.tuning.moves.clear();
    let (_, without) = measure(&request(8192), &recipe, &better);
    assert!(without > simulate(&better, &kernel.program).cycles);
}

#[test]
fn assignments_are_texts() {
    for key in machine::keys().filter(|key| key.path != "technology.clock") {
        let (_, value) =
            Machine::rpu_128x128().values().into_iter().find(|(of, _)| of.path == key.path).unwrap();
        let text = format!("{}={}", key.path, value.to_string().trim_matches('"'));
        assert_eq!(text.parse::<Assignment>().unwrap().to_string(), text);
    }
    for wrong in ["vdm.banks", "vdm.banks=63", "vdm.bank=64", "=64"] {
        let error = wrong.parse::<Assignment>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("`{wrong}` gives no key")), "{error}");
    }
}
