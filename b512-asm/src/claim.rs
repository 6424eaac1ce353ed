//! Claims: what a program states about its results.

use crate::expression::MOST_OPERATIONS;
use std::fmt;

/// A claim about the results of a program: `outputs = expressions, settings`.
///
/// A claim is data. This crate stores it and checks its symbols. The meaning of an operation, its
/// operands and its settings are defined elsewhere.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Claim {
    /// The symbols that receive the results.
    pub outputs: Vec<String>,
    /// What each output is.
    pub expressions: Vec<Expression>,
    /// The symbols in the expressions, each once, in the order of their first use.
    pub inputs: Vec<String>,
    /// Names and values of the settings of all operations, in the order of the text.
    pub settings: Vec<(String, Setting)>,
}

/// A tree of operations on vectors.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expression {
    /// The words of a symbol: its index in [`Claim::inputs`].
    Input(usize),
    /// This number in each word.
    Number(u128),
    /// An operation.
    Call(Call),
}

/// An operation in an expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Call {
    /// The name.
    pub operation: String,
    /// The operands.
    pub operands: Vec<Expression>,
    /// Names and values of the settings of this operation alone, in the order of the text.
    pub settings: Vec<(String, Setting)>,
}

/// The value of a setting.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Setting {
    /// A number: `n=1024`.
    Number(u128),
    /// A word: `order=natural`.
    Word(String),
}

impl Expression {
    /// An operation on the first inputs of a claim.
    pub fn of_inputs(operation: impl Into<String>, inputs: usize) -> Self {
        let operands = (0..inputs).map(Self::Input).collect();
        Self::Call(Call { operation: operation.into(), operands, settings: Vec::new() })
    }

    /// The operations: each before those of its operands.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.nodes().filter_map(|node| if let Self::Call(call) = node { Some(call) } else { None })
    }

    /// All parts: each before its operands, and those from left to right.
    fn nodes(&self) -> impl Iterator<Item = &Self> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let node = open.pop()?;
            if let Self::Call(call) = node {
                open.extend(call.operands.iter().rev());
            }
            Some(node)
        })
    }
}

impl Claim {
    /// The operations of all expressions: each before those of its operands.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.expressions.iter().flat_map(Expression::calls)
    }

    /// The value of a setting.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The value of a setting that is a number.
    pub fn number(&self, name: &str) -> Option<u128> {
        match self.setting(name)? {
            Setting::Number(number) => Some(*number),
            Setting::Word(_) => None,
        }
    }

    /// The text of an expression: `a * b + ntt(c)`.
    pub fn text(&self, expression: &Expression) -> String {
        Text::new(&self.inputs, expression).to_string()
    }

    /// Whether the inputs are the symbols of the expressions, each once, in the order of their first use.
    pub(crate) fn names_inputs_in_order(&self) -> bool {
        let mut used = 0;
        let in_order = self.expressions.iter().flat_map(Expression::nodes).all(|node| match node {
            Expression::Input(index) => {
                let is_known = *index <= used;
                used = used.max(index + 1);
                is_known
            }
            Expression::Number(_) | Expression::Call(_) => true,
        });
        in_order && used == self.inputs.len()
    }
}

/// An expression with the names of its symbols.
#[derive(Clone, Copy)]
struct Text<'c> {
    inputs: &'c [String],
    expression: &'c Expression,
    /// Whether sums and products have operators. An expression with more operators than the reader takes has
    /// calls.
    has_operators: bool,
}

impl<'c> Text<'c> {
    fn new(inputs: &'c [String], expression: &'c Expression) -> Self {
        let calls = expression.nodes().filter(|node| matches!(node, Expression::Call(_))).count();
        Self { inputs, expression, has_operators: calls <= MOST_OPERATIONS }
    }

    fn of(self, expression: &'c Expression) -> Self {
        Self { expression, ..self }
    }

    /// The sign of an operator, its rank, and its operands, if the expression is written with one. Two
    /// numbers would be read as their sum or product.
    fn operator(self) -> Option<(&'static str, u8, &'c [Expression; 2])> {
        let Expression::Call(Call { operation, operands, settings }) = self.expression else { return None };
        let operands: &[Expression; 2] = operands.as_slice().try_into().ok()?;
        let (_, sign, rank) = OPERATORS.into_iter().find(|(name, ..)| name == operation)?;
        let are_numbers = operands.iter().all(|operand| matches!(operand, Expression::Number(_)));
        (self.has_operators && settings.is_empty() && !are_numbers).then_some((sign, rank, operands))
    }
}

/// The operations with operators, with sign and rank: a product binds more strongly than a sum.
const OPERATORS: [(&str, &str, u8); 3] = [("add", "+", 1), ("sub", "-", 1), ("mul", "*", 2)];

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((sign, rank, [left, right])) = self.operator() {
            // Operators of one rank apply from left to right.
            let operand = |f: &mut fmt::Formatter<'_>, of: &Expression, least: u8| {
                let text = self.of(of);
                match text.operator() {
                    Some((_, rank, _)) if rank < least => write!(f, "({text})"),
                    _ => write!(f, "{text}"),
                }
            };
            operand(f, left, rank)?;
            write!(f, " {sign} ")?;
            return operand(f, right, rank + 1);
        }
        match self.expression {
            Expression::Input(index) => f.write_str(self.inputs.get(*index).map_or("?", String::as_str)),
            Expression::Number(number) => write!(f, "{number:#x}"),
            Expression::Call(Call { operation, operands, settings }) => {
                write!(f, "{operation}(")?;
                for (number, operand) in operands.iter().enumerate() {
                    let comma = if number == 0 { "" } else { ", " };
                    write!(f, "{comma}{}", self.of(operand))?;
                }
                write_settings(f, settings)?;
                f.write_str(")")
            }
        }
    }
}

/// Sizes have names of one letter, such as `n`, and are decimal. Other numbers are residues and
/// moduli, in hexadecimal.
fn write_settings(f: &mut fmt::Formatter<'_>, settings: &[(String, Setting)]) -> fmt::Result {
    for (name, value) in settings {
        write!(f, ", {name}=")?;
        match value {
            Setting::Number(value) if name.len() == 1 => write!(f, "{value}")?,
            Setting::Number(value) => write!(f, "{value:#x}")?,
            Setting::Word(word) => f.write_str(word)?,
        }
    }
    Ok(())
}

/// The text after `.computes`.
impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = ", self.outputs.join(", "))?;
        for (number, expression) in self.expressions.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}{}", Text::new(&self.inputs, expression))?;
        }
        write_settings(f, &self.settings)
    }
}
