//! Kernels of key switches beside their bounds, and the choice among variants of kernels.

use super::DATAFLOWS;
use programs::{Options, ParameterSet, find_dataflow, find_program, generate};
use rayon::prelude::*;
use ring_program::RingProgram;
use runtime::choose::variants;
use runtime::{Flow, Keys, Limits, Plan, Runtime, lift};
use sim::{Machine, MachineBase, Override};

fn key_switch(set: &str, dataflow: &str) -> RingProgram {
    let set = ParameterSet::built_in(set, None).unwrap().unwrap();
    let options = Options { dataflow: find_dataflow(dataflow).unwrap(), ..Options::default() };
    generate(&find_program("keyswitch").unwrap(), &set, &options).unwrap()
}

fn machine(vdm_mib: u32) -> Machine {
    let size = Override::parse(&format!("vdm.size_mib={vdm_mib}")).unwrap();
    MachineBase::built_in("rpu-128x128").unwrap().machine(&[size]).unwrap()
}

/// Together, the kernels of a key switch take at most 1.3 times the bounds of their binding resources.
#[test]
fn kernels_of_key_switches_are_near_their_bounds() {
    let sizes = [("ark", 4), ("ark", 32), ("dprive", 4), ("bts1", 32), ("bts2", 32), ("bts3", 32)];
    let cases: Vec<_> = sizes.iter().flat_map(|&case| DATAFLOWS.map(|dataflow| (case, dataflow))).collect();
    let far = cases.into_par_iter().filter_map(|((set, vdm_mib), dataflow)| {
        let (program, machine) = (key_switch(set, dataflow), machine(vdm_mib));
        let runtime = Runtime::new(&program, &machine, Keys::Streamed).unwrap();
        let timeline = runtime.time(false).unwrap();
        let ratio = runtime.report(&timeline).compute.bound_ratio.unwrap();
        (!(1.0..=1.3).contains(&ratio)).then(|| format!("{set}, {vdm_mib} MiB, {dataflow}: {ratio:.3}"))
    });
    assert_eq!(far.collect::<Vec<_>>(), [""; 0]);
}

/// Shorter kernels may leave transfers less time: here, conversions in tiles take less time, but the program takes more.
#[test]
fn the_runtime_takes_the_variant_with_which_the_program_is_fastest() {
    let (program, machine) = (key_switch("ark", "ocs"), machine(4));
    let flow = Flow::of(&program);
    let launches = lift(&flow, Limits::for_degree(program.degree().get(), &machine));
    let variants = variants(&program, &launches, &machine).unwrap();
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
