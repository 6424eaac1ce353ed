//! A table of what a forward transform of 65,536 points costs in each way that the project has:
//! `cargo bench -p codegen --bench ratios`.
//!
//! The candidates take turns, and the best time of each counts: other work on the machine then
//! changes the times, but hardly the ratios.

use b512_asm::{Function, Program};
use codegen::number::{largest_prime, smallest_root};
use codegen::{PlanChoice, Request, generate, golden};
use sim::Machine;
use sim::cpu::{Fast, Kernel, Ntt, Ntt64};
use sim::functional::Executor;
use sim::modular::Modulus;
use std::time::{Duration, Instant};

#[path = "../tests/support/mod.rs"]
mod support;

const N: usize = 65536;
const ROUNDS: usize = 100;

struct Candidate<'a> {
    name: String,
    rounds: usize,
    run: Box<dyn FnMut() + 'a>,
    best: Duration,
}

impl<'a> Candidate<'a> {
    fn new(name: impl Into<String>, rounds: usize, run: impl FnMut() + 'a) -> Self {
        Self { name: name.into(), rounds, run: Box::new(run), best: Duration::MAX }
    }

    fn program(name: &str, program: &Program, vdm_words: u32, x: &[u128]) -> Self {
        let mut executor = Executor::new(vdm_words, Machine::rpu_128x128().sdm_words());
        executor.load(program).expect("the program fits");
        executor.write("x", x).expect("the data fit");
        let name = format!("{name}, {} instructions", program.instructions.len());
        // Where the result stands in the input's place, each run transforms what the last one left.
        Self::new(name, ROUNDS, move || {
            executor.run().expect("no fault");
        })
    }
}

fn main() {
    let q = largest_prime(128, N as u64).expect("there are primes of 128 bits");
    let root = smallest_root(q, N as u64).expect("q is 1 mod 2n");
    let next = |&state: &u128| Some(state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15));
    let words = std::iter::successors(Some(q), next).map(|state| state.rotate_right(64) % q);
    let x: Vec<u128> = words.take(N).collect();

    let ntt = Ntt::new(Modulus::new(q).expect("odd"), N, root).expect("a root");
    let machine = Machine::rpu_128x128();
    let kernel = |plan| {
        let request = Request { function: Function::Ntt, n: N as u32, modulus: q, root, plan };
        generate(&request, &machine).expect("a kernel").program
    };
    let textbook = support::transform(Function::Ntt, N, q, root);
    // The moduli that each kernel of the host can do.
    let small = largest_prime(125, N as u64).expect("there are primes of 125 bits");
    let small_root = smallest_root(small, N as u64).expect("q is 1 mod 2n");
    let small_x: Vec<u128> = x.iter().map(|value| value % small).collect();
    let q64 = largest_prime(60, N as u64).expect("there are primes of 60 bits");
    let root64 = smallest_root(q64, N as u64).expect("q is 1 mod 2n");
    let ntt64 = Ntt64::new(N, q64 as u64, root64 as u64).expect("a root");
    let mut x64: Vec<u64> = x.iter().map(|value| (value % q64) as u64).collect();
    let (mut y, mut z) = (x.clone(), x.clone());
    let mut candidates = vec![
        Candidate::new("host, radix 2, Montgomery", ROUNDS, || ntt.forward(&mut y)),
        Candidate::new("host, its inverse", ROUNDS, || ntt.inverse(&mut z)),
        Candidate::program("functional, each stage through memory", &textbook, support::vdm_words(N), &x),
        Candidate::program("functional, plan `kl`", &kernel(PlanChoice::Classical), machine.vdm_words(), &x),
        Candidate::program("functional, plan `best`", &kernel(PlanChoice::Best), machine.vdm_words(), &x),
        Candidate::new("golden model, num-bigint", 3, || {
            golden::evaluate(Function::Ntt, &[&x], N, q, root).expect("a transform");
        }),
    ];
    for kernel in Kernel::ALL {
        let (bits, modulus, root, x) =
            if kernel == Kernel::Lazy { (125, small, small_root, &small_x) } else { (128, q, root, &x) };
        // `Plain` is the first line already.
        if kernel != Kernel::Plain && kernel.is_available(N, modulus) {
            let fast = Fast::with_kernel(kernel, N, modulus, root).expect("an available kernel");
            let mut x = x.clone();
            let name = format!("host, {kernel}, {bits} bits");
            candidates.push(Candidate::new(name, ROUNDS, move || fast.forward(&mut x)));
        }
    }
    candidates.push(Candidate::new("host, words of 64 bits, 60 bits", ROUNDS, || ntt64.forward(&mut x64)));
    for round in 0..ROUNDS {
        for candidate in candidates.iter_mut().filter(|candidate| round < candidate.rounds) {
            let start = Instant::now();
            (candidate.run)();
            candidate.best = candidate.best.min(start.elapsed());
        }
    }
    let host = candidates[0].best.as_secs_f64();
    println!("| {N} points, modulus of 128 bits unless said | ms | ratio |\n|---|--:|--:|");
    for candidate in &candidates {
        let seconds = candidate.best.as_secs_f64();
        println!("| {} | {:.2} | {:.2} |", candidate.name, seconds * 1e3, seconds / host);
    }
}
