//! The schema of sweeps and spaces.

use super::{DRAFT, machine_keys};
use crate::measure::Measure;
use crate::names::short_name;
use crate::parameter::PARAMETERS;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The parameters of tasks, with the schemas of their values.
fn parameters() -> Map<String, Value> {
    PARAMETERS.iter().map(|parameter| (parameter.name.to_owned(), parameter.schema())).collect()
}

/// An object with parameters of tasks and machine keys, whose values are `of` the usual ones.
fn keys(of: impl Fn(Value) -> Value, description: &str) -> Value {
    let mut properties = machine_keys(&of);
    let of_technology = properties["technology"].take();
    let names = json!({ "type": "string", "minLength": 1, "description": "Technology files, or names of built-in ones." });
    properties["technology"] = json!({
        "description": "The technology, or its keys.",
        "anyOf": [of(names), of_technology],
    });
    properties.extend(parameters().into_iter().map(|(key, schema)| (key, of(schema))));
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "description": description })
}

/// A list of alternatives of a value.
fn list(value: Value) -> Value {
    let description = value["description"].clone();
    json!({ "type": "array", "minItems": 1, "items": value, "description": description })
}

pub(crate) fn schema() -> Value {
    let long = Measure::names().into_iter();
    let measures: BTreeSet<&str> = long.flat_map(|name| [name, short_name(name)]).collect();
    let files = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let mut properties = parameters();
    let mut add = |key: &str, schema: Value| drop(properties.insert(key.to_owned(), schema));
    add("name", json!({ "type": "string", "description": "The name in results; by default the file's." }));
    add("title", json!({ "type": "string", "description": "The title of charts." }));
    add(
        "machine",
        json!({ "type": "string", "description": "The base machine: a built-in name, or a path relative to this file that ends in .toml or has a folder." }),
    );
    add(
        "schedule_for",
        json!({
            "description": "The machine for which programs are scheduled: the point's, the base machine, or the base machine with the point's values of these keys.",
            "anyOf": [{ "enum": ["machine", "base"] }, { "type": "array", "items": { "type": "string" } }],
        }),
    );
    add(
        "seed",
        json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX, "description": "Seed of the data with which programs are checked." }),
    );
    add("input", files.clone());
    add("expect", files);
    add(
        "grid",
        keys(list, "Axes: every combination of their values is a point. The last one varies fastest."),
    );
    add("zip", keys(list, "Keys that advance together: one axis."));
    add(
        "list",
        json!({ "type": "array", "minItems": 1, "items": keys(|value| value, "Values of one alternative."), "description": "Alternatives written out: one axis." }),
    );
    add(
        "sample",
        json!({
            "type": "object", "additionalProperties": false, "required": ["points"],
            "description": "Points to draw from all, without repetition.",
            "properties": {
                "points": { "type": "integer", "minimum": 1, "maximum": 1_000_000, "description": "The number of points to draw." },
                "seed": { "type": "integer", "minimum": 0, "maximum": i64::MAX },
            },
        }),
    );
    add(
        "explore",
        json!({
            "type": "object", "additionalProperties": false,
            "description": "Objectives and constraints of `rpu explore`.",
            "properties": {
                "objectives": { "type": "array", "minItems": 2, "uniqueItems": true, "items": { "enum": measures } },
                "constraints": { "type": "array", "items": { "type": "string", "description": "MEASURE < NUMBER, such as `area < 25 mm2`." } },
                "population": { "type": "integer", "minimum": 4, "maximum": 10_000 },
            },
        }),
    );
    let mut of_reference = json!({
        "label": { "type": "string" },
        "kernel": { "type": "string" },
        "n": parameters()["n"],
        "modulus_bits": parameters()["modulus_bits"],
    });
    for measure in Measure::ALL {
        let mut description = format!("{}, as published.", measure.label());
        description[..1].make_ascii_uppercase();
        of_reference[measure.name()] =
            json!({ "type": "number", "exclusiveMinimum": 0, "description": description });
    }
    add(
        "reference",
        json!({
            "type": "array",
            "description": "Published results, shown in charts of the columns that they have.",
            "items": {
                "type": "object", "additionalProperties": false, "required": ["label"],
                "properties": of_reference,
            },
        }),
    );
    json!({
        "$schema": DRAFT,
        "title": "A sweep or a space of `rpu`",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}
