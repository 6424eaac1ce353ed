//! Kernels for every vector length and word width.

use b512_asm::{AddressMode, Isa, Role};
use codegen::code::{Code, MemRef, Tower};
use codegen::compile::compile_code;
use codegen::error::Error;
use codegen::named;
use codegen::number::Expression;
use codegen::parameters::Parameters;
use codegen::plan::{Algorithm, Plan};
use codegen::recipe::{Order, Recipe};
use codegen::request::Request;
use codegen::schedule::Tuning;
use codegen::search::plans_for;
use codegen::{Kernel, check, compile, instantiate};
use golden::{INTT, NTT, Operation, POLYMUL, SUB};
use ring::{Degree, Ring};
use sim::Machine;
use sim::functional::Executor;

fn request(operation: Operation, log_n: u32, bits: u32) -> Request {
    Request::with_primes(operation, Degree::from_log2(log_n).unwrap(), bits, 1).unwrap()
}

fn machine(isa: Isa) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            (values.isa.vector_length, values.isa.word_bits) = (isa.vector_length(), isa.word_bits());
            values.hple.count = values.hple.count.min(isa.vector_length());
        })
        .unwrap();
    machine
}

fn prove(kernel: &Kernel, case: &str) {
    check::lowering(&kernel.code).unwrap_or_else(|fault| panic!("{case}: {fault}"));
    check::schedule(&kernel.code, &kernel.program).unwrap_or_else(|fault| panic!("{case}: {fault}"));
}

const OPERATIONS: [Operation; 4] = [NTT, INTT, POLYMUL, SUB];

#[test]
fn named_recipes_are_proved_for_every_isa() {
    for lanes in 3..=12 {
        for word_bits in [28, 36, 54, 64, 128] {
            let isa = Isa::new(1 << lanes, word_bits).unwrap();
            let machine = machine(isa);
            for vectors in [0, 1, 3, 6] {
                let (log_n, bits) = (lanes + vectors, word_bits.min(60));
                if log_n > 14 || word_bits != 64 && vectors > 1 {
                    continue;
                }
                for operation in OPERATIONS {
                    let request = request(operation, log_n, bits);
                    for recipe in [named::constant_geometry(&request, isa), named::unoptimised(&request, isa)]
                    {
                        let kernel = compile(&request, &recipe, &machine).unwrap();
                        assert_eq!(kernel.program.isa, isa);
                        prove(&kernel, &format!("{operation}{} for {isa:?}", request.n()));
                    }
                }
            }
        }
    }
}

#[test]
fn plans_of_the_search_are_proved_for_other_vector_lengths() {
    for (lanes, log_n) in [(8, 8), (8, 10), (8, 12), (9, 9), (10, 12), (10, 13)] {
        let isa = Isa::new(1 << lanes, 64).unwrap();
        let machine = machine(isa);
        for operation in OPERATIONS {
            let request = request(operation, log_n, 60);
            for (number, plans) in plans_for(&request, &machine, 8).into_iter().enumerate().step_by(3) {
                let tuning = Tuning::default();
                let forwarding = Some(40);
                let recipe =
                    Recipe { tuning, order: Order::ByLevel, stagger: None, forwarding, method: None, plans };
                let kernel = compile(&request, &recipe, &machine).unwrap();
                prove(&kernel, &format!("{operation}{} for {isa:?}, plans {number}", request.n()));
            }
        }
    }
}

#[test]
fn spilled_vectors_have_the_machine_s_length() {
    let isa = Isa::new(128, 32).unwrap();
    let request = request(NTT, 13, 30);
    let plans = vec![Plan::korn_lambiotte(request.shape(isa), 6)];
    let (tuning, order) = (Tuning::textbook(), Order::ByStep);
    let recipe = Recipe { tuning, order, stagger: None, forwarding: None, method: None, plans };
    let kernel = compile(&request, &recipe, &machine(isa)).unwrap();
    assert!(kernel.scheduled.spill_words > 0 && kernel.scheduled.spill_words.is_multiple_of(128));
    prove(&kernel, "spills");
}

#[test]
fn requests_and_plans_that_do_not_suit_the_isa_are_refused() {
    let isa = Isa::new(1024, 64).unwrap();
    let machine = machine(isa);
    let wide = request(NTT, 12, 65);
    let refused =
        |request: &Request, recipe: &Recipe| -> Error { compile(request, recipe, &machine).unwrap_err() };
    let error = refused(&wide, &named::constant_geometry(&wide, isa));
    assert!(matches!(error, Error::WordBits { word_bits: 64, .. }), "{error}");
    let short = request(NTT, 9, 60);
    let error = refused(&short, &named::constant_geometry(&short, Isa::B512));
    assert_eq!(error, Error::Degree { n: 512, least: 1024 });
    let request = request(INTT, 12, 60);
    let mut recipe = named::constant_geometry(&request, Isa::B512);
    assert_eq!(recipe.plans[0].algorithm, Algorithm::Inverse);
    let error = refused(&request, &recipe);
    assert_eq!(
        error.to_string(),
        "intt with n = 4096 needs a plan of the inverse transform, but the recipe has one of the inverse \
         transform of degree 4096 in 512 lanes"
    );
    recipe.plans.clear();
    assert!(refused(&request, &recipe).to_string().ends_with("but the recipe has no plan"));
}

#[test]
fn a_kernel_in_other_rings_is_the_kernel_compiled_for_them() {
    let machine = Machine::rpu_128x128();
    let degree = Degree::new(1024).unwrap();
    for operation in golden::OPERATIONS.iter().copied() {
        let [wide, narrow] = [128, 60].map(|bits| {
            let request = Request::with_primes(operation, degree, bits, 2).unwrap();
            request.with(Parameters::new(operation.examples()))
        });
        let recipe = named::constant_geometry(&wide, machine.instruction_set());
        let kernel = compile(&wide, &recipe, &machine).unwrap();
        let expected = compile(&narrow, &recipe, &machine).unwrap().program;
        assert_eq!(instantiate(&kernel, &narrow).unwrap(), expected, "{operation}");
    }
}

/// Code that no request describes: x of one tower, times one in another, is x reduced.
#[test]
fn a_multiplication_reduces_every_word_of_another_tower() {
    const N: u32 = 1024;
    const A: u128 = (1 << 90) + 1;
    const B: u128 = (1 << 60) + 33;
    let mut code = Code::default();
    let [a, b] = [A, B].map(|modulus| code.tower(Tower { n: N, modulus, root: 0 }));
    let x = code.buffer("x", N, Role::Input, a);
    let y = code.buffer("y", N, Role::Output, b);
    let one = code.number(Expression::Value(1));
    for word in (0..N).step_by(512) {
        let at = |buffer| MemRef { buffer, word, mode: AddressMode::Linear };
        let value = code.load(at(x), a);
        let reduced = code.scale(value, one, b);
        code.store(reduced, at(y), b);
    }
    let degree = Degree::try_from(N).unwrap();
    let request = Request::single(golden::MUL, Ring::new(degree, B).unwrap());
    let machine = Machine::rpu_128x128();
    let recipe = named::constant_geometry(&request, code.isa);
    let kernel = compile_code(request.name(), code, &recipe, &machine).unwrap();
    assert_eq!(check::schedule(&kernel.code, &kernel.program), Ok(()));
    assert_eq!(kernel.program.sdm.word(0), 1);
    let mut executor = Executor::new(machine.vdm_words(), machine.sdm_words());
    executor.load(&kernel.program).unwrap();
    // Every residue of A is a valid operand: words below B, multiples of B and their neighbours, and A - 1.
    let word = |i: u128| match i % 4 {
        0 => B - 1 - i * i,
        1 => i * B,
        2 => i * i * B - 1,
        _ => A - 1 - i * i * i,
    };
    let words: Vec<u128> = (0..u128::from(N)).map(word).collect();
    assert!(words.iter().all(|&word| word < A) && words.iter().filter(|&&word| word >= B).count() > 700);
    executor.write("x", &words).unwrap();
    executor.run().unwrap();
    let expected: Vec<u128> = words.iter().map(|word| word % B).collect();
    assert_eq!(executor.read("y").unwrap(), expected);
}
