//! Keys, encryption and decryption.

use num_bigint::BigInt;
use programs::{KeyPart, ParameterSet, SwitchingKey};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ring::host::{Fast, Ntt, Ntt64};
use ring::vector::narrow::{self, BLOCK};
use ring::{Error, Modulus, Ring};
use ring_program::data::Words;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A ciphertext: two polynomials, c_0 + c_1 s, with a limb of values for each modulus q of its level.
pub type Ciphertext = [Vec<Words>; 2];

/// A key for a key switch: b and a, by digit and modulus of the highest level.
pub type SwitchKey = [Vec<Vec<Words>>; 2];

/// A modulus with its transforms, and the values of the secret.
#[derive(Debug)]
struct Tower {
    modulus: Modulus,
    forward: Forward,
    inverse: Ntt,
    secret: Words,
}

/// The transform of a tower, in words as wide as its modulus needs.
#[derive(Debug)]
enum Forward {
    Narrow(Ntt64),
    Wide(Fast),
}

impl Forward {
    fn for_ring(ring: &Ring) -> Result<Self, Error> {
        match u64::try_from(ring.q()) {
            Ok(q) => Ok(Self::Narrow(Ntt64::new(ring.len(), q, ring.require_root()? as u64)?)),
            Err(_) => Ok(Self::Wide(Fast::for_ring(ring)?)),
        }
    }
}

impl Tower {
    /// The values of a polynomial with integer coefficients.
    fn values(&self, coefficients: impl Iterator<Item = i128>) -> Words {
        let q = self.modulus.value();
        let residue = |x: i128| {
            let magnitude = x.unsigned_abs();
            // Most coefficients are small.
            let magnitude = if magnitude < q { magnitude } else { self.modulus.residue(magnitude) };
            if x < 0 { self.modulus.neg(magnitude) } else { magnitude }
        };
        match &self.forward {
            Forward::Narrow(ntt) => {
                let mut words: Vec<u64> = coefficients.map(|x| residue(x) as u64).collect();
                ntt.forward(&mut words);
                words.into()
            }
            Forward::Wide(fast) => {
                let mut words: Vec<u128> = coefficients.map(residue).collect();
                fast.forward(&mut words);
                words[..].into()
            }
        }
    }

    /// The values of the secret with X^h for X. `reversed` has the bit-reversed places.
    fn secret_at(&self, reversed: &[u32], h: usize) -> Words {
        // Place i has the value at psi^(2 brv(i) + 1).
        let mask = 2 * reversed.len() - 1;
        let from = |&place: &u32| reversed[(((2 * place as usize + 1) * h) & mask) / 2] as usize;
        match &self.secret {
            Words::Narrow(words) => {
                reversed.iter().map(|place| words[from(place)]).collect::<Vec<u64>>().into()
            }
            Words::Wide(words) => reversed.iter().map(|place| words[from(place)]).collect(),
        }
    }

    /// Residues, drawn at random.
    fn draw(&self, random: &mut impl Rng, n: usize) -> Words {
        let q = self.modulus.value();
        match u64::try_from(q) {
            Ok(q) => (0..n).map(|_| below(random, q)).collect::<Vec<u64>>().into(),
            Err(_) => (0..n).map(|_| random.random_range(0..q)).collect(),
        }
    }

    /// Residues x - a b, plus a multiple of residues.
    fn key_words(&self, x: &Words, [a, b]: [&Words; 2], multiple: Option<(u128, &Words)>) -> Words {
        let q = &self.modulus;
        if let (Some(q), Words::Narrow(x), Words::Narrow(a), Words::Narrow(b)) = (q.narrow(), x, a, b) {
            let multiple = multiple.map(|(factor, words)| match words {
                Words::Narrow(words) => (factor as u64, words),
                Words::Wide(_) => unreachable!("residues of a modulus of 64 bits"),
            });
            let mut result = Vec::with_capacity(x.len());
            let (mut term, mut sum, mut last) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
            for start in (0..x.len()).step_by(BLOCK) {
                let block = start..x.len().min(start + BLOCK);
                let [term, sum, last] =
                    [&mut term, &mut sum, &mut last].map(|words| &mut words[..block.len()]);
                narrow::product(q, term, &a[block.clone()], &b[block.clone()]);
                narrow::sub(q, sum, &x[block.clone()], term);
                match multiple {
                    None => result.extend_from_slice(sum),
                    Some((factor, words)) => {
                        narrow::multiply_scalar(q, term, &words[block], factor);
                        narrow::add(q, last, sum, term);
                        result.extend_from_slice(last);
                    }
                }
            }
            return result.into();
        }
        let term = |i| multiple.map_or(0, |(factor, words)| q.mul(words.at(i), factor));
        let word = |(i, x)| q.add(q.sub(x, q.mul(a.at(i), b.at(i))), term(i));
        x.iter().enumerate().map(word).collect()
    }
}

/// The coefficients of the error of a key.
type SmallError = Arc<[i8]>;

/// The owner of a secret key.
#[derive(Debug)]
pub struct Client {
    set: ParameterSet,
    /// q, then p.
    towers: Vec<Tower>,
    seed: u64,
    random: Xoshiro256PlusPlus,
    /// The bit-reversed places of values.
    reversed: Vec<u32>,
    /// The errors of keys that have been drawn, by key and digit. There are thirty limbs or more of each.
    errors: Mutex<BTreeMap<(SwitchingKey, usize), SmallError>>,
    /// The coefficients of the secret during a mod-raise, -1, 0 or 1, if the set has one.
    ephemeral: Option<Vec<i128>>,
}

impl Client {
    /// Draws keys from a seed.
    ///
    /// # Errors
    /// Returns an error if a modulus of the set has no transform.
    pub fn new(set: ParameterSet, seed: u64) -> Result<Self, Error> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let n = set.degree().len();
        let secret: Vec<i128> = match set.hamming_weight() {
            None => (0..n).map(|_| random.random_range(-1..=1)).collect(),
            Some(weight) => sparse(&mut random, n, weight),
        };
        let tower = |ring: &Ring| -> Result<Tower, Error> {
            let (forward, inverse) = (Forward::for_ring(ring)?, Ntt::for_ring(ring)?);
            let mut tower = Tower { modulus: *ring.modulus(), forward, inverse, secret: [][..].into() };
            tower.secret = tower.values(secret.iter().copied());
            Ok(tower)
        };
        let towers = set.rings().iter().map(tower).collect::<Result<Vec<_>, _>>()?;
        let ephemeral = set.bootstrap().and_then(|bootstrap| bootstrap.ephemeral_weight);
        let ephemeral = ephemeral.map(|weight| sparse(&mut random, n, weight));
        let degree = set.degree();
        let reversed = (0..degree.len()).map(|place| degree.bit_reverse(place) as u32).collect();
        Ok(Self { set, towers, seed, random, reversed, errors: Mutex::default(), ephemeral })
    }

    /// The parameters.
    pub fn set(&self) -> &ParameterSet {
        &self.set
    }

    /// The factor of errors: the plaintext modulus, or 1.
    fn t(&self) -> i128 {
        self.set.plaintext_modulus().unwrap_or(1) as i128
    }

    /// A generator of random numbers for a part of a key. It depends on the client's seed and the part alone,
    /// so that limbs of keys can be made in any order.
    fn random_of(&self, key: SwitchingKey, part: KeyPart, indices: [usize; 2]) -> Xoshiro256PlusPlus {
        let kind = match key {
            SwitchingKey::Relinearisation => 0,
            SwitchingKey::DenseToSparse => 1,
            SwitchingKey::SparseToDense => 2,
            SwitchingKey::Unnamed => 3,
            // Odd, and at least 3.
            SwitchingKey::Galois(g) => 4 * u64::from(g),
        };
        let [first, second] = indices.map(|index| index as u64);
        let words = [kind, part as u64, first, second];
        let seed = words.into_iter().fold(self.seed, |seed, word| {
            Xoshiro256PlusPlus::seed_from_u64(seed.rotate_left(17) ^ word).next_u64()
        });
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }

    /// The values of a polynomial with integer coefficients in one tower.
    pub(crate) fn values_in(&self, coefficients: &[i128], tower: usize) -> Words {
        self.towers[tower].values(coefficients.iter().copied())
    }

    /// The tower with a modulus.
    pub(crate) fn tower(&self, modulus: u128) -> Option<usize> {
        self.towers.iter().position(|tower| tower.modulus.value() == modulus)
    }

    /// The key from s^2 to s, for products.
    pub fn relinearisation_key(&self) -> SwitchKey {
        self.switch_key(SwitchingKey::Relinearisation)
    }

    /// The key from s to s(X^(1/g)), for rotations: the automorphism X to X^g comes after the switch.
    pub fn rotation_key(&self, rotation: i64) -> SwitchKey {
        let g = crate::rotation_exponent(self.set.degree(), rotation);
        self.switch_key(SwitchingKey::Galois(g as u32))
    }

    /// All limbs of a key with all moduli.
    fn switch_key(&self, key: SwitchingKey) -> SwitchKey {
        let limbs = |part: KeyPart, digit: usize| {
            (0..self.towers.len()).map(|tower| self.key_limb(key, part, (digit, tower))).collect()
        };
        [KeyPart::B, KeyPart::A].map(|part| (0..self.set.digits()).map(|digit| limbs(part, digit)).collect())
    }

    /// The limb of a key in a tower, with F = P in the digit's towers and 0 elsewhere:
    ///
    /// ```text
    /// b = -a s' + t e + F s    from the secret s to s'
    /// ```
    ///
    /// # Panics
    /// Panics if the key is unnamed, or is of an ephemeral secret and the set has none.
    pub(crate) fn key_limb(&self, key: SwitchingKey, part: KeyPart, (digit, index): (usize, usize)) -> Words {
        let n = self.set.degree().len();
        let tower = &self.towers[index];
        let modulus = &tower.modulus;
        let a = tower.draw(&mut self.random_of(key, KeyPart::A, [digit, index]), n);
        if part == KeyPart::A {
            return a;
        }
        let t = self.t();
        let error = self.error(key, digit);
        let error = tower.values(error.iter().map(|&coefficient| t * i128::from(coefficient)));
        let ephemeral = || {
            let coefficients = self.ephemeral.as_ref().expect("the set has an ephemeral secret");
            tower.values(coefficients.iter().copied())
        };
        let secret = || tower.secret.clone();
        let mut special = self.set.p();
        let holds_factor = self.set.digit_of(index) == Some(digit);
        let (from, to) = match key {
            SwitchingKey::Relinearisation if holds_factor => {
                (secret().iter().map(|word| modulus.mul(word, word)).collect(), secret())
            }
            SwitchingKey::Relinearisation => (secret(), secret()),
            SwitchingKey::Galois(g) => {
                (secret(), tower.secret_at(&self.reversed, self.inverse_exponent(g as usize)))
            }
            SwitchingKey::DenseToSparse => {
                special.truncate(self.set.encapsulation_special());
                (secret(), ephemeral())
            }
            SwitchingKey::SparseToDense => (ephemeral(), secret()),
            SwitchingKey::Unnamed => panic!("nobody knows the secret of an unnamed key"),
        };
        let special = || special.iter().fold(1, |product, &p| modulus.mul(modulus.residue(p), product));
        let multiple = holds_factor.then(|| (special(), &from));
        tower.key_words(&error, [&a, &to], multiple)
    }

    /// The error of a key: the same integers in all towers.
    fn error(&self, key: SwitchingKey, digit: usize) -> SmallError {
        let errors = || self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = errors().get(&(key, digit)) {
            return Arc::clone(error);
        }
        let mut random = self.random_of(key, KeyPart::B, [digit, self.towers.len()]);
        let error: SmallError = small(&mut random, self.set.degree().len()).collect();
        Arc::clone(errors().entry((key, digit)).or_insert(error))
    }

    /// h with g h = 1 mod 2n, for an odd g.
    fn inverse_exponent(&self, g: usize) -> usize {
        let order = 2 * self.set.degree().len();
        // Each step doubles the bits that are right.
        (0..6).fold(g, |h, _| h.wrapping_mul(2_usize.wrapping_sub(g.wrapping_mul(h)))) % order
    }

    /// Encrypts a polynomial with the secret key, with all moduli of ciphertexts, those of the highest level:
    /// c_0 = m + t e - c_1 s with a uniform c_1. The noise t e is that of keys. With a public key it would be
    /// larger by about the root of n.
    ///
    /// # Panics
    /// Panics if the number of coefficients is not n.
    pub fn encrypt(&mut self, message: &[i128]) -> Ciphertext {
        assert_eq!(message.len(), self.set.degree().len(), "coefficients of a message");
        let t = self.t();
        let error = small(&mut self.random, message.len());
        let noisy: Vec<i128> =
            error.zip(message).map(|(error, message)| message + t * i128::from(error)).collect();
        let mut pair = |tower: &Tower| -> (Words, Words) {
            let q = &tower.modulus;
            let c1: Words = (0..message.len()).map(|_| self.random.random_range(0..q.value())).collect();
            let masked = tower.values(noisy.iter().copied());
            let products = c1.iter().zip(tower.secret.iter()).map(|(c1, secret)| q.mul(c1, secret));
            (masked.iter().zip(products).map(|(masked, product)| q.sub(masked, product)).collect(), c1)
        };
        let (c0, c1) = self.towers[..self.set.q().len()].iter().map(&mut pair).unzip();
        [c0, c1]
    }

    /// A ciphertext of the highest level modulo some of its moduli.
    ///
    /// # Panics
    /// Panics if the set lacks one of them.
    pub fn modulo(&self, ciphertext: &Ciphertext, moduli: &[u128]) -> Ciphertext {
        let limb = |limbs: &[Words], &modulus: &u128| {
            limbs[self.tower(modulus).expect("a modulus of the client's set")].clone()
        };
        ciphertext.each_ref().map(|limbs| moduli.iter().map(|modulus| limb(limbs, modulus)).collect())
    }

    /// The coefficients of c_0 + c_1 s, from -Q/2 to Q/2 for the product Q of the ciphertext's moduli.
    ///
    /// # Panics
    /// Panics if no level of the set has as many limbs.
    pub fn phase(&self, ciphertext: &Ciphertext) -> Vec<BigInt> {
        let level = self.set.level_of(ciphertext[0].len()).expect("a level with as many limbs");
        let moduli = self.set.level_moduli(level);
        let tower = |&modulus: &u128| &self.towers[self.tower(modulus).expect("a modulus of the set")];
        let towers: Vec<&Tower> = moduli.iter().map(tower).collect();
        let [c0, c1] = ciphertext;
        let mut limbs: Vec<Vec<u128>> = Vec::new();
        for (index, Tower { modulus: q, inverse, secret, .. }) in towers.iter().enumerate() {
            let word = |i: usize| q.add(c0[index].at(i), q.mul(c1[index].at(i), secret.at(i)));
            let mut words: Vec<u128> = (0..self.set.degree().len()).map(word).collect();
            inverse.inverse(&mut words);
            limbs.push(words);
        }
        let all: BigInt = moduli.iter().map(|&q| BigInt::from(q)).product();
        // Multiples of Q/q that are 1 modulo q.
        let units: Vec<BigInt> = towers
            .iter()
            .map(|Tower { modulus: q, .. }| {
                let cofactor = &all / q.value();
                let residue = u128::try_from(&cofactor % q.value()).expect("a residue of 128 bits");
                cofactor * q.inverse(residue).expect("the moduli are coprime")
            })
            .collect();
        let coefficient = |i: usize| {
            let x = limbs.iter().zip(&units).map(|(limb, unit)| unit * limb[i]).sum::<BigInt>() % &all;
            if &x * 2 > all { x - &all } else { x }
        };
        (0..self.set.degree().len()).map(coefficient).collect()
    }
}

/// A number below q: floor(q x / 2^128) for a random x of 128 bits.
fn below(random: &mut impl Rng, q: u64) -> u64 {
    let [low, high] = [(); 2].map(|()| u128::from(random.next_u64()) * u128::from(q));
    ((high + (low >> u64::BITS)) >> u64::BITS) as u64
}

/// A small polynomial: sums of 42 coins, of standard deviation 3.2.
fn small(random: &mut impl Rng, n: usize) -> impl Iterator<Item = i8> {
    let coins = |word: u64| (word & 0x1f_ffff).count_ones() as i8;
    (0..n).map(move |_| {
        let word = random.next_u64();
        coins(word) - coins(word >> 21)
    })
}

/// A polynomial with `weight` coefficients 1 or -1.
fn sparse(random: &mut impl RngExt, n: usize, weight: u64) -> Vec<i128> {
    let mut secret = vec![0; n];
    let mut left = weight;
    while left > 0 {
        let place = random.random_range(0..n);
        if secret[place] == 0 {
            secret[place] = if random.random_range(0..2) == 0 { 1 } else { -1 };
            left -= 1;
        }
    }
    secret
}
