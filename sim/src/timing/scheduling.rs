//! The cycle model, one instruction at a time, for instruction schedulers.
//!
//! A scheduler translates its candidates with a [`Decoder`], queries an [`Engine`] for the earliest
//! cycle of each, and dispatches the best. [`simulate`](super::simulate) is the entry point for
//! whole programs.

pub use super::busyboard::FreeRegisters;
pub use super::decode::{Decoder, Template};
pub use super::engine::{Engine, Stall};
pub use super::expectations::Expectations;
pub use super::micro_op::MicroOp;
pub use super::registers::RegSlots;
