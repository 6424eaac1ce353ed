//! Layers of texts that set keys.
//!
//! A machine is built up in layers: the inherited file, the file itself, the overrides. A later
//! layer replaces values of an earlier one. Every value remembers its source text, so that an error
//! can point at it.

use super::location::{Location, names};
use super::overrides::Override;
use super::table::{Key, Kind};
use super::{Machine, schema};
use configs::{MACHINES, TECHNOLOGIES};
use diagnostic::document::{Document, Field, Format, Node};
use diagnostic::input::{self, Content};
use diagnostic::{Code, Diagnostic, Diagnostics, nearest};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use toml::{Table, Value};

/// A text that sets keys.
#[derive(Clone)]
pub(super) struct Layer {
    pub(super) name: String,
    pub(super) text: String,
}

/// A value of a key, and its position.
#[derive(Clone)]
pub(super) struct Leaf {
    value: Value,
    pub(super) at: At,
    /// The number of values set before it.
    order: usize,
}

/// A position in a layer.
#[derive(Clone)]
pub(super) struct At {
    pub(super) layer: usize,
    pub(super) span: Range<usize>,
}

/// The longest chain of files that inherit from each other.
pub(super) const MAX_CHAIN: usize = 16;

#[derive(Clone, Default)]
pub(super) struct Layers {
    pub(super) texts: Vec<Layer>,
    pub(super) leaves: BTreeMap<&'static str, Leaf>,
    /// Values set so far.
    settings: usize,
    pub(super) errors: Diagnostics,
    /// Keys with invalid values. They are not missing.
    invalid: Vec<&'static str>,
    /// Whether a text could not be read as a whole.
    incomplete: bool,
}

impl Layers {
    fn error(&self, code: Code, at: &At, message: String, help: String) -> Diagnostic {
        let Layer { name, text } = &self.texts[at.layer];
        let error = Diagnostic::new(message).with_code(code.name());
        error.at(name, text.as_str(), at.span.clone()).with_help(help)
    }

    fn report(&mut self, code: Code, at: &At, message: String, help: String) {
        let error = self.error(code, at, message, help);
        self.errors.push(error);
    }

    /// Adds the keys of a file below `prefix`: empty for a machine, `technology` for a technology.
    /// `named_at` is the reference to the file in another text; `chain` are the files that inherit
    /// from it.
    pub(super) fn add_file(
        &mut self,
        location: &Location,
        prefix: &str,
        named_at: Option<&At>,
        chain: &mut Vec<PathBuf>,
    ) {
        let identity = location.identity();
        if let (true, Some(at)) = (chain.contains(&identity), named_at) {
            self.incomplete = true;
            let message = format!("`{}` inherits from itself", location.name());
            let help = "name a file that does not lead back here".to_owned();
            return self.report(Code::Contradiction, at, message, help);
        }
        if let (MAX_CHAIN.., Some(at)) = (chain.len(), named_at) {
            self.incomplete = true;
            let message = format!("a chain of more than {MAX_CHAIN} files");
            let help = "name a file that inherits from fewer others".to_owned();
            return self.report(Code::Contradiction, at, message, help);
        }
        let text = match location {
            Location::BuiltIn(_, text) => Ok((*text).to_owned()),
            Location::File(path) => input::read_text(path, Content::Document),
        };
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                self.incomplete = true;
                let error = self.unreadable(location, named_at, &error);
                return self.errors.push(error);
            }
        };
        let layer = self.texts.len();
        self.texts.push(Layer { name: location.name(), text: text.clone() });
        let document = match Document::toml(&location.name(), &text) {
            Ok(document) => document,
            Err(errors) => {
                // After a syntax error the rest of the file is not checked.
                self.incomplete = true;
                return errors.into_iter().for_each(|error| self.errors.push(error.clone()));
            }
        };
        let format = if prefix.is_empty() { Format::Machine } else { Format::Technology };
        if let Some((span, key, other)) = format.foreign(document.root()) {
            self.incomplete = true;
            let message = format!("this is {}, not {}", other.noun(), format.noun());
            let help = format!("`{key}` is a key of {}; {}", other.noun(), other.remedy());
            return self.report(Code::OtherFormat, &At { layer, span }, message, help);
        }
        if let Some(parent) = document.root().get("inherits") {
            let at = At { layer, span: parent.span.clone() };
            if let Some(parent) = parent.text() {
                let built_ins = if prefix.is_empty() { MACHINES } else { TECHNOLOGIES };
                chain.push(identity);
                self.add_file(&location.relative(parent, built_ins), prefix, Some(&at), chain);
                chain.pop();
            } else {
                self.incomplete = true;
                let help = "it names the file whose keys this one changes".to_owned();
                self.report(Code::Value, &at, "`inherits` must be a quoted string".into(), help);
            }
        }
        for field in document.root().fields().iter().filter(|field| field.key != "inherits") {
            self.add_key(location, prefix, layer, field);
        }
    }

    fn unreadable(&self, location: &Location, named_at: Option<&At>, error: &std::io::Error) -> Diagnostic {
        let message = format!("cannot read `{}`: {error}", location.name());
        let help = format!(
            "name a file with its path, or a built-in machine ({}) or technology ({}) without `.toml`",
            names(MACHINES),
            names(TECHNOLOGIES)
        );
        match named_at {
            Some(at) => self.error(Code::Unreadable, at, message, help),
            None => {
                let error = Diagnostic::new(message).with_code(Code::Unreadable.name());
                error.in_file(location.name()).with_help(help)
            }
        }
    }

    fn add_key(
        &mut self,
        location: &Location,
        prefix: &str,
        layer: usize,
        Field { key, span, item }: &Field<'_>,
    ) {
        let path = if prefix.is_empty() { key.to_string() } else { format!("{prefix}.{key}") };
        let at = At { layer, span: item.span.clone() };
        if let Some(key) = schema::find(&path) {
            return self.set(key, item.value(), at);
        }
        let is_section = schema::section(&path).next().is_some();
        match &item.node {
            Node::Table(fields) if is_section => {
                fields.iter().for_each(|field| self.add_key(location, &path, layer, field));
            }
            Node::Text(name) if path == "technology" => {
                self.set_technology(&location.relative(name, TECHNOLOGIES), &at);
            }
            _ if is_section => self.not_a_value(&path, &at),
            _ => self.unknown(&path, &At { layer, span: span.clone() }),
        }
    }

    pub(super) fn add_override(&mut self, change: &Override) {
        let layer = self.texts.len();
        self.texts.push(Layer { name: Override::SOURCE.into(), text: change.text.clone() });
        let at = At { layer, span: change.equals + 1..change.text.len() };
        let path = change.key();
        match schema::find(path) {
            Some(key) => self.set(key, Some(change.leaf_value()), at),
            None if change.is_file() => {
                let name = change.leaf_value();
                let here = Location::File(PathBuf::new());
                let name = name.as_str().unwrap_or(change.value());
                self.set_technology(&here.relative(name, TECHNOLOGIES), &at);
            }
            None if schema::section(path).next().is_some() => self.not_a_value(path, &at),
            None => self.unknown(path, &At { layer, span: 0..change.equals }),
        }
    }

    pub(super) fn set_technology(&mut self, location: &Location, at: &At) {
        self.leaves.retain(|path, _| !path.starts_with("technology."));
        self.add_file(location, "technology", Some(at), &mut Vec::new());
    }

    /// Sets a value; `None` is a number that no type of TOML holds.
    fn set(&mut self, key: &'static Key, value: Option<Value>, at: At) {
        match value {
            Some(value) if key.kind.allows(&value) => {
                self.leaves.insert(key.path, Leaf { value, at, order: self.settings });
                self.settings += 1;
            }
            value => {
                self.invalid.push(key.path);
                let error = self.wrong_value(key, &at, value.as_ref());
                self.errors.push(error);
            }
        }
    }

    fn wrong_value(&self, key: &Key, at: &At, value: Option<&Value>) -> Diagnostic {
        let message = match value {
            Some(value) => {
                format!("invalid value `{}` for `{}`", diagnostic::one_line(&value.to_string()), key.path)
            }
            None => format!("invalid value for `{}`", key.path),
        };
        let nearest = match (key.kind, value) {
            (Kind::Choice(choices), Some(Value::String(text))) => {
                nearest(text, choices.iter().map(|choice| choice.text))
            }
            _ => None,
        };
        let mut help = format!("it must be {}", key.kind.describe());
        if let Some(replacement) = value.and_then(|value| schema::replacement(key, value)) {
            help = replacement.to_owned();
        } else if let Some(nearest) = nearest {
            help += &format!("; did you mean `\"{nearest}\"`?");
        }
        self.error(Code::Value, at, message, help)
    }

    fn not_a_value(&mut self, path: &str, at: &At) {
        self.invalid.extend(schema::section(path).map(|key| key.path));
        let keys: Vec<_> = schema::section(path).map(|key| format!("`{}`", key.path)).collect();
        let help = format!("set one of its keys: {}", keys.join(", "));
        self.report(Code::Value, at, format!("`{path}` is a section, not a value"), help);
    }

    fn unknown(&mut self, path: &str, at: &At) {
        let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
        let mut keys: Vec<_> = schema::section(parent).map(|key| key.path).collect();
        if keys.is_empty() {
            let mut seen = BTreeSet::new();
            let sections = schema::keys().filter_map(|key| key.path.split('.').next());
            keys = sections.filter(|section| seen.insert(*section)).collect();
        }
        let help = match schema::nearest(path).or_else(|| nearest(path, keys.iter().copied())) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("there are `{}`", keys.join("`, `")),
        };
        self.report(Code::UnknownKey, at, format!("unknown key `{path}`"), help);
    }

    /// Reports keys without a value, unless errors explain that.
    fn report_missing(&mut self, name: &str) {
        let has_value = |key: &&Key| self.leaves.contains_key(key.path) || self.invalid.contains(&key.path);
        let missing: Vec<&str> = schema::keys().filter(|key| !has_value(key)).map(|key| key.path).collect();
        let message = match &missing[..] {
            [] => return,
            _ if self.incomplete => return,
            [key] => format!("the key `{key}` is missing"),
            [first, second] => format!("the keys `{first}` and `{second}` are missing"),
            [first, second, rest @ ..] => {
                format!("the keys `{first}`, `{second}` and {} more are missing", rest.len())
            }
        };
        let help = match missing.iter().all(|key| key.starts_with("technology.")) {
            true => "set it in the technology file, or inherit it there with `inherits = \"gf12\"`",
            false => "set it, or inherit it with `inherits = \"rpu-128x128\"`",
        };
        let help = if missing.len() == 1 { help.to_owned() } else { help.replace(" it", " them") };
        let error = Diagnostic::new(message).with_code(Code::MissingKey.name());
        self.errors.push(error.in_file(name).with_help(help));
    }

    pub(super) fn finish(mut self, name: &str) -> Result<Machine, Diagnostics> {
        self.report_missing(name);
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let values = self.leaves.iter().map(|(&path, leaf)| (path, leaf.value.clone()));
        let machine = assemble(values).map_err(|error| {
            let help = "every key has the type of the built-in file";
            Diagnostic::new(error.message()).with_code(Code::Value.name()).in_file(name).with_help(help)
        })?;
        for rule in machine.broken_rules() {
            // The error points at the key that was set last.
            let leaves = rule.keys.iter().map(|&key| &self.leaves[key]);
            let last = leaves.max_by_key(|leaf| leaf.order).expect("a rule concerns some keys").at.clone();
            self.report(Code::Contradiction, &last, rule.message.into(), (rule.help)(&machine));
        }
        self.errors.or(machine)
    }
}

/// The machine with these values at these dotted paths.
///
/// # Errors
/// Returns an error if a key is missing or its value has another type.
pub(super) fn assemble(
    values: impl Iterator<Item = (&'static str, Value)>,
) -> Result<Machine, toml::de::Error> {
    let mut root = Table::new();
    for (path, value) in values {
        insert(&mut root, path, value);
    }
    let values = super::Values::deserialize(root.into_deserializer())?;
    Ok(Machine::of(values, 0))
}

/// Sets the value at a dotted path.
fn insert(table: &mut Table, path: &str, value: Value) {
    match path.split_once('.') {
        None => drop(table.insert(path.to_owned(), value)),
        Some((section, rest)) => {
            let inner = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}
