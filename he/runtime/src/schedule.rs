//! The schedule of ring programs: when each launch and each transfer takes place.
//!
//! This text is the specification. The runtime implements it, and slow models in the tests, written from this
//! text, do too: one from lines to launches, one from launches to times. They agree on every launch, every transfer and every word.
//!
//! The schedule is planned before the run, one launch after the other, in an order that is given below. Times are
//! whole picoseconds from the beginning of the program. A duration is rounded up: the bytes of a transfer over `hbm.gb_per_s *
//! hbm.efficiency / hbm.shared_by`, both turns of a write, a latency, the cycles of a run over the clock, the cycles of a launch over
//! the clock.
//!
//! # Items
//!
//! An *item* is a limb of n words (an input, zero, or the result of a line), or the table of an operation in a ring: an
//! operation with its exponent, a modulus and a root of unity have one table, whatever the number of rings of a launch,
//! unless the kernels for some numbers need a recipe of their own.
//! It has 1/r, rounded up, of the words of the table of a kernel for r rings; the most if these differ. Items have numbers: zero,
//! then inputs in the order of the manifest and results in the order of the lines; then tables in the order of the launches
//! that need them first.
//!
//! The off-chip memory has inputs, zero and tables from the beginning. It gets outputs and what the VDM has no space for. A
//! *launch* names a kernel, its *operands* (the limbs that it reads, then its tables, each once) and its *results*. The
//! *next use* of an item is the next launch that reads it, counting the one that is being planned. Keys on the chip are no
//! operands.
//!
//! # The channel
//!
//! One channel carries all transfers, one word after the other. Transfers are planned in the order of this text. A
//! transfer that is ready at time t takes the first idle times from t on, as many as it needs: those planned before it
//! are more urgent, and cut it. It begins with its first word and ends `hbm.latency_ns` after its last one. A transfer of no
//! bytes begins and ends when it is ready. The channel reads unless it writes: a save, or the store of a slice, takes two turns of
//! `hbm.turn_ns` more than its bytes.
//!
//! The *generator* makes the bytes of seeded keys that the channel does not transfer, `generator.words_per_cycle` at the clock, in
//! the first times from t on in which it is idle, like a channel without latency and turns. A load has arrived when both parts have.
//!
//! Loads are planned with the launch that needs them. A *save* is planned when something waits for it: a launch
//! takes its space, or its words are loaded again, or gathered. The saves that nothing waits for are planned at the end, in the
//! order in which they arose. So what a launch waits for goes first, and saves take the times that are left; but each begins
//! as soon as its words are complete if the channel is idle.
//!
//! # Space
//!
//! The VDM has `vdm.size_mib`. Space is counted in words, without addresses. A piece of free space has the time from which it is
//! free; in the beginning there is one piece, free at 0. To *take* space of w words:
//!
//! 1. While fewer than w words are free, evict the item with the farthest next use of those that no operand of this
//!    launch is; of equals, one that is saved or whose save waits; of equals, the one with the larger number. An item that the
//!    off-chip memory lacks thereby gets a save of the kind `spills`, ready when the item is complete.
//! 2. Take pieces, the earliest first; of equals, the smallest; of equals, those without a save, then that with the
//!    oldest save. A piece that waits for a save that is not planned stands at the earliest end of this save: its ready time,
//!    its length with both turns and the latency, but not before the piece is free otherwise. When it is the first, the save is
//!    planned; the piece then goes to the place of the true time. The last piece is divided.
//! 3. The space is free from the time of the latest piece on.
//!
//! The space of an item that leaves is free when the item is complete, its last launch has ended, and its save, if it has one, has
//! ended.
//!
//! An item that nothing reads again leaves at the end of its last launch. An output gets a save of the kind `outputs` when
//! it is complete; it may stay for later uses.
//!
//! # Banks
//!
//! The banks of the VDM serve kernels and the channel. Each makes `vdm.ports` accesses in a cycle. A run takes its own
//! cycles, or, if these are more, the cycles of its accesses and then those of the words of all transfers that were planned
//! since the run before, each rounded up; programs and gathers do not count. But a channel that is always busy leaves the
//! banks to the run for a part of the time: the run takes no longer than its accesses take then. The cycles of its accesses
//! are those of one access for each lane of a load or store, but no more than the busy cycles of its load/store pipe. Transfers
//! count for the run that follows in the plan, and not for those that they meet in time, since later ones fall between.
//!
//! # A launch of a kernel on whole limbs
//!
//! In this order:
//!
//! 1. For each operand that is not in the VDM: take its space, plan its save if that waits, and load it. The load is ready
//!    when the space is free and the save has ended.
//! 2. If the kernel reads all of its operand before it writes its result, the results take over the space of the limbs that
//!    nothing reads again (they *replace* them). Take space for the other results and for the scratch words, in one piece.
//!    The launches that read a replaced limb must have ended, and its save if it has one.
//! 3. If the kernel overwrites its operands, a limb that is read again and that the off-chip memory lacks gets a save of the kind
//!    `spills`. Each limb must be saved, if it has a save, before the kernel begins. It leaves at the end of the launch.
//! 4. Fetch the program and the parameters (below).
//! 5. The launch begins when the launch before has ended, all operands are complete and all of the above is there. The kernel
//!    begins `launch.cycles` later. Its cycles are those of the cycle model: from the fetch of its first instruction to the
//!    completion of its last one, so that pipes fill and drain in each run.
//! 6. Scratch space is free at the end. Then operands that nothing reads again leave, in their order; then results are complete, in
//!    their order.
//!
//! # A launch of an elementwise kernel
//!
//! It runs on slices: all limbs are read and written in `n / slice` runs. A limb is in the VDM as a whole, or it *streams*
//! through two slices (one, if there is one run), an operand through more if words are free. In this order:
//!
//! 1. Operands in the VDM stay, and all others stream, and so do all results. While the words that are free, or taken by
//!    items that no operand is, are fewer than the slices of all streams and the scratch words: of the operands in the VDM,
//!    the one with the farthest use after this launch (none counts as the nearest; of equals, the one with the larger number)
//!    is evicted, and streams.
//! 2. If there are several runs, each operand in the VDM that nothing reads again and that is no output can leave its space
//!    to one result, an *heir*. An heir needs one more slice.
//! 3. Each result that is used again and each streaming operand that is used after this launch is considered, the nearest use
//!    first; of equals, results first; of equals, the smaller number. It is in the VDM as a whole if there is room for it,
//!    for those before it and for all slices that are left: words that are free, and items beside the operands whose next use
//!    is farther than its own. The first results become heirs, which need a slice and no other space.
//! 4. Take the space of all slices, heirs' first slices and scratch words, in one piece. For each operand that moves in, in
//!    the order of 3: take its space, and plan its save if that waits. Take the space of the results that stay and are no
//!    heirs, in one piece. While there are more runs than slices of each streaming operand, and words are free for a further
//!    slice of all of them, take its space.
//! 5. Fetch the program and the parameters.
//! 6. A run loads one slice of each operand that moves in, in the order of 3: one transfer each, ready when the space of the
//!    operand is free and its save has ended. Then it loads one slice of each streaming operand: one transfer for each kind and, of
//!    keys, for each part that the generator makes,
//!    in the order of the operands, those that were evicted in step 1 last. It is ready when the space of the slice is free,
//!    the last run that read this slice has ended (runs take the slices in turn), and the limbs of this kind are saved
//!    (waiting saves are planned before the first run, in the same order). Then, from the third run on, the stores of the run
//!    before the last one are planned; they are ready at its end. The run begins when the run or launch before has ended,
//!    these transfers have ended, and the operands that were in the VDM before, the space of the first two slices and of
//!    results, and the program are there. `launch.cycles` precede each run.
//! 7. A store saves one slice of each streaming result: one transfer for each kind (`outputs`, `spills`), in the order of the
//!    results. After the last run, the stores of the run before it are planned. The last stores wait as saves of their limbs;
//!    the slices of the results are free when these have ended, a slice of the operands when the last run that read it has
//!    ended, and all other space of 4 at the end of the last run. Operands that have moved in are complete then.
//! 8. Operands end their use as above, in their order; the first ones that can leave their space to heirs do. Then the
//!    results in the VDM are complete.
//!
//! # A movement of words
//!
//! The channel gathers the words of a limb. Take space for the result. A limb that the off-chip memory lacks gets a save of the
//! kind `permutations`; all operands must be saved. The gather transfers n bursts of [`BURST_BYTES`], or of a word if that is
//! longer, in time and in energy. It is ready when the launch before has ended, and the next one begins after its end.
//!
//! # Programs
//!
//! A program has [`INSTRUCTION_BYTES`] bytes an instruction. The instruction memory keeps programs; those whose last launch
//! ended first make room, and of equals the one that came first. A program that is not there is ready to be fetched when the
//! launches of those that leave have ended, and a program in the memory when it has arrived. Moduli, scalars and addresses
//! have [`LAUNCH_WORD_BYTES`] bytes each, the addresses for each run; they come with the program, or alone, in one transfer
//! of the kind `programs`.
//!
//! # Results
//!
//! The time of a program is the end of its last launch or transfer. A transfer has the kind of its limb: `inputs`, `keys`,
//! `tables` (zero too), `outputs`, `spills` (also when they are loaded again), `permutations`, `programs`. Of a key expanded
//! from a seed, a load transfers the part that is not random. A kernel is bound by the pipe that is busy for most of its
//! cycles, or by the front end if this takes longer to dispatch the instructions at its full rate; by `latency` if neither takes more
//! than half of the cycles. `launch` is the time of `launch.cycles`, `banks` the time by which runs take longer for transfers, and
//! `hbm` the time without a launch.
//!
//! The off-chip memory has a place for inputs, outputs, tables and programs during the whole program, and one for
//! each other limb from the launch that saves it to the last that reads it.

mod home;
mod rpu;
#[cfg(test)]
mod second;
mod stream;
mod timeline;
mod uses;

pub use self::home::{HbmUse, Home};
pub(crate) use self::rpu::{ProgramId, Rpu, Task};
pub use self::timeline::{Cost, Run, Timeline, Transfer};
pub(crate) use self::uses::Uses;
pub use crate::facts::Resource;
pub use crate::time::Span;
pub(crate) use crate::time::Time;

use crate::flow::{Flow, ValueId};
use crate::kernels::{Kernels, Timed};
use crate::lift::{Launch, Launches, Work};
use crate::operation::{Batch, RingOperation, RingParameters};
use crate::place::{Item, ItemId};
use crate::traffic::{Keys, Kind, Sources};
use b512_asm::Isa;
use codegen::Recipe;
use ring_program::RingProgram;
use rustc_hash::FxHashMap;
use sim::Machine;

/// The bytes of a modulus, a scalar or an address of a launch.
pub const LAUNCH_WORD_BYTES: u64 = 16;

/// The bytes for which a word that the channel gathers counts. A burst of HBM2 has 32; between random ones, rows are opened, and the
/// channel waits: `reports/memory.md` has the fit.
pub const BURST_BYTES: u64 = 96;

/// The bytes of an instruction.
pub const INSTRUCTION_BYTES: u64 = 8;

/// A program that does not fit the VDM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a launch of `{kernel}` needs {needed} words of the VDM at once, but the machine has {capacity}; \
     set `vdm.size_mib` to {} or more", isa.bytes(*needed).div_ceil(1 << 20)
)]
pub struct TooLarge {
    /// The name of the kernel.
    pub kernel: &'static str,
    /// The words that it needs.
    pub needed: u64,
    /// The words of the VDM.
    pub capacity: u64,
    /// Vector length and word width of the machine.
    pub isa: Isa,
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
        Ok(self.timeline_before(Time::MAX)?.expect("no time is later"))
    }

    /// The timeline if the program ends before `end`. Its launches are planned while it can.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn timeline_before(&self, end: Time) -> Result<Option<Timeline>, TooLarge> {
        let mut layout = Layout::new(self);
        let uses = Uses::of(layout.items.len(), layout.uses(self));
        let homes = layout.homes(self, &uses);
        let mut programs = FxHashMap::default();
        let (capacity, items) = (self.machine.vdm_words().into(), std::mem::take(&mut layout.items));
        let mut rpu = Rpu::new(self.machine, capacity, items, uses, self.record);
        let (mut costs, mut operands, mut results) = (Costs::default(), Vec::new(), Vec::new());
        let least = |launch| self.kernel(launch).map_or(Time::ZERO, |kernel| rpu.least(&kernel.facts()));
        let mut left: Vec<Time> = self.launches.launches.iter().rev().map(least).collect();
        left.iter_mut().fold(Time::ZERO, |later, time| {
            *time += later;
            *time
        });
        for (index, launch) in (0..).zip(&self.launches.launches) {
            if rpu.computed + left.pop().expect("the time from each launch on") >= end {
                return Ok(None);
            }
            operands.clear();
            operands.extend(layout.sources(self, launch));
            let sources = operands.len();
            operands.extend(layout.tables(self, launch));
            results.clear();
            results.extend(self.launches.results(launch).iter().map(|value| ItemId(value.0)));
            let kernel = self.kernel(launch);
            let task = Task {
                kernel: kernel.map(|kernel| {
                    let next = ProgramId(programs.len() as u32);
                    let program = *programs.entry(program_of(self.launches, launch)).or_insert(next);
                    (kernel.facts(), program, parameter_bytes(self, launch, kernel))
                }),
                operands: &operands,
                sources,
                results: &results,
            };
            let span = rpu.launch(index, &task)?;
            costs.add(launch, kernel, span);
        }
        let mut timeline = rpu.finish();
        (timeline.costs, timeline.hbm.homes) = (costs.0, homes);
        Ok(Some(timeline))
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

/// The bytes of the moduli, scalars and addresses of a launch.
fn parameter_bytes(plan: &Plan<'_>, launch: &Launch, kernel: &Timed) -> u64 {
    let parameters = plan.launches.moduli(launch).len() + plan.launches.scalars(launch).len();
    let addresses = kernel.address_registers * kernel.runs as usize;
    LAUNCH_WORD_BYTES * (parameters + addresses) as u64
}

/// A program of the instruction memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Program {
    Elementwise(u32),
    Operation(Batch),
}

fn program_of(launches: &Launches, launch: &Launch) -> Program {
    match launch.work {
        Work::Elementwise(shape) => Program::Elementwise(shape.index() as u32),
        Work::Operation(operation) => {
            Program::Operation(Batch { operation, rings: launches.moduli(launch).len() as u16 })
        }
        Work::Permute(_) => unreachable!("a movement of words has no program"),
    }
}

/// The items of a program: a limb for each value, and a table for each operation and ring.
struct Layout {
    sources: Sources,
    items: Vec<Item>,
    tables: FxHashMap<TableId, ItemId>,
}

/// What a table is for: an operation by a recipe, and a ring.
type TableId = (RingOperation, *const Recipe, RingParameters);

impl Layout {
    fn new(plan: &Plan<'_>) -> Self {
        let n = plan.program.degree().get() as u32;
        let sources = Sources::of(plan.program, plan.flow, plan.keys);
        let mut items = vec![Item::made(n); plan.flow.values];
        let inputs = plan.flow.inputs.iter().map(|&(_, value)| value);
        for value in inputs.chain([ValueId::ZERO]) {
            let (kind, halves) = sources.load(value);
            items[value.index()] = Item::given(n, kind, halves);
        }
        for value in plan.flow.outputs.iter().flatten() {
            let item = &mut items[value.index()];
            (item.has_home, item.is_output) = (true, true);
        }
        // The limbs of a launch have a table each.
        let mut tables = FxHashMap::default();
        for launch in &plan.launches.launches {
            let Some(batch) = plan.launches.batch(launch) else { continue };
            let words = plan.kernels.operation(batch).table_words.div_ceil(batch.rings.into());
            if words == 0 {
                continue;
            }
            for ring in plan.launches.rings(plan.program, launch) {
                let table =
                    tables.entry((batch.operation, plan.kernels.recipe(batch), ring)).or_insert_with(|| {
                        items.push(Item::given(words, Kind::Tables, 2));
                        ItemId(items.len() as u32 - 1)
                    });
                let item = &mut items[table.0 as usize];
                item.words = item.words.max(words);
            }
        }
        Self { sources, items, tables }
    }

    /// The limbs that a launch reads, each once, without those in a memory of their own.
    fn sources<'a>(&'a self, plan: &'a Plan<'_>, launch: &Launch) -> impl Iterator<Item = ItemId> + 'a {
        let sources = each_once(plan.launches.sources(launch));
        sources.filter(|value| !self.sources.is_on_chip(*value)).map(|value| ItemId(value.0))
    }

    /// The tables of a launch, each once.
    fn tables(&self, plan: &Plan<'_>, launch: &Launch) -> Vec<ItemId> {
        let Some(batch) = plan.launches.batch(launch) else { return Vec::new() };
        let rings = plan.launches.rings(plan.program, launch);
        let recipe = plan.kernels.recipe(batch);
        let mut tables = Vec::with_capacity(rings.len());
        for table in rings.into_iter().filter_map(|ring| self.tables.get(&(batch.operation, recipe, ring))) {
            if !tables.contains(table) {
                tables.push(*table);
            }
        }
        tables
    }

    /// The items that each launch reads, with its index.
    fn uses<'a>(&'a self, plan: &'a Plan<'_>) -> impl Iterator<Item = (ItemId, u32)> + Clone + 'a {
        (0..).zip(&plan.launches.launches).flat_map(move |(index, launch)| {
            let sources = each_once(plan.launches.sources(launch)).map(|value| ItemId(value.0));
            sources.chain(self.tables(plan, launch)).map(move |item| (item, index))
        })
    }
}

/// Operands of a launch, each once. Zero may come twice: as the zero of a function, and as an argument.
fn each_once(values: &[ValueId]) -> impl Iterator<Item = ValueId> + Clone + '_ {
    let zero = values.iter().position(|&value| value == ValueId::ZERO);
    let is_first = move |&(place, &value): &(usize, &ValueId)| value != ValueId::ZERO || Some(place) == zero;
    values.iter().enumerate().filter(is_first).map(|(_, &value)| value)
}

/// The costs by name of the kernel, in the order of the first launches.
#[derive(Default)]
struct Costs(Vec<(&'static str, Cost)>);

impl Costs {
    fn add(&mut self, launch: &Launch, kernel: Option<&Timed>, span: Span) {
        let (name, time_ns, bound_ns, energy_uj) = match kernel {
            Some(kernel) => {
                (kernel.name, kernel.launch_ns(), kernel.launch_bound_ns(), kernel.launch_energy_uj())
            }
            None => ("permute", span.end_ns - span.begin_ns, span.end_ns - span.begin_ns, 0.0),
        };
        let place = self.0.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.0.push((name, Cost::default()));
            self.0.len() - 1
        });
        let cost = &mut self.0[place].1;
        cost.launches += 1;
        cost.lines += u64::from(launch.lines);
        cost.time_ns += time_ns;
        cost.bound_ns += bound_ns;
        cost.energy_uj += energy_uj;
    }
}
