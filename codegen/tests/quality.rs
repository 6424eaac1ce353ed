//! The quality of schedules on machines other than the paper's.

use codegen::{PlanChoice, Request, generate};
use ring::Degree;
use sim::Machine;
use sim::timing::simulate;

fn cycles(n: u32, plan: &PlanChoice, machine: &Machine) -> u64 {
    let request = Request::with_primes(golden::NTT, Degree::try_from(n).unwrap(), 60, 1).unwrap();
    simulate(machine, &generate(&request, machine, plan).unwrap().program).cycles.0
}

/// The delay between dispatch and issue lengthens each dependence, but it does not idle the pipes.
#[test]
fn an_issue_delay_does_not_stall_the_scheduler() {
    let mut machine = Machine::rpu_128x128();
    for n in [4096, 16384, 65536] {
        let without = cycles(n, &PlanChoice::Best, &Machine::rpu_128x128());
        for delay in 1..=4 {
            machine.frontend.dispatch_to_issue_cycles = delay;
            let best = cycles(n, &PlanChoice::Best, &machine);
            assert!(100 * best <= 135 * without, "n = {n}, delay {delay}: {best} cycles, {without} without");
            let classical = cycles(n, &PlanChoice::Classical, &machine);
            assert!(
                best <= classical,
                "n = {n}, delay {delay}: {best} cycles, the classical pair {classical}"
            );
        }
    }
}

/// A machine that the library was not tuned for gets the fastest of the library's recipes, not that
/// of the machine with the same numbers of HPLEs and banks.
#[test]
fn a_faster_multiplier_is_not_slower() {
    let mut machine = Machine::rpu_128x128();
    machine.vdm.banks = 64;
    let slow = cycles(16384, &PlanChoice::Best, &machine);
    machine.hple.multiplier_latency_cycles = 8;
    let fast = cycles(16384, &PlanChoice::Best, &machine);
    assert!(fast <= slow, "latency 8: {fast} cycles, 11: {slow} cycles");
}
