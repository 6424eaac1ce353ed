//! Saved states of a session, so that a step backwards need not execute the program from its beginning.

use b512_asm::MReg;
use b512_asm::reg::REGISTERS;
use sim::functional::State;
use std::collections::BTreeMap;

/// Bytes of all states of a session, about.
const BUDGET: usize = 512 << 20;
/// The most states of a session.
const MOST: usize = 128;
/// The fewest instructions between two states: saving a state costs as much as executing some hundred
/// instructions.
const LEAST_INTERVAL: usize = 1024;

/// The origin of a vector register's lanes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct LaneRing {
    /// The modulus below which they are, and its register, if they are known.
    pub(crate) ring: Option<(MReg, u128)>,
}

/// The state at a position.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    pub(crate) state: State,
    pub(crate) origins: [Option<LaneRing>; REGISTERS],
}

/// States at positions that are multiples of an interval, each saved when it is first reached.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    interval: usize,
    saved: BTreeMap<usize, Checkpoint>,
}

impl Checkpoints {
    /// The checkpoints of a program that ends at position `end`; its beginning is one.
    pub(crate) fn new(start: Checkpoint, end: usize) -> Self {
        let number = (BUDGET / start.state.bytes().max(1)).clamp(2, MOST);
        Self::every(end.div_ceil(number).max(LEAST_INTERVAL), start)
    }

    /// Checkpoints in steps of `interval` instructions.
    pub(crate) fn every(interval: usize, start: Checkpoint) -> Self {
        Self { interval, saved: BTreeMap::from([(0, start)]) }
    }

    /// Whether the state at a position should be saved.
    pub(crate) fn lacks(&self, position: usize) -> bool {
        position.is_multiple_of(self.interval) && !self.saved.contains_key(&position)
    }

    /// Saves the state at a position.
    pub(crate) fn save(&mut self, position: usize, checkpoint: Checkpoint) {
        self.saved.insert(position, checkpoint);
    }

    /// The last saved state that is not after a position, and its position.
    pub(crate) fn last(&self, position: usize) -> (usize, &Checkpoint) {
        let last = self.saved.range(..=position).next_back();
        last.map(|(position, checkpoint)| (*position, checkpoint)).expect("the beginning is saved")
    }
}
