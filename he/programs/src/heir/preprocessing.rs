//! `preprocessing`: plaintexts that are prepared before the server evaluates.

use super::evaluate::{Evaluation, Row};
use super::text::Operation;
use super::types::Type;
use super::value::{Encoded, Value};
use diagnostic::Diagnostic;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(super) const OPERATIONS: &[Row] = &[
    Row::clear("preprocessing.empty", empty),
    Row::effect("preprocessing.store", store),
    Row::clear("preprocessing.load", load),
];

fn empty<'t>(e: &mut Evaluation<'_, 't>, _: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    e.storages.push(BTreeMap::new());
    Ok(vec![Value::Storage(e.storages.len() - 1)])
}

fn site<'t>(e: &Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<i64, Diagnostic> {
    e.types().integer(e.attribute(operation, "site_id")?)
}

/// The name of a plaintext by its place: `site3`, or `site3_0_1` with indices.
fn name(site: i64, indices: &[i64]) -> String {
    indices.iter().fold(format!("site{site}"), |name, index| format!("{name}_{index}"))
}

fn store<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let value = e.value(operation, 0)?;
    let storage = e.storage(operation, 1)?;
    let (site, indices) = (site(e, operation)?, e.integers(operation, 2)?);
    let value = match value {
        Value::Plaintext(encoded) => {
            let name = name(site, &indices);
            Value::Plaintext(Rc::new(Encoded { name, ..(*encoded).clone() }))
        }
        other => other,
    };
    e.storages[storage].insert((site, indices), value);
    Ok(Vec::new())
}

fn load<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let storage = e.storage(operation, 0)?;
    let (site, indices) = (site(e, operation)?, e.integers(operation, 1)?);
    let place = (site, indices);
    if let Some(value) = e.storages[storage].get(&place) {
        return Ok(vec![value.clone()]);
    }
    let name = name(site, &place.1);
    match &*e.result_type(operation, 0)? {
        // The file does not have the function that fills the storage.
        &Type::Plaintext { scale_bits } if e.is_foreign(storage) => {
            Ok(vec![Value::Plaintext(Rc::new(Encoded { name, slots: None, level: None, scale_bits }))])
        }
        _ => {
            let error = e.error(operation, format_args!("nothing is stored in `{name}`"));
            Err(error.with_help("keep the function with the role `server.preprocessing`"))
        }
    }
}
