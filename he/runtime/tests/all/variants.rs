//! The choice among variants of kernels.

use programs::{Options, ParameterSet, find_dataflow, find_program, generate};
use runtime::choose::Candidates;
use runtime::{Flow, Keys, Limits, Plan, Runtime, lift};
use sim::{MachineBase, Override};

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
    let variants = candidates.variants(&program, &launches, &machine).unwrap();
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
