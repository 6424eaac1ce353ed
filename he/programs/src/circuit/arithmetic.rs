//! Sums, products and rescales.

use super::{Ciphertext, Circuit, Plaintext};
use crate::Error;
use crate::base::{Extended, Step, Tower};
use crate::centred::Centred;
use crate::definition::Definition;
use crate::emitter::Emitter;
use crate::polynomial::Polynomial;
use crate::scale::Scale;
use num_bigint::BigInt;
use ring_program::{Limb, RegionKind};

impl Circuit {
    fn components(
        &mut self,
        operands: [&Ciphertext; 2],
        operation: fn(&mut Emitter, Limb, Limb, Tower) -> Limb,
    ) -> Vec<Extended> {
        let [a, b] = operands.map(|operand| &operand.components);
        let e = &mut self.emitter;
        let mut sums = Vec::new();
        for component in 0..a.len().max(b.len()) {
            let limbs = match (a.get(component), b.get(component)) {
                (Some(a), Some(b)) => {
                    let sum = |tower| {
                        let (a, b) = (a.limb(e, tower), b.limb(e, tower));
                        (tower, operation(e, a, b, tower))
                    };
                    a.towers().into_iter().map(sum).collect()
                }
                (Some(a), None) => a.limbs(e),
                (None, Some(b)) => b.limbs(e),
                (None, None) => unreachable!("one operand has the component"),
            };
            sums.push(limbs);
        }
        sums
    }

    /// Drops both operands to the lower of their levels. If their scales differ, the one of the higher level
    /// takes the other's.
    fn aligned(
        &mut self,
        operation: &'static str,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<[Ciphertext; 2], Error> {
        let level = a.level().min(b.level());
        if a.scale == b.scale {
            return Ok([self.lowered(a, level), self.lowered(b, level)]);
        }
        if a.level() > level && self.can_take(a, &b.scale, level) {
            return Ok([self.scaled_to(a, level, &b.scale)?, b.clone()]);
        }
        if b.level() > level && self.can_take(b, &a.scale, level) {
            return Ok([a.clone(), self.scaled_to(b, level, &a.scale)?]);
        }
        let (program, scales) = (self.program.to_string(), Box::new([a.scale.clone(), b.scale.clone()]));
        Err(Error::Scales { program, operation, scales })
    }

    /// The ciphertext with its scale at a lower level, or its own. It costs nothing, unless the level has
    /// moduli that the ciphertext lacks: then it is a change of scale.
    ///
    /// # Errors
    /// Returns an error for level 0, and for a level above the ciphertext's.
    pub fn at(&mut self, a: &Ciphertext, level: usize) -> Result<Ciphertext, Error> {
        if (1..=a.level).contains(&level) {
            return Ok(self.lowered(a, level));
        }
        let (program, operation) = (self.program.to_string(), "change of level");
        Err(Error::TooLow { program, operation, level: a.level, needed: level.max(1) })
    }

    /// As [`at`](Self::at), for a level of the ciphertext.
    pub(super) fn lowered(&mut self, a: &Ciphertext, level: usize) -> Ciphertext {
        let base = self.emitter.base().at(a.level);
        if base.contains(level) {
            let towers = base.at(level).q();
            let components = a.components.iter().map(|component| component.modulo(&towers)).collect();
            return Ciphertext { components, level, scale: a.scale.clone() };
        }
        self.scaled_to(a, level, &a.scale).expect("the level is below the ciphertext's")
    }

    /// The level above another one from which a ciphertext is rescaled to it: the lowest one that it has for
    /// nothing.
    fn level_above(&self, a: &Ciphertext, level: usize) -> usize {
        let base = self.emitter.base().at(a.level);
        (level + 1..a.level).find(|&above| base.contains(above)).unwrap_or(a.level)
    }

    /// Whether a rescale to this level gives a ciphertext the scale with the precision of the scale itself.
    fn can_take(&self, a: &Ciphertext, scale: &Scale, level: usize) -> bool {
        let divisor = self.divisor_to(self.level_above(a, level), level);
        let factor = scale.times(&divisor).over(&a.scale);
        factor.log2() >= scale.log2().min(20.0)
    }

    /// The same message at a lower level and with a scale: a product with the integer next to a quotient of
    /// scales, and a rescale.
    ///
    /// # Errors
    /// Returns an error if the ciphertext is not above the level.
    pub fn scaled_to(&mut self, a: &Ciphertext, level: usize, scale: &Scale) -> Result<Ciphertext, Error> {
        if a.level() <= level {
            let program = self.program.to_string();
            return Err(Error::TooLow {
                program,
                operation: "change of scale",
                level: a.level(),
                needed: level + 1,
            });
        }
        self.in_operation("change of scale", |c| {
            let above = c.level_above(a, level);
            let scale = scale.times(&c.divisor_to(above, level));
            let a = c.lowered(a, above);
            let a = c.multiply_real(&a, 1.0, &scale);
            c.relinearised_and_rescaled(&a, level)
        })
    }

    /// The sum of two ciphertexts. If their scales differ, the one of the higher level takes the other's.
    ///
    /// # Errors
    /// Returns an error if they have one level and different scales.
    pub fn add(&mut self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        let [a, b] = self.aligned("sum", a, b)?;
        let sums = self.in_operation("sum", |c| c.components([&a, &b], Emitter::add));
        Ok(Ciphertext::new(sums, a.level, a.scale))
    }

    /// The difference of two ciphertexts, as in [`add`](Self::add).
    ///
    /// # Errors
    /// Returns an error if they have one level and different scales.
    pub fn subtract(&mut self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        let [a, mut b] = self.aligned("difference", a, b)?;
        if b.components.len() > a.components.len() {
            b = self.relinearised(b);
        }
        let differences = self.in_operation("difference", |c| c.components([&a, &b], Emitter::subtract));
        Ok(Ciphertext::new(differences, a.level, a.scale))
    }

    /// The product of two ciphertexts, of three components. An operand of three components is relinearised.
    pub fn multiply(&mut self, a: &Ciphertext, b: &Ciphertext) -> Ciphertext {
        let level = a.level().min(b.level());
        let [a, b] = [a, b].map(|operand| {
            let operand = self.lowered(operand, level);
            self.relinearised(operand)
        });
        let e = &mut self.emitter;
        let [[a0, a1], [b0, b1]] = [&a, &b].map(|x| [0, 1].map(|index| x.components[index].limbs(e)));
        self.ledger.current().products += 1;
        let components = vec![
            Polynomial::Products(vec![[a0.clone(), b0.clone()]]),
            Polynomial::Products(vec![[a0, b1.clone()], [a1.clone(), b0]]),
            Polynomial::Products(vec![[a1, b1]]),
        ];
        Ciphertext { components, level, scale: a.scale.times(&b.scale) }
    }

    /// The product of a ciphertext and a plaintext.
    ///
    /// # Errors
    /// Returns an error if the plaintext has fewer moduli.
    pub fn multiply_plaintext(&mut self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, Error> {
        self.multiply_add(None, a, plaintext)
    }

    /// The sum of `sum` and the product of a ciphertext and a plaintext.
    ///
    /// # Errors
    /// Returns an error if the sum has another scale, or the plaintext has fewer moduli.
    pub fn multiply_add(
        &mut self,
        sum: Option<Ciphertext>,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, Error> {
        let scale = a.scale.times(&plaintext.scale);
        if let Some(sum) = sum.as_ref().filter(|sum| sum.scale != scale) {
            let scales = Box::new([sum.scale.clone(), scale]);
            return Err(Error::Scales {
                program: self.program.to_string(),
                operation: "sum of products",
                scales,
            });
        }
        self.check_plaintext("product with a plaintext", a, plaintext)?;
        let scope = self.emitter.open(RegionKind::Operation, "product with a plaintext");
        let e = &mut self.emitter;
        let sums = sum.map(|sum| sum.components.iter().map(|limbs| limbs.limbs(e)).collect::<Vec<_>>());
        let mut components = Vec::new();
        for (component, polynomial) in a.components.iter().enumerate() {
            let sum = sums.as_ref().map(|sums| &sums[component]);
            let add = |tower: Tower| {
                let limb = polynomial.limb(e, tower);
                let product = e.multiply(limb, plaintext.limbs[&tower], tower);
                (tower, e.accumulate(sum.map(|limbs| limbs[&tower]), product, tower))
            };
            components.push(polynomial.towers().into_iter().map(add).collect());
        }
        self.emitter.close(scope);
        self.ledger.current().plaintext_products += 1;
        Ok(Ciphertext::new(components, a.level, scale))
    }

    fn check_plaintext(
        &self,
        operation: &'static str,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<(), Error> {
        let has = |&level: &usize| {
            self.emitter.base().at(level).q().iter().all(|tower| plaintext.limbs.contains_key(tower))
        };
        if has(&a.level) {
            return Ok(());
        }
        let level = (1..a.level).rev().find(has).unwrap_or(0);
        Err(Error::TooLow { program: self.program.to_string(), operation, level, needed: a.level })
    }

    /// The sum of a ciphertext and a plaintext of one scale.
    ///
    /// # Errors
    /// Returns an error if their scales differ, or the plaintext has fewer moduli.
    pub fn add_plaintext(&mut self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, Error> {
        if a.scale != plaintext.scale {
            let scales = Box::new([a.scale.clone(), plaintext.scale.clone()]);
            return Err(Error::Scales {
                program: self.program.to_string(),
                operation: "sum with a plaintext",
                scales,
            });
        }
        self.check_plaintext("sum with a plaintext", a, plaintext)?;
        let scope = self.emitter.open(RegionKind::Operation, "sum with a plaintext");
        let e = &mut self.emitter;
        let mut components: Vec<Extended> = a.components.iter().map(|limbs| limbs.limbs(e)).collect();
        for (&tower, limb) in &mut components[0] {
            *limb = e.add(*limb, plaintext.limbs[&tower], tower);
        }
        e.close(scope);
        Ok(Ciphertext::new(components, a.level, a.scale.clone()))
    }

    /// The product with an integer. The scale stays: what was m is m times the integer.
    pub fn multiply_integer(&mut self, a: &Ciphertext, factor: &BigInt) -> Ciphertext {
        let scope = self.emitter.open(RegionKind::Operation, "product with a number");
        let e = &mut self.emitter;
        let component = |polynomial: &Polynomial| {
            let product = |tower: Tower| {
                let limb = polynomial.limb(e, tower);
                let factor = residue(factor, e.base().ring(tower).q());
                (tower, e.multiply_scalar(limb, factor, tower))
            };
            polynomial.towers().into_iter().map(product).collect()
        };
        let components = a.components.iter().map(component).collect();
        self.emitter.close(scope);
        Ciphertext::new(components, a.level, a.scale.clone())
    }

    /// The product with a real number, with this scale.
    pub fn multiply_real(&mut self, a: &Ciphertext, factor: f64, scale: &Scale) -> Ciphertext {
        let integer = scale.over(&a.scale).round(factor);
        self.multiply_integer(a, &integer).with_scale(scale.clone())
    }

    /// The sum with a real number in all slots.
    pub fn add_real(&mut self, a: &Ciphertext, addend: f64) -> Ciphertext {
        let integer = a.scale.round(addend);
        let scope = self.emitter.open(RegionKind::Operation, "sum with a number");
        let e = &mut self.emitter;
        let mut components: Vec<Extended> =
            a.components.iter().map(|polynomial| polynomial.limbs(e)).collect();
        for (&tower, limb) in &mut components[0] {
            let addend = residue(&integer, e.base().ring(tower).q());
            *limb = e.add_scalar(*limb, addend, tower);
        }
        e.close(scope);
        Ciphertext::new(components, a.level, a.scale.clone())
    }

    /// The product with i in all slots: with X^(n/2), which is an input.
    pub fn multiply_i(&mut self, a: &Ciphertext) -> Ciphertext {
        let exponent = self.set.degree().get() / 2;
        let definition = Definition::Monomial { exponent };
        let name = format!("monomial.{exponent}");
        let towers = self.emitter.base().q_below();
        let plaintext = self.plaintext_modulo(name, towers, Scale::one(), definition);
        let product = self.in_operation("product with i", |c| c.multiply_add(None, a, &plaintext));
        product.expect("the monomial has all moduli")
    }

    /// The division by what the level below lacks, rounded. A product is relinearised first;
    /// [`Self::relinearise_and_rescale`] does both at once.
    ///
    /// # Errors
    /// Returns an error if the ciphertext has the lowest level, or if the program is too long.
    pub fn rescale(&mut self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        self.room()?;
        if a.level == 1 {
            return Err(Error::NothingToDrop { program: self.program.to_string(), operation: "rescale" });
        }
        let a = self.relinearised(a.clone());
        Ok(self.rescaled_to(&a, a.level - 1))
    }

    /// The division of a ciphertext of two components by what a lower level lacks.
    pub(super) fn rescaled_to(&mut self, a: &Ciphertext, level: usize) -> Ciphertext {
        let scope = self.emitter.open(RegionKind::Operation, "rescale");
        let e = &mut self.emitter;
        let component = |polynomial: &Polynomial| {
            let limbs = polynomial.limbs(e);
            rescaled(e, &limbs, (a.level, level))
        };
        let components = a.components.iter().map(component).collect();
        self.emitter.close(scope);
        let scale = a.scale.over(&self.divisor_to(a.level, level));
        Ciphertext::new(components, level, scale)
    }
}

/// An integer modulo q.
fn residue(x: &BigInt, q: u128) -> u128 {
    let q = BigInt::from(q);
    let residue = ((x % &q) + &q) % &q;
    u128::try_from(residue).expect("a residue of 128 bits")
}

/// A polynomial of a level from the product D of the moduli that a lower level lacks, and the product U of
/// those that only the lower level has, limb by limb:
///
/// ```text
/// r = [t^-1 U x] mod D, from -(D - 1)/2 to (D - 1)/2
/// out_i = (U x_i - t r) D^-1 mod q_i
/// ```
///
/// With t = 1 this is U x/D, rounded to the nearest integer.
fn rescaled(e: &mut Emitter, limbs: &Extended, (from, to): (usize, usize)) -> Extended {
    let base = e.base().at(from);
    let Step { dropped, added } = base.step(to);
    let residues = |&tower: &Tower| {
        let coefficients = e.intt(limbs[&tower], tower);
        let factor = base.product(tower, base.inverse(tower, base.t), base.residue_of(&added, tower));
        let residues = match factor {
            1 => coefficients,
            factor => e.multiply_scalar(coefficients, factor, tower),
        };
        (tower, residues)
    };
    let residues = dropped.iter().map(residues).collect();
    let remainder = Centred::new(e, residues);
    let divide = |tower: Tower| {
        let inverse = base.inverse(tower, base.residue_of(&dropped, tower));
        let Some(&limb) = limbs.get(&tower) else {
            // U x is 0 modulo the factors of U.
            let factor = base.ring(tower).modulus().neg(base.product(tower, inverse, base.t));
            let coefficients = remainder.modulo(e, tower, factor);
            return (tower, e.ntt(coefficients, tower));
        };
        let added = base.residue_of(&added, tower);
        let factor = base.product(tower, base.inverse(tower, added), base.t);
        let coefficients = remainder.modulo(e, tower, factor);
        let values = e.ntt(coefficients, tower);
        let multiple = e.subtract(limb, values, tower);
        (tower, e.multiply_scalar(multiple, base.product(tower, inverse, added), tower))
    };
    base.at(to).q().into_iter().map(divide).collect()
}
