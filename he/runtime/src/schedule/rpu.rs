//! The RPU with its memories, and the launches that it runs one after the other.

use super::link::Link;
use super::timeline::{Run, Timeline};
use super::uses::Uses;
use super::{BURST_BYTES, INSTRUCTION_BYTES, LAUNCH_WORD_BYTES, TooLarge};
use crate::launches::facts::{Facts, Resource, accesses_per_cycle};
use crate::schedule::channel::{Channel, Direction, least};
use crate::schedule::place::{Full, Item, ItemId, Memory, NextUse, Saved, Space};
use crate::schedule::record::{Action, Extent, Records};
use crate::schedule::time::{Interval, Span, Time};
use crate::schedule::traffic::Kind;
use rustc_hash::FxHashMap;
use sim::Clock;
use sim::Machine;
use std::collections::VecDeque;

/// A launch: a kernel, or a movement of words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'t> {
    /// The kernel, the identity of its program, and the words that set its registers.
    pub(crate) kernel: Option<(Facts, ProgramId, Parameters)>,
    /// The limbs that it reads, and its tables.
    pub(crate) operands: &'t [ItemId],
    /// The number of operands that are limbs.
    pub(crate) sources: usize,
    pub(crate) results: &'t [ItemId],
}

/// The words that set the registers for a launch, one in a cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    /// Moduli and scalars, for the first run.
    pub(crate) launch: u64,
    /// Addresses, for each run.
    pub(crate) run: u64,
}

/// The identity of a program in the instruction memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct ProgramId(pub(crate) u32);

/// A program in the instruction memory.
#[derive(Clone, Copy, Debug)]
struct Fetched {
    instructions: u64,
    ready: Time,
    /// The end of its last launch.
    idle: Time,
}

/// The RPU.
#[derive(Debug)]
pub(crate) struct Rpu<'m> {
    machine: &'m Machine,
    ghz: f64,
    /// The part of the accesses to the banks that a busy channel leaves to kernels.
    left_beside_channel: f64,
    pub(crate) memory: Memory,
    /// For each item, the launches that use it, and the number of them that are past.
    pub(crate) uses: Uses,
    link: Link,
    /// The generator of seeded keys, and the bytes that it has made.
    generator: Channel,
    expanded: u64,
    programs: FxHashMap<ProgramId, Fetched>,
    /// The instructions of all programs in the instruction memory.
    instructions: u64,
    /// The time between the arrival of all that a run needs and the fetch of its first instruction.
    overhead: Time,
    /// The end of the last launch.
    pub(super) computed: Time,
    /// The runs whose parameters are in the SDM: their bytes and their ends.
    parameters: VecDeque<(u64, Time)>,
    /// The end of the last run whose parameters have made room.
    parameters_gone: Time,
    /// The bytes of these parameters, and those of the next run.
    parameter_bytes: [u64; 2],
    /// The time at which the registers for the last run were in use, so that those for the next can be set.
    begun: Time,
    /// The time at which the registers for the next run are set.
    set: Time,
    compute: Time,
    out: Timeline,
    record: bool,
}

impl<'m> Rpu<'m> {
    /// A machine with a VDM of so many pages of so many words, and items of which `uses` has the uses.
    pub(crate) fn new(
        machine: &'m Machine,
        vdm: (u64, u64),
        (items, uses): (Vec<Item>, Uses),
        records: Records,
    ) -> Self {
        let ghz = Clock::of(machine).ghz();
        let words_per_ns = 8.0 * machine.hbm.sustained_gb_per_s() / f64::from(machine.isa.word_bits);
        let share = words_per_ns / ghz / accesses_per_cycle(machine) as f64;
        Self {
            machine,
            ghz,
            left_beside_channel: (1.0 - share).max(0.0),
            memory: Memory::new(vdm, machine.instruction_set(), items, records.events),
            uses,
            link: Link::new(machine, records),
            generator: Channel::at(machine.generator_gb_per_s(ghz)),
            expanded: 0,
            programs: FxHashMap::default(),
            instructions: 0,
            overhead: Time::from_ns(f64::from(machine.launch.cycles) / ghz),
            computed: Time::ZERO,
            parameters: VecDeque::new(),
            parameters_gone: Time::ZERO,
            parameter_bytes: [0; 2],
            begun: Time::ZERO,
            set: Time::ZERO,
            compute: Time::ZERO,
            out: Timeline::default(),
            record: records.record,
        }
    }

    /// Runs a launch, the next in order. Returns its time.
    ///
    /// # Errors
    /// Returns an error if it does not fit the VDM.
    pub(crate) fn launch(&mut self, index: u32, task: &Task<'_>) -> Result<Span, TooLarge> {
        self.memory.launch = index;
        let (computed, compute) = (self.computed, self.compute);
        self.link.open(index);
        let interval = match task.kernel {
            Some((kernel, program, bytes)) => {
                let interval = match kernel.slices {
                    Some(slices) => self.stream(task, &kernel, slices, (program, bytes))?,
                    None => self.run(task, &kernel, (program, bytes))?,
                };
                if let Some(program) = self.programs.get_mut(&program) {
                    program.idle = interval.end;
                }
                interval
            }
            None => self.gather(task)?,
        };
        if let Some(account) = self.link.accounts.as_mut().and_then(|accounts| accounts.last_mut()) {
            (account.time_ps, account.busy_ps) = ((self.computed - computed).0, (self.compute - compute).0);
        }
        if self.record {
            self.out.runs.push(Run { launch: index, span: interval.into(), vdm_words: self.memory.used() });
        }
        Ok(interval.into())
    }

    /// A kernel that works on whole operands.
    fn run(
        &mut self,
        task: &Task<'_>,
        kernel: &Facts,
        fetched: (ProgramId, Parameters),
    ) -> Result<Interval, TooLarge> {
        let sources = &task.operands[..task.sources];
        // A result takes over the space of its operand if nothing reads that again.
        let in_place = kernel.may_work_in_place && sources.len() == task.results.len();
        let is_replaced = |&item: &ItemId| in_place && self.uses.ahead(item, 1) == NextUse::MAX;
        let replaced: Vec<Option<ItemId>> =
            sources.iter().map(|item| Some(*item).filter(is_replaced)).collect();
        let scratch = self.memory.pages(kernel.scratch_words);
        let of_replaced = replaced.iter().flatten().map(|&item| self.memory.item_pages(item)).sum::<u64>();
        let pages = self.pages(task.results) - of_replaced + scratch;
        let too_large = self.too_large(kernel.name, self.pages(task.operands) + pages);
        self.pin(task.operands);
        let mut ready = Time::ZERO;
        for &item in task.operands {
            if !self.memory.item(item).is_resident {
                let pages = self.memory.item_pages(item);
                let (free, space) = self.take(pages).map_err(|Full| too_large)?;
                self.memory.put(item, space);
                self.load(item, free);
            }
            ready = ready.max(self.memory.item(item).ready);
        }
        let (free, mut space) = self.take(pages).map_err(|Full| too_large)?;
        ready = ready.max(free);
        for &item in replaced.iter().flatten() {
            ready = ready.max(self.memory.item(item).idle).max(self.saved(item));
        }
        if kernel.overwrites_operand {
            for &item in sources {
                if self.uses.ahead(item, 1) < NextUse::MAX {
                    self.memory.save_item(item, Kind::Spills);
                }
                ready = ready.max(self.saved(item));
            }
        }
        ready = ready.max(self.fetch(kernel, fetched, 0));
        let interval = self.compute(kernel, ready);
        let scratch = space.split(scratch);
        let operands = self.link.events.is_some().then(|| self.extents(task.operands));
        for (place, &result) in task.results.iter().enumerate() {
            let own = match replaced.get(place).copied().flatten() {
                Some(item) => self.memory.take_space_of(item),
                None => space.split(self.memory.item_pages(result)),
            };
            self.memory.put(result, own);
        }
        let memory = &self.memory;
        self.link.record(interval, || Action::Run {
            launch: memory.launch,
            operands: operands.unwrap_or_default(),
            results: extents(memory, task.results),
            scratch: scratch.numbers.clone(),
        });
        self.give_back(scratch, interval.end);
        replaced.iter().flatten().for_each(|&item| self.memory.item_mut(item).is_resident = false);
        for (place, &item) in task.operands.iter().enumerate() {
            let is_lost = kernel.overwrites_operand && place < task.sources;
            self.release(item, interval.end, is_lost);
        }
        self.finish_results(task.results, interval.end);
        Ok(interval)
    }

    /// A movement of words by the channel: each comes in a burst.
    fn gather(&mut self, task: &Task<'_>) -> Result<Interval, TooLarge> {
        let (words, pages) = (self.words(task.results), self.pages(task.results));
        let too_large = self.too_large("permute", pages);
        self.pin(task.operands);
        let (free, mut space) = self.take(pages).map_err(|Full| too_large)?;
        for &item in task.results {
            let own = space.split(self.memory.item_pages(item));
            self.memory.put(item, own);
        }
        let mut ready = self.computed.max(free);
        for &item in task.operands {
            self.memory.save_item(item, Kind::Permutations);
            ready = ready.max(self.saved(item));
        }
        let bytes = words * self.bytes(1).max(BURST_BYTES);
        let interval = self.transfer(Kind::Permutations, bytes, ready, Direction::Read);
        let memory = &self.memory;
        for &item in task.results {
            let result = || memory.extent(item, 0, memory.item(item).words.into());
            self.link.record(interval, || Action::Gather { launch: memory.launch, result: result() });
        }
        self.bind(Resource::Hbm, self.computed, interval.end);
        self.computed = interval.end;
        task.operands.iter().for_each(|&item| self.memory.loaded(item, interval.end));
        task.operands.iter().for_each(|&item| self.release(item, interval.end, false));
        self.finish_results(task.results, interval.end);
        Ok(interval)
    }

    /// Keeps operands in the VDM.
    fn pin(&mut self, operands: &[ItemId]) {
        operands.iter().for_each(|&item| self.memory.pin(item, self.uses.next(item)));
    }

    /// Ends the use of an operand. `is_lost` if the launch has overwritten its words.
    pub(super) fn release(&mut self, item: ItemId, end: Time, is_lost: bool) {
        self.uses.advance(item);
        let next = self.uses.next(item);
        let state = self.memory.item_mut(item);
        state.idle = state.idle.max(end);
        if state.is_resident {
            if next == NextUse::MAX || is_lost {
                self.leave(item);
            } else {
                self.memory.unpin(item, next);
            }
        }
    }

    /// Results are in the VDM from `end` on.
    pub(super) fn finish_results(&mut self, results: &[ItemId], end: Time) {
        for &item in results {
            let state = self.memory.item_mut(item);
            (state.is_resident, state.ready, state.idle) = (true, end, end);
            if state.is_output {
                self.memory.save_item(item, Kind::Outputs);
            }
            match self.uses.next(item) {
                NextUse::MAX => self.leave(item),
                next => self.memory.unpin(item, next),
            }
        }
    }

    /// The shortest time of a launch of a kernel.
    pub(super) fn least(&self, kernel: &Facts) -> Time {
        let runs = kernel.slices.map_or(1, |(_, runs)| runs);
        let run = self.overhead + Time::from_ns(kernel.cycles as f64 / self.ghz);
        Time(run.0.saturating_mul(runs.into()))
    }

    /// A run of a kernel for which all is there from `ready` on.
    pub(super) fn compute(&mut self, kernel: &Facts, ready: Time) -> Interval {
        let begin = self.computed.max(ready);
        let fetch = begin.max(self.set) + self.overhead;
        let cycles = kernel.cycles.max(self.bank_cycles(kernel));
        let after = |cycles: u64| fetch + Time::from_ns(cycles as f64 / self.ghz);
        let (own, end) = (after(kernel.cycles), after(cycles));
        self.bind(Resource::Hbm, self.computed, begin);
        self.bind(Resource::Launch, begin, fetch);
        self.bind(kernel.resource, fetch, own);
        self.bind(Resource::Banks, own, end);
        (self.computed, self.begun) = (end, fetch);
        let [in_sdm, own] = self.parameter_bytes;
        self.parameter_bytes[0] = in_sdm + own;
        self.parameters.push_back((own, end));
        self.compute += end - begin;
        Interval { begin, end }
    }

    /// The cycles in which the banks of the VDM serve the accesses of a run and the transfers planned since
    /// the run before.
    fn bank_cycles(&mut self, kernel: &Facts) -> u64 {
        let machine = self.machine;
        let words = (8 * std::mem::take(&mut self.link.moved)).div_ceil(machine.isa.word_bits.into());
        let with_words = kernel.bank_cycles + words.div_ceil(accesses_per_cycle(machine));
        let while_busy = (kernel.bank_cycles as f64 / self.left_beside_channel).ceil();
        if with_words as f64 > while_busy { while_busy as u64 } else { with_words }
    }

    /// Fetches the parameters of a run, and the program with those of the first one. They take the
    /// place of the oldest ones in the SDM. Returns the time from which they are there.
    pub(super) fn fetch(
        &mut self,
        kernel: &Facts,
        (id, parameters): (ProgramId, Parameters),
        run: u32,
    ) -> Time {
        let words = parameters.run + if run == 0 { parameters.launch } else { 0 };
        let mut bytes = LAUNCH_WORD_BYTES * words;
        self.parameter_bytes[1] = bytes;
        while self.parameter_bytes[0] + bytes > u64::from(self.machine.sdm.size_kib) << 10 {
            let Some((oldest, end)) = self.parameters.pop_front() else { break };
            self.parameter_bytes[0] -= oldest;
            self.parameters_gone = end;
        }
        let mut ready = self.parameters_gone;
        let with_program = !self.programs.contains_key(&id);
        match self.programs.get(&id) {
            Some(program) => ready = ready.max(program.ready),
            None => {
                bytes += INSTRUCTION_BYTES * kernel.instructions;
                while self.instructions + kernel.instructions > self.machine.instruction_capacity() as u64 {
                    let oldest = self.programs.iter().min_by_key(|&(&id, program)| (program.idle, id));
                    let Some((&oldest, &program)) = oldest else { break };
                    self.programs.remove(&oldest);
                    self.instructions -= program.instructions;
                    ready = ready.max(program.idle);
                }
                self.instructions += kernel.instructions;
            }
        }
        let interval = self.transfer(Kind::Programs, bytes, ready, Direction::Read);
        let launch = self.memory.launch;
        self.link.record(interval, || Action::Fetch { launch, with_program });
        let end = interval.end;
        let fetched = Fetched { instructions: kernel.instructions, ready: end, idle: end };
        self.programs.entry(id).or_insert(fetched);
        self.set = end.max(self.begun) + Time::from_ns(words as f64 / self.ghz);
        end
    }

    /// Moves a whole item into the VDM, whose space is free from `space` on.
    pub(super) fn load(&mut self, item: ItemId, space: Time) {
        let ready = space.max(self.saved(item));
        let Item { kind, halves, .. } = *self.memory.item(item);
        let extents = if self.memory.records() { self.extents(&[item]) } else { Vec::new() };
        let end = self.bring((kind, halves), self.memory.bytes(item), ready, || extents);
        self.memory.loaded(item, end);
        let item = self.memory.item_mut(item);
        (item.is_resident, item.ready) = (true, end);
    }

    /// The time from which the off-chip memory has an item; its save is planned now if it waits. Zero if
    /// there is no save.
    pub(super) fn saved(&mut self, item: ItemId) -> Time {
        match self.memory.item(item).saved {
            Saved::No | Saved::Always => Time::ZERO,
            Saved::By(save) => self.memory.end_of(save, |save| self.link.save(save)),
        }
    }

    /// A transfer of the launch in progress.
    fn transfer(&mut self, kind: Kind, bytes: u64, ready: Time, direction: Direction) -> Interval {
        self.link.transfer(self.memory.launch, (kind, bytes), ready, direction)
    }

    /// Brings bytes of which the channel has so many halves, and the generator the rest. Returns their
    /// arrival.
    pub(super) fn bring(
        &mut self,
        (kind, halves): (Kind, u8),
        bytes: u64,
        ready: Time,
        extents: impl FnOnce() -> Vec<Extent>,
    ) -> Time {
        let transferred = bytes * u64::from(halves) / 2;
        let moved = self.transfer(kind, transferred, ready, Direction::Read);
        self.expanded += bytes - transferred;
        if let Some(account) = self.link.accounts.as_mut().and_then(|accounts| accounts.last_mut()) {
            account.expanded_bytes += bytes - transferred;
        }
        let made = self.generator.transfer(bytes - transferred, ready, Direction::Read);
        // A part of no bytes takes place when it is ready.
        let begin = match (transferred, bytes - transferred) {
            (0, _) => made.begin,
            (_, 0) => moved.begin,
            _ => moved.begin.min(made.begin),
        };
        let end = moved.end.max(made.end);
        self.link.record(Interval { begin, end }, || Action::Load(extents()));
        end
    }

    /// Stores bytes. Returns the time of the transfer.
    pub(super) fn store_bytes(
        &mut self,
        kind: Kind,
        bytes: u64,
        ready: Time,
        extents: impl FnOnce() -> Vec<Extent>,
    ) -> Interval {
        let interval = self.transfer(kind, bytes, ready, Direction::Write);
        self.link.record(interval, || Action::Store(extents()));
        interval
    }

    /// Records an action.
    pub(super) fn record(&mut self, interval: Interval, action: Action) {
        self.link.record(interval, || action);
    }

    /// The whole items in the VDM.
    fn extents(&self, items: &[ItemId]) -> Vec<Extent> {
        extents(&self.memory, items)
    }

    /// Takes so many pages.
    pub(super) fn take(&mut self, pages: u64) -> Result<(Time, Space), Full> {
        let hbm = &self.machine.hbm;
        self.memory.take(pages, |bytes| least(hbm, bytes), |save| self.link.save(save))
    }

    /// Moves out an item that is not evictable.
    pub(super) fn evict(&mut self, item: ItemId) {
        let hbm = &self.machine.hbm;
        self.memory.evict(item, |bytes| least(hbm, bytes));
    }

    fn leave(&mut self, item: ItemId) {
        let hbm = &self.machine.hbm;
        self.memory.leave(item, |bytes| least(hbm, bytes));
    }

    /// Returns space that is free from `free` on.
    pub(super) fn give_back(&mut self, space: Space, free: Time) {
        let hbm = &self.machine.hbm;
        self.memory.give_back(space, free, None, |bytes| least(hbm, bytes));
    }

    /// Lets results wait for the save of their last slices, which are in a space. Those of the first ones
    /// began at `begin`.
    pub(super) fn save_last(
        &mut self,
        results: &[ItemId],
        (kind, bytes): (Kind, u64),
        (space, extents): (Space, Vec<Extent>),
        (begin, end): (Option<Time>, Time),
    ) {
        let hbm = &self.machine.hbm;
        let save = self.memory.add_save((kind, bytes), end, begin, extents);
        self.memory.give_back(space, end, Some(save), |bytes| least(hbm, bytes));
        results.iter().for_each(|&item| self.memory.mark_saved(item, save));
    }

    fn words(&self, items: &[ItemId]) -> u64 {
        items.iter().map(|&item| u64::from(self.memory.item(item).words)).sum()
    }

    fn pages(&self, items: &[ItemId]) -> u64 {
        items.iter().map(|&item| self.memory.item_pages(item)).sum()
    }

    pub(super) fn bytes(&self, words: u64) -> u64 {
        self.machine.instruction_set().bytes(words)
    }

    /// The error of a launch that needs so many pages at once.
    pub(super) fn too_large(&self, kernel: &'static str, pages: u64) -> TooLarge {
        let needed = pages * self.memory.page_words();
        TooLarge { kernel, needed, capacity: self.memory.capacity(), isa: self.machine.instruction_set() }
    }

    fn bind(&mut self, resource: Resource, begin: Time, end: Time) {
        if end > begin {
            self.out.binds.until(resource, end);
        }
    }

    /// Plans the saves that nothing waits for. Returns all times, and the items.
    pub(crate) fn finish(mut self) -> (Timeline, Vec<Item>) {
        for save in self.memory.saves() {
            self.memory.end_of(save, |save| self.link.save(save));
        }
        let total = self.link.end.max(self.computed);
        self.bind(Resource::Hbm, self.computed, total);
        let (saved_words, launch) = self.memory.saved_peak();
        (self.out.hbm.saved_bytes, self.out.hbm.launch) = (self.bytes(saved_words), launch);
        let mut accounts = self.link.accounts.unwrap_or_default();
        if let Some(account) = accounts.get_mut(self.link.last as usize) {
            account.time_ps += (total - self.computed).0;
        }
        let timeline = Timeline {
            total_ns: total.ns(),
            compute_ns: self.compute.ns(),
            channel_ns: self.link.channel.busy().ns(),
            traffic: self.link.traffic,
            peak_vdm_words: self.memory.peak(),
            accounts,
            expanded_bytes: (self.expanded > 0).then_some(self.expanded),
            is_too_long: total == Time::MAX,
            transfers: self.link.transfers.unwrap_or_default(),
            events: self.link.events.unwrap_or_default(),
            ..self.out
        };
        (timeline, self.memory.items)
    }
}

/// Whole items in the VDM.
fn extents(memory: &Memory, items: &[ItemId]) -> Vec<Extent> {
    items.iter().map(|&item| memory.extent(item, 0, memory.item(item).words.into())).collect()
}
