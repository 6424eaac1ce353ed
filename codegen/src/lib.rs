//! Code generation for the RPU: ring operations to scheduled, register-allocated B512 programs.
//!
//! A [`Request`] is an operation in one or several rings. [`choose`](choose()) selects a [`Recipe`]
//! for a machine, by name, from the [`library`] or by a [`search`]. [`compile`](compile()) turns
//! request, recipe and machine into a [`Kernel`] with a self-contained program:
//!
//! ```
//! use codegen::{PlanChoice, Request, choose, compile};
//! use ring::Degree;
//! use sim::{Machine, functional::Executor, timing::simulate};
//!
//! let degree = Degree::new(1024)?;
//! let request = Request::with_primes(golden::NTT, degree, 128, 1)?;
//!
//! let machine = Machine::rpu_128x128();
//! let choice = choose(&request, &machine, &PlanChoice::Best)?;
//! let program = compile(&request, &choice.recipe, &machine)?.program;
//! assert_eq!(simulate(&machine, &program).cycles.0, 294);
//!
//! // The program states its result. The golden model checks the claim.
//! let claim = &program.claims[0];
//! let x: Vec<u128> = (0..1024).collect();
//! let mut executor = Executor::for_machine(&machine);
//! executor.load(&program)?;
//! executor.write(&claim.inputs[0], &x)?;
//! executor.run()?;
//! golden::compare(claim, &[&x], &[&executor.read(&claim.outputs[0])?])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Compilation has these steps: a [`plan`] describes the movement of a transform's index bits
//! through lanes, registers and memory; [`lower`] turns it into straight-line [`code`] over vectors;
//! [`forwarding`] replaces accesses to memory by registers; [`schedule`] orders the code for the
//! machine and allocates its registers. [`check`] proves each step. The crate does no terminal input
//! or output.

// A new instruction or pipe must not compile before every match over them treats it.
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod bounds;
pub mod check;
pub mod choose;
pub mod code;
pub mod compile;
pub mod elementwise;
pub mod error;
pub mod explain;
pub mod formula;
pub mod forwarding;
mod ids;
pub mod kernel;
mod layout;
pub mod library;
pub mod lower;
mod merit;
pub mod named;
pub mod number;
mod ops;
pub mod parameters;
pub mod plan;
pub mod recipe;
pub mod request;
pub mod rewrite;
pub mod schedule;
pub mod search;
#[cfg(feature = "testing")]
pub mod testing;

pub use choose::{Choice, PlanChoice, RecipeOrigin, choose, generate};
pub use compile::{compile, compile_within, instantiate, least_words};
pub use elementwise::Elementwise;
pub use error::Error;
pub use kernel::{Kernel, NumberWords};
pub use merit::Merit;
pub use named::classical;
pub use parameters::{ParameterFault, Parameters};
pub use recipe::{Order, Recipe};
pub use request::Request;
