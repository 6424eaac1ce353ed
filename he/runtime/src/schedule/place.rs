//! Placement of limbs and tables in the VDM.
//!
//! The program is known before the run, so the item whose next use is farthest makes room. Spaces are
//! lists of pages. An item that moves in may do so as soon as the pages' former item is idle, and
//! saved if it must be: transfers run ahead of the kernels as far as space allows.

use crate::schedule::record::Extent;
use crate::schedule::time::{Interval, Time};
use crate::schedule::traffic::Kind;
use b512_asm::Isa;
use rustc_hash::FxHashMap;
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
#[derive(Clone, Debug)]
pub(crate) struct Save {
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    /// The time from which its words are complete.
    pub(crate) ready: Time,
    /// The launch in which it arose.
    pub(crate) launch: u32,
    /// Its words, if they are recorded.
    pub(crate) extents: Vec<Extent>,
    /// The time from which its first words need their place.
    pub(crate) begin: Option<Time>,
    /// Its end; none if it is not planned yet.
    pub(crate) end: Option<Time>,
}

/// The time for which the off-chip memory has words of an item that has no place of its own there, and the
/// launch in which the save arose.
#[derive(Clone, Copy, Debug)]
struct Stay {
    interval: Interval,
    launch: u32,
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

/// A space in the VDM: so many pages, and their numbers in order if they are recorded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Space {
    pub(crate) count: u64,
    pub(crate) numbers: Vec<u32>,
}

impl Space {
    /// Splits off the first pages.
    pub(crate) fn split(&mut self, count: u64) -> Self {
        self.count -= count;
        let recorded = self.numbers.len().min(count as usize);
        Self { count, numbers: self.numbers.drain(..recorded).collect() }
    }

    /// Adds a space behind this one.
    pub(crate) fn append(&mut self, other: Self) {
        self.count += other.count;
        self.numbers.extend(other.numbers);
    }
}

/// Free space: its time, its pages, and the save that must be planned before the time is known. Without that,
/// the time is the earliest.
type Piece = (Time, u64, Option<SaveId>, Vec<u32>);

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
    evictable_pages: u64,
    free: BinaryHeap<Reverse<Piece>>,
    free_pages: u64,
    /// The pages.
    capacity: u64,
    page_words: u64,
    /// The largest number of pages in use.
    peak: u64,
    /// The pages of the residents, by item, if they are recorded.
    spaces: Option<Vec<Vec<u32>>>,
    /// The saved items without a place of their own in the off-chip memory.
    stays: FxHashMap<ItemId, Stay>,
}

impl Memory {
    /// A memory of `capacity` pages of `page_words` words of an instruction set. `record` asks for the
    /// numbers of pages.
    pub(crate) fn new((capacity, page_words): (u64, u64), isa: Isa, items: Vec<Item>, record: bool) -> Self {
        let numbers = if record { (0..capacity as u32).collect() } else { Vec::new() };
        Self {
            spaces: record.then(|| vec![Vec::new(); items.len()]),
            items,
            isa,
            launch: 0,
            saves: Vec::new(),
            evictable: BTreeSet::new(),
            evictable_pages: 0,
            free: BinaryHeap::from([Reverse((Time::ZERO, capacity, None, numbers))]),
            free_pages: capacity,
            capacity,
            page_words,
            peak: 0,
            stays: FxHashMap::default(),
        }
    }

    pub(crate) fn item(&self, id: ItemId) -> &Item {
        &self.items[id.0 as usize]
    }

    pub(crate) fn item_mut(&mut self, id: ItemId) -> &mut Item {
        &mut self.items[id.0 as usize]
    }

    /// The words of the memory, in whole pages.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity * self.page_words
    }

    /// The words of a page.
    pub(crate) fn page_words(&self) -> u64 {
        self.page_words
    }

    /// The pages for some words.
    pub(crate) fn pages(&self, words: u64) -> u64 {
        words.div_ceil(self.page_words)
    }

    /// The pages of an item in the VDM.
    pub(crate) fn item_pages(&self, id: ItemId) -> u64 {
        self.pages(self.item(id).words.into())
    }

    /// Whether the numbers of pages are recorded.
    pub(crate) fn records(&self) -> bool {
        self.spaces.is_some()
    }

    /// The numbers of an item's pages; none unless they are recorded.
    pub(crate) fn numbers(&self, id: ItemId) -> &[u32] {
        self.spaces.as_ref().map_or(&[], |spaces| &spaces[id.0 as usize])
    }

    /// Puts an item into a space.
    pub(crate) fn put(&mut self, id: ItemId, space: Space) {
        if let Some(spaces) = &mut self.spaces {
            spaces[id.0 as usize] = space.numbers;
        }
    }

    /// Takes the space of an item from it.
    pub(crate) fn take_space_of(&mut self, id: ItemId) -> Space {
        let numbers = self.spaces.as_mut().map(|spaces| std::mem::take(&mut spaces[id.0 as usize]));
        Space { count: self.item_pages(id), numbers: numbers.unwrap_or_default() }
    }

    /// Some words of an item in the VDM.
    pub(crate) fn extent(&self, id: ItemId, first: u64, words: u64) -> Extent {
        Extent {
            item: id.0,
            first: first as u32,
            words: words as u32,
            pages: self.numbers(id).to_vec(),
            offset: first as u32,
        }
    }

    /// The largest number of words in use.
    pub(crate) fn peak(&self) -> u64 {
        self.peak * self.page_words
    }

    /// The largest number of words that the off-chip memory holds at once for items without a place of their
    /// own there, each from its save to its last load, and the launch that saves the last of these.
    pub(crate) fn saved_peak(&self) -> (u64, u32) {
        let mut stays: Vec<_> =
            self.stays.iter().map(|(&id, stay)| (stay.interval.begin, id, stay)).collect();
        stays.sort_unstable_by_key(|&(begin, id, _)| (begin, id));
        let mut leaving = BinaryHeap::new();
        let (mut words, mut peak) = (0, (0, 0));
        for (begin, id, stay) in stays {
            while leaving.peek().is_some_and(|&Reverse((end, _))| end <= begin) {
                words -= leaving.pop().map_or(0, |Reverse((_, words))| words);
            }
            let own = u64::from(self.item(id).words);
            words += own;
            leaving.push(Reverse((stay.interval.end, own)));
            if words > peak.0 {
                peak = (words, stay.launch);
            }
        }
        peak
    }

    /// Records that words of a saved item are loaded until `end`.
    pub(crate) fn loaded(&mut self, id: ItemId, end: Time) {
        let item = self.item(id);
        if let (Saved::By(save), false) = (item.saved, item.has_home) {
            let Save { begin, launch, .. } = self.saves[save.0 as usize];
            let begin = begin.expect("a limb is saved before it is loaded");
            let stay = self.stays.entry(id).or_insert(Stay { interval: Interval { begin, end }, launch });
            stay.interval.end = stay.interval.end.max(end);
        }
    }

    /// The bytes of an item.
    pub(crate) fn bytes(&self, id: ItemId) -> u64 {
        self.isa.bytes(self.item(id).words.into())
    }

    /// A save that waits. Some words may have been saved before, from `begin` on.
    pub(crate) fn add_save(
        &mut self,
        (kind, bytes): (Kind, u64),
        ready: Time,
        begin: Option<Time>,
        extents: Vec<Extent>,
    ) -> SaveId {
        self.saves.push(Save { kind, bytes, ready, launch: self.launch, extents, begin, end: None });
        SaveId(self.saves.len() as u32 - 1)
    }

    /// The end of a save. `plan` plans it now unless it is planned already.
    pub(crate) fn end_of(&mut self, id: SaveId, plan: impl FnOnce(&Save) -> Interval) -> Time {
        let save = &mut self.saves[id.0 as usize];
        save.end.unwrap_or_else(|| {
            let Interval { begin, end } = plan(save);
            save.begin.get_or_insert(begin);
            save.end = Some(end);
            end
        })
    }

    /// The number of saves.
    pub(crate) fn saves(&self) -> impl Iterator<Item = SaveId> + use<> {
        (0..self.saves.len() as u32).map(SaveId)
    }

    /// Lets the words of a whole item wait for their save, unless it is saved or waits already.
    pub(crate) fn save_item(&mut self, id: ItemId, kind: Kind) {
        let item = self.item(id);
        if !item.is_saved() {
            let (ready, words) = (item.ready, item.words.into());
            let extents = if self.records() { vec![self.extent(id, 0, words)] } else { Vec::new() };
            let save = self.add_save((kind, self.bytes(id)), ready, None, extents);
            self.mark_saved(id, save);
        }
    }

    /// Records that the off-chip memory has the words of an item at the end of a save.
    pub(crate) fn mark_saved(&mut self, id: ItemId, save: SaveId) {
        self.items[id.0 as usize].saved = Saved::By(save);
    }

    /// The words in use, in whole pages.
    pub(crate) fn used(&self) -> u64 {
        (self.capacity - self.free_pages) * self.page_words
    }

    /// The pages that are free.
    pub(crate) fn free(&self) -> u64 {
        self.free_pages
    }

    /// Keeps a resident in place until [`Self::unpin`].
    pub(crate) fn pin(&mut self, id: ItemId, next: NextUse) {
        if self.evictable.remove(&(next, self.item(id).is_saved(), id)) {
            self.evictable_pages -= self.item_pages(id);
        }
    }

    /// The pages that are free, or that evictions can free.
    pub(crate) fn available(&self) -> u64 {
        self.free_pages + self.evictable_pages
    }

    /// Whether there are so many pages if only items leave whose next use comes after `next`.
    pub(crate) fn has_room_beyond(&self, next: NextUse, pages: u64) -> bool {
        let mut room = self.free_pages;
        let mut later = self.evictable.iter().rev().take_while(|(other, ..)| *other > next);
        while room < pages {
            let Some(&(.., id)) = later.next() else { return false };
            room += self.item_pages(id);
        }
        true
    }

    /// Allows a resident to be evicted. Nothing saves it until it is pinned again.
    pub(crate) fn unpin(&mut self, id: ItemId, next: NextUse) {
        if self.evictable.insert((next, self.item(id).is_saved(), id)) {
            self.evictable_pages += self.item_pages(id);
        }
    }

    /// Takes so many pages, and returns them with the time from which they are free. `least` is the shortest
    /// time of a transfer, and `plan` plans a save and returns its end.
    ///
    /// # Errors
    /// Returns an error if the items of launches in progress leave too little space.
    pub(crate) fn take(
        &mut self,
        pages: u64,
        least: impl Fn(u64) -> Time,
        mut plan: impl FnMut(&Save) -> Interval,
    ) -> Result<(Time, Space), Full> {
        while self.free_pages < pages {
            let (.., victim) = self.evictable.pop_last().ok_or(Full)?;
            self.evictable_pages -= self.item_pages(victim);
            self.evict(victim, &least);
        }
        self.free_pages -= pages;
        self.peak = self.peak.max(self.capacity - self.free_pages);
        let (mut free, mut taken) = (Time::ZERO, Space::default());
        while taken.count < pages {
            let Some(Reverse((time, count, save, numbers))) = self.free.pop() else {
                unreachable!("the space is free")
            };
            if let Some(save) = save {
                let end = self.end_of(save, &mut plan);
                self.free.push(Reverse((time.max(end), count, None, numbers)));
                continue;
            }
            free = free.max(time);
            let mut space = Space { count, numbers };
            taken.append(space.split(count.min(pages - taken.count)));
            if space.count > 0 {
                self.free.push(Reverse((time, space.count, None, space.numbers)));
            }
        }
        Ok((free, taken))
    }

    /// Moves out an item that is not evictable.
    pub(crate) fn evict(&mut self, id: ItemId, least: impl Fn(u64) -> Time) {
        self.save_item(id, Kind::Spills);
        self.leave(id, least);
    }

    /// Ends the presence of an item that is not evictable. Its space is free when its last use and its save,
    /// if it has one, have ended.
    pub(crate) fn leave(&mut self, id: ItemId, least: impl Fn(u64) -> Time) {
        let Item { saved, ready, idle, .. } = *self.item(id);
        self.item_mut(id).is_resident = false;
        let save = match saved {
            Saved::By(save) => Some(save),
            Saved::No | Saved::Always => None,
        };
        let space = self.take_space_of(id);
        self.give_back(space, idle.max(ready), save, least);
    }

    /// Returns space that is free from `free` on and after a save.
    pub(crate) fn give_back(
        &mut self,
        Space { count, numbers }: Space,
        free: Time,
        save: Option<SaveId>,
        least: impl Fn(u64) -> Time,
    ) {
        if count == 0 {
            return;
        }
        self.free_pages += count;
        let piece = match save.map(|id| (id, &self.saves[id.0 as usize])) {
            None => (free, count, None, numbers),
            Some((_, Save { end: Some(end), .. })) => (free.max(*end), count, None, numbers),
            Some((id, Save { bytes, ready, .. })) => {
                (free.max(*ready + least(*bytes)), count, Some(id), numbers)
            }
        };
        self.free.push(Reverse(piece));
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

    /// The time from which so many pages are free.
    fn taken(memory: &mut Memory, pages: u64, mut plan: impl FnMut(&Save) -> Time) -> Result<Time, Full> {
        let plan = |save: &Save| Interval { begin: save.ready, end: plan(save) };
        memory.take(pages, Time, plan).map(|(free, space)| {
            assert_eq!(space.count, pages);
            free
        })
    }

    fn full(items: Vec<Item>, capacity: u64) -> Memory {
        let mut memory = Memory::new((capacity, 1), ISA, items, false);
        for _ in 0..memory.items.len() {
            assert_eq!(taken(&mut memory, 10, |_| unreachable!()), Ok(Time::ZERO));
        }
        memory
    }

    #[test]
    fn the_item_with_the_farthest_next_use_makes_room() {
        let mut memory = full(vec![given(1), made(2), given(3)], 35);
        for (id, next) in [(0, 7), (1, 9), (2, 8)] {
            memory.unpin(ItemId(id), next);
        }
        assert_eq!(taken(&mut memory, 5, |_| unreachable!()), Ok(Time::ZERO));
        let mut saved = Vec::new();
        let mut plan = |save: &Save| {
            saved.push((save.kind, save.bytes));
            Time(50)
        };
        assert_eq!(taken(&mut memory, 4, &mut plan), Ok(Time(50)), "item 1, which is saved first");
        let part = taken(&mut memory, 8, &mut plan);
        assert_eq!(part, Ok(Time(3)), "a part of item 2, which is free before the rest of item 1");
        memory.pin(ItemId(0), 7);
        assert_eq!(taken(&mut memory, 10, &mut plan), Err(Full));
        assert_eq!(saved, [(Kind::Spills, 40)]);
        assert_eq!(memory.peak(), 35);
    }

    #[test]
    fn a_save_is_planned_when_its_space_is_the_earliest() {
        let mut memory = full(vec![made(0), made(60)], 20);
        memory.save_item(ItemId(0), Kind::Outputs);
        memory.leave(ItemId(0), Time);
        memory.leave(ItemId(1), Time);
        assert_eq!(taken(&mut memory, 5, |_| Time(70)), Ok(Time(60)), "the channel is busy until 70");
        assert_eq!(taken(&mut memory, 15, |_| unreachable!("it is planned")), Ok(Time(70)));
    }

    #[test]
    fn saved_items_have_a_place_until_their_last_load() {
        let item = |has_home| Item { has_home, ..made(0) };
        let mut memory =
            Memory::new((40, 1), ISA, vec![item(false), item(true), item(false), item(false)], false);
        // Of each item: the begin of its save, and the ends of its loads.
        for (id, begin, loads) in [(0, 10, [20, 30]), (1, 10, [20, 30]), (2, 30, [40, 50]), (3, 40, [45, 45])]
        {
            memory.launch = id;
            memory.save_item(ItemId(id), Kind::Spills);
            let Saved::By(save) = memory.item(ItemId(id)).saved else { unreachable!("it is saved") };
            memory.end_of(save, |_| Interval { begin: Time(begin), end: Time(begin + 1) });
            loads.into_iter().for_each(|end| memory.loaded(ItemId(id), Time(end)));
        }
        assert_eq!(
            memory.saved_peak(),
            (20, 3),
            "item 1 has a place of its own, item 2 takes that of item 0"
        );
    }

    #[test]
    fn of_items_with_one_next_use_a_saved_one_makes_room() {
        let mut memory = full(vec![made(0), given(0), made(0)], 30);
        for id in 0..3 {
            memory.unpin(ItemId(id), 7);
        }
        assert_eq!(taken(&mut memory, 10, |_| unreachable!("item 1 is saved")), Ok(Time::ZERO));
        assert_eq!(
            (0..3).map(|id| memory.item(ItemId(id)).is_resident).collect::<Vec<_>>(),
            [true, false, true]
        );
    }
}
