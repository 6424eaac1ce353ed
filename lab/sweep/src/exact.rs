//! Numbers of results and conditions, compared exactly.

use serde_json::Value;
use std::cmp::Ordering;

/// A number of a column or a condition.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Number {
    /// A whole number that is not negative, of at most 128 bits.
    Whole(u128),
    /// Any other, as the nearest one that the type holds.
    Real(f64),
}

impl Number {
    /// The number in a value of JSON.
    pub(super) fn of(value: &Value) -> Option<Self> {
        value.as_u64().map(|whole| Self::Whole(whole.into())).or_else(|| value.as_f64().map(Self::Real))
    }

    /// The whole number that a text is: decimal, or hexadecimal after `0x`. Results hold long numbers so.
    pub(super) fn whole(text: &str) -> Option<Self> {
        diagnostic::number_with_separators(text).ok().map(Self::Whole)
    }

    pub(super) fn as_f64(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }

    /// The order of both numbers, without rounding; `None` beside no number.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (*self, *other) {
            (Self::Whole(a), Self::Whole(b)) => Some(a.cmp(&b)),
            (Self::Real(a), Self::Real(b)) => a.partial_cmp(&b),
            (Self::Whole(a), Self::Real(b)) => order_with_real(a, b),
            (Self::Real(a), Self::Whole(b)) => order_with_real(b, a).map(Ordering::reverse),
        }
    }
}

fn order_with_real(whole: u128, real: f64) -> Option<Ordering> {
    const TOO_LARGE: f64 = 2.0 * (1_u128 << 127) as f64;
    if real.is_nan() {
        return None;
    }
    if real < 0.0 {
        return Some(Ordering::Greater);
    }
    if real >= TOO_LARGE {
        return Some(Ordering::Less);
    }
    // Below 2^128, the integer part is exact.
    let order = whole.cmp(&(real.trunc() as u128));
    Some(order.then(if real.fract() > 0.0 { Ordering::Less } else { Ordering::Equal }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_numbers_and_others_are_compared_without_rounding() {
        let whole = |text: &str| Number::whole(text).unwrap();
        let (a, b) = (whole("18446744073709550593"), whole("0xfffffffffffff001"));
        assert_eq!(a.order(&b), Some(Ordering::Greater));
        assert_eq!(a.order(&whole("0xffff_ffff_ffff_fc01")), Some(Ordering::Equal));
        let max = Number::Whole(u128::MAX);
        for (real, order) in [
            (-1.0, Ordering::Greater),
            (-0.0, Ordering::Greater),
            (3e38, Ordering::Greater),
            (3.402823669209385e38, Ordering::Less),
            (f64::INFINITY, Ordering::Less),
        ] {
            assert_eq!(max.order(&Number::Real(real)), Some(order), "{real}");
            assert_eq!(Number::Real(real).order(&max), Some(order.reverse()), "{real}");
        }
        let seven = Number::Whole(7);
        let orders = [6.5, 7.0, 7.5].map(|real| seven.order(&Number::Real(real)));
        assert_eq!(orders, [Ordering::Greater, Ordering::Equal, Ordering::Less].map(Some));
        assert_eq!(Number::Whole(0).order(&Number::Real(-0.0)), Some(Ordering::Equal));
        assert_eq!(seven.order(&Number::Real(f64::NAN)), None);
        assert_eq!(Number::of(&json!(u64::MAX)), Some(Number::Whole(u64::MAX.into())));
        assert_eq!(Number::of(&json!(-1)), Some(Number::Real(-1.0)));
        assert_eq!(Number::of(&json!("7")), None);
        for text in ["", "007", "+7", "7.0", "0x", "0x1g", " 7", "1e5f"] {
            assert_eq!(Number::whole(text), None, "{text}");
        }
    }
}
