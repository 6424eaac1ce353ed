//! The parts of a definition, read from TOML.

use super::{Axis, DataFile, Definition, KERNEL_KEYS, ScheduleFor, Setting, TOP_KEYS, in_order, quoted};
use diagnostic::{Diagnostic, Diagnostics, counted};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

impl Definition {
    /// Recognises files of another kind by their keys.
    pub(super) fn check_kind(&self, table: &DeTable<'_>) -> Result<(), Diagnostic> {
        let of_machine = |key: &str| {
            let section = |known: &&sim::machine::table::Section| known.path.split('.').next() == Some(key);
            key == "inherits"
                || sim::machine::SECTIONS
                    .iter()
                    .filter(|known| !known.path.is_empty())
                    .any(|known| section(&known))
        };
        let kind = |key: &str| match key {
            key if TOP_KEYS.contains(&key) || KERNEL_KEYS.contains(&key) => None,
            key if of_machine(key) => Some((
                "a machine",
                "name it in a sweep: `machine = \"FILE\"`, or use it with `rpu run --machine FILE`",
            )),
            "plans" | "entry" | "tuning" | "forwarding" | "stagger" => {
                Some(("a plan", "name it in a sweep: `plan = \"FILE\"`"))
            }
            _ => None,
        };
        let foreign = table.iter().filter_map(|(key, _)| Some((key.span(), kind(key.get_ref())?)));
        match foreign.min_by_key(|(span, _)| span.start) {
            Some((span, (kind, help))) => Err(self.error(span, format!("this is {kind}, not a sweep"), help)),
            None => Ok(()),
        }
    }

    /// The error of an unknown key of the definition.
    pub(super) fn unknown_key(&self, span: Range<usize>, unknown: &str) -> Diagnostic {
        let known = || TOP_KEYS.iter().chain(&KERNEL_KEYS[1..]).copied();
        let help = match diagnostic::nearest(unknown, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", quoted(known())),
        };
        self.error(span, format!("unknown key `{unknown}`"), help)
    }

    pub(super) fn toml_error(&self, within: Range<usize>, error: &toml::de::Error) -> Diagnostic {
        let span = error.span().unwrap_or(within);
        Diagnostic { help: None, ..self.error(span, error.message(), "") }
    }

    pub(super) fn read<T: serde::de::DeserializeOwned>(
        &self,
        value: Spanned<DeValue<'_>>,
    ) -> Result<T, Diagnostic> {
        let span = value.span();
        T::deserialize(toml::de::ValueDeserializer::from(value))
            .map_err(|error| self.toml_error(span, &error))
    }

    /// A number, a boolean or a text.
    pub(super) fn plain(&self, value: Spanned<DeValue<'_>>) -> Result<toml::Value, Diagnostic> {
        let span = value.span();
        match self.read(value)? {
            toml::Value::Table(_) | toml::Value::Array(_) | toml::Value::Datetime(_) => Err(self.error(
                span,
                "invalid value for a key",
                "write a number, true or false, or a text in quotes",
            )),
            plain => Ok(plain),
        }
    }

    /// The value of `schedule_for`, and the position of each key in it.
    pub(super) fn schedule_for(
        &self,
        value: Spanned<DeValue<'_>>,
    ) -> Result<(ScheduleFor, Vec<Range<usize>>), Diagnostic> {
        let span = value.span();
        let wrong = |span| {
            let help = "write \"machine\", \"base\", or a list of keys such as [\"hple.count\"]";
            self.error(span, "invalid `schedule_for`", help)
        };
        match value.into_inner() {
            DeValue::String(name) if name == "machine" => Ok((ScheduleFor::Machine, Vec::new())),
            DeValue::String(name) if name == "base" => Ok((ScheduleFor::Base, Vec::new())),
            DeValue::Array(values) => {
                let (mut keys, mut spans) = (Vec::new(), Vec::new());
                for value in values {
                    spans.push(value.span());
                    match value.into_inner() {
                        DeValue::String(key) => keys.push(key.into_owned()),
                        _ => return Err(wrong(spans[keys.len()].clone())),
                    }
                }
                Ok((ScheduleFor::Keys(keys), spans))
            }
            _ => Err(wrong(span)),
        }
    }

    /// Dotted keys with their values, in the order of the text.
    pub(super) fn leaves<'t>(
        &self,
        prefix: &str,
        value: Spanned<DeValue<'t>>,
    ) -> Result<Vec<(String, Spanned<DeValue<'t>>)>, Diagnostic> {
        let span = value.span();
        let DeValue::Table(table) = value.into_inner() else {
            return Err(self.error(span, "expected a table", "write keys with their values"));
        };
        let mut leaves = Vec::new();
        for (key, value) in in_order(table) {
            let key = if prefix.is_empty() {
                key.get_ref().to_string()
            } else {
                format!("{prefix}.{}", key.get_ref())
            };
            if matches!(value.get_ref(), DeValue::Table(_)) {
                leaves.extend(self.leaves(&key, value)?);
            } else {
                leaves.push((key, value));
            }
        }
        Ok(leaves)
    }

    /// Adds the files of symbols.
    pub(super) fn add_data(&mut self, expected: bool, value: Spanned<DeValue<'_>>) -> Result<(), Diagnostic> {
        for (symbol, value) in self.leaves("", value)? {
            let span = value.span();
            let DeValue::String(path) = value.into_inner() else {
                return Err(self.error(span, "expected the path of a file", "write `x = \"x.bin\"`"));
            };
            self.data.push(DataFile { expected, symbol, path: path.into_owned(), span });
        }
        Ok(())
    }

    /// Keys with lists of values.
    #[expect(clippy::type_complexity, reason = "it is taken apart where it is used")]
    pub(super) fn columns(
        &self,
        value: Spanned<DeValue<'_>>,
    ) -> Result<Vec<(String, Vec<(toml::Value, Range<usize>)>)>, Diagnostics> {
        let span = value.span();
        let leaves = self.leaves("", value)?;
        if leaves.is_empty() {
            let help = "write keys with lists of values, or leave it out";
            return Err(self.error(span, "no keys to vary", help).into());
        }
        let mut errors = Diagnostics::default();
        let mut columns = Vec::new();
        for (key, value) in leaves {
            let span = value.span();
            let DeValue::Array(array) = value.into_inner() else {
                errors.push(self.needs_a_list(span, &key));
                continue;
            };
            if array.is_empty() {
                errors.push(self.needs_a_list(span, &key));
            }
            let mut values = Vec::new();
            for value in array {
                let span = value.span();
                values.extend(errors.keep(self.plain(value)).map(|value| (value, span)));
            }
            columns.push((key, values));
        }
        errors.or(columns)
    }

    fn needs_a_list(&self, span: Range<usize>, key: &str) -> Diagnostic {
        self.error(span, format!("`{key}` needs a list of values"), format!("write `{key} = [1, 2]`"))
    }

    pub(super) fn zip(&self, value: Spanned<DeValue<'_>>) -> Result<Axis, Diagnostics> {
        let span = value.span();
        let columns = self.columns(value)?;
        let rows = columns.first().map_or(0, |(_, values)| values.len());
        if let Some((key, values)) = columns.iter().find(|(_, values)| values.len() != rows) {
            let values = counted(values.len(), "value", "values");
            let message = format!("`{key}` has {values}, `{}` has {rows}", columns[0].0);
            let help = "the keys of [zip] advance together: give each as many values";
            return Err(self.error(span, message, help).into());
        }
        let row = |row: usize| {
            let setting = |(key, values): &(String, Vec<(toml::Value, Range<usize>)>)| {
                let (value, span) = values[row].clone();
                Setting { key: key.clone(), value, span }
            };
            columns.iter().map(setting).collect()
        };
        Ok((0..rows).map(row).collect())
    }

    pub(super) fn list(&self, value: Spanned<DeValue<'_>>) -> Result<Axis, Diagnostic> {
        let span = value.span();
        let tables = match value.into_inner() {
            DeValue::Array(tables) if !tables.is_empty() => tables,
            _ => {
                return Err(self.error(
                    span,
                    "`list` must be a list of tables",
                    "write [[list]] before each",
                ));
            }
        };
        let row = |table| {
            let settings = self.leaves("", table)?.into_iter().map(|(key, value)| {
                let span = value.span();
                Ok(Setting { key, value: self.plain(value)?, span })
            });
            settings.collect()
        };
        tables.into_iter().map(row).collect()
    }
}
