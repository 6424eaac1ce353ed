//! Sweeps, searches, and the reports of the model.

mod dataflows;
mod explore;
mod fronts;
mod model;
mod readings;
mod sweep;
mod words;
