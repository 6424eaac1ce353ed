//! `ckks`: operations on ciphertexts.

use super::evaluate::{Evaluation, Row};
use super::text::Operation;
use super::value::{Encoded, Value};
use crate::circuit::{BootstrapOptions, Ciphertext};
use diagnostic::Diagnostic;
use num_bigint::BigInt;
use std::rc::Rc;

pub(super) const OPERATIONS: &[Row] = &[
    Row::encrypted("ckks.add", add),
    Row::encrypted("ckks.sub", subtract),
    Row::encrypted("ckks.negate", negate),
    Row::encrypted("ckks.mul", multiply),
    Row::encrypted("ckks.add_plain", add_plain),
    Row::encrypted("ckks.sub_plain", subtract_plain),
    Row::encrypted("ckks.mul_plain", multiply_plain),
    Row::encrypted("ckks.rotate", rotate),
    Row::encrypted("ckks.relinearize", relinearise),
    Row::encrypted("ckks.rescale", rescale),
    Row::encrypted("ckks.level_reduce", reduce_level),
    Row::encrypted("ckks.bootstrap", bootstrap),
];

/// Two summands, of one scale.
fn summands<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
) -> Result<[Ciphertext; 2], Diagnostic> {
    let [a, b] = [e.ciphertext(operation, 0, true)?, e.ciphertext(operation, 1, true)?];
    let b = e.aligned(operation, &a, (*b).clone())?;
    Ok([(*a).clone(), b])
}

fn add<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let [a, b] = summands(e, operation)?;
    let sum = e.circuit(operation)?.add(&a, &b);
    e.checked(operation, sum)
}

fn subtract<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let [a, b] = summands(e, operation)?;
    if b.is_product() && !a.is_product() {
        let message = "`ckks.sub` of a product that is not relinearised";
        return Err(e.error(operation, message).with_help("relinearise it first: `ckks.relinearize`"));
    }
    let difference = e.circuit(operation)?.subtract(&a, &b);
    e.checked(operation, difference)
}

fn negate<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let a = e.ciphertext(operation, 0, true)?;
    let negated = e.circuit(operation)?.multiply_integer(&a, &BigInt::from(-1));
    e.checked(operation, Ok(negated))
}

fn multiply<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let [a, b] = [e.ciphertext(operation, 0, false)?, e.ciphertext(operation, 1, false)?];
    let product = e.circuit(operation)?.multiply(&a, &b);
    e.checked(operation, Ok(product))
}

/// A ciphertext and a plaintext, and whether the ciphertext is the first one.
fn plain_operands<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
) -> Result<(Rc<Ciphertext>, Rc<Encoded>, bool), Diagnostic> {
    let is_first = !e.is_plaintext(operation, 0);
    let (ciphertext, plaintext) = if is_first { (0, 1) } else { (1, 0) };
    Ok((e.ciphertext(operation, ciphertext, true)?, e.encoded(operation, plaintext)?, is_first))
}

/// The sum with a plaintext, which takes the ciphertext's scale.
pub(super) fn add_plain<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
) -> Result<Vec<Value>, Diagnostic> {
    let (a, encoded, _) = plain_operands(e, operation)?;
    let plaintext = e.plaintext(operation, &encoded, (a.level(), a.scale().clone()))?;
    let sum = e.circuit(operation)?.add_plaintext(&a, &plaintext);
    e.checked(operation, sum)
}

/// p - a is -a + p, and a - p is -(-a + p).
fn subtract_plain<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
) -> Result<Vec<Value>, Diagnostic> {
    let (a, encoded, is_first) = plain_operands(e, operation)?;
    let plaintext = e.plaintext(operation, &encoded, (a.level(), a.scale().clone()))?;
    let circuit = e.circuit(operation)?;
    let minus = BigInt::from(-1);
    let negated = circuit.multiply_integer(&a, &minus);
    let difference = circuit.add_plaintext(&negated, &plaintext);
    let sign = |sum: Ciphertext| if is_first { circuit.multiply_integer(&sum, &minus) } else { sum };
    let difference = difference.map(sign);
    e.checked(operation, difference)
}

/// The product with a plaintext, whose scale brings the product to that of its level.
fn multiply_plain<'t>(
    e: &mut Evaluation<'_, 't>,
    operation: &Operation<'t>,
) -> Result<Vec<Value>, Diagnostic> {
    let (a, encoded, _) = plain_operands(e, operation)?;
    let is = e.ciphertext_type(operation)?;
    let scale = e.scale(a.level(), is.scale_bits).over(a.scale());
    let plaintext = e.plaintext(operation, &encoded, (a.level(), scale))?;
    let product = e.circuit(operation)?.multiply_plaintext(&a, &plaintext);
    e.checked(operation, product)
}

fn rotate<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let (a, rotation) = (e.ciphertext(operation, 0, false)?, e.integer(operation, 1)?);
    let rotation = rotation.rem_euclid(e.slots() as i64);
    let rotated = e.circuit(operation)?.rotated((*a).clone(), rotation);
    e.checked(operation, rotated)
}

fn relinearise<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    for (key, expected) in [("from_basis", &[0, 1, 2][..]), ("to_basis", &[0, 1])] {
        let text = e.attribute(operation, key)?;
        let found = e.types().integers(text)?;
        if found != expected {
            let message = format!("`{key}` of `{}` is {found:?}, expected {expected:?}", operation.name);
            return Err(e.source().error(text, message));
        }
    }
    let a = e.ciphertext(operation, 0, true)?;
    let relinearised = e.circuit(operation)?.relinearise(&a);
    e.checked(operation, Ok(relinearised))
}

fn rescale<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let a = e.ciphertext(operation, 0, false)?;
    let rescaled = e.circuit(operation)?.rescale(&a);
    if let (Ok(rescaled), Some(&text)) = (&rescaled, operation.attributes.get("to_ring"))
        && let Some(moduli) = e.types().ring(text)?
        && moduli != rescaled.level()
    {
        let (name, found) = (operation.name, rescaled.level());
        let message = format!("`to_ring` of `{name}` has {moduli} moduli, and its result {found}");
        return Err(e.source().error(text, message));
    }
    e.checked(operation, rescaled)
}

fn reduce_level<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let a = e.ciphertext(operation, 0, true)?;
    let dropped = match operation.attributes.get("levelToDrop") {
        Some(text) => e.types().integer(text)?,
        None => 1,
    };
    let level = usize::try_from(dropped).ok().and_then(|dropped| a.level().checked_sub(dropped));
    let Some(level) = level.filter(|&level| level > 0) else {
        let message = format!("`{}` drops {dropped} of {} moduli", operation.name, a.level());
        return Err(e.error(operation, message).with_help("one modulus must be left"));
    };
    let lowered = e.circuit(operation)?.at(&a, level);
    e.checked(operation, lowered)
}

/// A bootstrap, whose result may have fewer moduli than the highest level.
fn bootstrap<'t>(e: &mut Evaluation<'_, 't>, operation: &Operation<'t>) -> Result<Vec<Value>, Diagnostic> {
    let a = e.ciphertext(operation, 0, false)?;
    let level = e.ciphertext_type(operation)?.level;
    let circuit = e.circuit(operation)?;
    let fresh = circuit.bootstrap(&a, BootstrapOptions::default());
    if let Ok(fresh) = &fresh {
        circuit.stage(super::STAGE, fresh.level());
    }
    let fresh =
        fresh.and_then(|fresh| if fresh.level() > level { circuit.at(&fresh, level) } else { Ok(fresh) });
    e.checked(operation, fresh)
}
