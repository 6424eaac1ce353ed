//! Automorphisms of every kind of exponent, in both orders.

use b512_asm::{Op, Pipe, Setting};
use codegen::{Kernel, Parameters, PlanChoice, Request, check, generate};
use ring::prime::largest_prime;
use ring::{Degree, Ring};
use sim::Machine;
use sim::functional::Executor;
use sim::timing::simulate;

fn request(n: u32, bits: u32, g: u32, order: &str) -> Request {
    let degree = Degree::try_from(n).unwrap();
    let ring = Ring::new(degree, largest_prime(bits, degree).unwrap()).unwrap();
    let g = ("g".to_owned(), Setting::Number(g.into()));
    let order = ("order".to_owned(), Setting::Word(order.to_owned()));
    let parameters = Parameters::new(vec![g, order]);
    Request { parameters, ..Request::single(golden::AUTOMORPHISM, ring) }
}

fn kernel(n: u32, bits: u32, g: u32, order: &str, machine: &Machine) -> Kernel {
    generate(&request(n, bits, g, order), machine, &PlanChoice::Classical).unwrap()
}

/// Runs the kernel on these words, and compares the result.
fn compute(kernel: &Kernel, machine: &Machine, word: impl Fn(u128) -> u128) {
    let mut executor = Executor::new(machine.vdm_words(), machine.sdm_words());
    executor.load(&kernel.program).unwrap();
    let claim = &kernel.program.claims[0];
    let x: Vec<u128> = (0..claim.number("n").unwrap()).map(word).collect();
    executor.write("x", &x).unwrap();
    executor.run().unwrap();
    assert_eq!(golden::compare(claim, &[&x], &[executor.read("y").unwrap()]), Ok(()), "{claim}");
}

/// 1, rotations by one slot and by several, conjugation, and others.
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
            let number = if n == 65536 { 2 } else { exponents.len() };
            for &g in &exponents[exponents.len() - number..] {
                let kernel = kernel(n, bits, g, order, &machine);
                check::lowering(&kernel.code).unwrap_or_else(|fault| panic!("{n} {g} {order}: {fault}"));
                check::schedule(&kernel.code, &kernel.program).unwrap();
                let q = kernel.program.claims[0].number("modulus").unwrap();
                compute(&kernel, &machine, |i| (i * i * 0x1234_5678_9abc + 1) % q);
                compute(&kernel, &machine, |i| if i % 2 == 0 { q - 1 } else { 0 });
                // A monomial.
                compute(&kernel, &machine, |i| u128::from(i == 3));
            }
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

/// The network takes ten shuffles for each vector, and at most as many other instructions; the identity
/// takes none.
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
