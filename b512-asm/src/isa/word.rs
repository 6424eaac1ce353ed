//! Decoding of instruction words.

use super::operand::{OperandType, Slot, slot};
use super::{Instr, Op};
use thiserror::Error;

/// An invalid instruction word.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum DecodeError {
    /// The BFLY bit with an opcode that has no butterfly form.
    #[error("word {word:#018x}: unknown opcode {opcode:#x} with the BFLY bit")]
    UnknownOpcode {
        /// The word.
        word: u64,
        /// Its opcode field.
        opcode: u8,
    },
    /// Bits set that no operand of the instruction uses.
    #[error("word {word:#018x}: `{mnemonic}` must have zeros in the reserved bits {bits:#018x}")]
    ReservedBits {
        /// The word.
        word: u64,
        /// The instruction that the opcode names.
        mnemonic: &'static str,
        /// The offending bits.
        bits: u64,
    },
    /// A field with an invalid value.
    #[error("word {word:#018x}: `{mnemonic}` cannot have {value:#x} in its field {slot}")]
    Field {
        /// The word.
        word: u64,
        /// The instruction that the opcode names.
        mnemonic: &'static str,
        /// The field's name.
        slot: &'static str,
        /// The field's value.
        value: u64,
    },
}

impl Op {
    /// The bits of the word that the instruction uses.
    fn used_bits(self) -> u64 {
        let operands = self.info().operands.iter();
        operands.fold(slot::BFLY.mask() | slot::OPCODE.mask(), |bits, operand| bits | operand.slot.mask())
    }

    pub(super) fn decode_operand<T: OperandType>(self, word: u64, slot: Slot) -> Result<T, DecodeError> {
        T::from_bits(slot.get(word)).ok_or(DecodeError::Field {
            word,
            mnemonic: self.info().mnemonic,
            slot: slot.name,
            value: slot.get(word),
        })
    }
}

impl Instr {
    /// The instruction that `word` encodes. `decode(w)?.encode() == w` for every accepted word.
    ///
    /// # Errors
    /// Returns an error if the opcode or a field is invalid, or a reserved bit is set.
    pub fn decode(word: u64) -> Result<Self, DecodeError> {
        let opcode = slot::OPCODE.get(word) as u8;
        let bfly = slot::BFLY.get(word) == 1;
        let op = Op::ALL
            .iter()
            .copied()
            .find(|op| op.info().opcode == opcode && op.info().bfly == bfly)
            .ok_or(DecodeError::UnknownOpcode { word, opcode })?;
        let bits = word & !op.used_bits();
        if bits != 0 {
            return Err(DecodeError::ReservedBits { word, mnemonic: op.info().mnemonic, bits });
        }
        op.decode_operands(word)
    }
}
