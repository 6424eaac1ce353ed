//! The formats of results.

use crate::failure::Failure;
use clap::ValueEnum;
use serde::Serialize;

/// The format of a result.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// A table for reading
    Table,
    /// One JSON object
    Json,
}

/// One JSON object over several lines.
pub(crate) fn json(document: &impl Serialize) -> Result<String, Failure> {
    let json = serde_json::to_string_pretty(document);
    Ok(json.map_err(|error| Failure::wrong(error, None))? + "\n")
}
