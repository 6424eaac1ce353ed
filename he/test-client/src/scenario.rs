//! Two computations on ciphertexts: product, rescale, rotation; then a product with a merged rescale.
//!
//! The product is computed twice, so that both ways to rescale are shown.

use crate::{Arguments, Ciphertext, Client, Rpu, RpuError, Step, bgv, ckks};
use num_complex::Complex64;
use programs::{Options, ParameterSet, find_program};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim::Machine;

/// The slots to rotate by.
pub const ROTATION: i64 = 3;

/// CKKS: 4,096 complex slots, three moduli of 60, 45 and 45 bits, one special modulus of 61 bits.
pub const CKKS: &str = "n = 8192\nq = [{ bits = 60, count = 1 }, { bits = 45, count = 2 }]\n\
    p = [{ bits = 61, count = 1 }]\ndigits = 3\n";

/// The scale of CKKS's slots.
pub const SCALE: f64 = (1_u64 << 45) as f64;

/// BGV: 8,192 slots modulo 65,537, three moduli of 60 bits, two digits, two special moduli of 60 bits. For a
/// secure set they are too large.
pub const BGV: &str = "n = 8192\nq = [{ bits = 60, count = 3 }]\np = [{ bits = 60, count = 2 }]\n\
    digits = 2\nplaintext_modulus = 65537\nsecurity = \"none\"\n";

/// What was computed, and how well.
#[derive(Debug)]
pub struct Outcome<T> {
    /// The programs that ran, with their names.
    pub steps: Vec<(&'static str, Step)>,
    /// Decrypted and expected slots of the product, rescaled after it and rotated.
    pub rotated: [Vec<T>; 2],
    /// Decrypted and expected slots of the product with a merged rescale.
    pub merged: [Vec<T>; 2],
}

/// The steps on encrypted operands.
struct Steps {
    client: Client,
    rpu: Rpu,
    steps: Vec<(&'static str, Step)>,
}

impl Steps {
    fn new(set: &str, machine: Machine) -> Self {
        let set = ParameterSet::parse("example", "example.toml", set, None).expect("a valid set");
        let client = Client::new(set, 1).expect("its moduli have transforms");
        Self { client, rpu: Rpu::new(machine), steps: Vec::new() }
    }

    fn run(&mut self, name: &'static str, options: &Options, data: Arguments) -> Result<&Step, RpuError> {
        let program = find_program(name).expect("a program");
        let step = self.rpu.run(&program, self.client.set(), options, data)?;
        self.steps.push((name, step));
        Ok(&self.steps.last().expect("the step").1)
    }

    /// The product of two ciphertexts: rescaled and rotated, and with a merged rescale.
    fn compute(&mut self, factors: [&Ciphertext; 2]) -> Result<[Ciphertext; 2], RpuError> {
        let top = self.client.set().levels();
        let key = self.client.relinearisation_key();
        let operands = || {
            Arguments::default().ciphertext("ct1", factors[0]).ciphertext("ct2", factors[1]).key("evk", &key)
        };
        let none = Options::of([("rescale", "none")]);
        let product = self.run("hmult", &none, operands())?.ciphertext("prod");
        let operand = Arguments::default().ciphertext("ct", &product);
        let rescaled = self.run("rescale", &Options::default(), operand)?.ciphertext("rescaled");
        let key = self.client.rotation_key(ROTATION);
        let operand = Arguments::default().ciphertext("ct", &rescaled).key("evk", &key);
        let lower = Options::of([("level", (top - 1).to_string()), ("rotations", ROTATION.to_string())]);
        let rotated = self.run("hrot", &lower, operand)?.ciphertext("rot");
        let merged = self.run("hmult", &Options::default(), operands())?.ciphertext("prod");
        Ok([rotated, merged])
    }
}

/// The slots of a rotated plaintext of half as many slots as the ring has coefficients.
fn rotated<T: Copy>(slots: &[T]) -> Vec<T> {
    let mut slots = slots.to_vec();
    slots.rotate_left(ROTATION as usize);
    slots
}

/// Multiplies, rescales and rotates complex slots of the unit square.
///
/// # Errors
/// Returns an error if a program does not run, or differs from the executor on big integers.
pub fn ckks(machine: Machine) -> Result<Outcome<Complex64>, RpuError> {
    let mut steps = Steps::new(CKKS, machine);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let count = steps.client.set().degree().len() / 2;
    let mut part = || random.random_range(-1.0..1.0);
    let slots = [(); 2].map(|()| (0..count).map(|_| Complex64::new(part(), part())).collect::<Vec<_>>());
    let [a, b] = slots.each_ref().map(|slots| steps.client.encrypt(&ckks::encode(slots, SCALE)));
    let results = steps.compute([&a, &b])?;
    let dropped = *steps.client.set().q().last().expect("a modulus");
    let scale = SCALE * SCALE / dropped as f64;
    let [found, merged] = results.map(|result| ckks::decode(&steps.client.phase(&result), scale));
    let products: Vec<Complex64> = slots[0].iter().zip(&slots[1]).map(|(a, b)| a * b).collect();
    Ok(Outcome { steps: steps.steps, rotated: [found, rotated(&products)], merged: [merged, products] })
}

/// Multiplies, switches the modulus of and rotates integer slots. Each half of the slots rotates by
/// itself.
///
/// # Errors
/// Returns an error if a program does not run, or differs from the executor on big integers.
pub fn bgv(machine: Machine) -> Result<Outcome<u128>, RpuError> {
    let mut steps = Steps::new(BGV, machine);
    let set = steps.client.set();
    let t = set.plaintext_modulus().expect("a set of BGV");
    let encoder = bgv::Slots::new(set.degree(), t).expect("the plaintext modulus has a transform");
    let (count, dropped) = (set.degree().len(), *set.q().last().expect("a modulus"));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let slots = [(); 2].map(|()| (0..count).map(|_| random.random_range(0..t)).collect::<Vec<_>>());
    let [a, b] = slots.each_ref().map(|slots| steps.client.encrypt(&encoder.encode(slots)));
    let results = steps.compute([&a, &b])?;
    // The switch divides the plaintext by the modulus that it drops.
    let [found, merged] = results.map(|result| encoder.decode(&steps.client.phase(&result), dropped % t));
    let products: Vec<u128> = slots[0].iter().zip(&slots[1]).map(|(a, b)| a * b % t).collect();
    let halves = products.split_at(count / 2);
    let expected = [rotated(halves.0), rotated(halves.1)].concat();
    Ok(Outcome { steps: steps.steps, rotated: [found, expected], merged: [merged, products] })
}
