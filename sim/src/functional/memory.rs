//! Memories, and copies between them, images and lanes.

use b512_asm::{AddressMode, Image};
use ring::modular::Modulus;
use ring::vector::narrow;
use std::ops::Range;

/// The width of the words that hold lanes, or those of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    /// 64 bits.
    Narrow,
    /// 128 bits.
    Wide,
}

impl Width {
    /// The width of residues.
    pub(super) fn of(q: &Modulus) -> Self {
        if q.narrow().is_some() { Self::Narrow } else { Self::Wide }
    }
}

/// The words of a memory.
///
/// They take 8 bytes each until one of them needs more, then all take 16. Programs with moduli below 2^64 so
/// move half of the bytes.
#[derive(Clone, Debug)]
pub(super) enum Memory {
    /// Words of 8 bytes.
    Narrow(Vec<u64>),
    /// Words of 16 bytes.
    Wide(Vec<u128>),
}

/// Consecutive words of a memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Words<'m> {
    /// Words of 8 bytes.
    Narrow(&'m [u64]),
    /// Words of 16 bytes.
    Wide(&'m [u128]),
}

impl Words<'_> {
    /// The words in order, of 16 bytes each.
    pub fn to_vec(self) -> Vec<u128> {
        match self {
            Self::Narrow(words) => words.iter().copied().map(u128::from).collect(),
            Self::Wide(words) => words.to_vec(),
        }
    }
}

impl Memory {
    /// Words of zero. The system clears the memory only where a program touches it.
    pub(super) fn zeros(words: usize, width: Width) -> Self {
        match width {
            Width::Narrow => Self::Narrow(vec![0; words]),
            Width::Wide => Self::Wide(vec![0; words]),
        }
    }

    /// An image, and zeros outside of its segments. `width` is that of most words that follow.
    pub(super) fn filled(words: usize, image: &Image, width: Width) -> Self {
        let mut memory = Self::zeros(words, width);
        memory.write_image(image);
        memory
    }

    /// Becomes [`filled`](Self::filled). It keeps its host memory if the width stays.
    pub(super) fn refill(&mut self, words: usize, image: &Image, width: Width) {
        match (&mut *self, width) {
            (Self::Narrow(memory), Width::Narrow) => clear(memory, words),
            (Self::Wide(memory), Width::Wide) => clear(memory, words),
            (Self::Narrow(_), Width::Wide) | (Self::Wide(_), Width::Narrow) => {
                *self = Self::zeros(words, width);
            }
        }
        self.write_image(image);
    }

    fn write_image(&mut self, image: &Image) {
        for segment in &image.segments {
            self.write(segment.start..segment.end(), &segment.words);
        }
    }

    /// The number of words.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(words) => words.len(),
            Self::Wide(words) => words.len(),
        }
    }

    /// The bytes of host memory.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Narrow(words) => size_of_val(&words[..]),
            Self::Wide(words) => size_of_val(&words[..]),
        }
    }

    /// The word with this index, if there is one.
    pub(super) fn get(&self, index: u32) -> Option<u128> {
        match self {
            Self::Narrow(words) => words.get(index as usize).copied().map(u128::from),
            Self::Wide(words) => words.get(index as usize).copied(),
        }
    }

    /// The words of a range.
    pub(super) fn words(&self, range: Range<u32>) -> Words<'_> {
        let range = range.start as usize..range.end as usize;
        match self {
            Self::Narrow(words) => Words::Narrow(&words[range]),
            Self::Wide(words) => Words::Wide(&words[range]),
        }
    }

    /// Writes the words of a range.
    pub(super) fn write(&mut self, range: Range<u32>, new: &[u128]) {
        let range = range.start as usize..range.end as usize;
        if let Self::Narrow(words) = self
            && narrow::load(&mut words[range.clone()], new)
        {
            return;
        }
        self.widen()[range].copy_from_slice(new);
    }

    /// As [`write`](Self::write), of words of 8 bytes.
    pub(super) fn write_narrow(&mut self, range: Range<u32>, new: &[u64]) {
        let range = range.start as usize..range.end as usize;
        match self {
            Self::Narrow(words) => words[range].copy_from_slice(new),
            Self::Wide(words) => narrow::store(&mut words[range], new),
        }
    }

    /// Writes one value to all words of a range.
    pub(super) fn fill(&mut self, range: Range<u32>, value: u128) {
        let range = range.start as usize..range.end as usize;
        match (&mut *self, u64::try_from(value)) {
            (Self::Narrow(words), Ok(value)) => words[range].fill(value),
            (Self::Narrow(_) | Self::Wide(_), _) => self.widen()[range].fill(value),
        }
    }

    /// The words, of 16 bytes from now on.
    pub(super) fn widen(&mut self) -> &mut [u128] {
        if let Self::Narrow(words) = self {
            *self = Self::Wide(words.iter().copied().map(u128::from).collect());
        }
        match self {
            Self::Wide(words) => words,
            Self::Narrow(_) => unreachable!("the memory was widened"),
        }
    }
}

/// Makes `memory` the given number of zeros.
fn clear<T: Copy + Default>(memory: &mut Vec<T>, words: usize) {
    memory.clear();
    memory.resize(words, T::default());
}

/// The words of the VDM that a load selects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct TableSlice {
    pub(super) start: u32,
    pub(super) mode: AddressMode,
}

/// Loads `lanes` from the beginning of `words`.
pub(super) fn gather<T: Copy>(lanes: &mut [T], words: &[T], mode: AddressMode) {
    match mode {
        AddressMode::Linear => lanes.copy_from_slice(&words[..lanes.len()]),
        AddressMode::Strided(_) | AddressMode::StridedSkip(_) | AddressMode::Repeated(_) => {
            for (lane, out) in lanes.iter_mut().enumerate() {
                *out = words[mode.element(lane as u32) as usize];
            }
        }
    }
}

/// Loads `lanes` from the beginning of `words`. Returns whether all fit words of 64 bits; if not, the lanes
/// have no meaning.
pub(super) fn gather_narrow(lanes: &mut [u64], words: &[u128], mode: AddressMode) -> bool {
    // Words that do not fit are most often random: the first one does not fit.
    if words[mode.element(0) as usize] >> u64::BITS != 0 {
        return false;
    }
    match mode {
        AddressMode::Linear => narrow::load(lanes, &words[..lanes.len()]),
        AddressMode::Strided(_) | AddressMode::StridedSkip(_) | AddressMode::Repeated(_) => {
            let mut high = 0;
            for (lane, out) in lanes.iter_mut().enumerate() {
                let word = words[mode.element(lane as u32) as usize];
                *out = word as u64;
                high |= word >> u64::BITS;
            }
            high == 0
        }
    }
}

/// Stores `lanes` to the beginning of `words`.
pub(super) fn scatter<T: Copy>(lanes: &[T], words: &mut [T], mode: AddressMode) {
    match mode {
        AddressMode::Linear => words[..lanes.len()].copy_from_slice(lanes),
        AddressMode::Strided(_) | AddressMode::StridedSkip(_) | AddressMode::Repeated(_) => {
            scatter_each(lanes, words, mode);
        }
    }
}

/// As [`scatter`], of words of 64 bits to words of 128 bits.
pub(super) fn scatter_narrow(lanes: &[u64], words: &mut [u128], mode: AddressMode) {
    match mode {
        AddressMode::Linear => narrow::store(&mut words[..lanes.len()], lanes),
        AddressMode::Strided(_) | AddressMode::StridedSkip(_) | AddressMode::Repeated(_) => {
            scatter_each(lanes, words, mode);
        }
    }
}

fn scatter_each<T: Copy + Into<W>, W>(lanes: &[T], words: &mut [W], mode: AddressMode) {
    for (lane, &value) in lanes.iter().enumerate() {
        words[mode.element(lane as u32) as usize] = value.into();
    }
}
