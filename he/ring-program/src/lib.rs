//! Ring programs: one operation on one residue polynomial, a *limb*, per line.
//!
//! A ring program is the only form of a homomorphic computation that is larger than a kernel. Its
//! text is Niobium's `.fhetch`, with moduli of up to 128 bits.
//!
//! * [`read()`] reads and validates a text, [`RingProgram::write`] writes it; a [`Builder`] makes
//!   programs without text.
//! * A [`Manifest`] names the ring degree, the inputs and the outputs.
//! * [Regions](region) name the stage and the operation on ciphertexts of ranges of lines.
//! * A program may [call functions](Step). It means its [expansion](RingProgram::flat).
//! * [`Operation`] has one variant for each row of [`for_each_operation!`]; [`Shape`] is what all
//!   operations have.
//! * [`Liveness`] says when a value is read next, [`reduction`] what operations demand of words.
//! * [`lint()`] finds what a valid program hardly means, and [`mark`] shows it in the text.
//! * [`Inputs`] reads data files, or makes words when a run needs them; [`execute()`] runs a program on big
//!   integers, as the judge of other executions. It shares no arithmetic with them, nor with the crate
//!   `ring`.
//!
//! ```
//! use ring_program::{Interface, read};
//!
//! let text = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nsr_mulp %3, %1, %2, m=1\nhalt\n";
//! let program = read("p.fhetch", text.as_bytes(), Interface::Degree(512))?;
//! assert_eq!(program.inputs()[1].name, "id2");
//! assert_eq!(program.to_text(), text);
//!
//! let wrong = text.replace("%2, m=1", "%2, m=7");
//! let errors = read("p.fhetch", wrong.as_bytes(), Interface::Degree(512)).unwrap_err();
//! assert_eq!(
//!     errors.to_string(),
//!     "p.fhetch:4:23: F006: the modulus index 7 is beyond the table; the last modulus is m[1]"
//! );
//! # Ok::<(), diagnostic::Diagnostics>(())
//! ```
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

mod builder;
mod check;
mod code;
pub mod compression;
mod constants;
pub mod data;
pub mod execute;
mod fault;
mod function;
mod key_part;
mod limb;
pub mod lint;
mod liveness;
pub mod manifest;
mod moduli;
pub mod need;
mod operation;
mod parameters;
mod part;
mod program;
mod read;
pub mod reduction;
pub mod region;
pub mod shape;
mod table;
mod words;
mod write;

pub use builder::{Builder, UnwrittenOutput};
pub use code::Code;
pub use constants::{ConstantIndex, Constants};
pub use data::Inputs;
pub use execute::{ExecuteError, execute, execute_watched};
pub use fault::Fault;
pub use function::{Call, Function, FunctionIndex, Step};
pub use key_part::{KeyPart, key_part};
pub use limb::{Limb, LimbId, LimbTable};
pub use lint::lint;
pub use liveness::{Liveness, NextUse, Uses};
pub use manifest::{Manifest, NamedIds};
pub use moduli::{ModulusFault, ModulusIndex, ModulusTable, SENTINEL};
pub use operation::Operation;
pub use parameters::Parameters;
pub use part::{Name, Part};
pub use program::{Group, RingProgram};
pub use read::{Interface, NOTATION, mark, read, read_file};
pub use region::{Owner, Region, RegionFault, RegionIndex, RegionKind, RegionWriter, Regions};
pub use shape::Shape;
pub use table::{OPCODES, REFUSED};
