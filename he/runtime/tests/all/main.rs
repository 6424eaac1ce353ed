//! The runtime on random programs and on real traces.

mod random;
mod traces;
mod variants;
