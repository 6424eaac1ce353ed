//! Files with the mapping of a ring program: a mapping by itself, or the document of a run.

use crate::RunReport;
use diagnostic::document::{Document, Format, Schema};
use diagnostic::{Code, Diagnostics};
use runtime::Mapping;
use std::sync::LazyLock;

/// The JSON schema of a mapping.
pub fn mapping_schema() -> &'static Schema {
    static SCHEMA: LazyLock<Schema> =
        LazyLock::new(|| Schema::new(Format::Mapping, include_str!("../schema/mapping.json")));
    &SCHEMA
}

/// The mapping in `text`, from the file `file`: a mapping, or the document of a run.
///
/// # Errors
/// Returns all errors of a mapping, or that a document has none.
pub fn parse_mapping(file: &str, text: &str) -> Result<Mapping, Diagnostics> {
    let document = Document::json(file, text)?;
    let is_run =
        ["simulator", "machine", "model_version"].iter().any(|key| document.root().get(key).is_some());
    if !is_run {
        return mapping_schema().read_json(file, text);
    }
    let report = RunReport::parse(file, text)?;
    report.mapping.ok_or_else(|| {
        let error = document.error(Code::Value, document.root().span.clone(), "the run has no mapping");
        let help = "take the document of a ring program's run, as `rpu run P.fhetch --format json` writes it";
        error.with_help(help).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_the_values_of_each_part() {
        let mut properties = Vec::new();
        for (name, property) in mapping_schema().value()["properties"].as_object().unwrap() {
            for value in property["enum"].as_array().unwrap() {
                let mut mapping = serde_json::to_value(Mapping::START).unwrap();
                mapping[name] = value.clone();
                let text = mapping.to_string();
                let read = parse_mapping("m.json", &text).unwrap();
                assert_eq!(serde_json::to_value(read).unwrap(), mapping);
                properties.push(name.clone());
            }
        }
        let of_batch = properties.iter().filter(|name| *name == "batch").count();
        assert_eq!(of_batch, runtime::mapping::Batch::ALL.len());
        let of_form = properties.iter().filter(|name| *name == "elementwise").count();
        assert_eq!(of_form, runtime::mapping::Form::ALL.len());
    }
}
