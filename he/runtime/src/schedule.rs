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
mod rpu;
mod stream;
mod timeline;
mod uses;

pub use self::home::{HbmUse, Home};
pub(crate) use self::rpu::{Facts, ProgramId, Rpu, Task};
pub use self::timeline::{Cost, Resource, Run, Timeline, Transfer};
pub(crate) use self::uses::Uses;
pub use crate::time::Span;

use crate::flow::{Flow, RingOperation, ValueId};
use crate::kernels::{Batch, Kernels, RingParameters, Timed};
use crate::lift::{Launch, Launches, Work};
use crate::place::{Item, ItemId};
use crate::traffic::{Keys, Kind, Sources};
use ring_program::RingProgram;
use rustc_hash::FxHashMap;
use sim::Machine;

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
        let mut layout = Layout::new(self);
        let uses = Uses::of(layout.items.len(), layout.uses(self));
        let homes = layout.homes(self, &uses);
        let mut programs = FxHashMap::default();
        let (capacity, items) = (self.machine.vdm_words().into(), std::mem::take(&mut layout.items));
        let mut rpu = Rpu::new(self.machine, capacity, items, uses, self.record);
        let (mut costs, mut operands, mut results) = (Costs::default(), Vec::new(), Vec::new());
        for (index, launch) in (0..).zip(&self.launches.launches) {
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
            costs.add(self.machine, launch, kernel, span);
        }
        let mut timeline = rpu.finish();
        (timeline.costs, timeline.hbm.homes) = (costs.0, homes);
        Ok(timeline)
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
    tables: FxHashMap<(RingOperation, RingParameters), ItemId>,
}

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
                let table = tables.entry((batch.operation, ring)).or_insert_with(|| {
                    items.push(Item::given(words, Kind::Tables, 2));
                    ItemId(items.len() as u32 - 1)
                });
                let item = &mut items[table.0 as usize];
                item.words = item.words.max(words);
            }
        }
        Self { sources, items, tables }
    }

    /// The limbs that a launch reads, without those in a memory of their own.
    fn sources<'a>(&'a self, plan: &'a Plan<'_>, launch: &Launch) -> impl Iterator<Item = ItemId> + 'a {
        let sources = plan.launches.sources(launch).iter();
        sources.filter(|value| !self.sources.is_on_chip(**value)).map(|value| ItemId(value.0))
    }

    /// The tables of a launch.
    fn tables(&self, plan: &Plan<'_>, launch: &Launch) -> Vec<ItemId> {
        let Some(batch) = plan.launches.batch(launch) else { return Vec::new() };
        let rings = plan.launches.rings(plan.program, launch);
        rings.into_iter().filter_map(|ring| self.tables.get(&(batch.operation, ring)).copied()).collect()
    }

    /// The items that each launch reads, with its index.
    fn uses<'a>(&'a self, plan: &'a Plan<'_>) -> impl Iterator<Item = (ItemId, u32)> + Clone + 'a {
        (0..).zip(&plan.launches.launches).flat_map(move |(index, launch)| {
            let sources = plan.launches.sources(launch).iter().map(|value| ItemId(value.0));
            sources.chain(self.tables(plan, launch)).map(move |item| (item, index))
        })
    }
}

/// The costs by name of the kernel, in the order of the first launches.
#[derive(Default)]
struct Costs(Vec<(&'static str, Cost)>);

impl Costs {
    fn add(&mut self, machine: &Machine, launch: &Launch, kernel: Option<&Timed>, span: Span) {
        let (name, time_ns, bound_ns, energy_uj) = match kernel {
            Some(kernel) => (
                kernel.name,
                kernel.launch_ns(machine),
                kernel.launch_bound_ns(machine),
                kernel.launch_energy_uj(),
            ),
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
