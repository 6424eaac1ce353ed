//! `scf` and `func`: loops with constant bounds, conditions that are known, calls.

use super::evaluate::{Evaluation, Row};
use super::text::Operation;
use super::value::Value;
use diagnostic::Diagnostic;

pub(super) const OPERATIONS: &[Row] =
    &[Row::effect("scf.for", repeat), Row::effect("scf.if", choose), Row::effect("func.call", call)];

fn repeat<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let [begin, end, step] = [e.integer(operation, 0)?, e.integer(operation, 1)?, e.integer(operation, 2)?];
    let [body] = &operation.regions[..] else {
        return Err(e.error(operation, "a loop has one body"));
    };
    if step < 1 {
        return Err(e.error(operation, format_args!("a loop with the step {step}, expected at least 1")));
    }
    let mut carried: Vec<Value> =
        (3..operation.operands.len()).map(|index| e.value(operation, index)).collect::<Result<_, _>>()?;
    let count = carried.len();
    let mut now = begin;
    while now < end {
        e.step(operation)?;
        let mut arguments = vec![Value::Integer(now)];
        arguments.append(&mut carried);
        if body.arguments.len() != arguments.len() {
            return Err(e.error(operation, "a loop whose body has other arguments"));
        }
        carried = e.run(body, arguments)?;
        if carried.len() != count {
            return Err(e.error(operation, "a loop whose body yields other values"));
        }
        match now.checked_add(step) {
            Some(next) => now = next,
            None => break,
        }
    }
    Ok(carried)
}

fn choose<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let branch = if e.integer(operation, 0)? != 0 { 0 } else { 1 };
    match operation.regions.get(branch) {
        Some(branch) => e.run(branch, Vec::new()),
        None => Ok(Vec::new()),
    }
}

fn call<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let callee = e.attribute(operation, "callee")?;
    let name = callee.trim_start_matches('@').trim_matches('"');
    let Some(function) = e.program.functions.get(name) else {
        let error = e.source().error(callee, format!("unknown function `{callee}`"));
        return Err(error.with_help("do not delete the functions that others call"));
    };
    let arguments: Vec<Value> =
        (0..operation.operands.len()).map(|index| e.value(operation, index)).collect::<Result<_, _>>()?;
    e.call(function, arguments).map_err(|error| {
        error.unwrap_or_else(|| {
            e.error(
                operation,
                format_args!("`{name}` cannot be called here: it has other arguments, or calls itself"),
            )
        })
    })
}
