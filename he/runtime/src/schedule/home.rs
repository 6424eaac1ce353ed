//! The off-chip memory's space.

use super::{INSTRUCTION_BYTES, Layout, Plan, Uses, parameter_bytes, program_of};
use crate::flow::ValueId;
use crate::schedule::place::ItemId;
use crate::schedule::record::{Action, Event, Places};
use crate::schedule::time::Span;
use ring_program::Group;

/// The use of the off-chip memory by a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HbmUse {
    /// What has a place during the whole program, with its bytes, in order.
    pub homes: Vec<(Home, u64)>,
    /// The bytes that every mapping transfers: the limbs of inputs that a launch reads and no memory on the
    /// chip has, and the limbs of outputs that a launch makes, each once.
    pub compulsory_bytes: u64,
    /// The most bytes of other limbs that the memory holds at once.
    pub saved_bytes: u64,
    /// The index of the launch that saves the last of these.
    pub launch: u32,
}

/// Data with a place in the off-chip memory during the whole program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// The limbs of an input that the program reads and that no memory on the chip has: its index in
    /// [`RingProgram::inputs`](ring_program::RingProgram::inputs).
    Input(u32),
    /// The limbs of an output that are no input's and no earlier output's: its index in
    /// [`RingProgram::outputs`](ring_program::RingProgram::outputs).
    Output(u32),
    /// The tables of factors, and zeros.
    Tables,
    /// The programs, and the parameters of all launches.
    Programs,
}

impl HbmUse {
    /// The bytes that the memory must have.
    pub fn bytes(&self) -> u64 {
        self.homes.iter().map(|(_, bytes)| bytes).sum::<u64>() + self.saved_bytes
    }

    /// The first data that end beyond a memory of `capacity` bytes. `None` if only saved limbs do.
    pub(crate) fn beyond(&self, capacity: u64) -> Option<Home> {
        let mut end = 0;
        let beyond = |&&(_, bytes): &&(Home, u64)| {
            end += bytes;
            end > capacity
        };
        self.homes.iter().find(beyond).map(|&(home, _)| home)
    }
}

impl Layout {
    /// See [`HbmUse::compulsory_bytes`]. Outputs that are inputs or zeros have a place, but nothing stores
    /// them.
    pub(super) fn compulsory_bytes(&self, plan: &Plan<'_>, uses: &Uses) -> u64 {
        let mut is_there = vec![false; plan.flow.values];
        is_there[ValueId::ZERO.index()] = true;
        let mut halves = 0;
        for &(_, value) in &plan.flow.inputs {
            is_there[value.index()] = true;
            if uses.any(ItemId(value.0)) && !self.is_on_chip(value) {
                halves += u64::from(self.items[value.index()].halves);
            }
        }
        for value in plan.flow.outputs.iter().flatten() {
            if !std::mem::replace(&mut is_there[value.index()], true) {
                halves += 2;
            }
        }
        plan.machine.instruction_set().bytes(halves * plan.program.degree().get()) / 2
    }

    /// What has a place in the off-chip memory during the whole program, with its bytes; and the places of
    /// limbs.
    pub(super) fn homes(&self, plan: &Plan<'_>, uses: &Uses) -> (Vec<(Home, u64)>, Limbs) {
        let Plan { program, flow, launches, kernels, machine, .. } = plan;
        let isa = machine.instruction_set();
        let mut value_of = vec![None; program.limbs().len()];
        flow.inputs.iter().for_each(|&(limb, value)| value_of[limb.index()] = Some(value));
        let mut limbs = Limbs { starts: vec![Limbs::NONE; flow.values], halves: 0, reads_zeros: false };
        let limb_words = program.degree().get();
        let mut homes = Vec::new();
        let bytes = |halves: u32| isa.bytes(u64::from(halves) * limb_words) / 2;
        for (index, group) in (0..).zip(program.inputs()) {
            let Group { limbs: of_group, .. } = group;
            let before = limbs.halves;
            of_group
                .iter()
                .filter_map(|limb| value_of[limb.index()])
                .for_each(|value| limbs.add(self, value));
            homes.push((Home::Input(index), bytes(limbs.halves - before)));
        }
        for (index, values) in (0..).zip(&flow.outputs) {
            let before = limbs.halves;
            values.iter().for_each(|&value| limbs.add(self, value));
            homes.push((Home::Output(index), bytes(limbs.halves - before)));
        }
        let words: u64 = self.items[flow.values..].iter().map(|table| u64::from(table.words)).sum();
        limbs.reads_zeros = uses.any(ItemId(ValueId::ZERO.0)) && limbs.start(ValueId::ZERO).is_none();
        let zeros = if limbs.reads_zeros { limb_words } else { 0 };
        homes.push((Home::Tables, isa.bytes(words + zeros)));
        let parameters = launches
            .launches
            .iter()
            .filter_map(|launch| Some(parameter_bytes(plan, launch, plan.kernel(launch)?)));
        let instructions = INSTRUCTION_BYTES * kernels.instructions() as u64;
        homes.push((Home::Programs, instructions + parameters.sum::<u64>()));
        (homes, limbs)
    }

    /// The place of everything in the off-chip memory: limbs, tables and zeros; then programs and parameters;
    /// then the limbs that are saved, each in the first place that no other takes from its save to its last
    /// load.
    pub(super) fn places(&self, plan: &Plan<'_>, limbs: &Limbs, events: &[Event]) -> Places {
        let (n, isa) = (plan.program.degree().get(), plan.machine.instruction_set());
        let limb = |value| limbs.start(ValueId(value)).map(|halves| u64::from(halves) * n / 2);
        let mut items: Vec<Option<u64>> = (0..plan.flow.values as u32).map(limb).collect();
        let mut words = u64::from(limbs.halves) * n / 2;
        for table in &self.items[plan.flow.values..] {
            items.push(Some(words));
            words += u64::from(table.words);
        }
        if limbs.reads_zeros {
            items[ValueId::ZERO.index()] = Some(words);
            words += n;
        }
        let mut end = isa.bytes(words);
        let mut place = |bytes: u64| {
            end += bytes;
            end - bytes
        };
        let mut known = rustc_hash::FxHashMap::default();
        let (mut programs, mut parameters) = (Vec::new(), Vec::new());
        for launch in &plan.launches.launches {
            let kernel = plan.kernel(launch);
            programs.push(kernel.map(|kernel| {
                let program = program_of(plan.launches, launch);
                *known.entry(program).or_insert_with(|| place(INSTRUCTION_BYTES * kernel.instructions as u64))
            }));
            parameters.push(kernel.map(|kernel| place(parameter_bytes(plan, launch, kernel))));
        }
        let first = (8 * end).div_ceil(isa.word_bits().into());
        let slots = self.slots(plan, &mut items, events, (first, n));
        Places { items, programs, parameters, words: first + slots * n }
    }

    /// Gives each limb that is saved and has no place one of equal size from word `first` on. Returns their
    /// number.
    fn slots(
        &self,
        plan: &Plan<'_>,
        items: &mut [Option<u64>],
        events: &[Event],
        (first, n): (u64, u64),
    ) -> u64 {
        // The time from the first save of each limb to its last load.
        let mut spans: Vec<Option<Span>> = vec![None; items.len()];
        let mut extend = |item: u32, span: Span| {
            // Nothing saves the keys of a memory of their own, and those of the generator.
            let is_there = || self.items[item as usize].halves > 0 && !self.is_on_chip(ValueId(item));
            if items[item as usize].is_none() && is_there() {
                let known = spans[item as usize].get_or_insert(span);
                known.begin_ns = known.begin_ns.min(span.begin_ns);
                known.end_ns = known.end_ns.max(span.end_ns);
            }
        };
        for Event { span, action } in events {
            match action {
                Action::Load(extents) | Action::Store(extents) => {
                    extents.iter().for_each(|extent| extend(extent.item, *span));
                }
                Action::Gather { launch, .. } => {
                    let launch = &plan.launches.launches[*launch as usize];
                    plan.launches.sources(launch).iter().for_each(|value| extend(value.0, *span));
                }
                Action::Fetch { .. } | Action::Run { .. } => {}
            }
        }
        let mut saved: Vec<(usize, Span)> =
            spans.into_iter().enumerate().filter_map(|(item, span)| Some((item, span?))).collect();
        saved.sort_by(|one, other| one.1.begin_ns.total_cmp(&other.1.begin_ns));
        let mut free_from: Vec<f64> = Vec::new();
        for (item, span) in saved {
            let slot = free_from.iter().position(|&free| free <= span.begin_ns).unwrap_or_else(|| {
                free_from.push(0.0);
                free_from.len() - 1
            });
            free_from[slot] = span.end_ns;
            items[item] = Some(first + slot as u64 * n);
        }
        free_from.len() as u64
    }
}

/// The places of limbs in the off-chip memory, in halves of limbs.
pub(super) struct Limbs {
    starts: Vec<u32>,
    /// The halves of limbs so far.
    halves: u32,
    /// Whether zeros have a place beside the tables.
    reads_zeros: bool,
}

impl Limbs {
    const NONE: u32 = u32::MAX;

    fn start(&self, value: ValueId) -> Option<u32> {
        Some(self.starts[value.index()]).filter(|&start| start != Self::NONE)
    }

    /// Adds a value unless it has a place, or a memory on the chip has it.
    fn add(&mut self, layout: &Layout, value: ValueId) {
        let start = &mut self.starts[value.index()];
        let halves = layout.items[value.index()].halves;
        if *start == Self::NONE && halves > 0 && !layout.is_on_chip(value) {
            *start = self.halves;
            self.halves += u32::from(halves);
        }
    }
}
