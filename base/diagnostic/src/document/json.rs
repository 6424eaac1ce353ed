//! The tree of a JSON text.

use super::{Field, Item, Node};
use crate::Span;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The number of lists and objects inside of each other that a document may have.
const DEPTH: usize = 64;

/// Reads a text.
///
/// # Errors
/// Returns the span and the message of the first syntax error, or of every duplicate key.
pub(super) fn parse(text: &str) -> Result<Item<'_>, Vec<(Span, String)>> {
    let raw: &RawValue =
        serde_json::from_str(text).map_err(|error| vec![(span(text, &error), message(&error))])?;
    let mut tree = Tree { text, errors: Vec::new() };
    let root = tree.item(raw, 0);
    if tree.errors.is_empty() { Ok(root) } else { Err(tree.errors) }
}

/// The span of an error.
pub(super) fn span(text: &str, error: &serde_json::Error) -> Span {
    let lines_before: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let mut start = (lines_before + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    start..text[start..].chars().next().map_or(start, |c| start + c.len_utf8())
}

/// The message of an error, which repeats its position.
pub(super) fn message(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    crate::reason(message.strip_suffix(&position).unwrap_or(&message))
}

struct Tree<'t> {
    text: &'t str,
    errors: Vec<(Span, String)>,
}

impl<'t> Tree<'t> {
    fn item(&mut self, raw: &'t RawValue, depth: usize) -> Item<'t> {
        let source = raw.get();
        let span = span_of(self.text, source);
        let first = source.as_bytes().first().copied().unwrap_or_default();
        if depth == DEPTH && matches!(first, b'{' | b'[') {
            self.errors.push((span.clone(), format!("more than {DEPTH} values inside of each other")));
            return Item { span, node: Node::Other };
        }
        // The text is JSON: only numbers that do not fit can be errors in a part of it.
        let node = match first {
            b'{' => serde_json::from_str(source).map_or(Node::Other, |Keys(keys)| self.table(keys, depth)),
            b'[' => serde_json::from_str(source).map_or(Node::Other, |items: Vec<&RawValue>| {
                Node::List(items.into_iter().map(|raw| self.item(raw, depth + 1)).collect())
            }),
            b'"' => serde_json::from_str(source).map_or(Node::Other, |Text(text)| Node::Text(text)),
            b't' => Node::Boolean(true),
            b'f' => Node::Boolean(false),
            // Null, or a number.
            _ => match source.parse() {
                Ok(number) => Node::Integer(number),
                Err(_) => source.parse().map_or(Node::Other, Node::Float),
            },
        };
        Item { span, node }
    }

    fn table(&mut self, keys: Vec<(Text<'t>, &'t RawValue)>, depth: usize) -> Node<'t> {
        let mut fields: Vec<Field<'t>> = Vec::new();
        let mut known = std::collections::HashSet::new();
        for (Text(key), raw) in keys {
            let item = self.item(raw, depth + 1);
            let span = match &key {
                // With the quotes around it.
                Cow::Borrowed(key) => {
                    let Span { start, end } = span_of(self.text, key);
                    start - 1..end + 1
                }
                Cow::Owned(_) => item.span.clone(),
            };
            if !known.insert(key.clone()) {
                self.errors.push((span.clone(), format!("duplicate key `{key}`")));
            }
            fields.push(Field { key, span, item });
        }
        Node::Table(fields)
    }
}

/// The bytes of a part of a text.
fn span_of(text: &str, part: &str) -> Span {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// The keys of an object with their values, in the order of the text.
struct Keys<'t>(Vec<(Text<'t>, &'t RawValue)>);

impl<'de> Deserialize<'de> for Keys<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Keys<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys<'de>, A::Error> {
                let mut keys = Vec::new();
                while let Some(key) = map.next_entry()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// A text, a part of the document if it has no escapes.
struct Text<'t>(Cow<'t, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Either)
    }
}
