//! Claims, from their text.

use super::Assembler;
use crate::claim::{Call, Claim, Expression, Setting};
use crate::code::Code;
use crate::expression::{Expr, Node, Operator, SettingText};
use crate::lex::Fault;
use crate::source_map::{CallSpans, ClaimSpans};

/// What the expressions of a claim name.
#[derive(Default)]
struct Names<'a> {
    inputs: Vec<&'a str>,
    calls: Vec<CallSpans<'a>>,
}

impl<'a> Assembler<'a> {
    /// A claim and its locations.
    pub(super) fn claim(
        &self,
        text: &'a str,
        outputs: &[&'a str],
        expressions: &[Expr<'a>],
        settings: &[SettingText<'a>],
    ) -> Result<(Claim, ClaimSpans<'a>), Fault<'a>> {
        let mut names = Names::default();
        let expressions = expressions.iter().map(|expr| self.expression(&expr.node, expr.text, &mut names));
        let expressions = expressions.collect::<Result<_, _>>()?;
        let Names { inputs, calls } = names;
        let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let claim = Claim {
            outputs: own(outputs),
            expressions,
            inputs: own(&inputs),
            settings: self.settings(settings)?,
        };
        let settings = settings.iter().map(|setting| setting.text).collect();
        Ok((claim, ClaimSpans { text, outputs: outputs.to_vec(), inputs, calls, settings }))
    }

    /// An expression of a claim. Its operators are operations, unless it is a number.
    fn expression(
        &self,
        node: &Node<'a>,
        text: &'a str,
        names: &mut Names<'a>,
    ) -> Result<Expression, Fault<'a>> {
        if node.is_number(&|name| self.constants.contains_key(name)) {
            return self.number(&Expr { text, node: node.clone() }).map(Expression::Number);
        }
        let (operation, operands, settings, spans) = match node {
            Node::Number(number) => return Ok(Expression::Number(*number)),
            Node::Name(name) => {
                let known = names.inputs.iter().position(|known| known == name);
                let index = known.unwrap_or_else(|| {
                    names.inputs.push(name);
                    names.inputs.len() - 1
                });
                return Ok(Expression::Input(index));
            }
            Node::Operation(operator, operands, text) => {
                let operation = match operator {
                    Operator::Add => "add",
                    Operator::Subtract => "sub",
                    Operator::Multiply => "mul",
                    Operator::Power => {
                        let fault = Fault::new(Code::Claim, text, "`^` has no meaning for vectors");
                        return Err(fault.help("write a product: `x * x`"));
                    }
                };
                (operation, &operands[..], &[][..], CallSpans { text, settings: Vec::new() })
            }
            Node::Call(name, operands, settings) => {
                let spans =
                    CallSpans { text: name, settings: settings.iter().map(|setting| setting.text).collect() };
                (*name, &operands[..], &settings[..], spans)
            }
        };
        let text = spans.text;
        names.calls.push(spans);
        let operands = operands.iter().map(|operand| self.expression(operand, text, names));
        let operands = operands.collect::<Result<_, _>>()?;
        let settings = self.settings(settings)?;
        Ok(Expression::Call(Call { operation: operation.to_owned(), operands, settings }))
    }

    fn settings(&self, settings: &[SettingText<'a>]) -> Result<Vec<(String, Setting)>, Fault<'a>> {
        let setting = |setting: &SettingText<'a>| {
            let value = match setting.value.name().filter(|word| !self.constants.contains_key(word)) {
                // It may be the constant of a line with an error.
                Some(word) if self.followers.contains(word) => {
                    return Err(Fault::new(Code::UnknownSymbol, word, format!("unknown constant `{word}`")));
                }
                Some(word) => Setting::Word(word.to_owned()),
                None => Setting::Number(self.number(&setting.value)?),
            };
            Ok((setting.name.to_owned(), value))
        };
        settings.iter().map(setting).collect()
    }
}
