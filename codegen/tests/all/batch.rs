//! Programs that work in several rings.

use b512_asm::Setting;
use codegen::library::{BUILT_IN, Task};
use codegen::{Error, Kernel, Parameters, PlanChoice, Request, check, generate};
use golden::Operation;
use rayon::prelude::*;
use ring::Degree;
use sim::Machine;
use sim::functional::Executor;
use sim::timing::simulate;

/// The tasks of the library for batches.
fn tasks() -> impl Iterator<Item = &'static Task> {
    BUILT_IN.tasks().filter(|task| task.towers > 1)
}

/// An operation in the rings of the largest primes, with the examples of its parameters.
fn example(operation: Operation, n: u32, bits: u32, towers: usize) -> Request {
    let request = Request::with_primes(operation, Degree::try_from(n).unwrap(), bits, towers).unwrap();
    request.with(Parameters::new(operation.examples()))
}

fn request(operation: Operation, n: u32, towers: usize) -> Request {
    example(operation, n, 128, towers)
}

/// A word without pattern.
fn random(operand: u128, i: u128, q: u128) -> u128 {
    let state = (operand << 64 | i).wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15);
    (state ^ state >> 61).wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15).rotate_right(64) % q
}

/// The ends and the middle of the residues in turn.
fn ends(operand: u128, i: u128, q: u128) -> u128 {
    [0, q - 1, q / 2, q / 2 + 1][((i + operand) % 4) as usize]
}

/// Runs a kernel on operands whose words come from `word(operand, index, modulus)`, and compares the result
/// of each ring.
fn compute(kernel: &Kernel, machine: &Machine, word: &dyn Fn(u128, u128, u128) -> u128) {
    let mut executor = Executor::for_machine(machine);
    executor.load(&kernel.program).unwrap();
    let mut operands = Vec::new();
    for claim in &kernel.program.claims {
        let (n, q) = (claim.number("n").unwrap(), golden::modulus(claim).unwrap());
        let operand = |operand: u128| (0..n).map(|i| word(operand, i, q)).collect::<Vec<_>>();
        let of_claim: Vec<_> = (0..claim.inputs.len() as u128).map(operand).collect();
        for (name, operand) in claim.inputs.iter().zip(&of_claim) {
            executor.write(name, operand).unwrap();
        }
        operands.push(of_claim);
    }
    executor.run().unwrap();
    for (claim, operands) in kernel.program.claims.iter().zip(&operands) {
        let operands: Vec<&[u128]> = operands.iter().map(Vec::as_slice).collect();
        let results: Vec<_> = claim.outputs.iter().map(|name| executor.read(name).unwrap()).collect();
        let results: Vec<&[u128]> = results.iter().map(Vec::as_slice).collect();
        assert_eq!(golden::compare(claim, &operands, &results), Ok(()), "{claim}");
    }
}

/// Every operation at every degree, modulo primes of every size. Beyond the smallest degree, each operation
/// has one size and one of the inputs; all of them if `RPU_EVERY_SIZE` is set, as in `.ci/long`.
#[test]
fn every_operation_equals_the_golden_model_at_every_size() {
    const SIZES: [u32; 5] = [30, 60, 100, 127, 128];
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.vdm.size_mib = 32).unwrap();
    let all = std::env::var_os("RPU_EVERY_SIZE").is_some();
    let mut cases = Vec::new();
    for (place, &operation) in golden::OPERATIONS.iter().enumerate() {
        for (n, towers) in [(1024u32, 2), (4096, 2), (65536, 1)] {
            for (turn, bits) in SIZES.into_iter().enumerate() {
                let is_whole = n == 1024 || all;
                if is_whole || place % SIZES.len() == turn {
                    cases.push((example(operation, n, bits, towers), is_whole));
                }
            }
        }
    }
    cases.into_par_iter().for_each(|(request, is_whole)| {
        let kernel = generate(&request, &machine, &PlanChoice::Classical).unwrap();
        compute(&kernel, &machine, &ends);
        if is_whole {
            compute(&kernel, &machine, &random);
            compute(&kernel, &machine, &|_, _, _| 0);
            compute(&kernel, &machine, &|_, _, q| q - 1);
            compute(&kernel, &machine, &|_, i, _| u128::from(i == 1));
        }
    });
}

/// A request without the parameters of its operation is an error.
#[test]
fn parameters_are_required() {
    let error = |operation, parameters| {
        let request = request(operation, 1024, 2).with(parameters);
        generate(&request, &Machine::rpu_128x128(), &PlanChoice::Classical).unwrap_err().to_string()
    };
    assert_eq!(
        error(golden::ADDS, Parameters::default()),
        "`adds` needs a value of `by`: scalar k, reduced modulo q"
    );
    let three = Parameters::by_ring(vec![("by".to_owned(), vec![Setting::Number(1); 3])]);
    assert_eq!(error(golden::ADDS, three), "`by` has 3 values, but the number of moduli is 2");
}

#[test]
fn sixteen_small_transforms_share_a_machine() {
    for n in [1024, 2048, 4096] {
        let task = tasks().find(|task| task.n == n && task.operation == "ntt").unwrap();
        let machine = task.entries[0].targets[0].machine.machine();
        let kernel = generate(&request(golden::NTT, n, 16), &machine, &PlanChoice::Best).unwrap();
        assert_eq!(kernel.program.claims.len(), 16);
        compute(&kernel, &machine, &random);
        check::lowering(&kernel.code).unwrap();
        check::schedule(&kernel.code, &kernel.program).unwrap();

        let cycles = simulate(&machine, &kernel.program).cycles.0;
        let bound: u64 = kernel.bounds(&machine).iter().map(|pass| pass.resource.0).sum();
        assert!(cycles * 10 <= bound * 13, "n = {n}: {cycles} cycles, the bound is {bound}");
    }
}

/// Several polynomials of one ring: each has an operand and a result of its own.
#[test]
fn a_ring_may_repeat() {
    let machine = Machine::rpu_128x128();
    for operation in [golden::NTT, golden::INTT, golden::AUTOMORPHISM] {
        let two = request(operation, 1024, 2);
        let rings = [0, 1, 0, 0].map(|ring: usize| two.rings[ring]).to_vec();
        let kernel = generate(&Request { rings, ..two }, &machine, &PlanChoice::Best).unwrap();
        assert_eq!(kernel.program.claims.len(), 4);
        compute(&kernel, &machine, &random);
        check::lowering(&kernel.code).unwrap();
        check::schedule(&kernel.code, &kernel.program).unwrap();
    }
}

#[test]
fn every_function_works_in_several_rings() {
    let machine = Machine::rpu_128x128();
    for function in golden::OPERATIONS.iter().copied() {
        for plan in [PlanChoice::Classical, PlanChoice::Best] {
            let kernel = generate(&request(function, 1024, 3), &machine, &plan).unwrap();
            compute(&kernel, &machine, &random);
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
