//! The Ring Processing Unit in software: what a B512 program computes, and what it costs.
//!
//! [`machine`] describes a machine, [`functional`] executes a program's instructions on data,
//! [`timing`] says in which cycle each of them happens. The last two are independent: timing
//! touches no data. [`area`] and [`energy`] follow from the machine's [`tech`]nology; [`hbm`] puts
//! many runs and their off-chip transfers one after the other. The crate does no terminal input or
//! output.

// A new instruction or pipe must not compile before every match over them treats it.
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod area;
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod energy;
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod functional;
pub mod hbm;
pub mod machine;
pub mod tech;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod timing;
#[cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]
pub mod trace;

pub use area::Area;
pub use energy::{Energy, Events};
pub use machine::{Change, FitError, Machine, MachineBase, MachineFile, Override};
pub use tech::Technology;
pub use trace::Trace;
