//! The failures of the lowering proof.

use thiserror::Error;

/// The first fault in the proof that vector code computes its claims.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LoweringFault {
    /// A modulus that has no arithmetic.
    #[error("tower {tower}: the modulus {modulus:#x} must be odd and at least 3")]
    Modulus {
        /// The tower.
        tower: u32,
        /// Its modulus.
        modulus: u128,
    },
    /// A ring without a transform.
    #[error("tower {tower}: {root:#x} is not a primitive {}-th root of unity modulo {modulus:#x}", 2 * u64::from(*n))]
    Ring {
        /// The tower.
        tower: u32,
        /// Its degree.
        n: u32,
        /// Its modulus.
        modulus: u128,
        /// Its root.
        root: u128,
    },
    /// A claim about buffers that cannot hold its operands or results.
    #[error("`{claim}`: buffer `{buffer}` {problem}")]
    Claim {
        /// The claim.
        claim: String,
        /// The buffer.
        buffer: String,
        /// The defect.
        problem: &'static str,
    },
    /// A claim with a wrong number of operands or results, or with wrong moduli.
    #[error("claim {claim}: wrong number, moduli or settings of operands or results")]
    Operands {
        /// The claim, from 0.
        claim: usize,
    },
    /// A claim that the abstract values cannot express.
    #[error("no rule covers the operations of `{claim}` together")]
    Uncovered {
        /// The claim.
        claim: String,
    },
    /// An instruction that does not have the operands of its operation.
    #[error("instruction {inst}: `{op}` {problem}")]
    Malformed {
        /// The instruction.
        inst: u32,
        /// Its operation.
        op: &'static str,
        /// The defect.
        problem: &'static str,
    },
    /// A load or store beyond its buffer.
    #[error("instruction {inst}, lane {lane}: word {word} is beyond buffer `{buffer}`")]
    Beyond {
        /// The instruction.
        inst: u32,
        /// The lane.
        lane: usize,
        /// The buffer.
        buffer: String,
        /// The word.
        word: u64,
    },
    /// A load of a word that has no value yet.
    #[error("instruction {inst}, lane {lane}: word {word} of `{buffer}` is read before it is written")]
    Unwritten {
        /// The instruction.
        inst: u32,
        /// The lane.
        lane: usize,
        /// The buffer.
        buffer: String,
        /// The word.
        word: u32,
    },
    /// Operands that no rule combines.
    #[error("instruction {inst}, lane {lane}: no rule gives the `{op}` of {left} and {right}")]
    Combination {
        /// The instruction.
        inst: u32,
        /// The lane.
        lane: usize,
        /// Its operation.
        op: &'static str,
        /// The first operand, multiplied by its factor if the operation has one.
        left: String,
        /// The second operand, likewise.
        right: String,
    },
    /// A result that differs from the claim.
    #[error("word {word} of `{output}` {difference}; {count} of its {size} words differ")]
    Result {
        /// The output buffer.
        output: String,
        /// The first word that differs.
        word: u32,
        /// What the program has there, and what the claim.
        difference: String,
        /// The words that differ.
        count: usize,
        /// All words.
        size: u32,
    },
}

impl LoweringFault {
    /// The fault with another number of its instruction.
    #[must_use]
    pub fn renumbered(mut self, number: impl FnOnce(u32) -> u32) -> Self {
        if let Some(inst) = self.inst() {
            *inst = number(*inst);
        }
        self
    }

    /// The instruction at which the proof ends, if it ends at one.
    pub fn instruction(&self) -> Option<u32> {
        self.clone().inst().copied()
    }

    fn inst(&mut self) -> Option<&mut u32> {
        match self {
            Self::Malformed { inst, .. }
            | Self::Beyond { inst, .. }
            | Self::Unwritten { inst, .. }
            | Self::Combination { inst, .. } => Some(inst),
            Self::Modulus { .. }
            | Self::Ring { .. }
            | Self::Claim { .. }
            | Self::Operands { .. }
            | Self::Uncovered { .. }
            | Self::Result { .. } => None,
        }
    }
}
