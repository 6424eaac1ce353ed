//! Elementwise launches, slice by slice.

use super::{Schedule, TooLarge};
use crate::flow::ValueId;
use crate::kernels::Timed;
use crate::lift::Launch;
use crate::place::{ItemId, NextUse};
use crate::traffic::Kind;

/// The slices of a limb that streams: one is in use, and one in transfer.
const BUFFERS: u64 = 2;

/// The location of the limbs of a launch.
#[derive(Default)]
struct Placement {
    /// The operands that move into the VDM as a whole.
    loaded: Vec<ItemId>,
    /// The operands that stream from the off-chip memory.
    sources: Vec<ItemId>,
    /// The results that stay in the VDM.
    kept: Vec<ValueId>,
    /// The results that stream to the off-chip memory.
    results: Vec<ValueId>,
    /// The results that take over the space of operands that die.
    heirs: u64,
}

impl Placement {
    /// The words of the slices, and of the scratch memory.
    fn buffers(&self, kernel: &Timed) -> u64 {
        // The first slice of a result that takes over space has none yet.
        let first = self.heirs * u64::from(kernel.slice);
        let streams = (self.sources.len() + self.results.len()) as u64;
        streams * buffer(kernel) + first + kernel.scratch_words
    }
}

/// The words of a limb that streams.
fn buffer(kernel: &Timed) -> u64 {
    u64::from(kernel.slice) * BUFFERS.min(kernel.runs.into())
}

/// The transfer of a slice of several limbs.
#[derive(Clone, Copy)]
struct Slice {
    kind: Kind,
    bytes: f64,
    /// The time from which the off-chip memory has the limbs.
    ready_ns: f64,
}

impl Schedule<'_> {
    /// Runs an elementwise kernel.
    pub(super) fn stream(&mut self, index: u32, launch: &Launch, kernel: &Timed) -> Result<(), TooLarge> {
        let n = self.plan.program.degree().get();
        let placement = self.placement(launch, kernel)?;
        let buffers = placement.buffers(kernel);
        let needed = buffers + (placement.loaded.len() + placement.kept.len()) as u64 * n;
        let too_large = self.too_large(kernel, needed);
        let space_ns = self.take(buffers).map_err(|_| too_large)?;
        let mut ready_ns = 0.0_f64;
        for &item in &placement.loaded {
            let space_ns = self.take(n).map_err(|_| too_large)?;
            self.load(item, space_ns);
        }
        let kept = (placement.kept.len() as u64 - placement.heirs) * n;
        ready_ns = ready_ns.max(self.take(kept).map_err(|_| too_large)?);
        let operands = self.operands(launch);
        for &item in &operands {
            let item = self.memory.item(item);
            ready_ns = if item.is_resident { ready_ns.max(item.ready_ns) } else { ready_ns };
        }
        ready_ns = ready_ns.max(self.fetch(launch, kernel));
        let (begin_ns, stored_ns) = self.runs(&placement, kernel, ready_ns, space_ns);
        self.end_launch(index, launch, kernel, begin_ns);
        let end_ns = self.computed_ns;
        self.memory.give_back(buffers, stored_ns);
        self.retire(&operands, placement.heirs, end_ns);
        placement.kept.iter().for_each(|&value| self.finish_result(value, end_ns));
        for value in placement.results {
            self.memory.mark_saved(ItemId(value.0));
            self.memory.item_mut(ItemId(value.0)).ready_ns = stored_ns;
        }
        Ok(())
    }

    fn too_large(&self, kernel: &Timed, needed: u64) -> TooLarge {
        TooLarge {
            kernel: kernel.name,
            needed,
            capacity: self.plan.machine.vdm_words().into(),
            word_bytes: self.plan.machine.instruction_set().word_bytes().into(),
        }
    }

    /// Decides which limbs the VDM holds as a whole: those whose next uses are nearer than the uses of what
    /// would make room for them. Pins the operands.
    fn placement(&mut self, launch: &Launch, kernel: &Timed) -> Result<Placement, TooLarge> {
        let n = self.plan.program.degree().get();
        let results = self.plan.launches.results(launch);
        let mut placement = Placement::default();
        // The operands in the VDM: first those that nothing else reads, then by their next uses.
        let mut resident = Vec::new();
        for item in self.operands(launch) {
            if self.memory.item(item).is_resident {
                self.memory.pin(item, self.uses.next(item));
                resident.push((self.uses.ahead(item, 1).wrapping_add(1), item));
            } else {
                placement.sources.push(item);
            }
        }
        placement.results = results.to_vec();
        let streams = placement.sources.len() + results.len() + resident.len();
        let least = streams as u64 * buffer(kernel) + kernel.scratch_words;
        resident.sort_unstable();
        // Operands in the VDM leave if they take the space of slices.
        while self.memory.available() < placement.buffers(kernel) {
            let Some((_, item)) = resident.pop() else { return Err(self.too_large(kernel, least)) };
            self.evict(item);
            placement.sources.push(item);
        }
        // A run on a whole limb reads all of it before it ends.
        let dying = resident.iter().filter(|&&(next, _)| next == 0 && kernel.runs > 1).count() as u64;
        let mut wanted: Vec<(NextUse, Result<ValueId, ItemId>)> = Vec::new();
        wanted.extend(results.iter().map(|&value| (self.uses.next(ItemId(value.0)), Ok(value))));
        wanted.extend(placement.sources.iter().map(|&item| (self.uses.ahead(item, 1), Err(item))));
        wanted.retain(|&(next, _)| next < NextUse::MAX);
        wanted.sort_unstable();
        let mut taken = 0;
        for (next, limb) in wanted {
            let inherits = limb.is_ok() && placement.heirs < dying;
            let words = if inherits { 0 } else { n };
            // The limb no longer needs its slices, but perhaps a first one.
            let first = if inherits { u64::from(kernel.slice) } else { 0 };
            let needed = placement.buffers(kernel) - buffer(kernel) + taken + words + first;
            if !self.memory.has_room_beyond(next, needed) {
                continue;
            }
            taken += words;
            match limb {
                Ok(value) => {
                    placement.results.retain(|&other| other != value);
                    placement.kept.push(value);
                    placement.heirs += u64::from(inherits);
                }
                Err(item) => {
                    placement.sources.retain(|&other| other != item);
                    placement.loaded.push(item);
                }
            }
        }
        Ok(placement)
    }

    /// All runs of a kernel with their transfers. Returns the beginning of the first run and the end of the
    /// last transfer.
    fn runs(&mut self, placement: &Placement, kernel: &Timed, ready_ns: f64, space_ns: f64) -> (f64, f64) {
        let (loads, stores) = self.slices(placement, kernel);
        let mut begin_ns = None;
        // The ends of the last two runs and of their stores.
        let (mut ends_ns, mut stored_ns) = ([0.0_f64; 2], [0.0_f64; 2]);
        for _ in 0..kernel.runs {
            let mut run_ready_ns = ready_ns.max(space_ns).max(stored_ns[0]);
            for Slice { kind, bytes, ready_ns } in &loads {
                let free_ns = space_ns.max(ends_ns[0]).max(*ready_ns);
                run_ready_ns = run_ready_ns.max(self.transfer(*kind, bytes.round() as u64, free_ns).end_ns);
            }
            let span = self.compute(kernel, run_ready_ns);
            begin_ns.get_or_insert(span.begin_ns);
            let mut end_ns = span.end_ns;
            for Slice { kind, bytes, .. } in &stores {
                end_ns = end_ns.max(self.transfer(*kind, bytes.round() as u64, span.end_ns).end_ns);
            }
            ends_ns = [ends_ns[1], span.end_ns];
            stored_ns = [stored_ns[1], end_ns];
        }
        (begin_ns.unwrap_or(ready_ns), stored_ns[1].max(self.computed_ns))
    }

    /// The transfers for one run: loads and stores, one of each kind.
    fn slices(&self, placement: &Placement, kernel: &Timed) -> (Vec<Slice>, Vec<Slice>) {
        let word_bytes = f64::from(self.plan.machine.instruction_set().word_bytes());
        let slice = word_bytes * f64::from(kernel.slice);
        let mut loads = Vec::new();
        for &item in &placement.sources {
            let (kind, share) = self.sources.load(ValueId(item.0));
            add(&mut loads, Slice { kind, bytes: slice * share, ready_ns: self.memory.item(item).ready_ns });
        }
        let mut stores = Vec::new();
        for &value in &placement.results {
            let kind = if self.is_output[value.index()] { Kind::Outputs } else { Kind::Spills };
            add(&mut stores, Slice { kind, bytes: slice, ready_ns: 0.0 });
        }
        (loads, stores)
    }

    /// Ends the use of operands. Results have taken over the space of some of those that die.
    fn retire(&mut self, operands: &[ItemId], heirs: u64, end_ns: f64) {
        let mut left = heirs;
        for &item in operands {
            self.uses.advance(item);
            let next = self.uses.next(item);
            if next == NextUse::MAX {
                self.memory.forget(item);
            }
            let state = self.memory.item_mut(item);
            state.idle_ns = end_ns;
            match next {
                _ if !state.is_resident => {}
                NextUse::MAX if left > 0 => {
                    state.is_resident = false;
                    left -= 1;
                }
                NextUse::MAX => self.memory.drop_item(item, end_ns),
                next => self.memory.unpin(item, next),
            }
        }
    }
}

/// Adds a slice to those of its kind.
fn add(slices: &mut Vec<Slice>, slice: Slice) {
    match slices.iter_mut().find(|known| known.kind == slice.kind) {
        Some(known) => {
            known.bytes += slice.bytes;
            known.ready_ns = known.ready_ns.max(slice.ready_ns);
        }
        None => slices.push(slice),
    }
}
