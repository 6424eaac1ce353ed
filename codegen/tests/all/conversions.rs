//! Operations in several rings: conversions, divisions, and inner products.

use b512_asm::{FeatureSet, Setting};
use codegen::{Kernel, Parameters, PlanChoice, Request, check, generate};
use golden::Operation;
use rayon::prelude::*;
use ring::prime::largest_primes;
use ring::{Basis, Degree, Ring};
use sim::Machine;
use sim::functional::Executor;

/// A machine whose memory holds several polynomials of 65536 coefficients.
fn large() -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine.vdm.size_mib = 32;
    machine
}

/// Rings of the largest primes of these sizes. Of several primes of one size, the first is the largest.
fn rings(operation: Operation, n: u32, sizes: &[u32]) -> Vec<Ring> {
    let degree = Degree::try_from(n).unwrap();
    let ring = |(index, &bits): (usize, &u32)| {
        let before = sizes[..index].iter().filter(|&&other| other == bits).count();
        let modulus = largest_primes(bits, degree, before + 1).unwrap()[before];
        Request::ring(operation, degree, modulus, None).unwrap()
    };
    sizes.iter().enumerate().map(ring).collect()
}

/// A request whose first list has moduli of the sizes `from`, and whose second one has `to`.
fn request(operation: Operation, n: u32, from: &[u32], to: &[u32]) -> Request {
    let rings = rings(operation, n, &[from, to].concat());
    let moduli: Vec<u128> = rings.iter().map(Ring::q).collect();
    let mut left = &moduli[..];
    let mut parameters = operation.examples();
    for (list, length) in operation.lists().zip([from.len(), to.len()]) {
        let (own, rest) = left.split_at(length);
        left = rest;
        let value = match list.kind {
            golden::Kind::Moduli => Setting::Numbers(own.to_vec()),
            _ => Setting::Number(own[0]),
        };
        parameters.push((list.name.to_owned(), value));
    }
    let basis = Basis::new(rings).unwrap();
    Request { operation, basis, parameters: Parameters::new(parameters) }
}

fn with(mut request: Request, name: &str, value: Setting) -> Request {
    let settings = request.operation.lists().chain(request.operation.parameters());
    let mut parameters: Vec<(String, Setting)> = settings
        .filter_map(|spec| Some((spec.name.to_owned(), request.parameters.get(spec.name)?.clone())))
        .collect();
    parameters.iter_mut().find(|(known, _)| known == name).unwrap().1 = value;
    request.parameters = Parameters::new(parameters);
    request
}

fn kernel(request: &Request, machine: &Machine, prove: bool) -> Kernel {
    let kernel = generate(request, machine, &PlanChoice::Classical).unwrap();
    if prove {
        check::lowering(&kernel.code).unwrap_or_else(|fault| panic!("{}: {fault}", kernel.program.claims[0]));
        check::schedule(&kernel.code, &kernel.program).unwrap();
    }
    kernel
}

/// Runs the kernel on operands whose words come from `word(operand, index, modulus)`, and compares the
/// results.
fn compute(kernel: &Kernel, machine: &Machine, word: &dyn Fn(u128, u128, u128) -> u128) {
    let executor = Executor::new(machine.vdm_words(), machine.sdm_words());
    let mut executor = executor.with_features(FeatureSet::all());
    executor.load(&kernel.program).unwrap();
    let claim = &kernel.program.claims[0];
    let n = claim.number("n").unwrap();
    let moduli = golden::moduli(claim).unwrap().inputs;
    let operands: Vec<Vec<u128>> =
        (0..).zip(&moduli).map(|(operand, &q)| (0..n).map(|i| word(operand, i, q)).collect()).collect();
    for (name, operand) in claim.inputs.iter().zip(&operands) {
        executor.write(name, operand).unwrap();
    }
    executor.run().unwrap();
    let operands: Vec<&[u128]> = operands.iter().map(Vec::as_slice).collect();
    let results: Vec<&[u128]> = claim.outputs.iter().map(|name| executor.read(name).unwrap()).collect();
    assert_eq!(golden::compare(claim, &operands, &results), Ok(()), "{claim}");
}

/// A word without pattern.
fn random(operand: u128, i: u128, q: u128) -> u128 {
    let state = (operand << 64 | i).wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15);
    (state ^ state >> 61).wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15).rotate_right(64) % q
}

/// All words 0, all the largest, a monomial, and random words.
fn compute_all(kernel: &Kernel, machine: &Machine) {
    compute(kernel, machine, &random);
    compute(kernel, machine, &|_, _, _| 0);
    compute(kernel, machine, &|_, _, q| q - 1);
    compute(kernel, machine, &|_, i, _| u128::from(i == 1));
    compute(kernel, machine, &ends);
}

/// The ends and the middle of the residues in turn.
fn ends(operand: u128, i: u128, q: u128) -> u128 {
    [0, q - 1, q / 2, q / 2 + 1][((i + operand) % 4) as usize]
}

/// Every operation at every degree, modulo primes of every size. Beyond the smallest degree, each operation
/// has one size and one of the inputs; all of them if `RPU_EVERY_SIZE` is set, as in `.ci/long`.
#[test]
fn every_operation_equals_the_golden_model_at_every_size() {
    const SIZES: [u32; 5] = [30, 60, 100, 127, 128];
    let machine = large();
    let all = std::env::var_os("RPU_EVERY_SIZE").is_some();
    let mut cases = Vec::new();
    for (index, &operation) in golden::OPERATIONS.iter().enumerate() {
        for (n, towers) in [(1024u32, 2), (4096, 2), (65536, 1)] {
            for (turn, bits) in SIZES.into_iter().enumerate() {
                let is_whole = n == 1024 || all;
                if is_whole || index % SIZES.len() == turn {
                    cases.push((operation, n, towers, bits, is_whole));
                }
            }
        }
    }
    cases.into_par_iter().for_each(|(operation, n, towers, bits, is_whole)| {
        let degree = Degree::try_from(n).unwrap();
        let request = Request::with_primes(operation, degree, bits, towers).unwrap();
        let kernel = kernel(&request, &machine, false);
        if is_whole {
            compute_all(&kernel, &machine);
        } else {
            compute(&kernel, &machine, &ends);
        }
    });
}

#[test]
fn conversions_of_all_sizes_equal_the_golden_model() {
    let machine = large();
    for variant in ["plain", "centred"] {
        for (n, from, to) in [
            (512, &[30][..], &[60][..]),
            (1024, &[60, 60, 60], &[30, 60, 100, 127, 128]),
            (1024, &[128, 127, 100], &[30, 128]),
            (4096, &[30, 60, 100], &[128, 30]),
            (65536, &[100, 60, 60], &[128, 30]),
        ] {
            let word = Setting::Word(variant.to_owned());
            let request = with(request(golden::BCONV, n, from, to), "variant", word);
            let kernel = kernel(&request, &machine, n < 65536);
            compute_all(&kernel, &machine);
            // Residues of integers whose scaled residues are all 0 or all the largest: the overflow is 0,
            // or the largest one.
            let moduli: Vec<u128> = request.basis.moduli()[..from.len()].to_vec();
            let scaled = |operand: u128, y: &dyn Fn(u128) -> u128| {
                let s = ring::modular::Modulus::new(moduli[operand as usize]).unwrap();
                let others = moduli.iter().filter(|&&other| other != s.value());
                others.fold(y(s.value()), |product, &other| s.mul(product, s.residue(other)))
            };
            compute(&kernel, &machine, &|operand, i, _| match i % 3 {
                0 => scaled(operand, &|s| s - 1),
                1 => scaled(operand, &|_| 1),
                _ => scaled(operand, &|s| s / 2 + (i / 3) % 2),
            });
        }
    }
}

#[test]
fn divisions_and_raised_digits_equal_the_golden_model() {
    let machine = large();
    for (n, from, to) in [
        (512, &[60, 60][..], &[60, 50][..]),
        (1024, &[61], &[60, 128]),
        (1024, &[128, 127], &[30, 100, 60]),
        (4096, &[100], &[60]),
    ] {
        for operation in [golden::MOD_UP, golden::MOD_DOWN, golden::RESCALE, golden::MOD_SWITCH] {
            if from.len() > 1 && operation.lists().next().is_some_and(|list| list.name == "last") {
                continue;
            }
            for gs_butterfly in [false, true] {
                let mut machine = machine.clone();
                machine.isa.gs_butterfly = gs_butterfly;
                let kernel = kernel(&request(operation, n, from, to), &machine, true);
                compute_all(&kernel, &machine);
            }
        }
    }
    // BGV.
    let request = with(request(golden::MOD_DOWN, 1024, &[60, 60], &[50, 60]), "t", Setting::Number(65537));
    compute_all(&kernel(&request, &machine, true), &machine);
}

#[test]
fn the_largest_divisions_equal_the_golden_model() {
    let machine = large();
    for operation in [golden::MOD_UP, golden::MOD_DOWN, golden::RESCALE, golden::MOD_SWITCH] {
        let kernel = kernel(&request(operation, 65536, &[100], &[128]), &machine, false);
        compute(&kernel, &machine, &random);
    }
}

/// CKKS: a division by the last modulus rounds to nearest.
#[test]
fn rescaling_rounds_to_nearest() {
    let request = request(golden::RESCALE, 512, &[40], &[60]);
    let (s, q) = (request.basis.rings()[0].q(), request.basis.rings()[1].q());
    let kernel = kernel(&request, &large(), true);
    let mut executor = Executor::new(large().vdm_words(), 64);
    executor.load(&kernel.program).unwrap();
    for x in [0, 1, s / 2, s / 2 + 1, s, 7 * s - 1, q - 1] {
        // Constants have the same value everywhere.
        executor.write("x0", &[x; 512]).unwrap();
        executor.write("p", &[x % s; 512]).unwrap();
        executor.run().unwrap();
        assert_eq!(executor.read("y0").unwrap(), [(x + s / 2) / s; 512], "{x}");
    }
}

#[test]
fn tensors_and_inner_products_equal_the_golden_model() {
    let machine = large();
    for (n, bits) in [(512, 128), (1024, 30), (4096, 127), (65536, 60)] {
        for (operation, digits) in
            [(golden::TENSOR, 0), (golden::KS_INNER_PRODUCT, 1), (golden::KS_INNER_PRODUCT, 4)]
        {
            let ring = rings(operation, n, &[bits])[0];
            let mut request = Request::single(operation, ring);
            if digits > 0 {
                if n == 65536 && digits > 1 {
                    continue;
                }
                request = with(request, "digits", Setting::Number(digits));
            }
            let kernel = kernel(&request, &machine, n < 65536);
            compute_all(&kernel, &machine);
            let compute = kernel.code.insts.iter().filter(|inst| inst.op.pipe() == b512_asm::Pipe::Compute);
            let wanted = if digits == 0 { 4 } else { 2 * digits };
            assert_eq!(compute.count() as u128, wanted * u128::from(n / 512), "{operation}");
        }
    }
}

/// Digits and residues, in both directions; the digits of an integer give its residues again.
#[test]
fn digits_and_residues_equal_the_golden_model() {
    let machine = large();
    for (n, from, to) in [
        (512, &[40][..], &[60][..]),
        (1024, &[60, 100, 128], &[30, 60, 127]),
        (4096, &[128, 30, 60, 60], &[100]),
        (65536, &[60, 100], &[30]),
    ] {
        for operation in [golden::RNS_JOIN, golden::RNS_SPLIT] {
            let to = if operation == golden::RNS_JOIN { &[] } else { to };
            compute_all(&kernel(&request(operation, n, from, to), &machine, n < 65536), &machine);
        }
    }
    let join = request(golden::RNS_JOIN, 512, &[60, 100, 128], &[]).claim(0);
    let residues: Vec<Vec<u128>> = (0..)
        .zip(golden::moduli(&join).unwrap().inputs)
        .map(|(operand, q)| (0..512).map(|i| random(operand, i, q)).collect())
        .collect();
    let slices = |words: &[Vec<u128>]| words.iter().map(Vec::as_slice).collect::<Vec<_>>().concat();
    let digits = golden::evaluate(&join, &residues.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    let moduli = join.setting("from").unwrap().clone();
    let split = golden::RNS_SPLIT.in_rings(
        512,
        &|_| match &moduli {
            Setting::Numbers(moduli) => moduli.iter().map(|&q| (q, 0)).collect(),
            Setting::Number(_) | Setting::Word(_) => Vec::new(),
        },
        &[],
    );
    let back = golden::evaluate(&split, &digits.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap();
    assert_eq!(slices(&back), slices(&residues));
}

/// A wrong factor of a conversion, or a product that is not added, is found.
#[test]
fn wrong_conversions_are_refused() {
    let machine = Machine::rpu_128x128();
    for request in [
        request(golden::BCONV, 1024, &[60, 61], &[50, 62]),
        request(golden::MOD_DOWN, 1024, &[60, 61], &[50]),
        request(golden::RESCALE, 1024, &[61], &[50]),
    ] {
        let kernel = kernel(&request, &machine, true);
        let mut changed = 0;
        for number in 0..kernel.code.insts.len() {
            let inst = &kernel.code.insts[number];
            let mut code = kernel.code.clone();
            let is_sum = inst.op == b512_asm::Op::Bfly
                && inst.constant.is_some_and(|constant| {
                    matches!(
                        code.constants[constant.index()].numbers[0],
                        codegen::number::Number::Expression(_)
                    )
                });
            if is_sum || inst.scalar.is_some() {
                let sources: Vec<_> = inst.sources.iter().collect();
                // The first source instead of the result.
                let result = inst.results.iter().next().unwrap();
                for inst in &mut code.insts[number + 1..] {
                    inst.sources = inst.sources.map(|value| if value == result { sources[0] } else { value });
                }
                assert!(check::lowering(&code).is_err(), "{}, instruction {number}", request.operation);
                changed += 1;
            }
        }
        assert!(changed > 2, "{}", request.operation);
    }
}

#[test]
fn moduli_that_do_not_suit_are_refused() {
    let machine = large();
    let error =
        |request: &Request| generate(request, &machine, &PlanChoice::Classical).unwrap_err().to_string();
    let good = request(golden::BCONV, 1024, &[60, 61], &[50]);
    let q = good.basis.moduli();
    let twice = with(good.clone(), "from", Setting::Numbers(vec![q[0], q[0]]));
    assert_eq!(
        error(&twice),
        format!(
            "{0:#x} and {0:#x} have a common factor (the moduli of `from` must be pairwise coprime, and coprime to \
             what they divide)",
            q[0]
        )
    );
    let strange = with(good.clone(), "to", Setting::Numbers(vec![97]));
    assert_eq!(error(&strange), "`to` has the modulus 0x61, but the request has no such ring");
    let variant = with(good.clone(), "variant", Setting::Word("round".to_owned()));
    assert_eq!(error(&variant), "unknown variant `round` (the variants are `plain` and `centred`)");
    let without = Request { parameters: Parameters::examples(golden::BCONV), ..good };
    assert_eq!(
        error(&without),
        "`bconv` needs a value of `from`: moduli s_i of the source, pairwise coprime"
    );
    let itself = request(golden::MOD_DOWN, 1024, &[60], &[61]);
    let q = itself.basis.moduli()[0];
    assert!(error(&with(itself, "to", Setting::Numbers(vec![q]))).contains("have a common factor"));
    let zero = request(golden::MOD_DOWN, 1024, &[60], &[61]);
    assert!(error(&with(zero, "t", Setting::Number(0))).starts_with("t = 0 has no inverse modulo "));
}
