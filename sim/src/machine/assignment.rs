//! Values of keys, ready to be set in many machines.

use super::Machine;
use super::load::Override;
use super::schema;
use super::table::Key;
use toml::Value;

/// A value of a key that accepts it.
#[derive(Clone, Debug)]
pub struct Assignment {
    key: &'static Key,
    value: Value,
}

impl Override {
    /// The override as an assignment; `None` if it names no key of a machine, such as `technology`, which is
    /// a file, or if the key does not accept its value.
    pub fn assignment(&self) -> Option<Assignment> {
        let (key, value) = (schema::find(self.key())?, self.leaf_value());
        key.kind.allows(&value).then_some(Assignment { key, value })
    }
}

impl Machine {
    /// The machine with some values set, in order; `None` if it breaks a rule over several keys.
    ///
    /// Many times as fast as a machine from a file, which errors need for their positions.
    pub fn with<'a>(&self, assignments: impl IntoIterator<Item = &'a Assignment>) -> Option<Self> {
        let mut machine = self.clone();
        for Assignment { key, value } in assignments {
            (key.set)(&mut machine, value.clone()).ok()?;
        }
        machine.broken_rules().is_empty().then_some(machine)
    }
}
