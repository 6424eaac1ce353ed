//! Ring programs on the RPU.
//!
//! A [ring program](ring_program) has one operation on one residue polynomial, a limb, per line. This crate
//! compiles it for an RPU, times it, and runs it:
//!
//! ```text
//! lines ──> flow ──> launches ──> kernels ──> schedule ──> report
//!             │         │            │
//!           order     batch    recipes, form       the parts of a mapping
//! ```
//!
//! * [`Flow`] is the program's dataflow: values in place of limbs that are written again and again, in an
//!   order of lines;
//! * [`lift()`] makes [`Launches`] of kernels from it, most of them for many lines; [`lift_program()`] does so once for each function of
//!   a program with calls;
//! * [`Kernels`] generates each kernel once, and times it once, for a machine;
//! * a [`Mapping`] is all that is chosen on this way; a search finds one, or the user gives one;
//! * [`Plan`] times all launches and all transfers to and from the off-chip memory: a [`Timeline`];
//! * [`Execution`] runs all launches on data, on the functional engine;
//! * [`Report`] is the result.
//!
//! The crate does no terminal input or output.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod channel;
pub mod execute;
mod facts;
pub mod flow;
pub mod kernels;
mod known;
pub mod lift;
pub mod mapping;
pub mod operation;
pub mod permute;
mod place;
mod profile;
pub mod record;
mod reduced;
pub mod report;
mod run;
pub mod schedule;
pub mod stream;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
mod trace;
pub mod traffic;

pub use codegen::Merit;
pub use execute::Execution;
pub use facts::bank_cycles;
pub use flow::Flow;
pub use kernels::Kernels;
pub use lift::{Launches, Limits, lift, lift_program};
pub use mapping::Mapping;
pub use profile::{Entry, Owner, Part, Profile};
pub use reduced::NotReduced;
pub use report::{Report, limit, resource_label};
pub use run::{Choice, Lifted, RunError, Runtime};
pub use schedule::{Plan, Timeline};
pub use trace::{Load, TRACKS};
pub use traffic::Keys;
