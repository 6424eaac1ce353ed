//! Values of keys, ready to be set in many machines.

use super::Machine;
use super::overrides::Override;
use super::schema::{self, value_at};
use super::table::Key;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use thiserror::Error;
use toml::Value;

/// A value of a key that accepts it. As text, `key=value`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Assignment {
    key: &'static Key,
    value: Value,
}

/// Invalid text of an assignment.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("`{0}` gives no key of a machine a value that it accepts; write `key=value`, such as `vdm.banks=64`")]
pub struct AssignmentError(String);

impl Assignment {
    /// This value of the key with this dotted path; `None` if there is no such key, or it does not accept the
    /// value.
    pub fn new(key: &str, value: Value) -> Option<Self> {
        let key = schema::find(key)?;
        key.kind.allows(&value).then_some(Self { key, value })
    }
}

impl FromStr for Assignment {
    type Err = AssignmentError;

    fn from_str(text: &str) -> Result<Self, AssignmentError> {
        let assignment = Override::parse(text).ok().and_then(|text| text.assignment());
        assignment.ok_or_else(|| AssignmentError(text.to_owned()))
    }
}

impl TryFrom<String> for Assignment {
    type Error = AssignmentError;

    fn try_from(text: String) -> Result<Self, AssignmentError> {
        text.parse()
    }
}

impl From<Assignment> for String {
    fn from(assignment: Assignment) -> Self {
        assignment.to_string()
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            Value::String(text) => write!(f, "{}={text}", self.key.path),
            value => write!(f, "{}={value}", self.key.path),
        }
    }
}

impl PartialEq for Assignment {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Assignment {}

impl Hash for Assignment {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

impl Override {
    /// The override as an assignment; `None` if it names no key of a machine, such as `technology`, which is
    /// a file, or if the key does not accept its value.
    pub fn assignment(&self) -> Option<Assignment> {
        Assignment::new(self.key(), self.leaf_value())
    }
}

impl Machine {
    /// The keys that decide which program is generated and how many cycles it takes, with this machine's
    /// values where `other` has different ones.
    pub fn speed_beside(&self, other: &Self) -> Vec<Assignment> {
        let (own, others) = (self.resolved().to_value(), other.resolved().to_value());
        let keys = schema::keys().filter(|key| key.decides_timing());
        let assignments = keys.map(|key| Assignment { key, value: value_at(&own, key.path).clone() });
        assignments.filter(|Assignment { key, value }| value_at(&others, key.path) != value).collect()
    }

    /// The machine with some values set, in order; `None` if it breaks a rule over several keys.
    ///
    /// Many times as fast as a machine from a file, which errors need for their positions.
    pub fn with<'a>(&self, assignments: impl IntoIterator<Item = &'a Assignment>) -> Option<Self> {
        let mut values = self.values.clone();
        for Assignment { key, value } in assignments {
            (key.set)(&mut values, value.clone()).ok()?;
        }
        let machine = Self::of(values, self.vdm_halvings);
        machine.broken_rules().is_empty().then_some(machine)
    }
}
