//! The moduli in use at a level, and the constants of conversions between them.

use ring::{Basis, Ring};
use std::sync::Arc;

/// The index of a modulus of the set: q_0, .., q_(L-1), then p_0, ..
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Tower(pub(crate) usize);

/// The index of a digit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Digit(pub(crate) usize);

/// The moduli in use at a level l: q_0 to q_(l-1), and p.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    /// All q of the set, then all p.
    rings: Arc<[Ring]>,
    /// The moduli q of the set at the highest level, and those in use.
    levels: (usize, usize),
    /// The special moduli in use.
    special: usize,
    /// The moduli of a digit.
    digit: usize,
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
        let rings: Arc<[Ring]> = all.rings().into();
        let special = rings.len() - levels.0;
        Self { rings, levels, special, digit: levels.0.div_ceil(digits), t, states_roots }
    }

    /// The same set at another level.
    pub(crate) fn at(&self, level: usize) -> Self {
        Self { levels: (self.levels.0, level), ..self.clone() }
    }

    /// The set at its highest level.
    pub(crate) fn highest(&self) -> Self {
        self.at(self.levels.0)
    }

    /// The same level with the first special moduli only.
    pub(crate) fn with_special(&self, special: usize) -> Self {
        Self { special, ..self.clone() }
    }

    /// The number of moduli q in use.
    pub(crate) fn level(&self) -> usize {
        self.levels.1
    }

    /// The moduli q in use.
    pub(crate) fn q(&self) -> Vec<Tower> {
        (0..self.level()).map(Tower).collect()
    }

    /// The special moduli in use.
    pub(crate) fn p(&self) -> Vec<Tower> {
        (self.levels.0..self.levels.0 + self.special).map(Tower).collect()
    }

    /// All moduli in use: q, then p.
    pub(crate) fn all(&self) -> Vec<Tower> {
        [self.q(), self.p()].concat()
    }

    /// The digits in use.
    pub(crate) fn digits(&self) -> impl Iterator<Item = Digit> + use<> {
        (0..self.level().div_ceil(self.digit)).map(Digit)
    }

    /// The towers of a digit that are in use.
    pub(crate) fn own(&self, digit: Digit) -> Vec<Tower> {
        let first = digit.0 * self.digit;
        (first..(first + self.digit).min(self.level())).map(Tower).collect()
    }

    /// Whether a digit has a tower.
    pub(crate) fn owns(&self, digit: Digit, tower: Tower) -> bool {
        tower.0 < self.level() && tower.0 / self.digit == digit.0
    }

    /// The towers in use that a digit lacks.
    pub(crate) fn others(&self, digit: Digit) -> Vec<Tower> {
        self.all().into_iter().filter(|&tower| !self.owns(digit, tower)).collect()
    }

    /// The ring of a tower.
    pub(crate) fn ring(&self, tower: Tower) -> &Ring {
        &self.rings[tower.0]
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
