//! The data with which the programs of a sweep are checked.

use super::definition::{DataFile, Definition};
use crate::program::{coefficients, read};
use diagnostic::{Diagnostic, counted};
use std::collections::BTreeMap;

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
            let words = read(&definition.path(path)).and_then(|bytes| coefficients(path, &bytes));
            let words = words.map_err(|error| {
                let help = error.help.as_deref().unwrap_or("name a file of coefficients of 16 bytes each");
                definition.error(span.clone(), error.message.clone(), help)
            })?;
            let files = if *expected { &mut data.expected } else { &mut data.inputs };
            files.insert(symbol.clone(), words);
        }
        Ok(data)
    }

    /// Compares outputs with the expected words. Returns the first difference.
    pub(super) fn compare(&self, outputs: &BTreeMap<String, Vec<u128>>) -> Result<(), String> {
        for (name, expected) in &self.expected {
            let found = outputs.get(name).ok_or_else(|| {
                let names: Vec<&str> = outputs.keys().map(String::as_str).collect();
                format!("unknown output `{name}`; the program has: {}", names.join(", "))
            })?;
            if found.len() != expected.len() {
                let (given, words) = (expected.len(), found.len());
                let words = counted(words, "coefficient", "coefficients");
                return Err(format!("`{name}` has {words}, but the expected data has {given}"));
            }
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
