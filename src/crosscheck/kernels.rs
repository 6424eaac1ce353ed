//! The CUDA kernels that a cross-check runs: for each operation, those of each origin and word size.

use codegen::Request;
use golden::Operation;
use gpu_ref::crosscheck::{self as cuda, KeyRings, Ring};
use gpu_ref::inner_product::Fusion;
use gpu_ref::key_switch::Division;
use gpu_ref::{Device, Direction, Strategy, Sync as Synchronisation};
use lab_run::crosscheck::{Composite, Composition, Operands};
use std::error::Error;

pub(super) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Computes an operation on one set of operands.
type Compute = Box<dyn Fn(&Device, &Request, &Operands) -> Result<Vec<u128>> + Send + Sync>;
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
    pub(super) work: Work,
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
            kernels.extend(transforms((strategy, bits)).map(add));
        }
    }
    for bits in [32, 64, 128] {
        let operation = golden::AUTOMORPHISM;
        kernels.push(Kernels::new(operation.name(), bits, bits, operation, automorphism(bits)));
    }
    let mut add = |origin: &str, bits, longest, composition, compute| {
        let (name, work) = (format!("{origin} {bits}"), Work::Composition(composition, compute));
        kernels.push(Kernels { name, longest, emulated_n: u32::MAX, work });
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
        Self { name, longest, emulated_n: u32::MAX, work }
    }
}

/// The transforms and the product of a strategy in words of some bits.
fn transforms(kind: (Strategy, u32)) -> [(Operation, Compute); 3] {
    let transform = |direction| -> Compute {
        Box::new(move |device, request, set| {
            let ring = with_root(&request.rings[0])?;
            Ok(cuda::transform(device, kind, direction, degree(request), ring, &set.vectors[0])?)
        })
    };
    let product: Compute = Box::new(move |device, request, set| {
        let ring = with_root(&request.rings[0])?;
        let [left, right] = [&set.vectors[0], &set.vectors[1]];
        Ok(cuda::product(device, kind, degree(request), ring, left, right)?)
    });
    [
        (golden::NTT, transform(Direction::Forward)),
        (golden::INTT, transform(Direction::Inverse)),
        (golden::POLYMUL, product),
    ]
}

fn convert(device: &Device, task: &Composite, set: &Operands) -> Result<Vec<u128>> {
    let (from, to) = task.rings();
    let primes = |rings: &[ring::Ring]| rings.iter().map(ring::Ring::q).collect::<Vec<_>>();
    Ok(cuda::convert(device, from[0].len(), &primes(from), &primes(to), &set.vectors.concat())?)
}

fn automorphism(bits: u32) -> Compute {
    Box::new(move |device, request, set| {
        let power = request.parameters.number("g").ok_or("the request has no exponent g")?;
        Ok(cuda::automorphism(device, bits, degree(request), u32::try_from(power)?, &set.vectors[0])?)
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

fn with_root(ring: &ring::Ring) -> Result<Ring> {
    Ok(Ring { q: ring.q(), root: ring.require_root()? })
}

/// The degree, and the two lists of rings.
fn lists(task: &Composite) -> Result<(usize, Vec<Ring>, Vec<Ring>)> {
    let (first, second) = task.rings();
    let list = |rings: &[ring::Ring]| rings.iter().map(with_root).collect::<Result<_>>();
    Ok((first[0].len(), list(first)?, list(second)?))
}
