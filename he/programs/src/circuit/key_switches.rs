//! Operations with one key switch for each result.

use super::{Ciphertext, Circuit};
use crate::Error;
use crate::base::{Base, Extended, Tower};
use crate::centred::Centred;
use crate::dataflow::dc;
use crate::definition::SwitchingKey;
use crate::polynomial::Polynomial;
use crate::scale::Scale;
use crate::switch::{Key, Switch};
use num_bigint::BigInt;
use ring_program::RegionKind;

impl Circuit {
    /// The key, which counts as used once at the level of `base`. It is declared at its first use.
    pub(super) fn key(&mut self, key: SwitchingKey, base: &Base) -> Key {
        if !self.keys.contains_key(&key) {
            self.declare_key(key, &key.to_string());
        }
        let limbs = 2 * base.digits().len() * base.all().len();
        self.ledger.current().count_switch(key, limbs);
        Key::new(self.keys[&key].clone())
    }

    /// Switches in the order of the dataflow, to a level.
    fn switch(&mut self, base: Base, input: Polynomial, keys: Vec<Key>, to: usize) -> Vec<Vec<Extended>> {
        let mut switch = Switch::new(&mut self.emitter, base, input, keys, to);
        self.setup.dataflow.run(&mut switch, self.setup.tile);
        switch.results()
    }

    /// The switch of a polynomial of the highest level from a secret that the program does not name.
    pub(crate) fn switch_polynomial(&mut self, input: Polynomial) -> [Extended; 2] {
        let base = self.emitter.base().clone();
        let key = self.key(SwitchingKey::Unnamed, &base);
        let to = base.level();
        let mut results = self.in_operation("key switch", |c| c.switch(base, input, vec![key], to));
        let pair = results.pop().expect("a switch has a result for each key");
        pair.try_into().expect("a switch has two sums")
    }

    /// The same ciphertext of two components.
    pub(crate) fn relinearised(&mut self, a: Ciphertext) -> Ciphertext {
        if a.components.len() == 2 {
            return a;
        }
        let components = self.relinearised_components(&a, a.level);
        Ciphertext::new(components, a.level, a.scale)
    }

    /// The ciphertext with two components.
    pub fn relinearise(&mut self, a: &Ciphertext) -> Ciphertext {
        self.relinearised(a.clone())
    }

    /// The product of two ciphertexts, relinearised and rescaled.
    ///
    /// # Errors
    /// Returns an error if an operand has one modulus.
    pub fn product(&mut self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        let product = self.multiply(a, b);
        self.relinearise_and_rescale(&product)
    }

    /// A product of two components, rescaled in the mod-down of its key switch; a ciphertext of two
    /// components is rescaled.
    ///
    /// # Errors
    /// Returns an error if the ciphertext has the lowest level.
    pub fn relinearise_and_rescale(&mut self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        if a.level == 1 {
            return Err(Error::NothingToDrop { program: self.program.to_string(), operation: "rescale" });
        }
        self.relinearised_and_rescaled(a, a.level - 1)
    }

    /// As [`relinearise_and_rescale`](Self::relinearise_and_rescale), to a lower level.
    pub(super) fn relinearised_and_rescaled(
        &mut self,
        a: &Ciphertext,
        level: usize,
    ) -> Result<Ciphertext, Error> {
        if a.components.len() == 2 {
            self.room()?;
            return Ok(self.rescaled_to(a, level));
        }
        let components = self.relinearised_components(a, level);
        let scale = a.scale.over(&self.divisor_to(a.level, level));
        Ok(Ciphertext::new(components, level, scale))
    }

    fn relinearised_components(&mut self, a: &Ciphertext, to: usize) -> Vec<Extended> {
        let base = self.emitter.base().at(a.level());
        let mut key = self.key(SwitchingKey::Relinearisation, &base);
        let [c0, c1, c2] = &a.components[..] else { unreachable!("a product has three components") };
        key.addends = [Some(c0.clone()), Some(c1.clone())];
        // The product itself is computed here, limb by limb.
        let name = match (matches!(c2, Polynomial::Products(_)), to < a.level) {
            (true, false) => "product",
            (true, true) => "product and rescale",
            (false, false) => "relinearisation",
            (false, true) => "relinearisation and rescale",
        };
        let mut results = self.in_operation(name, |c| c.switch(base, c2.clone(), vec![key], to));
        results.pop().expect("a switch has a result for each key")
    }

    /// A ciphertext with X^g for X, for each of some odd g. Digits are raised once, and not for none.
    pub(crate) fn automorphisms(&mut self, a: &Ciphertext, exponents: &[u32]) -> Vec<Ciphertext> {
        if exponents.is_empty() {
            return Vec::new();
        }
        let a = self.relinearised(a.clone());
        let base = self.emitter.base().at(a.level());
        let [c0, c1] = &a.components[..] else { unreachable!("it is relinearised") };
        let key = |&g: &u32| {
            let mut key = self.key(SwitchingKey::Galois(g), &base);
            key.addends = [Some(c0.clone()), None];
            key.exponent = Some(g);
            key
        };
        let keys = exponents.iter().map(key).collect();
        let name = self.automorphism_name(exponents);
        let results = self.in_operation(name, |c| c.switch(base, c1.clone(), keys, a.level));
        let result = |components| Ciphertext::new(components, a.level, a.scale.clone());
        results.into_iter().map(result).collect()
    }

    /// What automorphisms do to slots.
    pub(super) fn automorphism_name(&self, exponents: &[u32]) -> String {
        let degree = self.set.degree();
        let slots = degree.get() as i64 / 2;
        let rotation = |&g: &u32| {
            let rotation = SwitchingKey::Galois(g).rotation(degree)? as i64;
            Some(if 2 * rotation > slots { rotation - slots } else { rotation }.to_string())
        };
        match (exponents, exponents.iter().map(rotation).collect::<Option<Vec<_>>>()) {
            ([_], Some(rotations)) => format!("rotation by {}", rotations[0]),
            (_, Some(rotations)) => format!("rotations by {}", rotations.join(", ")),
            (&[g], None) if u64::from(g) == 2 * degree.get() - 1 => "conjugation".to_owned(),
            (_, None) => "automorphisms".to_owned(),
        }
    }

    /// The exponent 5^rotation mod 2n of the automorphism that rotates slots to the left.
    pub(crate) fn exponent(&self, rotation: i64) -> Result<u32, Error> {
        let n = self.set.degree().get();
        let slots = n / 2;
        if rotation == 0 || rotation.unsigned_abs() >= slots {
            return Err(Error::Rotation { rotation, slots });
        }
        let (mut steps, mut square, mut exponent) = (rotation.rem_euclid(slots as i64), 5, 1);
        while steps > 0 {
            if steps % 2 == 1 {
                exponent = exponent * square % (2 * n);
            }
            square = square * square % (2 * n);
            steps /= 2;
        }
        Ok(exponent as u32)
    }

    /// Rotations of a ciphertext's slots to the left, or by negative numbers to the right. Digits are raised
    /// once for all of them. A rotation by 0 costs nothing.
    ///
    /// # Errors
    /// Returns an error if a rotation is by n/2 or more, or if the program is too long.
    pub fn rotations(&mut self, a: &Ciphertext, by: &[i64]) -> Result<Vec<Ciphertext>, Error> {
        self.room()?;
        let mut exponents = Vec::new();
        for &by in by.iter().filter(|&&by| by != 0) {
            let exponent = self.exponent(by)?;
            if !exponents.contains(&exponent) {
                exponents.push(exponent);
            }
        }
        let a = self.relinearised(a.clone());
        let rotated = self.automorphisms(&a, &exponents);
        let mut results = Vec::new();
        for &by in by {
            results.push(match by {
                0 => a.clone(),
                by => {
                    let exponent = self.exponent(by)?;
                    let index = exponents.iter().position(|&known| known == exponent);
                    rotated[index.expect("its exponent is there")].clone()
                }
            });
        }
        Ok(results)
    }

    /// A ciphertext with slots rotated to the left, or by a negative number to the right.
    ///
    /// # Errors
    /// Returns an error if the rotation is by 0, or by n/2 or more, or if the program is too long.
    pub fn rotate(&mut self, a: &Ciphertext, rotation: i64) -> Result<Ciphertext, Error> {
        self.room()?;
        let exponent = self.exponent(rotation)?;
        Ok(self.automorphisms(a, &[exponent]).pop().expect("a switch has a result for each key"))
    }

    /// The sum of a ciphertext's rotations by all multiples of `step` below `end`, which is `step` times a
    /// power of two. A negative step rotates to the right.
    ///
    /// # Errors
    /// Returns an error if a rotation is by 0, or by n/2 or more.
    pub fn sum_of_rotations(&mut self, a: &Ciphertext, step: i64, end: i64) -> Result<Ciphertext, Error> {
        self.in_operation("sum of rotations", |c| {
            let mut sum = a.clone();
            let steps = std::iter::successors(Some(step), |step| Some(2 * step));
            for step in steps.take_while(|step| step.abs() < end) {
                let rotated = c.rotate(&sum, step)?;
                sum = c.add(&sum, &rotated)?;
            }
            Ok(sum)
        })
    }

    /// A ciphertext with conjugated slots.
    pub fn conjugate(&mut self, a: &Ciphertext) -> Ciphertext {
        let g = 2 * self.set.degree().get() - 1;
        self.automorphisms(a, &[g as u32]).pop().expect("a switch has a result for each key")
    }

    /// A ciphertext of level 1 under the ephemeral sparse secret, with the special moduli that this takes.
    pub(crate) fn encapsulate(&mut self, a: &Ciphertext) -> Ciphertext {
        let base = self.emitter.base().at(1).with_special(self.set.encapsulation_special());
        let mut key = self.key(SwitchingKey::DenseToSparse, &base);
        let [c0, c1] = &a.components[..] else { unreachable!("an input has two components") };
        key.addends = [Some(c0.clone()), None];
        let name = "switch to the ephemeral secret";
        let mut results = self.in_operation(name, |c| c.switch(base, c1.clone(), vec![key], 1));
        Ciphertext::new(results.pop().expect("a switch has a result for each key"), 1, a.scale.clone())
    }

    /// The same integers modulo all moduli, for a ciphertext of level 1, whose moduli have the product q_0:
    /// its phase gains multiples of q_0. `sparse` says that it is under the ephemeral secret; the result
    /// never is. A slot is read as a multiple of q_0: the scale is q_0.
    pub(crate) fn mod_raise(&mut self, a: &Ciphertext, sparse: bool) -> Ciphertext {
        let base = self.emitter.base().clone();
        let [c0, c1] = &a.components[..] else { unreachable!("it is relinearised") };
        let lifted = [(c0, base.q()), (c1, if sparse { base.all() } else { base.q() })]
            .map(|(component, towers)| self.in_operation("mod-raise", |c| c.lifted(component, towers)));
        let (scale, level) = (self.modulus(1), base.level());
        if !sparse {
            return Ciphertext::new(lifted.to_vec(), level, scale);
        }
        let [c0, c1] = lifted;
        let mut key = self.key(SwitchingKey::SparseToDense, &base);
        key.addends = [Some(Polynomial::Limbs(c0)), None];
        let scope = self.emitter.open(RegionKind::Operation, "switch from the ephemeral secret");
        let mut switch = Switch::of_lifted(&mut self.emitter, base.clone(), &c1, key);
        for digit in base.digits() {
            base.all().into_iter().for_each(|tower| switch.multiply_and_add(digit, tower));
        }
        dc::divide(&mut switch);
        let components = switch.results().pop().expect("a switch has a result for each key");
        self.emitter.close(scope);
        Ciphertext::new(components, level, scale)
    }

    /// The centred coefficients of a polynomial of level 1, as values in some towers.
    fn lifted(&mut self, polynomial: &Polynomial, towers: Vec<Tower>) -> Extended {
        let e = &mut self.emitter;
        let values = polynomial.limbs(e);
        let residues = values.iter().map(|(&tower, &limb)| (tower, e.intt(limb, tower))).collect();
        let integers = Centred::new(e, residues);
        let lift = |tower: Tower| {
            let known = values.get(&tower).copied();
            let values = known.unwrap_or_else(|| {
                let coefficients = integers.modulo(e, tower, 1);
                e.ntt(coefficients, tower)
            });
            (tower, values)
        };
        towers.into_iter().map(lift).collect()
    }

    /// The message of a ciphertext times the integer next to a quotient of scales. Then it has nearly that
    /// scale.
    pub(crate) fn scale_up(&mut self, a: &Ciphertext, scale: &Scale) -> Ciphertext {
        let factor = scale.over(&a.scale).rounded();
        if factor <= BigInt::from(1) {
            return a.clone();
        }
        let factor_scale = Scale::product(factor.magnitude());
        let scaled = a.scale.times(&factor_scale);
        self.multiply_integer(a, &factor).with_scale(scaled)
    }
}
