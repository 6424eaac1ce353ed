//! Number-theoretic transforms in CUDA, after four published GPU implementations and one of our own.
//!
//! This crate is an independent reference: it shares no arithmetic with the simulator or the code generator. Its kernels are CUDA
//! text inside the library; a CUDA device compiles them at run time, and so does [`Device::emulated`], which runs the very same
//! text on a CPU with one fiber a thread. It builds and links without CUDA.
//!
//! A [`Plan`] transforms and multiplies polynomials. What schemes do besides is in [`base_conversion`], [`automorphism`], [`residues`]
//! and [`inner_product`]; [`program`] makes graphs of many launches, [`multi`] divides work among devices, and [`ablation`] knows what
//! the four papers claim.
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

pub mod ablation;
pub mod automorphism;
pub mod base_conversion;
mod batch;
pub mod crosscheck;
mod device;
mod error;
mod field;
pub mod host;
pub mod inner_product;
mod mapping;
pub mod multi;
pub mod number;
mod plan;
pub mod program;
pub mod recipe;
pub mod residues;
pub mod source;
mod timing;
mod variants;
mod word;

pub use batch::Batch;
pub use device::Device;
pub use error::Error;
pub use number::Modulus;
pub use plan::{Direction, Plan};
pub use program::Program;
pub use recipe::{Barrett, Exchange, Product, Recipe, Strategy, Sync};
pub use timing::Work;
pub use word::Word;
