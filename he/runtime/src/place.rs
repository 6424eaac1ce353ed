//! Placement of limbs and tables in the VDM.
//!
//! The program is known before the run, so the item whose next use is farthest makes room. Space is
//! counted in words. An item that moves in may do so as soon as the space's former item is idle, and
//! saved if it is needed again: transfers run ahead of the kernels as far as space allows.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// A time in ns, with a total order.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Time(f64);

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Time {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The index of a limb's value or a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ItemId(pub(crate) u32);

/// The launch of an item's next use; `u32::MAX` for none.
pub(crate) type NextUse = u32;

/// The state of an item.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Item {
    pub(crate) words: u32,
    pub(crate) is_resident: bool,
    /// Whether the off-chip memory has its words.
    pub(crate) is_saved: bool,
    /// Whether the off-chip memory has a place for its words during the whole program.
    pub(crate) has_home: bool,
    /// The time at which its words are in the VDM.
    pub(crate) ready_ns: f64,
    /// The end of its last use.
    pub(crate) idle_ns: f64,
}

/// An item that may leave; the last one leaves first. The sources of a conversion have one next use, and one
/// that the off-chip memory has leaves without a transfer.
type Victim = (NextUse, IsSaved, ItemId);

/// Whether the off-chip memory has the words of an item.
type IsSaved = bool;

/// Too little space: the words that one launch needs at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;

/// The VDM.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) items: Vec<Item>,
    /// The residents that no launch in progress uses.
    evictable: BTreeSet<Victim>,
    evictable_words: u64,
    /// Free space: its time, and its words.
    free: BinaryHeap<Reverse<(Time, u64)>>,
    free_words: u64,
    capacity: u64,
    /// The largest number of words in use.
    peak: u64,
    /// The words of saved items without a place of their own in the off-chip memory.
    saved_words: u64,
    /// The largest number of these words.
    saved_peak: u64,
}

impl Memory {
    pub(crate) fn new(capacity: u64, items: Vec<Item>) -> Self {
        let free = BinaryHeap::from([Reverse((Time(0.0), capacity))]);
        Self {
            items,
            evictable: BTreeSet::new(),
            evictable_words: 0,
            free,
            free_words: capacity,
            capacity,
            peak: 0,
            saved_words: 0,
            saved_peak: 0,
        }
    }

    pub(crate) fn item(&self, id: ItemId) -> &Item {
        &self.items[id.0 as usize]
    }

    pub(crate) fn item_mut(&mut self, id: ItemId) -> &mut Item {
        &mut self.items[id.0 as usize]
    }

    /// The largest number of words in use.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    /// The largest number of words that the off-chip memory holds for items without a place of their own there.
    pub(crate) fn saved_peak(&self) -> u64 {
        self.saved_peak
    }

    /// Records that the off-chip memory has the words of an item.
    pub(crate) fn mark_saved(&mut self, id: ItemId) {
        let item = &mut self.items[id.0 as usize];
        if !std::mem::replace(&mut item.is_saved, true) && !item.has_home {
            self.saved_words += u64::from(item.words);
            self.saved_peak = self.saved_peak.max(self.saved_words);
        }
    }

    /// Frees the words of an item in the off-chip memory: nothing reads it again.
    pub(crate) fn forget(&mut self, id: ItemId) {
        let item = &mut self.items[id.0 as usize];
        if !item.has_home && std::mem::replace(&mut item.is_saved, false) {
            self.saved_words -= u64::from(item.words);
        }
    }

    /// The words in use.
    pub(crate) fn used(&self) -> u64 {
        self.capacity - self.free_words
    }

    /// Keeps a resident in place until [`Self::unpin`].
    pub(crate) fn pin(&mut self, id: ItemId, next: NextUse) {
        if self.evictable.remove(&(next, self.item(id).is_saved, id)) {
            self.evictable_words -= u64::from(self.item(id).words);
        }
    }

    /// The words that are free, or that evictions can free.
    pub(crate) fn available(&self) -> u64 {
        self.free_words + self.evictable_words
    }

    /// Whether there is space of `words` if only items leave whose next use comes after `next`.
    pub(crate) fn has_room_beyond(&self, next: NextUse, words: u64) -> bool {
        let mut room = self.free_words;
        let mut later = self.evictable.iter().rev().take_while(|(other, ..)| *other > next);
        while room < words {
            let Some(&(.., id)) = later.next() else { return false };
            room += u64::from(self.item(id).words);
        }
        true
    }

    /// Allows a resident to be evicted. Nothing saves it until it is pinned again.
    pub(crate) fn unpin(&mut self, id: ItemId, next: NextUse) {
        if self.evictable.insert((next, self.item(id).is_saved, id)) {
            self.evictable_words += u64::from(self.item(id).words);
        }
    }

    /// Takes space of `words`, and returns the time from which it is free. `save` saves an item that
    /// the off-chip memory lacks and returns the end of the transfer.
    ///
    /// # Errors
    /// Returns an error if the items of launches in progress leave too little space.
    pub(crate) fn take(
        &mut self,
        words: u64,
        mut save: impl FnMut(ItemId, &Item) -> f64,
    ) -> Result<f64, Full> {
        while self.free_words < words {
            let (.., victim) = self.evictable.pop_last().ok_or(Full)?;
            self.evictable_words -= u64::from(self.item(victim).words);
            self.evict(victim, &mut save);
        }
        self.free_words -= words;
        self.peak = self.peak.max(self.capacity - self.free_words);
        let (mut missing, mut free_ns) = (words, 0.0_f64);
        while missing > 0 {
            let Some(Reverse((time, words))) = self.free.pop() else { unreachable!("the space is free") };
            free_ns = free_ns.max(time.0);
            if words > missing {
                self.free.push(Reverse((time, words - missing)));
            }
            missing = missing.saturating_sub(words);
        }
        Ok(free_ns)
    }

    /// Moves out an item that is not evictable.
    pub(crate) fn evict(&mut self, id: ItemId, mut save: impl FnMut(ItemId, &Item) -> f64) {
        let item = self.item(id);
        let mut free_ns = item.idle_ns.max(item.ready_ns);
        if !item.is_saved {
            free_ns = free_ns.max(save(id, item));
            self.mark_saved(id);
        }
        let item = self.item_mut(id);
        item.is_resident = false;
        let words = item.words.into();
        self.give_back(words, free_ns);
    }

    /// Returns space that is free from `free_ns` on.
    pub(crate) fn give_back(&mut self, words: u64, free_ns: f64) {
        if words > 0 {
            self.free_words += words;
            self.free.push(Reverse((Time(free_ns), words)));
        }
    }

    /// Drops an item that is not evictable.
    pub(crate) fn drop_item(&mut self, id: ItemId, free_ns: f64) {
        let item = self.item_mut(id);
        item.is_resident = false;
        let words = item.words.into();
        self.give_back(words, free_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_item_with_the_farthest_next_use_makes_room() {
        let item = |idle_ns, is_saved| Item {
            words: 10,
            is_resident: true,
            is_saved,
            has_home: is_saved,
            idle_ns,
            ..Item::default()
        };
        let mut memory = Memory::new(35, vec![item(1.0, true), item(2.0, false), item(3.0, true)]);
        for (id, next) in [(0, 7), (1, 9), (2, 8)] {
            assert_eq!(memory.take(10, |_, _| unreachable!()), Ok(0.0));
            memory.unpin(ItemId(id), next);
        }
        assert_eq!(memory.take(5, |_, _| unreachable!()), Ok(0.0));
        let mut saved = Vec::new();
        let mut save = |id: ItemId, _: &Item| {
            saved.push(id.0);
            50.0
        };
        assert_eq!(memory.take(4, &mut save), Ok(50.0), "item 1, which is saved first");
        assert_eq!(
            memory.take(8, &mut save),
            Ok(3.0),
            "a part of item 2, which is free before the rest of item 1"
        );
        memory.pin(ItemId(0), 7);
        assert_eq!(memory.take(10, &mut save), Err(Full));
        assert_eq!(saved, [1]);
        assert_eq!(memory.peak(), 35);
        assert_eq!(memory.saved_peak(), 10, "item 1");
    }

    #[test]
    fn saved_items_free_their_words_after_their_last_use() {
        let item = |has_home| Item { words: 10, has_home, ..Item::default() };
        let mut memory = Memory::new(40, vec![item(false), item(true), item(false), item(false)]);
        for id in [0, 1, 2, 2] {
            memory.mark_saved(ItemId(id));
        }
        assert_eq!(memory.saved_peak(), 20, "item 1 has a place of its own, item 2 counts once");
        memory.forget(ItemId(0));
        memory.forget(ItemId(0));
        memory.mark_saved(ItemId(3));
        assert_eq!(memory.saved_peak(), 20);
        memory.mark_saved(ItemId(0));
        assert_eq!(memory.saved_peak(), 30);
    }

    #[test]
    fn of_items_with_one_next_use_a_saved_one_makes_room() {
        let item = |is_saved| Item { words: 10, is_resident: true, is_saved, ..Item::default() };
        let mut memory = Memory::new(30, vec![item(false), item(true), item(false)]);
        for id in 0..3 {
            assert_eq!(memory.take(10, |_, _| unreachable!()), Ok(0.0));
            memory.unpin(ItemId(id), 7);
        }
        assert_eq!(memory.take(10, |_, _| unreachable!("item 1 is saved")), Ok(0.0));
        assert_eq!(
            (0..3).map(|id| memory.item(ItemId(id)).is_resident).collect::<Vec<_>>(),
            [true, false, true]
        );
    }
}
