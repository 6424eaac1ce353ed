//! Code generation, through its public interface.

mod agreement;
mod automorphism;
mod batch;
mod catalogue;
mod check;
mod conversions;
mod formula;
mod forwarding;
mod he;
mod interpret;
mod known_answers;
mod mutations;
mod operations;
mod pairs;
mod paper;
mod quality;
mod vectors;
