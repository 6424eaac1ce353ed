//! The proof rules of claims, from those of their operations.

use super::domain::{Basis, Domain, PolynomialId, Words};
use crate::code::{BufferId, TowerId};
use crate::ops;
use b512_asm::{Claim, Expression};
use golden::{Operation, Range, Settings};

/// The proof rule of a claim.
pub(super) struct Contract {
    /// The content of each operand before the code runs.
    pub(super) inputs: Vec<Words>,
    /// The required content of each result.
    pub(super) outputs: Vec<Words>,
}

impl Contract {
    /// The rule of a claim over buffers of one tower; `None` if the domain cannot express it.
    pub(super) fn new(
        domain: &mut Domain,
        claim: &Claim,
        inputs: &[BufferId],
        tower: TowerId,
    ) -> Option<Self> {
        let ranges = golden::ranges(claim).ok()?;
        let operand = |(&buffer, range): (&BufferId, Range)| match range {
            Range::Residue => domain.input(buffer),
            Range::Word => domain.words(buffer),
        };
        let operands: Vec<PolynomialId> = inputs.iter().zip(ranges).map(operand).collect();
        let operations = golden::operations(claim).ok()?;
        let bases = vec![None; operands.len()];
        let mut reader = Reader { domain, tower, operands, bases };
        let mut rest = &operations[..];
        let outputs = claim.expressions.iter().map(|root| {
            let basis = reader.basis(root, &mut { rest }).unwrap_or(Basis::Coefficients);
            reader.words(root, basis, &mut rest)
        });
        let outputs = outputs.collect::<Option<_>>()?;
        let content = |(operand, basis): (PolynomialId, Option<Basis>)| {
            operand.in_basis(basis.unwrap_or(Basis::Coefficients))
        };
        let inputs = reader.operands.into_iter().zip(reader.bases).map(content).collect();
        Some(Self { inputs, outputs })
    }
}

/// The operations of a claim that follow, with their settings.
type Rest<'r, 'c> = &'r [(Operation, Settings<'c>)];

struct Reader<'d> {
    domain: &'d mut Domain,
    tower: TowerId,
    operands: Vec<PolynomialId>,
    /// The basis of each operand, once an operation requires one.
    bases: Vec<Option<Basis>>,
}

impl Reader<'_> {
    /// The basis of an expression, if an operation or an operand determines it.
    fn basis(&self, expression: &Expression, rest: &mut Rest<'_, '_>) -> Option<Basis> {
        match expression {
            Expression::Input(index) => self.bases[*index],
            Expression::Number(_) => None,
            Expression::Call(call) => {
                let (operation, settings) = rest.split_off_first()?;
                // All operands are read: `rest` must end behind them.
                let of_operands = call.operands.iter().map(|operand| self.basis(operand, rest));
                let of_operands = of_operands.fold(None, Option::or);
                ops::of(*operation).bases(settings).map_or(of_operands, |[_, result]| Some(result))
            }
        }
    }

    /// The words of an expression in a basis.
    fn words(&mut self, expression: &Expression, basis: Basis, rest: &mut Rest<'_, '_>) -> Option<Words> {
        match expression {
            Expression::Input(index) => {
                let own = *self.bases[*index].get_or_insert(basis);
                (own == basis).then(|| self.operands[*index].in_basis(basis))
            }
            Expression::Number(number) => {
                self.domain.number(basis, *number, self.tower).map(|number| number.in_basis(basis))
            }
            Expression::Call(call) => {
                let (operation, settings) = rest.split_off_first()?;
                let rule = ops::of(*operation);
                let [of_operands, of_result] = rule.bases(settings).unwrap_or([basis; 2]);
                if of_result != basis {
                    return None;
                }
                let operand = |operand| self.words(operand, of_operands, rest)?.of_basis(of_operands);
                let operands = call.operands.iter().map(operand).collect::<Option<Vec<_>>>()?;
                rule.result(self.domain, &operands, of_operands, settings)
            }
        }
    }
}
