//! The scheduled program, executed on one image of each memory, gives the results of the executor on big
//! integers.

use crate::{cases, mappings};
use programs::{Options, ParameterSet, find_program, generate};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::{Inputs, RingProgram};
use runtime::Fault;
use runtime::mapping::{Batch, Form, Mapping, Order, Recipes};
use runtime::schedule::record::{Action, Event, Extent};
use runtime::schedule::traffic::Kind;
use runtime::{Choice, Keys, Runtime, Timeline, testing};
use sim::Machine;
use std::collections::HashSet;

/// A machine with a VDM of so many halves of a MiB.
fn machine(halvings: u32, pages: u32, word_bits: u32) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            values.vdm.size_mib = 1;
            values.vdm.limb_pages = pages;
            values.isa.word_bits = word_bits;
        })
        .unwrap();
    (0..halvings).fold(machine, |machine, _| machine.with_half_of_the_vdm())
}

fn mapping(rng: &mut Random) -> Mapping {
    Mapping {
        order: [Order::Modulus, Order::Program][rng.random_range(0..2)],
        batch: Batch::ALL[rng.random_range(0..4)],
        recipes: [Recipes::Fastest, Recipes::SmallTables][rng.random_range(0..2)],
        elementwise: Form::ALL[rng.random_range(0..3)],
    }
}

/// Replays a program. Returns its timeline; none if it does not fit.
fn replay(program: &RingProgram, machine: &Machine, keys: Keys, mapping: Mapping) -> Option<Timeline> {
    let mut inputs = Inputs::new(program);
    inputs.fill(5);
    let runtime = Runtime::mapped(program, machine, (keys, Choice::Given(mapping))).ok()?;
    let recorded = runtime.recorded().ok()?;
    // Words that no data are for have an error of their own.
    runtime.check_reduced(&inputs).ok()?;
    let outputs = runtime.replay(&recorded, &inputs).unwrap_or_else(|fault| panic!("{fault}"));
    runtime.check(&inputs, &outputs).unwrap_or_else(|error| panic!("{error}\n{}", program.to_text()));
    let timeline = runtime.time(true).unwrap();
    assert_eq!(timeline.total_ns, recorded.total_ns);
    let (places, hbm) = (machine.instruction_set().bytes(recorded.places.words), recorded.hbm.bytes());
    // Each part has whole bytes.
    assert!((hbm..hbm + 32).contains(&places), "{places} of {hbm}");
    Some(recorded)
}

/// `REPLAY_CASES` is the number of programs.
#[test]
fn scheduled_programs_on_one_image_give_the_results_of_big_integers() {
    let cases = cases("REPLAY_CASES", 12);
    let mut rng = Random::seed_from_u64(3);
    let (mut fitting, mut spilling) = (0, 0);
    for case in 0..cases {
        let program =
            if case % 2 == 0 { testing::random_program(&mut rng) } else { testing::random_calls(&mut rng) };
        let machine = machine(2, 1 << rng.random_range(0..6), 128);
        let mapping = mapping(&mut rng);
        println!("case {case}");
        let Some(timeline) = replay(&program, &machine, Keys::Streamed, mapping) else { continue };
        fitting += 1;
        spilling += u32::from(timeline.traffic[Kind::Spills] > 0);
    }
    assert!(2 * fitting > cases && 8 * spilling > cases, "{fitting} programs fit, {spilling} spill");
}

/// Key switches, products and rotations, with keys of each origin. `REPLAY_SWITCHES` is their number.
#[test]
fn scheduled_key_switches_on_one_image_give_the_results_of_big_integers() {
    let cases = cases("REPLAY_SWITCHES", 3);
    let mut rng = Random::seed_from_u64(4);
    let mut fitting = 0;
    for case in 0..cases {
        let (program, name) = mappings::program(&mut rng);
        let halvings = rng.random_range(0..2);
        let machine = machine(halvings, 1 << rng.random_range(2..6), [64, 128][rng.random_range(0..2)]);
        let keys = Keys::ALL[case as usize % 3];
        let mapping = mapping(&mut rng);
        println!("case {case}: {name}, {keys:?}, {mapping:?}");
        fitting += u32::from(replay(&program, &machine, keys, mapping).is_some());
    }
    assert!(2 * fitting > cases, "{fitting} of {cases} fit");
}

/// `REPLAY_BOOTSTRAP` is the binary logarithm of the degree.
#[test]
#[ignore = "long: `.ci/long` runs it"]
fn a_scheduled_bootstrap_on_one_image_gives_the_results_of_launches() {
    let n = 1 << cases("REPLAY_BOOTSTRAP", 9);
    let set = ParameterSet::built_in("lattigo-n16qp1546", Some(n)).unwrap().unwrap();
    let program = generate(&find_program("bootstrap").unwrap(), &set, &Options::default()).unwrap();
    // So small a VDM that it spills.
    let machine = machine(0, 16, 64);
    let runtime =
        Runtime::mapped(&program, &machine, (Keys::Streamed, Choice::Given(Mapping::START))).unwrap();
    let timeline = runtime.recorded().unwrap();
    assert!(timeline.traffic[Kind::Spills] > 0);
    let mut inputs = Inputs::new(&program);
    inputs.fill(6);
    let outputs = runtime.execute(&inputs).unwrap();
    let replayed = runtime.replay(&timeline, &inputs);
    assert!(replayed.as_ref() == Ok(&outputs), "{:?}", replayed.err());
}

/// A limb that is saved over programs and parameters changes what runs.
#[test]
fn a_limb_that_is_saved_over_programs_is_found() {
    let mut rng = Random::seed_from_u64(10);
    let mut found = 0;
    while found < 8 {
        let program = testing::random_program(&mut rng);
        let machine = machine(2, 16, 128);
        let choice = (Keys::Streamed, Choice::Given(Mapping::START));
        let Ok(runtime) = Runtime::mapped(&program, &machine, choice) else { continue };
        let Ok(mut timeline) = runtime.recorded() else { continue };
        let mut inputs = Inputs::new(&program);
        inputs.fill(5);
        let outputs = runtime.execute(&inputs).unwrap();
        assert!(runtime.replay(&timeline, &inputs).as_ref() == Ok(&outputs));
        // The first limb that is saved when there are still launches to come.
        let saved = timeline.events.iter().find_map(|event| {
            let Action::Store(extents) = &event.action else { return None };
            Some((extents[0].item, event.span.end_ns))
        });
        let Some((item, end)) = saved else { continue };
        let last = timeline.events.iter().rev().find_map(|event| match event.action {
            Action::Fetch { launch, .. } if event.span.begin_ns > end => Some(launch),
            _ => None,
        });
        let Some(last) = last else { continue };
        found += 1;
        let parameters = timeline.places.parameters[last as usize].unwrap();
        timeline.places.items[item as usize] = Some(parameters * 8 / u64::from(machine.isa.word_bits));
        timeline.places.words += program.degree().get();
        assert!(runtime.replay_unchecked(&timeline, &inputs).as_ref() != Ok(&outputs));
    }
}

/// Each launch needs its program and its own parameters; the error about another's names the wrong number.
#[test]
fn a_launch_without_its_parameters_or_its_program_is_found() {
    let mut rng = Random::seed_from_u64(11);
    let program = testing::random_program(&mut rng);
    let machine = machine(1, 16, 128);
    let runtime =
        Runtime::mapped(&program, &machine, (Keys::Streamed, Choice::Given(Mapping::START))).unwrap();
    let timeline = runtime.recorded().unwrap();
    let mut inputs = Inputs::new(&program);
    inputs.fill(5);
    let fault = |change: &dyn Fn(&mut Timeline)| {
        let mut changed = timeline.clone();
        change(&mut changed);
        runtime.replay_unchecked(&changed, &inputs).expect_err("a fault")
    };
    let fetched = |event: &Event| {
        let Action::Fetch { launch, .. } = event.action else { return None };
        Some(launch)
    };
    let (first, launch) =
        timeline.events.iter().map(fetched).enumerate().find(|(_, launch)| launch.is_some()).unwrap();
    let without_parameters = fault(&|timeline| timeline.events.retain(|event| fetched(event) != launch));
    assert!(matches!(without_parameters, Fault::NoParameters(_)), "{without_parameters}");
    let without_program = fault(&|timeline| {
        let Action::Fetch { with_program, .. } = &mut timeline.events[first].action else { unreachable!() };
        *with_program = false;
    });
    assert!(matches!(without_program, Fault::NoProgram(_)), "{without_program}");
    // The first words of a program are no moduli.
    let of_another = fault(&|timeline| {
        let launch = launch.unwrap() as usize;
        timeline.places.parameters[launch] = timeline.places.programs[launch];
    });
    assert!(matches!(of_another, Fault::Parameters { event, .. } if event == first), "{of_another}");
    let message = format!("the parameters of event {first} have an invalid modulus: the modulus 0x");
    assert!(of_another.to_string().starts_with(&message), "{of_another}");
}

/// The pages with the words of an extent.
fn pages(extent: &Extent, page: u32) -> impl Iterator<Item = u32> + '_ {
    let range = extent.offset / page..(extent.offset + extent.words).div_ceil(page);
    range.map(|index| extent.pages[index as usize])
}

fn read(event: &Event) -> Vec<&Extent> {
    match &event.action {
        Action::Store(extents) => extents.iter().collect(),
        Action::Run { operands, .. } => operands.iter().collect(),
        Action::Load(_) | Action::Gather { .. } | Action::Fetch { .. } => Vec::new(),
    }
}

/// A load that comes before the last use of what was in its pages is found, and would change results.
#[test]
fn a_space_that_is_given_away_too_early_is_found() {
    let mut rng = Random::seed_from_u64(9);
    let (mut found, mut wrong) = (0, 0);
    while found < 8 {
        let program = testing::random_program(&mut rng);
        let machine = machine(2, 16, 128);
        let choice = (Keys::Streamed, Choice::Given(Mapping::START));
        let Ok(runtime) = Runtime::mapped(&program, &machine, choice) else { continue };
        let Ok(timeline) = runtime.recorded() else { continue };
        let page = machine.page_words(program.degree().get()) as u32;
        let mut inputs = Inputs::new(&program);
        inputs.fill(5);
        let outputs = runtime.execute(&inputs).unwrap();
        assert!(runtime.replay(&timeline, &inputs).as_ref() == Ok(&outputs));
        // A load, and the event that reads other words of its pages last before it.
        let pair = timeline.events.iter().enumerate().find_map(|(late, event)| {
            let Action::Load(extents) = &event.action else { return None };
            // Slices of several limbs share pages.
            let fills =
                |extent: &&Extent| extent.words.is_multiple_of(page) && extent.offset.is_multiple_of(page);
            let of_load: HashSet<u32> =
                extents.iter().filter(fills).flat_map(|extent| pages(extent, page)).collect();
            let items: HashSet<u32> = extents.iter().map(|extent| extent.item).collect();
            let uses = |other: &&Event| {
                let shares = |extent: &&Extent| {
                    !items.contains(&extent.item)
                        && pages(extent, page).any(|number| of_load.contains(&number))
                };
                other.span.end_ns <= event.span.begin_ns && read(other).iter().any(shares)
            };
            let before = timeline.events.iter().filter(uses);
            let last = before.max_by(|one, other| one.span.end_ns.total_cmp(&other.span.end_ns))?;
            Some((late, last.span.begin_ns))
        });
        let Some((late, begin)) = pair else { continue };
        let mut early = timeline.clone();
        early.events[late].span.begin_ns = begin - 1e-3;
        found += 1;
        assert!(matches!(runtime.replay(&early, &inputs), Err(Fault::Overlap { .. })));
        wrong += u32::from(runtime.replay_unchecked(&early, &inputs).as_ref() != Ok(&outputs));
    }
    assert!(2 * wrong > found, "{wrong} of {found} give other results");
}
