//! Keys, encryption and decryption.

use num_bigint::BigInt;
use programs::ParameterSet;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ring::host::Ntt;
use ring::{Error, Modulus, Ring};
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
    random: Xoshiro256PlusPlus,
    /// The coefficients of the secret s: -1, 0 or 1.
    secret: Vec<i128>,
    /// A public key: b = -a s + t e, and a, modulo q.
    public: Ciphertext,
}

impl Client {
    /// Draws keys from a seed.
    ///
    /// # Errors
    /// Returns an error if a modulus of the set has no transform.
    pub fn new(set: ParameterSet, seed: u64) -> Result<Self, Error> {
        let tower = |q| -> Result<Tower, Error> {
            let ring = Ring::with_smallest_root(set.degree(), q)?;
            Ok(Tower { modulus: *ring.modulus(), ntt: Ntt::for_ring(&ring)? })
        };
        let towers = [set.q(), set.p()].concat().into_iter().map(tower).collect::<Result<Vec<_>, _>>()?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let secret = (0..set.degree().len()).map(|_| random.random_range(-1..=1)).collect();
        let mut client = Self { set, towers, random, secret, public: [Vec::new(), Vec::new()] };
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

    /// A small polynomial: sums of 42 coins, of standard deviation 3.2.
    fn small(&mut self) -> Vec<i128> {
        let random = &mut self.random;
        let coins = |word: u64| i128::from((word & 0x1f_ffff).count_ones());
        let mut draw = || {
            let word = random.next_u64();
            coins(word) - coins(word >> 21)
        };
        (0..self.set.degree().len()).map(|_| draw()).collect()
    }

    /// The values of t times a small polynomial.
    fn error(&mut self, towers: Range<usize>) -> Vec<Words> {
        let t = self.t();
        let error: Vec<i128> = self.small().into_iter().map(|coefficient| t * coefficient).collect();
        self.values(&error, towers)
    }

    /// The values of a polynomial with integer coefficients in some towers.
    fn values(&self, coefficients: &[i128], towers: Range<usize>) -> Vec<Words> {
        let limb = |tower: &Tower| {
            let residue = |&x: &i128| {
                let magnitude = tower.modulus.residue(x.unsigned_abs());
                if x < 0 { tower.modulus.neg(magnitude) } else { magnitude }
            };
            let mut words: Vec<u128> = coefficients.iter().map(residue).collect();
            tower.ntt.forward(&mut words);
            words[..].into()
        };
        self.towers[towers].iter().map(limb).collect()
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
    pub fn relinearisation_key(&mut self) -> SwitchKey {
        let all = 0..self.towers.len();
        let secret = self.values(&self.secret, all.clone());
        let square = self.each(all, |tower, i| {
            let word = secret[tower].at(i);
            self.towers[tower].modulus.mul(word, word)
        });
        self.switch_key(&square, &secret)
    }

    /// The key from s to s(X^(1/g)), for rotations: the automorphism X to X^g comes after the switch.
    pub fn rotation_key(&mut self, rotation: i64) -> SwitchKey {
        let all = 0..self.towers.len();
        let g = crate::rotation_exponent(self.set.degree(), -rotation);
        let (from, to) = (self.values(&self.secret, all.clone()), self.values(&self.secret_at(g), all));
        self.switch_key(&from, &to)
    }

    /// b_j = -a_j `to` + t e_j + F_j `from`, with F_j = P in digit j's towers and 0 elsewhere.
    fn switch_key(&mut self, from: &[Words], to: &[Words]) -> SwitchKey {
        let (all, levels) = (0..self.towers.len(), self.set.levels());
        let size = levels.div_ceil(self.set.digits());
        let mut key: SwitchKey = [Vec::new(), Vec::new()];
        for first in (0..levels).step_by(size) {
            let own = first..(first + size).min(levels);
            let a: Vec<Words> = all.clone().map(|tower| self.uniform(tower)).collect();
            let error = self.error(all.clone());
            let special = |q: &Modulus| self.set.p().into_iter().fold(1, |product, p| q.mul(p, product));
            let special: Vec<u128> = self.towers.iter().map(|tower| special(&tower.modulus)).collect();
            let b = self.each(all.clone(), |tower, i| {
                let q = &self.towers[tower].modulus;
                let word = q.sub(error[tower].at(i), q.mul(a[tower].at(i), to[tower].at(i)));
                match own.contains(&tower) {
                    true => q.add(word, q.mul(from[tower].at(i), special[tower])),
                    false => word,
                }
            });
            key[0].push(b);
            key[1].push(a);
        }
        key
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
