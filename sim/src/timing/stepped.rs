//! The model that steps every clock, to check the event-driven one.
//!
//! It is written from the header of [`crate::timing`] alone, in the most direct way, and shares no
//! code with [`Engine`](super::scheduling::Engine): one loop over the cycles, which evaluates each
//! rule in every cycle. It is slow.

use super::{Cause, Cycle, Timestamps, Timing};
use crate::machine::{
    Arbitration, BankMapping, Busyboard, Machine, Placement, SRAMS, SourceRelease, VbarPaths, VrfPorts,
};
use b512_asm::{AddressMode, Class, Instr, Op, PerPipe, Pipe, Program, VReg, VectorAccess};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The effect of one instruction on the machine after its issue.
struct Execution {
    pipe: Pipe,
    /// The half of a split VBAR: 1 for stores, 0 for all else.
    path: usize,
    sources: Vec<VReg>,
    destinations: Vec<VReg>,
    occupancy: u64,
    latency: u64,
    /// Cycles that bank conflicts add to the occupancy.
    bank_conflicts: u64,
    /// Every access to the register file: cycles from issue, and the port.
    accesses: Vec<(u64, Port)>,
}

/// A port of the register file: the SRAM, and whether it is a second port, for writes.
type Port = (usize, bool);

/// An instruction that has dispatched to a pipe.
struct InFlight {
    /// Its place in the program.
    index: usize,
    execution: Execution,
    dispatch: u64,
    issue: Option<u64>,
}

impl InFlight {
    fn complete(&self) -> Option<u64> {
        Some(self.issue? + self.execution.latency + self.execution.occupancy)
    }

    /// Whether it keeps `register` busy at `cycle` for a writer, or for a reader.
    fn makes_busy(&self, machine: &Machine, register: VReg, cycle: u64, for_write: bool) -> bool {
        let Execution { sources, destinations, occupancy, .. } = &self.execution;
        let under_way = |release: Option<u64>| release.is_none_or(|release| cycle < release);
        let source_release = match machine.frontend.source_release {
            SourceRelease::Complete => self.complete(),
            SourceRelease::Read => self.issue.map(|issue| issue + occupancy),
        };
        let read = sources.contains(&register) && under_way(source_release);
        let written = destinations.contains(&register) && under_way(self.complete());
        match machine.frontend.busyboard {
            Busyboard::Strict => read || written,
            Busyboard::SharedReads => written || for_write && read,
        }
    }
}

/// Runs a program clock by clock.
///
/// Everything in the result is observed, so its bounds, which are not, stay zero.
pub fn simulate(machine: &Machine, program: &Program) -> Timing {
    let mut addresses = BTreeMap::new();
    for &(register, address) in &program.addresses {
        addresses.insert(register, address);
    }

    let mut timing = Timing::default();
    let mut in_flight: Vec<InFlight> = Vec::new();
    let mut queues: PerPipe<VecDeque<usize>> = PerPipe::default();
    let mut pipe_free = PerPipe::<[u64; 2]>::default();
    // For each cycle, the ports that are in use.
    let mut in_use: Vec<[[bool; 2]; SRAMS]> = Vec::new();
    let mut held_until = 0;
    let mut next = 0;

    let mut cycle: u64 = 0;
    loop {
        // Instructions that complete in this cycle release their registers first.
        in_flight.retain(|instruction| instruction.complete().is_none_or(|complete| complete > cycle));
        if next == program.instructions.len() && in_flight.is_empty() {
            break;
        }

        // Then the front end dispatches.
        let mut dispatched = 0;
        let mut cause = None;
        while let Some(instr) = program.instructions.get(next) {
            let earlier = next.checked_sub(machine.dispatch_width() as usize);
            let interval = u64::from(machine.frontend.cycles_per_instruction);
            if earlier.is_some_and(|earlier| cycle < timing.timestamps[earlier].dispatch.0 + interval) {
                cause = Some(Cause::Fetch);
                break;
            }
            cause = why_not(machine, instr, cycle, held_until, &in_flight, &queues);
            if cause.is_some() {
                break;
            }
            let address = |base, offset| addresses.get(&base).copied().unwrap_or(0u32).wrapping_add(offset);
            let execution = match (instr.pipe(), instr.vector_access()) {
                (Pipe::Scalar, _) => None,
                (_, Some(VectorAccess { base, offset, mode, .. })) => {
                    Some(load_store(machine, instr, address(base, offset.words()), mode))
                }
                (_, None) => Some(compute_or_shuffle(machine, instr)),
            };
            timing.instructions[instr.pipe()] += 1;
            timing.timestamps.push(Timestamps {
                dispatch: Cycle(cycle),
                issue: Cycle(cycle),
                complete: Cycle(cycle),
            });
            match execution {
                Some(execution) => {
                    queues[execution.pipe].push_back(next);
                    in_flight.push(InFlight { index: next, execution, dispatch: cycle, issue: None });
                }
                None if instr.op() != Op::Halt => {
                    held_until = cycle + u64::from(machine.scalar.load_latency_cycles);
                    if let Instr::Aload { rt, offset } = *instr {
                        let word = program.sdm.word(offset.words());
                        addresses.insert(rt, word as u32);
                    }
                }
                None => {}
            }
            dispatched += 1;
            next += 1;
        }
        let cause = match cause {
            _ if dispatched > 0 => Cause::Issue,
            Some(cause) => cause,
            None => Cause::Drain,
        };

        // Then the pipes issue, each queue its head, at most once.
        let mut heads: Vec<usize> = queues.values().filter_map(|queue| queue.front().copied()).collect();
        match machine.vrf.arbitration {
            Arbitration::OldestFirst => heads.sort_unstable(),
            Arbitration::PipeOrder => {}
        }
        for index in heads {
            let waiting = in_flight.iter_mut().find(|instruction| instruction.index == index);
            let instruction = waiting.expect("what waits is in flight");
            let Execution { pipe, path, occupancy, latency, accesses, .. } = &instruction.execution;
            let bank_conflicts = instruction.execution.bank_conflicts;
            let pipe = *pipe;
            let ready = instruction.dispatch + u64::from(machine.frontend.dispatch_to_issue_cycles);
            let is_taken = |&(offset, (sram, second)): &(u64, Port)| {
                in_use.get((cycle + offset) as usize).is_some_and(|in_use| in_use[sram][usize::from(second)])
            };
            if cycle < ready || cycle < pipe_free[pipe][*path] {
                continue;
            }
            if accesses.iter().any(is_taken) {
                timing.port_wait[pipe] += 1;
                continue;
            }
            for &(offset, (sram, second)) in accesses {
                let at = (cycle + offset) as usize;
                if in_use.len() <= at {
                    in_use.resize(at + 1, [[false; 2]; SRAMS]);
                }
                let is_taken = &mut in_use[at][sram][usize::from(second)];
                assert!(!*is_taken, "instruction {index} meets itself in SRAM {sram}");
                *is_taken = true;
                timing.sram_busy[sram] += 1;
            }
            pipe_free[pipe][*path] = cycle + occupancy;
            timing.busy[pipe] += occupancy;
            timing.bank_conflicts += bank_conflicts;
            timing.timestamps[index].issue = Cycle(cycle);
            timing.timestamps[index].complete = Cycle(cycle + latency + occupancy);
            queues[pipe].pop_front();
            instruction.issue = Some(cycle);
        }

        timing.stalls.charge(cause, 1);
        cycle += 1;
    }
    timing.cycles = Cycle(cycle);
    timing
}

/// The first condition of dispatch that `instr` fails in this cycle.
fn why_not(
    machine: &Machine,
    instr: &Instr,
    cycle: u64,
    held_until: u64,
    in_flight: &[InFlight],
    queues: &PerPipe<VecDeque<usize>>,
) -> Option<Cause> {
    if cycle < u64::from(machine.frontend.fetch_to_dispatch_cycles) {
        return Some(Cause::Fetch);
    }
    if cycle < held_until {
        return Some(Cause::Scalar);
    }
    if instr.pipe() == Pipe::Scalar {
        return None;
    }
    let (sources, destinations) = (instr.vector_reads(), instr.vector_writes());
    let sources = sources.iter().map(|&register| (register, false));
    let destinations = destinations.iter().map(|&register| (register, true));
    for (register, for_write) in sources.chain(destinations) {
        for pipe in Pipe::VECTOR {
            let of_pipe = in_flight.iter().filter(|instruction| instruction.execution.pipe == pipe);
            for instruction in of_pipe {
                if instruction.makes_busy(machine, register, cycle, for_write) {
                    return Some(Cause::Busy(pipe));
                }
            }
        }
    }
    // No instruction leaves a queue between the end of the previous cycle and this point.
    let waiting = queues[instr.pipe()].len();
    let full = !machine.ideal.queues && waiting >= machine.frontend.queue_depth as usize;
    full.then(|| Cause::Queue(instr.pipe()))
}

fn compute_or_shuffle(machine: &Machine, instr: &Instr) -> Execution {
    let multiplier = machine.hple.multiplier_latency_cycles;
    let adder = machine.hple.adder_latency_cycles;
    let latency = match instr.class() {
        Class::Multiply => multiplier,
        Class::Add | Class::Subtract => adder,
        Class::Butterfly(_) => multiplier + adder,
        Class::Permute(_) => machine.sbar_stages(),
        Class::Load | Class::Store | Class::ScalarLoad | Class::Halt => {
            unreachable!("neither computes nor shuffles")
        }
    };
    let initiation_interval = match instr.pipe() {
        Pipe::Compute => machine.hple.initiation_interval,
        Pipe::Shuffle => machine.sbar.initiation_interval,
        Pipe::LoadStore | Pipe::Scalar => unreachable!("neither computes nor shuffles"),
    };
    let beats = machine.instruction_set().vector_length() / machine.hple.count;
    execution(machine, instr, beats, initiation_interval, latency)
}

fn load_store(machine: &Machine, instr: &Instr, address: u32, mode: AddressMode) -> Execution {
    let is_store = instr.op() == Op::Vstore;
    let split = machine.vbar.paths == VbarPaths::Split;
    let ports = if split { 1 } else { machine.vdm.ports };
    let elements = machine.instruction_set().vector_length();
    let lanes_per_beat = machine.hple.count.min(machine.vdm.banks);
    let mut occupancy = 0;
    let mut first_lane = 0;
    while first_lane < elements {
        let access = |lane| {
            let word = address.wrapping_add(mode.element(lane));
            (bank(machine, word), word)
        };
        let mut accesses: Vec<(u32, u32)> = (first_lane..first_lane + lanes_per_beat).map(access).collect();
        accesses.sort_unstable();
        if !is_store && machine.vdm.multicast {
            accesses.dedup();
        }
        let of_banks = accesses.chunk_by(|(one, _), (other, _)| one == other);
        let most = of_banks.map(|of_bank| of_bank.len() as u32).max().unwrap_or(0);
        let rounds = if machine.ideal.bank_conflicts { 1 } else { most.div_ceil(ports) };
        occupancy += rounds * machine.vbar.initiation_interval;
        first_lane += lanes_per_beat;
    }
    let path = usize::from(split && is_store);
    // To the register file each cycle of the occupancy is a beat.
    // A bank of the VDM is late, and not busy for longer.
    let late = if is_store { 0 } else { machine.vdm_access_cycles() - 1 };
    let execution = execution(machine, instr, occupancy, 1, machine.vbar_stages() + late);
    let without_conflicts = elements / lanes_per_beat * machine.vbar.initiation_interval;
    Execution { path, bank_conflicts: u64::from(occupancy - without_conflicts), ..execution }
}

fn bank(machine: &Machine, word: u32) -> u32 {
    let banks = machine.vdm.banks;
    match machine.vdm.mapping {
        BankMapping::Interleaved => word % banks,
        BankMapping::Xor => {
            // Digit by digit of the address in base `banks`.
            let mut digits = word;
            let mut folded = 0;
            while banks > 1 && digits > 0 {
                folded ^= digits % banks;
                digits /= banks;
            }
            folded
        }
    }
}

fn execution(
    machine: &Machine,
    instr: &Instr,
    beats: u32,
    initiation_interval: u32,
    latency: u32,
) -> Execution {
    let sources = instr.vector_reads().to_vec();
    let destinations = instr.vector_writes().to_vec();
    let reads = registers_of_each_sram(machine, &sources);
    let writes = registers_of_each_sram(machine, &destinations);

    let mut interval = initiation_interval;
    for sram in 0..SRAMS {
        interval = interval.max(reads[sram]).max(writes[sram]);
    }
    let mut latency = latency;
    let both: Vec<usize> = (0..SRAMS).filter(|&sram| reads[sram] > 0 && writes[sram] > 0).collect();
    let two_ports = machine.vrf.ports == VrfPorts::TwoPort;
    if !two_ports && !both.is_empty() && latency < beats * interval {
        let most_reads = both.iter().map(|&sram| reads[sram]).max().unwrap_or(0);
        let most_writes = both.iter().map(|&sram| writes[sram]).max().unwrap_or(0);
        interval = interval.max(most_reads + most_writes);
        while latency % interval < most_reads || latency % interval > interval - most_writes {
            latency += 1;
        }
    }

    let mut accesses = Vec::new();
    let used: Vec<usize> = (0..SRAMS).filter(|&sram| reads[sram] + writes[sram] > 0).collect();
    for beat in 0..beats {
        for &sram in &used {
            let start = beat * interval;
            accesses.extend((0..reads[sram]).map(|access| (u64::from(start + access), (sram, false))));
            let start = start + latency;
            accesses.extend((0..writes[sram]).map(|access| (u64::from(start + access), (sram, two_ports))));
        }
    }
    Execution {
        pipe: instr.pipe(),
        path: 0,
        sources,
        destinations,
        occupancy: u64::from(beats * interval),
        latency: u64::from(latency),
        bank_conflicts: 0,
        accesses,
    }
}

/// For each SRAM, the number of distinct registers among `registers` that it holds.
fn registers_of_each_sram(machine: &Machine, registers: &[VReg]) -> [u32; SRAMS] {
    let mut count = [0; SRAMS];
    if !machine.sram_ports_are_limited() {
        return count;
    }
    for register in registers.iter().collect::<BTreeSet<_>>() {
        let sram = match machine.vrf.placement {
            Placement::Mod => register.index() % 16,
            Placement::Div => register.index() / 4,
        };
        count[sram] += 1;
    }
    count
}
