//! The check of a document against a JSON schema.

use super::describe::{describe, remark, resolve};
use super::{Document, Format, Item, Node, json};
use crate::{Code, Diagnostic, Diagnostics, Span, nearest};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::borrow::Cow;

/// The longest value that a message repeats, in bytes.
const LONGEST: usize = 60;

/// A JSON schema of a format: the part of draft 7 that this project's formats use.
#[derive(Clone, Debug)]
pub struct Schema {
    format: Format,
    root: Value,
}

impl Schema {
    /// The table of the top level that has a key.
    pub fn table_with(&self, key: &str) -> Option<&str> {
        let tables = self.root["properties"].as_object()?;
        tables.iter().find(|(_, table)| table["properties"].get(key).is_some()).map(|(name, _)| &**name)
    }

    /// The schema in a text.
    ///
    /// # Panics
    /// Panics if the text is not JSON: schemas are part of the program.
    pub fn new(format: Format, text: &str) -> Self {
        Self::from_value(format, serde_json::from_str(text).expect("a schema of this project is JSON"))
    }

    /// The schema in a JSON value.
    pub fn from_value(format: Format, root: Value) -> Self {
        Self { format, root }
    }

    /// Reads a TOML document.
    ///
    /// # Errors
    /// Returns all errors: the text is not TOML, or keys are missing, unknown or have invalid values.
    pub fn read_toml<T: DeserializeOwned>(&self, file: &str, text: &str) -> Result<T, Diagnostics> {
        let document = Document::toml(file, text)?;
        self.check(&document)?;
        Ok(document.read()?)
    }

    /// Reads a JSON document that may be long: its parts get spans only if it has errors.
    ///
    /// # Errors
    /// Returns all errors: the text is not JSON, an object has a key twice, a key is missing or has an
    /// invalid value.
    pub fn read_json<T: DeserializeOwned>(&self, file: &str, text: &str) -> Result<T, Diagnostics> {
        let error = match serde_json::from_str(text) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        let document = Document::json(file, text)?;
        self.check(&document)?;
        Err(document.error(Code::Value, json::span(text, &error), json::message(&error)).into())
    }

    /// The schema as a JSON value.
    pub fn value(&self) -> &Value {
        &self.root
    }

    /// Checks a document.
    ///
    /// # Errors
    /// Returns all errors, in the order of the text; only one if the document has another format.
    pub fn check(&self, document: &Document<'_>) -> Result<(), Diagnostics> {
        if let Some((span, key, other)) = self.format.foreign(document.root()) {
            let message = format!("this is {}, not {}", other.noun(), self.format.noun());
            let help = format!("`{key}` is a key of {}; {}", other.noun(), other.remedy());
            return Err(document.error(Code::OtherFormat, span, message).with_help(help).into());
        }
        self.check_part(document, &self.root, document.root(), "")
    }

    /// Checks the value of one key at the top of a document.
    ///
    /// # Errors
    /// Returns all errors, in the order of the text.
    pub fn check_key(&self, document: &Document<'_>, key: &str, item: &Item<'_>) -> Result<(), Diagnostics> {
        self.check_part(document, &self.root["properties"][key], item, key)
    }

    fn check_part(
        &self,
        document: &Document<'_>,
        schema: &Value,
        item: &Item<'_>,
        path: &str,
    ) -> Result<(), Diagnostics> {
        let mut check = Check { root: &self.root, document, errors: Vec::new() };
        check.item(schema, item, path);
        let mut errors = check.errors;
        errors.sort_by_key(|error| error.span.as_ref().map(|span| span.start));
        let mut diagnostics = Diagnostics::default();
        errors.into_iter().for_each(|error| diagnostics.push(error));
        diagnostics.or(())
    }
}

struct Check<'c> {
    root: &'c Value,
    document: &'c Document<'c>,
    errors: Vec<Diagnostic>,
}

impl Check<'_> {
    fn report(&mut self, code: Code, span: impl Into<Option<Span>>, message: String, help: String) {
        self.errors.push(self.document.error(code, span, message).with_help(help));
    }

    /// Checks an item, the value of the key `path` or a part of it.
    fn item(&mut self, schema: &Value, item: &Item<'_>, path: &str) {
        let meaning = schema;
        let schema = resolve(self.root, schema);
        if let Some(alternatives) = schema["anyOf"].as_array() {
            // Of alternatives with one type each, the value's type chooses.
            let mut alternatives = alternatives.iter().map(|schema| resolve(self.root, schema));
            return match alternatives
                .find(|schema| has_type(&schema["type"], &item.node) && listed(schema, item))
            {
                Some(chosen) => self.item(chosen, item, path),
                None => self.invalid(meaning, item, path),
            };
        }
        if !has_type(&schema["type"], &item.node) || !listed(schema, item) || !in_range(schema, item) {
            return self.invalid(meaning, item, path);
        }
        for item in item.items() {
            self.item(&schema["items"], item, path);
        }
        if let Node::Table(_) = item.node {
            self.table(schema, item, path);
        }
    }

    fn invalid(&mut self, schema: &Value, item: &Item<'_>, path: &str) {
        let source = self.document.source(&item.span);
        let of = if path.is_empty() { String::new() } else { format!(" for `{path}`") };
        let message = if source.len() > LONGEST || source.contains('\n') || source.starts_with("[") {
            format!("invalid value{of}")
        } else {
            format!("invalid value `{source}`{of}")
        };
        let mut help = format!("it must be {}", describe(self.root, schema, self.document.syntax()));
        let words = resolve(self.root, schema)["enum"].as_array().into_iter().flatten();
        match item.text().and_then(|text| nearest(text, words.filter_map(Value::as_str))) {
            Some(near) => help += &format!("; did you mean `\"{near}\"`?"),
            // Wide numbers are texts, since many readers of JSON round them.
            None if source.starts_with(|first: char| first.is_ascii_digit())
                && takes_text(self.root, schema) =>
            {
                help += &format!("; did you mean `\"{source}\"`?");
            }
            None => help += &remark(self.root, schema),
        }
        self.report(Code::Value, item.span.clone(), message, help);
    }

    fn table(&mut self, schema: &Value, item: &Item<'_>, path: &str) {
        let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        let properties = &schema["properties"];
        for field in item.fields() {
            match (properties.get(&*field.key), &schema["additionalProperties"]) {
                (Some(schema), _) => self.item(schema, &field.item, &below(&field.key)),
                (None, Value::Bool(false)) => {
                    let help = known_keys(properties, &field.key);
                    let message = format!("unknown key `{}`", below(&field.key));
                    self.report(Code::UnknownKey, field.span.clone(), message, help);
                }
                (None, rest) => self.item(rest, &field.item, &below(&field.key)),
            }
        }
        // A misspelt key is not missing as well.
        let misspelt = |key: &str| {
            let unknown = item.fields().iter().filter(|field| properties.get(&*field.key).is_none());
            unknown.into_iter().any(|field| nearest(&field.key, [key]).is_some())
        };
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for key in required.filter(|key| item.get(key).is_none() && !misspelt(key)) {
            let help = format!("add `{key}`{}", remark(self.root, &properties[key]));
            let message = format!("the key `{}` is missing", below(key));
            let span = (!path.is_empty()).then(|| item.span.clone());
            self.report(Code::MissingKey, span, message, help);
        }
    }
}

/// The help for an unknown key.
fn known_keys(properties: &Value, unknown: &str) -> String {
    let keys = || properties.as_object().into_iter().flat_map(|keys| keys.keys()).map(String::as_str);
    match nearest(unknown, keys()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys are `{}`", keys().collect::<Vec<_>>().join("`, `")),
    }
}

fn has_type(rule: &Value, node: &Node<'_>) -> bool {
    match rule {
        Value::Array(rules) => rules.iter().any(|rule| has_type(rule, node)),
        Value::String(name) => match node {
            Node::Table(_) => name == "object",
            Node::List(_) => name == "array",
            Node::Text(_) => name == "string",
            Node::Integer(_) => name == "integer" || name == "number",
            Node::Float(_) => name == "number",
            Node::Boolean(_) => name == "boolean",
            Node::Other => false,
        },
        _ => true,
    }
}

/// Whether any text is valid.
fn takes_text(root: &Value, schema: &Value) -> bool {
    let schema = resolve(root, schema);
    match schema["anyOf"].as_array() {
        Some(alternatives) => alternatives.iter().any(|schema| takes_text(root, schema)),
        None => schema["enum"].is_null() && has_type(&schema["type"], &Node::Text(Cow::Borrowed(""))),
    }
}

/// Whether a value is in the list of allowed values, if there is one.
fn listed(schema: &Value, item: &Item<'_>) -> bool {
    let Some(values) = schema["enum"].as_array() else { return true };
    values.iter().any(|value| match &item.node {
        Node::Text(text) => value.as_str() == Some(text),
        Node::Integer(number) => value.as_i64().map(i128::from) == Some(*number),
        Node::Boolean(truth) => value.as_bool() == Some(*truth),
        Node::Float(_) | Node::Table(_) | Node::List(_) | Node::Other => false,
    })
}

fn in_range(schema: &Value, item: &Item<'_>) -> bool {
    let length = |length: usize, least: &str, most: &str| {
        let length = length as u64;
        schema[least].as_u64().is_none_or(|least| length >= least)
            && schema[most].as_u64().is_none_or(|most| length <= most)
    };
    let value = match &item.node {
        Node::Integer(number) => return integer_in_range(schema, *number),
        Node::Float(number) => *number,
        Node::Text(text) => return length(text.len(), "minLength", "maxLength"),
        Node::List(items) => return length(items.len(), "minItems", "maxItems"),
        Node::Table(_) | Node::Boolean(_) | Node::Other => return true,
    };
    let bound = |key: &str| schema[key].as_f64();
    value.is_finite()
        && bound("minimum").is_none_or(|low| value >= low)
        && bound("maximum").is_none_or(|high| value <= high)
        && bound("exclusiveMinimum").is_none_or(|low| value > low)
        && bound("exclusiveMaximum").is_none_or(|high| value < high)
}

/// Numbers of 64 bits are compared as whole numbers.
fn integer_in_range(schema: &Value, number: i128) -> bool {
    let holds = |key: &str, allowed: fn(std::cmp::Ordering) -> bool| {
        let Some(bound) = schema[key].as_number() else { return true };
        match bound.as_i128() {
            Some(bound) => allowed(number.cmp(&bound)),
            None => bound.as_f64().and_then(|bound| (number as f64).partial_cmp(&bound)).is_some_and(allowed),
        }
    };
    holds("minimum", |order| order.is_ge())
        && holds("maximum", |order| order.is_le())
        && holds("exclusiveMinimum", |order| order.is_gt())
        && holds("exclusiveMaximum", |order| order.is_lt())
}
