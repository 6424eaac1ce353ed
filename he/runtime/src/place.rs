//! Placement of limbs and tables in the VDM.
//!
//! The program is known before the run, so the item whose next use is farthest makes room. Space is
//! counted in words. An item that moves in may do so as soon as the space's former item is idle, and
//! saved if it must be: transfers run ahead of the kernels as far as space allows.

use crate::time::Time;
use crate::traffic::Kind;
use b512_asm::Isa;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// The index of a limb's value or a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ItemId(pub(crate) u32);

/// The launch of an item's next use; `u32::MAX` for none.
pub(crate) type NextUse = u32;

/// The index of a save.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SaveId(u32);

/// Whether the off-chip memory has the words of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Saved {
    /// It does not.
    #[default]
    No,
    /// It has them from the beginning.
    Always,
    /// It has them when this save has ended.
    By(SaveId),
}

/// A transfer to the off-chip memory. It is planned when something waits for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Save {
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    /// The time from which its words are complete.
    pub(crate) ready: Time,
    /// The launch in which it arose.
    pub(crate) launch: u32,
    /// Its end; none if it is not planned yet.
    pub(crate) end: Option<Time>,
}

/// The state of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) words: u32,
    /// The kind of its loads.
    pub(crate) kind: Kind,
    /// The halves of its bytes that a load transfers: 0, 1 or 2.
    pub(crate) halves: u8,
    /// Whether it is an output.
    pub(crate) is_output: bool,
    /// Whether the off-chip memory has a place for its words during the whole program.
    pub(crate) has_home: bool,
    pub(crate) is_resident: bool,
    pub(crate) saved: Saved,
    /// The time at which its words are in the VDM.
    pub(crate) ready: Time,
    /// The end of its last use.
    pub(crate) idle: Time,
}

impl Item {
    /// An item that a program makes.
    pub(crate) fn made(words: u32) -> Self {
        Self {
            words,
            kind: Kind::Spills,
            halves: 2,
            is_output: false,
            has_home: false,
            is_resident: false,
            saved: Saved::No,
            ready: Time::ZERO,
            idle: Time::ZERO,
        }
    }

    /// An item that the off-chip memory has from the beginning.
    pub(crate) fn given(words: u32, kind: Kind, halves: u8) -> Self {
        Self { kind, halves, has_home: true, saved: Saved::Always, ..Self::made(words) }
    }

    fn is_saved(&self) -> bool {
        self.saved != Saved::No
    }
}

/// An item that may leave; the last one leaves first. The sources of a conversion have one next use, and one
/// that needs no save leaves without a transfer.
type Victim = (NextUse, IsSaved, ItemId);

/// Whether the off-chip memory has the words of an item, or a save of them waits.
type IsSaved = bool;

/// Free space: its time, its words, and the save that must be planned before the time is known. Without that, the time
/// is the earliest.
type Space = (Time, u64, Option<SaveId>);

/// Too little space: the words that one launch needs at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;

/// The VDM.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) items: Vec<Item>,
    isa: Isa,
    /// The launch in progress.
    pub(crate) launch: u32,
    saves: Vec<Save>,
    /// The residents that no launch in progress uses.
    evictable: BTreeSet<Victim>,
    evictable_words: u64,
    free: BinaryHeap<Reverse<Space>>,
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
    /// A memory of `capacity` words of an instruction set.
    pub(crate) fn new(capacity: u64, isa: Isa, items: Vec<Item>) -> Self {
        Self {
            items,
            isa,
            launch: 0,
            saves: Vec::new(),
            evictable: BTreeSet::new(),
            evictable_words: 0,
            free: BinaryHeap::from([Reverse((Time::ZERO, capacity, None))]),
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

    /// The words of the memory.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The largest number of words in use.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    /// The largest number of words that the off-chip memory holds for items without a place of their own there.
    pub(crate) fn saved_peak(&self) -> u64 {
        self.saved_peak
    }

    /// The bytes of an item.
    pub(crate) fn bytes(&self, id: ItemId) -> u64 {
        self.isa.bytes(self.item(id).words.into())
    }

    /// A save that waits.
    pub(crate) fn add_save(&mut self, kind: Kind, bytes: u64, ready: Time) -> SaveId {
        self.saves.push(Save { kind, bytes, ready, launch: self.launch, end: None });
        SaveId(self.saves.len() as u32 - 1)
    }

    /// The end of a save. `plan` plans it now unless it is planned already.
    pub(crate) fn end_of(&mut self, id: SaveId, plan: impl FnOnce(&Save) -> Time) -> Time {
        let save = &mut self.saves[id.0 as usize];
        let end = save.end.unwrap_or_else(|| plan(save));
        save.end = Some(end);
        end
    }

    /// The number of saves.
    pub(crate) fn saves(&self) -> impl Iterator<Item = SaveId> + use<> {
        (0..self.saves.len() as u32).map(SaveId)
    }

    /// Lets the words of a whole item wait for their save, unless it is saved or waits already.
    pub(crate) fn save_item(&mut self, id: ItemId, kind: Kind) {
        let item = self.item(id);
        if !item.is_saved() {
            let save = self.add_save(kind, self.bytes(id), item.ready);
            self.mark_saved(id, save);
        }
    }

    /// Records that the off-chip memory has the words of an item at the end of a save.
    pub(crate) fn mark_saved(&mut self, id: ItemId, save: SaveId) {
        let item = &mut self.items[id.0 as usize];
        if !item.is_saved() && !item.has_home {
            self.saved_words += u64::from(item.words);
            self.saved_peak = self.saved_peak.max(self.saved_words);
        }
        item.saved = Saved::By(save);
    }

    /// Frees the words of an item in the off-chip memory: nothing reads it again.
    pub(crate) fn forget(&mut self, id: ItemId) {
        let item = &mut self.items[id.0 as usize];
        if !item.has_home && item.is_saved() {
            self.saved_words -= u64::from(item.words);
            item.saved = Saved::No;
        }
    }

    /// The words in use.
    pub(crate) fn used(&self) -> u64 {
        self.capacity - self.free_words
    }

    /// The words that are free.
    pub(crate) fn free(&self) -> u64 {
        self.free_words
    }

    /// Keeps a resident in place until [`Self::unpin`].
    pub(crate) fn pin(&mut self, id: ItemId, next: NextUse) {
        if self.evictable.remove(&(next, self.item(id).is_saved(), id)) {
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
        if self.evictable.insert((next, self.item(id).is_saved(), id)) {
            self.evictable_words += u64::from(self.item(id).words);
        }
    }

    /// Takes space of `words`, and returns the time from which it is free. `least` is the shortest time of a
    /// transfer, and `plan` plans a save and returns its end.
    ///
    /// # Errors
    /// Returns an error if the items of launches in progress leave too little space.
    pub(crate) fn take(
        &mut self,
        words: u64,
        least: impl Fn(u64) -> Time,
        mut plan: impl FnMut(&Save) -> Time,
    ) -> Result<Time, Full> {
        while self.free_words < words {
            let (.., victim) = self.evictable.pop_last().ok_or(Full)?;
            self.evictable_words -= u64::from(self.item(victim).words);
            self.evict(victim, &least);
        }
        self.free_words -= words;
        self.peak = self.peak.max(self.capacity - self.free_words);
        let (mut missing, mut free) = (words, Time::ZERO);
        while missing > 0 {
            let Some(Reverse((time, words, save))) = self.free.pop() else {
                unreachable!("the space is free")
            };
            if let Some(save) = save {
                let end = self.end_of(save, &mut plan);
                self.free.push(Reverse((time.max(end), words, None)));
                continue;
            }
            free = free.max(time);
            if words > missing {
                self.free.push(Reverse((time, words - missing, None)));
            }
            missing = missing.saturating_sub(words);
        }
        Ok(free)
    }

    /// Moves out an item that is not evictable.
    pub(crate) fn evict(&mut self, id: ItemId, least: impl Fn(u64) -> Time) {
        self.save_item(id, Kind::Spills);
        self.leave(id, least);
    }

    /// Ends the presence of an item that is not evictable. Its space is free when its last use and its save, if it
    /// has one, have ended.
    pub(crate) fn leave(&mut self, id: ItemId, least: impl Fn(u64) -> Time) {
        let Item { words, saved, ready, idle, .. } = *self.item(id);
        self.item_mut(id).is_resident = false;
        let save = match saved {
            Saved::By(save) => Some(save),
            Saved::No | Saved::Always => None,
        };
        self.give_back(words.into(), idle.max(ready), save, least);
    }

    /// Returns space that is free from `free` on and after a save.
    pub(crate) fn give_back(
        &mut self,
        words: u64,
        free: Time,
        save: Option<SaveId>,
        least: impl Fn(u64) -> Time,
    ) {
        if words == 0 {
            return;
        }
        self.free_words += words;
        let space = match save.map(|id| (id, self.saves[id.0 as usize])) {
            None => (free, words, None),
            Some((_, Save { end: Some(end), .. })) => (free.max(end), words, None),
            Some((id, Save { bytes, ready, .. })) => (free.max(ready + least(bytes)), words, Some(id)),
        };
        self.free.push(Reverse(space));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of four bytes.
    const ISA: Isa = match Isa::new(512, 32) {
        Ok(isa) => isa,
        Err(_) => unreachable!(),
    };

    fn given(idle: u64) -> Item {
        Item { idle: Time(idle), is_resident: true, ..Item::given(10, Kind::Inputs, 2) }
    }

    fn made(idle: u64) -> Item {
        Item { idle: Time(idle), is_resident: true, ..Item::made(10) }
    }

    fn full(items: Vec<Item>, capacity: u64) -> Memory {
        let mut memory = Memory::new(capacity, ISA, items);
        for _ in 0..memory.items.len() {
            assert_eq!(memory.take(10, Time, |_| unreachable!()), Ok(Time::ZERO));
        }
        memory
    }

    #[test]
    fn the_item_with_the_farthest_next_use_makes_room() {
        let mut memory = full(vec![given(1), made(2), given(3)], 35);
        for (id, next) in [(0, 7), (1, 9), (2, 8)] {
            memory.unpin(ItemId(id), next);
        }
        assert_eq!(memory.take(5, Time, |_| unreachable!()), Ok(Time::ZERO));
        let mut saved = Vec::new();
        let mut plan = |save: &Save| {
            saved.push((save.kind, save.bytes));
            Time(50)
        };
        assert_eq!(memory.take(4, Time, &mut plan), Ok(Time(50)), "item 1, which is saved first");
        let part = memory.take(8, Time, &mut plan);
        assert_eq!(part, Ok(Time(3)), "a part of item 2, which is free before the rest of item 1");
        memory.pin(ItemId(0), 7);
        assert_eq!(memory.take(10, Time, &mut plan), Err(Full));
        assert_eq!(saved, [(Kind::Spills, 40)]);
        assert_eq!(memory.peak(), 35);
        assert_eq!(memory.saved_peak(), 10, "item 1");
    }

    #[test]
    fn a_save_is_planned_when_its_space_is_the_earliest() {
        let mut memory = full(vec![made(0), made(60)], 20);
        memory.save_item(ItemId(0), Kind::Outputs);
        memory.leave(ItemId(0), Time);
        memory.leave(ItemId(1), Time);
        assert_eq!(memory.take(5, Time, |_| Time(70)), Ok(Time(60)), "the channel is busy until 70");
        assert_eq!(memory.take(15, Time, |_| unreachable!("it is planned")), Ok(Time(70)));
    }

    #[test]
    fn saved_items_free_their_words_after_their_last_use() {
        let item = |has_home| Item { has_home, ..made(0) };
        let mut memory = Memory::new(40, ISA, vec![item(false), item(true), item(false), item(false)]);
        for id in [0, 1, 2, 2] {
            memory.save_item(ItemId(id), Kind::Spills);
        }
        assert_eq!(memory.saved_peak(), 20, "item 1 has a place of its own, item 2 counts once");
        memory.forget(ItemId(0));
        memory.forget(ItemId(0));
        memory.save_item(ItemId(3), Kind::Spills);
        assert_eq!(memory.saved_peak(), 20);
        memory.save_item(ItemId(0), Kind::Spills);
        assert_eq!(memory.saved_peak(), 30);
    }

    #[test]
    fn of_items_with_one_next_use_a_saved_one_makes_room() {
        let mut memory = full(vec![made(0), given(0), made(0)], 30);
        for id in 0..3 {
            memory.unpin(ItemId(id), 7);
        }
        assert_eq!(memory.take(10, Time, |_| unreachable!("item 1 is saved")), Ok(Time::ZERO));
        assert_eq!(
            (0..3).map(|id| memory.item(ItemId(id)).is_resident).collect::<Vec<_>>(),
            [true, false, true]
        );
    }
}
