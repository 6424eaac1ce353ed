//! The simulator: the cycle model, traces, and generated documents.

mod costs;
mod generated;
mod timing;
mod trace;
