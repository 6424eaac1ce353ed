//! Published figures, from a file written by hand.

use serde::Deserialize;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

/// A row of the file.
#[derive(Deserialize)]
struct Row {
    system: String,
    kind: String,
    operation: String,
    parameters: String,
    time_ms: f64,
    source: String,
}

/// The file as a table of the page.
pub(crate) fn table(path: &Path) -> Result<String, Box<dyn Error>> {
    let mut table =
        String::from("| system | kind | operation | parameters | ms | source |\n|---|---|---|---|--:|---|\n");
    for row in csv::Reader::from_path(path)?.deserialize() {
        let Row { system, kind, operation, parameters, time_ms, source } = row?;
        writeln!(table, "| {system} | {kind} | {operation} | {parameters} | {time_ms} | {source} |")?;
    }
    Ok(table)
}
