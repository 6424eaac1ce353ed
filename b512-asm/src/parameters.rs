//! The vector length and the word width of an instruction set.

use std::fmt;
use thiserror::Error;

/// The two parameters of the instruction set: the vector length and the word width.
///
/// The default is [`Isa::B512`], the instruction set of the paper. Every other choice keeps the
/// instructions, their encoding, the register files and the address ranges, which count words.
///
/// ```
/// use b512_asm::Isa;
///
/// let isa = Isa::new(1024, 64)?;
/// assert_eq!((isa.lane_bits(), isa.word_bytes()), (10, 8));
/// assert_eq!(Isa::new(512, 36)?.bytes(512), 2304);
/// assert_eq!(isa.max_word(), u64::MAX.into());
/// assert!(Isa::new(1000, 64).is_err());
/// # Ok::<(), b512_asm::InvalidIsa>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Isa {
    lane_bits: u8,
    word_bits: u8,
}

impl Isa {
    /// The instruction set of the paper: 512 lanes, words of 128 bits.
    pub const B512: Self = Self { lane_bits: 9, word_bits: 128 };

    /// The shortest vector.
    pub const MIN_VECTOR_LENGTH: u32 = 8;

    /// The longest vector.
    pub const MAX_VECTOR_LENGTH: u32 = 4096;

    /// The narrowest word, in bits.
    pub const MIN_WORD_BITS: u32 = 28;

    /// The widest word, in bits.
    pub const MAX_WORD_BITS: u32 = 128;

    /// The instruction set with `vector_length` lanes and words of `word_bits` bits.
    ///
    /// # Errors
    /// Returns an error if `vector_length` is not a power of two from 8 to 4096, or if
    /// `word_bits` is not from 28 to 128.
    pub const fn new(vector_length: u32, word_bits: u32) -> Result<Self, InvalidIsa> {
        let in_range = Self::MIN_VECTOR_LENGTH <= vector_length && vector_length <= Self::MAX_VECTOR_LENGTH;
        if !in_range || !vector_length.is_power_of_two() {
            return Err(InvalidIsa::VectorLength(vector_length));
        }
        if word_bits < Self::MIN_WORD_BITS || Self::MAX_WORD_BITS < word_bits {
            return Err(InvalidIsa::WordBits(word_bits));
        }
        Ok(Self { lane_bits: vector_length.trailing_zeros() as u8, word_bits: word_bits as u8 })
    }

    /// Elements of a vector register: a power of two from 8 to 4096.
    pub const fn vector_length(self) -> u32 {
        1 << self.lane_bits
    }

    /// Bits of a lane number: the logarithm of the vector length, 3 to 12.
    pub const fn lane_bits(self) -> u32 {
        self.lane_bits as u32
    }

    /// Bits of an element, and of a word of the VDM and the SDM: 28 to 128.
    pub const fn word_bits(self) -> u32 {
        self.word_bits as u32
    }

    /// Bytes of a word in object files and intrinsics: 4, 8 or 16. Memories pack words: see [`Isa::bytes`].
    pub const fn word_bytes(self) -> u32 {
        self.word_bits().div_ceil(8).next_power_of_two()
    }

    /// Bytes of `words` words without gaps, as in memories on and off the chip, rounded up.
    pub const fn bytes(self, words: u64) -> u64 {
        words.saturating_mul(self.word_bits() as u64).div_ceil(8)
    }

    /// The largest value of a word.
    pub const fn max_word(self) -> u128 {
        u128::MAX >> (u128::BITS - self.word_bits())
    }
}

impl Default for Isa {
    fn default() -> Self {
        Self::B512
    }
}

/// The arguments of the `.isa` directive: `vector_length=1024, word_bits=64`.
impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vector_length={}, word_bits={}", self.vector_length(), self.word_bits())
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Isa")
            .field("vector_length", &self.vector_length())
            .field("word_bits", &self.word_bits())
            .finish()
    }
}

/// A vector length or a word width that no instruction set has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum InvalidIsa {
    /// The vector length.
    #[error("invalid vector length {0}: expected a power of two from 8 to 4096")]
    VectorLength(u32),
    /// The word width, in bits.
    #[error("invalid word width {0}: expected 28 to 128 bits")]
    WordBits(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b512_is_the_default_and_has_512_lanes_of_128_bits() {
        assert_eq!(Isa::new(512, 128), Ok(Isa::B512));
        assert_eq!(Isa::default(), Isa::B512);
        assert_eq!((Isa::B512.lane_bits(), Isa::B512.word_bytes(), Isa::B512.max_word()), (9, 16, u128::MAX));
    }

    #[test]
    fn only_powers_of_two_in_range_are_vector_lengths() {
        let valid = (0..10_000).filter(|&length| Isa::new(length, 32).is_ok());
        assert_eq!(valid.collect::<Vec<_>>(), [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]);
        assert_eq!(Isa::new(1 << 31, 32), Err(InvalidIsa::VectorLength(1 << 31)));
    }

    #[test]
    fn word_widths_are_a_range() {
        let valid = (0..1000).filter(|&bits| Isa::new(64, bits).is_ok());
        assert!(valid.eq(Isa::MIN_WORD_BITS..=Isa::MAX_WORD_BITS));
    }
}
