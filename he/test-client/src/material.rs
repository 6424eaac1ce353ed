//! Keys and plaintexts of a program, from their definitions.

use crate::{Ciphertext, Client, ckks};
use diagnostic::Diagnostic;
use num_complex::Complex64;
use programs::{Definition, Generated, Input};
use ring_program::Inputs;
use ring_program::data::Words;
use std::sync::OnceLock;

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

    fn make<'p>(&'p self, inputs: &mut Inputs<'p>, input: &'p Input) -> Result<(), Diagnostic> {
        let tower = |index: usize| self.tower(input.moduli[index]).expect("a modulus of the client's set");
        let values = move |coefficients: &[i128], index| self.values_in(coefficients, tower(index));
        match &input.definition {
            Definition::Ciphertext { .. } | Definition::Given { .. } | Definition::Free => Ok(()),
            &Definition::Key { key, part, digit } => {
                inputs.make(&input.name, move |index| self.key_limb(key, part, (digit, tower(index))))
            }
            Definition::Plaintext { slots, scale } => {
                let coefficients = OnceLock::new();
                let half = self.set().degree().len() / 2;
                let encode = move || ckks::encode(&ckks::repeated(&slots.values(), half), scale.to_f64());
                inputs.make(&input.name, move |index| values(coefficients.get_or_init(encode), index))
            }
            &Definition::Monomial { exponent } => {
                let mut coefficients = vec![0; self.set().degree().len()];
                coefficients[exponent as usize] = 1;
                inputs.make(&input.name, move |index| values(&coefficients, index))
            }
        }
    }
}
