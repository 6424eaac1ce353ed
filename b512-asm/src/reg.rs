//! Typed register indices and the immediate operands of an instruction.

use crate::parameters::Isa;
use std::fmt;

/// Registers in each of the four register files.
pub const REGISTERS: usize = 64;

/// Words of the largest VDM that the ISA can address: 512 MiB of words of any width. The paper prints 32 MiB.
/// Address registers decide, as the address field is relative to them.
pub const MAX_VDM_WORDS: u32 = 1 << 28;

/// Words of the largest SDM that the ISA can address (16 MiB of 128-bit words).
pub const MAX_SDM_WORDS: u32 = 1 << 20;

macro_rules! register {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u8);

        impl $name {
            /// The prefix in assembly text.
            pub const PREFIX: char = $prefix;

            /// Register `index`, or `None` at 64 and above.
            pub const fn new(index: u8) -> Option<Self> {
                if (index as usize) < REGISTERS { Some(Self(index)) } else { None }
            }

            /// Register `index`.
            ///
            /// # Panics
            /// Panics at 64 and above.
            #[inline]
            pub const fn at(index: usize) -> Self {
                assert!(index < REGISTERS, "register index out of range");
                Self(index as u8)
            }

            /// The register's number, 0 to 63.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// All 64 registers in order.
            pub fn all() -> impl DoubleEndedIterator<Item = Self> + Clone {
                (0..REGISTERS as u8).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{}", $prefix, self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

register! {
    /// A vector register (VRF): as many elements as the ISA's vector length.
    VReg, 'v'
}
register! {
    /// A scalar register (SRF): one word.
    SReg, 's'
}
register! {
    /// An address register (ARF): a word address of the VDM.
    AReg, 'a'
}
register! {
    /// A modulus register (MRF): an odd modulus that fits a word.
    MReg, 'm'
}

/// The 20-bit address field: a number of words, relative to ARF\[RM\] in the VDM, and to 0 in the
/// SDM.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Offset(u32);

impl Offset {
    /// The largest offset that fits.
    pub const MAX: u32 = (1 << 20) - 1;

    /// An offset of `words`, or `None` if it does not fit 20 bits.
    pub const fn new(words: u32) -> Option<Self> {
        if words <= Self::MAX { Some(Self(words)) } else { None }
    }

    /// The offset in words.
    pub const fn words(self) -> u32 {
        self.0
    }
}

/// An affine map of lanes, `h` to `multiplier h + shift` modulo the vector length. With an odd multiplier, it
/// is a permutation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LaneMap {
    multiplier: u16,
    shift: u16,
}

impl LaneMap {
    /// The largest multiplier and shift. They suffice for vectors of 1,024 lanes.
    pub const MAX: u16 = (1 << 10) - 1;

    /// The map, or `None` if the multiplier is even, or a number is above [`LaneMap::MAX`].
    pub const fn new(multiplier: u16, shift: u16) -> Option<Self> {
        if multiplier % 2 == 1 && multiplier <= Self::MAX && shift <= Self::MAX {
            Some(Self { multiplier, shift })
        } else {
            None
        }
    }

    /// The factor, which is odd.
    pub const fn multiplier(self) -> u16 {
        self.multiplier
    }

    /// The summand.
    pub const fn shift(self) -> u16 {
        self.shift
    }

    /// The source lane from which a result lane gets its word. Both lanes are numbered in bit-reversed order.
    pub fn source(self, lane: usize, vector_length: usize) -> usize {
        let bits = vector_length.ilog2();
        let reversed = |number: usize| number.reverse_bits() >> (usize::BITS - bits);
        let h = usize::from(self.multiplier) * reversed(lane) + usize::from(self.shift);
        reversed(h % vector_length)
    }
}

impl fmt::Display for LaneMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { multiplier, shift } = self;
        write!(f, "{multiplier}h+{shift}")
    }
}

/// The addresses of the elements of a vector load or store in the VDM.
///
/// The paper names STRIDED-SKIP and REPEATED among four modes; the other two, and the meaning of
/// VALUE in each, are this project's reading (see `docs/isa.md`). VALUE is always the exponent of a
/// power of two.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum AddressMode {
    /// Element `i` at `base + i`.
    #[default]
    Linear,
    /// Element `i` at `base + i * 2^value`.
    Strided(Log2),
    /// Blocks of `2^value` words transferred, as many skipped:
    /// element `i` at `base + (i >> value) * 2^(value + 1) + i % 2^value`.
    StridedSkip(Log2),
    /// A block of `2^value` words, repeated: element `i` at `base + i % 2^value`.
    Repeated(Log2),
}

/// The VALUE field of an address mode: an exponent of two, 0 to [`Log2::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Log2(u8);

impl Log2 {
    /// The largest exponent: 2^20 words is half of the largest VDM.
    pub const MAX: u8 = 20;

    /// The exponent `value`, or `None` above [`Log2::MAX`].
    pub const fn new(value: u8) -> Option<Self> {
        if value <= Self::MAX { Some(Self(value)) } else { None }
    }

    /// The exponent.
    #[inline]
    pub const fn value(self) -> u32 {
        self.0 as u32
    }
}

/// The mode in assembly text: `linear`, `strided 2^3`, `skip 2^3`, `repeated 2^3`.
impl fmt::Display for AddressMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("linear"),
            Self::Strided(v) => write!(f, "strided 2^{}", v.value()),
            Self::StridedSkip(v) => write!(f, "skip 2^{}", v.value()),
            Self::Repeated(v) => write!(f, "repeated 2^{}", v.value()),
        }
    }
}

impl AddressMode {
    /// The word offset of element `lane` from the effective address.
    ///
    /// `lane` is below [`Isa::MAX_VECTOR_LENGTH`], so the result fits 32 bits. Its sum with an
    /// address may not.
    #[inline]
    pub const fn element(self, lane: u32) -> u32 {
        match self {
            Self::Linear => lane,
            Self::Strided(v) => lane << v.value(),
            Self::StridedSkip(v) => {
                let v = v.value();
                ((lane >> v) << (v + 1)) | (lane & ((1 << v) - 1))
            }
            Self::Repeated(v) => lane & ((1 << v.value()) - 1),
        }
    }

    /// The number of words from the effective address to the last word accessed, inclusive.
    pub const fn span(self, isa: Isa) -> u32 {
        match self {
            Self::Repeated(v) if v.value() < isa.lane_bits() => 1 << v.value(),
            Self::Linear | Self::Strided(_) | Self::StridedSkip(_) | Self::Repeated(_) => {
                self.element(isa.vector_length() - 1) + 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_ends_with_the_furthest_element() {
        let exponents = (0..=Log2::MAX).filter_map(Log2::new);
        let modes = exponents.flat_map(|v| {
            [
                AddressMode::Linear,
                AddressMode::Strided(v),
                AddressMode::StridedSkip(v),
                AddressMode::Repeated(v),
            ]
        });
        for mode in modes {
            for isa in [64, 512, 4096].map(|length| Isa::new(length, 128).unwrap()) {
                let furthest = (0..isa.vector_length()).map(|lane| mode.element(lane)).max();
                assert_eq!(furthest, Some(mode.span(isa) - 1), "{mode} {isa}");
            }
        }
    }
}
