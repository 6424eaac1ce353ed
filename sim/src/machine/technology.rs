//! Which files are technologies.

use super::layers::MAX_CHAIN;
use super::location::Location;
use super::schema;
use configs::TECHNOLOGIES;
use diagnostic::document::{Document, Field, Format, Node};
use diagnostic::input::{self, Content};
use std::path::Path;

/// Whether a file holds keys of a technology and none of another format, or inherits them. A machine has
/// these keys in a section, and its clock is a table, not a list.
pub(super) fn is_technology(path: &Path) -> bool {
    is_technology_within(path, MAX_CHAIN)
}

/// The same in a chain of at most so many files.
fn is_technology_within(path: &Path, most: usize) -> bool {
    let document = input::read_text(path, Content::Document).ok();
    let document = document.as_ref().and_then(|text| Document::toml("", text).ok());
    let Some(root) = document.as_ref().map(Document::root) else { return false };
    let inherits = |name: &str| match Location::File(path.into()).relative(name, TECHNOLOGIES) {
        Location::BuiltIn(..) => true,
        Location::File(path) => most > 1 && is_technology_within(&path, most - 1),
    };
    let is_own = |field: &Field<'_>| {
        let path = format!("technology.{}", field.key);
        match &*field.key {
            "name" => false,
            "inherits" => field.item.text().is_some_and(inherits),
            "clock" => matches!(field.item.node, Node::List(..)),
            _ => schema::find(&path).is_some() || schema::section(&path).next().is_some(),
        }
    };
    Format::Technology.foreign(root).is_none() && root.fields().iter().any(is_own)
}
