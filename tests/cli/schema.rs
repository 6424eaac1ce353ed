//! A validator for the part of JSON Schema that the schemas of the TOML formats use. A keyword outside
//! of that part is an error, so the schemas cannot mean more than is checked.

use serde_json::Value;

/// Checks a document against a schema. An error names the location.
pub(crate) fn validate(schema: &Value, document: &Value) -> Result<(), String> {
    Validator { root: schema }.check(schema, document, "")
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let fail = |reason: String| Err(format!("{at}: {reason}: {value}"));
        for (keyword, rule) in schema.as_object().expect("a schema is an object") {
            let number = |holds: fn(f64, f64) -> bool| match (value.as_f64(), rule.as_f64()) {
                (Some(value), Some(limit)) => holds(value, limit),
                _ => true,
            };
            let holds = match keyword.as_str() {
                "$schema" | "title" | "description" | "definitions" => true,
                // Those of a table without `properties`; else they are checked there.
                "additionalProperties" => {
                    if schema.get("properties").is_none() && rule.is_object() {
                        for (key, value) in value.as_object().into_iter().flatten() {
                            self.check(rule, value, &format!("{at}/{key}"))?;
                        }
                    }
                    true
                }
                "$ref" => {
                    let pointer = rule.as_str().and_then(|path| path.strip_prefix('#'));
                    let target =
                        pointer.and_then(|pointer| self.root.pointer(pointer)).expect("a definition");
                    self.check(target, value, at)?;
                    true
                }
                "type" => match rule {
                    Value::Array(types) => types.iter().any(|rule| has_type(rule, value)),
                    rule => has_type(rule, value),
                },
                "enum" => rule.as_array().expect("a list").contains(value),
                "minimum" => number(|value, limit| value >= limit),
                "maximum" => number(|value, limit| value <= limit),
                "exclusiveMinimum" => number(|value, limit| value > limit),
                "exclusiveMaximum" => number(|value, limit| value < limit),
                "minLength" => value.as_str().is_none_or(|text| text.len() as u64 >= rule.as_u64().unwrap()),
                "maxItems" => value.as_array().is_none_or(|list| list.len() as u64 <= rule.as_u64().unwrap()),
                "minItems" => value.as_array().is_none_or(|list| list.len() as u64 >= rule.as_u64().unwrap()),
                "uniqueItems" => {
                    value.as_array().is_none_or(|list| (1..list.len()).all(|i| !list[..i].contains(&list[i])))
                }
                "items" => {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}/{i}"))?;
                    }
                    true
                }
                "anyOf" => {
                    rule.as_array().expect("a list").iter().any(|rule| self.check(rule, value, at).is_ok())
                }
                "required" => value.as_object().is_none_or(|object| {
                    rule.as_array()
                        .expect("a list")
                        .iter()
                        .all(|key| object.contains_key(key.as_str().unwrap()))
                }),
                "properties" => {
                    for (key, value) in value.as_object().into_iter().flatten() {
                        match (rule.get(key), &schema["additionalProperties"]) {
                            (Some(rule), _) => self.check(rule, value, &format!("{at}/{key}"))?,
                            (None, Value::Bool(false)) => return fail(format!("unknown key `{key}`")),
                            (None, Value::Null) => {}
                            (None, rule) => self.check(rule, value, &format!("{at}/{key}"))?,
                        }
                    }
                    true
                }
                unknown => panic!("the keyword `{unknown}` is not checked"),
            };
            if !holds {
                return fail(format!("{keyword} {rule}"));
            }
        }
        Ok(())
    }
}

fn has_type(rule: &Value, value: &Value) -> bool {
    match rule.as_str().expect("a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        unknown => panic!("unknown type {unknown}"),
    }
}
