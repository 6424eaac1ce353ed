//! The Ring Processing Unit in software: what a B512 program computes, and what it costs.
//!
//! The crate does no terminal input or output.

pub mod cpu;
pub mod functional;
pub mod modular;
