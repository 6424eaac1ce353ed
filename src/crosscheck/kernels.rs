//! The CUDA kernels that a cross-check runs: for each operation, those of each origin and word size.

use codegen::Request;
use golden::Operation;
use gpu_ref::crosscheck::{self as cuda, Copies, KeyRings, Ring};
use gpu_ref::inner_product::Fusion;
use gpu_ref::key_switch::Division;
use gpu_ref::{Device, Direction, Recipe, Strategy, Sync as Synchronisation};
use lab_run::crosscheck::{Composite, Composition, Operands};
use std::error::Error;

pub(super) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Computes an operation on sets of operands.
type Compute = Box<dyn Fn(&Device, &Request, &[Operands]) -> Result<Vec<Vec<u128>>> + Send + Sync>;
/// Computes a composition on one set of operands.
type Compose = Box<dyn Fn(&Device, &Composite, &Operands) -> Result<Vec<u128>> + Send + Sync>;

/// What some kernels do.
pub(super) enum Work {
    Operation(Operation, Compute),
    Composition(Composition, Compose),
}

/// Kernels of one origin, for one operation and word size.
pub(super) struct Kernels {
    /// The origin and the word size in bits.
    pub(super) name: String,
    /// Maximum length of a modulus in bits.
    pub(super) longest: u32,
    /// Maximum degree in the emulation.
    pub(super) emulated_n: u32,
    /// Number of moduli of a task.
    pub(super) limbs: usize,
    /// Of those of `best` for a size of batches.
    pub(super) kind: Option<Kind>,
    pub(super) work: Work,
}

/// Kernels of `best` for a size of batches: see [`cuda::best`].
#[derive(Clone, Copy)]
pub(super) struct Kind {
    name: &'static str,
    word_bits: u32,
    longest: u32,
}

/// Transforms of a batch on a card: each kind is the fastest for as many, or for one.
const TRANSFORMS: usize = 512;

impl Kind {
    /// The recipe for a degree on a device. `None` if no batch there has it.
    fn recipe(self, device: &Device, n: usize) -> Result<Option<Recipe>> {
        let largest = u128::MAX >> (128 - self.longest);
        let kinds = cuda::best(device, self.word_bits, n.ilog2(), largest)?;
        Ok(kinds.into_iter().find(|(name, _)| *name == self.name).map(|(_, recipe)| recipe))
    }

    /// All kinds, with the number of moduli to test them with. The kernels of the origin `best` are the
    /// remaining ones.
    fn all() -> Vec<(Self, usize)> {
        let kind = |name| move |(word_bits, longest)| Self { name, word_bits, longest };
        let single = [(32, 30), (64, 62), (128, 126)].map(kind("single")).map(|kind| (kind, 1));
        let chained = [(64, 50), (64, 60)].map(kind("chained")).map(|kind| (kind, 2));
        single.into_iter().chain(chained).chain([(kind("once")((32, 30)), 2)]).collect()
    }
}

/// All kernels.
pub(super) fn all() -> Vec<Kernels> {
    let mut kernels = Vec::new();
    for strategy in Strategy::ALL {
        for &bits in strategy.word_bits() {
            let add = |(operation, compute)| Kernels {
                // An emulated thread is a fiber, and resident kernels need all of them at once.
                emulated_n: match strategy {
                    Strategy::HeBooster(Synchronisation::Local | Synchronisation::Barrier) => 1 << 12,
                    Strategy::HeBooster(Synchronisation::Launches)
                    | Strategy::Wide
                    | Strategy::Cheddar
                    | Strategy::Shivdikar(_)
                    | Strategy::Caramel
                    | Strategy::Best => u32::MAX,
                },
                ..Kernels::new(&strategy.to_string(), bits, strategy.modulus_bits(bits), operation, compute)
            };
            let own = move |_: &Device, n: usize| {
                if strategy != Strategy::Best {
                    return Ok(cuda::Kernels::Strategy(strategy, bits));
                }
                Ok(cuda::Kernels::Recipe(Recipe::new(strategy, bits, n.ilog2())?))
            };
            kernels.extend(transforms(own).map(add));
        }
    }
    for (kind, limbs) in Kind::all() {
        let name = format!("best-{}", kind.name);
        let own = transforms(move |device, n| {
            let recipe = kind.recipe(device, n)?.ok_or("no batch uses these kernels on the device")?;
            Ok(cuda::Kernels::Recipe(recipe))
        });
        kernels.extend(own.map(|(operation, compute)| {
            let own = Kernels::new(&name, kind.word_bits, kind.longest, operation, compute);
            Kernels { limbs, kind: Some(kind), ..own }
        }));
    }
    for bits in [32, 64, 128] {
        let operation = golden::AUTOMORPHISM;
        kernels.push(Kernels::new(operation.name(), bits, bits, operation, automorphism(bits)));
    }
    let mut add = |origin: &str, bits, longest, composition, compute| {
        let (name, work) = (format!("{origin} {bits}"), Work::Composition(composition, compute));
        kernels.push(Kernels { name, longest, emulated_n: u32::MAX, limbs: 1, kind: None, work });
    };
    add("base-conversion", 32, 30, Composition::BaseConversion, Box::new(convert));
    for bits in [32, 64] {
        for (origin, fusion) in [("fused", Fusion::Fused), ("separate", Fusion::Separate)] {
            add(origin, bits, bits - 2, Composition::InnerProduct, inner_product(fusion, bits));
        }
        for (origin, division) in [("columns", Division::Columns), ("rows", Division::Rows)] {
            add(origin, bits, bits - 2, Composition::KeySwitch, key_switch(division, bits));
        }
    }
    kernels
}

impl Kernels {
    fn new(origin: &str, bits: u32, longest: u32, operation: Operation, compute: Compute) -> Self {
        let (name, work) = (format!("{origin} {bits}"), Work::Operation(operation, compute));
        Self { name, longest, emulated_n: u32::MAX, limbs: 1, kind: None, work }
    }

    /// Whether the kernels are used for a degree on a device.
    pub(super) fn suits(&self, device: &Device, n: u32) -> bool {
        (!device.is_emulated() || n <= self.emulated_n)
            && self.kind.is_none_or(|kind| matches!(kind.recipe(device, n as usize), Ok(Some(_))))
    }
}

/// The transforms and the product by some kernels, which may depend on the device and the degree.
fn transforms(
    kernels: impl Fn(&Device, usize) -> Result<cuda::Kernels> + Clone + Send + Sync + 'static,
) -> [(Operation, Compute); 3] {
    let transform = |direction| -> Compute {
        let kernels = kernels.clone();
        Box::new(move |device, request, sets| {
            let (n, rings) = (degree(request), rings(request)?);
            let (words, copies) = (operand(sets, 1, 0), copies(device, request, sets));
            let words = Copies { words: &words, copies };
            let all = cuda::transform(device, &kernels(device, n)?, direction, n, &rings, words)?;
            Ok(results(&all, sets))
        })
    };
    let (forward, inverse) = (transform(Direction::Forward), transform(Direction::Inverse));
    let product: Compute = Box::new(move |device, request, sets| {
        let (n, rings) = (degree(request), rings(request)?);
        let [left, right] = [0, 1].map(|factor| operand(sets, 2, factor));
        let copies = copies(device, request, sets);
        let [left, right] = [&left, &right].map(|words| Copies { words, copies });
        Ok(results(&cuda::product(device, &kernels(device, n)?, n, &rings, left, right)?, sets))
    });
    [(golden::NTT, forward), (golden::INTT, inverse), (golden::POLYMUL, product)]
}

/// One of the `inputs` operands of each set, in all rings: a polynomial for each set.
fn operand(sets: &[Operands], inputs: usize, operand: usize) -> Vec<u128> {
    sets.iter().flat_map(|set| set.vectors.iter().skip(operand).step_by(inputs)).flatten().copied().collect()
}

/// A polynomial for each set.
fn results(all: &[u128], sets: &[Operands]) -> Vec<Vec<u128>> {
    all.chunks(all.len() / sets.len()).map(<[u128]>::to_vec).collect()
}

/// Copies of the sets in a batch: on a card, of several moduli, as many transforms as its kernels are made
/// for.
fn copies(device: &Device, request: &Request, sets: &[Operands]) -> usize {
    let limbs = request.rings.len();
    if device.is_emulated() || limbs == 1 { 1 } else { TRANSFORMS / (limbs * sets.len()) }
}

fn convert(device: &Device, task: &Composite, set: &Operands) -> Result<Vec<u128>> {
    let (from, to) = task.rings();
    let primes = |rings: &[ring::Ring]| rings.iter().map(ring::Ring::q).collect::<Vec<_>>();
    Ok(cuda::convert(device, from[0].len(), &primes(from), &primes(to), &set.vectors.concat())?)
}

fn automorphism(bits: u32) -> Compute {
    Box::new(move |device, request, sets| {
        let power = request.parameters.number("g").ok_or("the request has no exponent g")?;
        let all = operand(sets, 1, 0);
        Ok(results(&cuda::automorphism(device, bits, degree(request), u32::try_from(power)?, &all)?, sets))
    })
}

fn inner_product(fusion: Fusion, bits: u32) -> Compose {
    Box::new(move |device, task, set| {
        let (digits, keys) = set.vectors.split_at(task.composition().digits());
        let keys = terms(keys, digits.len());
        let ring = &task.rings().0[0];
        Ok(cuda::inner_product(device, (fusion, bits), ring.len(), ring.q(), &digits.concat(), &keys)?)
    })
}

fn key_switch(division: Division, bits: u32) -> Compose {
    Box::new(move |device, task, set| {
        let ((n, limbs, special), digits) = (lists(task)?, task.composition().digits());
        let (polynomial, key) = set.vectors.split_at(limbs.len());
        let key = terms(key, digits);
        let rings = KeyRings { limbs, special, digits };
        Ok(cuda::switch_key(device, (division, bits), n, &rings, &polynomial.concat(), &key)?)
    })
}

/// A key as the kernels have it, `[digit][part]`, from `[part][digit]`.
fn terms(key: &[Vec<u128>], digits: usize) -> Vec<u128> {
    let rows = key.len() / 2 / digits;
    let places = (0..digits).flat_map(|digit| [digit, digits + digit]);
    places.flat_map(|place| key[place * rows..(place + 1) * rows].concat()).collect()
}

fn degree(request: &Request) -> usize {
    request.rings[0].len()
}

fn rings(request: &Request) -> Result<Vec<Ring>> {
    request.rings.iter().map(with_root).collect()
}

fn with_root(ring: &ring::Ring) -> Result<Ring> {
    Ok(Ring { q: ring.q(), root: ring.require_root()? })
}

/// The degree, and the two lists of rings.
fn lists(task: &Composite) -> Result<(usize, Vec<Ring>, Vec<Ring>)> {
    let (first, second) = task.rings();
    let list = |rings: &[ring::Ring]| rings.iter().map(with_root).collect::<Result<_>>();
    Ok((first[0].len(), list(first)?, list(second)?))
}
