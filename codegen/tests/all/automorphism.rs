//! Automorphisms of every kind of exponent, in both orders.

use b512_asm::{LaneMap, Op, Pipe, Setting};
use codegen::schedule::Tuning;
use codegen::{Error, Kernel, Parameters, PlanChoice, Recipe, Request, check, classical, compile, generate};
use ring::modular::Modulus;
use ring::prime::largest_prime;
use ring::{Degree, Ring};
use sim::Machine;
use sim::functional::Executor;
use sim::machine::BankMapping;
use sim::timing::simulate;

/// The parameters for one exponent, or one for each ring.
fn parameters(exponents: &[u32], order: &str) -> Parameters {
    let exponents = exponents.iter().map(|&g| Setting::Number(g.into())).collect();
    let order = vec![Setting::Word(order.to_owned())];
    Parameters::by_ring(vec![("g".to_owned(), exponents), ("order".to_owned(), order)])
}

fn request(n: u32, bits: u32, g: u32, order: &str) -> Request {
    let degree = Degree::try_from(n).unwrap();
    let ring = Ring::new(degree, largest_prime(bits, degree).unwrap()).unwrap();
    Request::single(golden::AUTOMORPHISM, ring).with(parameters(&[g], order))
}

/// Automorphisms of values in as many rings as the method `memory` works on together.
fn batch(n: u32, rings: u32, exponents: &[u32]) -> Request {
    let degree = Degree::try_from(n).unwrap();
    let request = Request::with_primes(golden::AUTOMORPHISM, degree, 60, rings as usize).unwrap();
    request.with(parameters(exponents, "evaluation"))
}

/// The recipe of a method.
fn recipe(n: u32, method: &str) -> Recipe {
    let recipe = classical(golden::AUTOMORPHISM, n, 4, Tuning::default());
    Recipe { method: Some(method.to_owned()), ..recipe }
}

/// The paper's machine with banks that serve strided accesses, and with memory for several polynomials.
fn xor_machine() -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            values.vdm.mapping = BankMapping::Xor;
            values.vdm.size_mib = 32;
        })
        .unwrap();
    machine
}

fn kernel(n: u32, bits: u32, g: u32, order: &str, machine: &Machine) -> Kernel {
    generate(&request(n, bits, g, order), machine, &PlanChoice::Classical).unwrap()
}

/// Runs the kernel on these words, and compares the result.
fn compute(kernel: &Kernel, machine: &Machine, word: impl Fn(u128) -> u128) {
    let mut executor = Executor::for_machine(machine);
    executor.load(&kernel.program).unwrap();
    let x: Vec<u128> = (0..kernel.program.claims[0].number("n").unwrap()).map(word).collect();
    for claim in &kernel.program.claims {
        executor.write(&claim.inputs[0], &x).unwrap();
    }
    executor.run().unwrap();
    for claim in &kernel.program.claims {
        let y = executor.read(&claim.outputs[0]).unwrap();
        assert_eq!(golden::compare(claim, &[&x], &[&y]), Ok(()), "{claim}");
    }
}

/// Proves a kernel, and runs it on several operands.
fn prove(kernel: &Kernel, machine: &Machine) {
    let claim = &kernel.program.claims[0];
    check::lowering(&kernel.code).unwrap_or_else(|fault| panic!("{claim}: {fault}"));
    check::schedule(&kernel.code, &kernel.program).unwrap();
    let q = kernel.program.claims.iter().map(|claim| claim.number("modulus").unwrap()).min().unwrap();
    compute(kernel, machine, |i| (i * i * 0x1234_5678_9abc + 1) % q);
    compute(kernel, machine, |i| if i % 2 == 0 { q - 1 } else { 0 });
    // A monomial.
    compute(kernel, machine, |i| u128::from(i == 3));
}

/// 1, rotations by one slot and by several, conjugation, and arbitrary exponents.
fn exponents(n: u32) -> Vec<u32> {
    let power = |exponent: u32| (0..exponent).fold(1u32, |power, _| power.wrapping_mul(5) % (2 * n));
    vec![
        1,
        5,
        power(2),
        power(n / 8),
        power(n / 4),
        2 * n - 1,
        2 * n - 5,
        n + 1,
        n - 1,
        3,
        0x2_3457 % (2 * n),
    ]
}

#[test]
fn automorphisms_equal_the_golden_model() {
    let machine = Machine::rpu_128x128();
    for order in ["evaluation", "coefficients"] {
        for (n, bits) in [(512, 30), (1024, 128), (2048, 127), (4096, 60), (65536, 100)] {
            let exponents = exponents(n);
            let number = if n == 65536 { 1 } else { exponents.len() };
            for &g in &exponents[exponents.len() - number..] {
                prove(&kernel(n, bits, g, order, &machine), &machine);
            }
        }
    }
}

/// The loads and stores of the method `memory`, with all polynomials that it needs. Equal rings of a group
/// have one exponent, and groups have their own.
#[test]
fn loads_and_stores_equal_the_golden_model() {
    let machine = xor_machine();
    for (n, rings) in [(1024, 256), (4096, 64), (65536, 4)] {
        for g in [5, 2 * n - 1, 0x2_3457 % (2 * n)] {
            let request = batch(n, rings, &[g]);
            let kernel = compile(&request, &recipe(n, "memory"), &machine).unwrap();
            prove(&kernel, &machine);
            // Seven accesses a vector; fewer if few columns have a second copy.
            let counts = simulate(&machine, &kernel.program).instructions;
            let expected = if g == 5 { 6 * 512 + 4 } else { 7 * 512 };
            let [accesses, arithmetic, shuffles] = Pipe::VECTOR.map(|pipe| counts[pipe]);
            assert!(accesses <= expected && [arithmetic, shuffles] == [0, 0], "n = {n}, g = {g}: {counts:?}");
        }
    }
    let request = batch(65536, 8, &[5, 5, 5, 5, 25, 25, 25, 25]);
    prove(&compile(&request, &recipe(65536, "memory"), &machine).unwrap(), &machine);
}

#[test]
fn methods_that_do_not_apply_are_errors() {
    let machine = Machine::rpu_128x128();
    let error = |request: &Request, method: &str| -> Error {
        compile(request, &recipe(request.n(), method), &machine).unwrap_err()
    };
    let single = request(65536, 60, 5, "evaluation");
    assert_eq!(
        error(&single, "nearby").to_string(),
        "unknown method `nearby` of `automorphism`; its methods are `permuter`, `network`, `memory`"
    );
    assert_eq!(
        error(&single, "memory").to_string(),
        "method `memory` of `automorphism` does not apply: with n = 65536, it works on 4 polynomials together, \
         and 1 is no multiple of 4"
    );
    assert_eq!(
        error(&batch(65536, 4, &[5, 5, 5, 25]), "memory").to_string(),
        "method `memory` of `automorphism` does not apply: 4 polynomials that are moved together must have one \
         exponent g"
    );
}

/// With the extension, the lane permuter needs one shuffle for each vector, and no other method is preferred.
#[test]
fn lane_permuters_equal_the_golden_model() {
    let mut machine = Machine::rpu_128x128();
    assert_eq!(
        compile(&request(1024, 60, 5, "evaluation"), &recipe(1024, "permuter"), &machine)
            .unwrap_err()
            .to_string(),
        "method `permuter` of `automorphism` does not apply: the machine has no lane permuter \
         (`isa.lane_permuter`)"
    );
    machine.edit(|values| values.isa.lane_permuter = true).unwrap();
    for (n, bits) in [(512, 30), (1024, 128), (4096, 60), (65536, 100)] {
        let exponents = exponents(n);
        let number = if n == 65536 { 2 } else { exponents.len() };
        for &g in &exponents[exponents.len() - number..] {
            let kernel = kernel(n, bits, g, "evaluation", &machine);
            prove(&kernel, &machine);
            let counts = simulate(&machine, &kernel.program).instructions;
            let vectors = u64::from(n / 512);
            assert!(counts[Pipe::Shuffle] <= vectors && counts[Pipe::Compute] == 0, "{counts:?}");
        }
    }
    // A map with another shift is found.
    let mut code = kernel(1024, 60, 5, "evaluation", &machine).code;
    let map = code.insts.iter_mut().find_map(|inst| inst.map.as_mut()).unwrap();
    *map = LaneMap::new(map.multiplier(), map.shift() ^ 1).unwrap();
    assert!(check::lowering(&code).is_err());
    // Coefficients keep the network.
    prove(&kernel(1024, 60, 5, "coefficients", &machine), &machine);
}

/// A transform with the root psi^g equals the transform with psi, followed by the automorphism. It is as fast
/// as any transform.
#[test]
fn transforms_with_other_roots_are_automorphisms() {
    let machine = Machine::rpu_128x128();
    for (n, g) in [(1024u32, 5u32), (4096, 8191), (65536, 0x1_2345)] {
        let degree = Degree::try_from(n).unwrap();
        let ring = Ring::with_smallest_root(degree, largest_prime(60, degree).unwrap()).unwrap();
        let (q, psi) = (ring.q(), ring.root().unwrap());
        let root = Modulus::new(q).unwrap().pow(psi, g.into());
        let transform = |ring| {
            let request = Request::single(golden::NTT, ring);
            generate(&request, &machine, &PlanChoice::Known).unwrap()
        };
        let plain = transform(ring);
        let kernel = transform(Ring::with_root(degree, q, root).unwrap());
        check::lowering(&kernel.code).unwrap();
        check::schedule(&kernel.code, &kernel.program).unwrap();
        let cycles = |kernel: &Kernel| simulate(&machine, &kernel.program).cycles;
        assert_eq!(cycles(&kernel), cycles(&plain));

        let words: [&dyn Fn(u128) -> u128; 3] =
            [&|i| (i * i * 0x1234_5678_9abc + 1) % q, &|_| q - 1, &|i| u128::from(i == 3)];
        for word in words {
            let x: Vec<u128> = (0..n.into()).map(word).collect();
            let values = golden::evaluate(&plain.program.claims[0], &[&x]).unwrap();
            let mut claim = golden::AUTOMORPHISM.in_ring(n, q, 0);
            claim.settings.push(("g".into(), Setting::Number(g.into())));
            claim.settings.push(("order".into(), Setting::Word("evaluation".into())));
            let mut executor = Executor::new(machine.vdm_words(), machine.sdm_words());
            executor.load(&kernel.program).unwrap();
            executor.write("x", &x).unwrap();
            executor.run().unwrap();
            let y = executor.read("y").unwrap();
            assert_eq!(golden::compare(&claim, &[&values[0]], &[&y]), Ok(()), "n = {n}, g = {g}");
        }
    }
}

/// An exchange of the wrong lanes is found.
#[test]
fn wrong_networks_are_refused() {
    let machine = Machine::rpu_128x128();
    for order in ["evaluation", "coefficients"] {
        let kernel = kernel(1024, 60, 5, order, &machine);
        let mut exchanges = 0;
        for number in 0..kernel.code.insts.len() {
            let mut code = kernel.code.clone();
            let Some(constant) = code.insts[number].constant.filter(|_| code.insts[number].op == Op::Bfly)
            else {
                continue;
            };
            let numbers = &mut code.constants[constant.index()].numbers;
            if numbers.len() > 1 {
                // An exchange of other lanes.
                numbers.rotate_left(1);
                assert!(check::lowering(&code).is_err(), "{order}, instruction {number}");
                exchanges += 1;
            }
        }
        assert!(exchanges > 4, "{order} has exchanges");
    }
}

/// The network costs ten shuffles for each vector, and at most as many other instructions; the identity costs
/// none.
#[test]
fn the_number_of_instructions_is_bounded() {
    let machine = Machine::rpu_128x128();
    for (g, order) in [(5, "evaluation"), (3, "evaluation"), (5, "coefficients"), (65535, "evaluation")] {
        let counts = simulate(&machine, &kernel(32768, 60, g, order, &machine).program).instructions;
        assert_eq!(counts[Pipe::Shuffle], 64 * 10, "{g} {order}");
        assert!(counts[Pipe::Compute] <= 64 * 10, "{g} {order}");
    }
    let counts = simulate(&machine, &kernel(32768, 60, 1, "coefficients", &machine).program).instructions;
    assert_eq!(Pipe::VECTOR.map(|pipe| counts[pipe]), [2 * 64, 0, 0]);
}

/// On the paper's machine, the network of a large polynomial takes at most 1.3 times as long as its busiest
/// resource.
#[test]
fn the_network_is_scheduled_well() {
    let machine = Machine::rpu_128x128();
    let request = request(65536, 60, 5, "evaluation");
    let kernel = generate(&request, &machine, &PlanChoice::Best).unwrap();
    let timing = simulate(&machine, &kernel.program);
    let (cycles, bound) = (timing.cycles.0, timing.bounds.resource.0);
    assert!(10 * cycles <= 13 * bound, "{cycles} cycles, the bound is {bound}");
}
