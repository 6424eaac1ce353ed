//! Sums, products and rescales.

use super::{Ciphertext, Circuit, Plaintext};
use crate::Error;
use crate::base::Tower;
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
    ) -> Vec<Vec<Limb>> {
        let [a, b] = operands.map(|operand| &operand.components);
        let e = &mut self.emitter;
        let mut sums = Vec::new();
        for component in 0..a.len().max(b.len()) {
            let limbs = match (a.get(component), b.get(component)) {
                (Some(a), Some(b)) => {
                    let towers = (0..a.level()).map(Tower);
                    let sum = |tower| {
                        let (a, b) = (a.limb(e, tower), b.limb(e, tower));
                        operation(e, a, b, tower)
                    };
                    towers.map(sum).collect()
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
            return Ok([a.at(level), b.at(level)]);
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

    /// Whether a rescale to this level gives a ciphertext the scale with the precision of the scale itself.
    fn can_take(&self, a: &Ciphertext, scale: &Scale, level: usize) -> bool {
        let factor = scale.times(&self.last_modulus(level + 1)).over(&a.scale);
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
            let scale = scale.times(&c.last_modulus(level + 1));
            let a = c.multiply_real(&a.at(level + 1), 1.0, &scale);
            c.relinearise_and_rescale(&a)
        })
    }

    /// The sum of two ciphertexts. If their scales differ, the one of the higher level takes the other's.
    ///
    /// # Errors
    /// Returns an error if they have one level and different scales.
    pub fn add(&mut self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, Error> {
        let [a, b] = self.aligned("sum", a, b)?;
        let sums = self.in_operation("sum", |c| c.components([&a, &b], Emitter::add));
        Ok(Ciphertext::new(sums, a.scale))
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
        Ok(Ciphertext::new(differences, a.scale))
    }

    /// The product of two ciphertexts, of three components. An operand of three components is relinearised.
    pub fn multiply(&mut self, a: &Ciphertext, b: &Ciphertext) -> Ciphertext {
        let level = a.level().min(b.level());
        let [a, b] = [a, b].map(|operand| self.relinearised(operand.at(level)));
        let e = &mut self.emitter;
        let [[a0, a1], [b0, b1]] = [&a, &b].map(|x| [0, 1].map(|index| x.components[index].limbs(e)));
        self.ledger.current().products += 1;
        let components = vec![
            Polynomial::Products(vec![[a0.clone(), b0.clone()]]),
            Polynomial::Products(vec![[a0, b1.clone()], [a1.clone(), b0]]),
            Polynomial::Products(vec![[a1, b1]]),
        ];
        Ciphertext { components, scale: a.scale.times(&b.scale) }
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
        let mut sums = sum.map(|sum| sum.components.iter().map(|limbs| limbs.limbs(e)).collect::<Vec<_>>());
        let mut components = Vec::new();
        for (component, polynomial) in a.components.iter().enumerate() {
            let sum = sums.as_mut().map(|sums| std::mem::take(&mut sums[component]));
            let add = |tower: Tower| {
                let limb = polynomial.limb(e, tower);
                let product = e.multiply(limb, plaintext.limbs[&tower], tower);
                e.accumulate(sum.as_ref().map(|limbs| limbs[tower.0]), product, tower)
            };
            components.push((0..a.level()).map(Tower).map(add).collect());
        }
        self.emitter.close(scope);
        self.ledger.current().plaintext_products += 1;
        Ok(Ciphertext::new(components, scale))
    }

    fn check_plaintext(
        &self,
        operation: &'static str,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<(), Error> {
        let level = (0..).take_while(|&tower| plaintext.limbs.contains_key(&Tower(tower))).count();
        if level >= a.level() {
            return Ok(());
        }
        Err(Error::TooLow { program: self.program.to_string(), operation, level, needed: a.level() })
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
        let mut components: Vec<Vec<Limb>> = a.components.iter().map(|limbs| limbs.limbs(e)).collect();
        for (tower, limb) in components[0].iter_mut().enumerate() {
            let tower = Tower(tower);
            *limb = e.add(*limb, plaintext.limbs[&tower], tower);
        }
        e.close(scope);
        Ok(Ciphertext::new(components, a.scale.clone()))
    }

    /// The product with an integer. The scale stays: what was m is m times the integer.
    pub fn multiply_integer(&mut self, a: &Ciphertext, factor: &BigInt) -> Ciphertext {
        let scope = self.emitter.open(RegionKind::Operation, "product with a number");
        let e = &mut self.emitter;
        let component = |polynomial: &Polynomial| {
            let product = |tower: Tower| {
                let limb = polynomial.limb(e, tower);
                let factor = residue(factor, e.base().ring(tower).q());
                e.multiply_scalar(limb, factor, tower)
            };
            (0..polynomial.level()).map(Tower).map(product).collect()
        };
        let components = a.components.iter().map(component).collect();
        self.emitter.close(scope);
        Ciphertext::new(components, a.scale.clone())
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
        let mut components: Vec<Vec<Limb>> =
            a.components.iter().map(|polynomial| polynomial.limbs(e)).collect();
        for (tower, limb) in components[0].iter_mut().enumerate() {
            let tower = Tower(tower);
            let addend = residue(&integer, e.base().ring(tower).q());
            *limb = e.add_scalar(*limb, addend, tower);
        }
        e.close(scope);
        Ciphertext::new(components, a.scale.clone())
    }

    /// The product with i in all slots: with X^(n/2), which is an input.
    pub fn multiply_i(&mut self, a: &Ciphertext) -> Ciphertext {
        let exponent = self.set.degree().get() / 2;
        let definition = Definition::Monomial { exponent };
        let name = format!("monomial.{exponent}");
        let plaintext = self.plaintext(name, (self.level(), false), Scale::one(), definition);
        let product = self.in_operation("product with i", |c| c.multiply_add(None, a, &plaintext));
        product.expect("the monomial has all moduli")
    }

    /// The division by the last modulus, rounded. A product is relinearised first;
    /// [`Self::relinearise_and_rescale`] does both at once.
    ///
    /// # Errors
    /// Returns an error if the ciphertext has one modulus, or if the program is too long.
    pub fn rescale(&mut self, a: &Ciphertext) -> Result<Ciphertext, Error> {
        self.room()?;
        let level = a.level();
        if level == 1 {
            return Err(Error::NothingToDrop { program: self.program.to_string(), operation: "rescale" });
        }
        let a = self.relinearised(a.clone());
        let scope = self.emitter.open(RegionKind::Operation, "rescale");
        let e = &mut self.emitter;
        let component = |polynomial: &Polynomial| {
            let limbs = polynomial.limbs(e);
            rescaled(e, &limbs)
        };
        let components = a.components.iter().map(component).collect();
        self.emitter.close(scope);
        let scale = a.scale.over(&self.last_modulus(level));
        Ok(Ciphertext::new(components, scale))
    }
}

/// An integer modulo q.
fn residue(x: &BigInt, q: u128) -> u128 {
    let q = BigInt::from(q);
    let residue = ((x % &q) + &q) % &q;
    u128::try_from(residue).expect("a residue of 128 bits")
}

/// A polynomial divided by its last modulus q_l, limb by limb:
///
/// ```text
/// r = [t^-1 x_l] mod q_l, from -(q_l - 1)/2 to (q_l - 1)/2
/// out_i = (x_i - t r) q_l^-1 mod q_i
/// ```
///
/// With t = 1 this is x/q_l, rounded to the nearest integer.
fn rescaled(e: &mut Emitter, limbs: &[Limb]) -> Vec<Limb> {
    let base = e.base().clone();
    let (t, last) = (base.t, Tower(limbs.len() - 1));
    let modulus = base.ring(last).q();
    let half = (modulus - 1) / 2;
    let mut residues = e.intt(limbs[last.0], last);
    if t > 1 {
        residues = e.multiply_scalar(residues, base.inverse(last, t), last);
    }
    // From 0 to q_l - 1, and half more than the centred residue.
    let shifted = e.add_scalar(residues, half, last);
    let divide = |tower: Tower| {
        let reduced = e.multiply_scalar(shifted, t % base.ring(tower).q(), tower);
        let remainder = e.subtract_scalar(reduced, base.product(tower, half, t), tower);
        let remainder = e.ntt(remainder, tower);
        let multiple = e.subtract(limbs[tower.0], remainder, tower);
        e.multiply_scalar(multiple, base.inverse(tower, modulus), tower)
    };
    (0..last.0).map(Tower).map(divide).collect()
}
