//! The Ring Processing Unit: machine description, functional execution and cycle model.

pub mod machine;
pub mod timing;

pub use machine::Machine;
