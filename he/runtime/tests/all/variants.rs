//! The choice among variants of kernels.

use programs::{Options, ParameterSet, find_dataflow, find_program, generate};
use runtime::choose::Candidates;
use runtime::{Flow, Keys, Limits, Merit, Plan, Runtime, lift};
use sim::{Machine, MachineBase, Override};

/// Shorter kernels may leave transfers less time: here, conversions in tiles take less time, but the program takes more.
#[test]
fn the_runtime_takes_the_variant_with_which_the_program_is_fastest() {
    let set = ParameterSet::built_in("ark", None).unwrap().unwrap();
    let options = Options { dataflow: find_dataflow("ocs").unwrap(), ..Options::default() };
    let program = generate(&find_program("keyswitch").unwrap(), &set, &options).unwrap();
    let size = Override::parse("vdm.size_mib=4").unwrap();
    let machine = MachineBase::built_in("rpu-128x128").unwrap().machine(&[size]).unwrap();
    let flow = Flow::of(&program);
    let launches = lift(&flow, Limits::for_degree(program.degree().get(), &machine));
    let candidates = Candidates::new(&program, &launches, &machine).unwrap();
    let variants = candidates.variants(&program, &launches, &machine, Merit::Cycles).unwrap();
    let timelines: Vec<_> = variants
        .iter()
        .map(|kernels| {
            let (program, flow, launches, machine) = (&program, &flow, &launches, &machine);
            let plan =
                Plan { program, flow, launches, kernels, machine, keys: Keys::Streamed, record: false };
            plan.timeline().unwrap()
        })
        .collect();
    let best = timelines.iter().min_by(|a, b| a.total_ns.total_cmp(&b.total_ns)).unwrap();
    assert!(
        timelines.iter().any(|other| other.compute_ns < best.compute_ns),
        "no variant has shorter kernels"
    );
    let runtime = Runtime::new(&program, &machine, Keys::Streamed).unwrap();
    assert_eq!(runtime.time(false).unwrap().total_ns, best.total_ns);
}

/// Large launches wait for many transfers, and their programs are transfers too: on a slow channel, launches of fewer
/// transforms take less time, and on a fast one more.
#[test]
fn the_runtime_takes_finer_launches_if_the_program_is_faster() {
    let set = ParameterSet::built_in("ark", Some(2048)).unwrap().unwrap();
    let options = Options { level: Some(3), ..Options::default() };
    let program = generate(&find_program("keyswitch").unwrap(), &set, &options).unwrap();
    for (gb_per_s, is_finer) in [("16", true), ("4096", false)] {
        let bandwidth = Override::parse(&format!("hbm.gb_per_s={gb_per_s}")).unwrap();
        let machine = MachineBase::built_in("rpu-128x128").unwrap().machine(&[bandwidth]).unwrap();
        let choice = (Keys::Streamed, Merit::Cycles);
        let limits = Limits::for_degree(program.degree().get(), &machine);
        let coarse = Runtime::with_limits(&program, &machine, choice, limits).unwrap();
        let chosen = Runtime::optimised(&program, &machine, choice).unwrap();
        let [coarse, chosen] = [coarse, chosen]
            .map(|runtime| (runtime.time(false).unwrap().total_ns, runtime.launches().launches.len()));
        assert_eq!(chosen.1 > coarse.1, is_finer, "{gb_per_s} GB/s: {chosen:?} and {coarse:?}");
        assert_eq!(chosen.0 < coarse.0, is_finer, "{gb_per_s} GB/s: {chosen:?} and {coarse:?}");
    }
}

/// The fastest kernels of few limbs take more energy than others. The choice by energy has all variants of the choice by cycles.
#[test]
fn the_kernels_have_the_least_value_of_the_objective() {
    let set = ParameterSet::built_in("ark", Some(4096)).unwrap().unwrap();
    let options = Options { level: Some(3), ..Options::default() };
    let program = generate(&find_program("keyswitch").unwrap(), &set, &options).unwrap();
    let machine = Machine::rpu_128x128();
    let values = Merit::ALL.map(|optimised| {
        let runtime = Runtime::optimised(&program, &machine, (Keys::Streamed, optimised)).unwrap();
        let report = runtime.report(&runtime.time(false).unwrap());
        assert_eq!(report.optimise, optimised);
        Merit::ALL.map(|merit| merit.value(&report.energy, report.time_us))
    });
    for (own, of_own) in values.iter().enumerate().skip(1) {
        assert!(values.iter().all(|other| of_own[own] <= other[own]), "{values:?}");
    }
    let [fastest, thriftiest, _] = values;
    assert!(thriftiest[1] < 0.95 * fastest[1], "{values:?}");
}
