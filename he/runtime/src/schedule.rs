//! Timing: when each launch and each transfer takes place.
//!
//! The RPU runs one kernel at a time, in the order of the launches. One channel carries all transfers
//! ([`sim::hbm`]). These rules apply:
//!
//! * A launch begins when the launch before has ended, its operands, its tables and its program are in
//!   the memories of the RPU, and there is space for its results and its scratch words.
//! * A kernel that reads all of its operand before it writes its result works in place, if nothing reads the operand
//!   again.
//! * The VDM holds limbs and tables of factors. If space is short, the item whose next use is farthest
//!   makes room; it is saved first if the off-chip memory lacks it.
//! * Transfers are planned: one begins as soon as its words and its space are there and the channel has
//!   a gap, however early. They thus overlap with kernels as far as space allows.
//! * An elementwise launch runs slice by slice. A limb that the VDM does not keep for a nearer use than
//!   those of the others streams through two slices: the transfers of a slice overlap with the run of the
//!   one before. Results take the space of operands that die.
//! * An output is saved when it is complete. An item that nothing reads again leaves at once.
//! * The instruction memory keeps the programs that were used last. A launch also fetches its moduli,
//!   scalars and addresses, [`LAUNCH_WORD_BYTES`] bytes each, with the traffic of programs.
//! * A movement of words is a gather by the channel: the limb is saved, and each word comes back in a
//!   burst of [`BURST_BYTES`].
//! * The off-chip memory has a place for inputs, outputs, tables and programs during the whole program, and one for
//!   each other limb from the launch that saves it to the last that reads it.

mod home;
mod stream;
mod timeline;
mod uses;

pub use self::home::{HbmUse, Home};
pub use self::timeline::{Cost, Resource, Run, Timeline, Transfer};
use self::uses::Uses;

use crate::channel::Channel;
use crate::flow::{Flow, ValueId};
use crate::kernels::{Batch, Kernels, RingParameters, Timed};
use crate::lift::{Launch, Launches, Work};
use crate::place::{Full, Item, ItemId, Memory, NextUse};
use crate::traffic::{Keys, Kind, Sources};
use ring_program::RingProgram;
use rustc_hash::FxHashMap;
use sim::Machine;
use sim::hbm::Span;

/// The bytes of a modulus, a scalar or an address of a launch.
pub const LAUNCH_WORD_BYTES: u64 = 16;

/// The bytes of the smallest transfer, a burst of HBM2.
pub const BURST_BYTES: u64 = 32;

/// The bytes of an instruction.
const INSTRUCTION_BYTES: u64 = 8;

/// A program that does not fit the VDM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a launch of `{kernel}` needs {needed} words of the VDM at once, but the machine has {capacity}; \
     set `vdm.size_mib` to {} or more", (needed * word_bytes).div_ceil(1 << 20)
)]
pub struct TooLarge {
    /// The name of the kernel.
    pub kernel: &'static str,
    /// The words that it needs.
    pub needed: u64,
    /// The words of the VDM.
    pub capacity: u64,
    /// The bytes of a word.
    pub word_bytes: u64,
}

/// What is timed.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The program.
    pub program: &'a RingProgram,
    /// Its dataflow.
    pub flow: &'a Flow,
    /// Its launches.
    pub launches: &'a Launches,
    /// Its kernels.
    pub kernels: &'a Kernels,
    /// The machine.
    pub machine: &'a Machine,
    /// The origin of keys.
    pub keys: Keys,
    /// Whether to record all launches and transfers.
    pub record: bool,
}

impl Plan<'_> {
    /// Times the program. The off-chip memory may be too small for it: see [`Timeline::hbm`].
    ///
    /// # Errors
    /// Returns an error if a launch does not fit the VDM.
    pub fn timeline(&self) -> Result<Timeline, TooLarge> {
        let mut schedule = Schedule::new(self);
        for (index, launch) in self.launches.launches.iter().enumerate() {
            schedule.launch(index as u32, launch)?;
            schedule.note_saved(index as u32);
        }
        Ok(schedule.finish())
    }

    /// The kernel of a launch; none for movements of words.
    fn kernel(&self, launch: &Launch) -> Option<&Timed> {
        match launch.work {
            Work::Elementwise(shape) => Some(self.kernels.elementwise(shape)),
            Work::Operation(_) => self.launches.batch(launch).map(|batch| self.kernels.operation(batch)),
            Work::Permute(_) => None,
        }
    }
}

/// A program of the instruction memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum ProgramId {
    Elementwise(u32),
    Operation(Batch),
}

/// A program in the instruction memory.
#[derive(Clone, Copy, Debug)]
struct Fetched {
    instructions: usize,
    ready_ns: f64,
    idle_ns: f64,
}

/// The items of tables, by operation and ring.
type Tables = FxHashMap<(Batch, RingParameters), ItemId>;

struct Schedule<'a> {
    plan: &'a Plan<'a>,
    sources: Sources,
    memory: Memory,
    channel: Channel<'a>,
    programs: FxHashMap<ProgramId, Fetched>,
    instructions: usize,
    tables: Tables,
    /// For each item, the launches that use it, and the number of them that are past.
    uses: Uses,
    is_output: Vec<bool>,
    /// The end of the last kernel.
    computed_ns: f64,
    out: Timeline,
}

impl<'a> Schedule<'a> {
    fn new(plan: &'a Plan<'a>) -> Self {
        let n = plan.program.degree().get() as u32;
        let sources = Sources::of(plan.program, plan.flow, plan.keys);
        let mut items = vec![Item { words: n, ..Item::default() }; plan.flow.values];
        let inputs = plan.flow.inputs.iter().map(|&(_, value)| value);
        for value in inputs.chain([ValueId::ZERO]) {
            (items[value.index()].is_saved, items[value.index()].has_home) = (true, true);
        }
        plan.flow.outputs.iter().flatten().for_each(|value| items[value.index()].has_home = true);
        let tables = tables(plan, &mut items);
        let pairs = (0..).zip(&plan.launches.launches).flat_map(|(index, launch)| {
            let sources = plan.launches.sources(launch).iter().map(|value| ItemId(value.0));
            sources.chain(tables_of(plan, &tables, launch)).map(move |item| (item, index))
        });
        let uses = Uses::of(items.len(), pairs);
        let mut is_output = vec![false; plan.flow.values];
        plan.flow.outputs.iter().flatten().for_each(|value| is_output[value.index()] = true);
        Self {
            plan,
            sources,
            memory: Memory::new(plan.machine.vdm_words().into(), items),
            channel: Channel::new(&plan.machine.hbm),
            programs: FxHashMap::default(),
            instructions: 0,
            tables,
            uses,
            is_output,
            computed_ns: 0.0,
            out: Timeline::default(),
        }
    }

    fn launch(&mut self, index: u32, launch: &Launch) -> Result<(), TooLarge> {
        let kernel = self.plan.kernel(launch);
        if let (Some(kernel), Work::Elementwise(_)) = (kernel, launch.work) {
            return self.stream(index, launch, kernel);
        }
        let operands = self.operands(launch);
        let replaced = self.replaced(launch, kernel);
        let ready_ns = self.place(&operands, &replaced, launch, kernel)?;
        match kernel {
            Some(kernel) => self.run(index, launch, &replaced, kernel, ready_ns),
            None => self.gather(index, launch, ready_ns),
        }
        Ok(())
    }

    /// The sources and the table of a launch that the VDM must hold.
    fn operands(&self, launch: &Launch) -> Vec<ItemId> {
        let launches = self.plan.launches;
        let sources = launches.sources(launch).iter();
        let sources = sources.filter(|value| !self.sources.is_on_chip(**value)).map(|value| ItemId(value.0));
        sources.chain(tables_of(self.plan, &self.tables, launch)).collect()
    }

    /// The operands of a launch whose memory its results take over: nothing reads them again.
    fn replaced(&self, launch: &Launch, kernel: Option<&Timed>) -> Vec<ItemId> {
        let sources =
            self.plan.launches.sources(launch).iter().filter(|value| !self.sources.is_on_chip(**value));
        let in_place = sources
            .map(|value| ItemId(value.0))
            .filter(|_| kernel.is_some_and(|kernel| kernel.may_work_in_place));
        in_place.filter(|&item| self.uses.ahead(item, 1) == NextUse::MAX).collect()
    }

    /// Brings the operands of a launch into the VDM and takes space for its results, except for those that take over
    /// the space of `replaced` operands. Returns the time from which all is there.
    fn place(
        &mut self,
        operands: &[ItemId],
        replaced: &[ItemId],
        launch: &Launch,
        kernel: Option<&Timed>,
    ) -> Result<f64, TooLarge> {
        let n = self.plan.program.degree().get();
        let results = (self.plan.launches.results(launch).len() - replaced.len()) as u64;
        let scratch = kernel.map_or(0, |kernel| kernel.scratch_words);
        let too_large = |memory: &Memory| TooLarge {
            kernel: kernel.map_or("permute", |kernel| kernel.name),
            needed: operands.iter().map(|&item| u64::from(memory.item(item).words)).sum::<u64>()
                + results * n
                + scratch,
            capacity: self.plan.machine.vdm_words().into(),
            word_bytes: self.plan.machine.instruction_set().word_bytes().into(),
        };
        for &item in operands {
            self.memory.pin(item, self.uses.next(item));
        }
        let mut ready_ns = 0.0_f64;
        // A gather reads the off-chip memory.
        let in_vdm = if kernel.is_some() { operands } else { &[] };
        for &item in in_vdm {
            if !self.memory.item(item).is_resident {
                let space_ns = self.take(self.memory.item(item).words.into());
                let space_ns = space_ns.map_err(|Full| too_large(&self.memory))?;
                self.load(item, space_ns);
            }
            ready_ns = ready_ns.max(self.memory.item(item).ready_ns);
        }
        let space_ns = self.take(results * n + scratch).map_err(|Full| too_large(&self.memory))?;
        // An output is saved before a result replaces it.
        let idle_ns = replaced.iter().map(|&item| self.memory.item(item).idle_ns).fold(0.0, f64::max);
        Ok(ready_ns.max(space_ns).max(idle_ns))
    }

    fn take(&mut self, words: u64) -> Result<f64, Full> {
        let Self { memory, channel, out, plan, .. } = self;
        memory.take(words, |_, item| spill(channel, out, plan, item))
    }

    /// Moves out an item that is not evictable.
    fn evict(&mut self, item: ItemId) {
        let Self { memory, channel, out, plan, .. } = self;
        memory.evict(item, |_, item| spill(channel, out, plan, item));
    }

    fn transfer(&mut self, kind: Kind, bytes: u64, ready_ns: f64) -> Span {
        record(&mut self.channel, &mut self.out, self.plan, kind, bytes, ready_ns)
    }

    fn bytes(&self, item: ItemId) -> u64 {
        u64::from(self.memory.item(item).words) * u64::from(self.plan.machine.instruction_set().word_bytes())
    }

    fn load(&mut self, item: ItemId, space_ns: f64) {
        let (kind, share) = match (item.0 as usize) < self.plan.flow.values {
            true => self.sources.load(ValueId(item.0)),
            false => (Kind::Tables, 1.0),
        };
        let bytes = (self.bytes(item) as f64 * share).round() as u64;
        // A spilled limb is complete before it is loaded again.
        let ready_ns = space_ns.max(self.memory.item(item).ready_ns);
        let span = self.transfer(kind, bytes, ready_ns);
        let item = self.memory.item_mut(item);
        (item.is_resident, item.ready_ns) = (true, span.end_ns);
    }

    /// Saves an item that the off-chip memory lacks. Returns the end of the transfer.
    fn save(&mut self, item: ItemId, kind: Kind) -> f64 {
        let end_ns = self.transfer(kind, self.bytes(item), self.memory.item(item).ready_ns).end_ns;
        self.memory.mark_saved(item);
        end_ns
    }

    fn run(&mut self, index: u32, launch: &Launch, replaced: &[ItemId], kernel: &Timed, ready_ns: f64) {
        let program_ns = self.fetch(launch, kernel);
        let Span { begin_ns, end_ns } = self.compute(kernel, ready_ns.max(program_ns));
        self.end_launch(index, launch, kernel, begin_ns);
        self.memory.give_back(kernel.scratch_words, end_ns);
        replaced.iter().for_each(|&item| self.memory.item_mut(item).is_resident = false);
        self.release(launch, kernel.overwrites_operand, end_ns);
        self.finish_results(launch, end_ns);
    }

    /// A run of a kernel whose operands are there from `ready_ns` on.
    fn compute(&mut self, kernel: &Timed, ready_ns: f64) -> Span {
        let begin_ns = self.computed_ns.max(ready_ns);
        let end_ns = begin_ns + kernel.run_ns(self.plan.machine);
        self.bind(Resource::Hbm, self.computed_ns, begin_ns);
        self.bind(Resource::of(kernel), begin_ns, end_ns);
        (self.computed_ns, self.out.compute_ns) = (end_ns, self.out.compute_ns + end_ns - begin_ns);
        Span { begin_ns, end_ns }
    }

    /// Records a launch whose last run has ended.
    fn end_launch(&mut self, index: u32, launch: &Launch, kernel: &Timed, begin_ns: f64) {
        let end_ns = self.computed_ns;
        if let Some(program) = self.programs.get_mut(&program_of(self.plan.launches, launch)) {
            program.idle_ns = end_ns;
        }
        let machine = self.plan.machine;
        let times_ns = [kernel.launch_ns(machine), kernel.launch_bound_ns(machine)];
        self.charge(launch, kernel.name, times_ns, kernel.launch_energy_uj());
        self.log(index, Span { begin_ns, end_ns });
    }

    /// A movement of words by the channel.
    fn gather(&mut self, index: u32, launch: &Launch, space_ns: f64) {
        let mut ready_ns = space_ns;
        for &value in self.plan.launches.sources(launch) {
            let item = ItemId(value.0);
            let saved_ns = match self.memory.item(item).is_saved {
                true => self.memory.item(item).ready_ns,
                false => self.save(item, Kind::Permutations),
            };
            ready_ns = ready_ns.max(saved_ns);
        }
        let word_bytes = u64::from(self.plan.machine.instruction_set().word_bytes());
        let bytes = self.plan.program.degree().get() * word_bytes.max(BURST_BYTES);
        let span = self.transfer(Kind::Permutations, bytes, ready_ns);
        self.charge(launch, "permute", [span.end_ns - span.begin_ns; 2], 0.0);
        self.log(index, span);
        self.release(launch, false, span.begin_ns);
        self.finish_results(launch, span.end_ns);
    }

    /// Ends the use of a launch's sources and table.
    fn release(&mut self, launch: &Launch, overwrites: bool, end_ns: f64) {
        let operands = self.operands(launch);
        let sources = self.plan.launches.sources(launch).len();
        for (place, item) in operands.into_iter().enumerate() {
            self.uses.advance(item);
            let next = self.uses.next(item);
            let destroyed = overwrites && place < sources;
            if destroyed && next < NextUse::MAX && !self.memory.item(item).is_saved {
                self.save(item, Kind::Spills);
            }
            if next == NextUse::MAX {
                self.memory.forget(item);
            }
            let state = self.memory.item_mut(item);
            state.idle_ns = end_ns;
            if !state.is_resident {
                continue;
            }
            if next == NextUse::MAX || destroyed {
                self.memory.drop_item(item, end_ns);
            } else {
                self.memory.unpin(item, next);
            }
        }
    }

    /// The results are in the VDM from `end_ns` on.
    fn finish_results(&mut self, launch: &Launch, end_ns: f64) {
        for &value in self.plan.launches.results(launch) {
            self.finish_result(value, end_ns);
        }
    }

    fn finish_result(&mut self, value: ValueId, end_ns: f64) {
        let item = ItemId(value.0);
        let state = self.memory.item_mut(item);
        (state.is_resident, state.ready_ns, state.idle_ns) = (true, end_ns, end_ns);
        let mut free_ns = end_ns;
        if self.is_output[value.index()] {
            free_ns = self.save(item, Kind::Outputs);
            self.memory.item_mut(item).idle_ns = free_ns;
        }
        match self.uses.next(item) {
            NextUse::MAX => self.memory.drop_item(item, free_ns),
            next => self.memory.unpin(item, next),
        }
    }

    /// Fetches the program and the parameters of a launch. Returns the time from which they are there.
    fn fetch(&mut self, launch: &Launch, kernel: &Timed) -> f64 {
        let mut bytes = home::parameter_bytes(self.plan, launch, kernel);
        let (id, instructions) = (program_of(self.plan.launches, launch), kernel.instructions);
        let mut ready_ns = 0.0;
        match self.programs.get(&id) {
            Some(program) => ready_ns = program.ready_ns,
            None => {
                bytes += INSTRUCTION_BYTES * instructions as u64;
                while self.instructions + instructions > self.plan.machine.instruction_capacity() {
                    let oldest = self.programs.iter().min_by(|a, b| a.1.idle_ns.total_cmp(&b.1.idle_ns));
                    let Some((&oldest, &program)) = oldest else { break };
                    self.programs.remove(&oldest);
                    self.instructions -= program.instructions;
                    ready_ns = program.idle_ns.max(ready_ns);
                }
                self.instructions += instructions;
            }
        }
        let end_ns = self.transfer(Kind::Programs, bytes, ready_ns).end_ns;
        let fetched = Fetched { instructions, ready_ns: end_ns, idle_ns: end_ns };
        self.programs.entry(id).or_insert(fetched);
        end_ns
    }

    fn bind(&mut self, resource: Resource, begin_ns: f64, end_ns: f64) {
        if end_ns <= begin_ns {
            return;
        }
        match self.out.binds.last_mut() {
            Some((last, span)) if *last == resource => span.end_ns = end_ns,
            _ => self.out.binds.push((resource, Span { begin_ns, end_ns })),
        }
    }

    fn charge(&mut self, launch: &Launch, name: &'static str, [time_ns, bound_ns]: [f64; 2], energy_uj: f64) {
        let costs = &mut self.out.costs;
        let place = costs.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            costs.push((name, Cost::default()));
            costs.len() - 1
        });
        let cost = &mut costs[place].1;
        cost.launches += 1;
        cost.lines += u64::from(launch.lines);
        cost.time_ns += time_ns;
        cost.bound_ns += bound_ns;
        cost.energy_uj += energy_uj;
    }

    fn log(&mut self, launch: u32, span: Span) {
        if self.plan.record {
            self.out.runs.push(Run { launch, span, vdm_words: self.memory.used() });
        }
    }

    fn finish(mut self) -> Timeline {
        self.out.hbm.homes = self.homes();
        let total_ns = self.out.total_ns.max(self.computed_ns);
        self.bind(Resource::Hbm, self.computed_ns, total_ns);
        let (channel_ns, peak_vdm_words) = (self.channel.busy_ns(), self.memory.peak());
        Timeline { total_ns, channel_ns, peak_vdm_words, ..self.out }
    }
}

/// Saves an item. Returns the end of the transfer.
fn spill(channel: &mut Channel<'_>, out: &mut Timeline, plan: &Plan<'_>, item: &Item) -> f64 {
    let bytes = u64::from(item.words) * u64::from(plan.machine.instruction_set().word_bytes());
    record(channel, out, plan, Kind::Spills, bytes, item.ready_ns).end_ns
}

/// Transfers bytes and charges them.
fn record(
    channel: &mut Channel<'_>,
    out: &mut Timeline,
    plan: &Plan<'_>,
    kind: Kind,
    bytes: u64,
    ready_ns: f64,
) -> Span {
    let span = channel.transfer(bytes, ready_ns);
    out.traffic[kind] += bytes;
    out.total_ns = out.total_ns.max(span.end_ns);
    if plan.record && bytes > 0 {
        out.transfers.push(Transfer { kind, bytes, span });
    }
    span
}

fn program_of(launches: &Launches, launch: &Launch) -> ProgramId {
    match launch.work {
        Work::Elementwise(shape) => ProgramId::Elementwise(shape.index() as u32),
        Work::Operation(operation) => {
            ProgramId::Operation(Batch { operation, rings: launches.moduli(launch).len() as u16 })
        }
        Work::Permute(_) => unreachable!("a movement of words has no program"),
    }
}

/// The items of the tables of all operations, which it appends. The limbs of a launch have a table each.
fn tables(plan: &Plan<'_>, items: &mut Vec<Item>) -> Tables {
    let mut tables = FxHashMap::default();
    for launch in &plan.launches.launches {
        let Some(batch) = plan.launches.batch(launch) else { continue };
        let words = plan.kernels.operation(batch).table_words.div_ceil(batch.rings.into());
        if words == 0 {
            continue;
        }
        for ring in plan.launches.rings(plan.program, launch) {
            tables.entry((batch, ring)).or_insert_with(|| {
                items.push(Item { words, is_saved: true, has_home: true, ..Item::default() });
                ItemId(items.len() as u32 - 1)
            });
        }
    }
    tables
}

/// The tables of a launch.
fn tables_of(plan: &Plan<'_>, tables: &Tables, launch: &Launch) -> Vec<ItemId> {
    let Some(batch) = plan.launches.batch(launch) else { return Vec::new() };
    let rings = plan.launches.rings(plan.program, launch);
    rings.into_iter().filter_map(|ring| tables.get(&(batch, ring)).copied()).collect()
}
