//! Copies between memories, images and lanes.

use b512_asm::{AddressMode, Image};

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

/// Stores `lanes` to the beginning of `words`.
pub(super) fn scatter(lanes: &[u128], words: &mut [u128], mode: AddressMode) {
    match mode {
        AddressMode::Linear => words[..lanes.len()].copy_from_slice(lanes),
        AddressMode::Strided(_) | AddressMode::StridedSkip(_) | AddressMode::Repeated(_) => {
            for (lane, &value) in lanes.iter().enumerate() {
                words[mode.element(lane as u32) as usize] = value;
            }
        }
    }
}

/// Fills `memory` with an image, and with zeros outside of its segments.
pub(super) fn fill(memory: &mut [u128], image: &Image) {
    memory.fill(0);
    for segment in &image.segments {
        memory[segment.start as usize..segment.end() as usize].copy_from_slice(&segment.words);
    }
}
