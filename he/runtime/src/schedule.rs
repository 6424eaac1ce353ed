//! The schedule of ring programs: when each launch and each transfer takes place.
//!
//! ```text
//!            order by modulus       list scheduling       Belady, double buffering
//!   lines ──────────────────> flow ───────────────> launches ──────────────────────> times
//!                                        │                        │
//!                                     kernels              VDM  <──────> off-chip memory
//! ```
//!
//! * **Order.** Modulus by modulus, depth first, so that few limbs are alive.
//! * **Launches.** Elementwise lines with common operands become one kernel; intermediate limbs stay in
//!   registers.
//! * **Memory.** If the VDM is full, the limb with the farthest next use leaves (Belady). Write-back is lazy.
//! * **Streams.** Other limbs stream through two slices: double buffering.
//! * **Time.** Launches run one after the other. Transfers run ahead, as far as space is free.
//!
//! All choices on this way are the *mapping*, the last section. A second, slow model in the tests follows
//! these rules, and agrees on every picosecond. Durations are whole picoseconds, rounded up.
//!
//! # Items
//!
//! An *item* is a limb of n words (an input, zero, a result), or the table of an operation for a
//! modulus and a root. Items are numbered: zero, inputs by the manifest, results by line, tables by the
//! launches that need them. All but results begin in the off-chip memory. A *launch* names a kernel, its
//! *operands* (limbs, then tables, each once; no keys on the chip) and its *results*. The *next use* of an
//! item is the next launch that reads it, the one in planning included.
//!
//! # The channel
//!
//! One channel of `hbm.gb_per_s * hbm.efficiency / hbm.shared_by` carries all transfers. They are planned in
//! the order of this text; one that is ready at time t takes the first idle times from t on, in whole bursts
//! of 32 bytes. It ends `hbm.latency_ns` after its last word; without bytes, when it is ready. Saves and
//! stores take two turns of `hbm.turn_ns` more. The *generator* makes the other bytes of seeded keys,
//! `generator.words_per_cycle` at the clock, in its first idle times from t on. A load has arrived when both
//! parts have.
//!
//! A *save* is planned when a launch takes its space, or when its words are loaded or gathered; the others at
//! the end, in the order in which they arose.
//!
//! # Space
//!
//! A page has n / `vdm.limb_pages` words, at least a vector and a row of all banks. A *space* is a list of
//! pages; an address register holds those of a limb. Limbs, tables, scratch words, the slices of streaming
//! operands for a run, and all slices of streaming results of a kind take whole pages each. A piece of free
//! space has a time from which it is free. To *take* p pages:
//!
//! 1. While fewer are free, evict the item with the farthest next use that is no operand of this launch; of
//!    equals, one that is saved or whose save waits; of equals, the larger number. Unless it is saved, it
//!    gets a save of the kind `spills`, ready when it is complete.
//! 2. Take the earliest pieces; of equals, the smallest; of equals, those without a save, then that with the
//!    oldest one. A piece whose save is not planned stands at the save's earliest end, but not before it is
//!    free otherwise. When it comes first, the save is planned, and the piece goes to its true time. The last
//!    piece is divided.
//! 3. The space is free from the time of the latest piece on.
//!
//! An item that nothing reads again leaves. Its space is free when it is complete, and its last launch and
//! its save have ended. A complete output gets a save of the kind `outputs`, and may stay.
//!
//! # Banks
//!
//! Each bank makes `vdm.ports` accesses in a cycle, for kernels and channel. A run takes its own cycles, or,
//! if more, those of its accesses and of the words transferred by all that was planned since the run before,
//! without programs and gathers; at most those of its accesses beside a busy channel. A load or store has one
//! for each lane, in no more cycles than its pipe is busy.
//!
//! # A launch on whole limbs
//!
//! 1. For each operand that is not in the VDM: take its space, plan its save if that waits, load it.
//! 2. If the kernel may work in place and no limb comes twice, each result takes over the space of its limb
//!    if nothing reads that again, after the launches that read it and its save. Take space for other results
//!    and scratch words at once.
//! 3. If the kernel overwrites its operands, a limb that is read again and that the off-chip memory lacks is
//!    saved as `spills`. The kernel waits for the saves of all operands, which leave at the end.
//! 4. Fetch the program and the parameters.
//! 5. The launch begins when the one before has ended and all of the above is there. Its kernel begins
//!    `launch.cycles` after this and after its registers are set, for the cycles of the cycle model.
//! 6. Scratch space is free at the end, and results are complete.
//!
//! # An elementwise launch
//!
//! It has `n / slice` runs. A limb is in the VDM, or streams through two slices (one, if there is one run).
//!
//! 1. Operands in the VDM stay; others and all results stream. While these and scratch words find no pages,
//!    free or evictable, the operand in the VDM with the farthest use after this launch (none is the nearest;
//!    of equals, the larger number) is evicted, and streams.
//! 2. If there are several runs, an operand in the VDM that nothing reads again, no output, leaves its space
//!    to a result, its *heir*. An heir begins in the pages of one more slice, and leaves its operand's last
//!    pages.
//! 3. Each result and each streaming operand that is used again, the nearest use first (of equals, results,
//!    then the smaller number), has its place in the VDM if there is room for it, for those before it and for
//!    the slices that are left, in free pages and items with farther next uses. The first results become
//!    heirs.
//! 4. Take the space of slices, heirs' first slices and scratch words at once; then, in the order of 3, that
//!    of each operand that moves in, and plan its save if that waits; then that of other results that stay,
//!    at once. While there are more runs than slices, take further slices of all streaming operands, if free.
//! 5. A run fetches its parameters, the first one the program too.
//! 6. It loads a slice of each operand that moves in, when its space is free and its save has ended; then of
//!    all streaming operands, one transfer for each kind and each origin, those evicted in 1 last, when the
//!    slice is free and the limbs are saved (waiting saves are planned before the first run). From the third
//!    run on, the stores of the run before the last are planned. The run begins when the one before and these
//!    transfers have ended, and operands in the VDM, the first two slices, the results' space and the program
//!    are there; its kernel, as above.
//! 7. A store saves a slice of each streaming result, one transfer for each kind, ready at the end of its
//!    run. After the last run, the stores of the run before are planned; the last ones wait as saves of their
//!    limbs, and free the slices of results. Other space is free after the last run that used it: scratch
//!    words, with the scalars of the kernel's table, and the pages that heirs leave. Operands that moved in
//!    are complete then.
//! 8. Operands end their use, the first that can to heirs; results in the VDM are complete.
//!
//! # Movements, programs, results
//!
//! The channel gathers the words of a *movement*, a burst each, as `permutations`, when space for the result
//! is taken, the limb is saved, and the launch before has ended. The next launch begins after it.
//!
//! A program that is not in the instruction memory is fetched when the launches of those that make room have
//! ended; those that ended first leave, of equals the first. The *parameters* of a run are its addresses, of
//! the first run also moduli and scalars. They come with the program, or alone, as one transfer `programs`,
//! into the SDM, when the runs have ended whose parameters make room, the first ones first. One word a cycle
//! sets the second set of registers, free once the kernel before has begun.
//!
//! A program ends with its last launch or transfer. A transfer has the kind of its limb: `inputs`, `keys`,
//! `tables` (zero too), `outputs`, `spills`. Inputs, outputs, tables and programs have places off the chip
//! throughout, other limbs from their save to their last read.

mod channel;
pub mod consecutive;
mod home;
mod link;
mod place;
pub mod record;
mod rpu;
#[cfg(test)]
mod second;
mod stream;
mod time;
mod timeline;
pub mod traffic;
mod uses;

pub use self::home::{HbmUse, Home};
pub(crate) use self::record::Records;
pub(crate) use self::rpu::{Parameters, ProgramId, Rpu, Task};
pub use self::time::Span;
pub(crate) use self::time::Time;
pub use self::timeline::{Account, Cost, Run, Timeline, Transfer};
pub(crate) use self::uses::Uses;
pub use crate::launches::facts::Resource;

use self::place::{Item, ItemId};
use self::traffic::{Keys, Kind, Sources};
use crate::flow::operation::{Batch, RingOperation, RingParameters};
use crate::flow::{Flow, ValueId};
use crate::launches::kernels::{Kernels, Timed};
use crate::launches::{Launch, Launches, Work};
use b512_asm::Isa;
use codegen::Recipe;
use ring_program::RingProgram;
use rustc_hash::FxHashMap;
use sim::Machine;
use sim::machine::at_least;

/// The bytes of a modulus, a scalar or an address of a launch.
pub const LAUNCH_WORD_BYTES: u64 = 16;

/// The bytes for which a word that the channel gathers counts. A burst of HBM2 has 32; between random ones,
/// rows are opened, and the channel waits: `reports/memory.md` has the fit.
pub const BURST_BYTES: u64 = 96;

/// The bits of a word's address in the space of an operand: assumed. The 20 bits of an instruction's field
/// are too few for slices of many limbs.
pub(crate) const OFFSET_BITS: u64 = 28;

/// The words of an address with the numbers of so many pages among `count`.
pub(crate) fn address_words(count: u64, pages: u64) -> u64 {
    (OFFSET_BITS + pages * page_bits(count)).div_ceil(8 * LAUNCH_WORD_BYTES)
}

/// The bits of a page's number among `count`.
pub(crate) fn page_bits(count: u64) -> u64 {
    count.next_power_of_two().trailing_zeros().into()
}

/// The bytes of an instruction.
pub const INSTRUCTION_BYTES: u64 = 8;

/// A program that does not fit the VDM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "a launch of `{kernel}` needs {needed} words of the VDM at once, but the machine has {capacity}; \
     {}", at_least(&[("vdm.size_mib", isa.bytes(*needed).div_ceil(1 << 20))])
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
    /// Whether to account for the time and the bytes of each launch.
    pub accounts: bool,
    /// Whether to record all runs and transfers with their addresses.
    pub events: bool,
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
        let (homes, limbs) = layout.homes(self, &uses);
        let compulsory_bytes = layout.compulsory_bytes(self, &uses);
        let mut programs = FxHashMap::default();
        let (vdm, items) = (self.pages(), std::mem::take(&mut layout.items));
        let records = Records { record: self.record, accounts: self.accounts, events: self.events };
        let mut rpu = Rpu::new(self.machine, vdm, (items, uses), records);
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
                    (kernel.facts(), program, self.parameters(launch, kernel))
                }),
                operands: &operands,
                sources,
                results: &results,
            };
            let span = rpu.launch(index, &task)?;
            costs.add(launch, kernel, span);
        }
        let (mut timeline, items) = rpu.finish();
        timeline.costs = costs.0;
        (timeline.hbm.homes, timeline.hbm.compulsory_bytes) = (homes, compulsory_bytes);
        if self.events {
            layout.items = items;
            timeline.places = layout.places(self, &limbs, &timeline.events);
        }
        Ok(Some(timeline))
    }

    /// The pages of the VDM, and the words of a page.
    pub(crate) fn pages(&self) -> (u64, u64) {
        let words = self.machine.page_words(self.program.degree().get());
        (u64::from(self.machine.vdm_words()) / words, words)
    }

    /// The words that set the registers for a launch.
    fn parameters(&self, launch: &Launch, kernel: &Timed) -> Parameters {
        let (count, page) = self.pages();
        let of_limb = self.program.degree().get().div_ceil(page);
        let registers = self.address_registers(launch, kernel);
        let launch = kernel.moduli.len() as u64 + self.scalars(launch, kernel);
        Parameters { launch, run: registers * address_words(count, of_limb) }
    }

    /// The scalars that a launch sets.
    pub(crate) fn scalars(&self, launch: &Launch, kernel: &Timed) -> u64 {
        match launch.work {
            Work::Elementwise(_) => self.launches.scalars(launch).len() as u64,
            // A launch of an operation has roots of unity.
            Work::Operation(_) | Work::Permute(_) => kernel.sdm_words.into(),
        }
    }

    /// The address registers of a launch: those of its kernel, and more if its tables or its scratch words
    /// have more pages than a limb.
    pub(crate) fn address_registers(&self, launch: &Launch, kernel: &Timed) -> u64 {
        let (_, page) = self.pages();
        let of_limb = self.program.degree().get().div_ceil(page);
        let rings = self.launches.batch(launch).map_or(0, |batch| batch.rings);
        let of_tables = u64::from(rings) * u64::from(kernel.table_words).div_ceil(page);
        let more = |pages: u64| pages.div_ceil(of_limb).saturating_sub(1);
        kernel.address_registers as u64 + more(of_tables) + more(kernel.scratch_words.div_ceil(page))
    }

    /// The kernel of a launch; none for movements of words.
    pub(crate) fn kernel(&self, launch: &Launch) -> Option<&Timed> {
        match launch.work {
            Work::Elementwise(shape) => Some(self.kernels.elementwise(shape)),
            Work::Operation(_) => self.launches.batch(launch).map(|batch| self.kernels.operation(batch)),
            Work::Permute(_) => None,
        }
    }
}

/// The bytes of the moduli, scalars and addresses of a launch.
fn parameter_bytes(plan: &Plan<'_>, launch: &Launch, kernel: &Timed) -> u64 {
    let Parameters { launch, run } = plan.parameters(launch, kernel);
    LAUNCH_WORD_BYTES * (launch + run * u64::from(kernel.runs))
}

/// What a program of the instruction memory is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ProgramKey {
    Elementwise(u32),
    Operation(Batch),
}

pub(crate) fn program_of(launches: &Launches, launch: &Launch) -> ProgramKey {
    match launch.work {
        Work::Elementwise(shape) => ProgramKey::Elementwise(shape.index() as u32),
        Work::Operation(operation) => {
            ProgramKey::Operation(Batch { operation, rings: launches.moduli(launch).len() as u16 })
        }
        Work::Permute(_) => unreachable!("a movement of words has no program"),
    }
}

/// The items of a program: a limb for each value, and a table for each operation and ring.
pub(crate) struct Layout {
    sources: Sources,
    pub(crate) items: Vec<Item>,
    pub(crate) tables: FxHashMap<TableId, ItemId>,
}

/// What a table is for: an operation by a recipe, and a ring.
type TableId = (RingOperation, *const Recipe, RingParameters);

impl Layout {
    pub(crate) fn new(plan: &Plan<'_>) -> Self {
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
            let words = plan.kernels.operation(batch).table_words;
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

    /// Whether a memory of keys on the chip has a value.
    pub(crate) fn is_on_chip(&self, value: ValueId) -> bool {
        self.sources.is_on_chip(value)
    }

    /// The limbs that a launch reads, each once, without those in a memory of their own.
    fn sources<'a>(&'a self, plan: &'a Plan<'_>, launch: &Launch) -> impl Iterator<Item = ItemId> + 'a {
        let sources = each_once(plan.launches.sources(launch));
        sources.filter(|value| !self.is_on_chip(*value)).map(|value| ItemId(value.0))
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
