//! JSON schemas of the TOML formats: editors complete and check files by them.
//!
//! The schemas of machines, technologies and sweeps follow from the table of machine keys and from the
//! readers' lists of keys. The others are files beside their readers, which check documents by them.

pub(crate) mod sweep;

use codegen::Recipe;
use codegen::library::Task;
use programs::ParameterSet;
use ring_program::Manifest;
use serde_json::{Map, Value, json};
use sim::machine::table::{Key, Kind};
use sim::machine::{self, BuiltInValue};

/// A format of TOML files, or of JSON files.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name of the format and of its schema file.
    pub name: &'static str,
    /// The files of this format, in a few words.
    pub files: &'static str,
    /// The schema.
    pub schema: fn() -> Value,
}

/// The formats of this crate and of those below.
pub const FORMATS: &[Format] = &[
    Format { name: "machine", files: "machine files: `--machine FILE`", schema: machine_schema },
    Format {
        name: "technology",
        files: "technology files: `technology = \"FILE\"`",
        schema: technology_schema,
    },
    Format { name: "sweep", files: "sweeps and spaces: `rpu sweep`, `rpu explore`", schema: sweep::schema },
    Format {
        name: "set",
        files: "parameter sets of ring programs: `--set FILE`",
        schema: || ParameterSet::schema().value().clone(),
    },
    Format {
        name: "plan",
        files: "plans: `--plan FILE`, `rpu tune -o FILE`",
        schema: || Recipe::schema().value().clone(),
    },
    Format {
        name: "library",
        files: "tasks of a library: `rpu tune --library FOLDER`",
        schema: || Task::schema().value().clone(),
    },
    Format {
        name: "manifest",
        files: "manifests of ring programs, in JSON: `rpu run --manifest FILE`",
        schema: || Manifest::schema().value().clone(),
    },
    Format {
        name: "mapping",
        files: "mappings of ring programs, in JSON: `rpu run --mapping FILE`",
        schema: || lab_run::mapping_schema().value().clone(),
    },
];

impl Format {
    /// The schema, in draft 7: the one that TOML editors support.
    pub fn schema(&self) -> Value {
        (self.schema)()
    }

    /// The schema as text.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(&self.schema());
        text.expect("a JSON value becomes text") + "\n"
    }
}

const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

fn machine_schema() -> Value {
    let mut root = sections("");
    let technology = root["properties"]["technology"].take();
    root["properties"]["technology"] = json!({
        "description": "A technology file, relative to this one, or the name of a built-in one; or its keys.",
        "anyOf": [{ "type": "string", "minLength": 1 }, technology],
    });
    document(root, "A machine of `rpu`", "rpu-128x128")
}

fn technology_schema() -> Value {
    document(sections("technology"), "A technology of `rpu`: clock, area and energy", "gf12")
}

/// A file that may inherit from another.
fn document(mut root: Value, title: &str, built_in: &str) -> Value {
    root["$schema"] = DRAFT.into();
    root["title"] = title.into();
    root["properties"]["inherits"] = json!({
        "type": "string",
        "description": format!("The file whose keys this one changes: a path relative to this file, or a built-in name such as `{built_in}`."),
    });
    root
}

/// The object with all keys below a section, as nested objects.
fn sections(path: &str) -> Value {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}.") };
    let mut root = object("");
    for section in machine::SECTIONS.iter().filter(|section| section.path.starts_with(path)) {
        for key in section.keys {
            if let Some(below) = key.path.strip_prefix(&prefix) {
                insert(&mut root, below, &prefix, of_key(key));
            }
        }
    }
    root
}

fn object(description: &str) -> Value {
    let mut object = json!({ "type": "object", "additionalProperties": false, "properties": {} });
    if !description.is_empty() {
        object["description"] = description.into();
    }
    object
}

/// Adds the schema of a key at a dotted path.
fn insert(root: &mut Value, path: &str, prefix: &str, schema: Value) {
    let Some(properties) = root["properties"].as_object_mut() else { return };
    match path.split_once('.') {
        None => drop(properties.insert(path.to_owned(), schema)),
        Some((section, rest)) => {
            let full = format!("{prefix}{section}");
            let known = machine::SECTIONS.iter().find(|known| known.path == full);
            let doc = known.map_or(String::new(), |known| known.doc.join("").trim().to_owned());
            let inner = properties.entry(section).or_insert_with(|| object(&doc));
            insert(inner, rest, &format!("{full}."), schema);
        }
    }
}

/// The schema of a key's value, with its meaning, origin and effects.
fn of_key(key: &Key) -> Value {
    let mut schema = key.kind.schema();
    let mut description = key.doc.join("").trim().to_owned();
    if let Kind::Choice(choices) = key.kind {
        for choice in choices {
            description += &format!("\n\"{}\": {}", choice.text, choice.doc.join("").trim());
        }
    }
    let BuiltInValue { value, provenance } = key.built_in_value();
    description += &format!("\nrpu-128x128: {value}");
    if !provenance.is_empty() {
        description += &format!(" ({provenance})");
    }
    if !key.effects.is_empty() {
        description += &format!("\nChanges: {}", key.effect_names());
    }
    schema["description"] = description.into();
    schema
}

/// The machine keys as nested objects whose leaves are `of` their values' schemas.
fn machine_keys(of: impl Fn(Value) -> Value) -> Map<String, Value> {
    let mut root = object("");
    for key in machine::keys() {
        insert(&mut root, key.path, "", of(of_key(key)));
    }
    root["properties"].as_object().cloned().unwrap_or_default()
}
