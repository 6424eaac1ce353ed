//! Each key has exactly the effects that its row declares, those on streams aside: no test covers these.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sim::Clock;
use sim::machine::SECTIONS;
use sim::machine::table::{Effect, Key, Kind, Rest};
use sim::{Area, Events, Floorplan, Machine, MachineBase, Override, RunEnergy, Usage, Work, testing, timing};
use std::collections::BTreeSet;
use toml::Value;

fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// Machines that differ in the part that limits their clock or their dispatches.
const BASES: [&[&str]; 12] = [
    &[],
    &["vdm.size_mib=16"],
    &["hple.count=256", "vdm.banks=256", "sbar.latency_cycles=2"],
    &["hple.count=64", "vdm.banks=64", "hple.initiation_interval=2", "frontend.queue_depth=2", "vdm.ports=2"],
    &["hple.count=4", "vdm.banks=256"],
    &["frontend.width=4", "frontend.queue_depth=1", "vdm.ports=2", "hple.count=16", "vdm.banks=32"],
    &["technology.clock=[{ banks = 1, ghz = 100.0 }]", "frontend.busyboard=shared-reads"],
    // The register file limits the clock.
    &["isa.vector_length=4096", "hple.count=4", "vdm.banks=256"],
    // The crossbars limit the clock.
    &["technology.clock=[{ banks = 1, ghz = 100.0 }]", "vbar.latency_cycles=1", "sbar.latency_cycles=1"],
    // The crossbars take more stages.
    &["technology.delay.wire_ps=4800", "vdm.ports=2", "vrf.ports=two-port", "hbm.stacks=4"],
    &["technology.clock=[{ banks = 1, ghz = 100.0 }]", "technology.delay.wire_ps=15000"],
    // The adder limits the clock.
    &[
        "technology.clock=[{ banks = 1, ghz = 100.0 }]",
        "frontend.cycles_per_instruction=4",
        "frontend.fetch_to_dispatch_cycles=8",
        "hple.multiplier_latency_cycles=64",
        "vbar.latency_cycles=16",
        "sbar.latency_cycles=16",
    ],
];

fn machine(base: &MachineBase, changes: &[String]) -> Option<Machine> {
    let overrides: Vec<_> =
        changes.iter().map(|change| Override::parse(change).expect("an override")).collect();
    // Some changes break a rule over several keys.
    base.machine(&overrides).ok()
}

/// Other values of a key.
fn others(key: &Key, value: &Value) -> Vec<String> {
    let whole = || value.as_integer().expect("a whole number");
    let within = |values: &[i64], min: u32, max: u32| {
        let allowed = values.iter().filter(|value| (i64::from(min)..=i64::from(max)).contains(value));
        allowed.map(i64::to_string).collect()
    };
    match key.kind {
        Kind::Text => vec!["another".into()],
        Kind::Bool => vec![(!value.as_bool().expect("a switch")).to_string()],
        Kind::Int(min, max) => {
            let now = whole();
            within(&[now + 1, now - 1, 2 * now, 8 * now, min.into()], min, max)
        }
        Kind::PowerOfTwo(min, max) => {
            let now = whole();
            within(&[2 * now, 8 * now, now / 2, now / 8], min, max)
        }
        Kind::Positive | Kind::Share => {
            let now = value.as_float().expect("a number");
            vec![format!("{:?}", 0.5 * now), format!("{:?}", 0.9 * now)]
        }
        Kind::NotNegative => {
            let now = value.as_float().expect("a number");
            vec![format!("{:?}", 2.0 * now + 0.1), format!("{:?}", 30.0 * now + 0.1)]
        }
        Kind::Choice(choices) => choices.iter().map(|choice| choice.text.to_owned()).collect(),
        Kind::Clock => vec!["[{ banks = 1, ghz = 1.0 }]".into(), "[{ banks = 1, ghz = 50.0 }]".into()],
    }
}

fn value_at(machine: &Machine, path: &str) -> Value {
    let root = Value::try_from(machine).expect("a machine is a table");
    path.split('.').fold(root, |value, key| value[key].clone())
}

/// The quantities of a machine: the cycles of programs, its clock, its area, and the energy of programs.
///
/// Stages that follow from the machine are a quantity of their own: cycles, area and energy are those with
/// given ones.
fn measure(machine: &Machine, programs: &[b512_asm::Program]) -> Measured {
    let mut events = Events::default();
    let mut cycles = Vec::new();
    let given = with_given_stages(machine);
    for program in programs {
        let program = b512_asm::Program { isa: machine.instruction_set(), ..program.clone() };
        program.instructions.iter().for_each(|instr| events.add(program.isa, instr));
        cycles.push(timing::simulate(&given, &program).cycles.0);
    }
    let stages = [machine.vbar_stages(), machine.sbar_stages()];
    let area = Area::of_run(&given, &Usage { off_chip: true, key_bytes: 1 << 20, seeded: true }).total();
    (cycles, stages, Clock::of(machine).ghz(), area, energy(&given, &events))
}

/// Cycles, stages, clock, area and energy.
type Measured = (Vec<u64>, [u32; 2], f64, f64, [f64; 7]);

/// The machine with four stages where they follow from it.
fn with_given_stages(machine: &Machine) -> Machine {
    let mut given = machine.clone();
    let four = |stages: &mut u32| *stages = if *stages == 0 { 4 } else { *stages };
    given
        .edit(|values| {
            four(&mut values.vbar.latency_cycles);
            four(&mut values.sbar.latency_cycles);
            // These stages need not reach it.
            values.clock.ghz = 0.0;
        })
        .expect("a machine with other stages");
    given
}

/// The energy of events and transfers, of clocks in as many cycles, and of leakage by area and time: an
/// effect on energy is one beside those on cycles, clock and area.
fn energy(machine: &Machine, events: &Events) -> [f64; 7] {
    let time_us = 5.0 / Clock::of(machine).ghz();
    let of = |machine: &Machine, time_us| {
        let seeded_bytes = Some(1 << 20);
        RunEnergy::of(
            machine,
            &Work { events, time_us, off_chip_bytes: Some(1 << 20), key_bytes: 0, seeded_bytes },
        )
    };
    // Wires cost by the area.
    let mut near = machine.clone();
    near.edit(|values| values.technology.wires.pj_per_bit_mm = 0.0).expect("a machine without wires");
    let plan = Floorplan { side_mm: 10.0, ..Floorplan::of(machine) };
    let RunEnergy { kernels, generator, idle_clocks, leakage, .. } = of(&near, time_us);
    let rounded = |energy: f64| (energy * 1e9).round();
    let area = Area::of_run(machine, &Usage { seeded: true, ..Usage::default() }).total();
    [
        kernels,
        of(&near, 1.0).hbm,
        generator,
        rounded(idle_clocks),
        rounded(leakage / (area * time_us)),
        plan.crossbar_pj_per_bit(),
        plan.bus_pj_per_bit(),
    ]
}

#[test]
fn no_part_of_an_area_is_negative() {
    let programs = testing::programs(1);
    testing::check(3, 1000, (programs, testing::machines()), |_, machine| {
        let area = Area::of_run(machine, &Usage { off_chip: true, key_bytes: 1 << 20, seeded: true });
        let negative = area.components().into_iter().find(|(_, part)| *part < 0.0);
        negative.map_or(Ok(()), |part| Err(format!("{part:?}")))
    });
}

/// Wider words cost more in every way, also between the widths that are powers of two.
#[test]
fn costs_grow_with_the_width_of_words() {
    let events =
        Events { multiplications: 9, additions: 9, vrf_accesses: 9, vdm_accesses: 9, ..Events::default() };
    let costs = |word_bits| {
        let mut machine = Machine::rpu_128x128();
        machine.edit(|values| values.isa.word_bits = word_bits).expect("a width");
        let Clock { multiplier, adder, .. } = Clock::of(&machine);
        let energy = RunEnergy::of(
            &machine,
            &Work { events: &events, time_us: 0.0, off_chip_bytes: None, key_bytes: 0, seeded_bytes: None },
        );
        [
            Area::of(&machine).total(),
            energy.kernels,
            1.0 / multiplier,
            1.0 / adder,
            -f64::from(machine.vdm_words()),
        ]
    };
    for bits in 28..128 {
        let (narrow, wide) = (costs(bits), costs(bits + 1));
        assert!(
            narrow.iter().zip(wide).all(|(narrow, wide)| *narrow <= wide),
            "{bits}: {narrow:?}, {wide:?}"
        );
    }
}

#[test]
fn each_key_has_the_effects_that_it_declares_and_no_others() {
    let config = Config { failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let programs: Vec<_> =
        (0..12).map(|_| testing::programs(150).new_tree(&mut runner).expect("a program").current()).collect();
    let built_in = MachineBase::built_in("rpu-128x128").expect("a built-in machine");
    let mut wrong = Vec::new();
    for key in keys() {
        let mut seen = BTreeSet::new();
        for base in BASES {
            let base: Vec<String> = base.iter().map(|&change| change.to_owned()).collect();
            let before = machine(&built_in, &base).expect("the bases are valid");
            let (cycles, stages, clock, area, energy) = measure(&before, &programs);
            for value in others(key, &value_at(&before, key.path)) {
                let changed = [base.clone(), vec![format!("{}={value}", key.path)]].concat();
                let Some(after) = machine(&built_in, &changed) else { continue };
                let new = measure(&after, &programs);
                let differs = [
                    (Effect::Cycles, new.0 != cycles),
                    (Effect::Stages, new.1 != stages),
                    (Effect::Clock, new.2 != clock),
                    (Effect::Area, new.3 != area),
                    (Effect::Energy, new.4 != energy),
                ];
                seen.extend(differs.into_iter().filter(|(_, differs)| *differs).map(|(effect, _)| effect));
            }
        }
        let declared = key
            .effects
            .iter()
            .copied()
            .filter(|&effect| ![Effect::Stream, Effect::Program].contains(&effect));
        let declared: BTreeSet<Effect> = declared.collect();
        if seen != declared {
            wrong.push(format!("{}: declares {declared:?}, has {seen:?}", key.path));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A key with a cost has a model, and one without a reason has all costs.
#[test]
fn each_key_says_what_it_costs_or_why_it_is_free() {
    for key in keys() {
        let Some(cost) = &key.cost else {
            assert!(key.path.starts_with("technology."), "{}", key.path);
            continue;
        };
        let costs = [Effect::Clock, Effect::Area, Effect::Energy].map(|effect| key.effects.contains(&effect));
        assert_eq!(cost.model.is_empty(), !costs.contains(&true), "{}: a cost needs a model", key.path);
        assert_eq!(cost.rest == Rest::None, !costs.contains(&false), "{}: why is it free?", key.path);
    }
}

/// Each further cycle of an interval takes three of a multiplier's stages. A multiplier whose latency grows
/// by as many keeps the clock; without a stage left, smaller digits make it faster again.
#[test]
fn the_clock_follows_the_stages_of_the_multiplier_and_its_digits() {
    let clock = |interval: u32, latency: u32| {
        let changes = [
            format!("hple.initiation_interval={interval}"),
            format!("hple.multiplier_latency_cycles={latency}"),
        ];
        Clock::of(
            &machine(&MachineBase::built_in("rpu-128x128").expect("a built-in machine"), &changes).unwrap(),
        )
        .ghz()
    };
    for interval in 1..=16 {
        assert_eq!(clock(interval, 11 + 3 * (interval - 1)), 1.68, "interval {interval}");
    }
    let clocks = [1, 2, 3, 4, 5].map(|interval| clock(interval, 11));
    assert!(clocks.is_sorted_by(|a, b| a >= b), "{clocks:?}");
    let clocks = [5, 8, 16, 32, 64].map(|interval| clock(interval, 11));
    assert!(clocks.is_sorted_by(|a, b| a <= b), "{clocks:?}");
}
