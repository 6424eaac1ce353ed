//! The evaluation of a file's functions: what is clear is computed, what is encrypted goes to a circuit.

use super::Program;
use super::text::{Block, ENDS, Operation, Source};
use super::types::{CiphertextType, Type, Types};
use super::value::{Encoded, Matrix, Tensor, Value};
use crate::Error;
use crate::circuit::{Ciphertext, Circuit, Plaintext};
use crate::definition::Definition;
use crate::foreign::{MOST_ENCRYPTED, SCALE_BITS, beyond, overfull, summand};
use crate::matrix::Slots;
use crate::scale::Scale;
use diagnostic::Diagnostic;
use num_complex::Complex64;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The most operations of an evaluation, so that it ends; assumed.
const MOST_STEPS: u64 = 1 << 29;

/// What an operation does.
pub(super) type Handler =
    for<'p, 't, 'o> fn(&mut Evaluation<'p, 't>, &'o Operation<'t>) -> Result<Vec<Value>, Diagnostic>;

/// A row of a dialect's table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// The name, with the dialect.
    pub(super) name: &'static str,
    pub(super) run: Handler,
    /// Whether it only computes its results, so that it may be left out if nobody reads them.
    pub(super) is_pure: bool,
    /// Whether it belongs to the counts of operations on ciphertexts.
    pub(super) is_counted: bool,
}

impl Row {
    /// An operation of the server on clear values.
    pub(super) const fn clear(name: &'static str, run: Handler) -> Self {
        Self { name, run, is_pure: true, is_counted: false }
    }

    /// An operation with an effect beside its results.
    pub(super) const fn effect(name: &'static str, run: Handler) -> Self {
        Self { name, run, is_pure: false, is_counted: false }
    }

    /// An operation on ciphertexts.
    pub(super) const fn encrypted(name: &'static str, run: Handler) -> Self {
        Self { name, run, is_pure: false, is_counted: true }
    }
}

/// The state of an evaluation.
pub(super) struct Evaluation<'p, 't> {
    pub(super) program: &'p Program<'t>,
    values: Vec<Value>,
    pub(super) storages: Vec<BTreeMap<(i64, Vec<i64>), Value>>,
    /// None in functions of the client.
    circuit: Option<Circuit>,
    /// The scales of messages, by the number of moduli.
    scales: Vec<Scale>,
    /// The functions under evaluation.
    pub(super) calls: Vec<&'p str>,
    steps: u64,
    encrypted: usize,
    /// The operations on ciphertexts so far, by name.
    pub(super) counts: BTreeMap<&'static str, usize>,
    /// The largest relative difference of the scales of summands.
    pub(super) worst_sum: f64,
    /// The ciphertexts of zeros that operations read.
    zeros: BTreeMap<usize, Rc<Ciphertext>>,
    next_zero: usize,
    /// The storage that a function fills which the file does not have.
    foreign: Option<usize>,
    /// The number of linear transforms.
    pub(super) matrices: usize,
}

impl<'p, 't> Evaluation<'p, 't> {
    pub(super) fn new(program: &'p Program<'t>, circuit: Option<Circuit>) -> Self {
        let scales = scales(&program.scheme.q, program.scheme.scale_bits, program.bootstraps);
        Self {
            values: vec![Value::Absent; program.values],
            program,
            storages: Vec::new(),
            circuit,
            scales,
            calls: Vec::new(),
            steps: 0,
            encrypted: 0,
            counts: BTreeMap::new(),
            foreign: None,
            next_zero: 0,
            worst_sum: 0.0,
            zeros: BTreeMap::new(),
            matrices: 0,
        }
    }

    /// The number of the next ciphertext of zeros.
    pub(super) fn zero_number(&mut self) -> usize {
        self.next_zero += 1;
        self.next_zero - 1
    }

    /// The storage that the file does not fill.
    pub(super) fn foreign_storage(&mut self) -> Value {
        self.storages.push(BTreeMap::new());
        self.foreign = Some(self.storages.len() - 1);
        Value::Storage(self.storages.len() - 1)
    }

    pub(super) fn is_foreign(&self, storage: usize) -> bool {
        self.foreign == Some(storage)
    }

    /// The slots of a ciphertext.
    pub(super) fn slots(&self) -> usize {
        self.circuit.as_ref().map_or(0, |circuit| circuit.set().degree().len() / 2)
    }

    /// The circuit of an evaluation of the whole program.
    pub(super) fn only_circuit(&mut self) -> &mut Circuit {
        self.circuit.as_mut().expect("the evaluation of a program has a circuit")
    }

    pub(super) fn into_circuit(self) -> Option<Circuit> {
        self.circuit
    }

    pub(super) fn types(&self) -> &'p Types<'t> {
        &self.program.types
    }

    pub(super) fn source(&self) -> &'p Source<'t> {
        &self.program.types.source
    }

    /// An error of an operation.
    pub(super) fn error(&self, operation: &Operation<'t>, message: impl std::fmt::Display) -> Diagnostic {
        self.source().error(operation.name, message.to_string())
    }

    /// An error of the circuit, at the user's operation.
    pub(super) fn refused(&self, operation: &Operation<'t>, error: &Error) -> Diagnostic {
        self.error(operation, format_args!("`{}`: {error}", operation.name))
    }

    /// The circuit, in functions of the server.
    pub(super) fn circuit(&mut self, operation: &Operation<'t>) -> Result<&mut Circuit, Diagnostic> {
        let source = self.source();
        let message = || format!("`{}` in a function of the client", operation.name);
        self.circuit.as_mut().ok_or_else(|| source.error(operation.name, message()))
    }

    /// Computes a block with these arguments. Returns what its last operation has as operands.
    pub(super) fn run(&mut self, block: &Block<'t>, arguments: Vec<Value>) -> Result<Vec<Value>, Diagnostic> {
        for (&id, value) in block.arguments.iter().zip(arguments) {
            self.values[id as usize] = value;
        }
        for operation in &block.operations {
            if operation.known.is_none() && ENDS.contains(&operation.name) {
                return (0..operation.operands.len()).map(|index| self.value(operation, index)).collect();
            }
            if operation.is_dead {
                continue;
            }
            self.step(operation)?;
            let Some(known) = operation.known else {
                let names: Vec<_> = self.program.rows.iter().map(|row| row.name).collect();
                return Err(operation.unknown(self.source(), &names));
            };
            let row = self.program.rows[known.index];
            let results = (row.run)(self, operation)?;
            if row.is_counted {
                *self.counts.entry(row.name).or_insert(0) += 1;
                self.encrypted += 1;
                if self.encrypted > MOST_ENCRYPTED {
                    let message = format!("more than {MOST_ENCRYPTED} operations on ciphertexts");
                    return Err(self.error(operation, message));
                }
            }
            if results.len() != operation.results.len() {
                let message = format!(
                    "`{}` has {} results, expected {}",
                    operation.name,
                    operation.results.len(),
                    results.len()
                );
                return Err(self.error(operation, message));
            }
            for (&id, value) in operation.results.iter().zip(results) {
                self.values[id as usize] = value;
            }
        }
        Ok(Vec::new())
    }

    /// Counts an operation, or the turn of a loop, so that the evaluation ends.
    pub(super) fn step(&mut self, operation: &Operation<'t>) -> Result<(), Diagnostic> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(self.error(operation, format_args!("more than {MOST_STEPS} operations")));
        }
        Ok(())
    }

    /// An operand, which is taken at its last use.
    pub(super) fn value(&mut self, operation: &Operation<'t>, index: usize) -> Result<Value, Diagnostic> {
        let Some(operand) = operation.operands.get(index) else {
            let message = format!("`{}` has too few operands", operation.name);
            return Err(self.error(operation, message));
        };
        let value = &mut self.values[operand.value as usize];
        Ok(if operand.is_last { std::mem::take(value) } else { value.clone() })
    }

    /// The error that an operand is something else.
    fn wrong(&self, operation: &Operation<'t>, index: usize, expected: &str, found: &Value) -> Diagnostic {
        let message =
            format!("expected {expected} as an operand of `{}`, found {}", operation.name, found.kind());
        let name: &str = operation.operands.get(index).map_or(operation.name, |operand| operand.name);
        self.source().error(name, message)
    }

    pub(super) fn integer(&mut self, operation: &Operation<'t>, index: usize) -> Result<i64, Diagnostic> {
        match self.value(operation, index)? {
            Value::Integer(value) => Ok(value),
            other => Err(self.wrong(operation, index, "an integer", &other)),
        }
    }

    /// The operands from an index on, which are integers.
    pub(super) fn integers(
        &mut self,
        operation: &Operation<'t>,
        from: usize,
    ) -> Result<Vec<i64>, Diagnostic> {
        (from..operation.operands.len()).map(|index| self.integer(operation, index)).collect()
    }

    pub(super) fn tensor(
        &mut self,
        operation: &Operation<'t>,
        index: usize,
    ) -> Result<Rc<Tensor>, Diagnostic> {
        match self.value(operation, index)? {
            Value::Tensor(value) => Ok(value),
            other => Err(self.wrong(operation, index, "a tensor", &other)),
        }
    }

    pub(super) fn storage(&mut self, operation: &Operation<'t>, index: usize) -> Result<usize, Diagnostic> {
        match self.value(operation, index)? {
            Value::Storage(value) => Ok(value),
            other => Err(self.wrong(operation, index, "a storage", &other)),
        }
    }

    pub(super) fn matrix(
        &mut self,
        operation: &Operation<'t>,
        index: usize,
    ) -> Result<Rc<Matrix>, Diagnostic> {
        match self.value(operation, index)? {
            Value::Matrix(value) => Ok(value),
            other => Err(self.wrong(operation, index, "a matrix", &other)),
        }
    }

    pub(super) fn encoded(
        &mut self,
        operation: &Operation<'t>,
        index: usize,
    ) -> Result<Rc<Encoded>, Diagnostic> {
        match self.value(operation, index)? {
            Value::Plaintext(value) => Ok(value),
            other => Err(self.wrong(operation, index, "a plaintext", &other)),
        }
    }

    /// Whether an operand is a plaintext.
    pub(super) fn is_plaintext(&self, operation: &Operation<'t>, index: usize) -> bool {
        let operand = operation.operands.get(index);
        operand.is_some_and(|operand| matches!(self.values[operand.value as usize], Value::Plaintext(_)))
    }

    /// A ciphertext, of two components unless the operation takes products.
    pub(super) fn ciphertext(
        &mut self,
        operation: &Operation<'t>,
        index: usize,
        takes_products: bool,
    ) -> Result<Rc<Ciphertext>, Diagnostic> {
        let ciphertext = match self.value(operation, index)? {
            Value::Ciphertext(value) => value,
            Value::Zero(number) => self.zero(operation, index, number)?,
            other => return Err(self.wrong(operation, index, "a ciphertext", &other)),
        };
        if ciphertext.is_product() && !takes_products {
            let message = format!("`{}` of a product that is not relinearised", operation.name);
            return Err(self.error(operation, message).with_help("relinearise it first: `ckks.relinearize`"));
        }
        Ok(ciphertext)
    }

    /// The input for a ciphertext of zeros.
    fn zero(
        &mut self,
        operation: &Operation<'t>,
        index: usize,
        number: usize,
    ) -> Result<Rc<Ciphertext>, Diagnostic> {
        if let Some(known) = self.zeros.get(&number) {
            return Ok(Rc::clone(known));
        }
        let is = self.types().get(operation.operand_types[index])?;
        let Type::Ciphertext(is) = &*is else {
            return Err(self.wrong(operation, index, "a ciphertext", &Value::Zero(number)));
        };
        let scale = self.scale(is.level, is.scale_bits);
        let name = format!("zero{number}");
        let input = self.circuit(operation)?.input_at(&name, is.level, scale);
        let input = Rc::new(input.map_err(|error| self.refused(operation, &error))?);
        self.zeros.insert(number, Rc::clone(&input));
        Ok(input)
    }

    /// An attribute.
    pub(super) fn attribute(&self, operation: &Operation<'t>, key: &str) -> Result<&'t str, Diagnostic> {
        let value = operation.attributes.get(key).copied();
        value.ok_or_else(|| self.error(operation, format_args!("missing `{key}` of `{}`", operation.name)))
    }

    /// The type of a result.
    pub(super) fn result_type(
        &self,
        operation: &Operation<'t>,
        index: usize,
    ) -> Result<Rc<Type>, Diagnostic> {
        let Some(text) = operation.result_types.get(index) else {
            return Err(self.error(operation, format_args!("`{}` has too few results", operation.name)));
        };
        self.types().get(text)
    }

    /// The type of the only result, which is a ciphertext.
    pub(super) fn ciphertext_type(&self, operation: &Operation<'t>) -> Result<CiphertextType, Diagnostic> {
        match &*self.result_type(operation, 0)? {
            Type::Ciphertext(is) => Ok(*is),
            _ => {
                Err(self
                    .error(operation, format_args!("the result of `{}` is no ciphertext", operation.name)))
            }
        }
    }

    /// The scale of messages at a level, to the power that a type's scale says.
    pub(super) fn scale(&self, level: usize, scale_bits: u32) -> Scale {
        let default = self.program.scheme.scale_bits;
        match self.scales.get(level - 1) {
            Some(scale) if scale_bits.is_multiple_of(default) && scale_bits <= 8 * default => {
                (1..scale_bits / default).fold(scale.clone(), |product, _| product.times(scale))
            }
            Some(_) | None => Scale::power_of_two(scale_bits),
        }
    }

    /// The plaintext of slots for a circuit, of the scale that the product or the sum needs.
    pub(super) fn plaintext(
        &mut self,
        operation: &Operation<'t>,
        encoded: &Encoded,
        (level, scale): (usize, Scale),
    ) -> Result<Plaintext, Diagnostic> {
        if (scale.log2() - f64::from(encoded.scale_bits)).abs() > 1.0 {
            let bits = encoded.scale_bits;
            let message =
                format!("`{}` needs a plaintext of the scale {scale}, found 2^{bits}", operation.name);
            return Err(self.error(operation, message));
        }
        if let Some(found) = encoded.level.filter(|&found| found != level) {
            let (name, level, found) = (operation.name, level - 1, found - 1);
            let message = format!("`{name}` needs a plaintext of the level {level}, found {found}");
            return Err(self.error(operation, message));
        }
        self.room(operation, encoded.slots.iter().flatten().copied(), (level, &scale))?;
        let definition = match &encoded.slots {
            None => Definition::Given { scale: scale.clone() },
            Some(slots) => {
                let slots: Vec<Complex64> = slots.iter().copied().map(Complex64::from).collect();
                let most = self.slots();
                if slots.is_empty() || !most.is_multiple_of(slots.len()) {
                    let message = format!("a plaintext of {} slots, which do not divide {most}", slots.len());
                    return Err(self.error(operation, message));
                }
                Definition::Plaintext { slots: Slots::Values(slots.into()), scale: scale.clone() }
            }
        };
        Ok(self.circuit(operation)?.plaintext(encoded.name.clone(), (level, false), scale, definition))
    }

    /// Refuses numbers that are beyond the moduli of a level with a scale: they would wrap.
    pub(super) fn room(
        &self,
        operation: &Operation<'t>,
        numbers: impl Iterator<Item = f64>,
        (level, scale): (usize, &Scale),
    ) -> Result<(), Diagnostic> {
        match beyond(numbers, scale, &self.program.scheme.q[..level]) {
            None => Ok(()),
            Some(reason) => Err(self.error(operation, format_args!("`{}` of {reason}", operation.name))),
        }
    }

    /// Two summands of one scale: a small difference is left, and noted.
    pub(super) fn aligned(
        &mut self,
        operation: &Operation<'t>,
        a: &Ciphertext,
        b: Ciphertext,
    ) -> Result<Ciphertext, Diagnostic> {
        let Some((summand, difference)) = summand(a, b.clone()) else {
            let message = format!(
                "`{}` of ciphertexts of {} and {} moduli with the scales {} and {}",
                operation.name,
                a.level(),
                b.level(),
                a.scale(),
                b.scale()
            );
            return Err(self
                .error(operation, message)
                .with_help("the summands must have one level and one scale"));
        };
        self.worst_sum = self.worst_sum.max(difference);
        Ok(summand)
    }

    /// A result, which must have the moduli, the scale and the components of its type.
    pub(super) fn checked(
        &mut self,
        operation: &Operation<'t>,
        result: Result<Ciphertext, Error>,
    ) -> Result<Vec<Value>, Diagnostic> {
        let result = result.map_err(|error| self.refused(operation, &error))?;
        let is = self.ciphertext_type(operation)?;
        let scale = result.scale().rounded_to(SCALE_BITS);
        let components = if result.is_product() { 3 } else { 2 };
        let of = |what: &str, found: &dyn std::fmt::Display, expected: &dyn std::fmt::Display| {
            let name = operation.name;
            let message = format!("the result of `{name}` has {what} {found}, and its type says {expected}");
            Err(self.error(operation, message))
        };
        if result.level() != is.level {
            return of("so many moduli:", &result.level(), &is.level);
        }
        if let Some(room) = overfull(&result, &self.program.scheme.q) {
            let name = operation.name;
            let message =
                format!("the result of `{name}` has the scale {scale}, above its moduli, 2^{room:.6}");
            let help = "levels are used up: compile with more, such as a larger greedy-level-budget";
            return Err(self.error(operation, message).with_help(help));
        }
        if components != is.components {
            return of("so many components:", &components, &is.components);
        }
        if (scale.log2() - f64::from(is.scale_bits)).abs() > 1.0 {
            return of("the scale", &scale, &format_args!("2^{}", is.scale_bits));
        }
        Ok(vec![Value::Ciphertext(Rc::new(result.with_scale(scale)))])
    }
}

/// The most bits by which a scale may differ from the scale of the highest level; assumed.
const MOST_DRIFT: f64 = 0.25;

/// The scales of messages by the number of moduli: one level below has what the square of a message has
/// after its rescale, so that sums of ciphertexts of one level have one scale.
///
/// The result of a bootstrap has 2^bits at the highest level. But downwards, differences between moduli
/// double from level to level. Upwards they become smaller: so scales are of programs without bootstraps, and
/// of those with too many levels.
fn scales(moduli: &[u128], bits: u32, bootstraps: bool) -> Vec<Scale> {
    let upper = || moduli[1..].iter().map(|&modulus| Scale::integer(modulus));
    let first = Scale::power_of_two(bits);
    if bootstraps {
        let (mut scales, mut scale) = (vec![first.clone()], first.clone());
        for modulus in upper().rev() {
            scale = scale.times(&scale).over(&modulus).rounded_to(SCALE_BITS);
            if (scale.log2() - f64::from(bits)).abs() > MOST_DRIFT {
                break;
            }
            scales.push(scale.clone());
        }
        if scales.len() == moduli.len() {
            scales.reverse();
            return scales;
        }
    }
    let next = |scale: &mut Scale, modulus: Scale| {
        *scale = scale.times(&modulus).root(SCALE_BITS);
        Some(scale.clone())
    };
    [first.clone()].into_iter().chain(upper().scan(first, next)).collect()
}
