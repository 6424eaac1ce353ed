//! `lwe`: encodings, and what the client does.

use super::ckks;
use super::evaluate::{Evaluation, Row};
use super::text::Operation;
use super::value::{Encoded, Tensor, Value};
use diagnostic::Diagnostic;
use std::rc::Rc;

pub(super) const OPERATIONS: &[Row] = &[
    Row::clear("lwe.rlwe_encode", encode),
    Row::clear("lwe.rlwe_encrypt", encrypt),
    Row::clear("lwe.rlwe_decrypt", encrypt),
    Row::clear("lwe.rlwe_decode", decode),
    Row::encrypted("lwe.radd_plain", ckks::add_plain),
];

fn encode<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let tensor = e.tensor(operation, 0)?;
    let scale_bits = e.types().encoding(e.attribute(operation, "encoding")?)?;
    let attribute = |key: &str| operation.attributes.get(key).copied();
    if let Some(ring) = attribute("ring") {
        e.types().ring(ring)?;
    }
    if let Some(text) = attribute("scale") {
        let scale = e.types().integer(text)?;
        if scale != i64::from(scale_bits) {
            let message = format!("`scale` is {scale}, and the scaling factor of the encoding {scale_bits}");
            return Err(e.source().error(text, message));
        }
    }
    // Levels are from 0.
    let level = attribute("level").map(|text| {
        let level = e.types().integer(text)?;
        let moduli = usize::try_from(level).ok().map(|level| level.saturating_add(1));
        let most = e.program.scheme.q.len();
        let message = || format!("`level` is {level}, and Q of `ckks.schemeParam` has {most} moduli, from 0");
        moduli.filter(|&moduli| moduli <= most).ok_or_else(|| e.source().error(text, message()))
    });
    let level = level.transpose()?;
    let name = format!("plaintext{}", operation.results.first().copied().unwrap_or_default());
    let is_number = |value: &Value| matches!(value, Value::Real(_));
    if !tensor.elements.iter().all(is_number) {
        return Err(e.error(operation, format_args!("`{}` of something else than numbers", operation.name)));
    }
    let encoded = Encoded { name, slots: tensor.reals(), level, scale_bits };
    Ok(vec![Value::Plaintext(Rc::new(encoded))])
}

/// The client's slots, encrypted or not.
fn encrypt<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    Ok(vec![Value::Plaintext(e.encoded(operation, 0)?)])
}

fn decode<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let encoded = e.encoded(operation, 0)?;
    let shape = e.result_type(operation, 0)?.fixed_shape();
    let count = shape.as_ref().map(|shape| shape.iter().product());
    let slots = encoded.slots.as_ref().zip(count).and_then(|(slots, count)| slots.get(..count));
    let (Some(shape), Some(slots)) = (shape, slots) else {
        return Err(e.error(operation, "a tensor with more elements than slots"));
    };
    let elements = slots.iter().map(|&slot| Value::Real(Some(slot))).collect();
    Ok(vec![Value::Tensor(Rc::new(Tensor { shape, elements }))])
}
