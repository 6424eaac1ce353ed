//! Errors of a reproduction.

use diagnostic::Diagnostic;
use plot::PlotError;
use thiserror::Error;

/// The reasons for which a reproduction fails.
#[derive(Debug, Error)]
pub enum Error {
    /// A built-in sweep is invalid.
    #[error(transparent)]
    Config(#[from] Diagnostic),
    /// A simulation failed.
    #[error("{sweep}: {reason}")]
    Failed {
        /// The sweep or program.
        sweep: String,
        /// What went wrong.
        reason: String,
    },
    /// A CPU transform cannot be set up.
    #[error("a CPU transform of {n} points modulo a prime of {bits} bits: {reason}")]
    Cpu {
        /// Bits of the modulus.
        bits: u32,
        /// Points.
        n: u32,
        /// What went wrong.
        reason: String,
    },
    /// A table that is built in lacks a row.
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
        /// What went wrong.
        error: PlotError,
    },
    /// A committed file that is built in was written by other code.
    #[error("`{file}` is stale; run `{command}`")]
    Stale {
        /// The file.
        file: &'static str,
        /// The command that writes it.
        command: &'static str,
    },
    /// A table cannot be written as CSV.
    #[error(transparent)]
    Table(#[from] csv::Error),
    /// A document cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
