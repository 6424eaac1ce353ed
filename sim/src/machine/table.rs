//! The form of the key table: the macros that expand it, and the data of each key.

use super::{Machine, Values};
use serde_json::json;
use std::ops::RangeInclusive;
use toml::Value;

/// A key of a machine: one row of the table.
#[derive(Clone, Debug)]
pub struct Key {
    /// The dotted path, from the root of the machine.
    pub path: &'static str,
    /// The lines of its documentation.
    pub doc: &'static [&'static str],
    /// The values that it accepts.
    pub kind: Kind,
    /// Its value in the paper's machine; `None` for a key of a technology file.
    pub built_in: Option<BuiltIn>,
    /// The quantities that depend on it.
    pub effects: &'static [Effect],
    /// The direction in which the key never costs cycles, VRF port conflicts aside; `None` if unknown.
    pub faster: Option<Faster>,
    /// How recipes of programs depend on it; `None` if the fastest one seldom does.
    pub recipes: Option<Recipes>,
    /// The cost of its values; `None` for a key of a technology file.
    pub cost: Option<Cost>,
    /// Its value among all values.
    pub(super) get: fn(&Values) -> Value,
    /// Sets its value. A value of another type is an error.
    pub(super) set: fn(&mut Values, Value) -> Result<(), toml::de::Error>,
}

/// A quantity that a key can change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Effect {
    /// The cycles of a program.
    Cycles,
    /// The instructions of which programs are generated.
    Program,
    /// The stages of the crossbars, where these follow from the machine; and by them the cycles of a program.
    Stages,
    /// The clock of the machine.
    Clock,
    /// The area of the machine.
    Area,
    /// The energy of a program.
    Energy,
    /// The transfers of a stream of runs.
    Stream,
}

/// The value with fewer cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Faster {
    /// The smaller number.
    Smaller,
    /// The larger number, `true`, or the text with the larger [number](Kind::number).
    Larger,
}

/// How recipes of programs depend on a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recipes {
    /// The key's name in the files of a library of recipes.
    pub name: &'static str,
    /// How unlike two values are.
    pub distance: Distance,
}

/// How unlike two values of a key are to recipes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distance {
    /// So much for each doubling.
    Doublings(u32),
    /// So much for each doubling of the ratio to the key with that path.
    DoublingsPer(&'static str, u32),
    /// So much for each unit, for 16 units at most.
    Units(u32),
    /// So much for another value.
    Another(u32),
}

/// The cost of a key's values in clock, area and energy.
#[derive(Clone, PartialEq, Debug)]
pub struct Cost {
    /// The model of the costs that it has; may be empty.
    pub model: &'static str,
    /// The reason why it has no other effects.
    pub rest: Rest,
    /// The values that printed numbers or the synthesis of the part check. Any other value is an
    /// extrapolation. Texts count by their [number](Kind::number).
    pub checked: Option<RangeInclusive<u32>>,
}

/// The reason why a key has no cost in clock, area or energy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// It has all three.
    None,
    /// It costs nothing.
    Free(&'static str),
    /// No model covers the cost.
    NotModelled(&'static str),
}

/// The value of a key in the paper's machine.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The value, as TOML writes it.
    pub value: &'static str,
    /// The origin of the value.
    pub origin: Origin,
    /// The text or number behind the origin; may be empty.
    pub reason: &'static str,
    /// The values in random machines.
    pub sample: Sample,
}

/// The origin of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Printed in the paper.
    Paper,
    /// Printed in another public text.
    Public,
    /// Follows from the paper by an argument.
    Derived,
    /// Chosen so that the model meets a number of the paper.
    Fitted,
    /// The texts are silent; this is the project's choice.
    Assumed,
    /// A name or a switch, no property of the hardware.
    Label,
}

/// The values of a key in the random machines of the tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sample {
    /// The value of the paper's machine: timing does not depend on the key.
    Fixed,
    /// Any value, all equally often.
    Any,
    /// Any value between the bounds, both included.
    Between(u32, u32),
    /// A latency of at least this many cycles: mostly short, rarely long.
    Cycles(u32),
    /// Mostly `false`, one time in ten `true`.
    Seldom,
}

/// The values that a key accepts.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// One line of text that is not empty.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number within the bounds, both included.
    Int(u32, u32),
    /// A power of two within the bounds, both included.
    PowerOfTwo(u32, u32),
    /// A number from [`Kind::LEAST`] to [`Kind::MOST`].
    Positive,
    /// A number from [`Kind::LEAST`] to 1.
    Share,
    /// A number from 0 to [`Kind::MOST`].
    NotNegative,
    /// One of these texts.
    Choice(&'static [Choice]),
    /// The list of `{ banks, ghz }`, in ascending order of banks.
    Clock,
}

/// A text that a key accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Choice {
    /// The text.
    pub text: &'static str,
    /// Its meaning.
    pub doc: &'static [&'static str],
}

/// A table of a machine file.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The dotted path; empty for the root.
    pub path: &'static str,
    /// The lines of its documentation.
    pub doc: &'static [&'static str],
    /// Its own keys; keys of its subsections are not among them.
    pub keys: &'static [Key],
}

/// Defines enumerations whose variants have a text in machine files.
macro_rules! choices {
    ($($(#[doc = $doc:literal])* $Enum:ident {
        $($(#[doc = $variant_doc:literal])* $Variant:ident = $text:literal,)*
    })*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
            pub enum $Enum {
                $($(#[doc = $variant_doc])* #[serde(rename = $text)] $Variant,)*
            }

            impl $Enum {
                /// The texts, in the order of the variants.
                const CHOICES: &'static [$crate::machine::table::Choice] = &[
                    $($crate::machine::table::Choice { text: $text, doc: &[$($variant_doc),*] },)*
                ];
            }
        )*
    };
}

/// Defines the structures of a machine, and the list of their [`Section`]s.
///
/// A row is `name: type => kind, value, origin reason, sample, [effects] model rest, checked;`. `rest` is a
/// [`Rest`]; if it is missing, the key has costs of all kinds. `checked` is optional. The effect on cycles
/// may have a [`Faster`] in parentheses. A key of a technology file has a kind and effects only. `+` lists
/// the sections below a section. The sample may be followed by `recipes "name" distance`, a [`Recipes`].
macro_rules! sections {
    ($($(#[doc = $doc:literal])* $Struct:ident $path:tt {
        $(
            $(#[doc = $key_doc:literal])*
            $key:ident: $Type:ty => $kind:expr
                $(, $value:literal, $origin:ident $reason:literal, $sample:expr
                    $(, recipes $name:literal $distance:expr)?)?,
                [$($effect:ident $(($faster:ident))?)*]
                $($model:literal $($rest:ident $because:literal)? $(, $checked:expr)?)?;
        )*
    } $(+ {
        $($(#[doc = $field_doc:literal])* $field:ident: $Field:ty,)*
    })?)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
            #[serde(deny_unknown_fields)]
            pub struct $Struct {
                $($(#[doc = $key_doc])* pub $key: $Type,)*
                $($($(#[doc = $field_doc])* pub $field: $Field,)*)?
            }
        )*

        /// Every section, in the order of the paper's machine file.
        pub const SECTIONS: &[$crate::machine::table::Section] = &[$(
            $crate::machine::table::Section {
                path: sections!(@path $path),
                doc: &[$($doc),*],
                keys: &[$($crate::machine::table::Key {
                    path: sections!(@path $path $key),
                    doc: &[$($key_doc),*],
                    kind: $kind,
                    built_in: sections!(@built_in $($value, $origin $reason, $sample)?),
                    effects: &[$($crate::machine::table::Effect::$effect),*],
                    faster: sections!(@faster $($($faster)?)*),
                    recipes: sections!(@recipes $($($name $distance)?)?),
                    cost: sections!(@cost $($model $($rest $because)? $(, $checked)?)?),
                    get: sections!(@get $path $key),
                    set: sections!(@set $path $key),
                },)*],
            },
        )*];
    };
    (@get [$($section:ident).*] $key:ident) => {
        |machine| toml::Value::try_from(&machine.$($section.)*$key).expect("a value of a key is one of TOML")
    };
    (@set [$($section:ident).*] $key:ident) => {
        |machine, value| {
            machine.$($section.)*$key = value.try_into()?;
            Ok(())
        }
    };
    (@path []) => { "" };
    (@path [] $key:ident) => { stringify!($key) };
    (@path [$first:ident $(. $rest:ident)*] $($key:ident)?) => {
        concat!(stringify!($first) $(, ".", stringify!($rest))* $(, ".", stringify!($key))?)
    };
    (@recipes) => { None };
    (@recipes $name:literal $distance:expr) => {
        Some($crate::machine::table::Recipes { name: $name, distance: $distance })
    };
    (@faster) => { None };
    (@faster $faster:ident) => { Some($crate::machine::table::Faster::$faster) };
    (@cost) => { None };
    (@cost $model:literal $($rest:ident $because:literal)? $(, $checked:expr)?) => {
        Some($crate::machine::table::Cost {
            model: $model,
            rest: sections!(@rest $($rest $because)?),
            checked: sections!(@checked $($checked)?),
        })
    };
    (@rest) => { $crate::machine::table::Rest::None };
    (@rest $rest:ident $because:literal) => { $crate::machine::table::Rest::$rest($because) };
    (@checked) => { None };
    (@checked $checked:expr) => { Some($checked) };
    (@built_in) => { None };
    (@built_in $value:literal, $origin:ident $reason:literal, $sample:expr) => {
        Some($crate::machine::table::BuiltIn {
            value: $value,
            origin: $crate::machine::table::Origin::$origin,
            reason: $reason,
            sample: $sample,
        })
    };
}

pub(super) use {choices, sections};

impl Effect {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Program => "program",
            Self::Stages => "stages",
            Self::Clock => "clock",
            Self::Area => "area",
            Self::Energy => "energy",
            Self::Stream => "stream",
        }
    }
}

impl Faster {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smaller => "smaller",
            Self::Larger => "larger",
        }
    }
}

impl Origin {
    /// The word in machine files; empty for a name or a switch.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Public => "public",
            Self::Derived => "derived",
            Self::Fitted => "fitted",
            Self::Assumed => "assumed",
            Self::Label => "",
        }
    }
}

impl Key {
    /// Its value in a machine.
    pub fn value(&self, machine: &Machine) -> Value {
        (self.get)(machine)
    }

    /// Whether it decides by itself which program is generated, or how many cycles a program takes. A key
    /// with an effect on stages decides so on machines that are not [resolved](Machine::resolved).
    pub fn decides_timing(&self) -> bool {
        [Effect::Cycles, Effect::Program].iter().any(|effect| self.effects.contains(effect))
    }

    /// A value as a number: itself, 0 or 1 of a switch, or the [number](Kind::number) of a text. `None` if it
    /// has fractions.
    pub fn number(&self, value: &Value) -> Option<i64> {
        match value {
            Value::String(text) => self.kind.number(text).and_then(|number| i64::try_from(number).ok()),
            Value::Boolean(value) => Some(i64::from(*value)),
            value => value.as_integer(),
        }
    }

    /// Whether neither printed numbers nor the synthesis of the part check the cost of a value. Texts count
    /// by their [number](Kind::number).
    pub fn extrapolates(&self, value: u64) -> bool {
        let checked = self.cost.as_ref().and_then(|cost| cost.checked.as_ref());
        checked.is_some_and(|checked| {
            !(u64::from(*checked.start())..=u64::from(*checked.end())).contains(&value)
        })
    }

    /// What no model covers of its cost in clock, area and energy, with the reason.
    pub fn not_modelled(&self) -> Option<&'static str> {
        match self.cost.as_ref()?.rest {
            Rest::NotModelled(because) => Some(because),
            Rest::None | Rest::Free(_) => None,
        }
    }
}

impl BuiltIn {
    /// The origin with its reason; empty for a name or a switch.
    pub fn provenance(&self) -> String {
        match self.reason {
            "" => self.origin.word().to_owned(),
            reason => format!("{}: {reason}", self.origin.word()),
        }
    }
}

impl Kind {
    /// The smallest number above zero that a key accepts. No result is infinite.
    pub const LEAST: f64 = 1e-9;
    /// The largest number with a fraction that a key accepts.
    pub const MOST: f64 = 1e9;

    /// Whether the key accepts `value`.
    pub fn allows(self, value: &Value) -> bool {
        let number = |least: f64, most: f64| {
            let number = match *value {
                Value::Integer(i) => i as f64,
                Value::Float(f) => f,
                _ => return false,
            };
            (least..=most).contains(&number)
        };
        let within = |min: u32, max: u32| {
            let range = i64::from(min)..=i64::from(max);
            value.as_integer().filter(|i| range.contains(i))
        };
        match self {
            Self::Text => value.as_str().is_some_and(diagnostic::is_line),
            Self::Bool => value.is_bool(),
            Self::Int(min, max) => within(min, max).is_some(),
            Self::PowerOfTwo(min, max) => within(min, max).is_some_and(|i| i & (i - 1) == 0),
            Self::Positive => number(Self::LEAST, Self::MOST),
            Self::Share => number(Self::LEAST, 1.0),
            Self::NotNegative => number(0.0, Self::MOST),
            Self::Choice(choices) => {
                value.as_str().is_some_and(|text| choices.iter().any(|choice| choice.text == text))
            }
            Self::Clock => is_clock(value),
        }
    }

    /// The texts that it accepts.
    const fn choices(self) -> &'static [Choice] {
        if let Self::Choice(choices) = self { choices } else { &[] }
    }

    /// The number of a text among the accepted ones, from 1.
    pub fn number(self, text: &str) -> Option<u64> {
        Some(self.choices().iter().position(|choice| choice.text == text)? as u64 + 1)
    }

    /// A whole number, or the text with this [number](Self::number).
    pub(super) fn text(self, number: u32) -> String {
        let text = number.checked_sub(1).and_then(|index| self.choices().get(index as usize));
        text.map_or_else(|| number.to_string(), |choice| choice.text.to_owned())
    }

    /// The JSON schema of the accepted values.
    pub fn schema(self) -> serde_json::Value {
        match self {
            Self::Text => json!({ "type": "string", "minLength": 1 }),
            Self::Bool => json!({ "type": "boolean" }),
            Self::Int(min, max) => json!({ "type": "integer", "minimum": min, "maximum": max }),
            Self::PowerOfTwo(min, max) => {
                let powers: Vec<u32> =
                    (0..32).map(|log2| 1 << log2).filter(|n| (min..=max).contains(n)).collect();
                json!({ "enum": powers })
            }
            Self::Positive => json!({ "type": "number", "minimum": Self::LEAST, "maximum": Self::MOST }),
            Self::Share => json!({ "type": "number", "minimum": Self::LEAST, "maximum": 1 }),
            Self::NotNegative => json!({ "type": "number", "minimum": 0, "maximum": Self::MOST }),
            Self::Choice(choices) => {
                json!({ "enum": choices.iter().map(|choice| choice.text).collect::<Vec<_>>() })
            }
            Self::Clock => json!({
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["banks", "ghz"],
                    "properties": {
                        "banks": { "type": "integer", "minimum": 1 },
                        "ghz": { "type": "number", "exclusiveMinimum": 0 },
                    },
                },
            }),
        }
    }

    /// The largest accepted whole number, if it takes whole numbers only.
    pub(super) fn most(self) -> Option<u64> {
        match self {
            Self::Int(_, most) | Self::PowerOfTwo(_, most) => Some(most.into()),
            Self::Text
            | Self::Bool
            | Self::Positive
            | Self::Share
            | Self::NotNegative
            | Self::Choice(_)
            | Self::Clock => None,
        }
    }

    /// The accepted values, in words.
    pub fn describe(self) -> String {
        match self {
            Self::Text => "a quoted string of one line".into(),
            Self::Bool => "`true` or `false`".into(),
            Self::Int(min, max) => format!("a whole number from {min} to {max}"),
            Self::PowerOfTwo(min, max) => format!("a power of two from {min} to {max}"),
            Self::Positive => format!("a number from {:e} to {:e}", Self::LEAST, Self::MOST),
            Self::Share => format!("a number from {:e} to 1", Self::LEAST),
            Self::NotNegative => format!("a number from 0 to {:e}", Self::MOST),
            Self::Choice(choices) => {
                let texts: Vec<_> = choices.iter().map(|choice| format!("`\"{}\"`", choice.text)).collect();
                texts.join(" or ")
            }
            Self::Clock => "a list of `{ banks = .., ghz = .. }`, banks ascending, both above 0".into(),
        }
    }
}

/// Whether `value` is a well-formed clock table.
fn is_clock(value: &Value) -> bool {
    let Some(points) = value.as_array().filter(|points| !points.is_empty()) else { return false };
    let mut previous = 0;
    points.iter().all(|point| {
        let Some(point) = point.as_table().filter(|table| table.len() == 2) else { return false };
        let (banks, ghz) = (point.get("banks").and_then(Value::as_integer), point.get("ghz"));
        let (Some(banks), Some(ghz)) = (banks, ghz) else { return false };
        let ascending = banks > previous && banks <= i64::from(u32::MAX);
        previous = banks;
        ascending && Kind::Positive.allows(ghz)
    })
}
