//! Bit reversal.

/// `index` with its lowest `bits` bits in reverse order; `index` must be below 2^bits.
pub const fn bit_reverse(index: usize, bits: u32) -> usize {
    if bits == 0 { 0 } else { index.reverse_bits() >> (usize::BITS - bits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_reversal_of_three_bits() {
        let reversed: Vec<usize> = (0..8).map(|i| bit_reverse(i, 3)).collect();
        assert_eq!(reversed, [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(bit_reverse(0, 0), 0);
    }
}
