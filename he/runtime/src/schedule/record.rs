//! A record of the scheduled program: every transfer and every run with its time and the addresses of its
//! words.

use crate::schedule::time::Span;

/// What a timeline records.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Records {
    /// All launches and transfers.
    pub(crate) record: bool,
    /// An account of each launch.
    pub(crate) accounts: bool,
    /// All runs and transfers with their addresses.
    pub(crate) events: bool,
}

/// Words of an item in the VDM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The number of the item.
    pub item: u32,
    /// The first word of the item.
    pub first: u32,
    /// The number of words.
    pub words: u32,
    /// The pages of their space, in order.
    pub pages: Vec<u32>,
    /// The first word in this space.
    pub offset: u32,
}

/// What takes place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Words of items come from the off-chip memory, a part of them from the generator.
    Load(Vec<Extent>),
    /// Words of items go to the off-chip memory.
    Store(Vec<Extent>),
    /// The parameters of a launch's next run come.
    Fetch {
        /// The index of the launch.
        launch: u32,
        /// Whether its program comes too, since it is not there.
        with_program: bool,
    },
    /// A movement: words of the off-chip memory come in another order.
    Gather {
        /// The index of the launch.
        launch: u32,
        /// The result.
        result: Extent,
    },
    /// A run of a kernel.
    Run {
        /// The index of the launch.
        launch: u32,
        /// The limbs that it reads, each once, then its tables.
        operands: Vec<Extent>,
        /// The words that it writes.
        results: Vec<Extent>,
        /// The pages of its scratch words.
        scratch: Vec<u32>,
    },
}

/// An action with its time.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// The time from its first word to its last.
    pub span: Span,
    /// What takes place.
    pub action: Action,
}

/// The place of everything in the off-chip memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Places {
    /// The first word of each item; none if it is never there.
    pub items: Vec<Option<u64>>,
    /// The first byte of the program of each launch; none for movements.
    pub programs: Vec<Option<u64>>,
    /// The first byte of the moduli, scalars and addresses of each launch; none for movements.
    pub parameters: Vec<Option<u64>>,
    /// The words of all.
    pub words: u64,
}
