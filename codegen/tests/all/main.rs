//! Code generation, through its public interface.

mod agreement;
mod automorphism;
mod batch;
mod catalogue;
mod check;
mod formula;
mod forwarding;
mod interpret;
mod mutations;
mod openfhe;
mod operations;
mod paper;
mod quality;
mod rewrite;
