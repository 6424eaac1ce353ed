//! Reading machine files.
//!
//! A machine is built up in layers: the inherited file, the file itself, the overrides. A later
//! layer replaces values of an earlier one. Every value remembers its source text, so that an error
//! can point at it.

use super::table::{Key, Kind};
use super::technology::is_technology;
use super::{Machine, schema};
use diagnostic::document::{Document, Field, Format, Node};
use diagnostic::input::{self, Content};
use diagnostic::{Code, Diagnostic, Diagnostics, nearest};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

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

    pub(super) fn leaf_value(&self) -> Value {
        let text = format!("value = {}", self.value());
        let document = Document::toml(Self::SOURCE, &text).ok();
        // One value, not a text that goes on with other keys.
        let fields = document.as_ref().map_or(&[][..], |document| document.root().fields());
        let value = if let [field] = fields { field.item.value() } else { None };
        value.unwrap_or_else(|| Value::String(self.value().into()))
    }
}

/// Finds and reads machine files.
pub struct MachineFile;

/// The built-in machine files. `sim/configs` links to the workspace's files, so the package holds them.
const MACHINES: &[(&str, &str)] = &[
    ("fast", include_str!("../../configs/machines/fast.toml")),
    ("large", include_str!("../../configs/machines/large.toml")),
    ("narrow", include_str!("../../configs/machines/narrow.toml")),
    ("rpu-128x128", include_str!("../../configs/machines/rpu-128x128.toml")),
    ("rpu-128x128-gs", include_str!("../../configs/machines/rpu-128x128-gs.toml")),
    ("rpu-128x128-paper", include_str!("../../configs/machines/rpu-128x128-paper.toml")),
    ("rpu-128x128-shared-reads", include_str!("../../configs/machines/rpu-128x128-shared-reads.toml")),
    ("rpu-128x128-xor", include_str!("../../configs/machines/rpu-128x128-xor.toml")),
];

/// The technology of the paper.
pub(super) const GF12: &str = include_str!("../../configs/tech/gf12.toml");

/// The built-in technology files.
pub(super) const TECHNOLOGIES: &[(&str, &str)] = &[
    ("gf12", GF12),
    ("gf12-built", include_str!("../../configs/tech/gf12-built.toml")),
    ("scaled-7nm", include_str!("../../configs/tech/scaled-7nm.toml")),
];

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
    /// Returns all errors: a file cannot be read, is not TOML, inherits from itself, lacks a key,
    /// or has an unknown key or an invalid value.
    pub fn load(path: impl AsRef<Path>, overrides: &[Override]) -> Result<Machine, Diagnostics> {
        MachineBase::load(path)?.machine(overrides)
    }

    /// Loads a built-in machine and applies `overrides` in order.
    ///
    /// # Errors
    /// Returns an error if there is no machine of that name, or an override is invalid.
    pub fn built_in(name: &str, overrides: &[Override]) -> Result<Machine, Diagnostics> {
        MachineBase::built_in(name)?.machine(overrides)
    }
}

/// A machine file, read once for many machines that differ in a few keys.
#[derive(Clone)]
pub struct MachineBase {
    layers: Layers,
    /// The file's name for errors.
    name: String,
    /// The machine without overrides; `None` if the file lacks a key or breaks a rule.
    machine: Option<Machine>,
}

impl MachineBase {
    /// Reads a machine file, like [`MachineFile::load`].
    ///
    /// # Errors
    /// Returns all errors: a file cannot be read, is not TOML, inherits from itself, or has an
    /// unknown key or an invalid value.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        Self::read(&Location::File(path.as_ref().into()))
    }

    /// Reads the machine of a name: a [file](Self::is_file), or else a built-in machine.
    ///
    /// # Errors
    /// Those of [`load`](Self::load) and [`built_in`](Self::built_in).
    pub fn named(name: impl AsRef<Path>) -> Result<Self, Diagnostics> {
        let name = name.as_ref();
        if Self::is_file(name) { Self::load(name) } else { Self::built_in(&diagnostic::path(name)) }
    }

    /// Whether the name of a machine is one of a file: it ends in `.toml`, or has a folder.
    pub fn is_file(name: &Path) -> bool {
        let is_toml = name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
        is_toml || name.parent().is_some_and(|folder| !folder.as_os_str().is_empty())
    }

    /// Reads a built-in machine.
    ///
    /// # Errors
    /// Returns an error if there is no machine of that name.
    pub fn built_in(name: &str) -> Result<Self, Diagnostics> {
        let location = built_in(MACHINES, name).ok_or_else(|| {
            let help = match nearest(name, MachineFile::built_in_names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the built-in machines are {}", names(MACHINES)),
            };
            Diagnostic::new(format!("unknown built-in machine `{name}`"))
                .with_code(Code::Unreadable.name())
                .with_help(help)
        })?;
        Self::read(&location)
    }

    fn read(location: &Location) -> Result<Self, Diagnostics> {
        let mut layers = Layers::default();
        layers.add_file(location, "", None, &mut Vec::new());
        let (name, machine) = (location.name(), layers.clone().finish(&location.name()));
        match machine {
            Err(errors) if !layers.errors.is_empty() => Err(errors),
            machine => Ok(Self { layers, name, machine: machine.ok() }),
        }
    }

    /// The paper's machine in a technology, by the name of a built-in one or by its file; `None` if it is
    /// neither. A file that cannot be read is none.
    pub fn of_technology(path: impl AsRef<Path>) -> Option<Result<Self, Diagnostics>> {
        let path = path.as_ref();
        let location = match path.to_str().and_then(|name| built_in(TECHNOLOGIES, name)) {
            Some(location) => location,
            None if is_technology(path) => Location::File(path.into()),
            None => return None,
        };
        let name = diagnostic::path(path);
        let paper = built_in(MACHINES, "rpu-128x128").expect("the built-in machine");
        let mut layers = Layers::default();
        layers.add_file(&paper, "", None, &mut Vec::new());
        let layer = layers.texts.len();
        layers.texts.push(Layer { name: Override::SOURCE.into(), text: name.clone() });
        layers.set_technology(&location, &At { layer, span: 0..name.len() });
        let machine = layers.clone().finish(&name);
        Some(match machine {
            Err(errors) => Err(errors),
            Ok(machine) => Ok(Self { layers, name, machine: Some(machine) }),
        })
    }

    /// The machine with `overrides` applied in order.
    ///
    /// # Errors
    /// Returns all errors: the file lacks a key, or an override is invalid.
    pub fn machine(&self, overrides: &[Override]) -> Result<Machine, Diagnostics> {
        match self.changed(overrides) {
            Some(machine) => Ok(machine),
            None => self.changed_layers(overrides).finish(&self.name),
        }
    }

    /// The source of every key's value, in the order of the paper's machine file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::machine`].
    pub fn sources(&self, overrides: &[Override]) -> Result<Vec<ValueSource>, Diagnostics> {
        let layers = self.changed_layers(overrides);
        layers.clone().finish(&self.name)?;
        let source = |key: &'static Key| {
            let Leaf { at, .. } = &layers.leaves[key.path];
            let Layer { name, text } = &layers.texts[at.layer];
            let line = text[..at.span.start].matches('\n').count() + 1;
            ValueSource { key, file: name.clone(), line }
        };
        Ok(schema::keys().map(source).collect())
    }

    fn changed_layers(&self, overrides: &[Override]) -> Layers {
        let mut layers = self.layers.clone();
        overrides.iter().for_each(|change| layers.add_override(change));
        layers
    }

    /// The machine with `overrides` if all are valid values of keys.
    fn changed(&self, overrides: &[Override]) -> Option<Machine> {
        let assignments: Vec<_> = overrides.iter().map(Override::assignment).collect::<Option<_>>()?;
        self.machine.as_ref()?.with(&assignments)
    }
}

/// The origin of a machine's value of a key.
#[derive(Clone, Debug)]
pub struct ValueSource {
    /// The key.
    pub key: &'static Key,
    /// The file; `built-in NAME` for a built-in one, [`Override::SOURCE`] for an override.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

/// The location of a file.
#[derive(Clone, PartialEq, Eq)]
enum Location {
    File(PathBuf),
    BuiltIn(&'static str, &'static str),
}

impl Location {
    fn name(&self) -> String {
        match self {
            Self::File(path) => diagnostic::path(path),
            Self::BuiltIn(name, _) => format!("built-in {name}"),
        }
    }

    /// The location of the file that this one calls `name`.
    fn relative(&self, name: &str, built_ins: &'static [(&str, &str)]) -> Location {
        let bare = Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name);
        match self {
            // Built-in files refer to each other by their paths in the repository.
            Self::BuiltIn(..) => built_in(built_ins, bare),
            Self::File(_) => built_in(built_ins, name),
        }
        .unwrap_or_else(|| match self {
            Self::File(path) => Location::File(path.parent().unwrap_or(Path::new("")).join(name)),
            Self::BuiltIn(..) => Location::File(name.into()),
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

fn built_in(files: &'static [(&str, &str)], name: &str) -> Option<Location> {
    files.iter().find(|(built_in, _)| *built_in == name).map(|(name, text)| Location::BuiltIn(name, text))
}

fn names(files: &[(&str, &str)]) -> String {
    files.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A text that sets keys.
#[derive(Clone)]
struct Layer {
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

/// A position in a layer.
#[derive(Clone)]
struct At {
    layer: usize,
    span: Range<usize>,
}

/// The longest chain of files that inherit from each other.
const MAX_CHAIN: usize = 16;

#[derive(Clone, Default)]
struct Layers {
    texts: Vec<Layer>,
    leaves: BTreeMap<&'static str, Leaf>,
    /// Values set so far.
    settings: usize,
    errors: Diagnostics,
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
    fn add_file(
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

    fn add_override(&mut self, change: &Override) {
        let layer = self.texts.len();
        self.texts.push(Layer { name: Override::SOURCE.into(), text: change.text.clone() });
        let at = At { layer, span: change.equals + 1..change.text.len() };
        let path = change.key();
        match schema::find(path) {
            Some(key) => self.set(key, Some(change.leaf_value()), at),
            None if path == "technology" => {
                let name = change.leaf_value();
                let here = Location::File(PathBuf::new());
                let name = name.as_str().unwrap_or(change.value());
                self.set_technology(&here.relative(name, TECHNOLOGIES), &at);
            }
            None if schema::section(path).next().is_some() => self.not_a_value(path, &at),
            None => self.unknown(path, &At { layer, span: 0..change.equals }),
        }
    }

    fn set_technology(&mut self, location: &Location, at: &At) {
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
            keys = schema::keys().filter_map(|key| key.path.split('.').next()).collect();
            keys.dedup();
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

    fn finish(mut self, name: &str) -> Result<Machine, Diagnostics> {
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
