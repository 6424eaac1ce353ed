//! Overrides of keys: `key=value`.

use diagnostic::Diagnostic;
use diagnostic::document::Document;
use toml::Value;

/// An override of one key of a machine file: `key=value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Override {
    /// As it was written.
    pub(super) text: String,
    /// The place of `=` in the text.
    pub(super) equals: usize,
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

    /// Whether it names a file with all keys of a section.
    pub(super) fn is_file(&self) -> bool {
        self.key() == "technology"
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
