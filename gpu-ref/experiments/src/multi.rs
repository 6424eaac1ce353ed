//! Several CUDA devices working on the same polynomials.
//!
//! A polynomial is a table with a row for each limb and a column for each coefficient or evaluation
//! point. Transforms need whole rows, base conversion needs whole columns, and products need
//! neither. HE-Booster therefore partitions the table in three ways, by limbs, by columns and by
//! row segments, and moves the data between phases. Caramel gives each device all limbs of some of the
//! key's digits, so devices communicate only at the start and at the end. See [`Partition`].
//!
//! [`Products`] multiplies batches of polynomials without communication. [`KeySwitch`] switches keys as the
//! papers do, and with less to send. They run on a [`Cluster`] of CUDA devices that read each other's
//! memory, or of any devices connected through host memory.
//!
//! All arithmetic is in `gpu_ref`: this module moves data between its kernels.

mod cluster;
mod key_switch;
mod parts;
mod peer;
mod products;
mod rows;
mod staged;
mod steps;
mod transfer;

pub use cluster::Cluster;
pub use key_switch::{KeySwitch, Partition};
pub use products::Products;
pub use transfer::kernels;
