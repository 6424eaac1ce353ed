//! The moduli in use at a level, and the constants of conversions between them.

use num_bigint::BigUint;
use ring::{Basis, Ring};
use ring_program::Limb;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The index of a modulus of the set: q_0, .., then p_0, ..
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Tower(pub(crate) usize);

/// The index of a digit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Digit(pub(crate) usize);

/// A polynomial modulo some moduli, limb by limb.
pub(crate) type Extended = BTreeMap<Tower, Limb>;

/// The moduli q of each level, the lowest first, in ascending order of their indices.
pub(crate) type Levels = Arc<[Vec<Tower>]>;

/// What a rescale from one level to another divides by: the moduli that only the one has, over those that
/// only the other has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub(crate) dropped: Vec<Tower>,
    pub(crate) added: Vec<Tower>,
}

/// The moduli in use at a level: some q, and p.
#[derive(Clone, Debug)]
pub(crate) struct Base {
    /// All q of the set, then all p.
    rings: Arc<[Ring]>,
    levels: Levels,
    /// The level in use, from 1.
    level: usize,
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
    /// The base of the set `all` at a level. The highest level has all moduli q of the set.
    pub(crate) fn new(
        all: &Basis,
        (levels, level): (Levels, usize),
        digit: usize,
        t: u128,
        states_roots: bool,
    ) -> Self {
        let rings: Arc<[Ring]> = all.rings().into();
        let special = rings.len() - levels.last().map_or(0, Vec::len);
        Self { rings, levels, level, special, digit, t, states_roots }
    }

    /// The same set at another level.
    pub(crate) fn at(&self, level: usize) -> Self {
        Self { level, ..self.clone() }
    }

    /// The set at its highest level.
    pub(crate) fn highest(&self) -> Self {
        self.at(self.levels.len())
    }

    /// The same level with the first special moduli only.
    pub(crate) fn with_special(&self, special: usize) -> Self {
        Self { special, ..self.clone() }
    }

    /// The level in use.
    pub(crate) fn level(&self) -> usize {
        self.level
    }

    /// The moduli q in use.
    pub(crate) fn q(&self) -> Vec<Tower> {
        self.levels[self.level - 1].clone()
    }

    /// The special moduli in use.
    pub(crate) fn p(&self) -> Vec<Tower> {
        let first = self.levels.last().map_or(0, Vec::len);
        (first..first + self.special).map(Tower).collect()
    }

    /// All moduli in use: q, then p.
    pub(crate) fn all(&self) -> Vec<Tower> {
        [self.q(), self.p()].concat()
    }

    /// Whether a modulus is in use.
    pub(crate) fn has(&self, tower: Tower) -> bool {
        let first = self.levels.last().map_or(0, Vec::len);
        (first..first + self.special).contains(&tower.0) || self.has_q(tower)
    }

    fn has_q(&self, tower: Tower) -> bool {
        self.levels[self.level - 1].binary_search(&tower).is_ok()
    }

    /// The moduli q of this level and of all below.
    pub(crate) fn q_below(&self) -> Vec<Tower> {
        let all: BTreeSet<Tower> = self.levels[..self.level].iter().flatten().copied().collect();
        all.into_iter().collect()
    }

    /// Whether a lower level has no modulus that this one lacks.
    pub(crate) fn contains(&self, lower: usize) -> bool {
        self.levels[lower - 1].iter().all(|&tower| self.has_q(tower))
    }

    /// What a rescale to a lower level divides by.
    pub(crate) fn step(&self, lower: usize) -> Step {
        let below = self.at(lower);
        let dropped = self.q().into_iter().filter(|&tower| !below.has_q(tower)).collect();
        Step { dropped, added: below.q().into_iter().filter(|&tower| !self.has_q(tower)).collect() }
    }

    /// The product of some moduli.
    pub(crate) fn product_of(&self, towers: &[Tower]) -> BigUint {
        towers.iter().map(|&tower| BigUint::from(self.ring(tower).q())).product()
    }

    /// The digits in use.
    pub(crate) fn digits(&self) -> Vec<Digit> {
        self.digits_of(&self.levels[self.level - 1])
    }

    /// The digits that are in use at this level or below.
    pub(crate) fn digits_below(&self) -> Vec<Digit> {
        self.digits_of(&self.q_below())
    }

    fn digits_of(&self, towers: &[Tower]) -> Vec<Digit> {
        let digits: BTreeSet<Digit> = towers.iter().map(|tower| Digit(tower.0 / self.digit)).collect();
        digits.into_iter().collect()
    }

    /// The towers of a digit that are in use.
    pub(crate) fn own(&self, digit: Digit) -> Vec<Tower> {
        self.q().into_iter().filter(|tower| tower.0 / self.digit == digit.0).collect()
    }

    /// Whether a digit has a tower.
    pub(crate) fn owns(&self, digit: Digit, tower: Tower) -> bool {
        tower.0 / self.digit == digit.0 && self.has_q(tower)
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

    /// The product of some moduli, modulo a tower.
    pub(crate) fn residue_of(&self, towers: &[Tower], tower: Tower) -> u128 {
        towers.iter().fold(1, |product, &other| self.product(tower, product, self.ring(other).q()))
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
