//! What forbids a program to go faster, pass by pass.
//!
//! A pass of a plan reads what the pass before it has left in memory, and each of its blocks reads
//! what nearly all blocks of that pass have written: so passes hardly overlap, and the sum of their
//! bounds says more than the bounds of the whole program. It is a bound for every program that
//! finishes one pass before it starts the next; one that lets the first blocks of a pass overlap
//! the last ones of the pass before may go below it by a little.
//!
//! The bounds are those of the vector code, whatever a scheduler makes of it: each constant is
//! loaded once, in the pass that needs it first, and nothing is spilled.

use crate::code::{Code, ConstantId, InstId};
use crate::schedule::Addresses;
use b512_asm::{AReg, Instr, VReg};
use sim::Machine;
use sim::timing::{Cycle, Decoder, Work};

/// The cycles below which a pass cannot go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PassBound {
    /// The occupied cycles of the most loaded of the three pipes, bank conflicts included, or the
    /// cycles that the front end takes to dispatch the pass.
    pub resource: Cycle,
    /// The longest chain of instructions, each of which reads what the one before it wrote, from
    /// a load, or a value that the pass before it has left in a register, to a store.
    pub dependence: Cycle,
}

impl PassBound {
    /// The larger of the two.
    pub fn cycles(&self) -> Cycle {
        self.resource.max(self.dependence)
    }
}

/// What is counted of a pass.
#[derive(Clone, Copy, Default)]
struct Count {
    /// Occupied cycles of each pipe and path.
    busy: [[u64; 2]; 3],
    instructions: u64,
    dependence: Cycle,
}

impl Count {
    /// Adds an instruction whose operands are there at `start`; returns when its results are.
    fn add(&mut self, machine: &Machine, work: &Work, start: Cycle) -> Cycle {
        self.busy[work.pipe.index()][usize::from(work.path)] += u64::from(work.occupancy);
        self.instructions += 1;
        let end = start + machine.frontend.dispatch_to_issue_cycles + work.total_cycles();
        self.dependence = self.dependence.max(end);
        end
    }
}

/// The bounds of each pass. The passes of several towers with the same number count as one.
pub(crate) fn passes(
    code: &Code,
    addresses: &Addresses,
    launch: &[(AReg, u32)],
    machine: &Machine,
) -> Vec<PassBound> {
    let mut decoder = Decoder::new(machine);
    for &(reg, address) in launch {
        decoder.set_address(reg, address);
    }
    // Registers of an instruction that do not share an SRAM.
    let mut apart: Vec<VReg> = Vec::new();
    for reg in VReg::all() {
        if apart.iter().all(|&other| machine.vrf.placement.sram(other) != machine.vrf.placement.sram(reg)) {
            apart.push(reg);
        }
    }
    let (sources, results) = apart.split_at(3);
    let mut decode = |instr: Instr| decoder.decode(&instr);

    // The order of the instructions respects their dependences.
    let passes = code.insts.iter().map(|inst| inst.pass + 1).max().unwrap_or(0);
    let mut counts = vec![Count::default(); passes as usize];
    // When each value is there, in the pass that defines it; later ones find it, as in memory.
    let mut written = vec![(0, Cycle::ZERO); code.values as usize];
    let first_user = first_users(code);
    for (number, inst) in code.insts.iter().enumerate() {
        let count = &mut counts[inst.pass as usize];
        let here = inst.sources.iter().map(|value| written[value.index()]).filter(|w| w.0 == inst.pass);
        let mut start = here.map(|(_, end)| end).max().unwrap_or_default();
        if let Some(constant) = inst.constant
            && first_user[constant.index()] == Some(InstId(number as u32))
            && let Ok(load) = addresses.load_constant(code, constant, results[0])
        {
            start = start.max(count.add(machine, &decode(load), Cycle::ZERO));
        }
        // Code that has been scheduled fits the address field.
        let Ok(instr) = addresses.instr(inst, sources, results) else { continue };
        let end = count.add(machine, &decode(instr), start);
        for value in inst.results.iter() {
            written[value.index()] = (inst.pass, end);
        }
    }
    let width = if machine.ideal.front_end { u64::MAX } else { machine.frontend.width.into() };
    let bound = |count: &Count| {
        let busy = count.busy.as_flattened().iter().copied().max().unwrap_or(0);
        let resource = Cycle(busy.max(count.instructions.div_ceil(width)));
        PassBound { resource, dependence: count.dependence }
    };
    counts.iter().map(bound).collect()
}

/// The first instruction of the earliest pass that uses each constant.
fn first_users(code: &Code) -> Vec<Option<InstId>> {
    let mut users: Vec<Option<InstId>> = vec![None; code.constants.len()];
    for (number, inst) in code.insts.iter().enumerate() {
        let Some(ConstantId(constant)) = inst.constant else { continue };
        let user = &mut users[constant as usize];
        if user.is_none_or(|user| inst.pass < code.insts[user.index()].pass) {
            *user = Some(InstId(number as u32));
        }
    }
    users
}
