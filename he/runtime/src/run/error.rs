//! Why a program cannot run.

use crate::execute::LaunchError;
use crate::schedule::TooLarge;
use crate::schedule::consecutive::TOO_LONG;
use ring_program::ExecuteError;
use sim::hbm::BeyondHbm;
use std::num::NonZeroU32;

/// The reason why a program cannot run.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RunError {
    /// A kernel cannot be generated for the machine.
    #[error(transparent)]
    Kernel(codegen::Error),
    /// A launch does not fit the VDM.
    #[error(transparent)]
    TooLarge(TooLarge),
    /// A kernel of the recipes of a mapping does not fit the machine.
    #[error("a kernel of the mapping's recipes does not fit the machine; set `recipes` to `fastest`")]
    Mapping,
    /// The off-chip memory is too small for the data.
    #[error("{place} beyond the off-chip memory: {error}")]
    BeyondHbm {
        /// The data that end beyond it, with the verb.
        place: String,
        /// What is needed.
        error: BeyondHbm,
    },
    /// The time is beyond what is counted.
    #[error("{TOO_LONG}")]
    TooLong,
    /// Seeded keys, and nothing that expands them.
    #[error(
        "the keys are seeded, but the machine has no generator of keys; set `generator.words_per_cycle` to 1 or more, or use \
         `streamed` keys"
    )]
    NoGenerator,
    /// An input has no words.
    #[error("the input `{name}` is missing")]
    MissingInput {
        /// The name of the input.
        name: String,
    },
    /// A launch failed.
    #[error("{}{place}: {error}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Launch {
        /// Its line in the text, if it has one.
        line: Option<NonZeroU32>,
        /// Its operations.
        place: String,
        /// The reason.
        error: LaunchError,
    },
    /// The executor on big integers failed.
    #[error("the executor on big integers: {0}")]
    Reference(ExecuteError),
    /// A result differs from that of the executor on big integers.
    #[error(
        "word {index} of the limb `{id}` of the output `{output}` is {found:#x}, but the executor on big integers \
         computes {expected:#x}"
    )]
    Differs {
        /// The name of the output.
        output: String,
        /// The limb.
        id: ring_program::LimbId,
        /// The index of the word.
        index: usize,
        /// The word.
        found: u128,
        /// The expected word.
        expected: u128,
    },
}

impl RunError {
    /// The line of the text at fault.
    pub fn line(&self) -> Option<NonZeroU32> {
        match self {
            Self::Launch { line, .. } | Self::Reference(ExecuteError::NotReduced { line, .. }) => *line,
            Self::Kernel(_)
            | Self::TooLarge(_)
            | Self::Mapping
            | Self::BeyondHbm { .. }
            | Self::TooLong
            | Self::NoGenerator
            | Self::MissingInput { .. }
            | Self::Reference(_)
            | Self::Differs { .. } => None,
        }
    }

    /// Whether the program ran with a wrong result, in contrast to a run that could not start or
    /// finish.
    pub fn is_wrong_result(&self) -> bool {
        matches!(self, Self::Differs { .. })
    }
}
