//! Code generation for the RPU: from transforms to scheduled, register-allocated B512 programs.
//!
//! The crate does no terminal input or output.

pub mod golden;
pub mod number;
