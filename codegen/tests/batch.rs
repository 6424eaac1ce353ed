//! Programs that work in several rings.

use b512_asm::Function;
use codegen::library::{BUILT_IN, Entry};
use codegen::{Error, Kernel, PlanChoice, Request, Ring, check, generate, golden};
use ring::number::largest_primes;
use sim::Machine;
use sim::functional::Executor;
use sim::timing::simulate;

/// The entries of the library for batches.
fn entries() -> impl Iterator<Item = &'static Entry> {
    BUILT_IN.entry.iter().filter(|entry| entry.towers > 1)
}

fn request(operation: Function, n: u32, towers: usize) -> Request {
    let moduli = largest_primes(128, n.into(), towers).unwrap();
    let rings = moduli.into_iter().map(|modulus| Ring::new(operation, n, modulus).unwrap()).collect();
    Request { operation, n, rings }
}

/// Runs a kernel on operands without pattern and compares the result of each ring.
fn compute(kernel: &Kernel, machine: &Machine) {
    let mut executor = Executor::new(machine.vdm_words(), machine.sdm_words());
    executor.load(&kernel.program).unwrap();
    let mut state = 1u128;
    let mut operands = Vec::new();
    for equation in &kernel.program.equations {
        let mut operand = || -> Vec<u128> {
            let mut next = || {
                state = state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15);
                state.rotate_right(64) % equation.modulus
            };
            (0..equation.n).map(|_| next()).collect()
        };
        let of_equation: Vec<Vec<u128>> = equation.inputs.iter().map(|_| operand()).collect();
        for (name, operand) in equation.inputs.iter().zip(&of_equation) {
            executor.write(name, operand).unwrap();
        }
        operands.push(of_equation);
    }
    executor.run().unwrap();
    for (equation, operands) in kernel.program.equations.iter().zip(&operands) {
        let operands: Vec<&[u128]> = operands.iter().map(Vec::as_slice).collect();
        let result = executor.read(&equation.output).unwrap();
        assert_eq!(golden::check(equation, &operands, result), Ok(()), "{}", equation.output);
    }
}

#[test]
fn sixteen_small_transforms_share_a_machine() {
    for n in [1024, 2048, 4096] {
        let entry = entries().find(|entry| entry.n == n && entry.function == "ntt").unwrap();
        let machine = entry.targets[0].machine.machine();
        let kernel = generate(&request(Function::Ntt, n, 16), &machine, &PlanChoice::Best).unwrap();
        assert_eq!(kernel.program.equations.len(), 16);
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
    for function in Function::ALL {
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
    let refused = |towers| generate(&request(Function::Ntt, 1024, towers), &machine, &PlanChoice::Classical);
    assert_eq!(refused(0).unwrap_err(), Error::NoRing);
    assert!(refused(31).is_ok());
    let error = refused(32).unwrap_err();
    assert!(matches!(error, Error::TooManyRings { towers: 32, needed: 66, .. }), "{error}");
}
