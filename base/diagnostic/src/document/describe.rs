//! Schemas in words.

use super::Syntax;
use serde_json::Value;

/// The allowed values in words: "a whole number from 1 to 64".
pub(super) fn describe(root: &Value, schema: &Value, syntax: Syntax) -> String {
    let schema = resolve(root, schema);
    if let Some(alternatives) = schema["anyOf"].as_array() {
        return one_of(alternatives.iter().map(|schema| describe(root, schema, syntax)));
    }
    if let Some(values) = schema["enum"].as_array() {
        return one_of(values.iter().map(|value| format!("`{value}`")));
    }
    let table = if syntax == Syntax::Toml { "a table" } else { "an object" };
    let one = |name: &Value| match name.as_str().unwrap_or_default() {
        "integer" => format!("a whole number{}", range(schema)),
        "number" => format!("a number{}", range(schema)),
        "string" => "a quoted string".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "array" => list(root, schema, syntax),
        _ => match required(schema) {
            keys if keys.is_empty() || keys.len() > 4 => table.to_owned(),
            keys => format!("{table} with {}", and(keys)),
        },
    };
    match &schema["type"] {
        Value::Array(types) => one_of(types.iter().map(one)),
        name => one(name),
    }
}

/// The schema that another one refers to.
pub(super) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let pointer = schema["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
    pointer.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

fn required(schema: &Value) -> Vec<String> {
    let keys = schema["required"].as_array().into_iter().flatten();
    keys.filter_map(Value::as_str).map(|key| format!("`{key}`")).collect()
}

fn range(schema: &Value) -> String {
    // The limits of a type are no news.
    let of_a_type =
        |bound: &&serde_json::Number| bound.as_u64().is_some_and(|bound| bound >= u32::MAX.into());
    let bound =
        |key: &str| schema[key].as_number().filter(|bound| !of_a_type(bound)).map(ToString::to_string);
    match (bound("minimum"), bound("maximum"), bound("exclusiveMinimum"), bound("exclusiveMaximum")) {
        (Some(low), Some(high), ..) => format!(" from {low} to {high}"),
        (_, Some(high), Some(low), _) => format!(" above {low}, at most {high}"),
        (_, _, Some(low), Some(high)) => format!(" above {low} and below {high}"),
        (Some(low), None, ..) if low == "0" => ", zero or more".to_owned(),
        (Some(low), None, ..) => format!(" of at least {low}"),
        (_, _, Some(low), _) => format!(" above {low}"),
        (_, Some(high), ..) => format!(" of at most {high}"),
        _ => String::new(),
    }
}

fn list(root: &Value, schema: &Value, syntax: Syntax) -> String {
    let items = match &schema["items"] {
        Value::Null => String::new(),
        items => {
            format!(", each {}", describe(root, items, syntax))
        }
    };
    let length = match (schema["minItems"].as_u64(), schema["maxItems"].as_u64()) {
        (Some(least), Some(most)) if least == most => format!("{least} values"),
        (Some(1), None) => "one value or more".to_owned(),
        (Some(least), None) => format!("{least} values or more"),
        _ => "values".to_owned(),
    };
    format!("a list of {length}{items}")
}

fn one_of(words: impl Iterator<Item = String>) -> String {
    join(words.collect(), "or")
}

fn and(words: Vec<String>) -> String {
    join(words, "and")
}

fn join(words: Vec<String>, last: &str) -> String {
    match &words[..] {
        [] => String::new(),
        [word] => word.clone(),
        [words @ .., word] => format!("{} {last} {word}", words.join(", ")),
    }
}

/// The description of a schema as the end of a sentence; empty without one.
pub(super) fn remark(root: &Value, schema: &Value) -> String {
    let description =
        schema["description"].as_str().or_else(|| resolve(root, schema)["description"].as_str());
    let Some(text) = description else { return String::new() };
    let text = text.lines().next().unwrap_or_default().trim_end_matches('.');
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        // An abbreviation keeps its capitals.
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            format!(": {}{second}{}", first.to_lowercase(), letters.as_str())
        }
        _ => format!(": {text}"),
    }
}
