//! Sweeps, explorations, and the sample of results for the model's version.

mod explore;
mod fronts;
mod model;
mod parameters;
mod points;
mod presentation;
mod sweep;
