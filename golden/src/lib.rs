//! The golden model: the meaning of every ring operation.
//!
//! A program states its results as a [`Claim`]: `y = ntt(x), n=1024, modulus=0x.., root=0x..`. A result is an
//! expression: a tree of operations on inputs and numbers. This crate knows the operations. Each one is a
//! file in `ops` with its [`Signature`] and its result.
//!
//! * [`find`] looks an operation up; [`OPERATIONS`] lists all.
//! * [`check`](check()) rejects a program whose claims are invalid.
//! * [`evaluate`] computes the results of a claim, [`compare`] compares them with a program's.
//!
//! The model is written for obvious correctness, over [`num_bigint`]. It shares no arithmetic with
//! the simulator or with generated programs: this crate depends on neither.
//!
//! ```
//! let claim = golden::ADD.in_ring(4, 97, 0);
//! assert_eq!(claim.to_string(), "c = a + b, n=4, modulus=0x61");
//! let sum = golden::evaluate(&claim, &[&[1, 2, 3, 96], &[4, 5, 6, 7]])?;
//! assert_eq!(sum, [[5, 7, 9, 6]]);
//! # Ok::<(), golden::GoldenError>(())
//! ```
//!
//! [`Claim`]: b512_asm::Claim

mod arithmetic;
mod claim;
mod elementwise;
mod error;
mod evaluate;
mod operation;
mod ops;
mod program;
mod settings;
mod signature;
#[cfg(test)]
mod tests;
mod transform;

pub use claim::{faults, operations, ranges};
pub use error::{ClaimFault, GoldenError, UnknownOperation, WrongWord};
pub use evaluate::{compare, evaluate, modulus};
pub use operation::Operation;
pub use ops::*;
pub use program::{check, defects, wrong_roots};
pub use settings::{OF_CLAIM, Settings};
pub use signature::{Kind, Operand, Range, SettingSpec, Signature};
