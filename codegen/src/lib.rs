//! Code generation for the RPU: from transforms to scheduled, register-allocated B512 programs.
//!
//! A [`plan`] says how a transform's index bits move through lanes, registers and memory;
//! [`lower`] turns it into straight-line [`code`] over vectors; [`forwarding`] lets registers take
//! the place of memory; [`schedule`] orders the code for a machine and gives it registers;
//! [`kernel`] does all of it and adds tables and symbols. [`golden`] says what the result must be,
//! and [`check`] proves each pass. The crate does no terminal input or output.

pub mod bounds;
pub mod check;
pub mod code;
pub mod formula;
pub mod forwarding;
pub mod golden;
pub mod kernel;
pub mod library;
pub mod lower;

pub mod plan;
pub mod schedule;
pub mod search;

pub use kernel::{
    Batch, Error, Kernel, Order, PlanChoice, Recipe, Request, Ring, classical, generate, generate_batch,
};
