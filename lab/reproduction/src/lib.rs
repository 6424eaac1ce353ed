//! The paper's evaluation, regenerated: Figs. 4 to 11 and the claims C1 to C20.
//!
//! [`Reproduction::new`] simulates everything and computes every verdict; [`files`] turns it into
//! files. They depend only on the code and the built-in machines, not on the number of threads. The
//! exception is [`cpu`], which measures the current machine: its results have their own files and
//! one marked section of the page, and [`difference`] ignores them.
//!
//! | file | content |
//! |---|---|
//! | `claims.md`, `claims.json` | the claims with their verdicts |
//! | `leave-out.csv` | how the predictions of other training claims fare: see [`trials`] |
//! | `figN.svg`, `figN.png`, `figN.csv` | the figures and their data |
//! | `cpu.svg`, `cpu.png`, `cpu.csv` | what was measured on the machine at hand |
//! | `index.html` | all of it on one page |
//!
//! ```no_run
//! let reproduction = reproduction::Reproduction::new()?;
//! for (name, content) in reproduction::files(&reproduction, None)? {
//!     println!("{name}: {} bytes", content.len());
//! }
//! # Ok::<(), reproduction::Error>(())
//! ```

// A new instruction or pipe must not compile before every match over them treats it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod baseline;
mod breakdown;
pub mod claims;
pub mod cpu;
mod document;
mod error;
mod evaluation;
mod figure;
pub mod fit;
mod inconsistencies;
mod leave_out;
mod order;
mod others;
mod output;
mod page;
pub mod reading;
mod reproduction;
mod scaling;
pub mod schema;
mod sensitivity;
pub mod setting;
mod table;
mod tradeoff;
pub mod trials;

pub use error::Error;
pub use output::{File, difference, files, summary, with_measurements_of};
pub use reproduction::Reproduction;
