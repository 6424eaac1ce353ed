//! Execution of the scheduled program: a recorded timeline on one image of the VDM and one of the off-chip
//! memory.
//!
//! Transfers copy words between the images by their addresses, and runs read and write the pages of the VDM,
//! in the order of their times. Before, it is checked that no two of them disturb each other while both take
//! place.

use crate::execute::{LaunchError, moduli, set_parameters};
use crate::flow::ValueId;
use crate::flow::operation::Batch;
use crate::launches::{Launch, Work};
use crate::schedule::record::{Action, Event, Extent};
use crate::schedule::{Layout, Plan, Timeline};
use b512_asm::Program;
use codegen::elementwise::Elementwise;
use ring::modular::Modulus;
use ring_program::data::Words;
use ring_program::{Inputs, Limb, ModulusIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use sim::functional::Executor;
use std::fmt;

/// A plan that cannot be executed. Events have their numbers in [`Timeline::events`].
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Fault {
    /// Two events take place at once, and one writes words of the other.
    #[error("event {later} begins while event {earlier} works on the same words of {place}")]
    Overlap {
        /// The words' place.
        place: Place,
        /// The event that begins first.
        earlier: usize,
        /// The other one.
        later: usize,
    },
    /// A run writes words that it reads, and its kernel does not work in place.
    #[error("event {0} writes words that it reads or writes elsewhere")]
    NotInPlace(usize),
    /// An item that is moved has no place in the off-chip memory.
    #[error("event {event} moves item {item}, which has no place in the off-chip memory")]
    NoPlace {
        /// The event.
        event: usize,
        /// The item.
        item: u32,
    },
    /// The parameters of a run have not come.
    #[error("event {0} runs before its parameters have come")]
    NoParameters(usize),
    /// A kernel fails: its operands are not there.
    #[error("event {event}: {error}")]
    Launch {
        /// The event.
        event: usize,
        /// The reason.
        error: LaunchError,
    },
}

/// A part of a memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A page of the VDM.
    Page(u32),
    /// An item at a word of the off-chip memory.
    OffChip(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(number) => write!(f, "page {number}"),
            Self::OffChip(word) => write!(f, "the item at word {word} of the off-chip memory"),
        }
    }
}

impl Plan<'_> {
    /// Executes a recorded timeline of this plan on data, its events one by one in the order of their times.
    /// The result has the words of each output, in the order of
    /// [`RingProgram::outputs`](ring_program::RingProgram::outputs).
    ///
    /// # Errors
    /// Returns an error if a kernel fails.
    ///
    /// # Panics
    /// Panics if an input is missing.
    pub fn replay(&self, timeline: &Timeline, inputs: &Inputs<'_>) -> Result<Vec<Vec<Words>>, Fault> {
        let mut order: Vec<usize> = (0..timeline.events.len()).collect();
        let times = |event: &usize| {
            let span = timeline.events[*event].span;
            (span.begin_ns, span.end_ns)
        };
        order.sort_by(|one, other| times(one).partial_cmp(&times(other)).expect("times are numbers"));
        let mut images = Images::new(self, timeline, inputs)?;
        for number in order {
            images.apply(number, &timeline.events[number])?;
        }
        let limb = |&value: &ValueId| images.limb_off_chip(value);
        Ok(self.flow.outputs.iter().map(|limbs| limbs.iter().map(limb).collect()).collect())
    }

    /// Checks that no two events of a recorded timeline disturb each other, and that runs write other words
    /// than they read.
    ///
    /// # Errors
    /// Returns the fault of the first event that has one.
    pub fn check_events(&self, timeline: &Timeline) -> Result<(), Fault> {
        let page = self.pages().1 as u32;
        let mut accesses: FxHashMap<Place, Vec<Access>> = FxHashMap::default();
        for (number, event) in timeline.events.iter().enumerate() {
            let mut add = |place, words, writes| {
                let (begin, end) = (event.span.begin_ns, event.span.end_ns);
                accesses.entry(place).or_default().push(Access { begin, end, words, writes, event: number });
            };
            let mut in_vdm = |extent: &Extent, writes| {
                parts(extent, page).for_each(|(number, words)| add(Place::Page(number), words, writes));
            };
            let mut off_chip: Vec<(u32, (u32, u32))> = Vec::new();
            match &event.action {
                Action::Load(extents) | Action::Store(extents) => {
                    let loads = matches!(event.action, Action::Load(_));
                    extents.iter().for_each(|extent| in_vdm(extent, loads));
                    let words = |extent: &Extent| (extent.item, (extent.first, extent.first + extent.words));
                    off_chip.extend(extents.iter().map(words));
                }
                Action::Gather { launch, result } => {
                    in_vdm(result, true);
                    let sources = self.launches.sources(&self.launches.launches[*launch as usize]);
                    off_chip.extend(sources.iter().map(|value| (value.0, (0, result.words))));
                }
                Action::Run { launch, operands, results, scratch } => {
                    let kernel = self.kernel(&self.launches.launches[*launch as usize]);
                    let [in_place, overwrites] = kernel
                        .map_or([false; 2], |kernel| [kernel.may_work_in_place, kernel.overwrites_operand]);
                    if !is_disjoint(operands, results, scratch, (page, in_place)) {
                        return Err(Fault::NotInPlace(number));
                    }
                    let is_limb = |operand: &Extent| (operand.item as usize) < self.flow.values;
                    operands.iter().for_each(|operand| in_vdm(operand, overwrites && is_limb(operand)));
                    results.iter().for_each(|result| in_vdm(result, true));
                    scratch.iter().for_each(|&number| add(Place::Page(number), (0, page), true));
                }
                Action::Fetch { .. } => {}
            }
            let writes = matches!(event.action, Action::Store(_));
            for (item, words) in off_chip {
                match timeline.places.items[item as usize] {
                    Some(place) => add(Place::OffChip(place), words, writes),
                    // Keys on the chip, and those that are all expanded, are not there.
                    None if !writes && self.is_given(item) => {}
                    None => return Err(Fault::NoPlace { event: number, item }),
                }
            }
        }
        let faults = accesses.into_iter().filter_map(|(place, accesses)| overlap(place, accesses));
        match faults.min_by_key(|&(later, earlier, place)| (later, earlier, place)) {
            Some((later, earlier, place)) => Err(Fault::Overlap { place, earlier, later }),
            None => Ok(()),
        }
    }

    /// Whether an item is an input.
    fn is_given(&self, item: u32) -> bool {
        self.flow.inputs.iter().any(|(_, value)| value.0 == item)
    }
}

/// The words of an extent in each page.
fn parts(extent: &Extent, page: u32) -> impl Iterator<Item = (u32, (u32, u32))> + '_ {
    let (first, end) = (extent.offset, extent.offset + extent.words);
    (first / page..end.div_ceil(page)).map(move |index| {
        let start = index * page;
        (extent.pages[index as usize], (first.max(start) - start, end.min(start + page) - start))
    })
}

fn meet(one: (u32, u32), other: (u32, u32)) -> bool {
    one.0 < other.1 && other.0 < one.1
}

/// Words of a page that a run writes, and the result that they belong to; none for scratch words.
type Written = ((u32, u32), Option<usize>);

/// Whether a run writes each word once, and none that it reads. A kernel that works in place may write a
/// result over its operand.
fn is_disjoint(
    operands: &[Extent],
    results: &[Extent],
    scratch: &[u32],
    (page, in_place): (u32, bool),
) -> bool {
    let mut written: FxHashMap<u32, Vec<Written>> = FxHashMap::default();
    scratch.iter().for_each(|&number| written.entry(number).or_default().push(((0, page), None)));
    for (index, result) in results.iter().enumerate() {
        for (number, words) in parts(result, page) {
            let others = written.entry(number).or_default();
            if others.iter().any(|&(other, _)| meet(words, other)) {
                return false;
            }
            others.push((words, Some(index)));
        }
    }
    operands.iter().enumerate().all(|(index, operand)| {
        let is_result = |result: usize| in_place && result == index && results[result].pages == operand.pages;
        parts(operand, page).all(|(number, words)| {
            let others = written.get(&number).into_iter().flatten();
            others.clone().all(|&(other, result)| !meet(words, other) || result.is_some_and(is_result))
        })
    })
}

/// The use of words by an event.
struct Access {
    begin: f64,
    end: f64,
    words: (u32, u32),
    writes: bool,
    event: usize,
}

/// The later and the earlier of two events that use the same words at once, if one writes them.
fn overlap(place: Place, mut accesses: Vec<Access>) -> Option<(usize, usize, Place)> {
    accesses.sort_by(|one, other| one.begin.total_cmp(&other.begin).then(one.end.total_cmp(&other.end)));
    let mut active: Vec<Access> = Vec::new();
    for access in accesses {
        active.retain(|other| other.end > access.begin);
        let disturbs = |other: &&Access| {
            let at_once = other.begin < access.end || access.begin == access.end;
            let writes = other.writes || access.writes;
            at_once && writes && other.event != access.event && meet(other.words, access.words)
        };
        if let Some(other) = active.iter().find(disturbs) {
            return Some((access.event, other.event, place));
        }
        active.push(access);
    }
    None
}

/// The executors of kernels that are kept.
const KEPT_EXECUTORS: usize = 64;

/// The contents of both memories.
struct Images<'a> {
    plan: &'a Plan<'a>,
    timeline: &'a Timeline,
    layout: Layout,
    /// The inputs: what the generator makes, and keys on the chip.
    inputs: FxHashMap<ValueId, Words>,
    moduli: FxHashMap<ModulusIndex, Modulus>,
    page: usize,
    vdm: Vec<u128>,
    off_chip: Vec<u128>,
    /// The launches whose parameters have come.
    fetched: FxHashSet<u32>,
    /// Executors of elementwise kernels by shape, and of operations by their rings and the results in place.
    executors: FxHashMap<String, Executor>,
}

impl<'a> Images<'a> {
    fn new(plan: &'a Plan<'a>, timeline: &'a Timeline, inputs: &Inputs<'_>) -> Result<Self, Fault> {
        let layout = Layout::new(plan);
        let given =
            |&(limb, value): &(Limb, ValueId)| (value, inputs.words(limb).expect("inputs are complete"));
        let (pages, page) = plan.pages();
        // Whatever reads a word before it is written gets a large one.
        let unwritten = plan.machine.instruction_set().max_word();
        let mut images = Self {
            plan,
            timeline,
            layout,
            inputs: plan.flow.inputs.iter().map(given).collect(),
            moduli: moduli(plan.program),
            page: page as usize,
            vdm: vec![unwritten; (pages * page) as usize],
            off_chip: vec![unwritten; timeline.places.words as usize],
            fetched: FxHashSet::default(),
            executors: FxHashMap::default(),
        };
        for (value, words) in images.inputs.clone() {
            for (index, word) in words.iter().enumerate() {
                images.set_off_chip(value.0, index, word);
            }
        }
        for index in 0..plan.program.degree().len() {
            images.set_off_chip(ValueId::ZERO.0, index, 0);
        }
        for launch in &plan.launches.launches {
            let Some(batch) = plan.launches.batch(launch) else { continue };
            let tables = images.tables(batch, launch);
            if tables.is_empty() {
                continue;
            }
            let rings = plan.launches.rings(plan.program, launch);
            let program = images.program(batch, &rings).map_err(|error| Fault::Launch { event: 0, error })?;
            let table = &program.vdm.segments[0].words;
            for (ring, &item) in tables.iter().enumerate() {
                let places = plan.kernels.kernel(batch, plan.machine).table_of(ring);
                for (index, place) in places.enumerate() {
                    images.set_off_chip(item, index, table[place as usize]);
                }
            }
        }
        Ok(images)
    }

    fn program(&self, batch: Batch, rings: &[(u128, Option<u128>)]) -> Result<Program, LaunchError> {
        Ok(self.plan.kernels.program(batch, rings, self.plan.machine)?)
    }

    /// The table of each ring of a launch.
    fn tables(&self, batch: Batch, launch: &Launch) -> Vec<u32> {
        let recipe = self.plan.kernels.recipe(batch);
        let rings = self.plan.launches.rings(self.plan.program, launch);
        let table = |ring| self.layout.tables.get(&(batch.operation, recipe, ring)).map(|item| item.0);
        rings.into_iter().filter_map(table).collect()
    }

    /// The place of a word of an item in the off-chip memory. Of a limb of which one half is there, these are
    /// the even words.
    fn place(&self, item: u32, word: usize) -> Option<usize> {
        let first = self.timeline.places.items[item as usize]? as usize;
        match self.layout.items[item as usize].halves {
            0 => None,
            1 => word.is_multiple_of(2).then_some(first + word / 2),
            _ => Some(first + word),
        }
    }

    fn set_off_chip(&mut self, item: u32, word: usize, value: u128) {
        if let Some(place) = self.place(item, word) {
            self.off_chip[place] = value;
        }
    }

    /// A word that comes from the off-chip memory, from the generator, or from a memory of keys.
    fn word(&self, item: u32, word: usize) -> u128 {
        match self.place(item, word) {
            Some(place) => self.off_chip[place],
            None => self.inputs[&ValueId(item)].at(word),
        }
    }

    fn limb_off_chip(&self, value: ValueId) -> Words {
        (0..self.plan.program.degree().len()).map(|index| self.word(value.0, index)).collect()
    }

    /// The place of a word of an extent in the VDM.
    fn at(&self, extent: &Extent, word: usize) -> usize {
        let offset = extent.offset as usize + word;
        extent.pages[offset / self.page] as usize * self.page + offset % self.page
    }

    fn read(&self, extent: &Extent) -> Vec<u128> {
        (0..extent.words as usize).map(|word| self.vdm[self.at(extent, word)]).collect()
    }

    fn write(&mut self, extent: &Extent, words: &[u128]) {
        for (word, &value) in words.iter().enumerate() {
            let place = self.at(extent, word);
            self.vdm[place] = value;
        }
    }

    fn apply(&mut self, number: usize, event: &Event) -> Result<(), Fault> {
        match &event.action {
            Action::Load(extents) => {
                for extent in extents {
                    let words = extent.first as usize..(extent.first + extent.words) as usize;
                    let words: Vec<u128> = words.map(|word| self.word(extent.item, word)).collect();
                    self.write(extent, &words);
                }
            }
            Action::Store(extents) => {
                for extent in extents {
                    for (word, value) in (extent.first as usize..).zip(self.read(extent)) {
                        self.set_off_chip(extent.item, word, value);
                    }
                }
            }
            Action::Fetch { launch } => {
                self.fetched.insert(*launch);
            }
            Action::Gather { launch, result } => {
                let launch = &self.plan.launches.launches[*launch as usize];
                let Work::Permute(permutation) = launch.work else {
                    unreachable!("a kernel gathers nothing")
                };
                let sources = self.plan.launches.sources(launch);
                let sources: Vec<Words> = sources.iter().map(|&value| self.limb_off_chip(value)).collect();
                let moved = permutation.apply(&sources[0], sources.last().expect("a source"));
                self.write(result, &moved.iter().collect::<Vec<_>>());
            }
            Action::Run { launch, operands, results, scratch } => {
                if !self.fetched.contains(launch) {
                    return Err(Fault::NoParameters(number));
                }
                self.run(*launch, operands, results, scratch)
                    .map_err(|error| Fault::Launch { event: number, error })?;
            }
        }
        Ok(())
    }

    /// Runs a kernel on the pages of its operands.
    fn run(
        &mut self,
        launch: u32,
        operands: &[Extent],
        results: &[Extent],
        scratch: &[u32],
    ) -> Result<(), LaunchError> {
        let plan = self.plan;
        let (launches, launch) = (plan.launches, &plan.launches.launches[launch as usize]);
        let first = results[0].first as usize..(results[0].first + results[0].words) as usize;
        let sources = launches.sources(launch);
        let extents: Vec<Option<&Extent>> =
            sources.iter().map(|value| operands.iter().find(|operand| operand.item == value.0)).collect();
        let words: Vec<Vec<u128>> = std::iter::zip(sources, &extents)
            .map(|(value, extent)| match extent {
                Some(extent) => self.read(extent),
                None => first.clone().map(|word| self.inputs[value].at(word)).collect(),
            })
            .collect();
        match launch.work {
            Work::Elementwise(shape) => {
                let key = format!("{shape:?}");
                let mut executor = match self.executors.remove(&key) {
                    Some(executor) => executor,
                    None => self.executor(plan.kernels.elementwise_program(shape))?,
                };
                let kernel = plan.kernels.elementwise(shape);
                set_parameters(&mut executor, kernel, (launches, launch), &self.moduli);
                for (index, words) in words.iter().enumerate() {
                    executor
                        .write(&Elementwise::input_name(index), words)
                        .expect("a kernel has its operands");
                }
                executor.run()?;
                for (index, result) in results.iter().enumerate() {
                    let words = executor.read(&Elementwise::output_name(index)).expect("a result");
                    self.write(result, &words);
                }
                self.keep(key, executor);
            }
            Work::Operation(operation) => {
                let rings = launches.rings(plan.program, launch);
                let batch = Batch { operation, rings: rings.len() as u16 };
                let in_place: Vec<bool> = std::iter::zip(results, &extents)
                    .map(|(result, extent)| extent.is_some_and(|extent| extent.pages == result.pages))
                    .collect();
                let key = format!("{operation:?} {rings:?} {in_place:?}");
                let mut executor = match self.executors.remove(&key) {
                    Some(executor) => executor,
                    None => {
                        let mut program = self.program(batch, &rings)?;
                        for (ring, _) in in_place.iter().enumerate().filter(|(_, in_place)| **in_place) {
                            move_symbol(&mut program, &batch.symbol("y", ring), &batch.symbol("x", ring));
                        }
                        self.executor(&program)?
                    }
                };
                for (ring, words) in words.iter().enumerate() {
                    executor.write(&batch.symbol("x", ring), words).expect("a kernel has its operands");
                }
                if let Some(table) = self.table(batch, launch, operands) {
                    executor.write("factors", &table).expect("a kernel has its table");
                }
                executor.run()?;
                if plan.kernels.operation(batch).overwrites_operand {
                    for (ring, extent) in extents.iter().enumerate() {
                        let words = executor.read(&batch.symbol("x", ring)).expect("an operand");
                        extent.iter().for_each(|extent| self.write(extent, &words));
                    }
                }
                for (ring, result) in results.iter().enumerate() {
                    let words = executor.read(&batch.symbol("y", ring)).expect("a result");
                    self.write(result, &words);
                }
                self.keep(key, executor);
            }
            Work::Permute(_) => unreachable!("a movement has no kernel"),
        }
        // Its scratch words are lost.
        let lost = plan.machine.instruction_set().max_word();
        for &number in scratch {
            self.vdm[number as usize * self.page..][..self.page].fill(lost);
        }
        Ok(())
    }

    fn executor(&self, program: &Program) -> Result<Executor, LaunchError> {
        let mut executor = Executor::for_program(self.plan.machine, program);
        executor.load(program)?;
        Ok(executor)
    }

    fn keep(&mut self, key: String, executor: Executor) {
        if self.executors.len() >= KEPT_EXECUTORS {
            self.executors.clear();
        }
        self.executors.insert(key, executor);
    }

    /// The table of a kernel, from the pages of its rings' tables.
    fn table(&self, batch: Batch, launch: &Launch, operands: &[Extent]) -> Option<Vec<u128>> {
        let kernel = self.plan.kernels.kernel(batch, self.plan.machine);
        let words = kernel.program.symbols.iter().find(|symbol| symbol.name == "factors")?.words;
        let mut table = vec![0; words as usize];
        for (ring, item) in self.tables(batch, launch).into_iter().enumerate() {
            let extent = operands.iter().find(|operand| operand.item == item).expect("a table is an operand");
            for (word, place) in kernel.table_of(ring).enumerate() {
                table[place as usize] = self.vdm[self.at(extent, word)];
            }
        }
        Some(table)
    }
}

/// Puts a symbol of a kernel and its address register where another symbol is.
fn move_symbol(program: &mut Program, name: &str, to: &str) {
    let start =
        |name: &str| program.symbols.iter().find(|symbol| symbol.name == name).map(|symbol| symbol.start);
    let (Some(from), Some(to)) = (start(name), start(to)) else { return };
    let registers = program.addresses.iter_mut().filter(|(_, address)| *address == from);
    registers.for_each(|(_, address)| *address = to);
    program.symbols.iter_mut().filter(|symbol| symbol.name == name).for_each(|symbol| symbol.start = to);
}
