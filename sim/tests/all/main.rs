//! The simulator: the cycle model, the executor, machines and their costs, defects, traces, and generated
//! documents.

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
