//! Code generation for the Ring Processing Unit.

pub mod code;
pub mod lower;
pub mod plan;
pub mod schedule;
