//! The parameters of a request: settings of its operation that no ring gives.

use crate::error::Error;
use b512_asm::Setting;
use golden::{Kind, Operation};

/// Values of the parameters of an operation, such as a scalar, and of its lists of moduli if it works in
/// several rings.
///
/// If an operation has one number per ring, a list holds the numbers in the order of the rings. A single
/// number applies to all rings.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parameters(Vec<(String, Setting)>);

impl Parameters {
    /// These values by the names of the settings.
    pub fn new(values: Vec<(String, Setting)>) -> Self {
        Self(values)
    }

    /// The operation's examples. Values have no influence on the cycles.
    pub fn examples(operation: Operation) -> Self {
        Self(operation.examples())
    }

    /// A value.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// A value that is a number.
    pub fn number(&self, name: &str) -> Option<u128> {
        match self.get(name)? {
            Setting::Number(number) => Some(*number),
            Setting::Numbers(_) | Setting::Word(_) => None,
        }
    }

    /// A value that is a word.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Setting::Word(word) => Some(word),
            Setting::Number(_) | Setting::Numbers(_) => None,
        }
    }

    /// The settings of the claim in the ring of that number.
    pub(crate) fn in_ring(&self, operation: Operation, ring: usize) -> Vec<(String, Setting)> {
        let value = |name: &str, kind| match (kind, self.get(name)?) {
            (Kind::Number, Setting::Numbers(numbers)) => numbers.get(ring).copied().map(Setting::Number),
            (_, value) => Some(value.clone()),
        };
        let known = operation.parameters();
        known.filter_map(|spec| Some((spec.name.to_owned(), value(spec.name, spec.kind)?))).collect()
    }

    /// Checks that each parameter has a value, or one for each ring, and that none is unknown.
    pub(crate) fn check(&self, operation: Operation, rings: usize) -> Result<(), Error> {
        let settings = || operation.lists().chain(operation.parameters());
        for (index, (name, value)) in self.0.iter().enumerate() {
            let spec = settings().find(|spec| spec.name == name);
            let spec = spec.ok_or_else(|| Error::UnknownSetting { operation, name: name.clone() })?;
            if self.0[..index].iter().any(|(other, _)| other == name) {
                return Err(Error::RepeatedSetting { name: name.clone() });
            }
            if let (Kind::Number, Setting::Numbers(numbers)) = (spec.kind, value)
                && numbers.len() != rings
            {
                return Err(Error::SettingCount { name: spec.name, given: numbers.len(), rings });
            }
        }
        match settings().find(|spec| self.get(spec.name).is_none()) {
            Some(spec) => Err(Error::MissingSetting { operation, name: spec.name, doc: spec.doc }),
            None => Ok(()),
        }
    }
}
