//! The simulator: the cycle model, traces, and generated documents.

mod area;
mod clock;
mod costs;
mod energy;
mod functional;
mod generated;
mod lint;
mod machine;
mod timing;
mod trace;
