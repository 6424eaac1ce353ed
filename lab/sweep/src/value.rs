//! Values of columns as text.

use serde_json::Value;

/// The display text of a missing value.
pub(super) const ABSENT: &str = "-";

/// The display text of a value: without quotes around text. Equal numbers have the same text, such as 512 for
/// 512.0.
pub(super) fn plain(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => match other.as_f64().filter(|_| other.is_f64()).and_then(whole) {
            Some(number) => number.to_string(),
            None => other.to_string(),
        },
    }
}

/// A number as an integer, if it is one that both types hold exactly.
pub(super) fn whole(number: f64) -> Option<i64> {
    const EXACT: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;
    (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
}

/// Text in the order of its number, if it is one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Text(pub(super) String);

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self.0.parse::<f64>(), other.0.parse::<f64>()) {
            (Ok(a), Ok(b)) => a.total_cmp(&b).then_with(|| self.0.cmp(&other.0)),
            (a, b) => b.is_ok().cmp(&a.is_ok()).then_with(|| self.0.cmp(&other.0)),
        }
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
