//! The tree of a TOML text.

use super::{Field, Item, Node};
use crate::Span;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The most keys of a table. No format has as many, and the search for names near to an unknown key takes its
/// time.
const MAX_KEYS: usize = 1000;

/// Reads a text.
///
/// # Errors
/// Returns the span and the message of each error. After a syntax error the rest of the file is not checked.
pub(super) fn parse(text: &str) -> Result<Item<'_>, Vec<(Span, String)>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        let span = table.span();
        let root = Item { span, node: Node::Table(fields(table.into_inner())) };
        return match beyond_the_limit(&root) {
            Some(key) => Err(vec![(key.span.clone(), format!("more than {MAX_KEYS} keys in one table"))]),
            None => Ok(root),
        };
    }
    let located = |error: &toml::de::Error| (error.span().unwrap_or(0..0), error.message().to_owned());
    Err(errors.iter().map(located).collect())
}

/// The first key that is one too many for its table.
fn beyond_the_limit<'i, 't>(item: &'i Item<'t>) -> Option<&'i Field<'t>> {
    let below = item.fields().iter().map(|field| &field.item).chain(item.items());
    item.fields().get(MAX_KEYS).or_else(|| below.into_iter().find_map(beyond_the_limit))
}

fn fields(table: DeTable<'_>) -> Vec<Field<'_>> {
    let field =
        |(key, value): (Spanned<_>, _)| Field { span: key.span(), key: key.into_inner(), item: item(value) };
    let mut fields: Vec<Field<'_>> = table.into_iter().map(field).collect();
    fields.sort_by_key(|field| field.span.start);
    fields
}

fn item(value: Spanned<DeValue<'_>>) -> Item<'_> {
    let span = value.span();
    let node = match value.into_inner() {
        DeValue::Table(table) => Node::Table(fields(table)),
        DeValue::Array(items) => Node::List(items.into_iter().map(item).collect()),
        DeValue::String(text) => Node::Text(text),
        DeValue::Integer(digits) => {
            i128::from_str_radix(digits.as_str(), digits.radix()).map_or(Node::Other, Node::Integer)
        }
        DeValue::Float(digits) => digits.as_str().parse().map_or(Node::Other, Node::Float),
        DeValue::Boolean(value) => Node::Boolean(value),
        DeValue::Datetime(_) => Node::Other,
    };
    Item { span, node }
}
