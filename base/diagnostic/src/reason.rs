//! Errors of `serde` in the words of JSON: a reader of a file knows objects and lists, not the types of a
//! program.

/// The kinds of values as `serde` names them, and as JSON does.
const KINDS: [(&str, &str); 22] = [
    ("boolean", ""),
    ("integer", ""),
    ("floating point", ""),
    ("string", ""),
    ("map", "an object"),
    ("a map", "an object"),
    ("sequence", "a list"),
    ("a sequence", "a list"),
    ("a tuple", "a list"),
    ("tuple", "a list"),
    ("struct", "an object"),
    ("enum", "a name in quotes"),
    ("a string", "a quoted string"),
    ("a boolean", "true or false"),
    ("unit", "null"),
    ("u8", "a whole number"),
    ("u16", "a whole number"),
    ("u32", "a whole number"),
    ("u64", "a whole number"),
    ("u128", "a whole number"),
    ("usize", "a whole number"),
    ("f64", "a number"),
];

/// A message of `serde` without the types of a program: `expected a list, found an object`.
///
/// ```
/// let error = serde_json::from_str::<Vec<u64>>("{}").unwrap_err();
/// assert_eq!(diagnostic::reason(&error.to_string()), "expected a list, found an object at line 1 column 0");
/// ```
pub fn reason(message: &str) -> String {
    let (message, position) = match message.rfind(" at line ") {
        Some(at) => message.split_at(at),
        None => (message, ""),
    };
    let text = if let Some(key) = message.strip_prefix("missing field ") {
        format!("the key {key} is missing")
    } else if let Some(key) = message.strip_prefix("unknown field ") {
        format!("unknown key {key}")
    } else {
        unexpected(message).unwrap_or_else(|| message.to_owned())
    };
    text + position
}

/// The message about a value of another kind or length.
fn unexpected(message: &str) -> Option<String> {
    let (found, expected) = message.rsplit_once(", expected ")?;
    let expected = kind(expected);
    if let Some(length) = found.strip_prefix("invalid length ") {
        return Some(format!("expected {expected}, found {length} values"));
    }
    let found = found.strip_prefix("invalid type: ").or_else(|| found.strip_prefix("invalid value: "))?;
    Some(format!("expected {expected}, found {}", kind(found)))
}

/// A kind of value, or a value with its kind, in the words of JSON.
fn kind(text: &str) -> String {
    let word = |(of_serde, of_json): &(&str, &str)| {
        let rest = text.strip_prefix(of_serde)?;
        match (rest, *of_json) {
            // Of a value with its kind, the value.
            (value, "") => value.strip_prefix(' ').map(str::to_owned),
            (rest, of_json) => (rest.is_empty() || rest.starts_with(' ')).then(|| of_json.to_owned()),
        }
    };
    KINDS.iter().find_map(word).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        #[expect(dead_code, reason = "only errors are of interest")]
        numbers: Vec<u64>,
        #[expect(dead_code, reason = "only errors are of interest")]
        pair: Option<(bool, f64)>,
    }

    #[test]
    fn no_type_of_a_program_is_left() {
        let read = |text: &str| {
            let error = serde_json::from_str::<Sample>(text).unwrap_err().to_string();
            reason(error.split(" at line ").next().unwrap_or_default())
        };
        assert_eq!(read("3"), "expected an object, found `3`");
        assert_eq!(read("{}"), "the key `numbers` is missing");
        assert_eq!(read(r#"{"numbers": "a"}"#), "expected a list, found \"a\"");
        assert_eq!(read(r#"{"numbers": {}}"#), "expected a list, found an object");
        assert_eq!(read(r#"{"numbers": [-1]}"#), "expected a whole number, found `-1`");
        assert_eq!(read(r#"{"numbers": [1.5]}"#), "expected a whole number, found `1.5`");
        assert_eq!(read(r#"{"numbers": [null]}"#), "expected a whole number, found null");
        assert_eq!(read(r#"{"numbers": [], "pair": [true]}"#), "expected a list, found 1 values");
        assert_eq!(read(r#"{"numbers": [], "pair": [1, 2]}"#), "expected true or false, found `1`");
        assert!(read(r#"{"number": []}"#).starts_with("unknown key `number`, expected "));
        assert!(read("{").starts_with("EOF"));
    }
}
