//! Conditions that points of a chart must meet.

use crate::quantity::Quantity;
use crate::view::plain;
use serde_json::Value;
use std::str::FromStr;
use thiserror::Error;

/// A condition on a column: `hple.count >= 64`.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    pub(super) column: String,
    comparison: Comparison,
    value: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The signs of comparisons; longer ones first.
const COMPARISONS: [(&str, Comparison); 7] = [
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("!=", Comparison::NotEqual),
    ("==", Comparison::Equal),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Text that is not a condition.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "invalid condition `{0}`: write COLUMN OP VALUE, for example `hple.count >= 64`, with `and` between several"
)]
pub struct ConditionError(String);

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let at = |sign: &str| text.find(sign).filter(|&at| at > 0);
        let first = COMPARISONS.iter().filter_map(|(sign, comparison)| Some((at(sign)?, sign, *comparison)));
        // Of signs at the same place, the longest.
        let (at, sign, comparison) = first
            .min_by_key(|(at, sign, _)| (*at, std::cmp::Reverse(sign.len())))
            .ok_or_else(|| ConditionError(text.to_owned()))?;
        let (column, value) = (text[..at].trim(), text[at + sign.len()..].trim().trim_matches(['"', '\'']));
        let is_broken = value.is_empty() || value.starts_with(['<', '>', '=', '!']);
        if is_broken || column.is_empty() || column.contains(char::is_whitespace) {
            return Err(ConditionError(text.to_owned()));
        }
        Ok(Self { column: column.to_owned(), comparison, value: value.to_owned() })
    }
}

/// Designs to mark: `LABEL: CONDITIONS`, or conditions alone, which then are the label.
#[derive(Clone, PartialEq, Debug)]
pub struct Mark {
    pub(super) label: String,
    pub(super) conditions: Vec<Condition>,
}

impl FromStr for Mark {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Self, ConditionError> {
        let is_label = |label: &str| !label.contains(['<', '>', '=']);
        let (label, conditions) = match text.split_once(':') {
            Some((label, conditions)) if is_label(label) => (label, conditions),
            _ => (text, text),
        };
        Ok(Self { label: label.trim().to_owned(), conditions: Condition::parse_all(conditions)? })
    }
}

/// A limit of a column, to draw across a chart: `area_mm2 <= 20.5`.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    pub(super) column: String,
    pub(super) value: f64,
    sign: &'static str,
}

/// Text that is not a limit.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("invalid limit `{0}`: write COLUMN OP NUMBER, for example `area_mm2 <= 20.5`")]
pub struct LimitError(String);

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let error = || LimitError(text.to_owned());
        let condition: Condition = text.parse().map_err(|_| error())?;
        let is_limit = ![Comparison::Equal, Comparison::NotEqual].contains(&condition.comparison);
        let value = condition.value.parse().ok().filter(|value: &f64| is_limit && value.is_finite());
        let sign = COMPARISONS.iter().find(|(_, comparison)| *comparison == condition.comparison);
        let (value, (sign, _)) = value.zip(sign).ok_or_else(error)?;
        Ok(Self { column: condition.column, value, sign })
    }
}

impl Limit {
    /// The limit with names and units as in a chart: `area <= 20.5 mm²`.
    pub(super) fn label(&self) -> String {
        let Quantity { name, unit } = Quantity::of(&self.column);
        let unit = unit.map_or_else(String::new, |unit| format!(" {unit}"));
        format!("{name} {} {}{unit}", self.sign, self.value)
    }
}

impl Condition {
    /// Reads conditions with `and` between them.
    ///
    /// # Errors
    /// Returns an error that names the first invalid one.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, ConditionError> {
        text.split(" and ").map(str::trim).map(str::parse).collect()
    }

    pub(super) fn holds(&self, value: Option<&Value>) -> bool {
        let text = plain(value);
        let order = match (text.parse::<f64>(), self.value.parse::<f64>()) {
            (Ok(value), Ok(limit)) => value.partial_cmp(&limit),
            _ => Some(text.as_str().cmp(&self.value)),
        };
        let Some(order) = order else { return false };
        match self.comparison {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_compare_numbers_and_texts() {
        let holds = |text: &str, value: Value| text.parse::<Condition>().unwrap().holds(Some(&value));
        assert!(holds("hple.count >= 64", 64.into()) && !holds("hple.count>64", 64.into()));
        assert!(holds("plan = best", "best".into()) && holds("plan != 'kl'", "best".into()));
        assert!(holds("time_us<4.5", 4.25.into()) && holds("vdm.banks<=128", 32.into()));
        assert_eq!(Condition::parse_all("a = 1 and b < 2").unwrap().len(), 2);
        for wrong in ["a", "= 3", "a =", "a b = 3", "a >> 3", "a =< 3", "a === 3", "a <> 3"] {
            assert!(wrong.parse::<Condition>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_have_a_number_and_marks_a_label() {
        assert_eq!("area_mm2<=20.5".parse::<Limit>().unwrap().label(), "area <= 20.5 mm²");
        for wrong in ["area_mm2", "area_mm2 = 3", "plan < kl", "area_mm2 <= inf"] {
            assert!(wrong.parse::<Limit>().unwrap_err().to_string().contains(wrong), "{wrong}");
        }
        let mark: Mark = "RPU paper: hple.count = 128 and vdm.banks = 128".parse().unwrap();
        assert_eq!((mark.label.as_str(), mark.conditions.len()), ("RPU paper", 2));
        let mark: Mark = "program = 'a:b'".parse().unwrap();
        assert_eq!((mark.label.as_str(), mark.conditions.len()), ("program = 'a:b'", 1));
        assert!("RPU paper:".parse::<Mark>().is_err());
    }
}
