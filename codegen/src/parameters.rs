//! The parameters of a request: settings of its operation that no ring gives.

use crate::error::Error;
use b512_asm::Setting;
use golden::Operation;

/// Values of the parameters of an operation, such as a scalar: one for all rings, or one for each ring in
/// their order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Parameters(Vec<(String, Vec<Setting>)>);

impl Parameters {
    /// These values by the names of the settings, the same in all rings.
    pub fn new(values: Vec<(String, Setting)>) -> Self {
        Self(values.into_iter().map(|(name, value)| (name, vec![value])).collect())
    }

    /// These values by the names of the settings: one for all rings, or one for each.
    pub fn by_ring(values: Vec<(String, Vec<Setting>)>) -> Self {
        Self(values)
    }

    /// A value that is the same in all rings.
    pub fn get(&self, name: &str) -> Option<&Setting> {
        match &self.0.iter().find(|(known, _)| known == name)?.1[..] {
            [value] => Some(value),
            _ => None,
        }
    }

    /// A value that is a number.
    pub fn number(&self, name: &str) -> Option<u128> {
        match self.get(name)? {
            Setting::Number(number) => Some(*number),
            Setting::Word(_) => None,
        }
    }

    /// A value that is a word.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Setting::Word(word) => Some(word),
            Setting::Number(_) => None,
        }
    }

    /// The settings of the claim in the ring of that number.
    pub(crate) fn in_ring(&self, operation: Operation, ring: usize) -> Vec<(String, Setting)> {
        let value = |name: &str| {
            let (_, values) = self.0.iter().find(|(known, _)| known == name)?;
            let value = if let [value] = &values[..] { Some(value) } else { values.get(ring) };
            Some((name.to_owned(), value?.clone()))
        };
        operation.parameters().filter_map(|spec| value(spec.name)).collect()
    }

    /// Checks that each parameter has a value, or one for each ring, and that none is unknown.
    pub(crate) fn check(&self, operation: Operation, rings: usize) -> Result<(), Error> {
        for (index, (name, values)) in self.0.iter().enumerate() {
            let spec = operation.parameters().find(|spec| spec.name == name);
            let spec = spec.ok_or_else(|| Error::UnknownSetting { operation, name: name.clone() })?;
            if self.0[..index].iter().any(|(other, _)| other == name) {
                return Err(Error::RepeatedSetting { name: name.clone() });
            }
            if values.len() != 1 && values.len() != rings {
                return Err(Error::SettingCount { name: spec.name, given: values.len(), rings });
            }
        }
        match operation.parameters().find(|spec| self.0.iter().all(|(name, _)| name != spec.name)) {
            Some(spec) => Err(Error::MissingSetting { operation, name: spec.name, doc: spec.doc }),
            None => Ok(()),
        }
    }
}
