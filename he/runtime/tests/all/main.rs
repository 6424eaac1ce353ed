//! The runtime on random programs and on real traces.

mod bounds;
mod calls;
mod lifting;
mod measures;
mod monotony;
mod moves;
mod orders;
mod random;
mod streams;
mod traces;
mod variants;
