//! `arith`: indices, integers and clear numbers.

use super::evaluate::{Evaluation, Row};
use super::text::Operation;
use super::value::{Tensor, Value};
use diagnostic::Diagnostic;
use std::rc::Rc;

pub(super) const OPERATIONS: &[Row] = &[
    Row::clear("arith.constant", constant),
    Row::clear("arith.index_cast", same),
    Row::clear("arith.index_castui", same),
    Row::clear("arith.extsi", same),
    Row::clear("arith.extui", same),
    Row::clear("arith.trunci", same),
    Row::clear("arith.addi", |e, o| integers(e, o, i64::checked_add)),
    Row::clear("arith.subi", |e, o| integers(e, o, i64::checked_sub)),
    Row::clear("arith.muli", |e, o| integers(e, o, i64::checked_mul)),
    Row::clear("arith.divsi", |e, o| integers(e, o, i64::checked_div)),
    Row::clear("arith.divui", |e, o| integers(e, o, unsigned(i64::checked_div))),
    Row::clear("arith.remsi", |e, o| integers(e, o, i64::checked_rem)),
    Row::clear("arith.remui", |e, o| integers(e, o, unsigned(i64::checked_rem))),
    Row::clear("arith.floordivsi", |e, o| integers(e, o, floor_div)),
    Row::clear("arith.ceildivsi", |e, o| integers(e, o, ceil_div)),
    Row::clear("arith.minsi", |e, o| integers(e, o, |a, b| Some(a.min(b)))),
    Row::clear("arith.maxsi", |e, o| integers(e, o, |a, b| Some(a.max(b)))),
    Row::clear("arith.andi", |e, o| integers(e, o, |a, b| Some(a & b))),
    Row::clear("arith.ori", |e, o| integers(e, o, |a, b| Some(a | b))),
    Row::clear("arith.xori", |e, o| integers(e, o, |a, b| Some(a ^ b))),
    Row::clear("arith.cmpi", compare_integers),
    Row::clear("arith.select", select),
    Row::clear("arith.sitofp", to_real),
    Row::clear("arith.extf", |e, o| reals(e, o, |operands| operands[0])),
    Row::clear("arith.truncf", |e, o| reals(e, o, |operands| operands[0])),
    Row::clear("arith.negf", |e, o| reals(e, o, |operands| -operands[0])),
    Row::clear("arith.addf", |e, o| reals(e, o, |operands| operands[0] + operands[1])),
    Row::clear("arith.subf", |e, o| reals(e, o, |operands| operands[0] - operands[1])),
    Row::clear("arith.mulf", |e, o| reals(e, o, |operands| operands[0] * operands[1])),
    Row::clear("arith.divf", |e, o| reals(e, o, |operands| operands[0] / operands[1])),
    Row::clear("arith.maximumf", |e, o| reals(e, o, |operands| operands[0].max(operands[1]))),
    Row::clear("arith.minimumf", |e, o| reals(e, o, |operands| operands[0].min(operands[1]))),
    Row::clear("arith.cmpf", compare_reals),
];

type Compute = fn(i64, i64) -> Option<i64>;

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) == (b < 0) { quotient + 1 } else { quotient })
}

/// Without the operands whose sign would count.
fn unsigned(compute: Compute) -> impl Fn(i64, i64) -> Option<i64> {
    move |a, b| if a < 0 || b < 0 { None } else { compute(a, b) }
}

fn constant<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let [is] = operation.result_types[..] else {
        return Err(e.error(operation, "a constant has one result"));
    };
    let value = operation.attributes.get("value").copied();
    let value = value.ok_or_else(|| e.error(operation, "a constant without a value"))?;
    Ok(vec![e.types().constant(value, is)?])
}

fn same<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    Ok(vec![Value::Integer(e.integer(operation, 0)?)])
}

fn integers<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
    compute: impl Fn(i64, i64) -> Option<i64>,
) -> Result<Vec<Value>, Diagnostic> {
    let (a, b) = (e.integer(operation, 0)?, e.integer(operation, 1)?);
    let value = compute(a, b).ok_or_else(|| {
        e.error(operation, format_args!("`{}` of {a} and {b} is no integer of 64 bits", operation.name))
    })?;
    Ok(vec![Value::Integer(value)])
}

/// The number of a comparison.
fn predicate<'t>(e: &Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<i64, Diagnostic> {
    let text = operation.attributes.get("predicate").copied();
    let text = text.ok_or_else(|| e.error(operation, "a comparison without a predicate"))?;
    e.types().integer(text)
}

fn unknown_predicate<'t>(e: &Evaluation<'_, 't>, operation: &Operation<'t>, number: i64) -> Diagnostic {
    e.error(operation, format_args!("unknown predicate {number} of `{}`", operation.name))
}

fn compare_integers<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
) -> Result<Vec<Value>, Diagnostic> {
    let (a, b) = (e.integer(operation, 0)?, e.integer(operation, 1)?);
    let (first, second) = (a as u64, b as u64);
    let holds = match predicate(e, operation)? {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a <= b,
        4 => a > b,
        5 => a >= b,
        6 => first < second,
        7 => first <= second,
        8 => first > second,
        9 => first >= second,
        other => return Err(unknown_predicate(e, operation, other)),
    };
    Ok(vec![Value::Integer(holds.into())])
}

fn compare_reals<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
) -> Result<Vec<Value>, Diagnostic> {
    let [a, b] = [0, 1].map(|index| real(e, operation, index));
    let [Some(a), Some(b)] = [a?, b?] else {
        let error = e.error(operation, "the program depends on a number that the file does not have");
        return Err(error.with_help("compile without elision of constants, or give the argument"));
    };
    // Ordered or not: all numbers are finite.
    let holds = match predicate(e, operation)? {
        1 | 8 => a == b,
        2 | 9 => a > b,
        3 | 10 => a >= b,
        4 | 11 => a < b,
        5 | 12 => a <= b,
        6 | 13 => a != b,
        other => return Err(unknown_predicate(e, operation, other)),
    };
    Ok(vec![Value::Integer(holds.into())])
}

fn select<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let chosen = if e.integer(operation, 0)? != 0 { 1 } else { 2 };
    let values = [e.value(operation, 1)?, e.value(operation, 2)?];
    let [first, second] = values;
    Ok(vec![if chosen == 1 { first } else { second }])
}

fn real<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
    index: usize,
) -> Result<Option<f64>, Diagnostic> {
    match e.value(operation, index)? {
        Value::Real(value) => Ok(value),
        other => Err(e.error(operation, format_args!("`{}` of {}", operation.name, other.kind()))),
    }
}

fn to_real<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    Ok(vec![Value::Real(Some(e.integer(operation, 0)? as f64))])
}

/// A function of numbers, or of each element of tensors, rounded as the type of its result.
fn reals<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
    compute: fn(&[f64]) -> f64,
) -> Result<Vec<Value>, Diagnostic> {
    let single = match operation.result_types.first().map(|text| e.types().get(text).map(|is| is.is_single()))
    {
        Some(single) => single?,
        None => return Err(e.error(operation, format_args!("`{}` without a result", operation.name))),
    };
    let operands: Vec<Value> =
        (0..operation.operands.len()).map(|index| e.value(operation, index)).collect::<Result<_, _>>()?;
    let value = apply(&operands, &|numbers| {
        let value = compute(numbers);
        if single { f64::from(value as f32) } else { value }
    });
    let wrong = || {
        e.error(
            operation,
            format_args!("`{}` has no finite result, or operands of different shapes", operation.name),
        )
    };
    let value = value.ok_or_else(wrong)?;
    Ok(vec![value])
}

/// A function of numbers, element by element; `None` if they are no numbers or their shapes differ.
fn apply(operands: &[Value], compute: &dyn Fn(&[f64]) -> f64) -> Option<Value> {
    match operands {
        [Value::Real(_)] | [Value::Real(_), Value::Real(_)] => {
            let numbers: Option<Vec<f64>> = operands.iter().map(Value::real).collect();
            let value = numbers.map(|numbers| compute(&numbers));
            value.is_none_or(f64::is_finite).then_some(Value::Real(value))
        }
        [Value::Tensor(a)] => {
            let elements: Option<_> =
                a.elements.iter().map(|a| apply(std::slice::from_ref(a), compute)).collect();
            Some(Value::Tensor(Rc::new(Tensor { shape: a.shape.clone(), elements: elements? })))
        }
        [Value::Tensor(a), Value::Tensor(b)] if a.shape == b.shape => {
            let pairs = a.elements.iter().zip(&b.elements);
            let elements: Option<_> = pairs.map(|(a, b)| apply(&[a.clone(), b.clone()], compute)).collect();
            Some(Value::Tensor(Rc::new(Tensor { shape: a.shape.clone(), elements: elements? })))
        }
        _ => None,
    }
}
