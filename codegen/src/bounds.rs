//! Lower bounds on the cycle count of each pass.
//!
//! Each block of a pass reads results of almost all blocks of the pass before it. Passes therefore
//! hardly overlap, and the sum of their bounds is tighter than the bounds of the whole program. The
//! sum holds for every program that finishes one pass before it starts the next. A program that
//! overlaps the first blocks of a pass with the last blocks of the pass before it may be slightly
//! faster.
//!
//! The bounds apply to the vector code, independent of its schedule: each constant is loaded once, in
//! the pass that needs it first, and nothing is spilled.
//!
//! Instructions of one pipe issue one after the other. If they all issue at cycle h or later, the last one
//! completes at h plus their occupancies plus the least of their latencies, or later. This holds for the
//! operands of an instruction, such as two shuffles of the same values. In a program of one pass, it also
//! holds for all instructions of a pipe.

use crate::code::{Code, ConstantId, InstId};
use crate::schedule::Addresses;
use arrayvec::ArrayVec;
use b512_asm::{AReg, Instr, PerPipe, Pipe, SReg, VReg};
use sim::Machine;
use sim::timing::Cycle;
use sim::timing::scheduling::{Decoder, MicroOp};

/// Lower bounds on the cycle count of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PassBound {
    /// The resource bound: the occupancy of the busiest pipe, including bank conflicts, or the
    /// dispatch cycles of the front end if they are more.
    pub resource: Cycle,
    /// The dependence bound: the cycles of the longest chain of dependent instructions within the
    /// pass. A chain starts at a load or at a value that an earlier pass left in a register. Operands from
    /// one pipe come one after the other.
    pub dependence: Cycle,
    /// The combined bound, if the program has only this pass; else 0. The instructions of a pipe issue
    /// one after the other, each after the chains that it depends on.
    pub combined: Cycle,
}

impl PassBound {
    /// The largest bound, in cycles.
    pub fn cycles(&self) -> Cycle {
        self.resource.max(self.dependence).max(self.combined)
    }
}

/// An instruction on a pipe and path.
#[derive(Clone, Copy)]
struct Job {
    unit: (Pipe, u8),
    /// The earliest issue.
    head: Cycle,
    occupancy: u32,
    latency: u32,
}

impl Job {
    fn new(micro_op: &MicroOp, head: Cycle) -> Self {
        let &MicroOp { pipe, path, occupancy, latency, .. } = micro_op;
        Self { unit: (pipe, path), head, occupancy, latency }
    }

    fn end(&self) -> Cycle {
        self.head + self.occupancy + self.latency
    }
}

/// A lower bound on the cycle in which the last of some jobs completes. Sorts them.
fn last_completion(jobs: &mut [Job]) -> Cycle {
    // Those of a unit, the latest first: each prefix of them gives a bound.
    jobs.sort_by_key(|job| (job.unit, std::cmp::Reverse(job.head)));
    let mut last = Cycle::ZERO;
    for unit in jobs.chunk_by(|one, other| one.unit == other.unit) {
        let (mut busy, mut latency) = (0, u32::MAX);
        for job in unit {
            busy += u64::from(job.occupancy);
            latency = latency.min(job.latency);
            last = last.max(Cycle(job.head.0 + busy + u64::from(latency))).max(job.end());
        }
    }
    last
}

/// The resource usage, the longest dependence chain and the jobs of a pass.
#[derive(Clone, Default)]
struct Count {
    /// The occupancy of each pipe and path, in cycles.
    busy: PerPipe<[u64; 2]>,
    instructions: u64,
    dependence: Cycle,
    jobs: Vec<Job>,
}

impl Count {
    /// Adds an instruction that dispatches at `start` or later.
    fn add(&mut self, machine: &Machine, micro_op: &MicroOp, start: Cycle) -> Job {
        self.busy[micro_op.pipe][usize::from(micro_op.path)] += u64::from(micro_op.occupancy);
        self.instructions += 1;
        let job = Job::new(micro_op, start + machine.frontend.dispatch_to_issue_cycles);
        self.dependence = self.dependence.max(job.end());
        self.jobs.push(job);
        job
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
    // The pass that defines each value, and the instruction that does, with its job. Later passes treat the
    // value as available from the start, like data in memory.
    let mut written: Vec<Option<(u32, usize, Job)>> = vec![None; code.values as usize];
    // In the first cycles, nothing dispatches.
    let first = Cycle(u64::from(machine.frontend.fetch_to_dispatch_cycles));
    let first_user = first_users(code);
    for (number, inst) in code.insts.iter().enumerate() {
        let count = &mut counts[inst.pass as usize];
        let begin = if inst.pass == 0 { first } else { Cycle::ZERO };
        // An instruction with two results is one job.
        let mut here: ArrayVec<(usize, Job), 4> = ArrayVec::new();
        for (pass, producer, job) in inst.sources.iter().filter_map(|value| written[value.index()]) {
            if pass == inst.pass && here.iter().all(|&(known, _)| known != producer) {
                here.push((producer, job));
            }
        }
        let mut operands: ArrayVec<Job, 4> = here.into_iter().map(|(_, job)| job).collect();
        if let Some(constant) = inst.constant
            && first_user[constant.index()] == Some(InstId(number as u32))
            && let Ok(load) = addresses.load_constant(code, constant, results[0])
        {
            operands.push(count.add(machine, &decode(load), begin));
        }
        let start = last_completion(&mut operands).max(begin);
        // The offsets of scheduled code fit the address field.
        let scalar = inst.scalar.map(|_| SReg::at(0));
        let Ok(instr) = addresses.instr(inst, sources, results, scalar) else { continue };
        let job = count.add(machine, &decode(instr), start);
        for value in inst.results.iter() {
            written[value.index()] = Some((inst.pass, number, job));
        }
    }
    let (width, interval) =
        (machine.dispatch_width().into(), u64::from(machine.frontend.cycles_per_instruction));
    let bound = |count: &mut Count| {
        let busy = count.busy.values().flatten().copied().max().unwrap_or(0);
        let groups = count.instructions.div_ceil(width);
        let resource = Cycle(busy.max(groups.saturating_sub(1) * interval + u64::from(groups > 0)));
        let combined = if passes == 1 { last_completion(&mut count.jobs) } else { Cycle::ZERO };
        PassBound { resource, dependence: count.dependence, combined }
    };
    counts.iter_mut().map(bound).collect()
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
