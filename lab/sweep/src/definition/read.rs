//! The parts of a definition, read from TOML.

use super::{Axis, DataFile, Definition, MAX_LABEL, ScheduleFor, Setting, TOP_KEYS};
use crate::parameter::{self, PARAMETERS};
use diagnostic::document::{Document, Field, Format, Item, Node, Schema};
use diagnostic::{Code, Diagnostic, Diagnostics, counted};
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// The keys of all rows of a list, as many as one table may have.
const MAX_KEYS: usize = 1000;

/// The schema of definitions.
static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| Schema::from_value(Format::Sweep, crate::schema::sweep::schema()));

impl Definition {
    /// Recognises files of another format by their keys.
    pub(super) fn check_format(&self, root: &Item<'_>) -> Result<(), Diagnostic> {
        let Some((span, key, other)) = Format::Sweep.foreign(root) else { return Ok(()) };
        let message = format!("this is {}, not a sweep", other.noun());
        let help = format!("`{key}` is a key of {}; {}", other.noun(), other.remedy());
        Err(self.error(span, message, help).with_code(Code::OtherFormat.name()))
    }

    /// The error of an unknown key of the definition.
    pub(super) fn unknown_key(&self, span: Range<usize>, unknown: &str) -> Diagnostic {
        let known = || TOP_KEYS.into_iter().chain(PARAMETERS.iter().map(|parameter| parameter.name));
        let of_machine = sim::machine::keys().find(|key| key.path.split('.').next() == Some(unknown));
        let near = || diagnostic::nearest(unknown, known()).map(|near| format!("did you mean `{near}`?"));
        let help = match (of_machine, SCHEMA.table_with(unknown)) {
            (Some(key), _) => {
                format!("machine keys stand in `[grid]` with a list of values, such as `{} = [..]`", key.path)
            }
            (None, Some(table)) => format!("it is a key of the table `[{table}]`"),
            (None, None) => near().unwrap_or_else(|| "`rpu machine schema sweep` prints all keys".to_owned()),
        };
        self.error(span, format!("unknown key `{unknown}`"), help).with_code(Code::UnknownKey.name())
    }

    /// The value of a key, checked by the schema.
    pub(super) fn read<T: DeserializeOwned>(
        &self,
        document: &Document<'_>,
        key: &str,
        item: &Item<'_>,
    ) -> Result<T, Diagnostics> {
        SCHEMA.check_key(document, key, item)?;
        let invalid = |message: String| self.error(item.span.clone(), message, "");
        let value = item.value().ok_or_else(|| invalid(format!("invalid value for `{key}`")))?;
        Ok(value.try_into().map_err(|error: toml::de::Error| invalid(error.message().to_owned()))?)
    }

    /// A text of a chart.
    pub(super) fn label(
        &self,
        document: &Document<'_>,
        key: &str,
        item: &Item<'_>,
    ) -> Result<String, Diagnostics> {
        let text: String = self.read(document, key, item)?;
        if !diagnostic::is_line(&text) {
            let message = format!("`{key}` is not one line of text");
            return Err(self
                .error(item.span.clone(), message, "write it in one line, as reports show it")
                .into());
        }
        if text.len() > MAX_LABEL { Err(self.too_long(item.span.clone(), key).into()) } else { Ok(text) }
    }

    pub(super) fn too_long(&self, span: Range<usize>, key: &str) -> Diagnostic {
        let message = format!("`{key}` has more than {MAX_LABEL} bytes");
        self.error(span, message, "shorten it: charts show it in one line")
    }

    /// A number, a boolean or a text.
    pub(super) fn plain(&self, item: &Item<'_>) -> Result<toml::Value, Diagnostic> {
        match item.value() {
            Some(toml::Value::Table(_) | toml::Value::Array(_) | toml::Value::Datetime(_)) | None => {
                let help = "write a number, true or false, or a quoted string";
                Err(self.error(item.span.clone(), "invalid value for a key", help))
            }
            Some(plain) => Ok(plain),
        }
    }

    /// The value of `schedule_for`, and the position of each key in it.
    pub(super) fn schedule_for(
        &self,
        item: &Item<'_>,
    ) -> Result<(ScheduleFor, Vec<Range<usize>>), Diagnostic> {
        let wrong = |span| {
            let help = "write \"machine\", \"base\", or a list of keys such as [\"hple.count\"]";
            self.error(span, "invalid `schedule_for`", help)
        };
        match &item.node {
            Node::Text(name) if name == "machine" => Ok((ScheduleFor::Machine, Vec::new())),
            Node::Text(name) if name == "base" => Ok((ScheduleFor::Base, Vec::new())),
            Node::List(items) => {
                let key = |item: &Item<'_>| {
                    let key = item.text().ok_or_else(|| wrong(item.span.clone()))?;
                    Ok((key.to_owned(), item.span.clone()))
                };
                let (keys, spans) = items.iter().map(key).collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
                Ok((ScheduleFor::Keys(keys), spans))
            }
            _ => Err(wrong(item.span.clone())),
        }
    }

    /// Dotted keys with their values, in the order of the text.
    pub(super) fn leaves<'i, 't>(
        &self,
        prefix: &str,
        item: &'i Item<'t>,
    ) -> Result<Vec<(String, &'i Field<'t>)>, Diagnostic> {
        let Node::Table(fields) = &item.node else {
            return Err(self.error(item.span.clone(), "expected a table", "write keys with their values"));
        };
        let mut leaves = Vec::new();
        for field in fields {
            let key =
                if prefix.is_empty() { field.key.to_string() } else { format!("{prefix}.{}", field.key) };
            if matches!(field.item.node, Node::Table(_)) {
                leaves.extend(self.leaves(&key, &field.item)?);
            } else {
                leaves.push((key, field));
            }
        }
        Ok(leaves)
    }

    /// Adds the files of symbols.
    pub(super) fn add_data(&mut self, expected: bool, item: &Item<'_>) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::default();
        for (symbol, Field { item, .. }) in self.leaves("", item)? {
            let span = item.span.clone();
            match item.text() {
                Some(path) => self.data.push(DataFile { expected, symbol, path: path.to_owned(), span }),
                None => {
                    errors.push(self.error(span, "expected the path of a file", "write `x = \"x.bin\"`"));
                }
            }
        }
        errors.or(())
    }

    /// The settings of each key with a list of values: one or more.
    pub(super) fn columns(&self, item: &Item<'_>) -> Result<Axis, Diagnostics> {
        let leaves = self.leaves("", item)?;
        if leaves.is_empty() {
            let help = "write keys with lists of values, or leave it out";
            return Err(self.error(item.span.clone(), "no keys to vary", help).into());
        }
        let mut errors = Diagnostics::default();
        let mut columns = Vec::new();
        for (key, field) in leaves {
            if field.item.items().is_empty() {
                errors.push(self.needs_a_list(&field.item, &key));
                continue;
            }
            let key = Arc::from(key);
            let settings = field.item.items().iter().map(|item| self.setting(&key, field, item));
            columns.push(settings.filter_map(|setting| errors.keep(setting)).collect());
        }
        errors.or(columns)
    }

    /// The value `item` of a field.
    fn setting(&self, key: &Arc<str>, field: &Field<'_>, item: &Item<'_>) -> Result<Setting, Diagnostic> {
        let (key_span, span) = (field.span.clone(), item.span.clone());
        // What no override of a machine can name.
        if key.trim().is_empty() || key.contains('=') {
            return Err(self.unknown_key(key_span, key));
        }
        let key = match parameter::canonical(key) {
            Cow::Borrowed(_) => Arc::clone(key),
            Cow::Owned(key) => key.into(),
        };
        Ok(Setting { key, key_span, value: self.plain(item)?, span })
    }

    fn needs_a_list(&self, item: &Item<'_>, key: &str) -> Diagnostic {
        let value = item.value().filter(|value| !value.is_array() && !value.is_table());
        let values = value.map_or_else(|| "1, 2".to_owned(), |value| value.to_string());
        let message = format!("`{key}` needs a list of values");
        self.error(item.span.clone(), message, format!("write `{key} = [{values}]`"))
    }

    pub(super) fn zip(&self, item: &Item<'_>) -> Result<Axis, Diagnostics> {
        let columns = self.columns(item)?;
        let rows = columns.first().map_or(0, Vec::len);
        if let Some(settings) = columns.iter().find(|settings| settings.len() != rows) {
            let values = counted(settings.len(), "value", "values");
            let message = format!("`{}` has {values}, `{}` has {rows}", settings[0].key, columns[0][0].key);
            let help = "the keys of [zip] advance together: give each as many values";
            let error = self.error(item.span.clone(), message, help);
            return Err(error.with_code(Code::Contradiction.name()).into());
        }
        let row = |row: usize| columns.iter().map(|settings| settings[row].clone()).collect();
        Ok((0..rows).map(row).collect())
    }

    pub(super) fn list(&self, item: &Item<'_>) -> Result<Axis, Diagnostics> {
        if item.items().is_empty() {
            let help = "write [[list]] before each";
            return Err(self.error(item.span.clone(), "`list` must be a list of tables", help).into());
        }
        let mut errors = Diagnostics::default();
        let (mut rows, mut keys) = (Axis::new(), HashSet::<Arc<str>>::new());
        for table in item.items() {
            let mut row = Vec::new();
            for (key, field) in errors.keep(self.leaves("", table)).unwrap_or_default() {
                let key = keys.get(&*key).map_or_else(|| Arc::from(key), Arc::clone);
                if keys.insert(Arc::clone(&key)) && keys.len() > MAX_KEYS {
                    let message = format!("more than {MAX_KEYS} keys in all rows of `list`");
                    return Err(self
                        .error(field.span.clone(), message, "give the rows the same keys")
                        .into());
                }
                row.extend(errors.keep(self.setting(&key, field, &field.item)));
            }
            rows.push(row);
        }
        errors.or(rows)
    }
}
