//! TOML and JSON documents with the span of each part.
//!
//! [`Document::toml`] and [`Document::json`] read a text as a tree of [`Item`]s. A [`Schema`] checks the tree
//! and reports all errors at once. [`Document::read`] then gives the typed value. So editors and this crate
//! check the same schema.
//!
//! ```
//! use diagnostic::document::{Document, Format, Schema};
//!
//! let schema = Schema::new(Format::Plan, r#"{
//!     "type": "object", "additionalProperties": false, "required": ["order"],
//!     "properties": { "order": { "enum": ["by-step", "by-level"] }, "stagger": { "type": "integer", "minimum": 0 } }
//! }"#);
//! let document = Document::toml("p.toml", "order = \"by-stop\"\nstager = 2\n").unwrap();
//! let errors = schema.check(&document).unwrap_err();
//! assert_eq!(errors.len(), 2);
//! assert!(errors.to_string().contains("p.toml:2:1: D002: unknown key `stager`; did you mean `stagger`?"));
//! ```

mod describe;
mod format;
mod json;
mod schema;
mod toml;

pub use format::Format;
pub use schema::Schema;

use crate::{Code, Diagnostic, Diagnostics, Span};
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::sync::Arc;

/// The notation of a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// TOML.
    Toml,
    /// JSON.
    Json,
}

/// A document and its text.
#[derive(Clone, Debug)]
pub struct Document<'t> {
    syntax: Syntax,
    file: Arc<str>,
    text: &'t str,
    /// The text for errors, shared by all of them.
    shared: Arc<str>,
    root: Item<'t>,
}

/// A value with its span.
#[derive(Clone, Debug)]
pub struct Item<'t> {
    /// The bytes of the text.
    pub span: Span,
    /// The value.
    pub node: Node<'t>,
}

/// A value.
#[derive(Clone, Debug)]
pub enum Node<'t> {
    /// Keys with values, in the order of the text.
    Table(Vec<Field<'t>>),
    /// A list.
    List(Vec<Item<'t>>),
    /// A text.
    Text(Cow<'t, str>),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A value that no format has: a date, null, a number of more than 127 bits.
    Other,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub struct Field<'t> {
    /// The key.
    pub key: Cow<'t, str>,
    /// The bytes of the key.
    pub span: Span,
    /// The value.
    pub item: Item<'t>,
}

impl<'t> Document<'t> {
    /// The TOML document in `text`, from the file `file`.
    ///
    /// # Errors
    /// Returns all errors that the parser finds.
    pub fn toml(file: &str, text: &'t str) -> Result<Self, Diagnostics> {
        toml::parse(text).map_err(|errors| located(file, text, errors)).map(|root| Self {
            syntax: Syntax::Toml,
            file: file.into(),
            text,
            shared: text.into(),
            root,
        })
    }

    /// The JSON document in `text`, from the file `file`.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or an object has a key twice.
    pub fn json(file: &str, text: &'t str) -> Result<Self, Diagnostics> {
        json::parse(text).map_err(|errors| located(file, text, errors)).map(|root| Self {
            syntax: Syntax::Json,
            file: file.into(),
            text,
            shared: text.into(),
            root,
        })
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The notation.
    pub fn syntax(&self) -> Syntax {
        self.syntax
    }

    /// The whole document.
    pub fn root(&self) -> &Item<'t> {
        &self.root
    }

    /// An error at some bytes of the text; in the file as a whole without them.
    pub fn error(&self, code: Code, span: impl Into<Option<Span>>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(message).with_code(code.name()).at(&*self.file, Arc::clone(&self.shared), span)
    }

    /// The text between these bytes.
    pub fn source(&self, span: &Span) -> &'t str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// The span of some bytes of a text value, or of the whole value if its notation has escapes.
    pub fn part(&self, item: &Item<'_>, part: &Span) -> Span {
        let Some(value) = item.text() else { return item.span.clone() };
        match self.source(&item.span).find(value) {
            Some(start) => item.span.start + start + part.start..item.span.start + start + part.end,
            None => item.span.clone(),
        }
    }

    /// The value of the document as a type.
    ///
    /// # Errors
    /// Returns an error if the document does not fit the type. A [`Schema`] explains errors better.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Diagnostic> {
        match self.syntax {
            Syntax::Toml => ::toml::from_str(self.text)
                .map_err(|error| self.error(Code::Value, error.span(), error.message())),
            Syntax::Json => serde_json::from_str(self.text).map_err(|error| {
                self.error(Code::Value, json::span(self.text, &error), json::message(&error))
            }),
        }
    }
}

/// Errors of a parser as diagnostics.
fn located(file: &str, text: &str, errors: Vec<(Span, String)>) -> Diagnostics {
    let shared: Arc<str> = text.into();
    let mut diagnostics = Diagnostics::default();
    for (span, message) in errors {
        let error = Diagnostic::new(message).with_code(Code::Syntax.name());
        diagnostics.push(error.at(file, Arc::clone(&shared), span));
    }
    diagnostics
}

impl<'t> Item<'t> {
    /// The value of a key, if the item is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.fields().iter().find(|field| field.key == key).map(|field| &field.item)
    }

    /// The keys of a table; none for any other value.
    pub fn fields(&self) -> &[Field<'t>] {
        match &self.node {
            Node::Table(fields) => fields,
            _ => &[],
        }
    }

    /// The items of a list; none for any other value.
    pub fn items(&self) -> &[Self] {
        match &self.node {
            Node::List(items) => items,
            _ => &[],
        }
    }

    /// The value without its span; `None` for a type that no format has.
    pub fn value(&self) -> Option<::toml::Value> {
        use ::toml::Value;
        Some(match &self.node {
            Node::Table(fields) => {
                let entry = |field: &Field<'_>| Some((field.key.to_string(), field.item.value()?));
                Value::Table(fields.iter().map(entry).collect::<Option<_>>()?)
            }
            Node::List(items) => Value::Array(items.iter().map(Self::value).collect::<Option<_>>()?),
            Node::Text(text) => Value::String(text.to_string()),
            Node::Integer(number) => Value::Integer(i64::try_from(*number).ok()?),
            Node::Float(number) => Value::Float(*number),
            Node::Boolean(truth) => Value::Boolean(*truth),
            Node::Other => return None,
        })
    }

    /// A text; `None` for any other value.
    pub fn text(&self) -> Option<&str> {
        match &self.node {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
