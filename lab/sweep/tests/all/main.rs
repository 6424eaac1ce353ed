//! Sweeps, explorations, and the sample of results for the model's version.

mod definition;
mod explore;
mod fronts;
mod model;
mod parameters;
mod plan;
mod points;
mod presentation;
mod slurm;
mod sweep;
mod tuning;
