//! Options of generators: each has a table of its own, of rows that are here or of its own ones.

use crate::dataflow::{DATAFLOWS, Dataflow, find_dataflow};
use ring::Degree;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZeroUsize;

/// When a product is divided by its last modulus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rescale {
    /// Together with the special moduli, in the mod-down of the key switch.
    #[default]
    Merged,
    /// After the key switch. The product before it is an output too.
    Separate,
    /// Not at all.
    None,
}

/// How the rotations of a linear transform share work and keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Hoisting {
    /// Digits are raised once for all baby steps, and sums over giant steps are divided by P once.
    #[default]
    Double,
    /// Digits are raised once for all baby steps.
    Single,
    /// Each rotation by itself.
    None,
    /// As [`Double`](Self::Double), with giant steps inside each other: one key for those of a matrix.
    Horner,
    /// Baby steps one after the other, giant steps inside each other: two keys for a matrix.
    MinKs,
    /// As [`MinKs`](Self::MinKs), with compact key switches in giant steps: the first component stays modulo
    /// Q and P, and is divided by P once.
    Compact,
}

impl Hoisting {
    /// Whether each giant step rotates the sum of all later ones.
    pub(crate) fn is_nested(self) -> bool {
        matches!(self, Self::Horner | Self::MinKs | Self::Compact)
    }

    /// Whether sums stay modulo Q and P.
    pub(crate) fn is_extended(self) -> bool {
        matches!(self, Self::Double | Self::Horner)
    }
}

/// When a bootstrap takes slots to coefficients.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// After EvalMod.
    #[default]
    SlotToCoeffLast,
    /// Before the mod-raise, modulo few numbers. EvalMod works on the slots of the message.
    SlotToCoeffFirst,
}

/// The values that are given for some options, by name. Names have `_`, and are read with `-` too.
///
/// A generator gets values that its table allows. Before that, a getter treats a value that its option does
/// not allow as none.
///
/// ```
/// use programs::{Hoisting, Options};
///
/// let options = Options::of([("hoisting", "min-ks"), ("slot-to-coeff", "first")]);
/// assert_eq!(options.hoisting(), Some(Hoisting::MinKs));
/// assert_eq!(options.text("slot_to_coeff"), Some("first"));
/// assert_eq!(options.count("slots"), None);
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Options(BTreeMap<String, String>);

impl Options {
    /// Options with these values. Of two for one name, the later one holds.
    pub fn of<N: AsRef<str>, V: Into<String>>(values: impl IntoIterator<Item = (N, V)>) -> Self {
        let mut options = Self::default();
        values.into_iter().for_each(|(name, value)| options.set(name.as_ref(), value));
        options
    }

    /// Options of texts such as `slots=16`.
    ///
    /// # Errors
    /// Returns a text without `=`.
    pub fn of_assignments(texts: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        for text in texts {
            let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`"))?;
            options.set(name, value);
        }
        Ok(options)
    }

    /// Sets a value.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.replace('-', "_"), value.into());
    }

    /// The same with another value.
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.set(name, value);
        self
    }

    /// All names and values, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The value of an option as text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value of an option of the kind [`OptionKind::Count`], [`OptionKind::CountTo`] or
    /// [`OptionKind::Bits`].
    pub fn count(&self, name: &str) -> Option<usize> {
        self.text(name).and_then(|text| count(text).ok()).map(NonZeroUsize::get)
    }

    /// The value of an option of the kind [`OptionKind::Rotations`].
    pub fn rotations(&self, name: &str) -> Option<Vec<i64>> {
        self.text(name).and_then(|text| rotations(text).ok())
    }

    /// The value of an option of the kind [`OptionKind::Choice`] in a table of names, definitions and values.
    pub fn choice<T: Copy>(&self, name: &str, names: &[(&str, &str, T)]) -> Option<T> {
        let text = self.text(name)?;
        names.iter().find(|(known, ..)| *known == text).map(|&(.., value)| value)
    }

    /// The level of ciphertexts; the highest by default.
    pub fn level(&self) -> Option<usize> {
        self.count(LEVEL.name)
    }

    /// The order of key switches, `oc` by default.
    pub fn dataflow(&self) -> Dataflow {
        let found = self.text(DATAFLOW.name).and_then(find_dataflow);
        found.unwrap_or_default()
    }

    /// The output limbs of a tile, for dataflows with tiles.
    pub fn tile(&self) -> Option<NonZeroUsize> {
        self.count(TILE.name).and_then(NonZeroUsize::new)
    }

    /// The rescale of products.
    pub fn rescale(&self) -> Option<Rescale> {
        self.choice(RESCALE.name, RESCALES)
    }

    /// The rotations of linear transforms.
    pub fn hoisting(&self) -> Option<Hoisting> {
        self.choice(HOISTING.name, HOISTINGS)
    }

    /// The slots of the message, a power of two; n/2 by default.
    pub fn slots(&self) -> Option<usize> {
        self.count(SLOTS.name)
    }

    /// log2 of q_0 over the scale of messages before the mod-raise of a bootstrap.
    pub fn message_ratio(&self) -> Option<u32> {
        self.count(MESSAGE_RATIO.name).map(|bits| bits as u32)
    }

    /// The order of a bootstrap.
    pub fn order(&self) -> Option<Order> {
        self.choice(SLOT_TO_COEFF.name, ORDERS)
    }

    /// log2 of the factor of the error that a second bootstrap takes off.
    pub fn meta_bits(&self) -> Option<u32> {
        self.count(META_BITS.name).map(|bits| bits as u32)
    }

    /// Whether ciphertexts between the stages of a program are outputs too.
    pub fn intermediates(&self) -> bool {
        self.choice(INTERMEDIATE.name, INTERMEDIATES).unwrap_or_default()
    }
}

/// An option of programs: a row of a generator's table.
#[derive(Clone, Copy)]
pub struct OptionSpec {
    /// The name in sweeps, with `_`; a flag has `-` in its place.
    pub name: &'static str,
    /// The values.
    pub kind: OptionKind,
    /// The meaning in one line.
    pub doc: &'static str,
    /// What holds without it.
    pub default: &'static str,
    /// Whether programs that differ in it have different tasks, which are not comparable. Others are ways to
    /// do one task.
    pub identifies: bool,
}

/// The values of an option, as text.
#[derive(Clone, Copy)]
pub enum OptionKind {
    /// A number, at least 1.
    Count,
    /// A number from 1 to this one.
    CountTo(usize),
    /// A number of bits, from 1 to 60.
    Bits,
    /// Numbers with commas between them; `1..8` are all from 1 to 8.
    Rotations,
    /// A name, each with its definition.
    Choice(fn() -> Vec<(&'static str, &'static str)>),
}

impl OptionSpec {
    /// Checks a value.
    ///
    /// # Errors
    /// Returns what is wrong with the text.
    pub fn check(&self, text: &str) -> Result<(), String> {
        match self.kind {
            OptionKind::Count => count(text).map(drop),
            OptionKind::CountTo(most) if count(text)?.get() > most => {
                Err(format!("`{text}` {} are too many: the most are {most}", self.name))
            }
            OptionKind::CountTo(_) => Ok(()),
            OptionKind::Bits => bits(text),
            OptionKind::Rotations => rotations(text).map(drop),
            OptionKind::Choice(names) => {
                let names = names();
                if names.iter().any(|(name, _)| *name == text) {
                    return Ok(());
                }
                let names: Vec<&str> = names.into_iter().map(|(name, _)| name).collect();
                Err(format!("`{text}` is no `{}`: there are {}", self.name, names.join(", ")))
            }
        }
    }
}

impl std::fmt::Debug for OptionSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The names of a choice, with their definitions and values.
pub(crate) type Names<T> = [(&'static str, &'static str, T)];

/// The names with their definitions.
pub(crate) fn definitions<T>(names: &Names<T>) -> Vec<(&'static str, &'static str)> {
    names.iter().map(|&(name, definition, _)| (name, definition)).collect()
}

const RESCALES: &Names<Rescale> = &[
    ("merged", "Together with the key switch's special moduli", Rescale::Merged),
    ("separate", "After the key switch; the product before it is an output too", Rescale::Separate),
    ("none", "None", Rescale::None),
];

const HOISTINGS: &Names<Hoisting> = &[
    ("double", "Digits are raised once for all baby steps, and sums are divided by P once", Hoisting::Double),
    ("single", "Digits are raised once for all baby steps", Hoisting::Single),
    ("none", "Each rotation by itself", Hoisting::None),
    (
        "horner",
        "As double, with giant steps inside each other: one key for those of a matrix",
        Hoisting::Horner,
    ),
    (
        "min-ks",
        "Baby steps one after the other, giant steps inside each other: two keys for a matrix",
        Hoisting::MinKs,
    ),
    (
        "compact",
        "As min-ks, with the first component of giant steps modulo Q and P, divided by P once",
        Hoisting::Compact,
    ),
];

const ORDERS: &Names<Order> = &[
    ("last", "After EvalMod", Order::SlotToCoeffLast),
    ("first", "Before the mod-raise, modulo few numbers", Order::SlotToCoeffFirst),
];

const INTERMEDIATES: &Names<bool> = &[
    ("none", "The result is the only output", false),
    (
        "outputs",
        "The ciphertexts raised, real and imaginary, or packed, and reduced of the stages are outputs too, and those that the options add",
        true,
    ),
];

/// The options that every program takes.
pub const COMMON: &[&OptionSpec] = &[&LEVEL, &DATAFLOW, &TILE];

/// The level of the program.
pub const LEVEL: OptionSpec = OptionSpec {
    name: "level",
    kind: OptionKind::Count,
    doc: "Level of the ciphertexts: the number of their moduli, unless the set states its levels",
    default: "the highest",
    identifies: true,
};

/// The order of key switches.
pub const DATAFLOW: OptionSpec = OptionSpec {
    name: "dataflow",
    kind: OptionKind::Choice(|| DATAFLOWS.iter().map(|flow| (flow.name, flow.definition)).collect()),
    doc: "Order of key switches. Results do not depend on it",
    default: "oc",
    identifies: false,
};

/// The tiles of a dataflow.
pub const TILE: OptionSpec = OptionSpec {
    name: "tile",
    kind: OptionKind::Count,
    doc: "Output limbs of a tile, for a dataflow with tiles",
    default: "the tile of the dataflow",
    identifies: false,
};

/// Rotations in slots.
pub const ROTATIONS: OptionSpec = OptionSpec {
    name: "rotations",
    kind: OptionKind::Rotations,
    doc: "Slots to rotate by, in either direction: one number, or several with commas between them; 1..8 are all from 1 to 8. At most 1024",
    default: "those of the program",
    identifies: true,
};

/// The layers of a program.
pub const LAYERS: OptionSpec = OptionSpec {
    name: "layers",
    kind: OptionKind::Count,
    doc: "Layers of the program",
    default: "as many as the moduli allow, in a network all",
    identifies: true,
};

/// The rescale of products.
pub const RESCALE: OptionSpec = OptionSpec {
    name: "rescale",
    kind: OptionKind::Choice(|| definitions(RESCALES)),
    doc: "Rescale of a product",
    default: "merged, in a bootstrap separate",
    identifies: false,
};

/// The rotations of linear transforms.
pub const HOISTING: OptionSpec = OptionSpec {
    name: "hoisting",
    kind: OptionKind::Choice(|| definitions(HOISTINGS)),
    doc: "Rotations of linear transforms",
    default: "double",
    identifies: false,
};

/// The slots of a message.
pub const SLOTS: OptionSpec = OptionSpec {
    name: "slots",
    kind: OptionKind::Count,
    doc: "Slots of the message, a power of two",
    default: "half the ring degree",
    identifies: true,
};

/// The message ratio of a bootstrap.
pub const MESSAGE_RATIO: OptionSpec = OptionSpec {
    name: "message_ratio",
    kind: OptionKind::Bits,
    doc: "log2 of q_0 over the scale of messages before the mod-raise",
    default: "as in the set",
    identifies: true,
};

/// The order of a bootstrap.
pub const SLOT_TO_COEFF: OptionSpec = OptionSpec {
    name: "slot_to_coeff",
    kind: OptionKind::Choice(|| definitions(ORDERS)),
    doc: "Place of SlotToCoeff in a bootstrap",
    default: "last",
    identifies: false,
};

/// The second bootstrap of the error of the first.
pub const META_BITS: OptionSpec = OptionSpec {
    name: "meta_bits",
    kind: OptionKind::Bits,
    doc: "A second bootstrap, of the first one's error times 2^B, is taken off its result",
    default: "one bootstrap",
    identifies: true,
};

/// The levels after a bootstrap.
pub const LEVELS_OUT: OptionSpec = OptionSpec {
    name: "levels_out",
    kind: OptionKind::Count,
    doc: "Levels that a bootstrap leaves. The set's other moduli of messages are not in the program",
    default: "all that the set has",
    identifies: true,
};

/// Further outputs.
pub const INTERMEDIATE: OptionSpec = OptionSpec {
    name: "intermediates",
    kind: OptionKind::Choice(|| definitions(INTERMEDIATES)),
    doc: "Ciphertexts between the stages of the program",
    default: "none",
    identifies: true,
};

fn count(text: &str) -> Result<NonZeroUsize, String> {
    let number = diagnostic::number(text.as_bytes()).ok().and_then(|number| usize::try_from(number).ok());
    number.and_then(NonZeroUsize::new).ok_or_else(|| format!("`{text}` is not a number of at least 1"))
}

/// The most bits of a factor of messages: they have at most as many themselves.
const MOST_BITS: usize = 60;

fn bits(text: &str) -> Result<(), String> {
    let bits = count(text)?.get();
    if bits > MOST_BITS { Err(format!("`{bits}` is more than {MOST_BITS} bits")) } else { Ok(()) }
}

/// The most rotations: each takes lines of its own.
const MOST_ROTATIONS: usize = 1 << 10;

/// Distinct rotations of the slots of a degree, by the first number given for each; and each further number
/// with the one that it repeats. Of 512 slots, -1 is 511: one Galois element, one key and one result.
pub fn distinct_rotations(given: &[i64], degree: Degree) -> (Vec<i64>, Vec<(i64, i64)>) {
    let slots = (degree.get() / 2).max(1) as i64;
    let (mut distinct, mut repeated, mut known) = (Vec::new(), Vec::new(), BTreeMap::new());
    for &rotation in given {
        match known.entry(rotation.rem_euclid(slots)) {
            Entry::Occupied(first) => repeated.push((rotation, *first.get())),
            Entry::Vacant(place) => distinct.push(*place.insert(rotation)),
        }
    }
    (distinct, repeated)
}

/// Parses slots to rotate by: numbers, or the first and the last of a range with `..` between them.
fn rotations(text: &str) -> Result<Vec<i64>, String> {
    let number = |text: &str| {
        let (digits, sign) = text.trim().strip_prefix('-').map_or((text.trim(), 1), |digits| (digits, -1));
        let number = diagnostic::number(digits.as_bytes()).ok().and_then(|number| i64::try_from(number).ok());
        number
            .map(|number| sign * number)
            .ok_or_else(|| format!("`{text}` is not a number; a range is written as 1..8"))
    };
    let mut rotations = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once("..").unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first || last.abs_diff(first) >= MOST_ROTATIONS as u64 {
            return Err(format!(
                "invalid range {first}..{last}: not 1 to {MOST_ROTATIONS} numbers in ascending order"
            ));
        }
        rotations.extend(first..=last);
        if rotations.len() > MOST_ROTATIONS {
            return Err(format!("more than {MOST_ROTATIONS} rotations"));
        }
    }
    Ok(rotations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_limited() {
        let (repeated, range) = (["1"; MOST_ROTATIONS].join(","), format!("1..{MOST_ROTATIONS}"));
        for text in [&repeated, &range] {
            assert_eq!(rotations(text).unwrap().len(), MOST_ROTATIONS);
            assert_eq!(rotations(&format!("{text},5")).unwrap_err(), "more than 1024 rotations");
        }
        assert!(rotations(&format!("0..{MOST_ROTATIONS}")).unwrap_err().starts_with("invalid range"));
    }

    #[test]
    fn equal_rotations_are_one() {
        let degree = Degree::new(1024).unwrap();
        let (distinct, repeated) = distinct_rotations(&[511, -1, 1, 1, 256, -256, -511, 300], degree);
        assert_eq!(distinct, [511, 1, 256, 300]);
        assert_eq!(repeated, [(-1, 511), (1, 1), (-256, 256), (-511, 1)]);
        assert_eq!(distinct_rotations(&[3, 2], degree), (vec![3, 2], vec![]));
    }
}
