//! The transfer rules of the lowering proof; [the parent](super) lists them.

use super::domain::{Domain, Element, Factor, Polynomial, PolynomialId};
use crate::code::{Tower, TowerId};
use std::rc::Rc;

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
        if !self.belongs(u, tower) || !self.is_coefficient(u, tower) {
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
            Factor::Residue(residue) if self.mixture(u).is_some() => Some(self.weighted(u, residue)),
            Factor::Root { .. } if is_nowhere(u) => None,
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
        let is_same = u.polynomial == v.polynomial && same_position(u, v) && !is_nowhere(u);
        if self.mixes && !is_same {
            return self.mix(u, v);
        }
        self.combine_elements(u, v, tower)
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

    /// The parts of a mixture.
    pub(super) fn mixture(&self, u: Element) -> Option<Rc<[Element]>> {
        if let Polynomial::Mixture(parts) = self.polynomial(u.polynomial) {
            Some(Rc::clone(parts))
        } else {
            None
        }
    }

    fn parts(&self, u: Element) -> Vec<Element> {
        self.mixture(u).map_or_else(|| vec![u], |parts| parts.to_vec())
    }

    /// Mix: the sum and the difference of elements, position by position.
    fn mix(&mut self, u: Element, v: Element) -> Option<[Element; 2]> {
        let (left, right) = (self.parts(u), self.parts(v));
        if left.len() + right.len() > MOST_PARTS {
            return None;
        }
        let minus_one = self.modulus_of(u.polynomial).neg(1);
        Some([1, minus_one].map(|factor| {
            let negated = right.iter().map(|&part| (part, factor));
            let all = left.iter().map(|&part| (part, 1)).chain(negated);
            self.mixed(&all.collect::<Vec<_>>())
        }))
    }

    /// A number times each part of a mixture.
    fn weighted(&mut self, u: Element, factor: u128) -> Element {
        let parts: Vec<(Element, u128)> = self.parts(u).into_iter().map(|part| (part, factor)).collect();
        self.mixed(&parts)
    }

    /// A combination of elements of one tower, at least one. Of elements at one position, it is one.
    fn mixed(&mut self, parts: &[(Element, u128)]) -> Element {
        let mut sums: Vec<Element> = Vec::new();
        for &(part, factor) in parts {
            let polynomial = self.multiple(part.polynomial, factor);
            match sums.iter_mut().find(|sum| same_position(**sum, part)) {
                Some(sum) => sum.polynomial = self.sum(sum.polynomial, polynomial),
                None => sums.push(Element { polynomial, ..part }),
            }
        }
        let zero = sums[0];
        sums.retain(|sum| !self.terms(sum.polynomial).is_empty());
        sums.sort_unstable_by_key(|sum| (position(*sum), sum.polynomial));
        match sums[..] {
            [] => zero,
            [sum] => sum,
            _ => {
                let tower = self.tower_of(zero.polynomial);
                nowhere(self.intern(Polynomial::Mixture(sums.into()), tower))
            }
        }
    }

    /// The word of a polynomial with rotations: a mixture of coefficients, and of products of such.
    pub(super) fn placed(&mut self, p: PolynomialId, word: u32) -> Element {
        let mut sum = Vec::new();
        for (term, factor) in self.terms(p) {
            let factors: Vec<Element> =
                self.factors(term, true).into_iter().map(|atom| self.placed_atom(atom, word)).collect();
            sum.push((self.crossed(factors), factor));
        }
        if sum.is_empty() { self.coefficient(p, word) } else { self.mixed(&sum) }
    }

    fn placed_atom(&self, atom: PolynomialId, word: u32) -> Element {
        match self.polynomial(atom) {
            &Polynomial::Rotated(of, places) => {
                self.coefficient(of, (word + places) % self.tower(self.tower_of(of)).n)
            }
            Polynomial::Input(_)
            | Polynomial::Words(_)
            | Polynomial::Ones
            | Polynomial::Product(_)
            | Polynomial::Pointwise(_)
            | Polynomial::Reduced(_)
            | Polynomial::Linear(_)
            | Polynomial::Mixture(_)
            | Polynomial::Crossed(_) => self.coefficient(atom, word),
        }
    }

    /// The product of coefficients that are no sums, at any positions. All are of one tower.
    fn crossed(&mut self, factors: Vec<Element>) -> Element {
        let mut products: Vec<Element> = Vec::new();
        let flat = factors.into_iter().flat_map(|factor| match self.polynomial(factor.polynomial) {
            Polynomial::Crossed(parts) => parts.to_vec(),
            Polynomial::Input(_)
            | Polynomial::Words(_)
            | Polynomial::Ones
            | Polynomial::Product(_)
            | Polynomial::Pointwise(_)
            | Polynomial::Reduced(_)
            | Polynomial::Rotated(..)
            | Polynomial::Linear(_)
            | Polynomial::Mixture(_) => vec![factor],
        });
        let flat: Vec<Element> = flat.collect();
        for factor in flat {
            match products.iter_mut().find(|product| same_position(**product, factor)) {
                Some(product) => product.polynomial = self.pointwise(product.polynomial, factor.polynomial),
                None => products.push(factor),
            }
        }
        products.sort_unstable_by_key(|product| (position(*product), product.polynomial));
        match products[..] {
            [product] => product,
            _ => {
                let tower = self.tower_of(products[0].polynomial);
                nowhere(self.intern(Polynomial::Crossed(products.into()), tower))
            }
        }
    }

    /// The product of sums of coefficients at several positions.
    fn cross(&mut self, u: Element, v: Element) -> Option<Element> {
        let modulus = *self.modulus_of(u.polynomial);
        let [left, right] = [u, v].map(|element| {
            let parts = self.parts(element).into_iter();
            let terms = parts.flat_map(|part| {
                self.terms(part.polynomial)
                    .into_iter()
                    .map(move |(polynomial, factor)| (Element { polynomial, ..part }, factor))
            });
            terms.collect::<Vec<(Element, u128)>>()
        });
        let n = self.tower(self.tower_of(u.polynomial)).n;
        let is_coefficient = |&(part, _): &(Element, u128)| is_nowhere(part) || is_whole(part, n);
        let all = || left.iter().chain(&right);
        if left.len() * right.len() > MOST_PARTS
            || left.is_empty()
            || right.is_empty()
            || !all().all(is_coefficient)
        {
            return None;
        }
        let mut products = Vec::new();
        for &(a, factor) in &left {
            for &(b, other) in &right {
                products.push((self.crossed(vec![a, b]), modulus.mul(factor, other)));
            }
        }
        Some(self.mixed(&products))
    }

    /// Product and pointwise: u times v.
    pub(super) fn multiply(&mut self, u: Element, v: Element, tower: TowerId) -> Option<Element> {
        let u = self.multiplicand(u, tower)?;
        if is_nowhere(u) || is_nowhere(v) || self.mixes && !same_position(u, v) {
            return if self.belongs(v, tower) { self.cross(u, v) } else { None };
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

/// The most parts of a mixture, and terms of a product of such.
const MOST_PARTS: usize = 256;

/// The position of an element in its polynomial.
fn position(u: Element) -> (u32, u32, u32, i16, u8) {
    (u.root, u.coefficient, u.twist, u.log_scale, u.log_degree)
}

fn same_position(u: Element, v: Element) -> bool {
    position(u) == position(v)
}

/// A mixture or a product of coefficients at several positions, as an element: no polynomial modulo X - psi^0
/// is one.
fn nowhere(polynomial: PolynomialId) -> Element {
    Element { polynomial, root: 0, coefficient: 0, twist: 0, log_scale: 0, log_degree: 0 }
}

pub(super) fn is_nowhere(u: Element) -> bool {
    u.root == 0 && u.log_degree == 0
}

/// Whether an element is a coefficient itself.
fn is_whole(u: Element, n: u32) -> bool {
    u.twist == 0 && u.log_scale == 0 && 1 << u.log_degree == n
}

/// 2n - 1: exponents of psi are taken modulo 2n.
fn mask(tower: &Tower) -> u32 {
    2 * tower.n - 1
}

#[cfg(test)]
mod tests;
