//! Names, operands and settings of operations.

use b512_asm::Setting;

/// The name, meaning, operands, results and settings of an operation.
///
/// All operands and results are vectors of n residues of one modulus, where n is the setting of kind
/// [`Kind::Degree`] and the modulus that of kind [`Kind::Modulus`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The name in claims and on the command line, and of the operation's file in each layer.
    pub name: &'static str,
    /// The result in one line, over Z_q\[x\]/(x^n + 1).
    pub definition: &'static str,
    /// The operands.
    pub inputs: &'static [Operand],
    /// The results.
    pub outputs: &'static [Operand],
    /// The settings, in the order in which claims give them. All are required.
    pub settings: &'static [SettingSpec],
    /// Whether kernels compute the result by transforms. It need not depend on their root: a product does
    /// not.
    pub by_transforms: bool,
}

/// An operand or a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The default name of its symbol.
    pub name: &'static str,
    /// The words that an operand may have; results are always [`Range::Residue`].
    pub range: Range,
}

impl Operand {
    /// An operand or a result whose words are residues.
    pub const fn residues(name: &'static str) -> Self {
        Self { name, range: Range::Residue }
    }

    /// An operand whose words may be any words. They stand for their residues.
    pub const fn words(name: &'static str) -> Self {
        Self { name, range: Range::Word }
    }
}

/// The words that an operand may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// Words below the modulus.
    Residue,
    /// Any words. A machine accepts them as multiplicands if its key `law.operands` is `word`.
    Word,
}

impl Range {
    /// The display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Residue => "residue",
            Self::Word => "word",
        }
    }
}

/// A setting of an operation. Every setting is required.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SettingSpec {
    /// The name in claims.
    pub name: &'static str,
    /// The values that it takes.
    pub kind: Kind,
    /// The meaning in a few words.
    pub doc: &'static str,
}

/// The values of a setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The degree n of the ring: a power of two, at least 2 and at most the words of the largest
    /// memory.
    Degree,
    /// The modulus q of the ring: odd, at least 3. If the operation has a root, it is 1 mod 2n.
    Modulus,
    /// A root of unity: between 0 and the modulus.
    Root,
    /// Any number of 128 bits.
    Number,
    /// The exponent of an automorphism: odd and below 2n.
    Exponent,
    /// One of these words.
    Choice(&'static [&'static str]),
}

impl Kind {
    /// Whether the setting is a parameter of the operation: a value that no ring gives.
    pub const fn is_parameter(self) -> bool {
        match self {
            Self::Degree | Self::Modulus | Self::Root => false,
            Self::Number | Self::Exponent | Self::Choice(_) => true,
        }
    }

    /// The display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Degree => "degree",
            Self::Modulus => "modulus",
            Self::Root => "root of unity",
            Self::Number | Self::Exponent => "number",
            Self::Choice(_) => "word",
        }
    }

    /// The valid values, in words.
    pub fn range(self) -> String {
        match self {
            Self::Degree => "a power of two, at least 2".to_owned(),
            Self::Modulus => "odd, at least 3".to_owned(),
            Self::Root => "between 0 and the modulus".to_owned(),
            Self::Number => "0 to 2^128 - 1".to_owned(),
            Self::Exponent => "odd, below 2n".to_owned(),
            Self::Choice(words) => listed(words),
        }
    }

    /// A valid value of a parameter in every ring, for examples, tests and timing; `None` for what a ring
    /// gives.
    pub fn example(self) -> Option<Setting> {
        match self {
            Self::Degree | Self::Modulus | Self::Root => None,
            Self::Number => Some(Setting::Number(u128::MAX / 3)),
            Self::Exponent => Some(Setting::Number(3)),
            Self::Choice(words) => Some(Setting::Word((*words.first()?).to_owned())),
        }
    }
}

/// Words in backquotes, with `or` before the last.
pub(crate) fn listed(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ")
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
    /// `by`.
    pub(crate) const BY: SettingSpec =
        SettingSpec { name: "by", kind: Kind::Number, doc: "scalar k, reduced modulo q" };

    /// An operation without a transform.
    pub(crate) const RING: &[SettingSpec] = &[N, MODULUS];
    /// An operation that is defined by a root of unity.
    pub(crate) const TRANSFORM: &[SettingSpec] = &[N, MODULUS, ROOT];
    /// An operation on a vector and a scalar.
    pub(crate) const SCALAR: &[SettingSpec] = &[N, MODULUS, BY];
}
