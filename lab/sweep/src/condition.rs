//! Conditions on designs: one grammar for `rpu plot`, for `[explore]` and for the filter of pages.
//!
//! ```text
//! conditions = condition { ("and" | "&&") condition }
//! condition  = column ("<" | "<=" | ">" | ">=" | "=" | "==" | "!=") value
//! value      = number [unit] | "'" text "'" | '"' text '"' | word
//! ```
//!
//! A column of numbers needs a number, in the unit of the column if it has one. Whole numbers are compared
//! exactly, also those that results hold as text since they are long, in decimal or hexadecimal. Other text
//! has no order. A design without a value in a column meets no condition on it. Blanks are those of Unicode.
//!
//! Pages read the same grammar by a script, `lab/run/src/page_parts/html/condition.js`. The cases in
//! `tests/pages/conditions.json` are for both.

use crate::exact::Number;
use crate::names::{UnknownName, find, typed};
use crate::quantity::Quantity;
use crate::value::plain;
use diagnostic::{Diagnostic, Span};
use nom::branch::alt;
use nom::bytes::complete::{tag, tag_no_case, take_while, take_while1};
use nom::character::complete::{anychar, char, digit1, one_of};
use nom::combinator::{eof, not, opt, recognize, value, verify};
use nom::error::{ErrorKind, ParseError};
use nom::multi::separated_list1;
use nom::sequence::{delimited, preceded, terminated};
use nom::{IResult, Parser};
use serde_json::Value;
use std::cmp::Ordering;
use std::sync::Arc;

/// A condition on a column: `hple.count >= 64`, `area < 25 mm2`.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    /// The column, as it is written or by its full name.
    pub(super) column: String,
    pub(super) comparison: Comparison,
    operand: Operand,
    /// The text with this condition.
    text: Arc<Text>,
    column_span: Span,
    operand_span: Span,
}

/// The value beside a column.
#[derive(Clone, PartialEq, Debug)]
struct Operand {
    /// Its text, without quotes.
    text: String,
    number: Option<Number>,
    /// The unit of the number; empty without one.
    unit: String,
}

/// The text of conditions.
#[derive(PartialEq, Debug)]
struct Text {
    /// Its name in errors, such as `--where`.
    name: String,
    text: Arc<str>,
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
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

impl Comparison {
    /// Whether values in this order meet it.
    pub(super) fn holds(self, order: Option<Ordering>) -> bool {
        order.is_some_and(|order| match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        })
    }

    /// Whether it bounds a number.
    pub(super) const fn is_limit(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }

    /// Its sign.
    pub(super) fn sign(self) -> &'static str {
        COMPARISONS.into_iter().rfind(|(_, known)| *known == self).map_or("", |(sign, _)| sign)
    }
}

/// The most conditions together: charts draw a line and a note for each.
pub(super) const MAX_CONDITIONS: usize = 64;

/// The help for text that is not a condition.
pub(super) const NOTATION: &str =
    "write COLUMN < VALUE, for example `area < 25 mm2`, with `and` between several";

impl Condition {
    /// Reads conditions. Errors are in a text called `name`.
    ///
    /// # Errors
    /// Returns an error at the first part that the grammar does not allow.
    pub fn parse_all(name: &str, text: &str) -> Result<Vec<Self>, Diagnostic> {
        Self::parse_after(name, text, 0)
    }

    /// Reads the conditions that begin after some bytes of a text.
    pub(super) fn parse_after(name: &str, text: &str, start: usize) -> Result<Vec<Self>, Diagnostic> {
        let shared = Arc::new(Text { name: name.into(), text: text.into() });
        // Parts of the text have their places in it.
        let span = |part: &str| {
            let start = part.as_ptr() as usize - text.as_ptr() as usize;
            start..start + part.len()
        };
        let condition = |Clause { column, comparison, operand, source }: Clause<'_>| Self {
            column: column.to_owned(),
            comparison,
            operand,
            text: Arc::clone(&shared),
            column_span: span(column),
            operand_span: span(source),
        };
        match conditions(&text[start..]) {
            Ok((_, found)) if found.len() > MAX_CONDITIONS => {
                let error = Diagnostic::new(format!("{} conditions are too many", found.len()));
                let error = error.with_help(format!("the largest number is {MAX_CONDITIONS}"));
                Err(error.at(name, text, span(found[MAX_CONDITIONS].column)))
            }
            Ok((_, found)) => Ok(found.into_iter().map(condition).collect()),
            Err(nom::Err::Error(fault) | nom::Err::Failure(fault)) => {
                let end = fault.at.find(char::is_whitespace).unwrap_or(fault.at.len());
                let error = Diagnostic::new(fault.expected).with_help(NOTATION);
                Err(error.at(name, text, span(&fault.at[..end])))
            }
            Err(nom::Err::Incomplete(_)) => unreachable!("the whole text is there"),
        }
    }

    /// Replaces a short name of the column by its full one. `known` lists the columns for users.
    pub(super) fn resolve(
        mut self,
        columns: &[&str],
        known: impl Fn() -> String,
    ) -> Result<Self, Diagnostic> {
        let unknown =
            |error: UnknownName| self.error(&self.column_span, error.to_string(), error.help(&known()));
        self.column = find(&self.column, columns).map_err(unknown)?.to_owned();
        Ok(self)
    }

    /// Whether a value of the column meets the condition.
    ///
    /// # Errors
    /// Returns an error if the condition is not about such values.
    pub(super) fn holds(&self, value: Option<&Value>) -> Result<bool, Diagnostic> {
        let Some(value) = value else { return Ok(false) };
        if value.is_number() {
            let operand = self.exact()?;
            return Ok(self.comparison.holds(Number::of(value).and_then(|own| own.order(&operand))));
        }
        let Operand { text, number, unit } = &self.operand;
        let operand = number.filter(|_| unit.is_empty()).or_else(|| Number::whole(text));
        if let Some(own) = value.as_str().and_then(Number::whole)
            && let Some(operand) = operand
        {
            return Ok(self.comparison.holds(own.order(&operand)));
        }
        if self.comparison.is_limit() {
            let message = format!("`{}` is text, which has no order", self.column);
            return Err(self.error(&self.operand_span, message, "compare it with `=` or `!=`"));
        }
        Ok(self.comparison.holds(Some(plain(Some(value)).cmp(&self.operand.text))))
    }

    /// The number, in the unit of the column.
    pub(super) fn number(&self) -> Result<f64, Diagnostic> {
        self.exact().map(Number::as_f64)
    }

    fn exact(&self) -> Result<Number, Diagnostic> {
        let Operand { text, number, unit } = &self.operand;
        let Some(number) = number else {
            let message = format!("expected a number for `{}`, found `{text}`", self.column);
            return Err(self.error(&self.operand_span, message, NUMBERS));
        };
        let quantity = Quantity::of(&self.column);
        if unit.is_empty() || typed(unit) == typed(quantity.unit_name()) {
            return Ok(*number);
        }
        let message = format!("`{unit}` is not the unit of `{}`", self.column);
        let help = match quantity.unit {
            Some(unit) => format!("its unit is {unit}"),
            None => "it has no unit".to_owned(),
        };
        Err(self.error(&self.operand_span, message, help))
    }

    /// The limit of a number.
    pub(super) fn limit(&self) -> Result<f64, Diagnostic> {
        if !self.comparison.is_limit() {
            let message = format!("`{}` is no limit", self.comparison.sign());
            return Err(self.error(&self.operand_span, message, "write `<`, `<=`, `>` or `>=`"));
        }
        self.number()
    }

    /// An error at the value.
    pub(super) fn wrong(&self, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        self.error(&self.operand_span, message, help)
    }

    fn error(&self, span: &Span, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        let Text { name, text } = &*self.text;
        Diagnostic::new(message).with_help(help).at(name, Arc::clone(text), span.clone())
    }
}

const NUMBERS: &str = "write digits without commas, and a unit after them if you like";

/// The place where the grammar is left, and what it allows there; empty in an alternative that fails.
struct Fault<'t> {
    at: &'t str,
    expected: &'static str,
}

impl<'t> ParseError<&'t str> for Fault<'t> {
    fn from_error_kind(at: &'t str, _: ErrorKind) -> Self {
        Self { at, expected: "" }
    }

    fn append(_: &'t str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

/// A condition in a text.
struct Clause<'t> {
    column: &'t str,
    comparison: Comparison,
    operand: Operand,
    /// The text of the operand.
    source: &'t str,
}

type Parsed<'t, T> = IResult<&'t str, T, Fault<'t>>;

/// Text that must follow.
fn required<'t, T>(
    mut parser: impl Parser<&'t str, Output = T, Error = Fault<'t>>,
    expected: &'static str,
) -> impl FnMut(&'t str) -> Parsed<'t, T> {
    move |at| parser.parse(at).map_err(|_| nom::Err::Failure(Fault { at, expected }))
}

fn conditions(text: &str) -> Parsed<'_, Vec<Clause<'_>>> {
    let and = terminated(alt((tag("&&"), word_and)), blanks);
    let all = separated_list1(and, condition);
    terminated(preceded(blanks, all), required(eof, "expected `and` or `&&`")).parse(text)
}

fn blanks(text: &str) -> Parsed<'_, &str> {
    take_while(char::is_whitespace).parse(text)
}

/// The word `and` alone.
fn word_and(text: &str) -> Parsed<'_, &str> {
    verify(take_while1(is_of_unit), |word: &str| word == "and").parse(text)
}

fn condition(text: &str) -> Parsed<'_, Clause<'_>> {
    let column = take_while1(|c: char| c.is_ascii_alphanumeric() || "._-".contains(c));
    (
        terminated(required(column, "expected a column"), blanks),
        terminated(required(comparison, "expected `<`, `<=`, `>`, `>=`, `=` or `!=`"), blanks),
        terminated(required(operand, "expected a number, a word or a text in quotes"), blanks),
    )
        .map(|(column, comparison, (operand, source))| Clause { column, comparison, operand, source })
        .parse(text)
}

fn comparison(text: &str) -> Parsed<'_, Comparison> {
    alt(COMPARISONS.map(|(sign, comparison)| value(comparison, tag(sign)))).parse(text)
}

/// A value, with its part of the text.
fn operand(text: &str) -> Parsed<'_, (Operand, &str)> {
    let plain = |text: &str| Operand { text: text.to_owned(), number: None, unit: String::new() };
    let (rest, operand) = alt((
        delimited(char('"'), take_while(|c| c != '"'), char('"')).map(plain),
        delimited(char('\''), take_while(|c| c != '\''), char('\'')).map(plain),
        number,
        verify(take_while1(is_of_word), |word: &str| word != "and").map(plain),
    ))
    .parse(text)?;
    Ok((rest, (operand, &text[..text.len() - rest.len()])))
}

/// A number with a unit or without one.
fn number(text: &str) -> Parsed<'_, Operand> {
    let word = verify(take_while1(is_of_unit), |word: &str| {
        word != "and" && word.starts_with(|c: char| c.is_alphabetic())
    });
    let unit = preceded(blanks, recognize(separated_list1(take_while1(char::is_whitespace), word)));
    let end = not(verify(anychar, |&c| is_of_word(c)));
    // At the end of a text, `digit0` loses its digits within `recognize`.
    let whole = alt((recognize((digit1, opt((char('.'), opt(digit1))))), recognize((char('.'), digit1))));
    let exponent = (one_of("eE"), opt(one_of("+-")), digit1);
    let decimal = recognize((opt(one_of("+-")), whole, opt(exponent)));
    let finite = verify(decimal, |digits: &str| digits.parse::<f64>().is_ok_and(f64::is_finite));
    let digits = take_while1(|c: char| c.is_ascii_hexdigit() || c == '_');
    let hexadecimal =
        verify(recognize((tag_no_case("0x"), digits)), |text: &str| Number::whole(text).is_some());
    let (rest, (digits, unit)) = terminated((alt((hexadecimal, finite)), opt(unit)), end).parse(text)?;
    let operand = Operand {
        text: text[..text.len() - rest.len()].to_owned(),
        number: Number::whole(bare(digits)).or_else(|| digits.parse().ok().map(Number::Real)),
        unit: unit.unwrap_or_default().to_owned(),
    };
    Ok((rest, operand))
}

/// A decimal number without a plus, zeros before it and a fraction of zeros: long ones are then compared
/// exactly too.
fn bare(number: &str) -> &str {
    let digits = number.strip_prefix('+').unwrap_or(number);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = if fraction.bytes().all(|digit| digit == b'0') { whole } else { digits };
    let trimmed = digits.trim_start_matches('0');
    if trimmed.starts_with(|c: char| c.is_ascii_digit()) { trimmed } else { digits }
}

fn is_of_unit(c: char) -> bool {
    c.is_alphanumeric() || "/*×·".contains(c)
}

fn is_of_word(c: char) -> bool {
    !c.is_whitespace() && !"<>=!&'\"".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::short_name;
    use serde_json::json;

    /// A table for both readers of the grammar: each text with the rows that meet it, or with its error.
    #[test]
    fn conditions_choose_the_rows_of_the_table_of_cases() {
        let table: Value =
            serde_json::from_str(include_str!("../../../tests/pages/conditions.json")).unwrap();
        let columns: Vec<&str> = table["columns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|column| column["name"].as_str().unwrap())
            .collect();
        let of_page = columns.iter().map(
            |name| json!({ "name": name, "short": short_name(name), "unit": Quantity::of(name).unit_name() }),
        );
        assert_eq!(table["columns"], of_page.collect::<Value>());
        let rows = table["rows"].as_array().unwrap();
        let chosen = |text: &str| -> Result<Vec<usize>, Diagnostic> {
            let conditions = Condition::parse_all("--where", text)?;
            let conditions: Vec<Condition> = conditions
                .into_iter()
                .map(|condition| condition.resolve(&columns, || columns.join(", ")))
                .collect::<Result<_, _>>()?;
            let mut chosen: Vec<usize> = (0..rows.len()).collect();
            for condition in &conditions {
                let at = columns.iter().position(|column| *column == condition.column).unwrap();
                let value = |row: usize| Some(&rows[row][at]).filter(|value| !value.is_null());
                let holds: Vec<bool> =
                    (0..rows.len()).map(|row| condition.holds(value(row))).collect::<Result<_, _>>()?;
                chosen.retain(|&row| holds[row]);
            }
            Ok(chosen)
        };
        for (text, expected) in table["cases"].as_object().unwrap() {
            let found = match chosen(text) {
                Ok(rows) => json!(rows),
                Err(error) => json!([error.message, error.marked()]),
            };
            assert_eq!(found, *expected, "{text}");
        }
    }

    #[test]
    fn conditions_have_a_limit() {
        let conditions = |count: usize| vec!["n > 0"; count].join(" and ");
        let most = conditions(MAX_CONDITIONS);
        assert_eq!(Condition::parse_all("--where", &most).unwrap().len(), MAX_CONDITIONS);
        let text = conditions(MAX_CONDITIONS + 1);
        let error = Condition::parse_all("--where", &text).unwrap_err();
        assert_eq!(error.message, format!("{} conditions are too many", MAX_CONDITIONS + 1));
        // The first one behind the limit.
        assert_eq!(error.marked(), Some("n"));
    }
}
