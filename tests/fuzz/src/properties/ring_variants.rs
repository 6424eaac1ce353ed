//! Wrong variants of ring programs: what a check accepts computes what its text says, by an interpreter of
//! its own.

use super::variants::{MACHINE, PATTERNS, words};
use lab_run::{RingData, RingRun};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ring_program::data::Words;
use ring_program::{Inputs, Interface, Manifest, RingProgram, read};
use runtime::{Keys, Merit};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// The ring degree.
const N: usize = 128;

/// Primes that are 1 mod 2n.
const MODULI: [u128; 5] =
    [0x3001, 0x07ff_ffff_ffff_f801, 257, 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fa01, 769];

/// The ids of a name.
type Names = Vec<(&'static str, Vec<u64>)>;

/// A text and its manifest, in parts that change.
#[derive(Clone, PartialEq)]
struct Variant {
    moduli: Vec<u128>,
    /// The words between commas and blanks of each line.
    lines: Vec<Vec<String>>,
    inputs: Names,
    outputs: Names,
}

/// Programs as people and recorders write them.
fn original(number: usize) -> Variant {
    let (lines, inputs, outputs): (&str, Names, Names) = match number % 4 {
        // A product of polynomials, and a multiple of one.
        0 => (
            "sr_ntt %3 %1 m=1\nsr_ntt %4 %2 m=1\nsr_mulp %3 %3 %4 m=1\nsr_intt %5 %3 m=1\nsr_mulps %6 %1 3 m=1",
            vec![("a", vec![1]), ("b", vec![2])],
            vec![("y", vec![5]), ("c", vec![6])],
        ),
        // A rescale: a limb of one ring goes into others, which reduce it.
        1 => (
            "sr_mulps %5 %3 1 m=1\nsr_mulps %6 %3 1 m=2\nsr_subp %5 %1 %5 m=1\nsr_subp %6 %2 %6 m=2\n\
             sr_mulps %5 %5 17 m=1\nsr_mulps %6 %6 0x1234567890 m=2",
            vec![("x", vec![1, 2]), ("last", vec![3])],
            vec![("y", vec![5, 6])],
        ),
        // Automorphisms, copies, zeros and a limb that is written twice.
        2 => (
            "sr_automorph_coeff %3 %1 k=5 m=1\nsr_rot_automorph_coeff %4 %1 offset=7 m=1\nsr_addps %5 %2 0 m=0\n\
             sr_automorph_eval %5 %5 k=3 m=2\nsr_mulps %6 %9 0 m=2\nsr_addp %6 %6 %5 m=2\nsr_addp %3 %3 %4 m=1\n\
             sr_negp %3 %3 m=1\nsr_addps %4 %6 99 m=2",
            vec![("x", vec![1]), ("y", vec![2])],
            vec![("u", vec![3]), ("v", vec![4, 6])],
        ),
        // A sum of products.
        _ => (
            "sr_mulp %7 %1 %4 m=3\nsr_mulp %8 %2 %5 m=3\nsr_addp %7 %7 %8 m=3\nsr_subps %7 %7 5 m=3\n\
             sr_mulp %8 %1 %5 m=3\nsr_subp %8 %8 %7 m=3\nsr_addp %9 %8 %7 m=3",
            vec![("a", vec![1, 2]), ("evk", vec![4, 5])],
            vec![("y", vec![7]), ("z", vec![9])],
        ),
    };
    let words = |line: &str| line.split(' ').map(str::to_owned).collect();
    let moduli = vec![MODULI[0], MODULI[1], MODULI[3]];
    Variant { moduli, lines: lines.lines().map(words).collect(), inputs, outputs }
}

impl Variant {
    fn text(&self) -> String {
        let mut text = format!("modulus_count {}\nm[0] 0xFFFFFFFFFFFFFFFF\n", self.moduli.len() + 1);
        for (index, modulus) in (1..).zip(&self.moduli) {
            text += &format!("m[{index}] {modulus:#x}\n");
        }
        for line in &self.lines {
            text += &format!("{} {}\n", line[0], line[1..].join(", "));
        }
        text + "halt\n"
    }

    fn manifest(&self) -> String {
        let of = |names: &Names| serde_json::to_string(&names.iter().cloned().collect::<BTreeMap<_, _>>());
        let [inputs, outputs] =
            [&self.inputs, &self.outputs].map(|names| of(names).expect("names and numbers"));
        format!("{{\"ring_dimension\": {N}, \"inputs\": {inputs}, \"outputs\": {outputs}}}")
    }

    /// Changes one thing: an operand, an opcode, a line, a modulus, or an entry of the manifest.
    fn change(&mut self, rng: &mut impl Rng) {
        let at = rng.random_range(..self.lines.len());
        match rng.random_range(..8u8) {
            0..4 => {
                let line = &mut self.lines[at];
                let part = rng.random_range(..line.len());
                line[part] = replaced(&line[part], rng);
            }
            4 => drop(self.lines.remove(at)),
            5 => {
                let other = rng.random_range(..self.lines.len());
                if rng.random() {
                    self.lines.swap(at, other)
                } else {
                    self.lines.insert(at, self.lines[other].clone())
                }
            }
            6 => {
                let index = rng.random_range(..self.moduli.len());
                self.moduli[index] = MODULI[rng.random_range(..MODULI.len())];
            }
            _ => {
                let names = if rng.random() { &mut self.inputs } else { &mut self.outputs };
                let group = rng.random_range(..names.len());
                let limb = rng.random_range(..names[group].1.len());
                match rng.random_range(..4u8) {
                    0 => drop(names.remove(group)),
                    1 => names[group].1.push(rng.random_range(..11)),
                    _ => names[group].1[limb] = rng.random_range(..11),
                }
            }
        }
    }
}

/// Another part of a line, of the same kind.
fn replaced(part: &str, rng: &mut impl Rng) -> String {
    const OPCODES: [&str; 12] = [
        "sr_addp",
        "sr_subp",
        "sr_mulp",
        "sr_addps",
        "sr_subps",
        "sr_mulps",
        "sr_ntt",
        "sr_intt",
        "sr_negp",
        "sr_automorph_eval",
        "sr_automorph_coeff",
        "sr_rot_automorph_coeff",
    ];
    let small: u32 = rng.random_range(..300);
    match part.split_once('=') {
        Some(("m", _)) => format!("m={}", small % 4),
        Some((name, _)) => format!("{name}={small}"),
        None if part.starts_with('%') => format!("%{}", small % 11),
        None if part.starts_with("sr") => OPCODES[small as usize % OPCODES.len()].into(),
        None => [0, 1, 0x3000, 0x3001, u128::MAX, 2][small as usize % 6].to_string(),
    }
}

/// A changed ring program is refused, or its words on edges equal the interpreter's. The first byte selects
/// the program, the others the change.
pub fn ring_variants(data: &[u8]) {
    judge_ring(data);
}

/// Whether the check accepts a variant; `None` for an invalid or an unchanged program. As [`ring_variants`].
pub fn judge_ring(data: &[u8]) -> Option<bool> {
    let (&first, seed) = data.split_first()?;
    let seed = std::array::from_fn(|at| seed.get(at).copied().unwrap_or(0));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(u64::from_le_bytes(seed));
    let original = original(first.into());
    let mut variant = original.clone();
    variant.change(&mut rng);
    if variant == original {
        return None;
    }
    let manifest = Manifest::parse("", &variant.manifest(), Path::new("")).ok()?;
    let program = read("", variant.text().as_bytes(), Interface::Manifest(&manifest)).ok()?;
    let mut inputs = Inputs::new(&program);
    inputs.fill(0);
    let on = (&*MACHINE, Keys::default(), Merit::default().into());
    let data = RingData::Check(inputs, rng.random());
    let Ok(run) =
        RingRun::timed(&program, "variant", on, false).and_then(|run| run.with_data(&program, &data))
    else {
        return Some(false);
    };
    if run.report.checked {
        let patterns = [rng.random_range(..PATTERNS), 6];
        patterns.into_iter().for_each(|pattern| holds(&variant, &program, &run, pattern, &mut rng));
    }
    Some(run.report.checked)
}

/// Compares a checked program with the interpreter on words that it takes.
fn holds(variant: &Variant, program: &RingProgram, run: &RingRun<'_>, pattern: u32, rng: &mut impl Rng) {
    let mut inputs = Inputs::new(program);
    let mut limbs: HashMap<u64, Value> = HashMap::new();
    for (name, ids) in &variant.inputs {
        let mut own = Vec::new();
        for id in ids {
            let smallest = variant.moduli.iter().min().expect("three moduli");
            let mut drawn = || words(pattern, N as u32, smallest - 1, *smallest, rng);
            let value =
                limbs.entry(*id).or_insert_with(|| Value { words: drawn(), origin: Dependence::Input });
            own.push(Words::from(&value.words[..]));
        }
        inputs.set(name, own).expect("words below all moduli");
    }
    let text = variant.text();
    let Ok(found) = run.runtime.execute(&inputs) else { panic!("checked, but it faults:\n{text}") };
    let meaning = Meaning { moduli: &variant.moduli };
    variant.lines.iter().for_each(|line| meaning.execute(line, &mut limbs));
    for (group, found) in program.outputs().iter().zip(found) {
        let values: Vec<&Value> =
            group.limbs.iter().map(|&limb| &limbs[&program.limbs().id(limb).0]).collect();
        let is_same =
            values.iter().zip(&found).all(|(value, found)| found.iter().eq(value.words.iter().copied()));
        assert!(is_same, "checked, but `{}` is wrong:\n{text}{}", group.name, variant.manifest());
        let is_computed = values.iter().any(|value| value.origin == Dependence::Work);
        assert!(is_computed, "checked, but `{}` shows nothing:\n{text}{}", group.name, variant.manifest());
    }
}

/// Where words come from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Dependence {
    Constant,
    Input,
    Work,
}

#[derive(Clone)]
struct Value {
    words: Vec<u128>,
    origin: Dependence,
}

/// The meaning of lines, by the definitions of the book, with sums in place of transforms.
struct Meaning<'v> {
    moduli: &'v [u128],
}

impl Meaning<'_> {
    fn execute(&self, line: &[String], limbs: &mut HashMap<u64, Value>) {
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => u128::from_str_radix(digits, 16).expect("a number"),
            None => text.parse().expect("a number"),
        };
        let named =
            |name: &str| line.iter().find_map(|part| part.strip_prefix(name)?.strip_prefix('=')).map(number);
        let id = |part: &str| number(part.strip_prefix('%').expect("a limb")) as u64;
        let plain: Vec<&str> =
            line[1..].iter().map(String::as_str).filter(|part| !part.contains('=')).collect();
        let m = named("m").unwrap_or(0) as usize;
        let q = if m == 0 { u128::MAX } else { self.moduli[m - 1] };
        let scalar = plain.get(2).filter(|part| !part.starts_with('%')).map(|part| number(part));
        let (opcode, d) = (&*line[0], id(plain[0]));
        if opcode == "sr_mulps" && scalar == Some(0) {
            limbs.insert(d, Value { words: vec![0; N], origin: Dependence::Constant });
            return;
        }
        let source = |at: usize| {
            plain.get(at).filter(|part| part.starts_with('%')).and_then(|part| limbs.get(&id(part)))
        };
        // A copy of nothing, on which no output depends.
        let (Some(a), b) = (source(1), source(2)) else { return };
        let origin = a.origin.max(b.map_or(Dependence::Constant, |b| b.origin));
        let is_copy = opcode == "sr_addps" && m == 0;
        let origin = if origin == Dependence::Constant || is_copy { origin } else { Dependence::Work };
        let each = |f: &dyn Fn(u128, u128) -> u128| -> Vec<u128> {
            let other = |at: usize| b.map_or(scalar.unwrap_or(0) % q, |b| b.words[at]);
            (0..N).map(|at| f(a.words[at], other(at))).collect()
        };
        let minus = |word: u128| if word == 0 { 0 } else { q - word };
        let of = |at: usize| a.words[at];
        let words = match opcode {
            "sr_addps" if is_copy => a.words.clone(),
            "sr_addp" | "sr_addps" => each(&|x, y| add(x, y, q)),
            "sr_subp" | "sr_subps" => each(&|x, y| add(x, minus(y), q)),
            "sr_mulp" | "sr_mulps" => each(&|x, y| times(x, y, q)),
            "sr_negp" => (0..N).map(|at| minus(of(at))).collect(),
            "sr_ntt" => points(q).iter().map(|&point| value_at(&a.words, point, q)).collect(),
            "sr_intt" => {
                // The sum of the values times the inverse powers of their points, over n.
                let inverses: Vec<u128> =
                    points(q).iter().map(|&point| power(point, 2 * N as u128 - 1, q)).collect();
                let mut terms: Vec<u128> =
                    (0..N).map(|at| times(of(at), power(N as u128, q - 2, q), q)).collect();
                let coefficient = |_| {
                    let sum = terms.iter().fold(0, |sum, &term| add(sum, term, q));
                    terms
                        .iter_mut()
                        .zip(&inverses)
                        .for_each(|(term, inverse)| *term = times(*term, *inverse, q));
                    sum
                };
                (0..N).map(coefficient).collect()
            }
            "sr_automorph_eval" => {
                let k = named("k").expect("k") as usize;
                (0..N).map(|at| of(reversed((k * (2 * reversed(at) + 1) - 1) / 2 % N))).collect()
            }
            "sr_automorph_coeff" => {
                let k = named("k").expect("k") as usize;
                let mut words = vec![0; N];
                (0..N).for_each(|at| {
                    words[k * at % N] = if (k * at / N).is_multiple_of(2) { of(at) } else { minus(of(at)) }
                });
                words
            }
            "sr_rot_automorph_coeff" => {
                let offset = named("offset").expect("offset") as usize;
                (0..N)
                    .map(|at| if at + offset < N { of(at + offset) } else { minus(of(at + offset - N)) })
                    .collect()
            }
            other => unreachable!("{other} was read"),
        };
        limbs.insert(d, Value { words, origin });
    }
}

/// x + y mod q, of words below q.
fn add(x: u128, y: u128, q: u128) -> u128 {
    if x >= q - y { x - (q - y) } else { x + y }
}

/// x y mod q by doubling, of any words.
fn times(x: u128, y: u128, q: u128) -> u128 {
    let (mut product, mut term, mut rest) = (0, x % q, y % q);
    while rest > 0 {
        if rest & 1 == 1 {
            product = add(product, term, q);
        }
        term = add(term, term, q);
        rest >>= 1;
    }
    product
}

fn power(base: u128, exponent: u128, q: u128) -> u128 {
    let bits = (0..u128::BITS - exponent.leading_zeros()).rev();
    bits.fold(1, |value, bit| {
        let square = times(value, value, q);
        if exponent >> bit & 1 == 1 { times(square, base, q) } else { square }
    })
}

fn reversed(at: usize) -> usize {
    at.reverse_bits() >> (usize::BITS - N.ilog2())
}

/// The points of a transform: the odd powers of the smallest primitive 2n-th root of unity, in bit-reversed
/// order.
fn points(q: u128) -> Vec<u128> {
    let mut roots = (2..).map(|base| power(base, (q - 1) / (2 * N as u128), q));
    let root = roots.find(|&root| power(root, N as u128, q) == q - 1).expect("a prime that is 1 mod 2n");
    let odd = |root: u128| {
        let square = times(root, root, q);
        std::iter::successors(Some(root), move |&power| Some(times(power, square, q))).take(N)
    };
    let powers: Vec<u128> = odd(odd(root).min().expect("n powers")).collect();
    (0..N).map(|at| powers[reversed(at)]).collect()
}

/// A polynomial at a point.
fn value_at(coefficients: &[u128], point: u128, q: u128) -> u128 {
    coefficients.iter().rev().fold(0, |value, &coefficient| add(times(value, point, q), coefficient, q))
}
