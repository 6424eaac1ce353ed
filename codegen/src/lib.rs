//! Code generation for the RPU: from transforms to scheduled, register-allocated B512 programs.
//!
//! A [`plan`] says how a transform's index bits move through lanes, registers and memory;
//! [`lower`] turns it into straight-line [`code`] over vectors; [`forwarding`] lets registers take
//! the place of memory; [`schedule`] orders the code for a machine and gives it registers;
//! [`compile`](mod@compile) runs these passes for a given [`recipe`], and adds tables and symbols; it is pure.
//! [`choose`](mod@choose) finds the recipe: by name, in the [`library`] or by a [`search`];
//! and [`check`] proves each pass. The crate does no terminal input or output.

// A new instruction or pipe must not compile before every match over them treats it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod bounds;
pub mod check;
pub mod choose;
pub mod code;
pub mod compile;
pub mod error;
pub mod explain;
#[allow(clippy::wildcard_enum_match_arm, reason = "formulas and rules name no instruction or pipe")]
pub mod formula;
pub mod forwarding;
mod ids;
pub mod kernel;
pub mod library;
pub mod lower;
pub mod named;
pub mod number;
mod ops;
pub mod plan;
pub mod recipe;
pub mod request;
pub mod schedule;
pub mod search;
#[cfg(feature = "testing")]
pub mod testing;

pub use choose::{Choice, Origin, PlanChoice, choose, generate};
pub use compile::compile;
pub use error::Error;
pub use kernel::Kernel;
pub use named::classical;
pub use recipe::{Order, Recipe};
pub use request::Request;
