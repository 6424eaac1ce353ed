//! Numbers in texts: one notation in all formats.

/// A number, decimal or hexadecimal after `0x`.
///
/// # Errors
/// Returns the reason if the text is no such number of at most 128 bits.
pub fn number(digits: &[u8]) -> Result<u128, &'static str> {
    if let [b'0', b'x' | b'X', digits @ ..] = digits {
        return hexadecimal(digits);
    }
    match digits {
        [] => return Err("no digits"),
        [b'0', _, ..] => return Err("a leading zero, which some readers read as octal"),
        _ => {}
    }
    // The first 19 digits fit 64 bits, whose arithmetic is faster.
    let (head, tail) = digits.split_at(digits.len().min(19));
    let mut short = 0;
    for &digit in head {
        short = short * 10 + u64::from(decimal_digit(digit)?);
    }
    tail.iter().try_fold(u128::from(short), |value, &digit| {
        let digit = decimal_digit(digit)?;
        value.checked_mul(10).and_then(|value| value.checked_add(digit.into())).ok_or(TOO_LARGE)
    })
}

/// A number with `_` between digits, as people write long ones in programs and definitions.
///
/// # Errors
/// Returns the reason if the text is no such number of at most 128 bits.
pub fn number_with_separators(text: &str) -> Result<u128, &'static str> {
    if !text.contains('_') {
        return number(text.as_bytes());
    }
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text);
    if digits.split('_').any(str::is_empty) {
        return Err("a `_` that is not between digits");
    }
    number(text.replace('_', "").as_bytes())
}

const TOO_LARGE: &str = "more than 128 bits";

fn decimal_digit(digit: u8) -> Result<u8, &'static str> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        _ => Err("not a decimal or `0x` number"),
    }
}

fn hexadecimal(digits: &[u8]) -> Result<u128, &'static str> {
    if digits.is_empty() {
        return Err("no digits");
    }
    digits.iter().try_fold(0u128, |value, &digit| {
        let digit = (digit as char).to_digit(16).ok_or("not a hexadecimal number")?;
        if value >> 124 == 0 { Ok(value << 4 | u128::from(digit)) } else { Err(TOO_LARGE) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_up_to_128_bits() {
        for value in [0, 1, 10, u128::from(u64::MAX), u128::from(u64::MAX) + 1, 1 << 127, u128::MAX] {
            assert_eq!(number(value.to_string().as_bytes()), Ok(value));
            assert_eq!(number(format!("{value:#x}").as_bytes()), Ok(value));
            assert_eq!(number(format!("0X{value:X}").as_bytes()), Ok(value));
        }
        let too_large = "340282366920938463463374607431768211456";
        for wrong in
            ["", "0x", "01", "-1", "1.5", "0xg", "1_000", too_large, "0x100000000000000000000000000000000"]
        {
            assert!(number(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn separators_are_between_digits() {
        for (text, value) in [("1_000", 1000), ("0x801_0000_1001", 0x0801_0000_1001), ("12", 12)] {
            assert_eq!(number_with_separators(text), Ok(value));
        }
        for wrong in ["_1", "1_", "1__0", "0x_1", "0_1", "", "+1"] {
            assert!(number_with_separators(wrong).is_err(), "{wrong}");
        }
    }
}
