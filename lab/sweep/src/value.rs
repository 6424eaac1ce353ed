//! Values of columns as text.

use serde_json::Value;

/// The display text of a missing value.
pub(super) const ABSENT: &str = "-";

/// The display text of a value: without quotes around text. Equal numbers have the same text, such as 512 for 512.0.
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
