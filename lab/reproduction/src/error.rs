//! Errors of a reproduction.

use diagnostic::{Diagnostic, Diagnostics};
use plot::PlotError;
use thiserror::Error;

/// The reasons why a reproduction fails.
#[derive(Debug, Error)]
pub enum Error {
    /// A built-in sweep is invalid.
    #[error(transparent)]
    Config(#[from] Diagnostics),
    /// A simulation failed.
    #[error("{sweep}: {reason}")]
    Failed {
        /// The sweep or program.
        sweep: String,
        /// The error.
        reason: String,
    },
    /// A CPU transform cannot be set up.
    #[error("a CPU transform of {n} points modulo a prime of {bits} bits: {reason}")]
    Cpu {
        /// Bits of the modulus.
        bits: u32,
        /// Points.
        n: u32,
        /// The error.
        reason: String,
    },
    /// A built-in table lacks a row.
    #[error("missing row: {what}")]
    Missing {
        /// The row.
        what: String,
    },
    /// A figure cannot be drawn.
    #[error("{figure}: {error}")]
    Plot {
        /// Its name.
        figure: String,
        /// The error.
        error: PlotError,
    },
    /// A built-in committed file is stale.
    #[error("`{file}` is stale; run `{command}`")]
    Stale {
        /// The file.
        file: &'static str,
        /// The command that writes it.
        command: &'static str,
    },
    /// The log of trials cannot be used.
    #[error(transparent)]
    Log(#[from] crate::trials::LogError),
    /// A table cannot be written as CSV.
    #[error(transparent)]
    Table(#[from] csv::Error),
    /// A document cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl From<Diagnostic> for Error {
    fn from(error: Diagnostic) -> Self {
        Self::Config(error.into())
    }
}
