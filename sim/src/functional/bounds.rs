//! Upper bounds of the words in memory.

use b512_asm::Isa;
use std::ops::Range;

/// Upper bounds of the words in the VDM: one for each stretch as long as a vector.
///
/// Thus results that a program stores and loads again are not compared with the modulus again.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    bounds: Vec<u128>,
    lane_bits: u32,
}

impl Bounds {
    /// The bounds of a memory of zeros.
    pub(super) fn new(words: u32, isa: Isa) -> Self {
        let stretches = words.div_ceil(isa.vector_length()) as usize;
        Self { bounds: vec![0; stretches], lane_bits: isa.lane_bits() }
    }

    fn stretches(&self, words: &Range<u32>) -> Range<usize> {
        let after = (words.end as usize + (1 << self.lane_bits) - 1) >> self.lane_bits;
        words.start as usize >> self.lane_bits..after
    }

    /// A bound of `words`.
    pub(super) fn at_most(&self, words: &Range<u32>) -> u128 {
        self.bounds[self.stretches(words)].iter().copied().fold(0, u128::max)
    }

    /// The bounds of a memory of zeros.
    pub(super) fn clear(&mut self) {
        self.bounds.fill(0);
    }

    /// Records that values up to `at_most` have overwritten some of `words`, or all of them.
    pub(super) fn overwrite(&mut self, words: &Range<u32>, at_most: u128, all: bool) {
        let stretches = self.stretches(words);
        let aligned = words.start.trailing_zeros() >= self.lane_bits;
        let whole = all && aligned && words.len() == 1 << self.lane_bits;
        for bound in &mut self.bounds[stretches] {
            *bound = if whole { at_most } else { at_most.max(*bound) };
        }
    }
}
