//! Code generation, through its public interface.

mod agreement;
mod automorphism;
mod batch;
mod catalogue;
mod check;
mod choose;
mod compile;
mod elementwise;
mod formula;
mod forwarding;
mod interpret;
mod library;
mod mutations;
mod openfhe;
mod operations;
mod order;
mod paper;
mod plan;
mod quality;
mod rewrite;
mod search;
mod small;
