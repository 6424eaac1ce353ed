//! Inputs, plaintexts, keys and outputs.

use super::{Ciphertext, Circuit, Plaintext, function};
use crate::Error;
use crate::base::{Digit, Extended, Tower};
use crate::definition::{Definition, Input, KeyPart, SwitchingKey};
use crate::matrix::Slots;
use crate::polynomial::Polynomial;
use crate::scale::Scale;
use num_complex::Complex64;
use std::sync::Arc;

impl Circuit {
    /// Declares an input with a limb for each of some towers.
    pub(super) fn declare(&mut self, name: String, towers: &[Tower], definition: Definition) -> Extended {
        let limbs = self.emitter.input(name.clone(), towers);
        let moduli = towers.iter().map(|&tower| self.emitter.base().ring(tower).q()).collect();
        self.inputs.push(Input { name, label: None, moduli, definition });
        limbs
    }

    /// Declares the inputs `NAME.0` and `NAME.1` of a ciphertext at the level and with the scale of messages.
    ///
    /// # Errors
    /// Returns an error if an input has the name.
    pub fn input(&mut self, name: &str) -> Result<Ciphertext, Error> {
        self.input_at(name, self.message_level(), self.message_scale())
    }

    /// Declares the inputs `NAME.0` and `NAME.1` of a ciphertext.
    ///
    /// # Errors
    /// Returns an error if an input has the name, or the circuit lacks the level.
    pub fn input_at(&mut self, name: &str, level: usize, scale: Scale) -> Result<Ciphertext, Error> {
        if level == 0 || level > self.level() {
            let (set, levels) = (self.set.name().to_owned(), self.level());
            return Err(Error::Level { level, set, levels });
        }
        if self.inputs.iter().any(|input| input.name == format!("{name}.0")) {
            return Err(self.known_name("input", name));
        }
        let towers = self.emitter.base().at(level).q();
        let component = |component: usize| {
            let definition = Definition::Ciphertext { component, scale: scale.clone() };
            self.declare(format!("{name}.{component}"), &towers, definition)
        };
        let components = [0, 1].map(component).to_vec();
        Ok(Ciphertext::new(components, level, scale))
    }

    fn known_name(&self, what: &'static str, name: &str) -> Error {
        Error::Name { program: self.program.to_string(), what, name: name.to_owned() }
    }

    /// A plaintext to multiply `a` with: the product has the scale of `a` after its rescale. Slots that are
    /// not given are an input for the user; fewer than n/2 repeat.
    ///
    /// # Panics
    /// Panics if the number of slots does not divide n/2.
    pub fn factor(&mut self, name: &str, a: &Ciphertext, slots: Option<Vec<Complex64>>) -> Plaintext {
        self.user_plaintext(name, a.level(), self.divisor(a.level()), slots)
    }

    /// A plaintext to add to `a`, as in [`factor`](Self::factor).
    ///
    /// # Panics
    /// Panics if the number of slots does not divide n/2.
    pub fn summand(&mut self, name: &str, a: &Ciphertext, slots: Option<Vec<Complex64>>) -> Plaintext {
        self.user_plaintext(name, a.level(), a.scale.clone(), slots)
    }

    fn user_plaintext(
        &mut self,
        name: &str,
        level: usize,
        scale: Scale,
        slots: Option<Vec<Complex64>>,
    ) -> Plaintext {
        let definition = match slots {
            None => Definition::Given { scale: scale.clone() },
            Some(slots) => {
                let most = self.set.degree().len() / 2;
                assert!(!slots.is_empty() && most.is_multiple_of(slots.len()), "a divisor of {most} slots");
                Definition::Plaintext { slots: Slots::Values(slots.into()), scale: scale.clone() }
            }
        };
        self.plaintext(name.to_owned(), (level, false), scale, definition)
    }

    /// Declares the input of a polynomial without meaning, at the highest level of the program.
    pub(crate) fn polynomial(&mut self, name: &str) -> Polynomial {
        let towers = self.emitter.base().q();
        Polynomial::Limbs(self.declare(name.to_owned(), &towers, Definition::Free))
    }

    /// The input of a plaintext, modulo P too if `extended`. It is declared at its first use. A use at a
    /// higher level, with another scale or with other slots declares `NAME.1`, `NAME.2`, ..
    pub(crate) fn plaintext(
        &mut self,
        name: String,
        (level, extended): (usize, bool),
        scale: Scale,
        definition: Definition,
    ) -> Plaintext {
        let base = self.emitter.base().at(level);
        let towers = if extended { base.all() } else { base.q() };
        self.plaintext_modulo(name, towers, scale, definition)
    }

    /// As [`plaintext`](Self::plaintext), with some moduli.
    pub(super) fn plaintext_modulo(
        &mut self,
        name: String,
        towers: Vec<Tower>,
        scale: Scale,
        definition: Definition,
    ) -> Plaintext {
        let local = name;
        let name = match &self.scope {
            Some(scope) => format!("{}{local}", scope.prefix),
            None => local.clone(),
        };
        let label = name.clone();
        let (mut name, mut further) = (name, 0);
        while let Some((known, of)) = self.plaintexts.get(&name) {
            let has_towers = towers.iter().all(|tower| known.limbs.contains_key(tower));
            if known.scale == scale && *of == definition && has_towers {
                return known.clone();
            }
            further += 1;
            name = format!("{label}.{further}");
        }
        let limbs = self.declare(name.clone(), &towers, definition.clone());
        if let Some(input) = self.inputs.last_mut().filter(|_| further > 0) {
            input.label = Some(label);
        }
        let local = if further > 0 { format!("{local}.{further}") } else { local };
        if let Some(scope) = &mut self.scope {
            scope.plaintexts.push(function::Declared {
                local,
                definition: definition.clone(),
                limbs: limbs.clone(),
            });
        }
        let plaintext = Plaintext { limbs, scale };
        self.plaintexts.insert(name, (plaintext.clone(), definition));
        plaintext
    }

    /// Declares the outputs `NAME.0` and `NAME.1`, and `NAME.2` of a product.
    ///
    /// # Errors
    /// Returns an error if an output has the name, if the program is too long, or if the moduli of the
    /// ciphertext do not hold the plaintexts of BGV.
    pub fn output(&mut self, name: &str, ciphertext: &Ciphertext) -> Result<(), Error> {
        // No other ciphertext has a lower level.
        self.holds_plaintexts(ciphertext.level)?;
        if !self.outputs.insert(name.to_owned()) {
            return Err(self.known_name("output", name));
        }
        for (component, polynomial) in ciphertext.components.iter().enumerate() {
            let limbs = self.in_operation("product", |c| polynomial.limbs(&mut c.emitter));
            self.emitter.output(format!("{name}.{component}"), limbs);
        }
        self.scales.insert(name.to_owned(), ciphertext.scale.clone());
        self.room()
    }

    /// Declares the output of a polynomial.
    pub(crate) fn output_polynomial(&mut self, name: &str, limbs: Extended) {
        self.emitter.output(name, limbs);
    }

    /// Declares a key under its own name, or another one.
    pub(crate) fn declare_key(&mut self, key: SwitchingKey, name: &str) {
        let base = self.emitter.base();
        // One key serves all levels.
        let (whole, digits) = match key {
            SwitchingKey::DenseToSparse => {
                (base.at(1).with_special(self.set.encapsulation_special()), base.at(1))
            }
            SwitchingKey::Relinearisation
            | SwitchingKey::Galois(_)
            | SwitchingKey::SparseToDense
            | SwitchingKey::Unnamed => (base.highest(), base.clone()),
        };
        let towers = whole.all();
        let limbs = [KeyPart::B, KeyPart::A].map(|part| {
            let limbs = |digit: Digit| {
                let definition = Definition::Key { key, part, digit: digit.0 };
                (digit, self.declare(format!("{name}.{part}.{}", digit.0), &towers, definition))
            };
            digits.digits_below().into_iter().map(limbs).collect()
        });
        self.keys.insert(key, Arc::new(limbs));
        self.key_names.insert(key, name.to_owned());
    }
}
