//! Keys and plaintexts of a program, from their definitions.

use crate::{Ciphertext, Client, ckks};
use diagnostic::Diagnostic;
use num_complex::Complex64;
use programs::{Definition, Generated, Input, KeyPart};
use ring_program::Inputs;
use ring_program::data::Words;
use std::sync::{Arc, Mutex, PoisonError};

impl Client {
    /// The inputs of a program with the keys and plaintexts that it defines, and with ciphertexts for its inputs `NAME.0` and
    /// `NAME.1`. Keys and plaintexts are made when a run needs them. Inputs without a definition stay missing.
    ///
    /// # Errors
    /// Returns an error if the program lacks a name, or a ciphertext does not fit.
    ///
    /// # Panics
    /// Panics if the program is of another set.
    pub fn inputs<'p>(
        &'p self,
        generated: &'p Generated,
        ciphertexts: &[(&str, &Ciphertext)],
    ) -> Result<Inputs<'p>, Diagnostic> {
        let mut inputs = Inputs::new(&generated.program);
        for (name, ciphertext) in ciphertexts {
            for (component, limbs) in ciphertext.iter().enumerate() {
                inputs.set(&format!("{name}.{component}"), limbs.clone())?;
            }
        }
        for input in &generated.inputs {
            self.make(&mut inputs, input)?;
        }
        Ok(inputs)
    }

    /// Encrypts slots for the inputs `NAME.0` and `NAME.1` of a program, with their level and scale.
    ///
    /// # Panics
    /// Panics if the program has no such inputs, or another number of slots.
    pub fn encrypt_input(&mut self, generated: &Generated, name: &str, slots: &[Complex64]) -> Ciphertext {
        let first = format!("{name}.0");
        let input = generated.inputs.iter().find(|input| input.name == first);
        let Some(Input { definition: Definition::Ciphertext { scale, .. }, moduli, .. }) = input else {
            panic!("the program has no ciphertext `{name}`")
        };
        let ciphertext = self.encrypt(&ckks::encode(slots, scale.to_f64()));
        self.modulo(&ciphertext, moduli)
    }

    /// The limbs of a plaintext whose slots the user gives, for the input with a name.
    ///
    /// # Panics
    /// Panics if the program has no such input, or another number of slots.
    pub fn encode_input(&self, generated: &Generated, name: &str, slots: &[Complex64]) -> Vec<Words> {
        let input = generated.inputs.iter().find(|input| input.name == name);
        let Some(Input { definition: Definition::Given { scale }, moduli, .. }) = input else {
            panic!("the program has no plaintext `{name}` without slots")
        };
        let coefficients = ckks::encode(slots, scale.to_f64());
        let tower = |&modulus: &u128| self.tower(modulus).expect("a modulus of the client's set");
        moduli.iter().map(|modulus| self.values_in(&coefficients, tower(modulus))).collect()
    }

    /// Has `slots` make the slots of each plaintext that the user gives, from its name, when a run needs
    /// them.
    ///
    /// # Errors
    /// Returns an error if the inputs are of another program.
    ///
    /// # Panics
    /// Panics if the program is of another set. A run panics if there is another number of slots.
    pub fn give<'p>(
        &'p self,
        inputs: &mut Inputs<'p>,
        generated: &'p Generated,
        slots: &'p (dyn Fn(&str) -> Vec<Complex64> + Sync),
    ) -> Result<(), Diagnostic> {
        for input in &generated.inputs {
            if let Definition::Given { scale } = &input.definition {
                let encode = move || ckks::encode(&slots(&input.name), scale.to_f64());
                self.make_plaintext(inputs, input, encode)?;
            }
        }
        Ok(())
    }

    /// Has `encode` make the coefficients of a plaintext once for all of its limbs, which a run asks for one
    /// soon after the other.
    fn make_plaintext<'p>(
        &'p self,
        inputs: &mut Inputs<'p>,
        input: &'p Input,
        encode: impl Fn() -> Vec<i128> + Send + Sync + 'p,
    ) -> Result<(), Diagnostic> {
        // The coefficients, and the limbs that still need them.
        let known: Mutex<(Option<Arc<[i128]>>, usize)> = Mutex::default();
        inputs.make(&input.name, move |index| {
            let mut state = known.lock().unwrap_or_else(PoisonError::into_inner);
            let (coefficients, left) = match state.0.take() {
                Some(coefficients) => (coefficients, state.1 - 1),
                None => (encode().into(), input.moduli.len() - 1),
            };
            *state = (Some(Arc::clone(&coefficients)).filter(|_| left > 0), left);
            drop(state);
            let tower = self.tower(input.moduli[index]).expect("a modulus of the client's set");
            self.values_in(&coefficients, tower)
        })
    }

    fn make<'p>(&'p self, inputs: &mut Inputs<'p>, input: &'p Input) -> Result<(), Diagnostic> {
        let tower = |index: usize| self.tower(input.moduli[index]).expect("a modulus of the client's set");
        match &input.definition {
            Definition::Ciphertext { .. } | Definition::Given { .. } | Definition::Free => Ok(()),
            &Definition::Key { key, part, digit } => {
                let limb = move |index| self.key_limb(key, part, (digit, tower(index)));
                match part {
                    // Random numbers, which are drawn faster than a transform takes.
                    KeyPart::A => inputs.make_again(&input.name, limb),
                    KeyPart::B => inputs.make(&input.name, limb),
                }
            }
            Definition::Plaintext { slots, scale } => {
                let half = self.set().degree().len() / 2;
                let encode = move || ckks::encode(&ckks::repeated(&slots.values(), half), scale.to_f64());
                self.make_plaintext(inputs, input, encode)
            }
            &Definition::Monomial { exponent } => {
                let mut coefficients = vec![0; self.set().degree().len()];
                coefficients[exponent as usize] = 1;
                inputs.make(&input.name, move |index| self.values_in(&coefficients, tower(index)))
            }
        }
    }
}
