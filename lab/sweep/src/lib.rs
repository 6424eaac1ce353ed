//! From simulated runs to documents: the report of one run, comparisons of reports, sweeps and their
//! journals, cluster jobs, cached tuning results, and cross-checks between witnesses.
//!
//! The crate does no terminal input or output.

// A new instruction or pipe must not compile before every match over them treats it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod crosscheck;
pub mod files;
pub mod kernel;
pub mod model;
mod npy;
mod page;
pub mod program;
pub mod run;
pub mod schema;
pub mod sweep;
pub mod tuning;
