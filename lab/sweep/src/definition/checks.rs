//! Checks of a definition's axes.

use super::{Axis, Definition, ScheduleFor, Setting, quoted};
use crate::parameter::is_parameter;
use crate::value::whole;
use diagnostic::{Code, Diagnostic};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

impl Definition {
    /// Checks that no value of an axis comes twice: its points would be the same.
    pub(super) fn check_distinct(&self, values: &[Setting]) -> Result<(), Diagnostic> {
        let mut seen = HashSet::new();
        match values.iter().find(|setting| !seen.insert(Canonical::of(&setting.value))) {
            None => Ok(()),
            Some(Setting { key, value, span, .. }) => {
                let message = format!("`{key}` has the value {value} twice");
                let error = self.error(span.clone(), message, "give each value once");
                Err(error.with_code(Code::Contradiction.name()))
            }
        }
    }

    /// The same for the rows of `[zip]` or `[[list]]`.
    pub(super) fn check_rows<'r>(&self, name: &str, rows: &'r Axis) -> Result<(), Diagnostic> {
        let mut seen = HashSet::new();
        let values = |row: &'r Vec<Setting>| {
            let setting = |setting: &'r Setting| (&*setting.key, Canonical::of(&setting.value));
            let mut values: Vec<(&str, Canonical<'r>)> = row.iter().map(setting).collect();
            values.sort_unstable();
            values
        };
        match rows.iter().find(|row| !seen.insert(values(row))).and_then(|row| row.first()) {
            None => Ok(()),
            Some(setting) => {
                let message = format!("two rows of `{name}` have the same values");
                let error = self.error(setting.span.clone(), message, "give each row once");
                Err(error.with_code(Code::Contradiction.name()))
            }
        }
    }

    /// A key of `schedule_for` that is not an axis would have no effect.
    pub(super) fn check_scheduled_keys(&self, spans: &[Range<usize>]) -> Result<(), Diagnostic> {
        let ScheduleFor::Keys(keys) = &self.schedule_for else { return Ok(()) };
        let varying = self.varying();
        let machine_keys = || varying.iter().map(String::as_str).filter(|key| !is_parameter(key));
        match keys.iter().zip(spans).find(|(key, _)| machine_keys().all(|varying| varying != *key)) {
            None => Ok(()),
            Some((key, span)) => {
                let message = format!("the sweep does not vary a machine key `{key}`");
                let help = format!("the varied machine keys are {}", quoted(machine_keys()));
                Err(self.error(span.clone(), message, help))
            }
        }
    }

    /// Checks that no key is on two axes, and that a kernel's key for all points is not one that every point
    /// sets anew.
    pub(super) fn check_axes(&self) -> Result<(), Diagnostic> {
        for axis in &*self.axes {
            let mut rows: HashMap<&str, usize> = HashMap::new();
            axis.iter().flatten().for_each(|setting| *rows.entry(&setting.key).or_default() += 1);
            let in_all_rows = |setting: &&Setting| rows[&*setting.key] == axis.len();
            let mut varied = axis.iter().flatten().filter(in_all_rows);
            if let Some(setting) = varied.find(|setting| self.common(&setting.key).is_some()) {
                let message = format!("`{}` is set for all points and varies", setting.key);
                let error = self.error(setting.span.clone(), message, "keep one of the two");
                return Err(error.with_code(Code::Contradiction.name()));
            }
        }
        let mut others = HashSet::new();
        for axis in &*self.axes {
            if let Some(setting) = axis.iter().flatten().find(|setting| others.contains(&*setting.key)) {
                let message = format!("`{}` is varied twice", setting.key);
                let help = "keep it in one of [grid], [zip] and [[list]]";
                let error = self.error(setting.span.clone(), message, help);
                return Err(error.with_code(Code::Contradiction.name()));
            }
            others.extend(axis.iter().flatten().map(|setting| &*setting.key));
        }
        Ok(())
    }
}

/// A number, truth or text, the same for equal numbers.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Canonical<'v> {
    Whole(i64),
    /// The bits of another number.
    Bits(u64),
    Truth(bool),
    Text(&'v str),
}

impl<'v> Canonical<'v> {
    fn of(value: &'v toml::Value) -> Self {
        match value {
            toml::Value::Integer(number) => Self::Whole(*number),
            toml::Value::Float(number) => whole(*number).map_or(Self::Bits(number.to_bits()), Self::Whole),
            toml::Value::Boolean(truth) => Self::Truth(*truth),
            other => Self::Text(other.as_str().unwrap_or_default()),
        }
    }
}
