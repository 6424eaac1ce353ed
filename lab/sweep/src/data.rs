//! The data with which the programs of a sweep are checked.

use super::definition::{DataFile, Definition};
use b512_asm::{Program, Role};
use diagnostic::{Diagnostic, counted};
use lab_run::program::{coefficients, read};
use lab_run::{Form, inputs};
use std::collections::BTreeMap;
use std::path::Path;

/// The data with which programs are checked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// The seed of inputs that have no file.
    pub seed: u64,
    /// Words of input symbols.
    pub inputs: BTreeMap<String, Vec<u128>>,
    /// Words that output symbols must have.
    pub expected: BTreeMap<String, Vec<u128>>,
}

impl Data {
    /// Reads the files that a definition names.
    pub(super) fn read(definition: &Definition) -> Result<Self, Diagnostic> {
        let mut data = Self { seed: definition.seed, ..Self::default() };
        for DataFile { expected, symbol, path, span } in &definition.data {
            let words = Form::of(Path::new(path))
                .and_then(|form| coefficients(form, path, &read(&definition.path(path))?));
            let words = words.map_err(|error| {
                let help = error.help.as_deref().unwrap_or("name a file of coefficients");
                definition.error(span.clone(), error.message.clone(), help)
            })?;
            let files = if *expected { &mut data.expected } else { &mut data.inputs };
            files.insert(symbol.clone(), words);
        }
        Ok(data)
    }

    /// Checks that the data fit a program.
    ///
    /// # Errors
    /// Returns the first fault, at the file's name in the definition.
    pub(super) fn check(&self, definition: &Definition, program: &Program) -> Result<(), Diagnostic> {
        for DataFile { expected, symbol, span, .. } in &definition.data {
            let error = |message: String, help: &str| Err(definition.error(span.clone(), message, help));
            if !expected {
                match inputs::check(program, symbol, &self.inputs[symbol]) {
                    Ok(()) => continue,
                    Err(fault) => {
                        return error(fault.to_string(), "expected data for the inputs of `program`");
                    }
                }
            }
            let outputs = || program.symbols.iter().filter(|symbol| symbol.role == Role::Output);
            let Some(output) = outputs().find(|output| output.name == *symbol) else {
                let names: Vec<&str> = outputs().map(|output| output.name.as_str()).collect();
                return error(
                    format!("unknown output `{symbol}`"),
                    &format!("the program has {}", names.join(", ")),
                );
            };
            let given = self.expected[symbol].len();
            if given != output.words as usize {
                let words = counted(output.words as usize, "coefficient", "coefficients");
                return error(
                    format!("`{symbol}` has {words}, but the expected data has {given}"),
                    "give the whole output",
                );
            }
            if let Some(drawn) = inputs::drawn(program).find(|input| !self.inputs.contains_key(&input.name)) {
                let name = &drawn.name;
                return error(
                    format!("expected data for `{symbol}`, but no data for the input `{name}`"),
                    &format!("add `input.{name} = FILE`: without it, the input is random"),
                );
            }
        }
        Ok(())
    }

    /// Compares outputs with the expected words, of which each [has one](Self::check). Returns the first
    /// difference.
    pub(super) fn compare(&self, outputs: &BTreeMap<String, Vec<u128>>) -> Result<(), String> {
        for (name, expected) in &self.expected {
            let found = &outputs[name];
            if let Some(index) = (0..found.len()).find(|&index| found[index] != expected[index]) {
                return Err(format!(
                    "`{name}` differs from the expected data at coefficient {index}: it is {:#x} and should be {:#x}",
                    found[index], expected[index]
                ));
            }
        }
        Ok(())
    }
}
