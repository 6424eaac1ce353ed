//! Programs that work in several rings.

use codegen::library::{BUILT_IN, Task};
use codegen::{Error, Kernel, PlanChoice, Request, check, generate};
use golden::Operation;
use ring::Degree;
use sim::Machine;
use sim::functional::Executor;
use sim::timing::simulate;

/// The tasks of the library for batches.
fn tasks() -> impl Iterator<Item = &'static Task> {
    BUILT_IN.tasks().filter(|task| task.towers > 1)
}

fn request(operation: Operation, n: u32, towers: usize) -> Request {
    Request::with_primes(operation, Degree::try_from(n).unwrap(), 128, towers).unwrap()
}

/// Runs a kernel on pseudo-random operands and compares the result of each ring.
fn compute(kernel: &Kernel, machine: &Machine) {
    let mut executor = Executor::new(machine.vdm_words(), machine.sdm_words());
    executor.load(&kernel.program).unwrap();
    let mut state = 1u128;
    let mut operands = Vec::new();
    for claim in &kernel.program.claims {
        let n = claim.number("n").unwrap() as usize;
        let mut operand = |modulus: u128| -> Vec<u128> {
            let mut next = || {
                state = state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15);
                state.rotate_right(64) % modulus
            };
            (0..n).map(|_| next()).collect()
        };
        let moduli = golden::moduli(claim).unwrap().inputs;
        let of_claim: Vec<Vec<u128>> = moduli.into_iter().map(&mut operand).collect();
        for (name, operand) in claim.inputs.iter().zip(&of_claim) {
            executor.write(name, operand).unwrap();
        }
        operands.push(of_claim);
    }
    executor.run().unwrap();
    for (claim, operands) in kernel.program.claims.iter().zip(&operands) {
        let operands: Vec<&[u128]> = operands.iter().map(Vec::as_slice).collect();
        let results: Vec<&[u128]> = claim.outputs.iter().map(|name| executor.read(name).unwrap()).collect();
        assert_eq!(golden::compare(claim, &operands, &results), Ok(()), "{claim}");
    }
}

#[test]
fn sixteen_small_transforms_share_a_machine() {
    for n in [1024, 2048, 4096] {
        let task = tasks().find(|task| task.n == n && task.operation == "ntt").unwrap();
        let machine = task.entries[0].targets[0].machine.machine();
        let kernel = generate(&request(golden::NTT, n, 16), &machine, &PlanChoice::Best).unwrap();
        assert_eq!(kernel.program.claims.len(), 16);
        compute(&kernel, &machine);
        check::lowering(&kernel.code).unwrap();
        check::schedule(&kernel.code, &kernel.program).unwrap();

        let cycles = simulate(&machine, &kernel.program).cycles.0;
        let bound: u64 = kernel.bounds(&machine).iter().map(|pass| pass.resource.0).sum();
        assert!(cycles * 10 <= bound * 13, "n = {n}: {cycles} cycles, the bound is {bound}");
    }
}

#[test]
fn every_function_works_in_several_rings() {
    let machine = Machine::rpu_128x128();
    for function in golden::OPERATIONS.iter().copied() {
        for plan in [PlanChoice::Classical, PlanChoice::Best] {
            let kernel = generate(&request(function, 1024, 3), &machine, &plan).unwrap();
            compute(&kernel, &machine);
            check::lowering(&kernel.code).unwrap();
            check::schedule(&kernel.code, &kernel.program).unwrap();
        }
    }
}

#[test]
fn the_number_of_rings_is_checked() {
    let machine = Machine::rpu_128x128();
    let refused = |towers| generate(&request(golden::NTT, 1024, towers), &machine, &PlanChoice::Classical);
    let none = Request::with_primes(golden::NTT, Degree::new(1024).unwrap(), 128, 0);
    assert_eq!(none, Err(ring::Error::EmptyBasis));
    assert!(refused(31).is_ok());
    let error = refused(32).unwrap_err();
    assert!(matches!(error, Error::TooManyRings { towers: 32, needed: 66, .. }), "{error}");
}
