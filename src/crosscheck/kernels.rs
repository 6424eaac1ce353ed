//! The CUDA kernels that a cross-check runs: for each operation, those of each origin and word size.

use codegen::Request;
use golden::Operation;
use gpu_ref::crosscheck::{self as cuda, Change, KeyRings, Ring};
use gpu_ref::inner_product::Fusion;
use gpu_ref::key_switch::Division;
use gpu_ref::{Device, Direction, Strategy, Sync as Synchronisation};
use lab_run::crosscheck::{KeySwitch, Operands};
use std::error::Error;

pub(super) type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Computes an operation on one set of operands.
type Compute = Box<dyn Fn(&Device, &Request, &Operands) -> Result<Vec<u128>> + Send + Sync>;
/// Switches the key of one set of operands.
type Switch = Box<dyn Fn(&Device, &KeySwitch, &Operands) -> Result<Vec<u128>> + Send + Sync>;

/// What some kernels do.
pub(super) enum Work {
    Operation(Operation, Compute),
    KeySwitch(Switch),
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
    let mut add = |origin: &str, bits, longest, operation, compute| {
        kernels.push(Kernels::new(origin, bits, longest, operation, compute));
    };
    add("base-conversion", 32, 30, golden::BCONV, Box::new(convert));
    add("mod-switch", 32, 30, golden::MOD_UP, Box::new(mod_switch));
    for bits in [32, 64] {
        add("key-switch", bits, bits - 2, golden::MOD_UP, mod_change(Change::Up, bits));
        add("key-switch", bits, bits - 2, golden::MOD_DOWN, mod_change(Change::Down, bits));
        for (origin, fusion) in [("fused", Fusion::Fused), ("separate", Fusion::Separate)] {
            add(origin, bits, bits - 2, golden::KS_INNER_PRODUCT, inner_product(fusion, bits));
        }
    }
    for bits in [32, 64, 128] {
        add("automorphism", bits, bits, golden::AUTOMORPHISM, automorphism(bits));
    }
    for bits in [32, 64] {
        for (origin, division) in [("columns", Division::Columns), ("rows", Division::Rows)] {
            let work = Work::KeySwitch(key_switch(division, bits));
            let name = format!("{origin} {bits}");
            kernels.push(Kernels { name, longest: bits - 2, emulated_n: u32::MAX, work });
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
            let ring = rings(request)?[0];
            Ok(cuda::transform(device, kind, direction, degree(request), ring, &set.vectors[0])?)
        })
    };
    let product: Compute = Box::new(move |device, request, set| {
        let ring = rings(request)?[0];
        let [left, right] = [&set.vectors[0], &set.vectors[1]];
        Ok(cuda::product(device, kind, degree(request), ring, left, right)?)
    });
    [
        (golden::NTT, transform(Direction::Forward)),
        (golden::INTT, transform(Direction::Inverse)),
        (golden::POLYMUL, product),
    ]
}

fn convert(device: &Device, request: &Request, set: &Operands) -> Result<Vec<u128>> {
    let primes = |list| -> Vec<u128> {
        request.list(list).into_iter().map(|ring| request.basis.rings()[ring].q()).collect()
    };
    Ok(cuda::convert(device, degree(request), &primes("from"), &primes("to"), &set.vectors.concat())?)
}

fn mod_switch(device: &Device, request: &Request, set: &Operands) -> Result<Vec<u128>> {
    let (from, to) = lists(request)?;
    Ok(cuda::mod_switch(device, degree(request), &from, &to, &set.vectors.concat())?)
}

fn mod_change(change: Change, bits: u32) -> Compute {
    Box::new(move |device, request, set| {
        let (from, to) = lists(request)?;
        Ok(cuda::mod_change(device, (change, bits), degree(request), &from, &to, &set.vectors.concat())?)
    })
}

fn automorphism(bits: u32) -> Compute {
    Box::new(move |device, request, set| {
        let power = request.parameters.number("g").ok_or("the request has no exponent g")?;
        Ok(cuda::automorphism(device, bits, degree(request), u32::try_from(power)?, &set.vectors[0])?)
    })
}

/// Operands: the digits, then the first part of each key, then the second.
fn inner_product(fusion: Fusion, bits: u32) -> Compute {
    Box::new(move |device, request, set| {
        let (digits, keys) = set.vectors.split_at(set.vectors.len() / 3);
        let (first, second) = keys.split_at(digits.len());
        let keys: Vec<u128> = first.iter().zip(second).flat_map(|(b, a)| [&b[..], a].concat()).collect();
        let prime = request.basis.rings()[0].q();
        Ok(cuda::inner_product(device, (fusion, bits), degree(request), prime, &digits.concat(), &keys)?)
    })
}

fn key_switch(division: Division, bits: u32) -> Switch {
    Box::new(move |device, task, set| {
        let (limbs, special) = task.rings();
        let rings = |rings: &[ring::Ring]| rings.iter().map(with_root).collect::<Result<Vec<_>>>();
        let n = limbs[0].len();
        let rings = KeyRings { limbs: rings(limbs)?, special: rings(special)?, digits: task.digits() };
        let (polynomial, key) = set.vectors.split_at(limbs.len());
        Ok(cuda::switch_key(device, (division, bits), n, &rings, &polynomial.concat(), &key.concat())?)
    })
}

fn degree(request: &Request) -> usize {
    request.basis.rings()[0].len()
}

fn with_root(ring: &ring::Ring) -> Result<Ring> {
    Ok(Ring { q: ring.q(), root: ring.require_root()? })
}

fn rings(request: &Request) -> Result<Vec<Ring>> {
    request.basis.rings().iter().map(with_root).collect()
}

/// The rings of the lists `from` and `to`.
fn lists(request: &Request) -> Result<(Vec<Ring>, Vec<Ring>)> {
    let rings = rings(request)?;
    let list = |name| request.list(name).into_iter().map(|ring| rings[ring]).collect();
    Ok((list("from"), list("to")))
}
