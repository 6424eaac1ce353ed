//! The passes of the classical plans are the factors of their formulas.

use crate::interpret;
use b512_asm::{Op, Role};
use codegen::code::{BufferId, Claim, Code, Tower};
use codegen::formula::{Formula, Term};
use codegen::lower::{Dialect, Memory, Scratch, Second, transform};
use codegen::plan::{Algorithm, Plan, Shape, Step};
use ring::prime::largest_prime;
use ring::root::smallest_root;
use ring::{Degree, Ring};

/// The vector code of a plan.
fn code(plan: &Plan) -> Code {
    let n = 1u32 << plan.log_n;
    let modulus = largest_prime(60, Degree::try_from(n).unwrap()).unwrap();
    let root = smallest_root(modulus, Degree::try_from(n).unwrap()).unwrap();
    let mut code = Code::default();
    let tower = code.tower(Tower { n, modulus, root });
    let (x, y) = (code.buffer("x", n, Role::Input, tower), code.buffer("y", n, Role::Output, tower));
    let dialect = Dialect { gs_butterfly: true, by_level: false, factor_bits: 0, most_factor_bits: 17 };
    let memory = Memory { input: x, output: y, second: Second::New, times: None };
    let mut scratch = Scratch::new("scratch".to_owned(), tower);
    transform(&mut code, dialect, plan, tower, memory, &mut scratch).unwrap();
    let operation = if plan.algorithm == Algorithm::Forward { golden::NTT } else { golden::INTT };
    code.claims.push(Claim::of(operation, vec![y], vec![x], codegen::Parameters::default()));
    code
}

/// The contents of memory after each pass.
fn after_passes(code: &Code, x: &[u128]) -> Vec<Vec<u128>> {
    let mut stores = 0;
    let mut states = Vec::new();
    interpret::run(code, &[x.to_vec()], |inst, memory| {
        if inst.op != Op::Vstore {
            return;
        }
        stores += 1;
        if stores % (x.len() / code.isa.vector_length() as usize) == 0 {
            let BufferId(buffer) = inst.memory.unwrap().buffer;
            states.push(memory[buffer as usize].iter().map(|word| word.unwrap()).collect());
        }
    })
    .unwrap();
    states
}

fn ring(code: &Code) -> Ring {
    let Tower { n, modulus, root } = code.towers[0];
    Ring::with_root(Degree::try_from(n).unwrap(), modulus, root).unwrap()
}

/// The product of factors, the first applied first, and a vector.
fn apply<'f>(factors: impl Iterator<Item = &'f Vec<Term>>, ring: &Ring, x: Vec<u128>) -> Vec<u128> {
    factors.fold(x, |x, factor| factor.iter().rev().fold(x, |x, term| term.apply(ring, &x)))
}

/// Compares the passes of a plan with the factors of its formula, on one vector.
fn compare(plan: &Plan, x: &[u128]) {
    let code = code(plan);
    let ring = ring(&code);
    let factors = Formula::new(plan.algorithm, plan.log_n).factors();
    let mut factors = factors.iter().rev();
    let mut y = x.to_vec();
    let states = after_passes(&code, x);
    assert_eq!(states.len(), plan.passes.len());
    for (number, (pass, state)) in plan.passes.iter().zip(&states).enumerate() {
        let stages = pass.steps.iter().filter(|step| matches!(step, Step::Stage(_))).count();
        y = apply(factors.by_ref().take(stages), &ring, y);
        if number + 1 == plan.passes.len() {
            // The twist and the division by n.
            y = apply(factors.by_ref(), &ring, y);
        }
        assert!(y == *state, "pass {number} of {}", plan.name);
    }
}

fn random(n: usize) -> Vec<u128> {
    let next = |&state: &u128| Some(state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15));
    std::iter::successors(Some(1), next).skip(8).map(|state| state >> 70).take(n).collect()
}

#[test]
fn every_pass_is_a_product_of_consecutive_factors() {
    for (log_n, depth) in [(10, 1), (11, 1), (12, 2), (13, 4), (14, 3), (16, 4)] {
        let forward = Plan::korn_lambiotte(Shape::b512(log_n), depth);
        let x = random(1 << log_n);
        compare(&forward, &x);
        for algorithm in [Algorithm::Inverse, Algorithm::InverseTwisted] {
            compare(&forward.reversed("pease", algorithm).unwrap(), &x);
        }
    }
}
