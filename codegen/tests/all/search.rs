//! What a search offers and chooses.

use b512_asm::Setting;
use codegen::search::{Effort, as_on};
use codegen::{Merit, Parameters, PlanChoice, Recipe, Request, choose, compile};
use ring::Degree;
use sim::Machine;
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
            // The settings of the automorphism; other operations have none.
            let settings = [("g", Setting::Number(5)), ("order", Setting::Word("evaluation".into()))];
            let is_own = |(name, _): &(&str, Setting)| operation.parameters().any(|spec| spec.name == *name);
            let own = settings.into_iter().filter(is_own);
            let parameters = Parameters::new(own.map(|(name, value)| (name.to_owned(), value)).collect());
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
            let offered = program(&as_on(&recipe, &machine, &better), &better).unwrap();
            assert_eq!(offered, theirs, "{setting}, {}", request.name());
        }
    }
    own_differs.dedup();
    assert_eq!(own_differs, worse);
}

#[test]
fn the_least_energy_is_not_that_of_the_fastest_program() {
    let machine = Machine::rpu_128x128();
    let degree = Degree::try_from(1024_u32).unwrap();
    let request = Request::with_primes(golden::NTT, degree, 128, 1).unwrap();
    let chosen = |merit| {
        let plan = PlanChoice::Least(merit, Some(Effort::QUICK));
        choose(&request, &machine, &plan).unwrap().recipe
    };
    let values = Merit::ALL.map(|merit| {
        let recipe = chosen(merit);
        Merit::ALL.map(|measured| measured.of(&request, &recipe, &machine).unwrap())
    });
    // Each is the least by its own measure.
    for (own, of_own) in values.iter().enumerate() {
        assert!(values.iter().all(|other| of_own[own] <= other[own]), "{values:?}");
    }
    let [fastest, thriftiest, _] = values;
    assert!(thriftiest[1] < 0.75 * fastest[1] && thriftiest[0] > fastest[0], "{values:?}");
}
