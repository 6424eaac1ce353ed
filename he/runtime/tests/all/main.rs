//! The runtime on random programs and on real traces.

mod measures;
mod random;
mod streams;
mod traces;
mod variants;
