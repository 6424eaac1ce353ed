//! More of a resource, at the same clock, seldom costs time.
//!
//! `MONOTONY_CASES=200 cargo test -p runtime --test all monotony -- --nocapture` prints the pairs that it does cost.

use crate::measures::{Recipes, cases, machine, program};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use runtime::{Keys, Lifted, Merit, Runtime};
use sim::machine::Values;
use sim::{Clock, Machine};
use std::sync::Arc;

/// Times above this ratio are slower.
const SLOWER: f64 = 1.01;

/// The cycles of a program; `None` if it does not fit.
fn cycles(lifted: Arc<Lifted<'_>>, machine: &Machine) -> Option<f64> {
    let runtime = Runtime::of(lifted, machine, (Keys::Streamed, Merit::Cycles)).ok()?;
    Some(runtime.time(false).ok()?.total_ns * Clock::of(machine).ghz())
}

/// A machine with other values, whose off-chip memory and VDM have the same speed in cycles.
fn with(machine: &Machine, edit: impl Fn(&mut Values)) -> Machine {
    let before = Clock::of(machine).ghz();
    let mut other = machine.clone();
    let access_cycles = machine.vdm_access_cycles();
    other
        .edit(|values| {
            values.vdm.access_cycles = access_cycles;
            edit(values);
        })
        .unwrap();
    let ratio = Clock::of(&other).ghz() / before;
    other
        .edit(|values| {
            values.hbm.gb_per_s *= ratio;
            values.hbm.latency_ns /= ratio;
        })
        .unwrap();
    other
}

#[test]
fn more_of_a_resource_seldom_costs_time() {
    // Its name, whether kernels are the same, and the doubled resource.
    type Resource = (&'static str, bool, fn(&mut Values));
    let resources: [Resource; 3] = [
        ("VDM", false, |values| values.vdm.size_mib *= 2),
        ("HPLEs", false, |values| values.hple.count *= 2),
        ("bandwidth", true, |values| values.hbm.gb_per_s *= 2.0),
    ];
    let (mut rng, recipes) = (Random::seed_from_u64(2), Recipes::default());
    let mut ratios = [const { Vec::new() }; 3];
    let count = cases("MONOTONY_CASES", 2);
    let mut done = 0;
    while done < count {
        let ((program, name), machine) = (program(&mut rng), machine(&mut rng));
        let own = with(&machine, |_| {});
        let Some(lifted) = recipes.lift(&program, &own) else { continue };
        let Some(before) = cycles(Arc::clone(&lifted), &own) else { continue };
        done += 1;
        for ((resource, has_same_kernels, edit), ratios) in resources.iter().zip(&mut ratios) {
            let more = with(&machine, edit);
            let lifted =
                if *has_same_kernels { Some(Arc::clone(&lifted)) } else { recipes.lift(&program, &more) };
            let ratio =
                lifted.and_then(|lifted| cycles(lifted, &more)).expect("more room than before") / before;
            if ratio > SLOWER {
                println!(
                    "{ratio:.3} with more {resource}: {name}, {} HPLEs, {} banks, {} MiB, {} GB/s, {} bits",
                    machine.hple.count,
                    machine.vdm.banks,
                    machine.vdm.size_mib,
                    machine.hbm.gb_per_s,
                    machine.isa.word_bits
                );
            }
            ratios.push(ratio);
        }
    }
    for ((resource, ..), ratios) in resources.iter().zip(&ratios) {
        let slower = ratios.iter().filter(|&&ratio| ratio > SLOWER).count();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        println!("more {resource}: {slower} of {} slower, at worst {worst:.3}", ratios.len());
        assert!(worst < 1.02 && 200 * slower <= ratios.len(), "more {resource}");
    }
}
