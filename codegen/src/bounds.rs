//! Per-pass lower bounds on the cycle count.
//!
//! Each block of a pass reads results of almost all blocks of the pass before it. Passes therefore
//! hardly overlap, and the sum of their bounds is tighter than the bounds of the whole program. The
//! sum holds for every program that finishes one pass before it starts the next. A program that
//! overlaps the first blocks of a pass with the last blocks of the pass before it may be slightly
//! faster.
//!
//! The bounds apply to the vector code, independent of its schedule: each constant is loaded once, in
//! the pass that needs it first, and nothing is spilled.

use crate::code::{Code, ConstantId, InstId};
use crate::schedule::Addresses;
use b512_asm::{AReg, Instr, PerPipe, VReg};
use sim::Machine;
use sim::timing::Cycle;
use sim::timing::scheduling::{Decoder, MicroOp};

/// Lower bounds on the cycle count of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PassBound {
    /// The resource bound: the occupancy of the busiest pipe, including bank conflicts, or the
    /// dispatch cycles of the front end if they are more.
    pub resource: Cycle,
    /// The dependence bound: the latency of the longest chain of dependent instructions within the
    /// pass. A chain starts at a load or at a value that an earlier pass left in a register.
    pub dependence: Cycle,
}

impl PassBound {
    /// The larger bound, in cycles.
    pub fn cycles(&self) -> Cycle {
        self.resource.max(self.dependence)
    }
}

/// The resource usage and the longest dependence chain of a pass.
#[derive(Clone, Copy, Default)]
struct Count {
    /// The occupancy of each pipe and path, in cycles.
    busy: PerPipe<[u64; 2]>,
    instructions: u64,
    dependence: Cycle,
}

impl Count {
    /// Adds an instruction with operands available at `start`; returns the cycle in which its results
    /// are available.
    fn add(&mut self, machine: &Machine, micro_op: &MicroOp, start: Cycle) -> Cycle {
        self.busy[micro_op.pipe][usize::from(micro_op.path)] += u64::from(micro_op.occupancy);
        self.instructions += 1;
        let end = start + machine.frontend.dispatch_to_issue_cycles + micro_op.total_cycles();
        self.dependence = self.dependence.max(end);
        end
    }
}

/// The bounds of each pass. Passes of different towers with the same number are combined.
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
    // Registers in different SRAMs, so that the operands of an instruction do not conflict.
    let mut apart: Vec<VReg> = Vec::new();
    for reg in VReg::all() {
        if apart.iter().all(|&other| machine.vrf.placement.sram(other) != machine.vrf.placement.sram(reg)) {
            apart.push(reg);
        }
    }
    let (sources, results) = apart.split_at(3);
    let mut decode = |instr: Instr| decoder.decode(&instr);

    // Every dependence points backwards in program order.
    let passes = code.insts.iter().map(|inst| inst.pass + 1).max().unwrap_or(0);
    let mut counts = vec![Count::default(); passes as usize];
    // The pass that defines each value, and the cycle in which it is available there. Later passes
    // treat it as available from the start, like data in memory.
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
        // The offsets of scheduled code fit the address field.
        let Ok(instr) = addresses.instr(inst, sources, results) else { continue };
        let end = count.add(machine, &decode(instr), start);
        for value in inst.results.iter() {
            written[value.index()] = (inst.pass, end);
        }
    }
    let (width, interval) =
        (machine.dispatch_width().into(), u64::from(machine.frontend.cycles_per_instruction));
    let bound = |count: &Count| {
        let busy = count.busy.values().flatten().copied().max().unwrap_or(0);
        let groups = count.instructions.div_ceil(width);
        let resource = Cycle(busy.max(groups.saturating_sub(1) * interval + u64::from(groups > 0)));
        PassBound { resource, dependence: count.dependence }
    };
    counts.iter().map(bound).collect()
}

/// For each constant, its first user in the earliest pass that uses it.
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
