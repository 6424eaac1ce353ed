//! Copies between memories, images and lanes.

use b512_asm::{AddressMode, Image};
use ring::vector::narrow;

/// The words of the VDM that a load selects.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct TableSlice {
    pub(super) start: u32,
    pub(super) mode: AddressMode,
}

/// Loads `lanes` from the beginning of `words`.
pub(super) fn gather(lanes: &mut [u128], words: &[u128], mode: AddressMode) {
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
pub(super) fn scatter(lanes: &[u128], words: &mut [u128], mode: AddressMode) {
    match mode {
        AddressMode::Linear => words[..lanes.len()].copy_from_slice(lanes),
        AddressMode::Strided(_) | AddressMode::StridedSkip(_) | AddressMode::Repeated(_) => {
            scatter_each(lanes, words, mode);
        }
    }
}

/// As [`scatter`], of words of 64 bits.
pub(super) fn scatter_narrow(lanes: &[u64], words: &mut [u128], mode: AddressMode) {
    match mode {
        AddressMode::Linear => narrow::store(&mut words[..lanes.len()], lanes),
        AddressMode::Strided(_) | AddressMode::StridedSkip(_) | AddressMode::Repeated(_) => {
            scatter_each(lanes, words, mode);
        }
    }
}

fn scatter_each<T: Copy + Into<u128>>(lanes: &[T], words: &mut [u128], mode: AddressMode) {
    for (lane, &value) in lanes.iter().enumerate() {
        words[mode.element(lane as u32) as usize] = value.into();
    }
}

/// A memory with an image, and with zeros outside of its segments. It is new memory, which the system clears
/// only where a program touches it.
pub(super) fn filled(words: usize, image: &Image) -> Vec<u128> {
    let mut memory = vec![0; words];
    fill_segments(&mut memory, image);
    memory
}

/// As [`filled`], in the memory of an earlier program.
pub(super) fn refill(memory: &mut Vec<u128>, words: usize, image: &Image) {
    memory.clear();
    memory.resize(words, 0);
    fill_segments(memory, image);
}

fn fill_segments(memory: &mut [u128], image: &Image) {
    for segment in &image.segments {
        memory[segment.start as usize..segment.end() as usize].copy_from_slice(&segment.words);
    }
}
