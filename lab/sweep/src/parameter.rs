//! The parameters of a task: what a definition can set beside the keys of machines.
//!
//! They are rows of three tables: the keys of this crate (`for_each_task_key!`), the settings of operations
//! ([`SettingSpec`](golden::SettingSpec)) and the options of generated programs ([`all_options`]). The reader
//! of definitions, the JSON schema, the columns of results, the task of a point
//! ([`Workload`](super::Workload)), the flags of `rpu gen`, the arguments of Python's `generate` and the
//! table in the book follow from the rows.

use codegen::Merit;
use diagnostic::{nearest, number_with_separators};
use golden::{Kind, OPERATIONS, Operation};
use lab_run::kernel::parse_u128;
use programs::{OptionKind, all_options, all_programs};
use ring::Degree;
use runtime::Keys;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// Keys and values of a point.
pub type Settings = serde_json::Map<String, Value>;

/// A key with a value, and its position in the definition.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Setting {
    /// One text for all values of a list.
    pub(super) key: Arc<str>,
    /// Byte range of the key in the definition; `0..0` for a key from the command line.
    pub(super) key_span: Range<usize>,
    pub(super) value: toml::Value,
    /// The same for the value.
    pub(super) span: Range<usize>,
}

impl Setting {
    /// The value as text, without quotes.
    pub(super) fn text(&self) -> String {
        self.value.as_str().map_or_else(|| self.value.to_string(), str::to_owned)
    }
}

/// The kinds of programs that a point can run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A kernel of the code generator.
    Kernel,
    /// A program from a file.
    File,
    /// A ring program of a generator.
    Ring,
    /// A ring program from a file.
    RingFile,
}

impl Form {
    /// The name of several, in messages.
    const fn plural(self) -> &'static str {
        match self {
            Self::Kernel => "kernels",
            Self::File => "programs from files",
            Self::Ring => "generated ring programs",
            Self::RingFile => "ring programs from files",
        }
    }
}

/// The values of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Values {
    /// A ring degree.
    Degree,
    /// A whole number in this range.
    Integer(u64, u64),
    /// A number of up to 128 bits, or several with commas between them; in quotes if it has more than 63.
    Numbers,
    /// Whole numbers with commas between them, or one.
    Integers,
    /// One of these names.
    Names(Vec<&'static str>),
    /// A name or the path of a file.
    Text,
}

impl Values {
    /// Whether a value is one of them.
    pub(super) fn allow(&self, value: &toml::Value) -> bool {
        let integer = value.as_integer().and_then(|value| u64::try_from(value).ok());
        match self {
            Self::Degree => integer.is_some_and(|n| Degree::new(n).is_ok()),
            Self::Integer(least, most) => integer.is_some_and(|value| (*least..=*most).contains(&value)),
            Self::Numbers => !numbers(value).is_empty(),
            Self::Integers => value.is_integer() || value.is_str(),
            Self::Names(names) => value.as_str().is_some_and(|name| names.contains(&name)),
            Self::Text => value.is_str(),
        }
    }

    /// What would be right in place of a value.
    pub(super) fn help(&self, value: &toml::Value) -> String {
        match self {
            Self::Degree => format!("expected a power of two from {} to {}", Degree::MIN, Degree::MAX),
            Self::Integer(least, u64::MAX) => format!("expected a whole number of at least {least}"),
            Self::Integer(least, most) => format!("expected a whole number from {least} to {most}"),
            Self::Numbers => {
                "write a number of up to 128 bits, such as 17 or \"0x1000...\"; or one for each modulus, with commas between them"
                    .into()
            }
            Self::Integers => "write a number, or several in quotes: \"1,2,-3\"".into(),
            Self::Names(names) => match nearest(value.as_str().unwrap_or_default(), names.iter().copied()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("expected one of {}", names.join(", ")),
            },
            Self::Text => "expected a name in quotes".into(),
        }
    }

    /// The values in words, for the book.
    fn words(&self) -> String {
        match self {
            Self::Degree => format!("a power of two from {} to {}", Degree::MIN, Degree::MAX),
            Self::Integer(least, u64::MAX) => format!("{least} or more"),
            Self::Integer(least, most) => format!("{least} to {most}"),
            Self::Numbers => "a number of up to 128 bits, or one for each modulus".into(),
            Self::Integers => "a number, or several as text".into(),
            Self::Names(names) => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
            Self::Text => "a name or a file".into(),
        }
    }

    /// A value in the place of one, in help.
    pub fn placeholder(&self) -> &'static str {
        match self {
            Self::Degree => "N",
            Self::Integer(..) => "NUMBER",
            Self::Numbers | Self::Integers => "NUMBERS",
            Self::Names(_) => "NAME",
            Self::Text => "NAME|FILE",
        }
    }

    /// The value that a text means: numbers are in the notation of programs.
    pub(super) fn read(&self, text: &str) -> toml::Value {
        let number = match self {
            Self::Names(_) | Self::Text => None,
            Self::Degree | Self::Integer(..) | Self::Numbers | Self::Integers => {
                number_with_separators(text).ok().and_then(|number| i64::try_from(number).ok())
            }
        };
        number.map_or_else(|| toml::Value::String(text.into()), toml::Value::Integer)
    }

    /// Checks a text from a command line.
    ///
    /// # Errors
    /// Returns what would be right.
    pub fn check(&self, text: &str) -> Result<(), String> {
        let value = self.read(text);
        if self.allow(&value) { Ok(()) } else { Err(self.help(&value)) }
    }

    fn schema(&self, description: &str) -> Value {
        let mut schema = match self {
            Self::Degree => {
                json!({ "type": "integer", "minimum": Degree::MIN.get(), "maximum": Degree::MAX.get() })
            }
            Self::Integer(least, u64::MAX) => json!({ "type": "integer", "minimum": least }),
            Self::Integer(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Self::Numbers | Self::Integers => json!({ "type": ["string", "integer"] }),
            Self::Names(names) => json!({ "enum": names }),
            Self::Text => json!({ "type": "string" }),
        };
        schema["description"] = description.into();
        schema
    }
}

/// Numbers of up to 128 bits; none if one of them is invalid.
pub(super) fn numbers(value: &toml::Value) -> Vec<u128> {
    let one = || Some(vec![value.as_integer()?.try_into().ok()?]);
    let several = |text: &str| text.split(',').map(parse_u128).collect();
    value.as_str().map_or_else(one, several).unwrap_or_default()
}

/// A parameter of a task.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// The key in definitions, and the column in results.
    pub name: &'static str,
    /// The values.
    pub values: Values,
    /// The meaning in one line.
    pub doc: &'static str,
    /// What holds without it; `None` if it must be set.
    pub default: Option<&'static str>,
    /// The programs that can take it.
    pub forms: Vec<Form>,
    /// The operations or generators that take it; empty if all of these forms do.
    pub of: Vec<&'static str>,
    /// Whether points that differ in it have different tasks, which are not comparable.
    pub identifies: bool,
    /// Whether instructions depend on it.
    pub changes_program: bool,
}

/// Calls a macro with the keys of tasks. A row has the name, its values, its meaning, what holds without it,
/// the forms that take it, and what points that differ in it are: different tasks, choices for one task,
/// different runs of one program, or supplies of its data.
macro_rules! for_each_task_key {
    ($rows:path) => {
        $rows! {
            kernel: Values::Names(kernels()), "The operation; `rpu gen --list` describes each. With `set`, a ring program.",
                Some("`ntt`"), [Kernel, Ring], a_task;
            program: Values::Text, "A program in place of a kernel, relative to this file: assembly text, an object, or a ring program.",
                Some("none"), [File, RingFile], a_task;
            manifest: Values::Text, "The manifest of a ring program from a file, relative to this file.",
                Some("`P.manifest.json` or `P.json` beside `P.fhetch`"), [RingFile], a_choice;
            set: Values::Text, "The parameter set of a ring program: a built-in name, or a path relative to this file.",
                None, [Ring], a_task;
            n: Values::Degree, "The ring degree, at least `isa.vector_length`; a parameter set and a manifest have one.",
                None, [Kernel, Ring, RingFile], a_task;
            keys: Values::Names(Keys::ALL.map(Keys::name).to_vec()), "The origin of a ring program's keys.",
                Some("`streamed`"), [Ring, RingFile], a_supply;
            modulus_bits: Values::Integer(2, 128), "The modulus is the largest prime of this size that is 1 mod 2n.",
                Some("128"), [Kernel], a_task;
            modulus: Values::Numbers, "The modulus, in place of its size; or several with commas between them, for as many rings with symbols x0, x1, ... in place of x.",
                Some("none"), [Kernel], a_task;
            root: Values::Numbers, "A primitive 2n-th root of unity for the modulus, or one for each.",
                Some("the smallest"), [Kernel], a_task;
            towers: Values::Integer(1, 512), "Rings with moduli of their own in one program.",
                Some("1"), [Kernel], a_task;
            stream: Values::Integer(1, 100_000), "Consecutive runs of the program, with their off-chip transfers.",
                Some("none"), [Kernel, File], a_run;
            plan: Values::Text, PLAN_DOC,
                Some("`best`"), [Kernel], a_choice;
            tune: Values::Names(TUNES.to_vec()), "The search for plan `best`.",
                Some("`quick`"), [Kernel], a_choice;
            optimise: Values::Names(Merit::ALL.map(Merit::name).to_vec()), "What plan `best` minimises, or what the kernels of a ring program do together.",
                Some("`cycles`"), [Kernel, Ring, RingFile], a_choice;
            digits: Values::Integer(1, 64), "Digits of keys. The special moduli are then as few of the set's size as exceed each digit.",
                Some("as in the set"), [Ring], a_choice;
            coeff_to_slot_matrices: Values::Integer(1, 16), COEFF_TO_SLOT_DOC,
                Some("as in the set"), [Ring], a_choice;
            slot_to_coeff_matrices: Values::Integer(1, 16), SLOT_TO_COEFF_DOC,
                Some("as in the set"), [Ring], a_choice;
        }
    };
}

/// Keys of which a task has one: where it is set, the later one.
pub(super) const ALTERNATIVES: [&str; 2] = ["modulus", "modulus_bits"];
/// The documentation of `plan`.
const PLAN_DOC: &str = "`best`, `kl`, `pease`, `paper`, `unoptimised`, or a plan's file.";
/// The documentation of the numbers of matrices.
const COEFF_TO_SLOT_DOC: &str = "Matrices of CoeffToSlot, each with a modulus of the set's size.";
const SLOT_TO_COEFF_DOC: &str = "Matrices of SlotToCoeff, with as many moduli for each as in the set.";
/// The values of `tune`.
pub(super) const TUNES: [&str; 3] = ["off", "quick", "full"];

/// The operations and the generated programs.
fn kernels() -> Vec<&'static str> {
    let operations = OPERATIONS.iter().map(|operation| operation.name());
    operations.chain(all_programs().map(|program| program.name)).collect()
}

macro_rules! rows {
    ($($name:ident: $values:expr, $doc:expr, $default:expr, [$($form:ident),*], $differ:ident;)*) => {
        /// The values that some settings give the keys of a task; the settings of operations and the options
        /// of programs are in `others`. Whoever makes a task names every field, so none is forgotten.
        pub(super) struct Given<'s> {
            $(pub(super) $name: Option<&'s Setting>,)*
            pub(super) others: Vec<&'s Setting>,
        }

        impl<'s> Given<'s> {
            /// Of two settings of a key, the later one takes precedence.
            pub(super) fn of(settings: &[&'s Setting]) -> Self {
                let mut given = Self { $($name: None,)* others: Vec::new() };
                for setting in settings {
                    match &*setting.key {
                        $(stringify!($name) => given.$name = Some(setting),)*
                        _ => {
                            given.others.retain(|other| other.key != setting.key);
                            given.others.push(setting);
                        }
                    }
                }
                given
            }

            /// All of them, in the order of the table.
            pub(super) fn all(&self) -> impl Iterator<Item = &'s Setting> {
                [$(self.$name),*].into_iter().flatten().chain(self.others.iter().copied())
            }
        }

        fn task_keys() -> Vec<Parameter> {
            vec![$(Parameter {
                name: stringify!($name),
                values: $values,
                doc: $doc,
                default: $default,
                forms: vec![$(Form::$form),*],
                of: Vec::new(),
                identifies: rows!(@ identifies $differ),
                changes_program: rows!(@ changes_program $differ),
            }),*]
        }
    };
    (@ identifies a_choice) => { false };
    (@ identifies a_supply) => { false };
    (@ identifies $task_or_run:ident) => { true };
    (@ changes_program a_run) => { false };
    (@ changes_program a_supply) => { false };
    (@ changes_program $task_or_choice:ident) => { true };
}

for_each_task_key!(rows);

/// All parameters: the keys of tasks, the options of programs, and the settings of operations.
pub static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| {
    let mut all = task_keys();
    all.extend(all_options().into_iter().map(|(option, of)| Parameter {
        name: option.name,
        values: match option.kind {
            OptionKind::Count => Values::Integer(1, u64::MAX),
            OptionKind::CountTo(most) => Values::Integer(1, most as u64),
            OptionKind::Bits => Values::Integer(1, 60),
            OptionKind::Rotations => Values::Integers,
            OptionKind::Choice(values) => Values::Names(values().into_iter().map(|(name, _)| name).collect()),
        },
        doc: option.doc,
        default: Some(option.default),
        forms: vec![Form::Ring],
        of,
        identifies: option.identifies,
        changes_program: true,
    }));
    // Programs with bootstraps have linear transforms.
    let transforms = all.iter().find(|parameter| parameter.name == "hoisting");
    let of = transforms.map(|hoisting| hoisting.of.clone()).unwrap_or_default();
    for parameter in all.iter_mut().filter(|parameter| parameter.name.ends_with("_matrices")) {
        parameter.of.clone_from(&of);
    }
    for operation in OPERATIONS {
        for spec in operation.parameters() {
            let known = all.iter_mut().find(|parameter| parameter.name == spec.name);
            if let Some(parameter) = known {
                // Operations with a setting of one name mean the same by it.
                parameter.of.push(operation.name());
                continue;
            }
            all.push(Parameter {
                name: spec.name,
                values: match spec.kind {
                    Kind::Choice(words) => Values::Names(words.to_vec()),
                    Kind::Number | Kind::Exponent | Kind::Degree | Kind::Modulus | Kind::Root => {
                        Values::Numbers
                    }
                },
                doc: spec.doc,
                default: None,
                forms: vec![Form::Kernel],
                of: vec![operation.name()],
                identifies: true,
                changes_program: true,
            });
        }
    }
    all
});

/// The parameter of this name, if there is one.
pub(super) fn find(name: &str) -> Option<&'static Parameter> {
    static BY_NAME: LazyLock<HashMap<&str, &Parameter>> =
        LazyLock::new(|| PARAMETERS.iter().map(|parameter| (parameter.name, parameter)).collect());
    BY_NAME.get(name).copied()
}

/// The key of a parameter that is spelled with `-` in place of `_`, as options of programs once were; or the
/// key as it is.
pub(super) fn canonical(key: &str) -> Cow<'_, str> {
    if key.contains('-') {
        let own = key.replace('-', "_");
        if is_parameter(&own) {
            return own.into();
        }
    }
    key.into()
}

/// Whether a key describes the task, not the machine.
pub(super) fn is_parameter(key: &str) -> bool {
    find(key).is_some()
}

impl Parameter {
    /// Whether the program of some form with this name takes it; without a name, whether any does.
    pub(super) fn is_of(&self, form: Form, name: Option<&str>) -> bool {
        self.forms.contains(&form) && (self.of.is_empty() || name.is_none_or(|name| self.of.contains(&name)))
    }

    /// Those that take it, in words.
    pub fn takers(&self) -> String {
        if self.of.is_empty() {
            let names = self.forms.iter().map(|form| form.plural()).collect::<Vec<_>>().join(" and ");
            let both = [Form::Ring, Form::RingFile].map(Form::plural).join(" and ");
            names.replace(&both, "ring programs")
        } else {
            self.of.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        }
    }

    /// Its meaning, and what holds without it, as help.
    pub fn help(&self) -> String {
        let doc = self.doc.trim_end_matches('.');
        match self.default {
            None | Some("none") => doc.to_owned(),
            Some(default) => format!("{doc}; by default {}", default.replace('`', "")),
        }
    }

    /// The JSON schema of its values.
    pub(super) fn schema(&self) -> Value {
        self.values.schema(self.doc)
    }
}

/// The value of a setting in results: the same for texts of one number.
pub(super) fn column(key: &str, value: &toml::Value) -> Value {
    let wide = find(key).is_some_and(|parameter| parameter.values == Values::Numbers);
    let short = |number| u32::try_from(number).ok().filter(|_| !["modulus", "root"].contains(&key));
    match &numbers(value)[..] {
        [number] if wide && short(*number).is_some() => short(*number).into(),
        numbers @ [_, ..] if wide => {
            numbers.iter().map(|number| format!("{number:#x}")).collect::<Vec<_>>().join(",").into()
        }
        _ => serde_json::to_value(value).unwrap_or_default(),
    }
}

/// The tables of all parameters, in Markdown: those that make a task, and choices.
pub fn table() -> String {
    let mut text = String::new();
    for (identifies, what) in [(true, "The parameters of a task"), (false, "Choices for one task")] {
        text += &format!("{what}:\n\n| key | meaning | values |\n|---|---|---|\n");
        for parameter in PARAMETERS.iter().filter(|parameter| parameter.identifies == identifies) {
            let &Parameter { name, ref values, doc, default, .. } = parameter;
            let values = if name == "kernel" {
                "an operation, or with `set` a program".to_owned()
            } else {
                values.words()
            };
            let default = match default {
                None => "; must be set".to_owned(),
                Some("none") => String::new(),
                Some(default) => format!("; without it {default}"),
            };
            let doc = doc.trim_end_matches('.');
            text += &format!("| `{name}` | {doc} ({}) | {values}{default} |\n", parameter.takers());
        }
        text += "\n";
    }
    text
}

/// The settings of an operation, as help.
pub(super) fn settings_of(operation: Operation) -> String {
    let names: Vec<String> = operation.parameters().map(|spec| format!("`{}`", spec.name)).collect();
    match names.len() {
        0 => format!("`{operation}` has no settings beside its ring"),
        _ => format!("the settings of `{operation}` are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_one_number_are_one_value() {
        let text = |text: &str| toml::Value::from(text);
        for (key, value, expected) in [
            ("by", 17.into(), json!(17)),
            ("by", text("0x11"), json!(17)),
            ("by", text("0x1_0000_0000"), json!("0x100000000")),
            ("by", text("17,0x12"), json!("0x11,0x12")),
            ("by", text("ten"), json!("ten")),
            // However short: they are written so in programs.
            ("modulus", 17.into(), json!("0x11")),
            ("root", text("17"), json!("0x11")),
            ("n", 4096.into(), json!(4096)),
            ("kernel", text("ntt"), json!("ntt")),
        ] {
            assert_eq!(column(key, &value), expected, "{key} = {value}");
        }
    }

    #[test]
    fn matrices_of_a_bootstrap_belong_to_the_programs_with_linear_transforms() {
        let of = |name: &str| &PARAMETERS.iter().find(|parameter| parameter.name == name).unwrap().of;
        assert!(!of("hoisting").is_empty());
        for matrices in ["coeff_to_slot_matrices", "slot_to_coeff_matrices"] {
            assert_eq!(of(matrices), of("hoisting"), "{matrices}");
        }
    }
}
