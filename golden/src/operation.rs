//! What an operation is: its names, operands, settings and result.

use crate::claim::Settings;
use crate::evaluate::evaluate;
use crate::ops::OPERATIONS;
use crate::{ClaimFault, GoldenError};
use b512_asm::{Claim, Setting};
use diagnostic::nearest;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::str::FromStr;
use thiserror::Error;

/// The meaning of an operation.
///
/// All operands and results are vectors of n residues, where n is the setting of the kind
/// [`Kind::Degree`].
pub trait Definition: Sync {
    /// The name in claims and on the command line; also the name of its file in each layer.
    fn name(&self) -> &'static str;

    /// The result in one line, over Z_q\[x\]/(x^n + 1).
    fn definition(&self) -> &'static str;

    /// The operands.
    fn inputs(&self) -> &'static [Operand];

    /// The results.
    fn outputs(&self) -> &'static [Operand];

    /// The settings, in the order in which claims give them. All are required.
    fn settings(&self) -> &'static [SettingSpec];

    /// Checks rules beyond those of each setting's [`Kind`].
    ///
    /// # Errors
    /// Returns the faults if the settings define no result.
    fn check(&self, settings: &Settings<'_>) -> Result<(), Vec<ClaimFault>> {
        let _ = settings;
        Ok(())
    }

    /// The results for operands that have been checked: their number and lengths are right, and
    /// every word is below the modulus of its operand.
    ///
    /// # Errors
    /// Returns an error if the settings define no result although [`check`](Self::check) accepts
    /// them: rules that are expensive to check belong here.
    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError>;
}

/// An operand or a result: one vector, or one for each modulus of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The default name of its symbol; one of several has its number appended.
    pub name: &'static str,
    /// The setting with its modulus. If the setting is a list ([`Kind::Moduli`]), there is an
    /// operand for each number of the list.
    pub modulus: &'static str,
}

/// A setting of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SettingSpec {
    /// The name in claims.
    pub name: &'static str,
    /// The values that it can have.
    pub kind: Kind,
    /// The meaning in a few words.
    pub doc: &'static str,
}

/// The values that a setting can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The degree of the ring: a power of two, at least 2 and at most the words of the largest
    /// memory.
    Degree,
    /// A modulus: odd, at least 3.
    Modulus,
    /// A list of moduli, at least one.
    Moduli,
    /// A root of unity: between 0 and the modulus.
    Root,
    /// Any number.
    Number,
    /// A list of numbers.
    Numbers,
    /// A word.
    Word,
}

impl Kind {
    /// The name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Degree => "degree",
            Self::Modulus => "modulus",
            Self::Moduli => "list of moduli",
            Self::Root => "root of unity",
            Self::Number => "number",
            Self::Numbers => "list of numbers",
            Self::Word => "word",
        }
    }
}

/// The settings that most operations share.
pub(crate) mod settings {
    use super::{Kind, SettingSpec};

    /// `n`.
    pub(crate) const N: SettingSpec =
        SettingSpec { name: "n", kind: Kind::Degree, doc: "degree of the ring" };
    /// `modulus`.
    pub(crate) const MODULUS: SettingSpec =
        SettingSpec { name: "modulus", kind: Kind::Modulus, doc: "modulus q of the ring" };
    /// `root`.
    pub(crate) const ROOT: SettingSpec =
        SettingSpec { name: "root", kind: Kind::Root, doc: "psi, a primitive 2n-th root of unity modulo q" };

    /// An operation in one ring, without a transform.
    pub(crate) const RING: &[SettingSpec] = &[N, MODULUS];
    /// An operation in one ring that is defined by a root of unity.
    pub(crate) const TRANSFORM: &[SettingSpec] = &[N, MODULUS, ROOT];
}

/// An operation of the list [`OPERATIONS`].
#[derive(Clone, Copy)]
pub struct Operation(&'static dyn Definition);

impl Operation {
    pub(crate) const fn new(definition: &'static dyn Definition) -> Self {
        Self(definition)
    }

    /// Whether the operation is defined by a root of unity.
    pub fn has_root(self) -> bool {
        self.settings().iter().any(|setting| setting.kind == Kind::Root)
    }

    /// The result in one ring, of an operation whose settings are those of [`Self::in_ring`].
    ///
    /// # Errors
    /// As [`evaluate`].
    pub fn result(
        self,
        inputs: &[&[u128]],
        n: usize,
        modulus: u128,
        root: u128,
    ) -> Result<Vec<u128>, GoldenError> {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        evaluate(&self.in_ring(n, modulus, root), inputs).map(|results| results.concat())
    }

    /// The claim of this operation in one ring, with the default names of its symbols. A list of
    /// moduli has `modulus` only; a root is left out by operations without one. Settings of other
    /// kinds are for the caller to add.
    pub fn in_ring(self, n: u32, modulus: u128, root: u128) -> Claim {
        let names = |operands: &[Operand]| {
            let is_list = |name| {
                self.settings().iter().any(|setting| setting.name == name && setting.kind == Kind::Moduli)
            };
            let name = |operand: &Operand| match is_list(operand.modulus) {
                true => format!("{}0", operand.name),
                false => operand.name.to_owned(),
            };
            operands.iter().map(name).collect()
        };
        let value = |setting: &SettingSpec| {
            let value = match setting.kind {
                Kind::Degree => Setting::Number(n.into()),
                Kind::Modulus => Setting::Number(modulus),
                Kind::Moduli => Setting::Numbers(vec![modulus]),
                Kind::Root => Setting::Number(root),
                Kind::Number | Kind::Numbers | Kind::Word => return None,
            };
            Some((setting.name.to_owned(), value))
        };
        Claim {
            outputs: names(self.outputs()),
            operation: self.name().to_owned(),
            inputs: names(self.inputs()),
            settings: self.settings().iter().filter_map(value).collect(),
        }
    }
}

impl Deref for Operation {
    type Target = dyn Definition;

    fn deref(&self) -> &Self::Target {
        self.0
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

/// The operation of that name.
pub fn find(name: &str) -> Option<Operation> {
    OPERATIONS.iter().copied().find(|operation| operation.name() == name)
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, UnknownOperation> {
        find(name).ok_or_else(|| UnknownOperation { name: name.to_owned() })
    }
}

/// A name that no operation has.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("unknown operation `{name}`; {}", self.help())]
pub struct UnknownOperation {
    /// The name.
    pub name: String,
}

impl UnknownOperation {
    /// The operation that was probably meant, or else all of them.
    pub fn help(&self) -> String {
        let names = || OPERATIONS.iter().map(|operation| operation.name());
        match nearest(&self.name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the operations are {}", names().collect::<Vec<_>>().join(", ")),
        }
    }
}
