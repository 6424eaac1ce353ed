//! The speed of the tools compared with other implementations of the same work, in one run: `cargo bench
//! --bench ratios --features benches` prints a table; `-- --write` writes `reports/speed.md`. Without the
//! feature, the column of `tfhe-ntt` is empty.
//!
//! The candidates take turns, and the best time of each counts: other load on the machine then
//! changes the times, but hardly the ratios. Everything is single-threaded except the sweep.

use b512_asm::{AReg, AddressMode, Instr, MReg, Offset, Program, Role, Space, Symbol, VReg, assemble};
use codegen::{PlanChoice, Request, generate, testing as support};
use lab_sweep::{Definition, FIG4, Plan};
use num_bigint::BigUint;
use ring::host::{Fast, Implementation, Ntt, Ntt64};
use ring::modular::Modulus;
use ring::prime::largest_prime;
use ring::root::smallest_root;
use ring::{Degree, Ring};
use sim::Machine;
use sim::functional::Executor;
use sim::timing::{DecodedProgram, simulate, simulate_decoded};
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

const N: usize = 65536;
const LANES: usize = 512;
/// Turns for work of milliseconds.
const MANY: usize = 200;
/// Turns for work of a large part of a second.
const FEW: usize = 3;

/// One way to do some work.
struct Candidate<'a> {
    rounds: usize,
    run: Box<dyn FnMut() + 'a>,
    best: Duration,
}

impl<'a> Candidate<'a> {
    fn new(rounds: usize, run: impl FnMut() + 'a) -> Self {
        Self { rounds, run: Box::new(run), best: Duration::MAX }
    }

    /// Runs `program` on the input `x`.
    fn program(program: &Program, vdm_words: u32, x: &[u128], scalar: bool) -> Self {
        let mut executor = Executor::new(vdm_words, Machine::rpu_128x128().sdm_words());
        if scalar {
            executor = executor.with_scalar_code();
        }
        executor.load(program).expect("the program fits");
        executor.write("x", x).expect("the data fit");
        // If the result overwrites the input, each run transforms the previous result.
        Self::new(MANY, move || {
            executor.run().expect("no fault");
        })
    }
}

/// Indices of the candidates that do the same work as a row's.
#[derive(Clone, Copy, Default)]
struct Others {
    num_bigint: Option<usize>,
    plain: Option<usize>,
    tfhe_ntt: Option<usize>,
}

/// Description of a candidate in the table.
struct Row {
    work: String,
    candidate: usize,
    /// Repetitions of the work, or the amount of it.
    amount: f64,
    amount_is: Amount,
    others: Others,
}

/// The unit of a row.
#[derive(Clone, Copy)]
enum Amount {
    /// Repetitions; the table shows the time of one.
    Times,
    /// Units of work; the table shows the time and the units per second.
    Of(&'static str),
}

#[derive(Default)]
struct Table<'a> {
    candidates: Vec<Candidate<'a>>,
    rows: Vec<Row>,
}

impl<'a> Table<'a> {
    fn candidate(&mut self, candidate: Candidate<'a>) -> usize {
        self.candidates.push(candidate);
        self.candidates.len() - 1
    }

    fn row(&mut self, work: impl Into<String>, times: usize, candidate: Candidate<'a>, others: Others) {
        let candidate = self.candidate(candidate);
        let (work, amount) = (work.into(), times as f64);
        self.rows.push(Row { work, candidate, amount, amount_is: Amount::Times, others });
    }

    fn rate(&mut self, work: &str, amount: usize, unit: &'static str, candidate: Candidate<'a>) {
        let candidate = self.candidate(candidate);
        let (work, amount) = (work.into(), amount as f64);
        let others = Others::default();
        self.rows.push(Row { work, candidate, amount, amount_is: Amount::Of(unit), others });
    }

    fn measure(&mut self) {
        let rounds = self.candidates.iter().map(|candidate| candidate.rounds).max().unwrap_or(0);
        for round in 0..rounds {
            for candidate in self.candidates.iter_mut().filter(|candidate| round < candidate.rounds) {
                let start = Instant::now();
                (candidate.run)();
                candidate.best = candidate.best.min(start.elapsed());
            }
        }
    }

    /// The table in Markdown.
    fn print(&self) -> String {
        let mut text = format!(
            "On one core of {}. The last three columns: how many times as long other code takes for the same work.\n\n\
             | work | time | rate | num-bigint | plain `u128` | `tfhe-ntt` |\n|---|--:|--:|--:|--:|--:|\n",
            processor()
        );
        for Row { work, candidate, amount, amount_is, others } in &self.rows {
            let best = |candidate: usize| self.candidates[candidate].best.as_secs_f64();
            let seconds = best(*candidate);
            let (time, rate) = match amount_is {
                Amount::Times => (seconds / amount, String::new()),
                Amount::Of(unit) => {
                    (seconds, format!("{}\u{a0}million {unit}/s", rounded(amount / seconds / 1e6)))
                }
            };
            let ratio = |other: Option<usize>| {
                other.map_or(String::new(), |other| format!("{}\u{a0}x", rounded(best(other) / seconds)))
            };
            text += &format!(
                "| {work} | {} | {rate} | {} | {} | {} |\n",
                duration(time),
                ratio(others.num_bigint),
                ratio(others.plain),
                ratio(others.tfhe_ntt)
            );
        }
        text
    }
}

/// Formats with three digits.
fn rounded(value: f64) -> String {
    let digits = (2 - value.log10().floor() as i32).clamp(0, 2) as usize;
    format!("{value:.digits$}")
}

fn duration(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let (scale, unit) = units.into_iter().find(|(scale, _)| seconds >= *scale).unwrap_or(units[3]);
    format!("{}\u{a0}{unit}", rounded(seconds / scale))
}

/// The processor's name, if the system provides it.
fn processor() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let name = name.map_or("an unknown processor", |(_, name)| name.trim());
    let implementation = Implementation::ALL.into_iter().find(|chosen| chosen.is_available(N, u128::MAX));
    format!("{name} ({})", implementation.expect("one always is"))
}

/// Pseudo-random numbers below `q`.
fn random(q: u128, n: usize) -> Vec<u128> {
    let next = |&state: &u128| Some(state.wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15));
    std::iter::successors(Some(q), next).map(|state| state.rotate_right(64) % q).take(n).collect()
}

fn degree() -> Degree {
    Degree::try_from(N).expect("a power of two")
}

/// A prime of that size and a primitive root for transforms of `N` points.
fn ring(bits: u32) -> (u128, u128) {
    let q = largest_prime(bits, degree()).expect("there are primes of this size");
    (q, smallest_root(q, degree()).expect("q is 1 mod 2n"))
}

/// A straightforward transform with 64-bit words: radix 2, and the remainder of `u128`.
fn plain64(x: &mut [u64], factors: &[u64], q: u64) {
    let mut half = x.len() / 2;
    while half > 0 {
        let blocks = x.len() / (2 * half);
        for (block, &w) in x.chunks_exact_mut(2 * half).zip(&factors[blocks..]) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                let t = (u128::from(*b) * u128::from(w) % u128::from(q)) as u64;
                (*a, *b) = ((*a + t) % q, (*a + q - t) % q);
            }
        }
        half /= 2;
    }
}

/// One instruction, many times, on registers of data (`v1`, `v2`) and constants (`v3`).
fn instruction(instr: Instr, times: usize, q: u128) -> Candidate<'static> {
    let load = |index: usize| Instr::Vload {
        vd: VReg::at(index),
        base: AReg::at(0),
        offset: Offset::new((index * LANES) as u32).expect("a small offset"),
        mode: AddressMode::Linear,
    };
    let mut instructions = vec![load(1), load(2), load(3)];
    instructions.extend(std::iter::repeat_n(instr, times));
    let symbol = |name: &str, start: usize, words: usize, role| Symbol {
        name: name.into(),
        space: Space::Vdm,
        start: start as u32,
        words: words as u32,
        role,
    };
    let program = Program {
        instructions,
        moduli: vec![(MReg::at(0), q)],
        symbols: vec![
            symbol("x", 0, 3 * LANES, Role::Input),
            symbol("factors", 3 * LANES, LANES, Role::Table),
        ],
        ..Program::default()
    };
    Candidate::program(&program, 4 * LANES as u32, &random(q, 3 * LANES), false)
}

/// Modular arithmetic on 512 values.
fn arithmetic(table: &mut Table<'_>, q: u128) {
    const TIMES: usize = 256;
    let (v, rm) = (VReg::at, MReg::at(0));
    let modulus = Modulus::new(q).expect("odd");
    let values = random(q, 3 * LANES);
    let [a, b, c] = [0, 1, 2].map(|i| values[i * LANES..][..LANES].to_vec());
    let factors: Vec<_> = c.iter().map(|&factor| modulus.prepare(factor)).collect();
    let big = |values: &[u128]| values.iter().copied().map(BigUint::from).collect::<Vec<_>>();
    let (big_a, big_b, big_c, big_q) = (big(&a), big(&b), big(&c), BigUint::from(q));

    let multiplications = {
        let (big_b, big_c, big_q) = (big_b.clone(), big_c.clone(), big_q.clone());
        let num_bigint = Candidate::new(MANY / 20, move || {
            for _ in 0..TIMES {
                for (b, c) in black_box(&big_b).iter().zip(&big_c) {
                    black_box(b * c % &big_q);
                }
            }
        });
        let (b, c, mut out) = (b.clone(), c.clone(), vec![0; LANES]);
        let plain = Candidate::new(MANY, move || {
            for _ in 0..TIMES {
                for ((out, &b), &c) in out.iter_mut().zip(black_box(&b)).zip(&c) {
                    *out = modulus.mul(b, c);
                }
                black_box(&mut out);
            }
        });
        let num_bigint = Some(table.candidate(num_bigint));
        Others { num_bigint, plain: Some(table.candidate(plain)), tfhe_ntt: None }
    };
    let (b_scalar, factors_scalar, mut out) = (b.clone(), factors.clone(), vec![0; LANES]);
    let prepared = Candidate::new(MANY, move || {
        for _ in 0..TIMES {
            for ((out, &b), &factor) in out.iter_mut().zip(black_box(&b_scalar)).zip(&factors_scalar) {
                *out = modulus.mul_prepared(b, factor);
            }
            black_box(&mut out);
        }
    });
    table.row("modular multiplication by a constant, scalar", TIMES * LANES, prepared, multiplications);
    let vmul = instruction(Instr::Vmul { vd: v(4), vs: v(1), vt: v(3), rm }, TIMES, q);
    table.row("the same in a vector instruction, a lane", TIMES * LANES, vmul, multiplications);

    let num_bigint = Candidate::new(MANY / 20, move || {
        for _ in 0..TIMES {
            for ((a, b), c) in black_box(&big_a).iter().zip(&big_b).zip(&big_c) {
                let t = b * c % &big_q;
                black_box([(a + &t) % &big_q, (a + &big_q - t) % &big_q]);
            }
        }
    });
    let mut out = vec![[0; 2]; LANES];
    let plain = Candidate::new(MANY, move || {
        for _ in 0..TIMES {
            for (((out, &a), &b), &factor) in out.iter_mut().zip(black_box(&a)).zip(&b).zip(&factors) {
                let t = modulus.mul_prepared(b, factor);
                *out = [modulus.add(a, t), modulus.sub(a, t)];
            }
            black_box(&mut out);
        }
    });
    let num_bigint = Some(table.candidate(num_bigint));
    let others = Others { num_bigint, plain: Some(table.candidate(plain)), tfhe_ntt: None };
    let bfly = instruction(Instr::Bfly { vd: v(4), vd1: v(5), vs: v(1), vt: v(2), vt1: v(3), rm }, TIMES, q);
    table.row("butterfly in a vector instruction, a lane", TIMES * LANES, bfly, others);
}

/// Transforms of 64K points with a modulus of 128 bits, on the host and in the simulator.
fn transforms(table: &mut Table<'_>, kernels: &[(&str, &Program)], (q, root): (u128, u128)) {
    let x = random(q, N);
    let (big_x, mut plain_x) = (x.clone(), x.clone());
    let num_bigint = Candidate::new(FEW, move || {
        golden::NTT.result(&[&big_x], N, q, root).expect("a transform");
    });
    let ntt = Ntt::new(Modulus::new(q).expect("odd"), N, root).expect("a root");
    let plain = Candidate::new(MANY, move || ntt.forward(&mut plain_x));
    let num_bigint = Some(table.candidate(num_bigint));
    let others = Others { num_bigint, plain: Some(table.candidate(plain)), tfhe_ntt: None };
    for implementation in
        Implementation::ALL.into_iter().filter(|&implementation| implementation != Implementation::Plain)
    {
        // The lazy one needs moduli two bits shorter.
        let (bits, (q, root)) =
            if implementation.is_available(N, q) { (128, (q, root)) } else { (125, ring(125)) };
        if !implementation.is_available(N, q) {
            continue;
        }
        let fast =
            Fast::with_implementation(implementation, N, q, root).expect("an available implementation");
        let mut x: Vec<u128> = x.iter().map(|value| value % q).collect();
        let run = Candidate::new(MANY, move || fast.forward(&mut x));
        table.row(format!("transform on the host, {bits} bits, {implementation}"), 1, run, others);
    }
    let vdm_words = Machine::rpu_128x128().vdm_words();
    for (name, program) in kernels {
        let run = Candidate::program(program, vdm_words, &x, false);
        table.row(format!("functional simulation, plan `{name}`"), 1, run, others);
        let run = Candidate::program(program, vdm_words, &x, true);
        table.row(format!("functional simulation, plan `{name}`, scalar code"), 1, run, others);
    }
    let program = support::transform(golden::NTT, N, q, root);
    let run = Candidate::program(&program, support::vdm_words(N), &x, false);
    table.row("functional simulation, each stage through memory", 1, run, others);
}

/// Transforms with a modulus of 60 bits, on the host and in the simulator.
fn transforms64(table: &mut Table<'_>, program: &Program, (q, root): (u128, u128)) {
    let x = random(q, N);
    let simulation = Candidate::program(program, Machine::rpu_128x128().vdm_words(), &x, false);
    let mut words: Vec<u64> = x.iter().map(|&value| value as u64).collect();
    let num_bigint = Candidate::new(FEW, move || {
        golden::NTT.result(&[&x], N, q, root).expect("a transform");
    });
    let modulus = Modulus::new(q).expect("odd");
    let reversed = |j: usize| j.reverse_bits() >> (usize::BITS - N.ilog2());
    let factors: Vec<u64> = (0..N).map(|j| modulus.pow(root, reversed(j) as u128) as u64).collect();
    let mut plain_words = words.clone();
    let plain = Candidate::new(MANY, move || plain64(&mut plain_words, &factors, q as u64));
    let others = Others {
        num_bigint: Some(table.candidate(num_bigint)),
        plain: Some(table.candidate(plain)),
        tfhe_ntt: tfhe_ntt64(&words, q as u64).map(|candidate| table.candidate(candidate)),
    };
    let ntt = Ntt64::new(N, q as u64, root as u64).expect("a root");
    table.row(
        "transform on the host, 60 bits",
        1,
        Candidate::new(MANY, move || ntt.forward(&mut words)),
        others,
    );
    table.row("functional simulation, 60 bits, plan `best`", 1, simulation, others);
}

/// The transform of `tfhe-ntt`.
#[cfg(feature = "benches")]
fn tfhe_ntt64<'a>(words: &[u64], q: u64) -> Option<Candidate<'a>> {
    let plan = tfhe_ntt::prime64::Plan::try_new(N, q).expect("a prime for this length");
    let mut words = words.to_vec();
    Some(Candidate::new(MANY, move || plan.fwd(&mut words)))
}

#[cfg(not(feature = "benches"))]
fn tfhe_ntt64<'a>(_: &[u64], _: u64) -> Option<Candidate<'a>> {
    None
}

/// Every step of a program except its execution.
fn tools<'a>(
    table: &mut Table<'a>,
    kernels: &[(&str, &'a Program)],
    machine: &'a Machine,
    request: &'a Request,
) {
    for &(name, program) in kernels {
        let count = program.instructions.len();
        let run = Candidate::new(MANY, move || {
            black_box(simulate(black_box(machine), black_box(program)));
        });
        table.rate(&format!("timing of the transform, plan `{name}`"), count, "instructions", run);
        let decoded = DecodedProgram::of(program);
        let run = Candidate::new(MANY, move || {
            black_box(simulate_decoded(black_box(machine), black_box(&decoded)));
        });
        table.rate("the same for one of several machines, decoded once", count, "instructions", run);
    }
    let program = kernels[0].1;
    let count = program.instructions.len();
    let run = Candidate::new(MANY, move || {
        black_box(DecodedProgram::of(black_box(program)));
    });
    table.rate("decoding for it, plan `kl`", count, "instructions", run);
    for (name, plan) in [("kl", PlanChoice::Classical), ("best", PlanChoice::Best)] {
        let count = generate(request, machine, &plan).expect("a kernel").program.instructions.len();
        let run = Candidate::new(MANY / 20, move || {
            black_box(generate(request, machine, &plan).expect("a kernel"));
        });
        table.rate(&format!("code generation, plan `{name}`"), count, "instructions", run);
    }
    let source = program.to_string();
    let run = move || {
        black_box(assemble(black_box(&source)).expect("what was printed"));
    };
    table.rate("assembling its text", program.to_string().len(), "bytes", Candidate::new(MANY / 20, run));
    let definition = Definition::parse("built-in fig4", FIG4);
    let plan = Plan::new(&definition.expect("the built-in sweep")).expect("the built-in sweep");
    let points = plan.len();
    let run = Candidate::new(FEW, move || {
        black_box(lab_sweep::records(&plan, &lab_sweep::generate));
    });
    table.row(format!("the built-in sweep, {points} points, all cores"), 1, run, Others::default());
}

/// Writes the page with the table.
fn write_page(table: &str) -> Result<(), Box<dyn std::error::Error>> {
    if cfg!(not(feature = "benches")) {
        return Err("the page needs `--features benches`".into());
    }
    let command = "cargo bench --bench ratios --features benches -- --write";
    let page = format!("# Speed of the tools\n\nMeasured and written by `{command}`.\n\n{table}");
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/speed.md"), page)?;
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (q, root) = ring(128);
    let machine = Machine::rpu_128x128();
    let request = Request::single(golden::NTT, Ring::with_root(degree(), q, root)?);
    let kernel = |plan| generate(&request, &machine, &plan).expect("a kernel").program;
    let (classical, best) = (kernel(PlanChoice::Classical), kernel(PlanChoice::Best));
    let kernels = [("kl", &classical), ("best", &best)];
    let (q60, root60) = ring(60);
    let request60 = Request::single(golden::NTT, Ring::with_root(degree(), q60, root60)?);
    let best60 = generate(&request60, &machine, &PlanChoice::Best)?.program;
    let mut table = Table::default();
    arithmetic(&mut table, q);
    transforms(&mut table, &kernels, (q, root));
    transforms64(&mut table, &best60, (q60, root60));
    tools(&mut table, &kernels, &machine, &request);
    table.measure();
    let text = table.print();
    print!("{text}");
    if std::env::args().any(|arg| arg == "--write") {
        write_page(&text)?;
    }
    Ok(())
}
