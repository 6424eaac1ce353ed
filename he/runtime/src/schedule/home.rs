//! The off-chip memory's space.

use super::{INSTRUCTION_BYTES, Layout, Plan, Uses, parameter_bytes};
use crate::flow::ValueId;
use crate::place::ItemId;
use ring_program::Group;

/// The use of the off-chip memory by a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HbmUse {
    /// What has a place during the whole program, with its bytes, in order.
    pub homes: Vec<(Home, u64)>,
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

    /// The bytes of inputs and outputs.
    pub(crate) fn compulsory_bytes(&self) -> u64 {
        let crosses = |home: &Home| match home {
            Home::Input(_) | Home::Output(_) => true,
            Home::Tables | Home::Programs => false,
        };
        self.homes.iter().filter(|(home, _)| crosses(home)).map(|(_, bytes)| bytes).sum()
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
    /// What has a place in the off-chip memory during the whole program, with its bytes.
    pub(super) fn homes(&self, plan: &Plan<'_>, uses: &Uses) -> Vec<(Home, u64)> {
        let Plan { program, flow, launches, kernels, machine, .. } = plan;
        let isa = machine.instruction_set();
        let mut value_of = vec![None; program.limbs().len()];
        flow.inputs.iter().for_each(|&(limb, value)| value_of[limb.index()] = Some(value));
        let mut values = Values { layout: self, counted: vec![false; flow.values], halves: 0 };
        let limb_words = program.degree().get();
        let mut homes = Vec::new();
        let bytes = |halves: u64| isa.bytes(halves * limb_words) / 2;
        for (index, Group { limbs, .. }) in (0..).zip(program.inputs()) {
            limbs.iter().filter_map(|limb| value_of[limb.index()]).for_each(|value| values.add(value));
            homes.push((Home::Input(index), bytes(values.take())));
        }
        for (index, limbs) in (0..).zip(&flow.outputs) {
            limbs.iter().for_each(|&value| values.add(value));
            homes.push((Home::Output(index), bytes(values.take())));
        }
        let words: u64 = self.items[flow.values..].iter().map(|table| u64::from(table.words)).sum();
        let reads_zeros = uses.any(ItemId(ValueId::ZERO.0)) && !values.counted[ValueId::ZERO.index()];
        let zeros = if reads_zeros { limb_words } else { 0 };
        homes.push((Home::Tables, isa.bytes(words + zeros)));
        let parameters = launches
            .launches
            .iter()
            .filter_map(|launch| Some(parameter_bytes(plan, launch, plan.kernel(launch)?)));
        let instructions = INSTRUCTION_BYTES * kernels.instructions() as u64;
        homes.push((Home::Programs, instructions + parameters.sum::<u64>()));
        homes
    }
}

/// Values that are counted once.
struct Values<'a> {
    layout: &'a Layout,
    counted: Vec<bool>,
    /// The halves of limbs so far.
    halves: u64,
}

impl Values<'_> {
    fn add(&mut self, value: ValueId) {
        if !self.layout.sources.is_on_chip(value)
            && !std::mem::replace(&mut self.counted[value.index()], true)
        {
            self.halves += u64::from(self.layout.items[value.index()].halves);
        }
    }

    fn take(&mut self) -> u64 {
        std::mem::take(&mut self.halves)
    }
}
