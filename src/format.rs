//! The formats of results.

use crate::failure::Failure;
use clap::ValueEnum;
use lab_run::json::escaped;
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
    let json = json.map_err(|error| Failure::wrong(error, None))?;
    Ok(escaped(&json).into_owned() + "\n")
}
