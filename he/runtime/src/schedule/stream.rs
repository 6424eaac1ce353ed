//! Elementwise launches, slice by slice.

use super::TooLarge;
use super::rpu::{Parameters, ProgramId, Rpu, Task};
use crate::launches::facts::Facts;
use crate::schedule::place::{Full, Item, ItemId, NextUse, Space};
use crate::schedule::record::{Action, Extent};
use crate::schedule::time::{Interval, Time};
use crate::schedule::traffic::Kind;

/// The slices of a limb that streams: one is in use, and one in transfer. Operands take more if words are
/// free.
const BUFFERS: u64 = 2;

/// The location of the limbs of a launch.
struct Placement {
    /// The words of one slice, and the slices that a limb streams through.
    slice: u64,
    turns: u64,
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
    /// The operands whose space results take over, their heirs.
    dying: Vec<ItemId>,
    /// The number of heirs.
    heirs: usize,
}

/// The streaming limbs of a launch: operands, and results of each kind of save.
#[derive(Clone, Copy)]
struct Streaming {
    sources: u64,
    outputs: u64,
    spills: u64,
}

/// The spaces of slices and scratch words.
struct Buffers {
    /// The slices of all streaming operands for a run, and the time from which they are free.
    turns: Vec<(Time, Space)>,
    /// The slices of streaming results, by kind.
    stores: Vec<Space>,
    scratch: Space,
    /// The last pages of operands that leave the others to heirs.
    left: Space,
}

/// The transfer of a slice of several limbs.
struct Slice {
    kind: Kind,
    /// The halves of its bytes that the channel transfers.
    halves: u8,
    bytes: u64,
    /// The time from which the off-chip memory has the limbs.
    ready: Time,
    /// The limbs, by their places among those of the placement that stream, or move in.
    limbs: Vec<usize>,
}

impl Rpu<'_> {
    /// An elementwise kernel.
    pub(super) fn stream(
        &mut self,
        task: &Task<'_>,
        kernel: &Facts,
        slices: (u32, u32),
        fetched: (ProgramId, Parameters),
    ) -> Result<Interval, TooLarge> {
        let placement = self.placement(task, kernel, slices)?;
        let pages = |items: &[ItemId]| items.iter().map(|&item| self.memory.item_pages(item)).sum::<u64>();
        let buffers = self.buffers(&placement, self.streaming(&placement), placement.heirs);
        let kept = pages(&placement.kept[placement.heirs..]);
        let needed = buffers + pages(&placement.loaded) + pages(&placement.kept);
        let too_large = self.too_large(kernel.name, needed);
        let (space_free, mut space) = self.take(buffers).map_err(|Full| too_large)?;
        let mut loads = Vec::with_capacity(placement.loaded.len());
        for (place, &item) in placement.loaded.iter().enumerate() {
            let pages = self.memory.item_pages(item);
            let (free, own) = self.take(pages).map_err(|Full| too_large)?;
            self.memory.put(item, own);
            let load = self.slice_of(item, placement.slice, place);
            loads.push(Slice { ready: load.ready.max(free), ..load });
        }
        let (free, mut own) = self.take(kept).map_err(|Full| too_large)?;
        for &item in &placement.kept[placement.heirs..] {
            let pages = self.memory.item_pages(item);
            self.memory.put(item, own.split(pages));
        }
        let mut ready = space_free.max(free);
        for &item in task.operands {
            let item = self.memory.item(item);
            ready = if item.is_resident { ready.max(item.ready) } else { ready };
        }
        let stores = self.store_slices(&placement);
        let in_turn = self.memory.pages(placement.sources.len() as u64 * placement.slice);
        let mut turns: Vec<_> = (0..placement.turns).map(|_| (space_free, space.split(in_turn))).collect();
        let words = |store: &Slice| store.limbs.len() as u64 * placement.turns * placement.slice;
        let of_stores = stores.iter().map(|store| space.split(self.memory.pages(words(store)))).collect();
        let (scratch, mut left) = (space.split(self.memory.pages(placement.scratch)), Space::default());
        turns.extend(self.further_slices(&placement, slices.1).map_err(|Full| too_large)?);
        // An heir begins in the pages of one more slice, and leaves its operand's last ones.
        for (&heir, &operand) in std::iter::zip(&placement.kept[..placement.heirs], &placement.dying) {
            let mut own = space.split(self.memory.pages(placement.slice));
            let shift = own.count;
            let mut inherited = Space {
                numbers: self.memory.numbers(operand).to_vec(),
                count: self.memory.item_pages(operand),
            };
            let kept = inherited.split(inherited.count - shift);
            own.append(kept);
            self.memory.put(heir, own);
            left.append(inherited);
        }
        let buffers = Buffers { turns, stores: of_stores, scratch, left };
        let fetches = self.load_slices(&placement);
        let transfers = (&loads[..], &fetches[..], &stores[..]);
        let interval = self.runs(task, &placement, (kernel, fetched), transfers, (slices.1, buffers), ready);
        self.retire(task.operands, &placement, interval.end);
        self.finish_results(&placement.kept, interval.end);
        Ok(interval)
    }

    /// The streaming limbs of a placement.
    fn streaming(&self, placement: &Placement) -> Streaming {
        let outputs = placement.results.iter().filter(|&&item| self.memory.item(item).is_output).count();
        Streaming {
            sources: placement.sources.len() as u64,
            outputs: outputs as u64,
            spills: (placement.results.len() - outputs) as u64,
        }
    }

    /// The pages of slices and scratch words. The first slice of an heir has none yet.
    fn buffers(&self, placement: &Placement, streaming: Streaming, heirs: usize) -> u64 {
        let Placement { slice, turns, scratch, .. } = *placement;
        let pages = |words| self.memory.pages(words);
        turns * pages(streaming.sources * slice)
            + pages(streaming.outputs * turns * slice)
            + pages(streaming.spills * turns * slice)
            + heirs as u64 * pages(slice)
            + pages(scratch)
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
            turns: BUFFERS.min(runs.into()),
            scratch: kernel.scratch_words,
            loaded: Vec::new(),
            sources: Vec::new(),
            kept: Vec::new(),
            results: task.results.to_vec(),
            dying: Vec::new(),
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
        let mut streaming = self.streaming(&placement);
        let all = Streaming { sources: task.operands.len() as u64, ..streaming };
        let too_large = self.too_large(kernel.name, self.buffers(&placement, all, 0));
        resident.sort_unstable();
        // Operands in the VDM leave if they take the space of slices.
        while self.memory.available() < self.buffers(&placement, streaming, 0) {
            let (_, item) = resident.pop().ok_or(too_large)?;
            self.evict(item);
            placement.sources.push(item);
            streaming.sources += 1;
        }
        // A run on a whole limb reads all of it before it ends. An output waits for its save.
        let dies = |&&(next, item): &&(NextUse, ItemId)| next == 0 && !self.memory.item(item).is_output;
        let dying = if runs > 1 { resident.iter().filter(dies).count() } else { 0 };
        let dies_here = |&item: &ItemId| resident.iter().any(|entry| entry.1 == item && dies(&entry));
        placement.dying = task.operands.iter().copied().filter(dies_here).take(dying).collect();
        let mut wanted: Vec<(NextUse, Result<ItemId, ItemId>)> = Vec::new();
        wanted.extend(task.results.iter().map(|&item| (self.uses.next(item), Ok(item))));
        wanted.extend(placement.sources.iter().map(|&item| (self.uses.ahead(item, 1), Err(item))));
        wanted.retain(|&(next, _)| next < NextUse::MAX);
        wanted.sort_unstable();
        let mut taken = 0;
        for (next, limb) in wanted {
            let inherits = limb.is_ok() && placement.heirs < dying;
            // An heir no longer needs its slices, but a first one.
            let (item, rest) = match limb {
                Ok(item) if self.memory.item(item).is_output => {
                    (item, Streaming { outputs: streaming.outputs - 1, ..streaming })
                }
                Ok(item) => (item, Streaming { spills: streaming.spills - 1, ..streaming }),
                Err(item) => (item, Streaming { sources: streaming.sources - 1, ..streaming }),
            };
            let own = if inherits { 0 } else { self.memory.item_pages(item) };
            let heirs = placement.heirs + usize::from(inherits);
            let needed = self.buffers(&placement, rest, heirs) + taken + own;
            if !self.memory.has_room_beyond(next, needed) {
                continue;
            }
            taken += own;
            streaming = rest;
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

    /// Takes the pages that are free for further slices of all streaming operands, with the times from which
    /// they are.
    fn further_slices(&mut self, placement: &Placement, runs: u32) -> Result<Vec<(Time, Space)>, Full> {
        let pages = self.memory.pages(placement.sources.len() as u64 * placement.slice);
        let most = u64::from(runs).saturating_sub(BUFFERS);
        let fitting = self.memory.free().checked_div(pages).unwrap_or(0);
        (0..most.min(fitting)).map(|_| self.take(pages)).collect()
    }

    /// All runs of a kernel with their transfers: `moves` are the slices of operands that move in. What needs
    /// no transfer is there from `ready` on. Gives the space back.
    fn runs(
        &mut self,
        task: &Task<'_>,
        placement: &Placement,
        (kernel, fetched): (&Facts, (ProgramId, Parameters)),
        (moves, loads, stores): (&[Slice], &[Slice], &[Slice]),
        (runs, mut buffers): (u32, Buffers),
        ready: Time,
    ) -> Interval {
        let mut begin = None;
        // The begin of the first store of each kind.
        let mut stored: Vec<Option<Time>> = vec![None; stores.len()];
        let mut loaded = vec![Time::ZERO; loads.len()];
        let mut moved = vec![Time::ZERO; moves.len()];
        // The ends of the last two runs.
        let mut ends = [Time::ZERO; 2];
        for run in 0..runs {
            let turn = run as usize % buffers.turns.len();
            let mut run_ready = ready.max(self.fetch(kernel, fetched, run));
            for (moved, &Slice { kind, halves, bytes, ready, ref limbs }) in moved.iter_mut().zip(moves) {
                let extents = self.recorded(|rpu| rpu.moved_in(placement, limbs, run));
                *moved = (*moved).max(self.bring((kind, halves), bytes, ready, || extents));
                run_ready = run_ready.max(*moved);
            }
            for (loaded, &Slice { kind, halves, bytes, ready, ref limbs }) in loaded.iter_mut().zip(loads) {
                let extents = self.recorded(|_| placement.loads(limbs, run, &buffers));
                let ready = buffers.turns[turn].0.max(ready);
                *loaded = (*loaded).max(self.bring((kind, halves), bytes, ready, || extents));
                run_ready = run_ready.max(*loaded);
            }
            if u64::from(run) >= BUFFERS {
                run_ready =
                    run_ready.max(self.store(placement, (stores, &mut stored), (run - 2, &buffers), ends[0]));
            }
            let interval = self.compute(kernel, run_ready);
            self.record_run(task, placement, (run, stores, &buffers), interval);
            begin.get_or_insert(interval.begin);
            ends = [ends[1], interval.end];
            buffers.turns[turn].0 = interval.end;
        }
        if u64::from(runs) >= BUFFERS {
            self.store(placement, (stores, &mut stored), (runs - 2, &buffers), ends[0]);
        }
        let end = self.computed;
        for (load, end) in moves.iter().zip(moved) {
            load.limbs.iter().for_each(|&place| self.memory.loaded(placement.loaded[place], end));
        }
        for (load, end) in loads.iter().zip(loaded) {
            load.limbs.iter().for_each(|&place| self.memory.loaded(placement.sources[place], end));
        }
        for &item in &placement.loaded {
            let item = self.memory.item_mut(item);
            (item.is_resident, item.ready) = (true, end);
        }
        let last: Vec<_> = (0..stores.len())
            .map(|store| self.recorded(|_| placement.stores(&stores[store], store, runs - 1, &buffers)))
            .collect();
        buffers.turns.into_iter().for_each(|(free, space)| self.give_back(space, free));
        buffers.scratch.append(buffers.left);
        self.give_back(buffers.scratch, end);
        let spaces = buffers.stores.into_iter().zip(last);
        for ((&Slice { kind, bytes, ref limbs, .. }, begin), space) in stores.iter().zip(stored).zip(spaces) {
            let results: Vec<ItemId> = limbs.iter().map(|&place| placement.results[place]).collect();
            results.iter().for_each(|&item| self.memory.item_mut(item).ready = end);
            self.save_last(&results, (kind, bytes), space, (begin, end));
        }
        Interval { begin: begin.unwrap_or(ready), end }
    }

    /// Extents, if they are recorded.
    fn recorded(&self, extents: impl FnOnce(&Self) -> Vec<Extent>) -> Vec<Extent> {
        if self.memory.records() { extents(self) } else { Vec::new() }
    }

    /// The slices for a run of operands that move in.
    fn moved_in(&self, placement: &Placement, limbs: &[usize], run: u32) -> Vec<Extent> {
        let first = u64::from(run) * placement.slice;
        limbs
            .iter()
            .map(|&place| self.memory.extent(placement.loaded[place], first, placement.slice))
            .collect()
    }

    /// Records a run of a kernel.
    fn record_run(
        &mut self,
        task: &Task<'_>,
        placement: &Placement,
        (run, stores, buffers): (u32, &[Slice], &Buffers),
        interval: Interval,
    ) {
        if !self.memory.records() {
            return;
        }
        let first = u64::from(run) * placement.slice;
        let streamed = placement.loads(&(0..placement.sources.len()).collect::<Vec<_>>(), run, buffers);
        let stored: Vec<Extent> = (0..stores.len())
            .flat_map(|store| placement.stores(&stores[store], store, run, buffers))
            .collect();
        let extent = |item: &ItemId| {
            let streams = streamed.iter().chain(&stored).find(|extent| extent.item == item.0);
            streams.cloned().unwrap_or_else(|| self.memory.extent(*item, first, placement.slice))
        };
        let action = Action::Run {
            launch: self.memory.launch,
            operands: task.operands.iter().map(extent).collect(),
            results: task.results.iter().map(extent).collect(),
            scratch: buffers.scratch.numbers.clone(),
        };
        self.record(interval, action);
    }

    /// Stores the slices of a run that ended at `end`. Returns the end of the last transfer.
    fn store(
        &mut self,
        placement: &Placement,
        (stores, begins): (&[Slice], &mut [Option<Time>]),
        (run, buffers): (u32, &Buffers),
        end: Time,
    ) -> Time {
        let mut last = None;
        for (index, (store, begin)) in stores.iter().zip(begins).enumerate() {
            let extents = self.recorded(|_| placement.stores(store, index, run, buffers));
            let stored = self.store_bytes(store.kind, store.bytes, end, || extents);
            begin.get_or_insert(stored.begin);
            last = last.max(Some(stored.end));
        }
        last.unwrap_or(end)
    }

    fn kind_of_save(&self, item: ItemId) -> Kind {
        if self.memory.item(item).is_output { Kind::Outputs } else { Kind::Spills }
    }

    /// The load of a slice of an item.
    fn slice_of(&mut self, item: ItemId, words: u64, place: usize) -> Slice {
        let ready = self.saved(item);
        let Item { kind, halves, .. } = *self.memory.item(item);
        Slice { kind, halves, bytes: self.bytes(words), ready, limbs: vec![place] }
    }

    /// The loads for one run, one for each kind and each number of halves.
    fn load_slices(&mut self, placement: &Placement) -> Vec<Slice> {
        let mut loads = Vec::new();
        for (place, &item) in placement.sources.iter().enumerate() {
            add(&mut loads, self.slice_of(item, placement.slice, place));
        }
        loads
    }

    /// The stores for one run, one for each kind.
    fn store_slices(&self, placement: &Placement) -> Vec<Slice> {
        let (bytes, mut stores) = (self.bytes(placement.slice), Vec::new());
        for (place, &item) in placement.results.iter().enumerate() {
            let kind = self.kind_of_save(item);
            add(&mut stores, Slice { kind, halves: 2, bytes, ready: Time::ZERO, limbs: vec![place] });
        }
        stores
    }

    /// Ends the use of operands. Results have taken over the space of some of those that die.
    fn retire(&mut self, operands: &[ItemId], placement: &Placement, end: Time) {
        for &item in operands {
            if placement.dying[..placement.heirs].contains(&item) {
                self.memory.item_mut(item).is_resident = false;
            }
            self.release(item, end, false);
        }
    }
}

impl Placement {
    /// The slices for a run of some streaming operands: behind each other in the space of a turn.
    fn loads(&self, limbs: &[usize], run: u32, buffers: &Buffers) -> Vec<Extent> {
        let pages = &buffers.turns[run as usize % buffers.turns.len()].1.numbers;
        limbs.iter().map(|&place| self.slice_at(self.sources[place], run, pages, place as u64)).collect()
    }

    /// The slices of a run of the streaming results of a kind, all first ones before all second ones.
    fn stores(&self, store: &Slice, index: usize, run: u32, buffers: &Buffers) -> Vec<Extent> {
        let (pages, before) = (&buffers.stores[index].numbers, u64::from(run) % self.turns);
        let limbs = store.limbs.iter().zip(before * store.limbs.len() as u64..);
        limbs.map(|(&place, slot)| self.slice_at(self.results[place], run, pages, slot)).collect()
    }

    /// The slice of a limb for a run, behind other slices in a space.
    fn slice_at(&self, item: ItemId, run: u32, pages: &[u32], before: u64) -> Extent {
        Extent {
            item: item.0,
            first: run * self.slice as u32,
            words: self.slice as u32,
            pages: pages.to_vec(),
            offset: (before * self.slice) as u32,
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
            known.limbs.extend(slice.limbs);
        }
        None => slices.push(slice),
    }
}
