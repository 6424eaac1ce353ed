//! Moduli and constants of a key switch, and its host model.

use super::{Digits, part};
use crate::batch::check_residues;
use crate::number::{mul_mod, pow_mod};
use crate::{Error, Modulus, Word, host};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::ops::Range;

/// The moduli of a hybrid key switch (Gentry, Halevi and Smart, with digits): the limbs of the
/// ciphertext in `digits` groups of nearly equal size, and the special limbs that the result is
/// divided by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Basis<W> {
    moduli: Vec<Modulus<W>>,
    limbs: usize,
    digits: usize,
}

impl<W: Word> Basis<W> {
    /// Creates a basis of ciphertext limbs and special limbs: distinct primes of the same length,
    /// at most `W::BITS - 2` bits, with roots for the same N.
    ///
    /// # Errors
    /// Returns [`Error::Modulus`] naming the first invalid modulus, and [`Error::Unsupported`] if there are
    /// no limbs or no special limbs, if `digits` is not from 1 to the number of limbs, or for 128-bit words.
    pub fn new(ciphertext: &[Modulus<W>], special: &[Modulus<W>], digits: usize) -> Result<Self, Error> {
        let unsupported =
            |what: String, instead: &str| Err(Error::Unsupported { what, instead: instead.into() });
        if W::BITS > 64 {
            return unsupported("key switching in 128-bit words".into(), "use words of 32 or 64 bits");
        }
        let (Some(first), false) = (ciphertext.first(), special.is_empty()) else {
            return unsupported(
                "key switching without limbs".into(),
                "use one or more limbs and special limbs",
            );
        };
        if !(1..=ciphertext.len()).contains(&digits) {
            return unsupported(
                format!("{digits} digits of {} limbs", ciphertext.len()),
                "use 1 digit to as many as there are limbs",
            );
        }
        let moduli = [ciphertext, special].concat();
        let length = |modulus: &Modulus<W>| 128 - modulus.q().widen().leading_zeros();
        for (number, modulus) in moduli.iter().enumerate() {
            let q = modulus.q().widen();
            if length(modulus) != length(first) || length(modulus) > W::BITS - 2 || modulus.n() != first.n() {
                let reason = format!(
                    "all moduli must have the length of the first, {} bits, of at most {}, and roots for N = {}",
                    length(first),
                    W::BITS - 2,
                    first.n()
                );
                return Err(Error::Modulus { q, reason });
            }
            if moduli[..number].iter().any(|other| other.q() == modulus.q()) {
                return Err(Error::Modulus { q, reason: "duplicate modulus".into() });
            }
        }
        Ok(Self { moduli, limbs: ciphertext.len(), digits })
    }

    /// The ring dimension.
    pub fn n(&self) -> usize {
        self.moduli[0].n()
    }

    /// Number of ciphertext limbs.
    pub fn limbs(&self) -> usize {
        self.limbs
    }

    /// Number of all limbs.
    pub fn extended(&self) -> usize {
        self.moduli.len()
    }

    /// Number of digits.
    pub fn digits(&self) -> usize {
        self.digits
    }

    /// All moduli, the ciphertext's first.
    pub fn moduli(&self) -> &[Modulus<W>] {
        &self.moduli
    }

    /// Words of a ciphertext polynomial: limbs x N.
    pub fn polynomial_words(&self) -> usize {
        self.limbs * self.n()
    }

    /// Words of a key: digits x 2 x all limbs x N.
    pub fn key_words(&self) -> usize {
        self.digits * 2 * self.extended() * self.n()
    }

    /// All digits.
    pub fn all_digits(&self) -> Digits {
        Digits { first: 0, step: 1, count: self.digits }
    }

    /// The limbs of a digit.
    pub fn digit(&self, digit: usize) -> Range<usize> {
        part(self.limbs, self.digits, digit)
    }

    /// Checks a polynomial of the ciphertext.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless it has [`Self::polynomial_words`] words, and [`Error::Range`] naming
    /// the first word not below its modulus.
    pub fn check_polynomial(&self, polynomial: &[W]) -> Result<(), Error> {
        self.check_words(&self.moduli[..self.limbs], 1, polynomial)
    }

    /// Checks a key.
    ///
    /// # Errors
    /// Returns [`Error::Length`] unless it has [`Self::key_words`] words, and [`Error::Range`] naming the
    /// first word not below its modulus.
    pub fn check_key(&self, key: &[W]) -> Result<(), Error> {
        self.check_words(&self.moduli, 2 * self.digits, key)
    }

    /// Checks `count` polynomials of some moduli.
    fn check_words(&self, moduli: &[Modulus<W>], count: usize, words: &[W]) -> Result<(), Error> {
        let unit = count * moduli.len() * self.n();
        if words.len() != unit {
            return Err(Error::Length { unit, got: words.len() });
        }
        check_residues(moduli, words)
    }

    fn q(&self, limb: usize) -> u128 {
        self.moduli[limb].q().widen()
    }

    /// Product of some limbs except `without`, modulo limb `target`.
    fn others(&self, limbs: Range<usize>, without: usize, target: usize) -> u128 {
        let q = self.q(target);
        limbs.filter(|&limb| limb != without).fold(1, |product, limb| mul_mod(product, self.q(limb), q))
    }

    fn inverse(&self, x: u128, limb: usize) -> W {
        W::narrow(pow_mod(x, self.q(limb) - 2, self.q(limb)))
    }

    /// Tables of `mod_up` in `cuda/key_switch.cu`: inverses, factors.
    pub(super) fn up(&self) -> [Vec<W>; 2] {
        let mut inverses = vec![W::zeroed(); self.limbs];
        let mut factors = Vec::with_capacity(self.limbs * self.extended());
        for digit in (0..self.digits).map(|digit| self.digit(digit)) {
            for j in digit.clone() {
                inverses[j] = self.inverse(self.others(digit.clone(), j, j), j);
                factors.extend((0..self.extended()).map(|i| W::narrow(self.others(digit.clone(), j, i))));
            }
        }
        [inverses, factors]
    }

    /// Tables of `mod_down`: inverses, factors, quotients.
    pub(super) fn down(&self) -> [Vec<W>; 3] {
        let special = self.limbs..self.extended();
        let inverses = special.clone().map(|k| self.inverse(self.others(special.clone(), k, k), k)).collect();
        let factors = special
            .clone()
            .flat_map(|k| (0..self.limbs).map(move |i| (k, i)))
            .map(|(k, i)| W::narrow(self.others(special.clone(), k, i)))
            .collect();
        let quotients =
            (0..self.limbs).map(|i| self.inverse(self.others(special.clone(), usize::MAX, i), i)).collect();
        [inverses, factors, quotients]
    }

    /// The host model. Takes a polynomial in the transformed domain, limb by limb, and a key, digit by
    /// digit with two polynomials of all limbs each. Returns the two polynomials that replace the
    /// input. Digit d belongs to group d modulo `groups`; each group's sum is divided by the
    /// special limbs separately, and each division may round differently.
    ///
    /// # Panics
    /// Panics if the polynomial or the key has the wrong length.
    pub fn model(&self, polynomial: &[W], key: &[W], groups: usize) -> Vec<W> {
        assert!(polynomial.len() == self.polynomial_words() && key.len() == self.key_words());
        let (n, extended) = (self.n(), self.extended());
        let coefficients = self.coefficients(polynomial);
        let mut sums = vec![vec![W::zeroed(); extended * n]; 2 * groups];
        for digit in 0..self.digits {
            let integers = self.integers(self.digit(digit), &coefficients);
            for (limb, modulus) in self.moduli.iter().enumerate() {
                let raised = host::forward(modulus, &residues(&integers, self.q(limb)));
                for part in 0..2 {
                    let key = &key[((digit * 2 + part) * extended + limb) * n..][..n];
                    let sum = &mut sums[digit % groups * 2 + part][limb * n..][..n];
                    for ((sum, x), y) in sum.iter_mut().zip(&raised).zip(key) {
                        let product = mul_mod(x.widen(), y.widen(), self.q(limb));
                        *sum = self.add(limb, *sum, product);
                    }
                }
            }
        }
        let mut result =
            [vec![W::zeroed(); self.polynomial_words()], vec![W::zeroed(); self.polynomial_words()]];
        for (number, sum) in sums.iter().enumerate() {
            for (at, (place, quotient)) in result[number % 2].iter_mut().zip(self.divided(sum)).enumerate() {
                *place = self.add(at / n, *place, quotient);
            }
        }
        let rows = result.iter().flat_map(|part| part.chunks(n).zip(&self.moduli));
        rows.flat_map(|(row, modulus)| host::forward(modulus, row)).collect()
    }

    fn add(&self, limb: usize, x: W, y: u128) -> W {
        W::narrow((x.widen() + y) % self.q(limb))
    }

    /// The coefficients of transformed rows, of which the first belongs to the first modulus.
    fn coefficients(&self, rows: &[W]) -> Vec<W> {
        rows.chunks(self.n())
            .zip(&self.moduli)
            .flat_map(|(row, modulus)| host::inverse(modulus, row))
            .collect()
    }

    /// For each column, an integer congruent to the coefficients of some limbs, by the Chinese remainder
    /// theorem. It is less than the product of their moduli times their number.
    fn integers(&self, limbs: Range<usize>, coefficients: &[W]) -> Vec<BigUint> {
        let product = self.product(limbs.clone());
        let mut integers = vec![BigUint::ZERO; self.n()];
        for (limb, q) in limbs.map(|limb| (limb, BigUint::from(self.q(limb)))) {
            let others = &product / &q;
            let inverse = (&others % &q).modpow(&(&q - 2u32), &q);
            for (integer, x) in integers.iter_mut().zip(&coefficients[limb * self.n()..]) {
                *integer += &others * (&inverse * x.widen() % &q);
            }
        }
        integers
    }

    fn product(&self, limbs: Range<usize>) -> BigUint {
        limbs.map(|limb| BigUint::from(self.q(limb))).product()
    }

    /// The coefficients of a transformed polynomial of all limbs, divided by the special ones.
    fn divided(&self, polynomial: &[W]) -> impl Iterator<Item = u128> {
        let special = self.limbs..self.extended();
        let coefficients = self.coefficients(polynomial);
        let (rests, product) = (self.integers(special.clone(), &coefficients), self.product(special));
        let limbs = (0..self.limbs).map(|limb| {
            let q = BigUint::from(self.q(limb));
            ((&product % &q).modpow(&(&q - 2u32), &q), q)
        });
        let limbs: Vec<_> = limbs.collect();
        (0..self.polynomial_words()).map(move |at| {
            let (inverse, q) = &limbs[at / self.n()];
            // (x - rest) / product modulo q, with q - rest mod q instead of a negative number.
            let difference = BigUint::from(coefficients[at].widen()) + (q - &rests[at % self.n()] % q);
            (difference * inverse % q).to_u128().expect("a remainder of 128 bits")
        })
    }
}

fn residues<W: Word>(integers: &[BigUint], q: u128) -> Vec<W> {
    integers.iter().map(|x| W::narrow((x % q).to_u128().expect("a remainder of 128 bits"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moduli(count: usize, bits: u32, n: usize) -> Vec<Modulus<u64>> {
        (0..count).map(|skip| Modulus::find(bits, n, skip).unwrap()).collect()
    }

    #[test]
    fn bad_bases_are_refused() {
        let good = moduli(6, 40, 16);
        let (limbs, special) = good.split_at(4);
        assert!(Basis::new(limbs, special, 2).is_ok());
        assert!(Basis::new(limbs, special, 5).is_err());
        assert!(Basis::new(limbs, special, 0).is_err());
        assert!(Basis::new(limbs, &[], 2).is_err());
        assert!(Basis::new(limbs, &good[3..], 2).is_err());
        assert!(Basis::new(limbs, &moduli(1, 41, 16), 2).is_err());
        assert!(Basis::new(limbs, &moduli(1, 40, 32), 2).is_err());
        assert!(Basis::new(&moduli(1, 63, 16), &moduli(2, 63, 16)[1..], 1).is_err());
    }

    /// Digit d of this key is the product of the special limbs for the limbs of digit d and zero elsewhere.
    /// The sum over its digits gives the polynomial back.
    #[test]
    fn a_trivial_key_gives_the_polynomial_back() {
        let (n, all) = (16, moduli(7, 40, 16));
        let basis = Basis::new(&all[..5], &all[5..], 2).unwrap();
        let polynomial: Vec<u64> = (0..5 * n as u64).map(|i| i * i + 1).collect();
        let mut key = vec![0; basis.key_words()];
        for digit in 0..2 {
            for limb in part(5, 2, digit) {
                let factor = basis.others(5..7, usize::MAX, limb) as u64;
                let row = (digit * 2 * 7 + limb) * n;
                key[row..row + n].fill(factor);
            }
        }
        let switched = basis.model(&polynomial, &key, 1);
        assert_eq!(switched[..5 * n], polynomial);
        assert_eq!(switched[5 * n..], vec![0; 5 * n]);
        assert_eq!(basis.model(&polynomial, &key, 2), switched);
    }
}
