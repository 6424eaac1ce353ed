//! Operations without a transform, and methods without plans, on random and extreme words, for degrees and
//! moduli of all sizes.

use b512_asm::{Claim, Isa, Op, Setting};
use codegen::schedule::Tuning;
use codegen::{
    Kernel, Order, Parameters, PlanChoice, Recipe, Request, check, choose, compile, compile_within, generate,
    named,
};
use golden::Range;
use ring::Degree;
use ring::prime::largest_prime;
use sim::functional::Executor;
use sim::timing::simulate;
use sim::{Machine, lint};

fn request(operation: golden::Operation, n: u32, bits: u32) -> Request {
    let degree = Degree::try_from(n).unwrap();
    let modulus = largest_prime(bits, degree).unwrap();
    Request::single(operation, Request::ring(operation, degree, modulus, None).unwrap())
}

/// Runs the kernel on operands whose words come from `word(operand, index)`, and compares the results.
fn compute(kernel: &Kernel, machine: &Machine, word: &dyn Fn(u128, u128) -> u128) {
    compute_at(kernel, machine, &kernel.program.claims[0].outputs, word);
}

/// As [`compute`], with the results in other symbols.
fn compute_at(kernel: &Kernel, machine: &Machine, outputs: &[String], word: &dyn Fn(u128, u128) -> u128) {
    let mut executor = Executor::for_machine(machine);
    executor.load(&kernel.program).unwrap();
    let claim: &Claim = &kernel.program.claims[0];
    let n = claim.number("n").unwrap();
    let operands: Vec<Vec<u128>> =
        (0..claim.inputs.len() as u128).map(|operand| (0..n).map(|i| word(operand, i)).collect()).collect();
    for (name, operand) in claim.inputs.iter().zip(&operands) {
        executor.write(name, operand).unwrap();
    }
    executor.run().unwrap();
    let operands: Vec<&[u128]> = operands.iter().map(Vec::as_slice).collect();
    let results: Vec<_> = outputs.iter().map(|name| executor.read(name).unwrap()).collect();
    let results: Vec<&[u128]> = results.iter().map(Vec::as_slice).collect();
    assert_eq!(golden::compare(claim, &operands, &results), Ok(()), "{claim}");
}

/// A word without pattern.
fn random(operand: u128, i: u128) -> u128 {
    let state = (operand << 64 | i).wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15);
    (state ^ state >> 61).wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15).rotate_right(64)
}

/// The request with each of several scalars; the request itself if the operation has none.
fn with_scalars(request: Request) -> Vec<Request> {
    let q = request.rings[0].q();
    let parameters: Vec<&str> = request.operation.parameters().map(|spec| spec.name).collect();
    if parameters.is_empty() {
        return vec![request];
    }
    let with = |scalar| {
        let values = parameters.iter().map(|&name| (name.to_owned(), Setting::Number(scalar)));
        request.clone().with(Parameters::new(values.collect()))
    };
    // Large kernels are slow to check.
    let scalars = [random(9, 9), 0, 1, q - 1, q];
    scalars.into_iter().take(if request.n() == 65536 { 1 } else { 5 }).map(with).collect()
}

#[test]
fn operations_without_a_transform_equal_the_golden_model() {
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.vdm.size_mib = 32).unwrap();
    let operations = [golden::NEG, golden::ADDS, golden::SUBS, golden::MULS];
    for operation in operations {
        for n in [1024, 4096, 65536] {
            for bits in [30, 60, 100, 127, 128] {
                for request in with_scalars(request(operation, n, bits)) {
                    let q = request.rings[0].q();
                    let kernel = generate(&request, &machine, &PlanChoice::Classical).unwrap();
                    if n < 65536 || bits == 128 {
                        check::lowering(&kernel.code).unwrap();
                        check::schedule(&kernel.code, &kernel.program).unwrap();
                    }
                    let ends = [0, q - 1, 1, q / 2];
                    compute(&kernel, &machine, &|operand, i| random(operand, i) % q);
                    compute(&kernel, &machine, &|operand, i| ends[(i + i / 4 * operand) as usize % 4]);
                    if operation.inputs().iter().all(|operand| operand.range == Range::Word) {
                        let ends = [q, u128::MAX, q - 1, u128::MAX / q * q];
                        compute(&kernel, &machine, &|operand, i| ends[(i + operand) as usize % 4]);
                        compute(&kernel, &machine, &random);
                    }
                }
            }
        }
    }
}

/// The smallest polynomials: one vector each.
#[test]
fn polynomials_of_one_vector_equal_the_golden_model() {
    let mut machine = Machine::rpu_128x128();
    for gs_butterfly in [false, true] {
        machine.edit(|values| values.isa.gs_butterfly = gs_butterfly).unwrap();
        for operation in golden::OPERATIONS.iter().copied() {
            let request = |bits, towers| {
                let degree = Degree::try_from(512u32).unwrap();
                let request = Request::with_primes(operation, degree, bits, towers).unwrap();
                request.with(Parameters::new(operation.examples()))
            };
            // One search for moduli of all sizes.
            for requests in [vec![request(30, 1), request(128, 1)], vec![request(60, 3)]] {
                for plan in [PlanChoice::Classical, PlanChoice::Best] {
                    let recipe = choose(&requests[0], &machine, &plan).unwrap().recipe;
                    for request in &requests {
                        let kernel = compile(request, &recipe, &machine).unwrap();
                        check::lowering(&kernel.code).unwrap();
                        check::schedule(&kernel.code, &kernel.program).unwrap();
                        if let [ring] = &request.rings[..] {
                            let q = ring.q();
                            compute(&kernel, &machine, &|operand, i| random(operand, i) % q);
                            compute(&kernel, &machine, &|_, _| q - 1);
                        }
                    }
                }
            }
        }
    }
}

/// A recipe of the method `streams`, which needs no plan.
fn streams() -> Recipe {
    Recipe {
        tuning: Tuning::default(),
        order: Order::ByStep,
        stagger: None,
        forwarding: None,
        method: Some("streams".to_owned()),
        plans: Vec::new(),
    }
}

/// Transforms by streams, from one vector to four.
#[test]
fn transforms_by_streams_equal_the_golden_model() {
    for (vector_length, degrees) in [(512, [512u32, 1024, 2048]), (64, [64, 128, 256])] {
        let mut machine = Machine::rpu_128x128();
        machine
            .edit(|values| {
                values.isa.vector_length = vector_length;
                values.hple.count = 32;
            })
            .unwrap();
        for n in degrees {
            for (operation, bits) in [(golden::NTT, 30), (golden::NTT, 128), (golden::INTT, 128)] {
                let degree = Degree::try_from(n).unwrap();
                let request = Request::with_primes(operation, degree, bits, 1).unwrap();
                let kernel = compile(&request, &streams(), &machine).unwrap();
                check::lowering(&kernel.code).unwrap();
                check::schedule(&kernel.code, &kernel.program).unwrap();
                assert_eq!(lint::errors(&kernel.program, &machine), []);
                let q = request.rings[0].q();
                compute(&kernel, &machine, &|operand, i| random(operand, i) % q);
                compute(&kernel, &machine, &|_, _| q - 1);
                compute(&kernel, &machine, &|_, i| u128::from(i + 1 == u128::from(n)));
            }
        }
    }
}

/// Transforms by streams in two rings together.
#[test]
fn streams_of_several_rings_are_proven() {
    let request = Request::with_primes(golden::NTT, Degree::try_from(1024u32).unwrap(), 60, 2).unwrap();
    let kernel = compile(&request, &streams(), &Machine::rpu_128x128()).unwrap();
    check::lowering(&kernel.code).unwrap();
    check::schedule(&kernel.code, &kernel.program).unwrap();
}

/// A wrong sign, a wrong factor or a wrong half makes the proof of a transform by streams fail.
#[test]
fn faults_in_streams_are_found() {
    const FAULTS: [(Op, Op); 5] = [
        (Op::Vadd, Op::Vsub),
        (Op::Unpkhi, Op::Unpklo),
        (Op::Unpklo, Op::Pklo),
        (Op::Pkhi, Op::Pklo),
        (Op::Pklo, Op::Unpklo),
    ];
    for operation in [golden::NTT, golden::INTT] {
        let request = Request::with_primes(operation, Degree::try_from(1024u32).unwrap(), 60, 1).unwrap();
        let code = compile(&request, &streams(), &Machine::rpu_128x128()).unwrap().code;
        for (from, to) in FAULTS {
            for number in (0..code.insts.len()).filter(|&number| code.insts[number].op == from) {
                let mut wrong = code.clone();
                wrong.insts[number].op = to;
                assert!(check::lowering(&wrong).is_err(), "instruction {number}: {to:?} for {from:?}");
            }
        }
        for constant in 0..code.constants.len() {
            let mut wrong = code.clone();
            let numbers = &mut wrong.constants[constant].numbers;
            let half = numbers.len() / 2;
            numbers.rotate_right(half);
            assert!(check::lowering(&wrong).is_err(), "constant {constant}");
        }
    }
}

#[test]
fn a_polynomial_of_many_vectors_has_no_streams() {
    let request = Request::with_primes(golden::NTT, Degree::try_from(16384u32).unwrap(), 60, 1).unwrap();
    let error = compile(&request, &streams(), &Machine::rpu_128x128()).unwrap_err();
    let expected =
        "method `streams` of `ntt` does not apply: it takes up to 4 vectors, 2048 coefficients in all";
    assert_eq!(error.to_string(), expected);
}

/// A copy is not the product by one: it leaves words that are not reduced. It is the sum with 0.
#[test]
fn a_copy_is_a_sum_with_zero_but_no_reduction() {
    let machine = Machine::rpu_128x128();
    for (operation, scalar, is_copy) in
        [(golden::ADDS, 0, true), (golden::MULS, 1, false), (golden::ADDS, 1, false)]
    {
        let values = vec![("by".to_owned(), Setting::Number(scalar))];
        let request = request(operation, 1024, 60).with(Parameters::new(values));
        let mut code = generate(&request, &machine, &PlanChoice::Classical).unwrap().code;
        check::lowering(&code).unwrap();
        // The stores accept what the loads deliver.
        let loaded: Vec<_> = code.insts.iter().filter(|inst| inst.op == Op::Vload).cloned().collect();
        let stores = code.insts.iter_mut().filter(|inst| inst.op == Op::Vstore);
        for (store, load) in stores.zip(&loaded) {
            store.sources = load.results;
        }
        assert_eq!(check::lowering(&code).is_ok(), is_copy, "{operation} {scalar}");
    }
}

/// Generated programs read no value before they write it, and stay inside the memories.
#[test]
fn generated_programs_have_no_defects() {
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.vdm.size_mib = 32).unwrap();
    let cases =
        [(512u32, 1, PlanChoice::Classical), (4096, 2, PlanChoice::Unoptimised), (4096, 1, PlanChoice::Best)];
    for &operation in golden::OPERATIONS {
        for (n, towers, plan) in &cases {
            let degree = Degree::try_from(*n).unwrap();
            let request = Request::with_primes(operation, degree, 60, *towers).unwrap();
            let request = request.with(Parameters::new(operation.examples()));
            let program = generate(&request, &machine, plan).unwrap().program;
            assert_eq!(lint::errors(&program, &machine), [], "{} {plan:?}", program.name);
        }
    }
}

/// Products in four times the memory of a polynomial: the operands, the result and the tables. They are about
/// as fast as in a large memory.
#[test]
fn products_need_four_times_the_memory_of_a_polynomial() {
    let mut machine = Machine::rpu_128x128();
    for (n, size_mib, gs_butterfly, plan) in [
        (16384, 1, false, PlanChoice::Classical),
        (16384, 1, true, PlanChoice::Best),
        (32768, 2, false, PlanChoice::Best),
    ] {
        machine
            .edit(|values| {
                values.vdm.size_mib = size_mib;
                values.isa.gs_butterfly = gs_butterfly;
            })
            .unwrap();
        let request = request(golden::POLYMUL, n, 128);
        let q = request.rings[0].q();
        let kernel = generate(&request, &machine, &plan).unwrap();
        let end = kernel.program.symbols.iter().map(|symbol| symbol.start + symbol.words).max();
        assert!(end.unwrap() <= 4 * n, "{end:?}");
        check::lowering(&kernel.code).unwrap();
        check::schedule(&kernel.code, &kernel.program).unwrap();
        compute(&kernel, &machine, &|operand, i| random(operand, i) % q);
        compute(&kernel, &machine, &|_, _| q - 1);
        if n == 32768 {
            let mut large = machine.clone();
            // As fast a memory and the same recipes: a search for the large machine would compare searches.
            large.edit(|values| (values.vdm.size_mib, values.vdm.access_cycles) = (32, 1)).unwrap();
            let known = generate(&request, &large, &PlanChoice::Known).unwrap();
            let [small, large] = [(&kernel, &machine), (&known, &large)]
                .map(|(kernel, machine)| simulate(machine, &kernel.program).cycles.0);
            assert!(10 * small <= 11 * large, "{small} cycles, in a large memory {large}");
        }
    }
}

/// The result of a kernel that may work in place is right in the memory of its operand; with large tables and
/// small ones.
#[test]
fn kernels_that_may_work_in_place_equal_the_golden_model_there() {
    let machine = Machine::rpu_128x128();
    let mut in_place = 0;
    for operation in [golden::NTT, golden::INTT] {
        for n in [1024, 16384, 65536] {
            let request = request(operation, n, 128);
            let q = request.rings[0].q();
            let recipe = choose(&request, &machine, &PlanChoice::Best).unwrap().recipe;
            for words in [machine.vdm_words(), 0] {
                let mut kernel = compile_within(&request, &recipe, &machine, words).unwrap();
                check::lowering(&kernel.code).unwrap();
                check::schedule(&kernel.code, &kernel.program).unwrap();
                if !kernel.may_work_in_place() {
                    continue;
                }
                in_place += 1;
                let claim = kernel.program.claims[0].clone();
                let start = |name: &String| {
                    let symbol = kernel.program.symbols.iter().find(|symbol| symbol.name == *name);
                    symbol.expect("the operand and the result have symbols").start
                };
                let [from, to] = [&claim.outputs[0], &claim.inputs[0]].map(start);
                let register = kernel.program.addresses.iter_mut().find(|(_, word)| *word == from);
                register.expect("the result has an address").1 = to;
                compute_at(&kernel, &machine, &claim.inputs, &|operand, i| random(operand, i) % q);
            }
        }
    }
    assert!(in_place >= 4, "{in_place}");
}

/// The rings of operations with transforms have roots.
#[test]
fn operations_with_transforms_need_roots() {
    for &operation in golden::OPERATIONS {
        let request = request(operation, 1024, 60);
        let recipe = named::constant_geometry(&request, Isa::B512);
        assert_eq!(operation.needs_root(), !recipe.plans.is_empty(), "{operation}");
    }
}
