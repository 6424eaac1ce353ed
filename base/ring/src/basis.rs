//! Several rings at once: residue number systems.

use crate::modular::Modulus;
use crate::prime::largest_primes;
use crate::{Degree, Error, Ring};

/// Rings of one degree with pairwise coprime moduli q_0, .., q_(k-1): a residue number system.
///
/// An integer x below Q = q_0 .. q_(k-1) is represented by its residues x_i = x mod q_i. By the
/// Chinese remainder theorem,
///
/// ```text
/// x = sum_i [x_i (Q/q_i)^-1 mod q_i] (Q/q_i) - v Q    for some v from 0 to k - 1
/// ```
///
/// Base conversion, rescaling and key switching use these constants modulo one of the moduli or another
/// one.
///
/// ```
/// use ring::{Basis, Degree, modular::Modulus};
///
/// let basis = Basis::generate(Degree::new(1024)?, 60, 3)?;
/// let q = basis.moduli();
/// let p = Modulus::new(97)?;
/// assert_eq!(basis.product_modulo(&p), q[0] % 97 * (q[1] % 97) * (q[2] % 97) % 97);
/// assert_eq!(basis.cofactor_modulo(0, &p), q[1] % 97 * (q[2] % 97) % 97);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Basis {
    /// At least one.
    rings: Vec<Ring>,
    /// Place `i` holds (Q/q_i)^-1 mod q_i.
    inverse_cofactors: Vec<u128>,
}

impl Basis {
    /// The basis of `rings`, in this order.
    ///
    /// # Errors
    /// Returns an error if there is no ring, if the degrees differ, or if two moduli have a common
    /// factor.
    pub fn new(rings: Vec<Ring>) -> Result<Self, Error> {
        let Some(first) = rings.first() else { return Err(Error::EmptyBasis) };
        if let Some(other) = rings.iter().find(|ring| ring.degree() != first.degree()) {
            let (first, other) = (first.degree().get(), other.degree().get());
            return Err(Error::Degrees { first, other });
        }
        let mut inverse_cofactors = Vec::with_capacity(rings.len());
        for (i, ring) in rings.iter().enumerate() {
            let mut product = 1;
            for (j, other) in rings.iter().enumerate().filter(|&(j, _)| j != i) {
                let (first, other) = if i < j { (ring.q(), other.q()) } else { (other.q(), ring.q()) };
                let inverse = ring.modulus().inverse(rings[j].q());
                let inverse = inverse.ok_or(Error::NotCoprime { first, other })?;
                product = ring.modulus().mul(product, inverse);
            }
            inverse_cofactors.push(product);
        }
        Ok(Self { rings, inverse_cofactors })
    }

    /// The basis of the `count` largest primes of `bits` bits that are 1 mod 2n, each with its
    /// smallest root.
    ///
    /// # Errors
    /// Returns an error if `count` is zero or there are too few such primes.
    pub fn generate(degree: Degree, bits: u32, count: usize) -> Result<Self, Error> {
        if count == 0 {
            return Err(Error::EmptyBasis);
        }
        let primes = largest_primes(bits, degree, count)?;
        let rings = primes.into_iter().map(|q| Ring::with_smallest_root(degree, q));
        Self::new(rings.collect::<Result<_, _>>()?)
    }

    /// The rings.
    pub fn rings(&self) -> &[Ring] {
        &self.rings
    }

    /// The number of rings, at least one.
    #[expect(clippy::len_without_is_empty, reason = "a basis has at least one ring")]
    pub fn len(&self) -> usize {
        self.rings.len()
    }

    /// The degree n of all rings.
    pub fn degree(&self) -> Degree {
        self.rings[0].degree()
    }

    /// The moduli q_0, .., q_(k-1).
    pub fn moduli(&self) -> Vec<u128> {
        self.rings.iter().map(Ring::q).collect()
    }

    /// The product Q of all moduli, modulo `p`.
    pub fn product_modulo(&self, p: &Modulus) -> u128 {
        self.rings.iter().fold(1, |product, ring| p.mul(ring.q(), product))
    }

    /// The cofactor Q/q_`index`, modulo `p`.
    ///
    /// # Panics
    /// Panics if there is no ring `index`.
    pub fn cofactor_modulo(&self, index: usize, p: &Modulus) -> u128 {
        assert!(index < self.len(), "ring {index} of a basis of {}", self.len());
        let others = self.rings.iter().enumerate().filter(|&(i, _)| i != index);
        others.fold(1, |product, (_, ring)| p.mul(ring.q(), product))
    }

    /// (Q/q_`index`)^-1 modulo q_`index`.
    ///
    /// # Panics
    /// Panics if there is no ring `index`.
    pub fn inverse_cofactor(&self, index: usize) -> u128 {
        self.inverse_cofactors[index]
    }

    /// q_`index`^-1 modulo q_`modulo`, as rescaling by q_`index` needs it.
    ///
    /// # Panics
    /// Panics if there is no such ring, or `index` equals `modulo`.
    pub fn inverse_modulo(&self, index: usize, modulo: usize) -> u128 {
        let inverse = self.rings[modulo].modulus().inverse(self.rings[index].q());
        inverse.expect("two different moduli of a basis are coprime")
    }

    /// The inverse of the product Q modulo `p`, or `None` if they have a common factor.
    pub fn inverse_product_modulo(&self, p: &Modulus) -> Option<u128> {
        p.inverse(self.product_modulo(p))
    }

    /// The basis of this one's rings, then `other`'s.
    ///
    /// # Errors
    /// Returns an error if the degrees differ, or if a modulus of one and a modulus of the other have
    /// a common factor.
    pub fn extend(&self, other: &Self) -> Result<Self, Error> {
        Self::new([&self.rings[..], &other.rings[..]].concat())
    }

    /// Splits off the rings from `index` on.
    ///
    /// # Errors
    /// Returns an error if that leaves no ring on one of the two sides.
    pub fn split_at(&self, index: usize) -> Result<(Self, Self), Error> {
        let (front, back) = self.rings.split_at_checked(index).ok_or(Error::EmptyBasis)?;
        Ok((Self::new(front.to_vec())?, Self::new(back.to_vec())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn ring(n: u64, q: u128) -> Ring {
        Ring::new(Degree::new(n).unwrap(), q).unwrap()
    }

    fn product(moduli: &[u128]) -> BigUint {
        moduli.iter().map(|&q| BigUint::from(q)).product()
    }

    #[test]
    fn the_chinese_remainder_theorem_holds() {
        let moduli = [u128::MAX - 158, (1 << 127) - 1, 3, 1 << 64 | 13, 12289, 5 * 7 * 11];
        let basis = Basis::new(moduli.map(|q| ring(16, q)).to_vec()).unwrap();
        let q = product(&moduli);
        let x = &q / 3u32 * 2u32 + 12345u32;
        let sum: BigUint = (0..basis.len())
            .map(|i| {
                let residue: u128 = (&x % moduli[i]).try_into().unwrap();
                let digit = basis.rings()[i].modulus().mul(residue, basis.inverse_cofactor(i));
                &q / moduli[i] * digit
            })
            .sum();
        assert_eq!(sum % &q, x);
    }

    #[test]
    fn constants_agree_with_big_integers() {
        let basis = Basis::generate(Degree::new(64).unwrap(), 60, 4).unwrap();
        let (moduli, q) = (basis.moduli(), product(&basis.moduli()));
        for p in [3, 12289, (1 << 61) - 1, u128::MAX] {
            let m = Modulus::new(p).unwrap();
            assert_eq!(BigUint::from(basis.product_modulo(&m)), &q % p);
            let inverse = basis.inverse_product_modulo(&m).map(BigUint::from);
            assert_eq!(inverse, q.modinv(&p.into()));
            for (i, q_i) in moduli.iter().enumerate() {
                assert_eq!(BigUint::from(basis.cofactor_modulo(i, &m)), &q / q_i % p);
            }
        }
        for i in 0..4 {
            let cofactor = (&q / moduli[i]).modinv(&moduli[i].into());
            assert_eq!(Some(basis.inverse_cofactor(i).into()), cofactor);
            for j in (0..4).filter(|&j| j != i) {
                let inverse = BigUint::from(moduli[i]).modinv(&moduli[j].into());
                assert_eq!(Some(basis.inverse_modulo(i, j).into()), inverse);
            }
        }
    }

    #[test]
    fn invalid_bases_are_rejected() {
        let basis = |rings: &[Ring]| Basis::new(rings.to_vec());
        let text = |result: Result<Basis, Error>| result.unwrap_err().to_string();
        assert_eq!(text(basis(&[])), "a basis needs at least one ring");
        assert_eq!(
            text(basis(&[ring(8, 3), ring(16, 5)])),
            "the rings of a basis have different degrees: 8 and 16"
        );
        assert_eq!(
            text(basis(&[ring(8, 15), ring(8, 7), ring(8, 21)])),
            "the moduli 0xf and 0x15 of a basis have a common factor"
        );
        assert!(basis(&[ring(8, 7), ring(8, 7)]).is_err());
        assert!(Basis::generate(Degree::MIN, 60, 0).is_err());
    }

    #[test]
    fn a_basis_can_be_split_and_extended() {
        let basis = Basis::new([3, 5, 7].map(|q| ring(8, q)).to_vec()).unwrap();
        let (front, back) = basis.split_at(2).unwrap();
        assert_eq!((front.moduli(), back.moduli()), (vec![3, 5], vec![7]));
        assert_eq!(front.extend(&back), Ok(basis.clone()));
        assert_eq!(front.extend(&front), Err(Error::NotCoprime { first: 3, other: 3 }));
        for index in [0, 3, 4] {
            assert_eq!(basis.split_at(index), Err(Error::EmptyBasis));
        }
    }
}
