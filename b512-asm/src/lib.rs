//! B512, the instruction set of the Ring Processing Unit: encoding, assembly text, object files.
//!
//! [`isa`] is the table of instructions from which everything else follows. A [`Program`] is the
//! common content of all notations:
//!
//! * assembly text: [`assemble`] reads it, a program's `Display` prints it;
//! * ELF object files: [`object::read`] and [`object::write`];
//! * SPIRAL's C intrinsics: [`intrinsics::assemble`] reads them, [`intrinsics::print`] writes them.
//!
//! Errors in a text are [`Diagnostic`] values with positions. [`Program::check`] defines a valid
//! program. [`reference()`] generates the ISA's documentation. The crate does no input or output of
//! its own.
//!
//! ```
//! let source = ".input x, 512\nvload v0, a0, x, strided 2^1\nhalt\n";
//! let program = b512_asm::assemble(source)?;
//! let file = b512_asm::object::write(&program)?;
//! assert_eq!(b512_asm::object::read(&file)?, program);
//!
//! let errors = b512_asm::assemble("vlaod v0, a0, 0\nhalt\n").unwrap_err();
//! assert_eq!(errors.to_string(), "1:1: B001: unknown instruction `vlaod`; did you mean `vload`?");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), deny(clippy::wildcard_enum_match_arm))]

pub mod asm;
mod c_text;
pub mod check;
mod claim;
pub mod code;
mod expression;
mod grammar;
pub mod intrinsics;
pub mod isa;
mod lex;
pub mod object;
mod operand;
mod parameters;
mod print;
pub mod program;
mod reference;
pub mod reg;
mod source_map;
mod space;
#[cfg(any(test, feature = "proptest"))]
pub mod strategy;

pub use asm::{assemble, assemble_with_checks, assemble_with_source_map};
pub use check::{ClaimPart, Defect, InvalidProgram, Part};
pub use claim::{Call, Claim, Expression, Setting};
pub use code::Code;
pub use diagnostic::{Diagnostic, Diagnostics, Span};
pub use isa::{
    Butterfly, Class, DecodeError, Direction, Feature, FeatureSet, Instr, Op, OpInfo, Operand, OperandKind,
    OperandSpec, PerPipe, Permutation, Pipe, VectorAccess,
};
pub use parameters::{InvalidIsa, Isa};
pub use print::Listing;
pub use program::{Image, Program, Role, Segment, Symbol};
pub use reference::reference;
pub use reg::{AReg, AddressMode, LaneMap, Log2, MReg, Offset, SReg, VReg};
pub use source_map::SourceMap;
pub use space::Space;
