//! Names, operands and settings of operations.

/// The name, operands, results and settings of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Signature {
    /// The name in claims.
    pub name: &'static str,
    /// The operands.
    pub inputs: &'static [Operand],
    /// The results.
    pub outputs: &'static [Operand],
    /// The settings, in the order in which claims give them.
    pub settings: &'static [SettingSpec],
}

/// An operand or a result: one vector, several of one modulus, or one for each modulus of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The default name of its symbol; one of several has its number appended.
    pub name: &'static str,
    /// The setting with its modulus. If the setting is a list ([`Kind::Moduli`]), there is one
    /// operand for each number of the list.
    pub modulus: &'static str,
    /// The words that an operand may have; results are always [`Range::Residue`].
    pub range: Range,
    /// The setting with the number of vectors, if there may be several of one modulus. It is a
    /// [`Kind::Number`].
    pub count: Option<&'static str>,
}

impl Operand {
    /// An operand or a result whose words are residues modulo the setting `modulus`.
    pub const fn residues(name: &'static str, modulus: &'static str) -> Self {
        Self { name, modulus, range: Range::Residue, count: None }
    }

    /// An operand whose words may be any words. They stand for their residues modulo the setting
    /// `modulus`.
    pub const fn words(name: &'static str, modulus: &'static str) -> Self {
        Self { name, modulus, range: Range::Word, count: None }
    }

    /// As many such operands as the setting `count` says.
    #[must_use]
    pub const fn times(self, count: &'static str) -> Self {
        Self { count: Some(count), ..self }
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

/// A setting of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SettingSpec {
    /// The name in claims.
    pub name: &'static str,
    /// The valid values.
    pub kind: Kind,
    /// The meaning in a few words.
    pub doc: &'static str,
}

/// The kind of a setting's values.
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
    /// A list of roots of unity, one for each modulus of that setting.
    Roots(&'static str),
    /// Any number.
    Number,
    /// A list of numbers.
    Numbers,
    /// A word.
    Word,
}

impl Kind {
    /// Whether the setting is a parameter of the operation: a value that no ring gives.
    pub const fn is_parameter(self) -> bool {
        match self {
            Self::Degree | Self::Modulus | Self::Moduli | Self::Root | Self::Roots(_) => false,
            Self::Number | Self::Numbers | Self::Word => true,
        }
    }

    /// The display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Degree => "degree",
            Self::Modulus => "modulus",
            Self::Moduli => "list of moduli",
            Self::Root => "root of unity",
            Self::Roots(_) => "list of roots of unity",
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

    /// `by`.
    pub(crate) const BY: SettingSpec =
        SettingSpec { name: "by", kind: Kind::Number, doc: "scalar k, reduced modulo q" };

    /// `last`.
    pub(crate) const LAST: SettingSpec =
        SettingSpec { name: "last", kind: Kind::Modulus, doc: "modulus s that is divided by" };
    /// `last_root`.
    pub(crate) const LAST_ROOT: SettingSpec = SettingSpec {
        name: "last_root",
        kind: Kind::Roots("last"),
        doc: "list of one primitive 2n-th root of unity modulo s",
    };

    /// An operation in one ring, without a transform.
    pub(crate) const RING: &[SettingSpec] = &[N, MODULUS];
    /// An operation in one ring that is defined by a root of unity.
    pub(crate) const TRANSFORM: &[SettingSpec] = &[N, MODULUS, ROOT];
    /// An operation in one ring on a vector and a scalar.
    pub(crate) const SCALAR: &[SettingSpec] = &[N, MODULUS, BY];
}
