//! `tensor`: tensors of ciphertexts, of numbers and of indices.

use super::evaluate::{Evaluation, Row};
use super::text::Operation;
use super::types::{Type, with_dynamic};
use super::value::{Tensor, Value};
use diagnostic::Diagnostic;
use std::rc::Rc;

pub(super) const OPERATIONS: &[Row] = &[
    Row::clear("tensor.empty", empty),
    Row::clear("tensor.splat", splat),
    Row::clear("tensor.from_elements", from_elements),
    Row::clear("tensor.extract", extract),
    Row::clear("tensor.insert", insert),
    Row::clear("tensor.extract_slice", extract_slice),
    Row::clear("tensor.insert_slice", insert_slice),
];

/// The shape of the result, which has fixed sizes.
fn shape<'t>(e: &Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<usize>, Diagnostic> {
    let wrong = || e.error(operation, format_args!("the result of `{}` has no fixed shape", operation.name));
    e.result_type(operation, 0)?.fixed_shape().ok_or_else(wrong)
}

fn filled(shape: Vec<usize>, value: Value) -> Vec<Value> {
    let elements = vec![value; shape.iter().product()];
    vec![Value::Tensor(Rc::new(Tensor { shape, elements }))]
}

fn empty<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    Ok(filled(shape(e, operation)?, Value::Absent))
}

fn splat<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let value = e.value(operation, 0)?;
    Ok(filled(shape(e, operation)?, value))
}

fn from_elements<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
) -> Result<Vec<Value>, Diagnostic> {
    let elements = (0..operation.operands.len()).map(|index| e.value(operation, index));
    let elements: Vec<Value> = elements.collect::<Result<_, _>>()?;
    let shape = shape(e, operation)?;
    if shape.iter().product::<usize>() != elements.len() {
        let message = format!("{} elements of a tensor of the shape {shape:?}", elements.len());
        return Err(e.error(operation, message));
    }
    Ok(vec![Value::Tensor(Rc::new(Tensor { shape, elements }))])
}

/// The place of an element.
fn place<'t>(
    e: &Evaluation<'_, 't>,
    operation: &Operation<'t>,
    (tensor, indices): (&Tensor, &[i64]),
) -> Result<usize, Diagnostic> {
    let shape = &tensor.shape;
    let wrong = || {
        let message = format!("`{}` at {indices:?} of a tensor of the shape {shape:?}", operation.name);
        e.error(operation, message)
    };
    tensor.place(indices).ok_or_else(wrong)
}

fn extract<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let tensor = e.tensor(operation, 0)?;
    let indices = e.integers(operation, 1)?;
    let place = place(e, operation, (&tensor, &indices))?;
    match &tensor.elements[place] {
        Value::Absent => Err(e.error(operation, "an element of a tensor that nothing has written")),
        value => Ok(vec![value.clone()]),
    }
}

fn insert<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let value = e.value(operation, 0)?;
    let mut tensor = e.tensor(operation, 1)?;
    let indices = e.integers(operation, 2)?;
    let place = place(e, operation, (&tensor, &indices))?;
    Rc::make_mut(&mut tensor).elements[place] = value;
    Ok(vec![Value::Tensor(tensor)])
}

/// The offsets, sizes and strides of a slice. Those that are not fixed are the operands from an index on.
fn slice<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
    from: usize,
) -> Result<[Vec<usize>; 3], Diagnostic> {
    let mut dynamic = e.integers(operation, from)?.into_iter();
    let mut lists = Vec::new();
    for key in ["static_offsets", "static_sizes", "static_strides"] {
        let fixed = e.types().integers(e.attribute(operation, key)?)?;
        let list = with_dynamic(&fixed, &mut dynamic);
        lists.push(list.ok_or_else(|| e.error(operation, format_args!("invalid `{key}`")))?);
    }
    let lists: [Vec<usize>; 3] = lists.try_into().expect("three lists");
    Ok(lists)
}

/// The places of a slice.
fn places<'t>(
    e: &Evaluation<'_, 't>,
    operation: &Operation<'t>,
    (tensor, [offsets, sizes, strides]): (&Tensor, &[Vec<usize>; 3]),
) -> Result<Vec<usize>, Diagnostic> {
    let wrong = || {
        let message = format!(
            "a slice of the sizes {sizes:?} at {offsets:?} of a tensor of the shape {:?}",
            tensor.shape
        );
        e.error(operation, message)
    };
    tensor.slice(offsets, sizes, strides).ok_or_else(wrong)
}

fn extract_slice<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
) -> Result<Vec<Value>, Diagnostic> {
    let tensor = e.tensor(operation, 0)?;
    let lists = slice(e, operation, 1)?;
    let places = places(e, operation, (&tensor, &lists))?;
    let is = e.result_type(operation, 0)?;
    let Type::Tensor { shape, .. } = &*is else {
        return Err(e.error(operation, "a slice that is no tensor"));
    };
    // Dimensions of one element may be left out.
    let mut sizes = lists[1].iter().copied().peekable();
    let mut found = Vec::new();
    for expected in shape {
        while sizes.peek().is_some_and(|&size| size == 1 && expected.is_some_and(|expected| expected != 1)) {
            sizes.next();
        }
        found.extend(sizes.next());
    }
    let fits = found.len() == shape.len()
        && found.iter().product::<usize>() == places.len()
        && found.iter().zip(shape).all(|(&size, expected)| expected.is_none_or(|expected| expected == size));
    if !fits {
        let message = format!("a slice of the sizes {:?} in a tensor of another shape", lists[1]);
        return Err(e.error(operation, message));
    }
    let elements = places.into_iter().map(|place| tensor.elements[place].clone()).collect();
    Ok(vec![Value::Tensor(Rc::new(Tensor { shape: found, elements }))])
}

fn insert_slice<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let part = e.tensor(operation, 0)?;
    let mut tensor = e.tensor(operation, 1)?;
    let lists = slice(e, operation, 2)?;
    let places = places(e, operation, (&tensor, &lists))?;
    if places.len() != part.elements.len() {
        let message = format!("{} elements in a slice of {}", part.elements.len(), places.len());
        return Err(e.error(operation, message));
    }
    let elements = &mut Rc::make_mut(&mut tensor).elements;
    for (place, value) in places.into_iter().zip(&part.elements) {
        elements[place] = value.clone();
    }
    Ok(vec![Value::Tensor(tensor)])
}
