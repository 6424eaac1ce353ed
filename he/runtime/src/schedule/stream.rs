//! Elementwise launches, slice by slice.

use super::TooLarge;
use super::rpu::{ProgramId, Rpu, Task};
use crate::facts::Facts;
use crate::place::{Full, Item, ItemId, NextUse};
use crate::time::{Interval, Time};
use crate::traffic::Kind;

/// The slices of a limb that streams: one is in use, and one in transfer. Operands take more if words are free.
const BUFFERS: u64 = 2;

/// The location of the limbs of a launch.
struct Placement {
    /// The words of one slice, and those of the slices that a limb streams through.
    slice: u64,
    buffer: u64,
    /// The words beside the limbs.
    scratch: u64,
    /// The operands that move into the VDM as a whole.
    loaded: Vec<ItemId>,
    /// The operands that stream from the off-chip memory.
    sources: Vec<ItemId>,
    /// The results that stay in the VDM, heirs first.
    kept: Vec<ItemId>,
    /// The results that stream to the off-chip memory.
    results: Vec<ItemId>,
    /// The number of heirs: results that take over the space of operands that die.
    heirs: usize,
}

impl Placement {
    /// The words of the slices, and of the scratch memory.
    fn buffers(&self) -> u64 {
        // The first slice of a result that takes over space has none yet.
        let first = self.heirs as u64 * self.slice;
        (self.sources.len() + self.results.len()) as u64 * self.buffer + first + self.scratch
    }
}

/// The transfer of a slice of several limbs.
#[derive(Clone, Copy)]
struct Slice {
    kind: Kind,
    /// The halves of its bytes that the channel transfers.
    halves: u8,
    bytes: u64,
    /// The time from which the off-chip memory has the limbs.
    ready: Time,
}

impl Rpu<'_> {
    /// An elementwise kernel.
    pub(super) fn stream(
        &mut self,
        task: &Task<'_>,
        kernel: &Facts,
        slices: (u32, u32),
        fetched: (ProgramId, u64),
    ) -> Result<Interval, TooLarge> {
        let placement = self.placement(task, kernel, slices)?;
        let words = |items: &[ItemId]| items.iter().map(|&item| self.limb_words(item)).sum::<u64>();
        let buffers = placement.buffers();
        let kept = words(&placement.kept[placement.heirs..]);
        let needed = buffers + words(&placement.loaded) + words(&placement.kept);
        let too_large = self.too_large(kernel.name, needed);
        let space = self.take(buffers).map_err(|Full| too_large)?;
        let mut loads = Vec::with_capacity(placement.loaded.len());
        for &item in &placement.loaded {
            let space = self.take(self.limb_words(item)).map_err(|Full| too_large)?;
            let load = self.slice_of(item, placement.slice);
            loads.push(Slice { ready: load.ready.max(space), ..load });
        }
        let mut ready = space.max(self.take(kept).map_err(|Full| too_large)?);
        for &item in task.operands {
            let item = self.memory.item(item);
            ready = if item.is_resident { ready.max(item.ready) } else { ready };
        }
        let further = self.further_slices(&placement, slices.1).map_err(|Full| too_large)?;
        ready = ready.max(self.fetch(kernel, fetched));
        let interval = self.runs(&placement, kernel, &loads, (slices.1, &further), (space, ready));
        self.retire(task.operands, placement.heirs, interval.end);
        self.finish_results(&placement.kept, interval.end);
        Ok(interval)
    }

    fn limb_words(&self, item: ItemId) -> u64 {
        self.memory.item(item).words.into()
    }

    /// Decides which limbs the VDM holds as a whole: those whose next uses are nearer than the uses of what
    /// would make room for them. Pins the operands.
    fn placement(
        &mut self,
        task: &Task<'_>,
        kernel: &Facts,
        (slice, runs): (u32, u32),
    ) -> Result<Placement, TooLarge> {
        let slice = u64::from(slice);
        let mut placement = Placement {
            slice,
            buffer: slice * BUFFERS.min(runs.into()),
            scratch: kernel.scratch_words,
            loaded: Vec::new(),
            sources: Vec::new(),
            kept: Vec::new(),
            results: task.results.to_vec(),
            heirs: 0,
        };
        // The operands in the VDM: first those that nothing else reads, then by their next uses.
        let mut resident = Vec::new();
        for &item in task.operands {
            if self.memory.item(item).is_resident {
                self.memory.pin(item, self.uses.next(item));
                resident.push((self.uses.ahead(item, 1).wrapping_add(1), item));
            } else {
                placement.sources.push(item);
            }
        }
        let streams = (task.operands.len() + task.results.len()) as u64;
        let too_large = self.too_large(kernel.name, streams * placement.buffer + placement.scratch);
        resident.sort_unstable();
        // Operands in the VDM leave if they take the space of slices.
        while self.memory.available() < placement.buffers() {
            let (_, item) = resident.pop().ok_or(too_large)?;
            self.evict(item);
            placement.sources.push(item);
        }
        // A run on a whole limb reads all of it before it ends. An output waits for its save.
        let dies = |&&(next, item): &&(NextUse, ItemId)| next == 0 && !self.memory.item(item).is_output;
        let dying = if runs > 1 { resident.iter().filter(dies).count() } else { 0 };
        let mut wanted: Vec<(NextUse, Result<ItemId, ItemId>)> = Vec::new();
        wanted.extend(task.results.iter().map(|&item| (self.uses.next(item), Ok(item))));
        wanted.extend(placement.sources.iter().map(|&item| (self.uses.ahead(item, 1), Err(item))));
        wanted.retain(|&(next, _)| next < NextUse::MAX);
        wanted.sort_unstable();
        let mut taken = 0;
        for (next, limb) in wanted {
            let inherits = limb.is_ok() && placement.heirs < dying;
            // An heir no longer needs its slices, but a first one.
            let words = match limb {
                Ok(_) if inherits => slice,
                Ok(item) | Err(item) => self.limb_words(item),
            };
            let needed = placement.buffers() - placement.buffer + taken + words;
            if !self.memory.has_room_beyond(next, needed) {
                continue;
            }
            taken += if inherits { 0 } else { words };
            match limb {
                Ok(item) => {
                    placement.results.retain(|&other| other != item);
                    placement.kept.push(item);
                    placement.heirs += usize::from(inherits);
                }
                Err(item) => {
                    placement.sources.retain(|&other| other != item);
                    placement.loaded.push(item);
                }
            }
        }
        Ok(placement)
    }

    /// Takes the words that are free for further slices of all streaming operands. Returns the time from which each is free.
    fn further_slices(&mut self, placement: &Placement, runs: u32) -> Result<Vec<Time>, Full> {
        let words = placement.sources.len() as u64 * placement.slice;
        let most = u64::from(runs).saturating_sub(BUFFERS);
        let fitting = self.memory.free().checked_div(words).unwrap_or(0);
        (0..most.min(fitting)).map(|_| self.take(words)).collect()
    }

    /// All runs of a kernel with their transfers. `moves` are the slices of operands that move in. The space of the other
    /// slices is free from `space` on, that of further ones from `further` on, and all else is there from `ready` on.
    /// Gives the space back.
    fn runs(
        &mut self,
        placement: &Placement,
        kernel: &Facts,
        moves: &[Slice],
        (runs, further): (u32, &[Time]),
        (space, ready): (Time, Time),
    ) -> Interval {
        let (loads, stores) = self.slices(placement);
        let mut begin = None;
        // The slices of operands: each is free when the run that read it has ended.
        let mut free = vec![space; BUFFERS.min(runs.into()) as usize];
        free.extend(further);
        // The ends of the last two runs.
        let mut ends = [Time::ZERO; 2];
        for run in 0..runs {
            let slice = run as usize % free.len();
            let mut run_ready = ready;
            for &Slice { kind, halves, bytes, ready } in moves {
                run_ready = run_ready.max(self.bring((kind, halves), bytes, ready));
            }
            for &Slice { kind, halves, bytes, ready } in &loads {
                run_ready = run_ready.max(self.bring((kind, halves), bytes, free[slice].max(ready)));
            }
            if u64::from(run) >= BUFFERS {
                run_ready = run_ready.max(self.store(&stores, ends[0]));
            }
            let interval = self.compute(kernel, run_ready);
            begin.get_or_insert(interval.begin);
            ends = [ends[1], interval.end];
            free[slice] = interval.end;
        }
        if u64::from(runs) >= BUFFERS {
            self.store(&stores, ends[0]);
        }
        let end = self.computed;
        for &item in &placement.loaded {
            let item = self.memory.item_mut(item);
            (item.is_resident, item.ready) = (true, end);
        }
        let words = placement.sources.len() as u64 * placement.slice;
        free.into_iter().for_each(|free| self.give_back(words, free));
        let streamed = (placement.sources.len() + placement.results.len()) as u64 * placement.buffer;
        self.give_back(placement.buffers() - streamed, end);
        for Slice { kind, bytes, .. } in stores {
            let of_kind = |&item: &ItemId| self.kind_of_save(item) == kind;
            let results: Vec<ItemId> = placement.results.iter().copied().filter(of_kind).collect();
            let words = results.len() as u64 * placement.buffer;
            results.iter().for_each(|&item| self.memory.item_mut(item).ready = end);
            self.save_last(&results, kind, bytes, words, end);
        }
        Interval { begin: begin.unwrap_or(ready), end }
    }

    /// Stores the slices of a run that ended at `end`. Returns the end of the last transfer.
    fn store(&mut self, stores: &[Slice], end: Time) -> Time {
        let ends = stores.iter().map(|&Slice { kind, bytes, .. }| self.store_bytes(kind, bytes, end));
        ends.max().unwrap_or(end)
    }

    fn kind_of_save(&self, item: ItemId) -> Kind {
        if self.memory.item(item).is_output { Kind::Outputs } else { Kind::Spills }
    }

    /// The load of a slice of an item.
    fn slice_of(&mut self, item: ItemId, words: u64) -> Slice {
        let ready = self.saved(item);
        let Item { kind, halves, .. } = *self.memory.item(item);
        Slice { kind, halves, bytes: self.bytes(words), ready }
    }

    /// The transfers for one run: loads and stores, one of each kind and each number of halves.
    fn slices(&mut self, placement: &Placement) -> (Vec<Slice>, Vec<Slice>) {
        let mut loads = Vec::new();
        for &item in &placement.sources {
            add(&mut loads, self.slice_of(item, placement.slice));
        }
        let (slice, mut stores) = (self.bytes(placement.slice), Vec::new());
        for &item in &placement.results {
            add(
                &mut stores,
                Slice { kind: self.kind_of_save(item), halves: 2, bytes: slice, ready: Time::ZERO },
            );
        }
        (loads, stores)
    }

    /// Ends the use of operands. Results have taken over the space of some of those that die.
    fn retire(&mut self, operands: &[ItemId], heirs: usize, end: Time) {
        let mut left = heirs;
        for &item in operands {
            let Item { is_resident, is_output, .. } = *self.memory.item(item);
            let dies = self.uses.ahead(item, 1) == NextUse::MAX;
            if left > 0 && is_resident && !is_output && dies {
                self.memory.item_mut(item).is_resident = false;
                left -= 1;
            }
            self.release(item, end, false);
        }
    }
}

/// Adds a slice to those of its kind and halves.
fn add(slices: &mut Vec<Slice>, slice: Slice) {
    let alike = |known: &&mut Slice| (known.kind, known.halves) == (slice.kind, slice.halves);
    match slices.iter_mut().find(alike) {
        Some(known) => {
            known.bytes += slice.bytes;
            known.ready = known.ready.max(slice.ready);
        }
        None => slices.push(slice),
    }
}
