//! The words of a limb.

use rayon::iter::Either;
use ring::vector::narrow::{self, BLOCK};
use std::sync::Arc;

/// The words of one limb, shared. A word takes 8 bytes if all words of the limb are below 2^64, which they
/// are for moduli up to 2^64.
#[derive(Clone, Debug)]
pub enum Words {
    /// Words of 8 bytes.
    Narrow(Arc<Vec<u64>>),
    /// Words of 16 bytes.
    Wide(Arc<Vec<u128>>),
}

impl Words {
    /// `n` zeros.
    pub fn zeros(n: usize) -> Self {
        vec![0; n].into()
    }

    /// No words, with memory for `n` of 8 bytes.
    pub fn with_capacity(n: usize) -> Self {
        Vec::with_capacity(n).into()
    }

    /// The memory of words of 8 bytes, if no other limb shares it.
    pub fn into_memory(self) -> Option<Vec<u64>> {
        match self {
            Self::Narrow(words) => Arc::into_inner(words),
            Self::Wide(_) => None,
        }
    }

    /// Appends words.
    pub fn extend_from_slice(&mut self, more: &[u128]) {
        match self {
            Self::Narrow(words) => {
                let short = Arc::make_mut(words);
                let known = short.len();
                let mut part = [0; BLOCK];
                let all_fit = more.chunks(part.len()).all(|more| {
                    let part = &mut part[..more.len()];
                    let fits = narrow::load(part, more);
                    short.extend_from_slice(part);
                    fits
                });
                if all_fit {
                    return;
                }
                short.truncate(known);
                let mut wide = Vec::with_capacity(words.capacity());
                wide.extend(words.iter().copied().map(u128::from));
                wide.extend_from_slice(more);
                *self = Self::Wide(Arc::new(wide));
            }
            Self::Wide(words) => Arc::make_mut(words).extend_from_slice(more),
        }
    }

    /// As [`extend_from_slice`](Self::extend_from_slice), of words of 8 bytes.
    pub fn extend_from_narrow(&mut self, more: &[u64]) {
        match self {
            Self::Narrow(words) => Arc::make_mut(words).extend_from_slice(more),
            Self::Wide(words) => Arc::make_mut(words).extend(more.iter().copied().map(u128::from)),
        }
    }

    /// The number of words.
    #[expect(clippy::len_without_is_empty, reason = "a limb has words")]
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(words) => words.len(),
            Self::Wide(words) => words.len(),
        }
    }

    /// The word with this index.
    ///
    /// # Panics
    /// Panics if there is no such word.
    #[inline]
    pub fn at(&self, index: usize) -> u128 {
        match self {
            Self::Narrow(words) => words[index].into(),
            Self::Wide(words) => words[index],
        }
    }

    /// The words in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u128> + '_ {
        match self {
            Self::Narrow(words) => Either::Left(words.iter().map(|&word| word.into())),
            Self::Wide(words) => Either::Right(words.iter().copied()),
        }
    }

    /// The words in order, of 16 bytes each.
    pub fn to_vec(&self) -> Vec<u128> {
        self.iter().collect()
    }
}

/// Equal words, whatever their sizes.
impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Narrow(a), Self::Narrow(b)) => a == b,
            (Self::Wide(a), Self::Wide(b)) => a == b,
            (Self::Narrow(_), Self::Wide(_)) | (Self::Wide(_), Self::Narrow(_)) => {
                self.iter().eq(other.iter())
            }
        }
    }
}

impl Eq for Words {}

impl FromIterator<u128> for Words {
    fn from_iter<I: IntoIterator<Item = u128>>(words: I) -> Self {
        let mut words = words.into_iter();
        let mut narrow: Vec<u64> = Vec::with_capacity(words.size_hint().0);
        for word in words.by_ref() {
            match u64::try_from(word) {
                Ok(word) => narrow.push(word),
                Err(_) => {
                    let before = narrow.into_iter().map(u128::from);
                    return Self::Wide(Arc::new(before.chain([word]).chain(words).collect()));
                }
            }
        }
        narrow.into()
    }
}

impl From<&[u128]> for Words {
    fn from(words: &[u128]) -> Self {
        let mut limb = Self::with_capacity(words.len());
        limb.extend_from_slice(words);
        limb
    }
}

impl From<Vec<u64>> for Words {
    fn from(words: Vec<u64>) -> Self {
        Self::Narrow(Arc::new(words))
    }
}

/// The words of several limbs, one after the other.
pub fn concat(limbs: &[Words]) -> Vec<u128> {
    limbs.iter().flat_map(Words::iter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_16_bytes_only_if_one_needs_more_than_8() {
        let most = u128::from(u64::MAX);
        for words in [vec![0, 1, most], vec![most + 1, 1], vec![1, 2, u128::MAX, 3], Vec::new()] {
            let limb: Words = words.iter().copied().collect();
            assert_eq!(matches!(limb, Words::Wide(_)), words.iter().any(|&word| word > most), "{words:?}");
            assert_eq!(limb.iter().collect::<Vec<_>>(), words);
            assert_eq!((0..limb.len()).map(|index| limb.at(index)).collect::<Vec<_>>(), words);
            assert_eq!(limb, Words::from(&words[..]));
            assert_eq!(limb, Words::Wide(Arc::new(words)));
        }
        assert_eq!(Words::from(vec![1, 2]).to_vec(), [1, 2]);
        assert_eq!(Words::from(vec![1, 2]).into_memory(), Some(vec![1, 2]));
        assert_eq!(Words::from(&[most + 1][..]).into_memory(), None);
        let shared = Words::from(vec![1]);
        assert_eq!((shared.clone().into_memory(), shared.into_memory()), (None, Some(vec![1])));
        assert_ne!(Words::from(vec![1, 2]), Words::Wide(Arc::new(vec![1, 3])));
        assert_eq!(concat(&[Words::zeros(1), Words::from(&[most + 1][..])]), [0, most + 1]);
    }

    #[test]
    fn a_limb_becomes_wide_when_a_word_needs_it() {
        let mut limb = Words::with_capacity(4);
        limb.extend_from_slice(&[1]);
        limb.extend_from_narrow(&[2]);
        assert!(matches!(limb, Words::Narrow(_)));
        let shared = limb.clone();
        limb.extend_from_slice(&[1 << 64, 3]);
        limb.extend_from_slice(&[4]);
        limb.extend_from_narrow(&[5]);
        assert_eq!(limb.iter().collect::<Vec<_>>(), [1, 2, 1 << 64, 3, 4, 5]);
        assert_eq!(shared.iter().collect::<Vec<_>>(), [1, 2]);
    }
}
