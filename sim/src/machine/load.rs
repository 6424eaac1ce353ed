//! Reading machine files.
//!
//! A machine is built up in layers: the inherited file, the file itself, the overrides. A later
//! layer replaces values of an earlier one. Every value remembers its source text, so that an error
//! can point at it.

use super::table::{Key, Kind};
use super::{Machine, schema};
use diagnostic::input::{self, Content};
use diagnostic::{Diagnostic, nearest};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// An override of one key of a machine file: `key=value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Override {
    text: String,
    equals: usize,
}

impl Override {
    /// The file name of an override in a [`Diagnostic`].
    pub const SOURCE: &str = "override";

    /// Parses `key=value`: a dotted key, and a TOML value or bare text.
    ///
    /// # Errors
    /// Returns an error if there is no `=` or no key. Keys and values are checked when a machine is
    /// loaded.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        match text.find('=') {
            Some(equals) if !text[..equals].trim().is_empty() => Ok(Self { text: text.into(), equals }),
            _ => Err(Diagnostic::new("missing key")
                .at(Self::SOURCE, text, 0..text.len())
                .with_help("write `key=value`, for example `vdm.banks=64`")),
        }
    }

    /// The dotted key.
    pub fn key(&self) -> &str {
        self.text[..self.equals].trim()
    }

    /// The value as written.
    pub fn value(&self) -> &str {
        self.text[self.equals + 1..].trim()
    }

    fn leaf_value(&self) -> Value {
        let toml = DeValue::parse(self.value()).ok();
        toml.and_then(to_value).unwrap_or_else(|| Value::String(self.value().into()))
    }
}

/// Finds and reads machine files.
pub struct MachineFile;

/// The built-in machine files. `sim/configs` links to those of the workspace, so the package holds them.
const MACHINES: &[(&str, &str)] = &[
    ("rpu-128x128", include_str!("../../configs/machines/rpu-128x128.toml")),
    ("rpu-128x128-gs", include_str!("../../configs/machines/rpu-128x128-gs.toml")),
    ("rpu-128x128-paper", include_str!("../../configs/machines/rpu-128x128-paper.toml")),
    ("rpu-128x128-shared-reads", include_str!("../../configs/machines/rpu-128x128-shared-reads.toml")),
    ("rpu-128x128-xor", include_str!("../../configs/machines/rpu-128x128-xor.toml")),
];

/// The technology of the paper.
pub(super) const GF12: &str = include_str!("../../configs/tech/gf12.toml");

/// The built-in technology files.
const TECHNOLOGIES: &[(&str, &str)] =
    &[("gf12", GF12), ("scaled-7nm", include_str!("../../configs/tech/scaled-7nm.toml"))];

impl MachineFile {
    /// The names of the built-in machines.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        MACHINES.iter().map(|(name, _)| *name)
    }

    /// Loads a machine file and applies `overrides` in order.
    ///
    /// Paths in a file (`inherits`, `technology`) are relative to it. A name without `.toml` is a
    /// built-in file.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, is not TOML, inherits from itself, lacks a key,
    /// or has an unknown key or an invalid value.
    pub fn load(path: impl AsRef<Path>, overrides: &[Override]) -> Result<Machine, Diagnostic> {
        MachineBase::load(path)?.machine(overrides)
    }

    /// Loads a built-in machine and applies `overrides` in order.
    ///
    /// # Errors
    /// Returns an error if there is no machine of that name, or an override is invalid.
    pub fn built_in(name: &str, overrides: &[Override]) -> Result<Machine, Diagnostic> {
        MachineBase::built_in(name)?.machine(overrides)
    }
}

/// A machine file, read once for many machines that differ in a few keys.
#[derive(Clone)]
pub struct MachineBase {
    layers: Layers,
    /// The file's name for errors.
    name: String,
    /// The machine without overrides; `None` if the file lacks a key.
    machine: Option<Machine>,
}

impl MachineBase {
    /// Reads a machine file, like [`MachineFile::load`].
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, is not TOML, inherits from itself, or has an
    /// unknown key or an invalid value.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Diagnostic> {
        Self::read(&Place::File(path.as_ref().into()))
    }

    /// Reads a built-in machine.
    ///
    /// # Errors
    /// Returns an error if there is no machine of that name.
    pub fn built_in(name: &str) -> Result<Self, Diagnostic> {
        let place = built_in(MACHINES, name).ok_or_else(|| {
            Diagnostic::new(format!("unknown built-in machine `{name}`"))
                .with_help(format!("the built-in machines are {}", names(MACHINES)))
        })?;
        Self::read(&place)
    }

    fn read(place: &Place) -> Result<Self, Diagnostic> {
        let mut layers = Layers::default();
        layers.add_file(place, "", None, &mut Vec::new())?;
        let (name, machine) = (place.name(), layers.clone().finish(&place.name()).ok());
        Ok(Self { layers, name, machine })
    }

    /// The machine with `overrides` applied in order.
    ///
    /// # Errors
    /// Returns an error if the file lacks a key, or an override is invalid.
    pub fn machine(&self, overrides: &[Override]) -> Result<Machine, Diagnostic> {
        if let Some(machine) = self.changed(overrides) {
            return Ok(machine);
        }
        let mut layers = self.layers.clone();
        for change in overrides {
            layers.add_override(change)?;
        }
        layers.finish(&self.name)
    }

    /// The machine with `overrides` if all are valid values of keys. Many times as fast as through the
    /// layers, which errors need for their positions, and which read technology files.
    fn changed(&self, overrides: &[Override]) -> Option<Machine> {
        let mut machine = self.machine.clone()?;
        for change in overrides {
            let (key, value) = (schema::find(change.key())?, change.leaf_value());
            if !key.kind.allows(&value) {
                return None;
            }
            (key.set)(&mut machine, value).ok()?;
        }
        machine.broken_rule().is_none().then_some(machine)
    }
}

/// The location of a file.
#[derive(Clone, PartialEq, Eq)]
enum Place {
    File(PathBuf),
    BuiltIn(&'static str, &'static str),
}

impl Place {
    fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::BuiltIn(name, _) => format!("built-in {name}"),
        }
    }

    /// The location of the file that this one calls `name`.
    fn relative(&self, name: &str, built_ins: &'static [(&str, &str)]) -> Place {
        let bare = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
        match self {
            // Built-in files refer to each other by their paths in the repository.
            Self::BuiltIn(..) => built_in(built_ins, bare),
            Self::File(_) => built_in(built_ins, name),
        }
        .unwrap_or_else(|| match self {
            Self::File(path) => Place::File(path.parent().unwrap_or(Path::new("")).join(name)),
            Self::BuiltIn(..) => Place::File(name.into()),
        })
    }

    /// The identity of a location, to detect cycles.
    fn identity(&self) -> PathBuf {
        match self {
            Self::File(path) => path.canonicalize().unwrap_or_else(|_| path.clone()),
            Self::BuiltIn(name, _) => PathBuf::from(format!("built-in {name}")),
        }
    }
}

fn built_in(files: &'static [(&str, &str)], name: &str) -> Option<Place> {
    files.iter().find(|(built_in, _)| *built_in == name).map(|(name, text)| Place::BuiltIn(name, text))
}

fn names(files: &[(&str, &str)]) -> String {
    files.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A text that sets keys.
#[derive(Clone)]
struct Source {
    name: String,
    text: String,
}

/// A value of a key, and its position.
#[derive(Clone)]
struct Leaf {
    value: Value,
    at: At,
    /// The number of values set before it.
    order: usize,
}

/// A position in one of the sources.
#[derive(Clone)]
struct At {
    source: usize,
    span: Range<usize>,
}

#[derive(Clone, Default)]
struct Layers {
    sources: Vec<Source>,
    leaves: BTreeMap<&'static str, Leaf>,
    /// Values set so far.
    settings: usize,
}

impl Layers {
    fn error(&self, at: &At, message: String, help: Option<String>) -> Diagnostic {
        let Source { name, text } = &self.sources[at.source];
        Diagnostic {
            help: help.map(Into::into),
            ..Diagnostic::new(message).at(name, text.as_str(), at.span.clone())
        }
    }

    /// Adds the keys of a file below `prefix`: empty for a machine, `technology` for a technology.
    /// `named_at` is the reference to the file in another text; `chain` are the files that inherit
    /// from it.
    fn add_file(
        &mut self,
        place: &Place,
        prefix: &str,
        named_at: Option<&At>,
        chain: &mut Vec<PathBuf>,
    ) -> Result<(), Diagnostic> {
        let identity = place.identity();
        if let (true, Some(at)) = (chain.contains(&identity), named_at) {
            let message = format!("`{}` inherits from itself", place.name());
            return Err(self.error(at, message, Some("name a file that does not lead back here".into())));
        }
        let text = match place {
            Place::BuiltIn(_, text) => (*text).to_owned(),
            Place::File(path) => input::read_text(path, Content::Document)
                .map_err(|error| self.unreadable(place, named_at, &error))?,
        };
        let source = self.sources.len();
        self.sources.push(Source { name: place.name(), text: text.clone() });
        let table = DeTable::parse(&text).map_err(|error| {
            let at = At { source, span: error.span().unwrap_or(0..0) };
            self.error(&at, error.message().to_owned(), None)
        })?;
        let table = table.into_inner();
        if let Some(parent) = table.get("inherits") {
            let at = At { source, span: parent.span() };
            let DeValue::String(parent) = parent.get_ref() else {
                let help = "it names the file whose keys this one changes".to_owned();
                return Err(self.error(&at, "`inherits` must be text in quotes".into(), Some(help)));
            };
            let built_ins = if prefix.is_empty() { MACHINES } else { TECHNOLOGIES };
            chain.push(identity);
            self.add_file(&place.relative(parent, built_ins), prefix, Some(&at), chain)?;
            chain.pop();
        }
        for (key, value) in table {
            if key.get_ref() != "inherits" {
                self.add_key(place, prefix, source, key.span(), key.get_ref(), value)?;
            }
        }
        Ok(())
    }

    fn unreadable(&self, place: &Place, named_at: Option<&At>, error: &std::io::Error) -> Diagnostic {
        let message = format!("cannot read `{}`: {error}", place.name());
        let help = Some(format!(
            "a file is named with its path, a built-in one without `.toml`: {}, {}",
            names(MACHINES),
            names(TECHNOLOGIES)
        ));
        match named_at {
            Some(at) => self.error(at, message, help),
            None => {
                Diagnostic { help: help.map(Into::into), ..Diagnostic::new(message).in_file(place.name()) }
            }
        }
    }

    fn add_key(
        &mut self,
        place: &Place,
        prefix: &str,
        source: usize,
        key_span: Range<usize>,
        key: &str,
        value: Spanned<DeValue<'_>>,
    ) -> Result<(), Diagnostic> {
        let path = if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
        let at = At { source, span: value.span() };
        if let Some(key) = schema::find(&path) {
            let value = to_value(value).ok_or_else(|| self.wrong_value(key, &at, None))?;
            return self.set(key, value, at);
        }
        let is_section = schema::section(&path).next().is_some();
        match value.into_inner() {
            DeValue::Table(table) if is_section => {
                for (key, value) in table {
                    self.add_key(place, &path, source, key.span(), key.get_ref(), value)?;
                }
                Ok(())
            }
            DeValue::String(name) if path == "technology" => self.set_technology(place, &name, &at),
            _ if is_section => Err(self.not_a_value(&path, &at)),
            _ => Err(self.unknown(&path, &At { source, span: key_span })),
        }
    }

    fn add_override(&mut self, change: &Override) -> Result<(), Diagnostic> {
        let source = self.sources.len();
        self.sources.push(Source { name: Override::SOURCE.into(), text: change.text.clone() });
        let at = At { source, span: change.equals + 1..change.text.len() };
        let path = change.key();
        match schema::find(path) {
            Some(key) => self.set(key, change.leaf_value(), at),
            None if path == "technology" => {
                let name = change.leaf_value();
                let here = Place::File(PathBuf::new());
                self.set_technology(&here, name.as_str().unwrap_or(change.value()), &at)
            }
            None if schema::section(path).next().is_some() => Err(self.not_a_value(path, &at)),
            None => Err(self.unknown(path, &At { source, span: 0..change.equals })),
        }
    }

    fn set_technology(&mut self, place: &Place, name: &str, at: &At) -> Result<(), Diagnostic> {
        self.leaves.retain(|path, _| !path.starts_with("technology."));
        self.add_file(&place.relative(name, TECHNOLOGIES), "technology", Some(at), &mut Vec::new())
    }

    fn set(&mut self, key: &'static Key, value: Value, at: At) -> Result<(), Diagnostic> {
        if !key.kind.allows(&value) {
            return Err(self.wrong_value(key, &at, Some(&value)));
        }
        self.leaves.insert(key.path, Leaf { value, at, order: self.settings });
        self.settings += 1;
        Ok(())
    }

    fn wrong_value(&self, key: &Key, at: &At, value: Option<&Value>) -> Diagnostic {
        let message = match value {
            Some(value) => format!("invalid value `{value}` for `{}`", key.path),
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
        self.error(at, message, Some(help))
    }

    fn not_a_value(&self, path: &str, at: &At) -> Diagnostic {
        let keys: Vec<_> = schema::section(path).map(|key| format!("`{}`", key.path)).collect();
        let help = format!("set one of its keys: {}", keys.join(", "));
        self.error(at, format!("`{path}` is a section, not a value"), Some(help))
    }

    fn unknown(&self, path: &str, at: &At) -> Diagnostic {
        let help = match schema::nearest(path) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => {
                let parent = path.rsplit_once('.').map_or("", |(parent, _)| parent);
                let mut keys: Vec<_> = schema::section(parent).map(|key| key.path).collect();
                if keys.is_empty() {
                    keys = schema::keys().filter_map(|key| key.path.split('.').next()).collect();
                    keys.dedup();
                }
                format!("there are `{}`", keys.join("`, `"))
            }
        };
        self.error(at, format!("unknown key `{path}`"), Some(help))
    }

    fn finish(self, name: &str) -> Result<Machine, Diagnostic> {
        let whole = |message: String, help: &str| Diagnostic::new(message).in_file(name).with_help(help);
        for key in schema::keys() {
            if !self.leaves.contains_key(key.path) {
                let help = "set it, or inherit it with `inherits = \"rpu-128x128\"`";
                return Err(whole(format!("the key `{}` is missing", key.path), help));
            }
        }
        let values = self.leaves.iter().map(|(&path, leaf)| (path, leaf.value.clone()));
        let machine = assemble(values).map_err(|error| {
            whole(error.message().to_owned(), "every key has the type of the built-in file")
        })?;
        let Some(rule) = machine.broken_rule() else { return Ok(machine) };
        // The error points at the key that was set last.
        let leaves = rule.keys.iter().map(|&key| &self.leaves[key]);
        let last = leaves.max_by_key(|leaf| leaf.order).expect("a rule concerns some keys");
        Err(self.error(&last.at, rule.message.into(), Some(rule.help.into())))
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
    Machine::deserialize(root.into_deserializer())
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

/// A parsed value without its position; `None` for a number that does not fit `i64` or `f64`.
fn to_value(value: Spanned<DeValue<'_>>) -> Option<Value> {
    Value::deserialize(toml::de::ValueDeserializer::from(value)).ok()
}
