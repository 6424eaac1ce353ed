//! Look-ups in the key table.

use super::keys::{RETIRED, SECTIONS};
use super::table::Key;
use toml::Value;

/// Every key, in the order of the paper's machine file.
pub fn keys() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// The key with that path.
pub fn find(path: &str) -> Option<&'static Key> {
    keys().find(|key| key.path == path)
}

/// The keys of a section; none if there is no such section.
pub(super) fn section(path: &str) -> impl Iterator<Item = &'static Key> {
    let prefix = format!("{path}.");
    keys().filter(move |key| key.path.starts_with(&prefix))
}

/// The replacement for a value that `key` once accepted.
pub(super) fn replacement(key: &Key, value: &Value) -> Option<&'static str> {
    let mut retired = RETIRED.iter().filter(|retired| retired.path == key.path);
    retired.find(|retired| value.as_str() == Some(retired.value)).map(|retired| retired.help)
}

/// The known key that is most similar to an unknown one: in another section, as `clock.ghz` for `ghz` and for
/// the column `frequency_ghz`, or spelled alike.
pub(super) fn nearest(path: &str) -> Option<&'static str> {
    let last = path.rsplit('.').next().unwrap_or(path);
    let has_its_name = |key: &&Key| {
        let name = key.path.rsplit('.').next().unwrap_or(key.path);
        last.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    let mut same_name = keys().filter(has_its_name);
    if let (Some(only), None) = (same_name.next(), same_name.next()) {
        return Some(only.path);
    }
    diagnostic::nearest(path, keys().map(|key| key.path))
}

/// The value at a dotted path of a machine.
pub(super) fn value_at<'v>(machine: &'v toml::Value, path: &str) -> &'v toml::Value {
    path.split('.').fold(machine, |value, key| &value[key])
}
