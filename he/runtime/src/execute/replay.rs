//! Execution of the scheduled program: a recorded timeline on one image of the VDM and one of the off-chip
//! memory.
//!
//! Transfers copy words between the images by their addresses, in the order of their times. The off-chip
//! image has programs and parameters too: a run executes the instructions that have come, on the pages that
//! its address registers name, modulo the moduli that it finds in the SDM. Before, it is checked that no two
//! events disturb each other while both take place.

mod check;
mod image;
mod memories;
mod parameters;

use self::memories::Memories;
pub use self::parameters::ParametersError;
use crate::execute::LaunchError;
use crate::flow::ValueId;
use crate::schedule::{Plan, Timeline};
use b512_asm::DecodeError;
use ring_program::Inputs;
use ring_program::data::Words;
use std::fmt;

/// A plan that cannot be executed. Events have their numbers in [`Timeline::events`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Fault {
    /// Two events take place at once, and one writes words of the other.
    #[error("event {later} begins while event {earlier} works on the same words of {place}")]
    Overlap {
        /// The words' place.
        place: Place,
        /// The event that begins first.
        earlier: usize,
        /// The other one.
        later: usize,
    },
    /// A run writes words that it reads, and its kernel does not work in place.
    #[error("event {0} writes words that it reads or writes elsewhere")]
    NotInPlace(usize),
    /// An item that is moved has no place in the off-chip memory.
    #[error("event {event} moves item {item}, which has no place in the off-chip memory")]
    NoPlace {
        /// The event.
        event: usize,
        /// The item.
        item: u32,
    },
    /// The parameters of a run have not come.
    #[error("event {0} runs before its parameters have come")]
    NoParameters(usize),
    /// The parameters of a run are none that it can run with.
    #[error("the parameters of event {event} have {error}")]
    Parameters {
        /// The event.
        event: usize,
        /// The reason.
        error: ParametersError,
    },
    /// The program of a run has not come.
    #[error("event {0} runs before its program has come")]
    NoProgram(usize),
    /// A word of a program is no instruction.
    #[error("event {event} fetches a program: {error}")]
    Program {
        /// The event.
        event: usize,
        /// The reason.
        error: DecodeError,
    },
    /// A kernel fails: its operands are not there.
    #[error("event {event}: {error}")]
    Launch {
        /// The event.
        event: usize,
        /// The reason.
        error: LaunchError,
    },
}

/// A part of a memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A page of the VDM.
    Page(u32),
    /// An item at a word of the off-chip memory.
    OffChip(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(number) => write!(f, "page {number}"),
            Self::OffChip(word) => write!(f, "the item at word {word} of the off-chip memory"),
        }
    }
}

impl Plan<'_> {
    /// Executes a recorded timeline of this plan on data, its events one by one in the order of their times.
    /// The result has the words of each output, in the order of
    /// [`RingProgram::outputs`](ring_program::RingProgram::outputs).
    ///
    /// # Errors
    /// Returns an error if a kernel fails.
    ///
    /// # Panics
    /// Panics if an input is missing.
    pub fn replay(&self, timeline: &Timeline, inputs: &Inputs<'_>) -> Result<Vec<Vec<Words>>, Fault> {
        let memories = Memories::new(self, timeline, inputs);
        let mut memories = memories.map_err(|error| Fault::Launch { event: 0, error })?;
        for number in in_order(timeline) {
            memories.apply(number, &timeline.events[number])?;
        }
        let limb = |&value: &ValueId| memories.limb_off_chip(value);
        Ok(self.flow.outputs.iter().map(|limbs| limbs.iter().map(limb).collect()).collect())
    }
}

/// The numbers of a timeline's events, in the order of their times.
fn in_order(timeline: &Timeline) -> Vec<usize> {
    let mut order: Vec<usize> = (0..timeline.events.len()).collect();
    let times = |event: &usize| {
        let span = timeline.events[*event].span;
        (span.begin_ns, span.end_ns)
    };
    order.sort_by(|one, other| times(one).partial_cmp(&times(other)).expect("times are numbers"));
    order
}
