//! A group of elementwise lines: one launch.

use super::{Draft, Executed, ShapeId, Work};
use crate::flow::{ConstantId, ValueId};
use codegen::elementwise::{Elementwise, Operand, Step, StepOp};
use ring_program::ModulusIndex;

/// A step with its scalar and its operations.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) step: Step,
    pub(super) scalar: Option<ConstantId>,
    pub(super) executed: Executed,
}

#[derive(Default)]
pub(super) struct Group {
    pub(super) first: u32,
    pub(super) lines: u32,
    pub(super) last: u32,
    pub(super) inputs: Vec<ValueId>,
    pub(super) moduli: Vec<ModulusIndex>,
    /// The steps with their scalars; none for a product that became a part of a sum.
    pub(super) steps: Vec<Option<Line>>,
    /// The results of the steps.
    pub(super) results: Vec<ValueId>,
    /// The scalars that need a register.
    pub(super) scalars: usize,
    /// The results that are outputs, as far as is known.
    pub(super) outputs: usize,
    /// Whether a step reads the result of another.
    pub(super) is_chained: bool,
    /// The number of nodes when it grew.
    pub(super) grown: usize,
}

impl Group {
    /// Appends a step. A sum takes over a product that nothing else reads.
    pub(super) fn push(&mut self, line: Line, reads: &[u32], constants: bool) {
        let step = line.step;
        let product = match step.op {
            StepOp::Add(a, b) => [(b, a), (a, b)].into_iter().find_map(|(product, sum)| {
                let product = self.product(product, step.modulus, reads, constants)?;
                Some((product, sum))
            }),
            StepOp::Subtract(a, b) => {
                self.product(b, step.modulus, reads, constants).map(|product| (product, a))
            }
            StepOp::Multiply(..)
            | StepOp::AddScalar(_)
            | StepOp::SubtractScalar(_)
            | StepOp::MultiplyScalar(_)
            | StepOp::MultiplyAdd(..)
            | StepOp::MultiplySubtract(..)
            | StepOp::MultiplyAddScalar(..)
            | StepOp::MultiplySubtractScalar(..) => None,
        };
        let Some((product, sum)) = product else {
            self.scalars += usize::from(line.scalar.is_some());
            self.steps.push(Some(line));
            return;
        };
        let is_sum = matches!(step.op, StepOp::Add(..));
        let part = self.steps[product].take().expect("the product was found");
        self.scalars -= usize::from(part.scalar.is_some());
        let mut factors = part.step.op.operands();
        let op = match (factors.next(), factors.next()) {
            (Some(a), Some(b)) if is_sum => StepOp::MultiplyAdd(sum, [a, b]),
            (Some(a), Some(b)) => StepOp::MultiplySubtract(sum, [a, b]),
            (Some(a), None) if is_sum => StepOp::MultiplyAddScalar(sum, a),
            (Some(a), None) => StepOp::MultiplySubtractScalar(sum, a),
            (None, _) => unreachable!("a product has a factor"),
        };
        let executed = Executed { product: part.executed.result, ..line.executed };
        self.steps.push(Some(Line { step: Step { op, ..step }, scalar: part.scalar, executed }));
    }

    /// The step of an operand if it is a product with this modulus that has one reader.
    fn product(&self, operand: Operand, modulus: u16, reads: &[u32], constants: bool) -> Option<usize> {
        let Operand::Step(number) = operand else { return None };
        let number = usize::from(number);
        let step = self.steps[number]?.step;
        let is_product = match step.op {
            StepOp::Multiply(..) => true,
            StepOp::MultiplyScalar(_) => constants,
            StepOp::Add(..)
            | StepOp::Subtract(..)
            | StepOp::AddScalar(_)
            | StepOp::SubtractScalar(_)
            | StepOp::MultiplyAdd(..)
            | StepOp::MultiplySubtract(..)
            | StepOp::MultiplyAddScalar(..)
            | StepOp::MultiplySubtractScalar(..) => false,
        };
        let has_one_reader = reads[self.results[number].index()] == 1;
        (is_product && has_one_reader && step.modulus == modulus).then_some(number)
    }

    pub(super) fn close(self, escapes: &[bool], shape: impl FnOnce(Elementwise) -> ShapeId) -> Draft {
        let Self { first, lines, inputs, moduli, steps, results, .. } = self;
        // The number of each step without those that became parts of others.
        let mut numbers = Vec::with_capacity(steps.len());
        let (mut kept, mut scalars) = (Vec::with_capacity(steps.len()), Vec::new());
        let (mut outputs, mut written, mut operations) = (Vec::new(), Vec::new(), Vec::new());
        for (step, result) in steps.into_iter().zip(results) {
            let number = kept.len() as u16;
            numbers.push(number);
            let Some(Line { step: Step { op, modulus }, scalar, executed }) = step else { continue };
            let op = op.map(|operand| match operand {
                Operand::Step(step) => Operand::Step(numbers[usize::from(step)]),
                Operand::Input(_) => operand,
            });
            kept.push(Step { op, modulus });
            scalars.extend(scalar);
            operations.push(executed);
            if escapes[result.index()] {
                outputs.push(number);
                written.push(result);
            }
        }
        let (inputs_count, moduli_count) = (inputs.len() as u16, moduli.len() as u16);
        let shape = shape(Elementwise { inputs: inputs_count, moduli: moduli_count, steps: kept, outputs });
        Draft {
            work: Work::Elementwise(shape),
            first,
            lines,
            sources: inputs,
            results: written,
            moduli,
            scalars,
            operations,
        }
    }
}

/// The index of `item` in `items`; appends the item if it is new.
pub(super) fn position<T: PartialEq>(items: &mut Vec<T>, item: T) -> u16 {
    let found = items.iter().position(|known| *known == item);
    found.unwrap_or_else(|| {
        items.push(item);
        items.len() - 1
    }) as u16
}
