//! Movements of words without a kernel: automorphisms of values with an unknown modulus, and products with
//! monomials.

use ring::bits::bit_reverse;
use ring_program::data::Words;

/// A movement of the words of a limb. Some move negated words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Permutation {
    /// X to X^k on values: `d[i] = a[brv((k (2 brv(i) + 1) - 1)/2 mod n)]`.
    Values {
        /// The exponent, odd and below 2n.
        k: u32,
    },
    /// The product with X^-offset on coefficients: `d[i] = a[i + offset]`, negated beyond n.
    Shift {
        /// The exponent, below n.
        offset: u32,
    },
}

impl Permutation {
    /// Moves the words of `a`. `negative` holds their negatives, if the movement negates words.
    pub(crate) fn apply(self, a: &Words, negative: &Words) -> Words {
        let n = a.len();
        match self {
            Self::Values { k } => {
                let (bits, k) = (n.ilog2(), k as usize);
                let reverse = |place: usize| bit_reverse(place, bits);
                let from = |i: usize| reverse((k * (2 * reverse(i) + 1) - 1) / 2 % n);
                (0..n).map(|i| a.at(from(i))).collect()
            }
            Self::Shift { offset } => {
                let from = |i: usize| i + offset as usize;
                (0..n).map(|i| if from(i) < n { a.at(from(i)) } else { negative.at(from(i) - n) }).collect()
            }
        }
    }
}
