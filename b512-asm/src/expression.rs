//! Expressions: of numbers, as `2^60 - 93` or `x + 512 * i`, and of operations, as `ntt(a) * b`.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = power ("*" power)*
//! power   = atom ("^" atom)*
//! atom    = NUMBER | NAME | "(" sum ")" | NAME "(" operand ("," operand)* ")"
//! operand = NAME "=" sum | sum
//! ```
//!
//! A name stands for a constant, the counter of a repetition, or the address of a symbol. The last form is an
//! operation, which only claims have; an operand with a name is a setting.

use crate::code::Code;
use crate::lex::{Fault, Parsed, expect, is_blank, name, number, ws};
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::take_while;
use nom::character::complete::char;
use nom::combinator::{consumed, opt, value};
use nom::multi::separated_list1;
use nom::sequence::{delimited, preceded, terminated};
use num_bigint::{BigInt, Sign};
use std::cell::Cell;

/// The most bits of a value: those of a product of two words.
const MOST_BITS: u64 = 256;
/// The most parentheses around each other.
const DEEPEST: usize = 32;
/// The most operations of an expression. Each one may be an operand of the next.
pub(crate) const MOST_OPERATIONS: usize = 256;

/// An expression in the source.
#[derive(Clone, Debug)]
pub(crate) struct Expr<'a> {
    pub(crate) text: &'a str,
    pub(crate) node: Node<'a>,
}

#[derive(Clone, Debug)]
pub(crate) enum Node<'a> {
    Number(u128),
    Name(&'a str),
    /// An operator with its operands and its text.
    Operation(Operator, Box<[Self; 2]>, &'a str),
    /// An operation by its name.
    Call(&'a str, Vec<Self>, Vec<SettingText<'a>>),
}

/// A setting of a claim or of an operation.
#[derive(Clone, Debug)]
pub(crate) struct SettingText<'a> {
    /// Name and value.
    pub(crate) text: &'a str,
    pub(crate) name: &'a str,
    /// A number, or a word that names no constant.
    pub(crate) value: Expr<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Power,
}

/// What a name stands for.
pub(crate) enum Meaning {
    Number(BigInt),
    /// The address of the symbol.
    Address,
}

/// The value of an expression: a number, or a symbol's address plus a number.
#[derive(Debug)]
pub(crate) struct Value<'a> {
    pub(crate) symbol: Option<&'a str>,
    pub(crate) constant: BigInt,
}

impl<'a> Expr<'a> {
    /// The name, if it is nothing else.
    pub(crate) fn name(&self) -> Option<&'a str> {
        match self.node {
            Node::Name(name) => Some(name),
            Node::Number(_) | Node::Operation(..) | Node::Call(..) => None,
        }
    }

    /// The value, with the meanings of the names.
    pub(crate) fn value(
        &self,
        meaning: &dyn Fn(&'a str) -> Result<Meaning, Fault<'a>>,
    ) -> Result<Value<'a>, Fault<'a>> {
        self.node.value(meaning)
    }
}

impl<'a> Node<'a> {
    /// Whether it is a number, if these names are.
    pub(crate) fn is_number(&self, is_constant: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::Number(_) => true,
            Self::Name(name) => is_constant(name),
            Self::Operation(_, operands, _) => operands.iter().all(|operand| operand.is_number(is_constant)),
            Self::Call(..) => false,
        }
    }

    fn value(&self, meaning: &dyn Fn(&'a str) -> Result<Meaning, Fault<'a>>) -> Result<Value<'a>, Fault<'a>> {
        let number = |constant| Value { symbol: None, constant };
        let (operator, [left, right], text) = match self {
            Self::Number(value) => return Ok(number(BigInt::from(*value))),
            Self::Name(name) => {
                return Ok(match meaning(name)? {
                    Meaning::Number(value) => number(value),
                    Meaning::Address => Value { symbol: Some(name), constant: BigInt::ZERO },
                });
            }
            Self::Operation(operator, operands, text) => (*operator, &**operands, *text),
            Self::Call(name, ..) => {
                let fault = Fault::new(Code::Syntax, name, format!("`{name}` is no number"));
                return Err(fault.help("operations stand in `.computes` lines only"));
            }
        };
        let (left, right) = (left.value(meaning)?, right.value(meaning)?);
        let symbol = match (operator, left.symbol, right.symbol) {
            (Operator::Add | Operator::Subtract, Some(symbol), None)
            | (Operator::Add, None, Some(symbol)) => Some(symbol),
            (_, None, None) => None,
            (_, Some(_), _) | (_, None, Some(_)) => {
                let fault = Fault::new(Code::Syntax, text, "this is no address");
                return Err(
                    fault.help("an address is a number, a symbol, or a symbol plus or minus a number")
                );
            }
        };
        let (left, right) = (left.constant, right.constant);
        let large = || {
            let message = format!("this number has more than {MOST_BITS} bits");
            Fault::new(Code::Number, text, message)
        };
        let constant = match operator {
            Operator::Add => left + right,
            Operator::Subtract => left - right,
            Operator::Multiply => left * right,
            Operator::Power if right.sign() == Sign::Minus => {
                return Err(Fault::new(Code::Number, text, "the exponent is negative"));
            }
            // The powers of 0, 1 and -1 are short, and repeat from the first on.
            Operator::Power if left.bits() <= 1 => match (right.sign(), right.bit(0)) {
                (Sign::NoSign, _) => BigInt::from(1),
                (_, true) => left,
                (_, false) => left.pow(2),
            },
            Operator::Power => match u32::try_from(&right) {
                Ok(exponent) if u64::from(exponent) <= MOST_BITS => left.pow(exponent),
                _ => return Err(large()),
            },
        };
        if constant.bits() > MOST_BITS { Err(large()) } else { Ok(Value { symbol, constant }) }
    }
}

/// An expression, and the blanks after it.
pub(crate) fn expr(input: &str) -> Parsed<'_, Expr<'_>> {
    let (rest, (text, node)) = consumed(|input| sum(input, 0, &Cell::new(0))).parse(input)?;
    let blanks = rest.len() - rest.trim_start_matches(is_blank).len();
    Ok((&rest[blanks..], Expr { text, node }))
}

/// Operands with operators between them, from left to right.
fn chain<'a>(
    input: &'a str,
    operators: impl Fn(&'a str) -> Parsed<'a, Operator>,
    operand: impl Fn(&'a str) -> Parsed<'a, Node<'a>>,
    count: &Cell<usize>,
) -> Parsed<'a, Node<'a>> {
    let (mut rest, mut node) = operand(input)?;
    loop {
        let operator = preceded(take_while(is_blank), ws(&operators));
        let (after, Some(operator)) = opt(operator).parse(rest)? else { return Ok((rest, node)) };
        one_more(input, after, count)?;
        let (after, right) = expect("a number or a name", &operand)(after)?;
        let text = &input[..input.len() - after.len()];
        node = Node::Operation(operator, Box::new([node, right]), text);
        rest = after;
    }
}

/// Counts an operator of the expression at `input`; `after` follows it.
fn one_more<'a>(input: &'a str, after: &'a str, count: &Cell<usize>) -> Result<(), nom::Err<Fault<'a>>> {
    count.update(|count| count + 1);
    if count.get() > MOST_OPERATIONS {
        let message = format!("more than {MOST_OPERATIONS} operations in one expression");
        let fault = Fault::new(Code::Syntax, &input[..input.len() - after.len()], message);
        return Err(nom::Err::Failure(fault));
    }
    Ok(())
}

fn sum<'a>(input: &'a str, depth: usize, count: &Cell<usize>) -> Parsed<'a, Node<'a>> {
    let additions =
        |input| alt((value(Operator::Add, char('+')), value(Operator::Subtract, char('-')))).parse(input);
    chain(input, additions, |input| product(input, depth, count), count)
}

fn product<'a>(input: &'a str, depth: usize, count: &Cell<usize>) -> Parsed<'a, Node<'a>> {
    let times = |input| value(Operator::Multiply, char('*')).parse(input);
    chain(input, times, |input| power(input, depth, count), count)
}

/// Powers, from right to left: `2^3^2` is `2^(3^2)`.
fn power<'a>(input: &'a str, depth: usize, count: &Cell<usize>) -> Parsed<'a, Node<'a>> {
    let to_the = || preceded(take_while(is_blank), ws(char('^')));
    let operand = |input| atom(input, depth, count);
    let (mut rest, mut last) = operand(input)?;
    // The bases, and the text from each on.
    let (mut bases, mut start) = (Vec::new(), input);
    while let (after, Some(_)) = opt(to_the()).parse(rest)? {
        one_more(input, after, count)?;
        let (after_next, next) = expect("a number or a name", operand)(after)?;
        bases.push((std::mem::replace(&mut last, next), std::mem::replace(&mut start, after)));
        rest = after_next;
    }
    let node = bases.into_iter().rev().fold(last, |exponent, (base, start)| {
        let text = &start[..start.len() - rest.len()];
        Node::Operation(Operator::Power, Box::new([base, exponent]), text)
    });
    Ok((rest, node))
}

fn atom<'a>(input: &'a str, depth: usize, count: &Cell<usize>) -> Parsed<'a, Node<'a>> {
    if depth == DEEPEST {
        return Fault::new(Code::Syntax, input, format!("more than {DEEPEST} parentheses around each other"))
            .fail();
    }
    let inner = |input| expect("a number or a name", |input| sum(input, depth + 1, count))(input);
    let close = || expect("`)`", preceded(take_while(is_blank), char(')')));
    let operand = alt((setting.map(Err), ws(inner).map(Ok)));
    let operands = delimited(ws(char('(')), separated_list1(ws(char(',')), operand), close());
    let call = (terminated(name, take_while(is_blank)), operands).map(|(name, operands)| {
        let (mut inputs, mut settings) = (Vec::new(), Vec::new());
        for operand in operands {
            match operand {
                Ok(node) => inputs.push(node),
                Err(setting) => settings.push(setting),
            }
        }
        Node::Call(name, inputs, settings)
    });
    let parenthesised = delimited(ws(char('(')), inner, close());
    alt((number.map(Node::Number), call, name.map(Node::Name), parenthesised)).parse(input)
}

/// `NAME = EXPRESSION` or `NAME = WORD`.
pub(crate) fn setting(input: &str) -> Parsed<'_, SettingText<'_>> {
    let name = terminated(ws(name), ws(char('=')));
    let (rest, (text, (name, value))) =
        ws(consumed((name, expect("a number or a word", expr)))).parse(input)?;
    Ok((rest, SettingText { text, name, value }))
}
