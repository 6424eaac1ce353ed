//! From simulated runs to documents: one run's report, sweeps of many, Pareto fronts and charts.

pub mod pareto;
pub mod plot;
