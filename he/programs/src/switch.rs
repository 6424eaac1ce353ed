//! Key switches of one polynomial, in pieces that dataflows put in order.
//!
//! Each piece computes limbs from the limbs of pieces that ran before it. All dataflows use the same pieces,
//! so their results are equal.

use crate::base::{Base, Conversion, Digit, Extended, Step, Tower};
use crate::emitter::Emitter;
use crate::polynomial::Polynomial;
use ring_program::Limb;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One of the two sums of a key: its key, and the component c.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Sum {
    key: usize,
    component: usize,
}

/// The limbs of a key, by component and digit.
pub(crate) type KeyLimbs = [BTreeMap<Digit, Extended>; 2];

/// A key, and the operation after its switch.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    limbs: Arc<KeyLimbs>,
    /// Polynomials to add to the results.
    pub(crate) addends: [Option<Polynomial>; 2],
    /// The exponent of an automorphism of the results.
    pub(crate) exponent: Option<u32>,
}

impl Key {
    /// A key with these limbs.
    pub(crate) fn new(limbs: Arc<KeyLimbs>) -> Self {
        Self { limbs, addends: [None, None], exponent: None }
    }
}

/// The switches of one polynomial with some keys.
#[derive(Debug)]
pub(crate) struct Switch<'e> {
    e: &'e mut Emitter,
    base: Base,
    input: Polynomial,
    keys: Vec<Key>,
    /// The sums of a key: two, or one in a division without a switch.
    components: usize,
    /// The conversion of each digit, and of the mod-down.
    up: BTreeMap<Digit, Conversion>,
    down: Conversion,
    /// The level of the results, and what the mod-down divides by to reach it.
    to: usize,
    step: Step,
    /// The input's coefficients times (D_j/q_i)^-1.
    scaled: BTreeMap<Tower, Limb>,
    /// Digits in other towers: coefficients, then values.
    raised: BTreeMap<(Digit, Tower), Limb>,
    products: BTreeMap<(Sum, Digit, Tower), Limb>,
    sums: BTreeMap<(Sum, Tower), Limb>,
    /// The sums' coefficients in the towers to divide by, times t^-1 (S/s)^-1.
    lowered: BTreeMap<(Sum, Tower), Limb>,
    /// The converted residues of the division: coefficients, then values.
    remainders: BTreeMap<(Sum, Tower), Limb>,
    results: BTreeMap<(Sum, Tower), Limb>,
}

impl<'e> Switch<'e> {
    /// Switches of `input` with `keys`. The results are rescaled to the level `to`.
    pub(crate) fn new(e: &'e mut Emitter, base: Base, input: Polynomial, keys: Vec<Key>, to: usize) -> Self {
        let digits = base.digits().into_iter();
        let up = digits.map(|digit| (digit, base.conversion(base.own(digit)))).collect();
        let step = base.step(to);
        let down = base.conversion([&step.dropped[..], &base.p()].concat());
        Self {
            e,
            base,
            input,
            keys,
            components: 2,
            up,
            down,
            to,
            step,
            scaled: BTreeMap::new(),
            raised: BTreeMap::new(),
            products: BTreeMap::new(),
            sums: BTreeMap::new(),
            lowered: BTreeMap::new(),
            remainders: BTreeMap::new(),
            results: BTreeMap::new(),
        }
    }

    /// The switch of a polynomial that all digits have as it is, because it is small. `lifted` is modulo Q
    /// and P.
    pub(crate) fn of_lifted(e: &'e mut Emitter, base: Base, lifted: &Extended, key: Key) -> Self {
        let input = Polynomial::Limbs(base.q().into_iter().map(|tower| (tower, lifted[&tower])).collect());
        let level = base.level();
        let mut switch = Self::new(e, base, input, vec![key], level);
        for digit in switch.base.digits() {
            for tower in switch.base.others(digit) {
                switch.raised.insert((digit, tower), lifted[&tower]);
            }
        }
        switch
    }

    /// The division of sums modulo Q and P, without a switch, to a level.
    pub(crate) fn of_sums(e: &'e mut Emitter, base: Base, sums: Vec<Extended>, to: usize) -> Self {
        let keys = vec![Key::new(Arc::default()); sums.len()];
        let mut switch = Self::new(e, base, Polynomial::Limbs(Extended::new()), keys, to);
        switch.components = 1;
        for (key, limbs) in sums.into_iter().enumerate() {
            let sum = Sum { key, component: 0 };
            switch.sums.extend(limbs.into_iter().map(|(tower, limb)| ((sum, tower), limb)));
        }
        switch
    }

    /// The sums of each key before the division.
    pub(crate) fn into_sums(self) -> Vec<[Extended; 2]> {
        let towers = self.base.all();
        let sum = |key, component| {
            let limb = |&tower: &Tower| (tower, self.sums[&(Sum { key, component }, tower)]);
            towers.iter().map(limb).collect()
        };
        (0..self.keys.len()).map(|key| [0, 1].map(|component| sum(key, component))).collect()
    }

    /// Computes the input and the addends now, so that no later piece recomputes them.
    pub(crate) fn compute_polynomials(&mut self) {
        self.input = Polynomial::Limbs(self.input.limbs(self.e));
        for addend in self.keys.iter_mut().flat_map(|key| &mut key.addends).flatten() {
            *addend = Polynomial::Limbs(addend.limbs(self.e));
        }
    }

    /// The moduli in use.
    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    /// The sums of all keys.
    pub(crate) fn sums(&self) -> Vec<Sum> {
        let sums = |key| (0..self.components).map(move |component| Sum { key, component });
        (0..self.keys.len()).flat_map(sums).collect()
    }

    /// The towers that the mod-down divides by.
    pub(crate) fn divisors(&self) -> Vec<Tower> {
        self.down.sources().to_vec()
    }

    /// The towers of the results.
    pub(crate) fn targets(&self) -> Vec<Tower> {
        self.base.at(self.to).q()
    }

    /// The product U of the moduli that only the level of the results has, modulo a tower.
    fn added(&self, tower: Tower) -> u128 {
        self.base.residue_of(&self.step.added, tower)
    }

    /// Brings the input's limb of a tower to coefficients, ready for conversion.
    pub(crate) fn scale(&mut self, tower: Tower) {
        let Some(digit) = self.base.digits().into_iter().find(|&digit| self.base.owns(digit, tower)) else {
            unreachable!("the input has the towers of the digits")
        };
        let own = self.base.own(digit);
        let index = own.iter().position(|&of| of == tower).expect("the digit has the tower");
        let values = self.input.limb(self.e, tower);
        let coefficients = self.e.intt(values, tower);
        // 1 if the digit has one modulus.
        let scaled = match self.up[&digit].scale(index) {
            1 => coefficients,
            scale => self.e.multiply_scalar(coefficients, scale, tower),
        };
        self.scaled.insert(tower, scaled);
    }

    /// Converts a digit to other towers. Each source is read once for all of them.
    pub(crate) fn convert(&mut self, digit: Digit, targets: &[Tower]) {
        for (index, source) in self.base.own(digit).into_iter().enumerate() {
            for &target in targets {
                let weight = self.up[&digit].weight(index, self.base.ring(target));
                let term = self.e.multiply_scalar(self.scaled[&source], weight, target);
                let sum = self.e.accumulate(self.raised.get(&(digit, target)).copied(), term, target);
                self.raised.insert((digit, target), sum);
            }
        }
    }

    /// Transforms a converted limb of a digit to values.
    pub(crate) fn transform(&mut self, digit: Digit, tower: Tower) {
        let values = self.e.ntt(self.raised[&(digit, tower)], tower);
        self.raised.insert((digit, tower), values);
    }

    /// Brings a digit to a tower, as values.
    pub(crate) fn raise(&mut self, digit: Digit, tower: Tower) {
        if !self.base.owns(digit, tower) {
            self.convert(digit, &[tower]);
            self.transform(digit, tower);
        }
    }

    /// Multiplies a digit in a tower with all keys.
    pub(crate) fn multiply(&mut self, digit: Digit, tower: Tower) {
        let values = match self.base.owns(digit, tower) {
            true => self.input.limb(self.e, tower),
            false => self.raised[&(digit, tower)],
        };
        for sum in self.sums() {
            let key = self.keys[sum.key].limbs[sum.component][&digit][&tower];
            let product = self.e.multiply(values, key, tower);
            self.products.insert((sum, digit, tower), product);
        }
    }

    /// Adds a digit's products to the sums in a tower.
    pub(crate) fn add_products(&mut self, digit: Digit, tower: Tower) {
        for sum in self.sums() {
            let product = self.products[&(sum, digit, tower)];
            let total = self.e.accumulate(self.sums.get(&(sum, tower)).copied(), product, tower);
            self.sums.insert((sum, tower), total);
        }
    }

    /// Multiplies a digit in a tower with all keys, and adds the products to the sums.
    pub(crate) fn multiply_and_add(&mut self, digit: Digit, tower: Tower) {
        self.multiply(digit, tower);
        self.add_products(digit, tower);
    }

    /// Brings a sum's limb of a divisor to coefficients, ready for conversion.
    pub(crate) fn lower(&mut self, sum: Sum, divisor: Tower) {
        let mut values = self.sums[&(sum, divisor)];
        let index = self.down.sources().iter().position(|&source| source == divisor);
        let index = index.expect("a divisor is a source of the mod-down");
        if !self.base.p().contains(&divisor)
            && let Some(addend) = &self.keys[sum.key].addends[sum.component]
        {
            // P times the addend; it is 0 modulo the special towers.
            let special = self.base.conversion(self.base.p()).product(self.base.ring(divisor));
            let addend = addend.limb(self.e, divisor);
            let addend = self.e.multiply_scalar(addend, special, divisor);
            values = self.e.add(values, addend, divisor);
        }
        let coefficients = self.e.intt(values, divisor);
        let inverse_t = self.base.inverse(divisor, self.base.t);
        let scale = self.base.product(divisor, inverse_t, self.down.scale(index));
        // The sum times U is what is divided.
        let scale = self.base.product(divisor, scale, self.added(divisor));
        let scaled = match scale {
            1 => coefficients,
            scale => self.e.multiply_scalar(coefficients, scale, divisor),
        };
        self.lowered.insert((sum, divisor), scaled);
    }

    /// Converts a sum's remainder to some towers, times t; and over U in the towers of the sum. Each source
    /// is read once for all of them.
    pub(crate) fn convert_remainder(&mut self, sum: Sum, targets: &[Tower]) {
        for (index, source) in self.divisors().into_iter().enumerate() {
            for &target in targets {
                let weight = self.down.weight(index, self.base.ring(target));
                let weight = self.base.product(target, weight, self.base.t);
                let weight = match self.base.has(target) {
                    true => self.base.product(target, weight, self.base.inverse(target, self.added(target))),
                    false => weight,
                };
                let term = self.e.multiply_scalar(self.lowered[&(sum, source)], weight, target);
                let total = self.e.accumulate(self.remainders.get(&(sum, target)).copied(), term, target);
                self.remainders.insert((sum, target), total);
            }
        }
    }

    /// Transforms a converted remainder to values.
    pub(crate) fn transform_remainder(&mut self, sum: Sum, tower: Tower) {
        let values = self.e.ntt(self.remainders[&(sum, tower)], tower);
        self.remainders.insert((sum, tower), values);
    }

    /// Divides a sum in a tower, and applies the operation after the switch.
    pub(crate) fn divide(&mut self, sum: Sum, tower: Tower) {
        let remainder = self.remainders[&(sum, tower)];
        let inverse = self.down.inverse_product(self.base.ring(tower));
        let Key { addends, exponent, .. } = &self.keys[sum.key];
        let mut result = match self.sums.get(&(sum, tower)) {
            Some(&total) => {
                let multiple = self.e.subtract(total, remainder, tower);
                let factor = self.base.product(tower, inverse, self.added(tower));
                self.e.multiply_scalar(multiple, factor, tower)
            }
            // A sum times U is 0 modulo the factors of U.
            None => {
                let factor = self.base.ring(tower).modulus().neg(inverse);
                self.e.multiply_scalar(remainder, factor, tower)
            }
        };
        if let Some(addend) = &addends[sum.component]
            && self.base.has(tower)
        {
            let mut addend = addend.limb(self.e, tower);
            if !self.step.dropped.is_empty() {
                let inverse = self.base.inverse(tower, self.base.residue_of(&self.step.dropped, tower));
                let factor = self.base.product(tower, inverse, self.added(tower));
                addend = self.e.multiply_scalar(addend, factor, tower);
            }
            result = self.e.add(result, addend, tower);
        }
        if let &Some(exponent) = exponent {
            result = self.e.automorphism(result, exponent, tower);
        }
        self.results.insert((sum, tower), result);
    }

    /// The results of each key: a polynomial for each of its sums.
    pub(crate) fn results(self) -> Vec<Vec<Extended>> {
        let targets = self.targets();
        let polynomial = |key, component| {
            let limb = |&tower: &Tower| (tower, self.results[&(Sum { key, component }, tower)]);
            targets.iter().map(limb).collect()
        };
        let polynomials = |key| (0..self.components).map(|component| polynomial(key, component)).collect();
        (0..self.keys.len()).map(polynomials).collect()
    }
}
