//! Errors of the code generator.

use crate::parameters::ParameterFault;
use crate::plan::{Plan, PlanError};
use crate::schedule::ScheduleError;
use b512_asm::reg::REGISTERS;
use golden::{ClaimFault, Operation};
use sim::FitError;
use thiserror::Error;

/// The reason why a kernel cannot be generated.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Error {
    /// A degree that the generator does not cover.
    #[error(
        "unsupported degree n = {n}: it must be a power of two from {least}, the vector length (`isa.vector_length`), to {}",
        1 << Plan::MAX_LOG_N
    )]
    Degree {
        /// The requested degree.
        n: u32,
        /// The smallest degree for this operation.
        least: u32,
    },
    /// Parameters that define no ring or transform.
    #[error(transparent)]
    Ring(#[from] ring::Error),
    /// A modulus that does not fit a word.
    #[error(
        "the modulus {modulus:#x} does not fit a word of {word_bits} bits; set `isa.word_bits` to {} or more",
        128 - modulus.leading_zeros()
    )]
    WordBits {
        /// The modulus.
        modulus: u128,
        /// The word width of the machine.
        word_bits: u32,
    },
    /// An unknown operation.
    #[error("unknown kernel `{0}`")]
    Operation(String),
    /// Parameters that the operation does not take, or not in that number.
    #[error(transparent)]
    Parameters(#[from] ParameterFault),
    /// A setting with an invalid value.
    #[error(transparent)]
    Setting(#[from] ClaimFault),
    /// A method that the operation does not have.
    #[error("unknown method `{method}` of `{operation}`{}", methods_help(.methods))]
    UnknownMethod {
        /// The requested operation.
        operation: Operation,
        /// The recipe's method.
        method: String,
        /// The operation's methods.
        methods: &'static [&'static str],
    },
    /// A method that does not suit the request or the machine.
    #[error("method `{method}` of `{operation}` does not apply: {obstacle}")]
    Method {
        /// The requested operation.
        operation: Operation,
        /// The recipe's method.
        method: &'static str,
        /// The reason.
        obstacle: String,
    },
    /// More buffers than address registers.
    #[error(
        "{operation} with n = {n} in {towers} rings needs {needed} address registers, but there are \
         {REGISTERS}; split the batch"
    )]
    TooManyRings {
        /// The requested operation.
        operation: Operation,
        /// The requested degree.
        n: u32,
        /// The number of rings.
        towers: usize,
        /// Registers needed: one for each operand, result and other buffer, and two more.
        needed: usize,
    },
    /// More operands than registers.
    #[error("the kernel needs {needed} registers of one kind, but there are {REGISTERS}; use fewer steps")]
    TooManyOperands {
        /// Registers needed.
        needed: usize,
    },
    /// A constant without a value.
    #[error("a number modulo {modulus:#x} has no inverse; choose moduli without a common factor")]
    NoInverse {
        /// The modulus.
        modulus: u128,
    },
    /// A plan that does not compute its transform.
    #[error("invalid plan `{name}`: {error}")]
    Plan {
        /// The plan's name.
        name: String,
        /// The defect.
        error: PlanError,
    },
    /// A recipe for another operation or degree.
    #[error("{operation} with n = {n} needs {expected}, but the recipe has {found}")]
    Recipe {
        /// The requested operation.
        operation: Operation,
        /// The requested degree.
        n: u32,
        /// The algorithms that it needs.
        expected: String,
        /// The plans that the recipe has.
        found: String,
    },
    /// On split paths, an access that would overtake another.
    #[error(
        "`{later}` would get to a word of the VDM before an earlier `{earlier}` on the other path; choose another plan"
    )]
    Overtaking {
        /// The earlier access, as assembly text.
        earlier: String,
        /// The later one.
        later: String,
    },
    /// The code cannot be scheduled.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The program does not fit the machine.
    #[error(transparent)]
    Fit(#[from] FitError),
}

/// The end of a message about an unknown method.
fn methods_help(methods: &[&str]) -> String {
    if methods.is_empty() {
        return ", which has only one".to_owned();
    }
    let names: Vec<String> = methods.iter().map(|name| format!("`{name}`")).collect();
    format!("; its methods are {}", names.join(", "))
}
