//! Number-theoretic transforms in CUDA, after four published GPU implementations and one of our
//! own.
//!
//! This crate is an independent reference: it shares no arithmetic with the simulator or the code
//! generator. The library embeds its kernels as CUDA text. A CUDA device compiles them at run time;
//! [`Device::emulated`] runs the same text on a CPU, with one fiber for each thread. The crate
//! builds and links without CUDA.
//!
//! # Calling it
//!
//! * A [`Device`] is a CUDA device or the emulation. [`Device::on_stream`] puts all work on a stream of
//!   the caller, in order with the caller's own.
//! * A [`Plan`] transforms and multiplies polynomials in a [`Batch`] of device memory, in place. The layout
//!   is `[polynomial][limb][N]`, one limb for each modulus of the plan. [`Plan::transform_at`] and
//!   [`Plan::multiply_at`] accept polynomials at any distance ([`Layout`]), for instance of ciphertexts with
//!   room for more limbs.
//! * Coefficients are in natural order, transformed polynomials in bit-reversed order
//!   ([`Direction`]). Every word is below its modulus, before and after.
//! * [`Batch::from_raw`] wraps memory that someone else owns; [`Plan::upload`] copies from the host.
//! * Invalid input, a missing device and a failed driver call are an [`Error`], which names what would
//!   be valid. Every call that uses a device can return [`Error::Driver`], if a driver call or an earlier
//!   kernel failed, and [`Error::Compile`], if it compiles kernels; documentation names the other errors.
//!   Kernels do not check words: a word above its modulus gives a meaningless result.
//! * Calls on a CUDA device return before the work is done. Downloads wait.
//!
//! `cargo run -p rpu-gpu-ref --example resident` multiplies polynomials in memory and on a stream of another
//! library; they never leave the card. On data of the host:
//!
//! ```
//! use gpu_ref::{Device, Direction, Modulus, Plan, Strategy};
//!
//! # fn main() -> Result<(), gpu_ref::Error> {
//! let device = match Device::open(0) {
//!     Ok(gpu) => gpu,
//!     Err(_) => match Device::emulated() {
//!         Ok(cpu) => cpu,
//!         Err(_) => return Ok(()), // neither a GPU nor a C++ compiler
//!     },
//! };
//! let modulus = Modulus::<u64>::find(60, 1 << 10, 0)?;
//! let plan = Plan::new(&device, Strategy::Best, &[modulus])?;
//! let polynomial: Vec<u64> = (0..1 << 10).collect();
//! let transformed = plan.run(Direction::Forward, &polynomial)?;
//! assert_eq!(plan.run(Direction::Inverse, &transformed)?, polynomial);
//! # Ok(())
//! # }
//! ```
//!
//! # What else there is
//!
//! The other operations of homomorphic schemes are in [`base_conversion`], [`automorphism`],
//! [`inner_product`] and [`key_switch`]; [`crosscheck`] computes each with one call. [`device`] launches
//! kernels of other crates: `gpu-experiments`, a package outside the workspace, measures what four papers
//! claim, and divides work among devices.

#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod automorphism;
pub mod base_conversion;
mod batch;
pub mod crosscheck;
pub mod device;
mod error;
mod field;
pub mod host;
pub mod inner_product;
pub mod key_switch;
mod layout;
pub mod number;
mod plan;
pub mod recipe;
pub mod source;
#[cfg(feature = "testing")]
pub mod testing;
mod timing;
mod word;

pub use batch::{Batch, check_residues};
pub use device::Device;
pub use error::Error;
pub use field::barrett_constants;
pub use layout::Layout;
pub use number::Modulus;
pub use plan::{Direction, Plan};
pub use recipe::{Barrett, Feature, Product, Recipe, Strategy, Sync};
pub use timing::Timing;
pub use word::Word;
