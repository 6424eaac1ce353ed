//! The simulator: the cycle model, traces, and generated documents.

mod costs;
mod generated;
mod synthesis;
mod timing;
mod trace;
