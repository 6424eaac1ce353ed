//! The lexical layer of both front ends: tokens, numbers, and parse errors that become
//! [`Diagnostic`]s.

use crate::code::Code;
use diagnostic::{Diagnostic, Span};
use nom::bytes::complete::{take_while, take_while1};
use nom::combinator::verify;
use nom::error::{ErrorKind, ParseError};
use nom::sequence::terminated;
use nom::{IResult, Parser};

/// The result of a parser over a part of the source.
pub(crate) type Parsed<'a, O> = IResult<&'a str, O, Fault<'a>>;

/// A parse failure: a diagnostic whose span is still a slice of the source.
#[derive(Debug)]
pub(crate) struct Fault<'a> {
    pub(crate) code: Code,
    pub(crate) at: &'a str,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
}

impl<'a> Fault<'a> {
    pub(crate) fn new(code: Code, at: &'a str, message: impl Into<String>) -> Self {
        Self { code, at, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The input begins with something other than `what`.
    fn expected(what: &str, input: &'a str) -> Self {
        let at = first_token(input);
        let found = if at.is_empty() { "the end".to_owned() } else { format!("`{at}`") };
        Self::new(Code::Syntax, at, format!("expected {what}, found {found}"))
    }

    /// Makes this fault final: no alternatives are tried.
    pub(crate) fn fail<O>(self) -> Parsed<'a, O> {
        Err(nom::Err::Failure(self))
    }

    pub(crate) fn into_diagnostic(self, source: &str) -> Diagnostic {
        let (code, span) = (Some(self.code.name()), Some(span_in(source, self.at)));
        Diagnostic {
            code,
            span,
            message: self.message,
            help: self.help.map(Into::into),
            ..Diagnostic::default()
        }
    }
}

/// The error of nom's own parsers, created for every failed alternative and therefore without text,
/// which would be slow to format; [`expect`] and [`fault`] add the text.
impl<'a> ParseError<&'a str> for Fault<'a> {
    fn from_error_kind(input: &'a str, _: ErrorKind) -> Self {
        Self::new(Code::Syntax, input, "")
    }

    fn append(_: &'a str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

/// The fault inside a nom error.
pub(crate) fn fault(error: nom::Err<Fault<'_>>) -> Fault<'_> {
    match error {
        nom::Err::Error(fault) | nom::Err::Failure(fault) if !fault.message.is_empty() => fault,
        nom::Err::Error(fault) | nom::Err::Failure(fault) => Fault::expected("something else", fault.at),
        // Only complete parsers are used here; they never return `Incomplete`.
        nom::Err::Incomplete(_) => Fault::new(Code::Syntax, "", "the text ends too early"),
    }
}

/// The position of `part`, a slice of `source`.
pub(crate) fn span_in(source: &str, part: &str) -> Span {
    let start = (part.as_ptr() as usize).wrapping_sub(source.as_ptr() as usize).min(source.len());
    start..(start + part.len()).min(source.len())
}

/// Turns a failure of `parser` into the final error "expected `what`".
pub(crate) fn expect<'a, O>(
    what: &str,
    mut parser: impl Parser<&'a str, Output = O, Error = Fault<'a>>,
) -> impl FnMut(&'a str) -> Parsed<'a, O> {
    move |input| {
        parser.parse(input).map_err(|error| match error {
            nom::Err::Error(_) => nom::Err::Failure(Fault::expected(what, input)),
            error @ (nom::Err::Incomplete(_) | nom::Err::Failure(_)) => error,
        })
    }
}

/// Runs `parser` and skips the blanks after it.
pub(crate) fn ws<'a, O>(
    parser: impl Parser<&'a str, Output = O, Error = Fault<'a>>,
) -> impl Parser<&'a str, Output = O, Error = Fault<'a>> {
    terminated(parser, take_while(is_blank))
}

/// A sequence of letters, digits and `_`: a number, or a part of another token.
pub(crate) fn token(input: &str) -> Parsed<'_, &str> {
    take_while1(is_token).parse(input)
}

/// Whether `name` is a valid name of a kernel or a symbol: a letter or `_`, then letters, digits,
/// `_`, `.`.
pub(crate) fn is_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
}

/// The name of a kernel or symbol.
pub(crate) fn name(input: &str) -> Parsed<'_, &str> {
    verify(take_while1(|c| is_token(c) || c == '.'), is_name).parse(input)
}

/// An unsigned number of up to 128 bits. A token that begins with a digit and is not a number is a
/// final error.
pub(crate) fn number(input: &str) -> Parsed<'_, u128> {
    let (rest, digits) = verify(token, |t: &str| t.as_bytes()[0].is_ascii_digit()).parse(input)?;
    match number_value(digits) {
        Ok(value) => Ok((rest, value)),
        Err(fault) => fault.fail(),
    }
}

/// The value of a whole token.
pub(crate) fn number_value(token: &str) -> Result<u128, Fault<'_>> {
    let plain: String;
    let digits = if token.as_bytes().contains(&b'_') {
        let digits = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")).unwrap_or(token);
        if digits.split('_').any(str::is_empty) {
            let fault = Fault::new(Code::Number, token, format!("`{token}` is not a number"));
            return Err(fault.help("`_` stands between digits"));
        }
        plain = token.replace('_', "");
        &plain
    } else {
        token
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => hex_value(hex),
        None => decimal_value(digits),
    };
    value.ok_or_else(|| {
        if digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()) {
            let decimal = digits.trim_start_matches('0');
            let decimal = if decimal.is_empty() { "0" } else { decimal };
            let fault = Fault::new(Code::Number, token, format!("`{token}` has leading zeros"));
            return fault.help(format!("C reads them as octal: write `{decimal}` for the decimal number"));
        }
        let digits = digits.trim_start_matches("0x");
        let fault = Fault::new(Code::Number, token, format!("`{token}` is not a number of up to 128 bits"));
        if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            match token.starts_with("0x") {
                true => fault.help("the largest number has 32 hexadecimal digits"),
                false if digits.bytes().all(|b| b.is_ascii_digit()) => {
                    fault.help("the largest number is 2^128 - 1")
                }
                false => fault.help(format!("hexadecimal numbers begin with 0x: `0x{digits}`")),
            }
        } else {
            fault.help("numbers are decimal, or hexadecimal after `0x`")
        }
    })
}

/// Digits only, no sign. A number with leading zeros has two readings.
fn decimal_value(digits: &str) -> Option<u128> {
    let is_plain =
        digits.starts_with(|c: char| c.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
    if is_plain { digits.parse().ok() } else { None }
}

/// The value of a whole token in C: leading zeros mean octal, and `_` separates nothing.
pub(crate) fn c_number_value(token: &str) -> Result<u128, Fault<'_>> {
    let wrong =
        |help: &str| Fault::new(Code::Number, token, format!("`{token}` is not a number in C")).help(help);
    if token.contains('_') {
        return Err(wrong("C has no `_` in numbers"));
    }
    match token.strip_prefix('0') {
        Some(octal) if octal.bytes().all(|b| b.is_ascii_digit()) && !octal.is_empty() => {
            u128::from_str_radix(octal, 8).map_err(|_| wrong("leading zeros mean octal, up to 128 bits"))
        }
        _ => number_value(token),
    }
}

/// Tables are most of a source, so their digits are read two words at a time: 64-bit parsing needs
/// no overflow checks.
fn hex_value(digits: &str) -> Option<u128> {
    let digits = digits.as_bytes();
    let significant = digits.iter().position(|&b| b != b'0').unwrap_or(digits.len());
    if digits.is_empty() || digits.len() - significant > 32 {
        return None;
    }
    let (high, low) = digits.split_at(digits.len().saturating_sub(16));
    Some(u128::from(hex_half(high)?) << 64 | u128::from(hex_half(low)?))
}

fn hex_half(digits: &[u8]) -> Option<u64> {
    // Errors are accumulated without branches: valid digits have values below 16, invalid ones do
    // not.
    let (value, invalid) = digits.iter().fold((0, 0), |(value, invalid), &digit| {
        let digit = HEX[usize::from(digit)];
        (value << 4 | u64::from(digit & 0xf), invalid | digit)
    });
    (invalid < 16).then_some(value)
}

/// The value of each hexadecimal digit, 0xff for other bytes.
const HEX: [u8; 256] = {
    let mut table = [0xff; 256];
    let mut value = 0;
    while value < 16 {
        table[b"0123456789abcdef"[value] as usize] = value as u8;
        table[b"0123456789ABCDEF"[value] as usize] = value as u8;
        value += 1;
    }
    table
};

/// The token or character at the beginning of `input`, for error messages.
pub(crate) fn first_token(input: &str) -> &str {
    let input = input.trim_start_matches(is_blank);
    let length = input.find(|c| !is_token(c)).unwrap_or(input.len());
    let length = match length {
        0 => input.chars().next().filter(|&c| c != '\n').map_or(0, char::len_utf8),
        length => length,
    };
    &input[..length]
}

pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}

pub(crate) fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_up_to_128_bits_and_underscores() {
        let max = format!("{:#x}", u128::MAX);
        fn value(token: &str) -> Option<u128> {
            number_value(token).ok()
        }
        assert_eq!(value("0"), Some(0));
        assert_eq!(value("1_000"), Some(1000));
        assert_eq!(value("0xff_FF"), Some(0xffff));
        assert_eq!(value(&max), Some(u128::MAX));
        assert_eq!(value(&u128::MAX.to_string()), Some(u128::MAX));
        assert_eq!(value(&format!("0x000{}", &max[2..])), Some(u128::MAX));
        assert_eq!(value("0x10000000000000000"), Some(1 << 64));
        for bad in ["0x", "", "_", "1_", "1__0", "0x_1", "0xg", "12a", "0x1ffffffffffffffffffffffffffffffff"]
        {
            assert_eq!(value(bad), None, "{bad}");
        }
        assert_eq!(value("340282366920938463463374607431768211456"), None);
        for bad in ["+3", "-3", "01", "00", "0_1", "007"] {
            assert_eq!(value(bad), None, "{bad}");
        }
        assert_eq!(number_value("0160").unwrap_err().message, "`0160` has leading zeros");
    }

    #[test]
    fn numbers_of_c_are_octal_after_a_zero() {
        let value = |token| c_number_value(token).ok();
        for (token, expected) in [("0", 0), ("00", 0), ("0160", 112), ("16", 16), ("0x10", 16), ("0X1f", 31)]
        {
            assert_eq!(value(token), Some(expected), "{token}");
        }
        for bad in ["08", "0_1", "1_0", "+1", "", "16u", "0b1", &format!("07{}", "7".repeat(43))] {
            assert_eq!(value(bad), None, "{bad}");
        }
    }
}
