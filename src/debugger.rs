//! A debugger of B512 programs.
//!
//! A [`Session`] executes a program instruction by instruction, forwards and backwards, and knows what each
//! cycle of its run has in queues, pipes and busy registers. [`Location`] and [`Target`] are positions and
//! values as a user writes them. An `App` is the state of the screen: it turns keys into actions of the
//! session, and draws itself with `ratatui` (the feature `debugger`). Nothing here reads keys or writes to
//! a terminal.
//!
//! # Time
//!
//! A program has no branches, so a position in it is a point in time. Values follow from execution in program
//! order: every instruction before the position has computed its results. The machine's pipes show the cycle
//! in which the instruction at the position dispatches, or any other cycle. Steps backwards execute the
//! program again from the last saved state: at most some thousand instructions of a long program.

// A new instruction or pipe must not compile before every match over them treats it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod checkpoint;
mod location;
mod number;
mod pipeline;
#[cfg(feature = "debugger")]
mod screen;
mod session;
mod source;
mod target;
mod wrong;

pub use location::Location;
pub use number::{Format, rows};
pub use pipeline::{Holder, Pipeline};
#[cfg(feature = "debugger")]
pub use screen::{App, Key};
pub use session::{Session, SessionError, Stop};
pub use source::Listing;
pub use target::Target;
pub use wrong::Wrong;
