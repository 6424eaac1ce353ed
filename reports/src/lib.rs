//! From simulated runs to documents: one run's report, sweeps of many, Pareto fronts, charts, the
//! paper's evaluation; and the constants of a technology, fitted to what a paper prints.
//!
//! The crate does no terminal input or output.

pub mod crosscheck;
pub mod files;
pub mod fit;
pub mod kernel;
pub mod paper;
pub mod pareto;
pub mod plot;
pub mod run;
pub mod sweep;
pub mod tuning;
