//! Circuits: programs of homomorphic encryption, from operations on ciphertexts.
//!
//! * A [`Circuit`] has the operations: sums, products, rotations, linear transforms, polynomials, bootstraps.
//!   It emits a [`RingProgram`](ring_program::RingProgram), with the definitions of its inputs and counts by
//!   stage.
//! * A [`ParameterSet`] names the moduli of ciphertexts and of key switching. [`SETS`] are built in; TOML
//!   files define more.
//! * A [`Generator`] is a program with options. [`all_programs`] has those of this crate: key switches,
//!   products, bootstraps, and applications. A crate of a user's own adds its generators with
//!   [`add_programs`], for commands, sweeps and explorations.
//! * [`heir`] reads programs that HEIR has compiled, [`orion`] networks that Orion has.
//! * [`DATAFLOWS`] are the orders of a key switch. They differ in the limbs that are alive at a time, never
//!   in the results.
//!
//! The formulas are those of hybrid key switching with fast base conversion, to the last bit:
//!
//! ```text
//! digits      alpha = ceil(L/digits); digit j has the moduli q_(alpha j) .. of the level, product D_j
//! conversion  conv(x; S -> p) = sum_i [x_i (S/s_i)^-1]_(s_i) (S/s_i) mod p
//! mod-up      d_j = d in the digit's own moduli, conv(d; D_j -> m) in every other modulus m of QP
//! products    A_c = sum_j d_j key_(j,c), c = 0, 1
//! mod-down    out_c = (A_c - t conv([t^-1 A_c]_P; P -> q)) P^-1 mod q, t the plaintext modulus or 1
//! ```
//!
//! ```
//! use programs::{Options, ParameterSet, find_program, generate};
//!
//! let set = ParameterSet::built_in("ark", Some(512)).expect("a built-in set")?;
//! let program = generate(&find_program("keyswitch").unwrap(), &set, &Options::default())?;
//! assert_eq!(program.outputs()[0].name, "ks0");
//! assert_eq!(program.outputs()[0].limbs.len(), 24);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base;
mod bootstrap;
mod centred;
pub mod circuit;
mod dataflow;
mod definition;
mod emitter;
mod error;
mod failure;
mod foreign;
pub mod heir;
pub mod logistic;
mod maps;
mod matrix;
mod network;
mod noise;
pub mod option;
pub mod orion;
mod polynomial;
mod program;
mod scale;
mod security;
mod set;
mod sign;
mod sine;
mod stated;
mod switch;

pub use bootstrap::{Bootstrap, Steps};
pub use circuit::{
    BootstrapOptions, Ciphertext, Circuit, Diagonals, Generated, Ledger, Plaintext, Setup, Stage,
};
pub use dataflow::{DATAFLOWS, Dataflow, find_dataflow};
pub use definition::{Definition, Input, KeyPart, SwitchingKey};
pub use error::Error;
pub use failure::Failure;
pub use logistic::{Momentum, Sigmoid};
pub use maps::Maps;
pub use matrix::{Diagonal, Periodic, Slots};
pub use network::Network;
pub use option::{Hoisting, OptionKind, OptionSpec, Options, Order, Rescale, distinct_rotations};
pub use program::{
    Generator, add_programs, all_options, all_programs, comment, find_program, generate, generate_defined,
    title,
};
pub use scale::Scale;
pub use security::Security;
pub use set::{ParameterSet, SETS, Variation};
pub use sign::relu;
pub use sine::Sine;
pub use stated::check_stated;
