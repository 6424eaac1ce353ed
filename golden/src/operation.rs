//! Operations, and their claims.

use crate::error::GoldenError;
use crate::settings::Settings;
use crate::signature::{Kind, Operand, SettingSpec, Signature};
use b512_asm::{Claim, Expression, Setting};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The result for operands of valid number, lengths and words.
type Evaluate = fn(&Settings<'_>, &[&[u128]]) -> Result<Vec<u128>, GoldenError>;

/// An operation of the list [`OPERATIONS`](crate::OPERATIONS).
#[derive(Clone, Copy)]
pub struct Operation {
    signature: &'static Signature,
    evaluate: Evaluate,
}

impl Operation {
    pub(crate) const fn new(signature: &'static Signature, evaluate: Evaluate) -> Self {
        Self { signature, evaluate }
    }

    /// Its name, meaning, operands, results and settings.
    pub const fn signature(self) -> &'static Signature {
        self.signature
    }

    /// The name.
    pub const fn name(self) -> &'static str {
        self.signature.name
    }

    /// The result in one line.
    pub const fn definition(self) -> &'static str {
        self.signature.definition
    }

    /// The operands.
    pub const fn inputs(self) -> &'static [Operand] {
        self.signature.inputs
    }

    /// The results.
    pub const fn outputs(self) -> &'static [Operand] {
        self.signature.outputs
    }

    /// The settings, in the order of claims.
    pub const fn settings(self) -> &'static [SettingSpec] {
        self.signature.settings
    }

    /// The settings that no ring gives, in the order of claims.
    pub fn parameters(self) -> impl Iterator<Item = &'static SettingSpec> {
        self.settings().iter().filter(|setting| setting.kind.is_parameter())
    }

    /// A valid value of each [parameter](Self::parameters), for examples, tests and timing.
    pub fn examples(self) -> Vec<(String, Setting)> {
        let example = |spec: &SettingSpec| Some((spec.name.to_owned(), spec.kind.example()?));
        self.settings().iter().filter_map(example).collect()
    }

    /// Whether the rings of kernels need a root of unity.
    pub const fn needs_root(self) -> bool {
        self.signature.by_transforms
    }

    /// Whether the operation is defined by a root of unity.
    pub fn has_root(self) -> bool {
        self.settings().iter().any(|setting| setting.kind == Kind::Root)
    }

    /// The result for valid operands.
    ///
    /// # Errors
    /// Returns an error if the root is not primitive: this takes too long for the rules of claims.
    pub(crate) fn evaluate(
        self,
        settings: &Settings<'_>,
        inputs: &[&[u128]],
    ) -> Result<Vec<u128>, GoldenError> {
        (self.evaluate)(settings, inputs)
    }

    /// The claim of this operation in a ring, with the default names of its symbols. Operations without a
    /// root omit it. The caller adds the [parameters](Self::parameters).
    pub fn in_ring(self, n: u32, modulus: u128, root: u128) -> Claim {
        let names = |operands: &[Operand]| operands.iter().map(|operand| operand.name.to_owned()).collect();
        let value = |spec: &SettingSpec| {
            let number = match spec.kind {
                Kind::Degree => n.into(),
                Kind::Modulus => modulus,
                Kind::Root => root,
                Kind::Number | Kind::Exponent | Kind::Choice(_) => return None,
            };
            Some((spec.name.to_owned(), Setting::Number(number)))
        };
        Claim {
            outputs: names(self.outputs()),
            expressions: vec![Expression::of_inputs(self.name(), self.inputs().len())],
            inputs: names(self.inputs()),
            settings: self.settings().iter().filter_map(value).collect(),
        }
    }
}

impl PartialEq for Operation {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Operation {}

impl PartialOrd for Operation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Operation {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl Hash for Operation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
