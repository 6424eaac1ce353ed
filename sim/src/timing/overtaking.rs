//! Accesses to the VDM that overtake earlier ones on the other path of a split VBAR.
//!
//! A load does not wait for a store, nor a store for a load. See "Occupancy and latency" in the header of
//! [`timing`](super) for the cycle in which each word is accessed.

use super::Timing;
use super::banks::word_rounds;
use super::decode::Decoder;
use crate::machine::{Machine, VbarPaths};
use b512_asm::{AddressMode, Isa, Program};
use rustc_hash::FxHashMap;

/// An access that reaches a word no later than an earlier instruction does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overtaking {
    /// The index of the earlier instruction.
    pub earlier: usize,
    /// The index of the instruction that overtakes it.
    pub later: usize,
    /// The first word in question.
    pub word: u32,
}

/// A load or store that has issued.
#[derive(Clone, Copy)]
struct Access {
    instruction: usize,
    store: bool,
    address: u32,
    mode: AddressMode,
    /// The cycle of its issue, and the first after its last round.
    begin: u64,
    end: u64,
}

impl Access {
    /// Whether the accesses may have words in common.
    fn may_meet(&self, other: &Self, isa: Isa) -> bool {
        let end = |access: &Self| u64::from(access.address) + u64::from(access.mode.span(isa));
        u64::from(self.address) < end(other) && u64::from(other.address) < end(self)
    }

    /// Whether both access the same words in the same rounds. Of repeated words, a load may have another
    /// round.
    fn is_alike(&self, other: &Self) -> bool {
        let repeats = matches!(self.mode, AddressMode::Repeated(_));
        (self.address, self.mode) == (other.address, other.mode) && !repeats
    }

    /// The words with the cycles in which they are accessed.
    fn words(&self, machine: &Machine) -> impl Iterator<Item = (u32, u64)> {
        let interval = u64::from(machine.vbar.initiation_interval);
        let rounds = word_rounds(machine, self.mode, self.address, self.store);
        let begin = self.begin;
        rounds.into_iter().map(move |(word, round)| (word, begin + u64::from(round) * interval))
    }

    /// The first word that `later` accesses before this access's last cycle at it, or in this cycle.
    fn overtaken_by(&self, later: &Self, machine: &Machine) -> Option<u32> {
        let mut last = FxHashMap::default();
        for (word, cycle) in self.words(machine) {
            let entry = last.entry(word).or_insert(cycle);
            *entry = cycle.max(*entry);
        }
        let is_early = |(word, cycle): &(u32, u64)| last.get(word).is_some_and(|last| cycle <= last);
        later.words(machine).find(is_early).map(|(word, _)| word)
    }
}

impl Timing {
    /// The first access of `program` that overtakes an earlier one in this run on `machine`. The results of
    /// the program then differ from execution in program order. `None` without split paths.
    pub fn overtaking(&self, machine: &Machine, program: &Program) -> Option<Overtaking> {
        if machine.vbar.paths != VbarPaths::Split {
            return None;
        }
        let mut decoder = Decoder::at_start_of(machine, program);
        let mut in_flight: Vec<Access> = Vec::new();
        for (instruction, (instr, times)) in program.instructions.iter().zip(&self.timestamps).enumerate() {
            if let Some((access, address)) = decoder.access(instr) {
                let begin = times.issue.0;
                let cycles = decoder.vbar_cycles(access.mode, address, access.store);
                let end = begin + u64::from(cycles);
                let later =
                    Access { instruction, store: access.store, address, mode: access.mode, begin, end };
                // Loads and stores issue in the order of the program.
                in_flight.retain(|earlier| earlier.end > begin);
                for earlier in &in_flight {
                    let is_apart = earlier.store == later.store || earlier.is_alike(&later);
                    if !is_apart
                        && earlier.may_meet(&later, machine.instruction_set())
                        && let Some(word) = earlier.overtaken_by(&later, machine)
                    {
                        return Some(Overtaking { earlier: earlier.instruction, later: instruction, word });
                    }
                }
                in_flight.push(later);
            }
            decoder.follow(instr, program);
        }
        None
    }
}
