//! The evaluation of the layers on a circuit.

use super::header::Node;
use super::{Import, Program};
use crate::Error;
use crate::circuit::{Ciphertext, Circuit};
use crate::foreign::{MOST_ENCRYPTED, SCALE_BITS, beyond, overfull};
use crate::scale::Scale;
use diagnostic::{Code, Diagnostic};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a layer does: from its operands to its results.
pub(super) type Handler =
    fn(&mut Evaluation<'_, '_>, &Node<'_>, &[Vec<Ciphertext>]) -> Result<Vec<Ciphertext>, Diagnostic>;

/// A row of the table of operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    /// The number of layers that are its operands.
    pub(super) operands: usize,
    pub(super) run: Handler,
    /// The number of ciphertexts that it takes, if its settings say so; else any.
    pub(super) width: Option<fn(&Node<'_>) -> usize>,
    /// Whether it needs the moduli of a bootstrap.
    pub(super) bootstraps: bool,
}

impl Row {
    /// An operation on any number of ciphertexts.
    pub(super) const fn new(name: &'static str, operands: usize, run: Handler) -> Self {
        Self { name, operands, run, width: None, bootstraps: false }
    }
}

/// The state of an evaluation.
pub(super) struct Evaluation<'p, 't> {
    pub(super) program: &'p Program<'t>,
    pub(super) circuit: Circuit,
    counts: BTreeMap<&'static str, usize>,
    pub(super) worst_sum: f64,
    /// The ciphertexts of all results so far.
    ciphertexts: usize,
    /// The blobs that layers have read.
    used: BTreeSet<usize>,
}

impl<'p, 't> Evaluation<'p, 't> {
    pub(super) fn new(program: &'p Program<'t>, circuit: Circuit) -> Self {
        let (counts, used) = (BTreeMap::new(), BTreeSet::new());
        Self { program, circuit, counts, worst_sum: 0.0, ciphertexts: 0, used }
    }

    pub(super) fn run(mut self) -> Result<Import, Diagnostic> {
        let (header, order) = (&self.program.header, &self.program.order);
        let (level, scale) = (header.input_level + 1, self.default_scale());
        if self.program.inputs > MOST_ENCRYPTED {
            return Err(self.program.error(format!("an input of {} ciphertexts", self.program.inputs)));
        }
        let names =
            |name: &str, count| (0..count).map(|index| numbered(name, index, count)).collect::<Vec<_>>();
        let (inputs, mut input) = (names("input", self.program.inputs), Vec::new());
        for name in &inputs {
            let ciphertext = self.circuit.input_at(name, level, scale.clone());
            input.push(ciphertext.map_err(|error| self.program.error(error.to_string()))?);
        }
        let mut results: Vec<Vec<Ciphertext>> = vec![Vec::new(); header.nodes().len()];
        let mut input = Some(input);
        // A result is given up at its last use.
        let mut uses = vec![0_usize; results.len()];
        order.layers.iter().flat_map(|(_, operands)| operands).for_each(|&operand| uses[operand] += 1);
        for (index, operands) in &order.layers {
            let node = &header.nodes()[*index];
            let mut given = Vec::new();
            for &operand in operands {
                uses[operand] -= 1;
                let result = &mut results[operand];
                given.push(if uses[operand] == 0 { std::mem::take(result) } else { result.clone() });
            }
            if *index == order.input {
                given.extend(input.take());
            }
            results[*index] = self.layer(node, &given)?;
        }
        let output = std::mem::take(&mut results[order.output]);
        let outputs = names("output", output.len());
        for (name, ciphertext) in outputs.iter().zip(&output) {
            let declared = self.circuit.output(name, ciphertext);
            declared.map_err(|error| self.program.error(error.to_string()))?;
        }
        if let Some(index) = (0..self.program.blobs.len()).find(|index| !self.used.contains(index)) {
            return Err(self.program.error(format!("no layer has the blob {index}")));
        }
        let generated = self.circuit.finish();
        let products = generated.ledger.total().relinearisations;
        if products > 0 && header.manifest.needs_rlk == Some(false) {
            let message = format!("manifest.needs_rlk is false, and the network has {products} products");
            return Err(self.program.error(message).with_code(Code::Contradiction.name()));
        }
        Ok(Import { generated, inputs, outputs, counts: self.counts, worst_sum: self.worst_sum })
    }

    /// The results of a layer.
    fn layer(
        &mut self,
        node: &Node<'_>,
        operands: &[Vec<Ciphertext>],
    ) -> Result<Vec<Ciphertext>, Diagnostic> {
        let rows = self.program.rows;
        let Some(row) = rows.iter().find(|row| row.name == node.op) else {
            let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
            let message = format!("unknown operation `{}`", diagnostic::one_line(&node.op));
            let help = match diagnostic::nearest(&node.op, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("read are {}, of Orion {}", names.join(", "), super::RELEASE),
            };
            return Err(self.wrong(node, message).with_help(help));
        };
        if operands.len() != row.operands {
            let found = diagnostic::counted(operands.len(), "operand", "operands");
            return Err(self.wrong(node, format!("{found}, expected {}", row.operands)));
        }
        let level = operands.iter().flatten().map(Ciphertext::level).min().unwrap_or(1);
        self.circuit.stage(&*node.name, level);
        let results = (row.run)(self, node, operands)?;
        let counts = [operands.iter().map(Vec::len).max().unwrap_or(0), results.len()];
        self.check_shapes(node, counts)?;
        *self.counts.entry(row.name).or_default() += 1;
        self.ciphertexts += results.len();
        if self.ciphertexts > MOST_ENCRYPTED {
            return Err(self.wrong(node, format!("more than {MOST_ENCRYPTED} results")));
        }
        let q = &self.program.parameters.q[..self.program.residual];
        let mut checked = Vec::new();
        for result in results {
            let scale = result.scale().rounded_to(SCALE_BITS);
            let result = result.with_scale(scale);
            if let Some(room) = overfull(&result, q) {
                let message =
                    format!("the result has the scale {}, above its moduli, 2^{room:.6}", result.scale());
                return Err(self
                    .wrong(node, message)
                    .with_help("levels are used up: compile with more of logq"));
            }
            checked.push(result);
        }
        Ok(checked)
    }

    /// Refuses tensors of more elements than the operands and the results of a layer have slots.
    fn check_shapes(&self, node: &Node<'_>, [operands, results]: [usize; 2]) -> Result<(), Diagnostic> {
        for (key, shape) in node.shape.iter().flatten() {
            let count = if key.ends_with("input") { operands } else { results };
            let slots = count.saturating_mul(self.program.slots()) as u64;
            let elements = shape.iter().try_fold(1_u64, |product, &size| product.checked_mul(size));
            if elements.is_none_or(|elements| elements > slots) {
                let key = diagnostic::one_line(key);
                let message = format!("shape.{key} is {shape:?}, and its ciphertexts have {slots} slots");
                return Err(self.wrong(node, message).with_code(Code::Contradiction.name()));
            }
        }
        Ok(())
    }

    /// Refuses numbers that are beyond the moduli of a level with a scale: they would wrap.
    pub(super) fn room(
        &self,
        node: &Node<'_>,
        key: &str,
        (numbers, level, scale): (impl Iterator<Item = f64>, usize, &Scale),
    ) -> Result<(), Diagnostic> {
        match beyond(numbers, scale, &self.program.parameters.q[..level]) {
            None => Ok(()),
            Some(reason) => Err(self.wrong(node, format!("{key}: {reason}"))),
        }
    }

    /// The scale of the client's messages.
    pub(super) fn default_scale(&self) -> Scale {
        Scale::power_of_two(self.program.header.params.log_default_scale)
    }

    /// An error of a layer.
    pub(super) fn wrong(&self, node: &Node<'_>, message: impl std::fmt::Display) -> Diagnostic {
        let op = diagnostic::one_line(&node.op);
        self.program.error(format!("layer `{}` ({op}): {message}", node.name))
    }

    /// What the circuit gives a layer.
    pub(super) fn checked<T>(&self, node: &Node<'_>, result: Result<T, Error>) -> Result<T, Diagnostic> {
        result.map_err(|error| self.wrong(node, error).with_code(Code::Contradiction.name()))
    }

    /// The settings of a layer.
    pub(super) fn config<'n, T: Deserialize<'n>>(&self, node: &Node<'n>) -> Result<T, Diagnostic> {
        let text = node.config.map_or("{}", |config| config.get());
        serde_json::from_str(text).map_err(|error| {
            let help = format!("the settings of release {} are read", super::RELEASE);
            let reason = diagnostic::reason(&error.to_string());
            self.wrong(node, format!("config: {reason}")).with_help(help)
        })
    }

    /// Refuses numbers of the settings that are beyond the moduli of the highest level of messages.
    pub(super) fn fits(&self, node: &Node<'_>, key: &str, numbers: &[f64]) -> Result<(), Diagnostic> {
        let (level, scale) = (self.program.residual, self.default_scale());
        self.room(node, &format!("config.{key}"), (numbers.iter().copied(), level, &scale))
    }

    /// Refuses the factor 0, after which nothing is left of a message.
    pub(super) fn not_zero(&self, node: &Node<'_>, key: &str, factor: f64) -> Result<(), Diagnostic> {
        match factor == 0.0 {
            false => Ok(()),
            true => Err(self.wrong(node, format!("config.{key} is 0: nothing is left of a message"))),
        }
    }

    /// Refuses blobs of an operation that has none.
    pub(super) fn no_blobs(&self, node: &Node<'_>) -> Result<(), Diagnostic> {
        match node.blob_refs.iter().flatten().next() {
            None => Ok(()),
            Some((name, _)) => {
                let name = diagnostic::one_line(name);
                Err(self.wrong(node, format!("blob_refs: unknown blob `{name}`")))
            }
        }
    }

    /// A blob of a layer.
    pub(super) fn blob(&mut self, node: &Node<'_>, name: &str) -> Result<Option<&'t [u8]>, Diagnostic> {
        let Some(&index) = node.blob_refs.as_ref().and_then(|blobs| blobs.get(name)) else { return Ok(None) };
        let Some(&blob) = self.program.blobs.get(index) else {
            let count = self.program.blobs.len();
            return Err(self.wrong(node, format!("blob_refs.{name}: blob {index} of {count}")));
        };
        self.used.insert(index);
        Ok(Some(blob))
    }
}

/// The name of one of several ciphertexts.
pub(super) fn numbered(name: &str, index: usize, count: usize) -> String {
    if count == 1 { name.to_owned() } else { format!("{name}_{index}") }
}
