//! B512, the instruction set of the Ring Processing Unit: encoding, assembly text, object files.
//!
//! [`isa`] is the one table from which everything else follows; [`program`] is what text and
//! object files hold. The crate does no input or output of its own.

pub mod asm;
pub mod check;
pub mod diagnostic;
mod grammar;
pub mod isa;
mod lex;
pub mod object;
mod print;
pub mod program;
pub mod reg;
#[cfg(any(test, feature = "proptest"))]
pub mod strategy;

pub use asm::assemble;
pub use check::{Defect, InvalidProgram, Place};
pub use diagnostic::{Code, Diagnostic, Diagnostics, Span};
pub use isa::{DecodeError, Direction, Instr, Op, OpInfo, Operand, OperandKind, OperandSpec, Pipe};
pub use program::{Equation, Function, Image, Program, Role, Segment, Space, Symbol};
pub use reg::{AReg, AddressMode, Log2, MReg, Offset, SReg, VReg};
