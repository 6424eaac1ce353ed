//! The options of generated programs: rows of one table.

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
}

impl Hoisting {
    /// Whether each giant step rotates the sum of all later ones.
    pub(crate) fn is_nested(self) -> bool {
        matches!(self, Self::Horner | Self::MinKs)
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

/// What follows the gradient in a training.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Momentum {
    /// The step alone.
    #[default]
    None,
    /// Nesterov's: gradients at a point ahead of the weights.
    Nesterov,
}

/// The polynomial in place of the sigmoid in a training.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Sigmoid {
    /// Of degree 3, the least squares for margins up to 8.
    #[default]
    Cubic,
    /// Of degree 59, for margins up to 16.
    Chebyshev,
}

/// The options of programs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of moduli q in use; all by default.
    pub level: Option<usize>,
    /// The order of key switches.
    pub dataflow: Dataflow,
    /// The output limbs of a tile, for dataflows with tiles.
    pub tile: Option<NonZeroUsize>,
    /// The rotations in slots, for programs that rotate. Negative ones go the other way.
    pub rotations: Option<Vec<i64>>,
    /// The rescale of products.
    pub rescale: Option<Rescale>,
    /// The rotations of linear transforms.
    pub hoisting: Option<Hoisting>,
    /// The slots of the message, a power of two; n/2 by default.
    pub slots: Option<usize>,
    /// log2 of q_0 over the scale of messages before the mod-raise of a bootstrap.
    pub message_ratio: Option<u32>,
    /// The order of a bootstrap.
    pub order: Option<Order>,
    /// log2 of the factor of the error that a second bootstrap takes off.
    pub meta_bits: Option<u32>,
    /// Whether ciphertexts between the stages of a program are outputs too.
    pub intermediates: bool,
    /// The layers of a program with layers; by default as many as the moduli allow, in a network all.
    pub layers: Option<usize>,
    /// The iterations of a program that trains.
    pub iterations: Option<usize>,
    /// The iterations between two bootstraps.
    pub between: Option<usize>,
    /// The places of a row of data, a power of two.
    pub features: Option<usize>,
    /// The ciphertexts of data.
    pub blocks: Option<usize>,
    /// The momentum of a training.
    pub momentum: Option<Momentum>,
    /// The sigmoid of a training.
    pub sigmoid: Option<Sigmoid>,
}

impl Default for Options {
    /// The dataflow `oc`, and the defaults of the program.
    fn default() -> Self {
        let dataflow = find_dataflow("oc").expect("a dataflow");
        Self {
            level: None,
            dataflow,
            tile: None,
            rotations: None,
            rescale: None,
            hoisting: None,
            slots: None,
            message_ratio: None,
            order: None,
            meta_bits: None,
            intermediates: false,
            layers: None,
            iterations: None,
            between: None,
            features: None,
            blocks: None,
            momentum: None,
            sigmoid: None,
        }
    }
}

impl Options {
    /// Options with these values, by the names of [`OPTIONS`] and as texts. Names may have `-` in place of `_`.
    ///
    /// # Errors
    /// Returns what is wrong with a name or a text.
    pub fn parse(values: &[(String, String)]) -> Result<Self, String> {
        let mut options = Self::default();
        for (name, text) in values {
            let option = OPTIONS.iter().find(|option| option.name == name.replace('-', "_"));
            option.ok_or_else(|| format!("unknown option `{name}`"))?.set(&mut options, text)?;
        }
        Ok(options)
    }

    /// Options of texts such as `slots=16`.
    ///
    /// # Errors
    /// Returns what is wrong with a text.
    pub fn of_assignments(texts: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let pair = |text: String| {
            let (name, value) = text.split_once('=').ok_or_else(|| format!("`{text}` has no `=`"))?;
            Ok((name.to_owned(), value.to_owned()))
        };
        Self::parse(&texts.into_iter().map(pair).collect::<Result<Vec<_>, String>>()?)
    }
}

/// An option of programs.
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
    /// Whether programs that differ in it have different tasks, which are not comparable. The others are ways to do one task.
    pub changes_results: bool,
    /// Whether every program takes it. The others name it in [`Generator::options`](crate::Generator::options).
    pub is_common: bool,
    /// Whether options have a value of it.
    pub(crate) given: fn(&Options) -> bool,
    set: fn(&mut Options, &str) -> Result<(), String>,
}

/// The values of an option, as text.
#[derive(Clone, Copy)]
pub enum OptionKind {
    /// A number, at least 1.
    Count,
    /// Numbers with commas between them; `1..8` are all from 1 to 8.
    Rotations,
    /// A name, each with its definition.
    Choice(fn() -> Vec<(&'static str, &'static str)>),
}

/// The names of a choice, with their definitions and values.
type Names<T> = [(&'static str, &'static str, T)];

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
];

const ORDERS: &Names<Order> = &[
    ("last", "After EvalMod", Order::SlotToCoeffLast),
    ("first", "Before the mod-raise, modulo few numbers", Order::SlotToCoeffFirst),
];

const MOMENTA: &Names<Momentum> = &[
    ("none", "Gradient descent", Momentum::None),
    ("nesterov", "Gradients at a point ahead of the weights", Momentum::Nesterov),
];

const SIGMOIDS: &Names<Sigmoid> = &[
    ("cubic", "Of degree 3, the least squares for margins up to 8", Sigmoid::Cubic),
    ("chebyshev", "Of degree 59, for margins up to 16", Sigmoid::Chebyshev),
];

const INTERMEDIATES: &Names<bool> = &[
    ("none", "The result is the only output", false),
    (
        "outputs",
        "The ciphertexts raised, real and imaginary, or packed, and reduced of the stages are outputs too, and those that the options add",
        true,
    ),
];

/// The names with their definitions.
fn definitions<T>(names: &Names<T>) -> Vec<(&'static str, &'static str)> {
    names.iter().map(|&(name, definition, _)| (name, definition)).collect()
}

/// The value of a name; `what` is the option, for the error.
fn find<T: Copy>(names: &Names<T>, what: &str, text: &str) -> Result<T, String> {
    let found = names.iter().find(|(name, ..)| *name == text);
    found.map(|&(.., value)| value).ok_or_else(|| format!("unknown {what} `{text}`"))
}

/// All options.
pub const OPTIONS: &[OptionSpec] = &[
    OptionSpec {
        name: "level",
        kind: OptionKind::Count,
        doc: "Number of moduli of the ciphertexts",
        default: "all of the set",
        changes_results: true,
        is_common: true,
        given: |options| options.level.is_some(),
        set: |options, text| count(text).map(|level| options.level = Some(level.get())),
    },
    OptionSpec {
        name: "dataflow",
        kind: OptionKind::Choice(|| DATAFLOWS.iter().map(|flow| (flow.name, flow.definition)).collect()),
        doc: "Order of key switches. Results do not depend on it",
        default: "oc",
        changes_results: false,
        is_common: true,
        given: |_| true,
        set: |options, text| {
            let found = find_dataflow(text).ok_or_else(|| format!("unknown dataflow `{text}`"));
            found.map(|dataflow| options.dataflow = dataflow)
        },
    },
    OptionSpec {
        name: "tile",
        kind: OptionKind::Count,
        doc: "Output limbs of a tile, for a dataflow with tiles",
        default: "the tile of the dataflow",
        changes_results: false,
        is_common: true,
        given: |options| options.tile.is_some(),
        set: |options, text| count(text).map(|tile| options.tile = Some(tile)),
    },
    OptionSpec {
        name: "rotations",
        kind: OptionKind::Rotations,
        doc: "Slots to rotate by, in either direction: one number, or several with commas between them; 1..8 are all from 1 to 8",
        default: "those of the program",
        changes_results: true,
        is_common: false,
        given: |options| options.rotations.is_some(),
        set: |options, text| rotations(text).map(|rotations| options.rotations = Some(rotations)),
    },
    OptionSpec {
        name: "layers",
        kind: OptionKind::Count,
        doc: "Layers of the program",
        default: "as many as the moduli allow, in a network all",
        changes_results: true,
        is_common: false,
        given: |options| options.layers.is_some(),
        set: |options, text| count(text).map(|layers| options.layers = Some(layers.get())),
    },
    OptionSpec {
        name: "iterations",
        kind: OptionKind::Count,
        doc: "Iterations of the program, with a bootstrap between two of them",
        default: "1",
        changes_results: true,
        is_common: false,
        given: |options| options.iterations.is_some(),
        set: |options, text| count(text).map(|iterations| options.iterations = Some(iterations.get())),
    },
    OptionSpec {
        name: "between",
        kind: OptionKind::Count,
        doc: "Iterations between two bootstraps",
        default: "1",
        changes_results: true,
        is_common: false,
        given: |options| options.between.is_some(),
        set: |options, text| count(text).map(|between| options.between = Some(between.get())),
    },
    OptionSpec {
        name: "features",
        kind: OptionKind::Count,
        doc: "Places of a row of data, a power of two",
        default: "16",
        changes_results: true,
        is_common: false,
        given: |options| options.features.is_some(),
        set: |options, text| count(text).map(|features| options.features = Some(features.get())),
    },
    OptionSpec {
        name: "blocks",
        kind: OptionKind::Count,
        doc: "Ciphertexts of data, each of as many rows as it has room for",
        default: "1",
        changes_results: true,
        is_common: false,
        given: |options| options.blocks.is_some(),
        set: |options, text| {
            let blocks = count(text)?.get();
            if blocks > MOST_BLOCKS {
                return Err(format!("`{text}` blocks are too many: the most are {MOST_BLOCKS}"));
            }
            options.blocks = Some(blocks);
            Ok(())
        },
    },
    OptionSpec {
        name: "momentum",
        kind: OptionKind::Choice(|| definitions(MOMENTA)),
        doc: "Momentum of a training",
        default: "none",
        changes_results: true,
        is_common: false,
        given: |options| options.momentum.is_some(),
        set: |options, text| find(MOMENTA, "momentum", text).map(|value| options.momentum = Some(value)),
    },
    OptionSpec {
        name: "sigmoid",
        kind: OptionKind::Choice(|| definitions(SIGMOIDS)),
        doc: "Polynomial in place of the sigmoid in a training",
        default: "cubic",
        changes_results: true,
        is_common: false,
        given: |options| options.sigmoid.is_some(),
        set: |options, text| find(SIGMOIDS, "sigmoid", text).map(|value| options.sigmoid = Some(value)),
    },
    OptionSpec {
        name: "rescale",
        kind: OptionKind::Choice(|| definitions(RESCALES)),
        doc: "Rescale of a product",
        default: "merged, in a bootstrap separate",
        changes_results: false,
        is_common: false,
        given: |options| options.rescale.is_some(),
        set: |options, text| find(RESCALES, "rescale", text).map(|value| options.rescale = Some(value)),
    },
    OptionSpec {
        name: "hoisting",
        kind: OptionKind::Choice(|| definitions(HOISTINGS)),
        doc: "Rotations of linear transforms",
        default: "double",
        changes_results: false,
        is_common: false,
        given: |options| options.hoisting.is_some(),
        set: |options, text| find(HOISTINGS, "hoisting", text).map(|value| options.hoisting = Some(value)),
    },
    OptionSpec {
        name: "slots",
        kind: OptionKind::Count,
        doc: "Slots of the message, a power of two",
        default: "half the ring degree",
        changes_results: true,
        is_common: false,
        given: |options| options.slots.is_some(),
        set: |options, text| count(text).map(|slots| options.slots = Some(slots.get())),
    },
    OptionSpec {
        name: "message_ratio",
        kind: OptionKind::Count,
        doc: "log2 of q_0 over the scale of messages before the mod-raise",
        default: "as in the set",
        changes_results: true,
        is_common: false,
        given: |options| options.message_ratio.is_some(),
        set: |options, text| bits(text).map(|bits| options.message_ratio = Some(bits)),
    },
    OptionSpec {
        name: "slot_to_coeff",
        kind: OptionKind::Choice(|| definitions(ORDERS)),
        doc: "Place of SlotToCoeff in a bootstrap",
        default: "last",
        changes_results: false,
        is_common: false,
        given: |options| options.order.is_some(),
        set: |options, text| {
            find(ORDERS, "place of SlotToCoeff", text).map(|value| options.order = Some(value))
        },
    },
    OptionSpec {
        name: "meta_bits",
        kind: OptionKind::Count,
        doc: "A second bootstrap, of the first one's error times 2^B, is taken off its result",
        default: "one bootstrap",
        changes_results: true,
        is_common: false,
        given: |options| options.meta_bits.is_some(),
        set: |options, text| bits(text).map(|bits| options.meta_bits = Some(bits)),
    },
    OptionSpec {
        name: "intermediates",
        kind: OptionKind::Choice(|| definitions(INTERMEDIATES)),
        doc: "Ciphertexts between the stages of the program",
        default: "none",
        changes_results: true,
        is_common: false,
        given: |options| options.intermediates,
        set: |options, text| {
            find(INTERMEDIATES, "intermediates", text).map(|value| options.intermediates = value)
        },
    },
];

impl OptionSpec {
    /// Sets its value.
    ///
    /// # Errors
    /// Returns what is wrong with the text.
    pub fn set(&self, options: &mut Options, text: &str) -> Result<(), String> {
        (self.set)(options, text)
    }
}

impl std::fmt::Debug for OptionSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

fn count(text: &str) -> Result<NonZeroUsize, String> {
    let number = diagnostic::number(text.as_bytes()).ok().and_then(|number| usize::try_from(number).ok());
    number.and_then(NonZeroUsize::new).ok_or_else(|| format!("`{text}` is not a number of at least 1"))
}

/// The most ciphertexts of data: each takes lines of its own.
const MOST_BLOCKS: usize = 1 << 12;

/// The most bits of a factor of messages: they have at most as many themselves.
const MOST_BITS: usize = 60;

fn bits(text: &str) -> Result<u32, String> {
    let bits = count(text)?.get();
    let most = format!("`{bits}` is more than {MOST_BITS} bits");
    if bits > MOST_BITS { Err(most) } else { Ok(bits as u32) }
}

/// The most rotations of one range, so that a mistake does not fill the memory.
const LONGEST_RANGE: u64 = 1 << 17;

/// Distinct rotations of the slots of a degree, by the first number given for each; and each further number with the one that it
/// repeats. Of 512 slots, -1 is 511: one Galois element, one key and one result.
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
        if last < first || last.abs_diff(first) >= LONGEST_RANGE {
            return Err(format!(
                "invalid range {first}..{last}: not 1 to {LONGEST_RANGE} numbers in ascending order"
            ));
        }
        rotations.extend(first..=last);
    }
    Ok(rotations)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rotations_are_one() {
        let degree = Degree::new(1024).unwrap();
        let (distinct, repeated) = distinct_rotations(&[511, -1, 1, 1, 256, -256, -511, 300], degree);
        assert_eq!(distinct, [511, 1, 256, 300]);
        assert_eq!(repeated, [(-1, 511), (1, 1), (-256, 256), (-511, 1)]);
        assert_eq!(distinct_rotations(&[3, 2], degree), (vec![3, 2], vec![]));
    }
}
