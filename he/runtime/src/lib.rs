//! Ring programs on the RPU.
//!
//! A [ring program](ring_program) has one operation on one residue polynomial, a limb, per line. This crate
//! is a compiler of such programs for an RPU, from lines to a time, or to results:
//!
//! ```text
//! lines ──> flow ──> launches ──> schedule ──> report
//!             │          │    └──> execute ──> words
//!           order      batch, recipes, elementwise: the parts of a mapping
//! ```
//!
//! * [`flow`]: values in place of limbs that are written again and again, in an order of lines: a [`Flow`].
//! * [`launches`]: most of them for many lines, by [`lift()`]; [`lift_calls()`] lifts each function of a
//!   program with calls once. [`Kernels`] are generated and timed once for a machine.
//! * [`mapping`]: all that is chosen on this way. A search finds a [`Mapping`], or the user gives one.
//! * [`schedule`]: a [`Plan`] times all launches, and all transfers to and from the off-chip memory: a
//!   [`Timeline`].
//! * [`execute`]: an [`Execution`] runs all launches on data, on the functional engine; a replay runs the
//!   scheduled program on one image of each memory.
//! * [`report`]: the result, and its owners.
//!
//! A [`Runtime`] is a program on this way:
//!
//! ```
//! use ring_program::{Interface, read};
//! use runtime::{Keys, Runtime};
//!
//! let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nsr_mulp %3, %1, %2, m=1\nhalt\n";
//! let program = read("p.fhetch", text.as_bytes(), Interface::Degree(512))?;
//! let machine = sim::Machine::rpu_128x128();
//! let runtime = Runtime::new(&program, &machine, Keys::Streamed)?;
//! let report = runtime.report(&runtime.time(false)?);
//! assert_eq!(report.operations, 1);
//! // Two inputs come from the off-chip memory, and the output goes there: limbs of 512 words of 16 bytes.
//! assert_eq!(report.least_bytes, 3 * 512 * 16);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The crate does no terminal input or output.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod execute;
pub mod flow;
mod known;
pub mod launches;
pub mod mapping;
pub mod report;
mod run;
pub mod schedule;
#[cfg(feature = "testing")]
pub mod testing;

pub use codegen::Merit;
pub use execute::{Execution, Fault, NotReduced, ParametersError};
pub use flow::Flow;
pub use launches::kernels::Kernels;
pub use launches::{Launches, Limits, bank_cycles, lift, lift_calls};
pub use mapping::Mapping;
pub use report::{Entry, LaunchShare, Load, Owner, Profile, Report, TRACKS, limit, resource_label};
pub use run::{Choice, Lifted, RunError, Runtime};
pub use schedule::traffic::Keys;
pub use schedule::{Plan, Timeline};
