//! More of a resource, at the same clock, seldom costs time.
//!
//! `MONOTONY_CASES=200 cargo test -p runtime --test all monotony -- --nocapture` prints the pairs that it does cost.

use crate::measures::{cases, machine, program};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use ring_program::RingProgram;
use runtime::{Keys, Runtime};
use sim::machine::Values;
use sim::{Clock, Machine};

/// Times above this ratio are slower.
const SLOWER: f64 = 1.01;

/// The cycles of a program; `None` if it does not fit.
fn cycles(program: &RingProgram, machine: &Machine) -> Option<f64> {
    let timeline = Runtime::new(program, machine, Keys::Streamed).ok()?.time(false).ok()?;
    Some(timeline.total_ns * Clock::of(machine).ghz())
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
    type Resource = (&'static str, fn(&mut Values));
    let resources: [Resource; 3] = [
        ("VDM", |values| values.vdm.size_mib *= 2),
        ("HPLEs", |values| values.hple.count *= 2),
        ("bandwidth", |values| values.hbm.gb_per_s *= 2.0),
    ];
    let mut rng = Random::seed_from_u64(2);
    let mut ratios = [const { Vec::new() }; 3];
    let count = cases("MONOTONY_CASES", 2);
    let mut done = 0;
    while done < count {
        let ((program, name), machine) = (program(&mut rng), machine(&mut rng));
        let Some(before) = cycles(&program, &with(&machine, |_| {})) else { continue };
        done += 1;
        for ((resource, edit), ratios) in resources.iter().zip(&mut ratios) {
            let ratio = cycles(&program, &with(&machine, edit)).expect("more room than before") / before;
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
    for ((resource, _), ratios) in resources.iter().zip(&ratios) {
        let slower = ratios.iter().filter(|&&ratio| ratio > SLOWER).count();
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        println!("more {resource}: {slower} of {} slower, at worst {worst:.3}", ratios.len());
        assert!(worst < 1.02 && 20 * slower <= ratios.len(), "more {resource}");
    }
}
