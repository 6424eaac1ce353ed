//! The schema of sweeps and spaces.

use super::{DRAFT, machine_keys};
use crate::explore::Measure;
use serde_json::{Map, Value, json};

/// The keys that describe a kernel or a program, with the schemas of their values.
fn kernel_keys() -> Map<String, Value> {
    let mut operations: Vec<&str> = golden::OPERATIONS.iter().map(|operation| operation.name()).collect();
    operations.extend(programs::PROGRAMS.iter().map(|program| program.name));
    let dataflows: Vec<&str> = programs::DATAFLOWS.iter().map(|dataflow| dataflow.name).collect();
    let keys = json!({
        "kernel": { "enum": operations, "description": "The operation; `rpu gen --list` describes each. With `set`, a ring program." },
        "program": { "type": "string", "description": "A program in place of a kernel: assembly text or an object file, relative to this file." },
        "set": { "type": "string", "description": "The parameter set of a ring program: a built-in name, or a path relative to this file." },
        "level": { "type": "integer", "minimum": 1, "description": "Moduli of the ciphertexts of a ring program; by default all of the set." },
        "dataflow": { "enum": dataflows, "description": "The order of key switches in a ring program." },
        "keys": { "enum": ["streamed", "seeded", "resident"], "description": "The origin of a ring program's keys." },
        "n": { "type": "integer", "minimum": 2, "description": "Ring degree, a power of two." },
        "modulus_bits": { "type": "integer", "minimum": 2, "maximum": 128, "description": "The modulus is the largest prime of this size that is 1 mod 2n." },
        "modulus": { "type": ["string", "integer"], "description": "The modulus; in quotes if it has more than 63 bits." },
        "towers": { "type": "integer", "minimum": 1, "maximum": 64, "description": "Rings with moduli of their own in one program." },
        "stream": { "type": "integer", "minimum": 1, "maximum": 100_000, "description": "Consecutive runs of the program, with their off-chip transfers." },
        "plan": { "type": "string", "description": "`best`, `kl`, `pease`, `paper`, `unoptimised`, or a plan's file." },
        "tune": { "enum": ["off", "quick", "full"], "description": "The search for plan `best`." },
    });
    keys.as_object().cloned().unwrap_or_default()
}

/// An object with kernel and machine keys, whose values are `of` the usual ones.
fn keys(of: impl Fn(Value) -> Value, description: &str) -> Value {
    let mut properties = machine_keys(&of);
    properties.extend(kernel_keys().into_iter().map(|(key, schema)| (key, of(schema))));
    json!({ "type": "object", "additionalProperties": false, "properties": properties, "description": description })
}

/// A list of alternatives of a value.
fn list(value: Value) -> Value {
    let description = value["description"].clone();
    json!({ "type": "array", "minItems": 1, "items": value, "description": description })
}

pub(crate) fn schema() -> Value {
    let measures: Vec<&str> = Measure::ALL.map(Measure::name).to_vec();
    let files = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let mut properties = kernel_keys();
    let mut add = |key: &str, schema: Value| drop(properties.insert(key.to_owned(), schema));
    add("name", json!({ "type": "string", "description": "The name in results; by default the file's." }));
    add("title", json!({ "type": "string", "description": "The title of charts." }));
    add(
        "machine",
        json!({ "type": "string", "description": "The base machine: a built-in name, or a path relative to this file that ends in .toml." }),
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
    add(
        "reference",
        json!({
            "type": "array",
            "description": "Published results, shown in charts.",
            "items": {
                "type": "object", "additionalProperties": false, "required": ["label", "time_us", "area_mm2"],
                "properties": {
                    "label": { "type": "string" },
                    "time_us": { "type": "number", "exclusiveMinimum": 0, "description": "Time, in microseconds." },
                    "area_mm2": { "type": "number", "exclusiveMinimum": 0, "description": "Area, in square millimetres." },
                    "kernel": { "type": "string" },
                    "n": { "type": "integer", "minimum": 2, "maximum": i64::MAX },
                    "modulus_bits": { "type": "integer", "minimum": 2, "maximum": 128 },
                },
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
