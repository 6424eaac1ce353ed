//! Keys, encryption and decryption.

use num_bigint::BigInt;
use programs::{KeyPart, ParameterSet, SwitchingKey};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ring::host::Ntt;
use ring::{Error, Modulus};
use ring_program::data::Words;
use std::ops::Range;

/// A ciphertext: two polynomials, c_0 + c_1 s, with a limb of values for each modulus q of its level.
pub type Ciphertext = [Vec<Words>; 2];

/// A key for a key switch: b and a, by digit and modulus of the highest level.
pub type SwitchKey = [Vec<Vec<Words>>; 2];

/// A modulus with its transform.
#[derive(Debug)]
struct Tower {
    modulus: Modulus,
    ntt: Ntt,
}

/// The owner of a secret key.
#[derive(Debug)]
pub struct Client {
    set: ParameterSet,
    /// q, then p.
    towers: Vec<Tower>,
    seed: u64,
    random: Xoshiro256PlusPlus,
    /// The coefficients of the secret s: -1, 0 or 1.
    secret: Vec<i128>,
    /// Those of the secret during a mod-raise, if the set has one.
    ephemeral: Option<Vec<i128>>,
    /// A public key: b = -a s + t e, and a, modulo q.
    public: Ciphertext,
}

impl Client {
    /// Draws keys from a seed.
    ///
    /// # Errors
    /// Returns an error if a modulus of the set has no transform.
    pub fn new(set: ParameterSet, seed: u64) -> Result<Self, Error> {
        let towers = set
            .rings()
            .iter()
            .map(|ring| Ok(Tower { modulus: *ring.modulus(), ntt: Ntt::for_ring(ring)? }))
            .collect::<Result<Vec<_>, Error>>()?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let n = set.degree().len();
        let secret = match set.hamming_weight() {
            None => (0..n).map(|_| random.random_range(-1..=1)).collect(),
            Some(weight) => sparse(&mut random, n, weight),
        };
        let ephemeral = set.bootstrap().and_then(|bootstrap| bootstrap.ephemeral_weight);
        let ephemeral = ephemeral.map(|weight| sparse(&mut random, n, weight));
        let public = [Vec::new(), Vec::new()];
        let mut client = Self { set, towers, seed, random, secret, ephemeral, public };
        let all = 0..client.set.levels();
        let secret = client.values(&client.secret, all.clone());
        let a: Vec<Words> = all.clone().map(|tower| client.uniform(tower)).collect();
        let error = client.error(all.clone());
        let b = client.each(all, |tower, i| {
            let q = &client.towers[tower].modulus;
            q.sub(error[tower].at(i), q.mul(a[tower].at(i), secret[tower].at(i)))
        });
        client.public = [b, a];
        Ok(client)
    }

    /// The parameters.
    pub fn set(&self) -> &ParameterSet {
        &self.set
    }

    /// The factor of errors: the plaintext modulus, or 1.
    fn t(&self) -> i128 {
        self.set.plaintext_modulus().unwrap_or(1) as i128
    }

    /// Uniform values in a tower.
    fn uniform(&mut self, tower: usize) -> Words {
        let q = self.towers[tower].modulus.value();
        let random = &mut self.random;
        (0..self.set.degree().len()).map(|_| random.random_range(0..q)).collect()
    }

    /// A generator of random numbers for a part of a key. It depends on the client's seed and the part alone, so that limbs of
    /// keys can be made in any order.
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

    /// The values of t times a small polynomial.
    fn error(&mut self, towers: Range<usize>) -> Vec<Words> {
        let (t, n) = (self.t(), self.set.degree().len());
        let error: Vec<i128> = small(&mut self.random, n).map(|coefficient| t * coefficient).collect();
        self.values(&error, towers)
    }

    /// The values of a polynomial with integer coefficients in some towers.
    fn values(&self, coefficients: &[i128], towers: Range<usize>) -> Vec<Words> {
        towers.map(|tower| self.values_in(coefficients, tower)[..].into()).collect()
    }

    /// The values of a polynomial with integer coefficients in one tower.
    pub(crate) fn values_in(&self, coefficients: &[i128], tower: usize) -> Vec<u128> {
        let Tower { modulus, ntt } = &self.towers[tower];
        let residue = |&x: &i128| {
            let magnitude = modulus.residue(x.unsigned_abs());
            if x < 0 { modulus.neg(magnitude) } else { magnitude }
        };
        let mut words: Vec<u128> = coefficients.iter().map(residue).collect();
        ntt.forward(&mut words);
        words
    }

    /// The tower with a modulus.
    pub(crate) fn tower(&self, modulus: u128) -> Option<usize> {
        self.towers.iter().position(|tower| tower.modulus.value() == modulus)
    }

    /// Limbs of computed words, by tower and index.
    fn each(&self, towers: Range<usize>, word: impl Fn(usize, usize) -> u128) -> Vec<Words> {
        let n = self.set.degree().len();
        towers.map(|tower| (0..n).map(|i| word(tower, i)).collect()).collect()
    }

    /// The secret with X^g for X.
    fn secret_at(&self, g: u64) -> Vec<i128> {
        let n = self.set.degree().get();
        let mut out = vec![0; n as usize];
        for (i, &coefficient) in self.secret.iter().enumerate() {
            let exponent = g * i as u64 % (2 * n);
            out[(exponent % n) as usize] = if exponent < n { coefficient } else { -coefficient };
        }
        out
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
    pub(crate) fn key_limb(&self, key: SwitchingKey, part: KeyPart, (digit, tower): (usize, usize)) -> Words {
        let n = self.set.degree().len();
        let modulus = &self.towers[tower].modulus;
        let mut random = self.random_of(key, KeyPart::A, [digit, tower]);
        let a = (0..n).map(|_| random.random_range(0..modulus.value()));
        if part == KeyPart::A {
            return a.collect();
        }
        // The same integers in all towers.
        let mut random = self.random_of(key, KeyPart::B, [digit, self.towers.len()]);
        let t = self.t();
        let error: Vec<i128> = small(&mut random, n).map(|coefficient| t * coefficient).collect();
        let ephemeral = || self.ephemeral.as_ref().expect("the set has an ephemeral secret");
        let secret = &self.secret;
        let mut special = self.set.p();
        let (from, to) = match key {
            SwitchingKey::Relinearisation => (secret, secret.clone()),
            SwitchingKey::Galois(g) => (secret, self.secret_at(self.inverse_exponent(g.into()))),
            SwitchingKey::DenseToSparse => {
                special.truncate(1);
                (secret, ephemeral().clone())
            }
            SwitchingKey::SparseToDense => (ephemeral(), secret.clone()),
            SwitchingKey::Unnamed => panic!("nobody knows the secret of an unnamed key"),
        };
        let (error, to) = (self.values_in(&error, tower), self.values_in(&to, tower));
        let masked = a.enumerate().map(|(i, a)| modulus.sub(error[i], modulus.mul(a, to[i])));
        let levels = self.set.levels();
        let size = levels.div_ceil(self.set.digits());
        if tower >= levels || tower / size != digit {
            return masked.collect();
        }
        let special = special.into_iter().fold(1, |product, p| modulus.mul(modulus.residue(p), product));
        let from = self.values_in(from, tower);
        let factor = |word: u128| match key {
            SwitchingKey::Relinearisation => modulus.mul(word, word),
            SwitchingKey::Galois(_)
            | SwitchingKey::DenseToSparse
            | SwitchingKey::SparseToDense
            | SwitchingKey::Unnamed => word,
        };
        let term = |i: usize| modulus.mul(factor(from[i]), special);
        masked.enumerate().map(|(i, word)| modulus.add(word, term(i))).collect()
    }

    /// h with g h = 1 mod 2n, for an odd g.
    fn inverse_exponent(&self, g: u64) -> u64 {
        let order = 2 * self.set.degree().get();
        // Each step doubles the bits that are right.
        (0..6).fold(g, |h, _| h.wrapping_mul(2_u64.wrapping_sub(g.wrapping_mul(h)))) % order
    }

    /// Encrypts a polynomial with the public key, at the highest level.
    ///
    /// # Panics
    /// Panics if the number of coefficients is not n.
    pub fn encrypt(&mut self, message: &[i128]) -> Ciphertext {
        assert_eq!(message.len(), self.set.degree().len(), "coefficients of a message");
        let all = 0..self.set.levels();
        let mask: Vec<i128> = (0..message.len()).map(|_| self.random.random_range(-1..=1)).collect();
        let mask = self.values(&mask, all.clone());
        let message = self.values(message, all.clone());
        [0, 1].map(|component| {
            let error = self.error(all.clone());
            self.each(all.clone(), |tower, i| {
                let q = &self.towers[tower].modulus;
                let word =
                    q.add(q.mul(self.public[component][tower].at(i), mask[tower].at(i)), error[tower].at(i));
                if component == 0 { q.add(word, message[tower].at(i)) } else { word }
            })
        })
    }

    /// The coefficients of c_0 + c_1 s, from -Q/2 to Q/2 for the product Q of the ciphertext's moduli.
    pub fn phase(&self, ciphertext: &Ciphertext) -> Vec<BigInt> {
        let level = ciphertext[0].len();
        let secret = self.values(&self.secret, 0..level);
        let [c0, c1] = ciphertext;
        let mut limbs: Vec<Vec<u128>> = Vec::new();
        for (tower, Tower { modulus: q, ntt }) in self.towers[..level].iter().enumerate() {
            let word = |i: usize| q.add(c0[tower].at(i), q.mul(c1[tower].at(i), secret[tower].at(i)));
            let mut words: Vec<u128> = (0..self.set.degree().len()).map(word).collect();
            ntt.inverse(&mut words);
            limbs.push(words);
        }
        let moduli = &self.set.q()[..level];
        let all: BigInt = moduli.iter().map(|&q| BigInt::from(q)).product();
        // Multiples of Q/q that are 1 modulo q.
        let units: Vec<BigInt> = self.towers[..level]
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

/// A small polynomial: sums of 42 coins, of standard deviation 3.2.
fn small(random: &mut impl Rng, n: usize) -> impl Iterator<Item = i128> {
    let coins = |word: u64| i128::from((word & 0x1f_ffff).count_ones());
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
