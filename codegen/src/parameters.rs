//! The parameters of a request: settings of its operation that no ring gives.

use b512_asm::Setting;
use golden::Operation;
use thiserror::Error;

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
    pub(crate) fn check(&self, operation: Operation, rings: usize) -> Result<(), ParameterFault> {
        for (index, (name, values)) in self.0.iter().enumerate() {
            let spec = operation.parameters().find(|spec| spec.name == name);
            let spec = spec.ok_or_else(|| ParameterFault::Unknown { operation, name: name.clone() })?;
            if self.0[..index].iter().any(|(other, _)| other == name) {
                return Err(ParameterFault::Repeated { name: name.clone() });
            }
            if values.len() != 1 && values.len() != rings {
                return Err(ParameterFault::Count { name: spec.name, given: values.len(), rings });
            }
        }
        match operation.parameters().find(|spec| self.0.iter().all(|(name, _)| name != spec.name)) {
            Some(spec) => Err(ParameterFault::Missing { operation, name: spec.name, doc: spec.doc }),
            None => Ok(()),
        }
    }
}

/// The reason why parameters do not suit an operation.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ParameterFault {
    /// A setting that the operation does not have, or that its rings give.
    #[error("unknown setting `{name}` of `{operation}`{}", settings_of(*operation))]
    Unknown {
        /// The requested operation.
        operation: Operation,
        /// The setting.
        name: String,
    },
    /// A setting without a value.
    #[error("`{operation}` needs a value of `{name}`: {doc}")]
    Missing {
        /// The requested operation.
        operation: Operation,
        /// The setting.
        name: &'static str,
        /// The meaning of the setting.
        doc: &'static str,
    },
    /// A setting with several values.
    #[error("`{name}` is given twice")]
    Repeated {
        /// The setting.
        name: String,
    },
    /// A list that does not have one number for each ring.
    #[error("`{name}` has {given} values, but the number of moduli is {rings}")]
    Count {
        /// The setting.
        name: &'static str,
        /// The numbers in the list.
        given: usize,
        /// The number of rings.
        rings: usize,
    },
}

/// The settings of an operation, as the end of a message.
fn settings_of(operation: Operation) -> String {
    let names: Vec<String> = operation.parameters().map(|spec| format!("`{}`", spec.name)).collect();
    match &names[..] {
        [] => ", which has none".to_owned(),
        [name] => format!("; its setting is {name}"),
        _ => format!("; its settings are {}", names.join(", ")),
    }
}
