//! A memory whose words have any number of bits.

/// The contents of a memory, by bits.
pub(super) struct Image(Vec<u8>);

impl Image {
    /// A memory of so many bits. All are ones: whatever reads a word before it is written gets a large one.
    pub(super) fn new(bits: u64) -> Self {
        Self(vec![u8::MAX; bits.div_ceil(8) as usize])
    }

    /// The word of `width` bits, at most 128, from a bit on, little-endian.
    pub(super) fn get(&self, bit: u64, width: u64) -> u128 {
        let (first, shift) = ((bit / 8) as usize, bit % 8);
        let mut word = 0;
        // The first byte ends `8 - shift` bits into the word.
        for (index, &byte) in self.0[first..].iter().take((shift + width).div_ceil(8) as usize).enumerate() {
            let byte = u128::from(byte);
            word |= if index == 0 { byte >> shift } else { byte << (8 * index as u64 - shift) };
        }
        word & (u128::MAX >> (128 - width))
    }

    /// Sets the word of `width` bits, at most 128, from a bit on.
    pub(super) fn set(&mut self, bit: u64, width: u64, word: u128) {
        let (mut bit, mut left, mut word) = (bit, width, word);
        while left > 0 {
            let shift = bit % 8;
            let count = (8 - shift).min(left);
            let mask = (0xff >> (8 - count)) << shift;
            let byte = &mut self.0[(bit / 8) as usize];
            *byte = *byte & !mask | (word as u8) << shift & mask;
            word >>= count;
            (bit, left) = (bit + count, left - count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;

    #[test]
    fn words_of_all_widths_lie_beside_each_other() {
        let mut rng = Random::seed_from_u64(1);
        for width in 1..=128 {
            let words: Vec<u128> = (0..9).map(|_| rng.random::<u128>() >> (128 - width)).collect();
            let first = rng.random_range(0..8);
            let mut image = Image::new(first + 9 * width);
            let bit = |index: usize| first + index as u64 * width;
            for index in [3, 0, 8, 1, 7, 2, 5, 4, 6] {
                image.set(bit(index), width, words[index]);
            }
            for (index, &word) in words.iter().enumerate() {
                assert_eq!(image.get(bit(index), width), word, "word {index} of {width} bits");
            }
        }
    }
}
