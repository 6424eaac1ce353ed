//! Reading machine files.

use super::layers::{At, Layer, Layers, Leaf};
use super::location::{Location, built_in, names};
use super::overrides::Override;
use super::table::Key;
use super::technology::is_technology;
use super::{Machine, schema};
use configs::{MACHINES, TECHNOLOGIES};
use diagnostic::{Code, Diagnostic, Diagnostics, nearest};
use std::path::Path;

/// Finds and reads machine files.
pub struct MachineFile;

impl MachineFile {
    /// The names of the built-in machines.
    pub fn built_in_names() -> impl Iterator<Item = &'static str> {
        MACHINES.iter().map(|(name, _)| *name)
    }

    /// Loads a machine file and applies `overrides`, as [`MachineBase::machine`] does.
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

    /// Loads a built-in machine and applies `overrides`, as [`MachineBase::machine`] does.
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

    /// The machine with `overrides` applied: a file for a whole section first, then single keys in order.
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
        // A file would replace the keys of its section that were set before it.
        let (files, keys): (Vec<_>, Vec<_>) = overrides.iter().partition(|change| change.is_file());
        files.into_iter().chain(keys).for_each(|change| layers.add_override(change));
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
