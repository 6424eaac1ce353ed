//! The moduli in use at a level, and the constants of conversions between them.

use ring::{Basis, Ring};
use std::ops::Range;

/// The index of a modulus in use: q_0, .., q_(l-1), then p_0, ..
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Tower(pub(crate) usize);

/// The index of a digit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Digit(pub(crate) usize);

/// The moduli in use at a level l: q_0 to q_(l-1) and all of p.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    rings: Vec<Ring>,
    /// The moduli of the set at the highest level, and at this one.
    levels: (usize, usize),
    /// The towers of each digit that are in use.
    digits: Vec<Range<usize>>,
    /// The plaintext modulus, or 1.
    pub(crate) t: u128,
    /// Whether programs state the roots of unity.
    pub(crate) states_roots: bool,
}

impl Base {
    /// The base of the set `all`, which has `levels.0` moduli q, at the level `levels.1`.
    pub(crate) fn new(
        all: &Basis,
        levels: (usize, usize),
        digits: usize,
        t: u128,
        states_roots: bool,
    ) -> Self {
        let (q, p) = all.rings().split_at(levels.0);
        let rings = q[..levels.1].iter().chain(p).copied().collect();
        let size = levels.0.div_ceil(digits);
        let digits = (0..levels.1).step_by(size).map(|first| first..(first + size).min(levels.1)).collect();
        Self { rings, levels, digits, t, states_roots }
    }

    /// The number of moduli q in use.
    pub(crate) fn level(&self) -> usize {
        self.levels.1
    }

    /// Leaves out the last modulus q.
    pub(crate) fn drop_last(&mut self) {
        self.levels.1 -= 1;
        let level = self.levels.1;
        self.rings.remove(level);
        self.digits.retain(|digit| digit.start < level);
        if let Some(last) = self.digits.last_mut() {
            last.end = last.end.min(level);
        }
    }

    /// The moduli q in use.
    pub(crate) fn q(&self) -> Vec<Tower> {
        (0..self.level()).map(Tower).collect()
    }

    /// The special moduli.
    pub(crate) fn p(&self) -> Vec<Tower> {
        (self.level()..self.rings.len()).map(Tower).collect()
    }

    /// All moduli in use: q, then p.
    pub(crate) fn all(&self) -> Vec<Tower> {
        (0..self.rings.len()).map(Tower).collect()
    }

    /// The digits in use.
    pub(crate) fn digits(&self) -> impl Iterator<Item = Digit> + use<> {
        (0..self.digits.len()).map(Digit)
    }

    /// The towers of a digit.
    pub(crate) fn own(&self, digit: Digit) -> Vec<Tower> {
        self.digits[digit.0].clone().map(Tower).collect()
    }

    /// Whether a digit has a tower.
    pub(crate) fn owns(&self, digit: Digit, tower: Tower) -> bool {
        self.digits[digit.0].contains(&tower.0)
    }

    /// The towers that a digit lacks.
    pub(crate) fn others(&self, digit: Digit) -> Vec<Tower> {
        self.all().into_iter().filter(|&tower| !self.owns(digit, tower)).collect()
    }

    /// The ring of a tower.
    pub(crate) fn ring(&self, tower: Tower) -> &Ring {
        &self.rings[tower.0]
    }

    /// The index of each tower in a key, which has the moduli of the highest level, and the number of the
    /// key's towers.
    pub(crate) fn key_places(&self) -> (Vec<usize>, usize) {
        let dropped = self.levels.0 - self.levels.1;
        let index = |tower: Tower| tower.0 + if tower.0 < self.level() { 0 } else { dropped };
        (self.all().into_iter().map(index).collect(), self.rings.len() + dropped)
    }

    /// a b modulo a tower; both are any words.
    pub(crate) fn product(&self, tower: Tower, a: u128, b: u128) -> u128 {
        let modulus = self.ring(tower).modulus();
        modulus.mul(a, b % modulus.value())
    }

    /// The inverse of a word modulo a tower.
    ///
    /// # Panics
    /// Panics if they have a common factor.
    pub(crate) fn inverse(&self, tower: Tower, a: u128) -> u128 {
        let modulus = self.ring(tower).modulus();
        modulus.inverse(a % modulus.value()).expect("the moduli of a set are coprime to each other and to t")
    }

    /// The constants of conversions from `sources`.
    pub(crate) fn conversion(&self, sources: Vec<Tower>) -> Conversion {
        let rings = sources.iter().map(|&tower| *self.ring(tower)).collect();
        let basis = Basis::new(rings).expect("the moduli of a set are coprime");
        Conversion { sources, basis }
    }
}

/// The constants of conversions from some towers, with the product S.
#[derive(Clone, Debug)]
pub(crate) struct Conversion {
    sources: Vec<Tower>,
    basis: Basis,
}

impl Conversion {
    /// The towers to convert from.
    pub(crate) fn sources(&self) -> &[Tower] {
        &self.sources
    }

    /// (S/s)^-1 modulo the source s with an index.
    pub(crate) fn scale(&self, index: usize) -> u128 {
        self.basis.inverse_cofactor(index)
    }

    /// S/s modulo a target, for the source s with an index.
    pub(crate) fn weight(&self, index: usize, target: &Ring) -> u128 {
        self.basis.cofactor_modulo(index, target.modulus())
    }

    /// S^-1 modulo a target.
    pub(crate) fn inverse_product(&self, target: &Ring) -> u128 {
        let inverse = self.basis.inverse_product_modulo(target.modulus());
        inverse.expect("the moduli of a set are coprime")
    }

    /// S modulo a target.
    pub(crate) fn product(&self, target: &Ring) -> u128 {
        self.basis.product_modulo(target.modulus())
    }
}
