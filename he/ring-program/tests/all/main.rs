//! Ring programs: their text, their meaning, and real traces.

mod data;
mod files;
mod functions;
mod lint;
mod manifest;
mod niobium;
mod operations;
mod products;
mod reference;
mod regions;
mod round_trip;
mod traces;
