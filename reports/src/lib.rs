//! From simulated runs to documents: one run's report, sweeps of many, Pareto fronts, charts, and
//! the paper's evaluation.
//!
//! The crate does no terminal input or output.

pub mod crosscheck;
pub mod files;
pub mod kernel;
pub mod paper;
pub mod pareto;
pub mod plot;
pub mod run;
pub mod sweep;
pub mod tuning;
