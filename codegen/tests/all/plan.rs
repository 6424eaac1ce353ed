//! Plans: their text, the classical ones, what they cost, and derived ones beside those written by hand.

use b512_asm::{AddressMode, Log2, Pipe};
use codegen::library::BUILT_IN;
use codegen::plan::derive::derive;
use codegen::plan::{Algorithm, Bit, Costs, Pass, Plan, Shape, Step};
use codegen::schedule::Tuning;
use codegen::testing::plans;
use codegen::{Order, Recipe, Request, compile};
use rayon::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::machine::{BankMapping, Values, VbarPaths};
use sim::timing::simulate;

#[test]
fn the_text_of_every_plan_of_the_library_is_read_back() {
    for plan in BUILT_IN.tasks().flat_map(|t| &t.entries).flat_map(|entry| &entry.recipe.plans) {
        assert_eq!(plan.to_string().parse().as_ref(), Ok(plan));
    }
}

#[test]
fn a_pass_is_one_line() {
    let text = "forward 2^16 windowed-4-2\n\
        [15..12 | 8..0] S15 S14 S13 U13 S12 U12 -> 15 14 11..0 13 12\n\
        [11..7 | 6..0 13 12] S11 S10 S9 S8 U8 S7 U7 S6 U6 S5 U5 S4 U4 S3 U3 S2 U2 S1 U1 S0 U0 -> 15..0\n";
    let plan: Plan = text.parse().unwrap();
    assert_eq!(plan.to_string(), text);
    let passes = plan.trace().unwrap();
    assert_eq!(passes[1].start.lanes[..3], [Bit(12), Bit(13), Bit(0)]);
    assert_eq!(passes[0].to[14..], [Bit(14), Bit(15)]);
}

#[test]
fn tables_of_earlier_versions_are_read() {
    let text = r#"
        name = "kl"
        algorithm = "inverse"
        log_n = 10
        [[passes]]
        load = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        registers = [0]
        steps = "S0 P0 S1 P1 S2 P2 S3 P3 S4 P4 S5 P5 S6 P6 S7 P7 S8 P8 S9"
        store = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    "#;
    let plan: Plan = toml::from_str(text).unwrap();
    let forward = Plan::korn_lambiotte(Shape::b512(10), 5);
    assert_eq!(plan, forward.reversed("kl", Algorithm::Inverse).unwrap());
    let wrong = text.replace("load = [1,", "load = [11,");
    let error = toml::from_str::<Plan>(&wrong).unwrap_err();
    assert!(error.message().contains("invalid address bit 11: the plan has 10 of them"), "{error}");
}

#[test]
fn errors_name_the_line_and_what_is_valid() {
    let good = "forward 2^10 kl\n\n[9 | 8..0] S9 U9 S8 -> 9..0\n";
    assert!(good.parse::<Plan>().is_ok());
    for (wrong, by, message, marked) in [
        ("forward", "backward", "line 1 of the plan: unknown algorithm `backward`: expected", "backward"),
        ("2^10", "1024", "line 1 of the plan: invalid ring degree `1024`: expected a power", "1024"),
        ("U9", "U+9", "line 3 of the plan: invalid step `U+9`: expected S, U, P or T", "U+9"),
        ("U9", "X9", "line 3 of the plan: invalid step `X9`: expected S, U, P or T", "X9"),
        ("8..0", "0..8", "line 3 of the plan: invalid list of index bits at `0..8`", "0..8"),
        ("[9", "9", "line 3 of the plan: invalid pass: expected its registers", "9 | 8..0] S9 U9 S8 -> 9..0"),
        ("-> 9..0", "", "line 3 of the plan: invalid pass: expected its", "[9 | 8..0] S9 U9 S8"),
    ] {
        let text = good.replacen(wrong, by, 1);
        let error = text.parse::<Plan>().unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert_eq!(&text[error.span], marked);
    }
    let empty = "".parse::<Plan>().unwrap_err();
    assert_eq!((empty.line, empty.span), (1, 0..0));
}

#[test]
fn all_errors_of_a_text_are_found() {
    let errors = Plan::read("forwards 1024 kl\n[9 | 0..8] S9 X9 -> 9..b\n[9 | 8..0] S8 -> 9..0\nS9\n");
    let lines: Vec<usize> = errors.unwrap_err().iter().map(|error| error.line).collect();
    assert_eq!(lines, [1, 1, 2, 2, 2, 4]);
}

/// log2 of every vector length.
const LANES: std::ops::RangeInclusive<u32> = 6..=12;

/// The shapes of rings from 2^7 to 2^17 with every vector length.
fn shapes() -> impl Iterator<Item = Shape> {
    LANES.flat_map(|lanes| (lanes + 1..=17).map(move |log_n| Shape { log_n, lanes }))
}

fn text(pass: &Pass) -> String {
    let steps: Vec<String> = pass.steps.iter().map(Step::to_string).collect();
    steps.join(" ")
}

#[test]
fn korn_lambiotte_traces_at_every_shape_and_depth() {
    for shape in shapes() {
        for depth in 1..=5 {
            let plan = Plan::korn_lambiotte(shape, depth);
            let traced = plan.trace().unwrap();
            assert_eq!(plan.shape(), shape);
            assert_eq!(traced.last().unwrap().store_mode, AddressMode::Strided(Log2::new(1).unwrap()));
            let back = plan.reversed("pease", Algorithm::Inverse).unwrap();
            let packs = back.passes.iter().flat_map(|p| &p.steps).filter(|s| matches!(s, Step::Pack(_)));
            assert_eq!(packs.count() as u32, shape.log_n - 1);
            back.trace().unwrap();
            assert_eq!(back.passes[0].lanes, (1..=shape.lanes as u8).map(Bit).collect::<Vec<_>>());
        }
    }
}

#[test]
fn polynomials_of_one_vector_have_a_plan() {
    for lanes in LANES {
        let shape = Shape { log_n: lanes, lanes };
        let plan = Plan::korn_lambiotte(shape, 4);
        assert_eq!((plan.shape(), plan.trace().unwrap().len()), (shape, 1));
        for algorithm in [Algorithm::Inverse, Algorithm::InverseTwisted] {
            plan.reversed("back", algorithm).unwrap().trace().unwrap();
        }
    }
}

#[test]
fn the_papers_plan_has_its_passes() {
    let plan = Plan::korn_lambiotte(Shape::b512(16), 4);
    assert_eq!(plan.passes.len(), 4);
    assert_eq!(text(&plan.passes[0]), "S15 U15 S14 U14 S13 U13 S12 U12");
    assert_eq!(text(&plan.passes[3]), "S3 U3 S2 U2 S1 U1 S0");
}

/// Programs load constants as well. If registers of one instruction share an SRAM of the VRF, it also
/// holds its pipe for longer; free ports leave this out.
#[test]
fn programs_keep_pipes_busy_as_plans_do() {
    let request = Request::with_primes(golden::NTT, Degree::try_from(4096u32).unwrap(), 60, 1).unwrap();
    let change = |change: fn(&mut Values)| {
        let mut machine = Machine::rpu_128x128();
        machine.edit(|values| values.ideal.vrf_ports = true).unwrap();
        machine.edit(change).unwrap();
        machine
    };
    let machines = [
        change(|_| ()),
        change(|values| values.vdm.banks = 32),
        change(|values| values.vdm.mapping = BankMapping::Xor),
        change(|values| (values.hple.count, values.hple.initiation_interval) = (16, 3)),
        change(|values| (values.vbar.initiation_interval, values.sbar.initiation_interval) = (2, 2)),
        change(|values| (values.vdm.ports, values.vbar.paths) = (2, VbarPaths::Split)),
    ];
    for machine in machines {
        for plan in derive(request.shape(machine.instruction_set()), &machine, 8) {
            let expected = Costs::new(&machine).busy(&plan);
            let recipe = Recipe {
                method: None,
                plans: vec![plan.clone()],
                order: Order::ByDemand,
                stagger: None,
                forwarding: None,
                tuning: Tuning::default(),
            };
            let kernel = compile(&request, &recipe, &machine).unwrap();
            let timing = simulate(&machine, &kernel.program);
            for pipe in Pipe::VECTOR {
                let (busy, expected) = (timing.busy[pipe], expected[pipe]);
                let agrees = if pipe == Pipe::LoadStore { expected <= busy } else { expected == busy };
                assert!(agrees, "{} {}: {busy}, not {expected}", plan.name, pipe.name());
            }
            assert!(expected.values().all(|&busy| busy <= timing.cycles.0), "{}", plan.name);
        }
    }
}

/// The fewest cycles of the programs of a plan in three orders.
fn cycles(plan: &Plan, machine: &Machine) -> u64 {
    let degree = Degree::try_from(1u32 << plan.log_n).unwrap();
    let request = Request::with_primes(golden::NTT, degree, 60, 1).unwrap();
    let of_order = |order| {
        let tuning = Tuning { constants_ahead: 8, reserve: 8, ..Tuning::default() };
        let recipe = Recipe {
            tuning,
            order,
            stagger: None,
            forwarding: None,
            method: None,
            plans: vec![plan.clone()],
        };
        simulate(machine, &compile(&request, &recipe, machine).unwrap().program).cycles.0
    };
    [Order::ByLevel, Order::ByDemand, Order::ByStep].map(of_order).into_iter().min().unwrap()
}

#[test]
fn derived_plans_are_as_fast_as_those_written_by_hand() {
    let of_family = |(plan, machine): &(Plan, Machine)| {
        let derived = derive(plan.shape(), machine, 64);
        // A search schedules the first ones.
        let fewest = derived.par_iter().take(16).map(|plan| cycles(plan, machine)).min().unwrap();
        (plan.name.clone(), cycles(plan, machine), fewest)
    };
    let found: Vec<_> = plans::by_hand().par_iter().map(of_family).collect();
    for (name, cycles, fewest) in found {
        // Half a percent is the scheduler's noise: it breaks ties of plans with equal counts differently.
        assert!(fewest * 200 <= cycles * 201, "{name}: {cycles} cycles, derived {fewest}");
    }
}
