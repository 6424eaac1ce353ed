//! The transfer rules of the lowering proof; [the parent](super) lists them.

use super::domain::{Domain, Element, Factor, Polynomial};
use crate::code::{Tower, TowerId};

impl Domain {
    /// Whether the element is a residue of the tower.
    fn belongs(&self, element: Element, tower: TowerId) -> bool {
        self.tower_of(element.polynomial) == tower && !self.is_words(element.polynomial)
    }

    /// Whether the element is a coefficient itself, of a polynomial of as many coefficients as the
    /// tower's.
    fn is_coefficient(&self, u: Element, tower: TowerId) -> bool {
        let n = self.tower(self.tower_of(u.polynomial)).n;
        u.twist == 0 && u.log_scale == 0 && 1 << u.log_degree == n && self.tower(tower).n == n
    }

    /// The element as the multiplicand of the tower's multiplier, which reduces any word, also one of
    /// another tower.
    fn multiplicand(&mut self, u: Element, tower: TowerId) -> Option<Element> {
        if self.belongs(u, tower) {
            return Some(u);
        }
        // Only a coefficient itself has a unique integer.
        let reduces = self.is_coefficient(u, tower);
        reduces.then(|| Element { polynomial: self.reduced(u.polynomial, tower), ..u })
    }

    /// Offset: u plus and minus a known number.
    pub(super) fn offset(&mut self, u: Element, factor: Factor, tower: TowerId) -> Option<[Element; 2]> {
        let Factor::Residue(number) = factor else { return None };
        if !self.belongs(u, tower) || !self.is_coefficient(u, tower) || self.mixture(u).is_some() {
            return None;
        }
        let ones = self.ones(tower);
        let polynomial = self.multiple(ones, number);
        self.combine(u, Element { polynomial, ..u }, tower)
    }

    /// Multiply: u times a known number.
    pub(super) fn scale(&mut self, u: Element, factor: Factor, tower: TowerId) -> Option<Element> {
        let u = self.multiplicand(u, tower)?;
        match factor {
            Factor::Residue(residue) if let Some(terms) = self.mixture(u) => {
                let terms = terms.map(|(term, own)| (term, self.modulus_of(u.polynomial).mul(own, residue)));
                Some(self.mixed(terms))
            }
            Factor::Root { .. } if self.mixture(u).is_some() => None,
            Factor::Root { exponent, scaled } => {
                let ring = self.tower(tower);
                let log_n = if scaled { ring.n.trailing_zeros() as i16 } else { 0 };
                let twist = u.twist.wrapping_add(exponent) & mask(ring);
                Some(Element { twist, log_scale: u.log_scale.checked_sub(log_n)?, ..u })
            }
            Factor::Residue(residue) => {
                Some(Element { polynomial: self.multiple(u.polynomial, residue), ..u })
            }
        }
    }

    /// Sum and difference: split, join, linear, mix or unmix.
    pub(super) fn combine(&mut self, u: Element, v: Element, tower: TowerId) -> Option<[Element; 2]> {
        if !self.belongs(u, tower) || !self.belongs(v, tower) {
            return None;
        }
        if self.mixture(u).is_some() || self.mixture(v).is_some() {
            return self.unmix(u, v);
        }
        self.mix(u, v).or_else(|| self.combine_elements(u, v, tower))
    }

    /// Split, join or linear.
    fn combine_elements(&mut self, u: Element, v: Element, tower: TowerId) -> Option<[Element; 2]> {
        let &Tower { n, .. } = self.tower(tower);
        let mask = mask(self.tower(tower));
        if u.log_degree != v.log_degree || u.log_scale != v.log_scale {
            return None;
        }
        let degree = 1u32 << u.log_degree;
        let same = Element { polynomial: u.polynomial, ..v } == u;
        if u.polynomial != v.polynomial || same {
            return same.then(|| {
                let results = self.sum_and_difference(u.polynomial, v.polynomial);
                results.map(|polynomial| Element { polynomial, ..u })
            });
        }
        if u.root == v.root {
            let a = v.twist.wrapping_sub(u.twist) & mask;
            let halves = u.coefficient < degree / 2 && v.coefficient == u.coefficient + degree / 2;
            let splits = halves && (2 * a) & mask == u.root;
            let half = Element { log_degree: u.log_degree.wrapping_sub(1), ..u };
            return splits.then(|| [a, (a + n) & mask].map(|root| Element { root, ..half }));
        }
        let other = Element { root: (u.root + n) & mask, ..u };
        let negative = Element { twist: (other.twist + n) & mask, ..other };
        let joins = (other == v || negative == v) && degree < n;
        let whole = Element {
            log_degree: u.log_degree + 1,
            root: (2 * u.root) & mask,
            log_scale: u.log_scale.checked_add(1)?,
            ..u
        };
        let upper =
            Element { coefficient: u.coefficient + degree, twist: (u.twist + u.root) & mask, ..whole };
        joins.then_some(if other == v { [whole, upper] } else { [upper, whole] })
    }

    /// The terms of a mixture.
    pub(super) fn mixture(&self, u: Element) -> Option<[(Element, u128); 2]> {
        if let Polynomial::Mixture(terms) = self.polynomial(u.polynomial) { Some(*terms) } else { None }
    }

    /// Mix: the sum and difference of two elements of one polynomial.
    fn mix(&mut self, u: Element, v: Element) -> Option<[Element; 2]> {
        if !self.mixes || u.polynomial != v.polynomial || u == v {
            return None;
        }
        let minus_one = self.modulus_of(u.polynomial).neg(1);
        Some([self.mixed([(u, 1), (v, 1)]), self.mixed([(u, 1), (v, minus_one)])])
    }

    /// Unmix: the sum and difference of two mixtures of the same elements.
    fn unmix(&mut self, u: Element, v: Element) -> Option<[Element; 2]> {
        let ([(a, p), (b, q)], [(c, r), (d, s)]) = (self.mixture(u)?, self.mixture(v)?);
        if (a, b) != (c, d) {
            return None;
        }
        let modulus = *self.modulus_of(u.polynomial);
        let sum = self.mixed([(a, modulus.add(p, r)), (b, modulus.add(q, s))]);
        Some([sum, self.mixed([(a, modulus.sub(p, r)), (b, modulus.sub(q, s))])])
    }

    /// A combination of two elements of one tower, with factors from 0 to q - 1. With one element only, it is
    /// its multiple.
    fn mixed(&mut self, mut terms: [(Element, u128); 2]) -> Element {
        match terms {
            [(u, factor), (_, 0)] | [(_, 0), (u, factor)] => {
                Element { polynomial: self.multiple(u.polynomial, factor), ..u }
            }
            _ => {
                terms.sort_unstable();
                let tower = self.tower_of(terms[0].0.polynomial);
                let polynomial = self.intern(Polynomial::Mixture(terms), tower);
                Element { polynomial, root: 0, coefficient: 0, twist: 0, log_scale: 0, log_degree: 0 }
            }
        }
    }

    /// Product and pointwise: u times v.
    pub(super) fn multiply(&mut self, u: Element, v: Element, tower: TowerId) -> Option<Element> {
        let u = self.multiplicand(u, tower)?;
        if self.mixture(u).is_some() || self.mixture(v).is_some() {
            return None;
        }
        let n = self.tower(tower).n;
        let same = (u.log_degree, u.root, u.coefficient) == (v.log_degree, v.root, v.coefficient);
        if !self.belongs(v, tower) || !same {
            return None;
        }
        let (log_scale, mask) = (u.log_scale.checked_add(v.log_scale)?, mask(self.tower(tower)));
        let polynomial = match 1u32 << u.log_degree {
            1 => self.product(u.polynomial, v.polynomial),
            degree if degree == n => self.pointwise(u.polynomial, v.polynomial),
            _ => return None,
        };
        Some(Element { polynomial, twist: (u.twist + v.twist) & mask, log_scale, ..u })
    }
}

/// 2n - 1: exponents of psi are taken modulo 2n.
fn mask(tower: &Tower) -> u32 {
    2 * tower.n - 1
}

#[cfg(test)]
mod tests;
