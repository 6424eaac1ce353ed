//! Store-to-load forwarding, and the removal of dead stores.
//!
//! A load is redundant if its words are the lanes of one value, in order: its readers can use that
//! value instead, whether it was stored there or loaded from there. This extends the live range of
//! the value, so a load is only replaced while at most a given number of values are live, shortest
//! extension first. Dead stores, dead computations and dead loads are then removed, and so are
//! unused scratch buffers.
//!
//! The pass works on words, not on plans: within a transform, between the transforms and products
//! of a kernel, and in each tower of a batch. [`check::forwarding`](crate::check::forwarding)
//! proves that the result computes the same as the original.

use crate::code::{BufferId, Code, Inst, InstId, MemRef, ValueId};
use b512_asm::{Isa, Op, Role};

/// The accesses that have been removed from code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Removed {
    /// Loads, including dead ones.
    pub loads: usize,
    /// Stores.
    pub stores: usize,
}

/// Replaces loads by the values at their addresses, as long as at most `registers` values are live,
/// and removes dead code.
pub fn forward(code: &mut Code, registers: u32) -> Removed {
    let count = |code: &Code, op| code.insts.iter().filter(|inst| inst.op == op).count();
    let [loads, stores] = [Op::Vload, Op::Vstore].map(|op| count(code, op));
    let mut lives = Lives::new(code);
    let mut candidates = candidates(code);
    // The sort is stable: of equals, the first load wins.
    candidates.sort_by_key(|candidate| lives.way(candidate).len());
    for candidate in &candidates {
        lives.join(candidate, registers);
    }
    for inst in &mut code.insts {
        inst.sources = inst.sources.map(|value| lives.holder(value));
    }
    remove_unused(code);
    remove_buffers(code);
    Removed { loads: loads - count(code, Op::Vload), stores: stores - count(code, Op::Vstore) }
}

/// The words of a load or store, in the order of its lanes.
fn words(memory: MemRef, isa: Isa) -> impl Iterator<Item = usize> {
    memory.words(isa).map(|word| word as usize)
}

/// A redundant load.
struct Candidate {
    load: InstId,
    loaded: ValueId,
    /// The value of its words, lane by lane.
    held: ValueId,
}

/// The redundant loads, in program order.
fn candidates(code: &Code) -> Vec<Candidate> {
    /// A lane of a value.
    type Lane = (ValueId, u16);
    let empty = |words| vec![None::<Lane>; words as usize];
    let mut memory: Vec<Vec<Option<Lane>>> = code.buffers.iter().map(|b| empty(b.words)).collect();
    let mut found = Vec::new();
    for (number, inst) in code.insts.iter().enumerate() {
        let Some(at) = inst.memory else { continue };
        let buffer = &mut memory[at.buffer.index()];
        if let Some(loaded) = inst.results.iter().next() {
            let first = words(at, code.isa).next().and_then(|word| buffer[word]);
            if let Some((held, 0)) = first
                && words(at, code.isa).zip(0..).all(|(word, lane)| buffer[word] == Some((held, lane)))
            {
                found.push(Candidate { load: InstId(number as u32), loaded, held });
            }
        }
        // The words now also are in a register, stored or loaded.
        for value in inst.sources.iter().chain(inst.results.iter()) {
            for (word, lane) in words(at, code.isa).zip(0..) {
                buffer[word] = Some((value, lane));
            }
        }
    }
    found
}

/// The live range of each value, and the number of live values at each instruction.
struct Lives {
    /// The last reader of each value, including the readers of the loads that it replaced; without
    /// readers, the defining instruction.
    last: Vec<usize>,
    /// The number of live values after each instruction.
    live: Vec<u32>,
    /// The replacement of each value; most values represent themselves.
    holder: Vec<ValueId>,
}

impl Lives {
    fn new(code: &Code) -> Self {
        let values = code.values as usize;
        let (mut first, mut last) = (vec![0; values], vec![0; values]);
        for (number, inst) in code.insts.iter().enumerate() {
            inst.results.iter().for_each(|value| first[value.index()] = number);
            inst.results.iter().chain(inst.sources.iter()).for_each(|value| last[value.index()] = number);
        }
        let mut live = vec![0; code.insts.len()];
        for (&first, &last) in first.iter().zip(&last) {
            live[first..last].iter_mut().for_each(|live| *live += 1);
        }
        Self { last, live, holder: (0..code.values).map(ValueId).collect() }
    }

    /// The value that replaces this one.
    fn holder(&self, mut value: ValueId) -> ValueId {
        while self.holder[value.index()] != value {
            value = self.holder[value.index()];
        }
        value
    }

    /// The instructions by which the live range of the held value would grow.
    fn way(&self, candidate: &Candidate) -> std::ops::Range<usize> {
        let load = candidate.load.index();
        self.last[self.holder(candidate.held).index()].min(load)..load
    }

    /// Replaces a load if there are enough registers.
    fn join(&mut self, candidate: &Candidate, registers: u32) {
        let way = self.way(candidate);
        let live = &mut self.live[way];
        if live.iter().any(|&live| live >= registers) {
            return;
        }
        live.iter_mut().for_each(|live| *live += 1);
        let (holder, loaded) = (self.holder(candidate.held), candidate.loaded);
        self.last[holder.index()] = self.last[holder.index()].max(self.last[loaded.index()]);
        self.holder[loaded.index()] = holder;
    }
}

/// Removes dead instructions. A live one stores words that are results or are read later, or computes a value
/// that is read.
fn remove_unused(code: &mut Code) {
    let isa = code.isa;
    let needed = |buffer: &crate::code::Buffer| vec![buffer.role == Role::Output; buffer.words as usize];
    let mut needed: Vec<Vec<bool>> = code.buffers.iter().map(needed).collect();
    let mut read = vec![false; code.values as usize];
    let mut is_needed = |inst: &Inst| {
        let keep = match inst.memory {
            Some(at) if inst.op == Op::Vstore => {
                let buffer = &mut needed[at.buffer.index()];
                // Before this store, none of its words are live.
                let mut any = false;
                words(at, isa).for_each(|word| any |= std::mem::take(&mut buffer[word]));
                any
            }
            _ => inst.results.iter().any(|value| read[value.index()]),
        };
        if keep {
            inst.sources.iter().for_each(|value| read[value.index()] = true);
            if let Some(at) = inst.memory.filter(|_| inst.op == Op::Vload) {
                words(at, isa).for_each(|word| needed[at.buffer.index()][word] = true);
            }
        }
        keep
    };
    let mut kept: Vec<bool> = code.insts.iter().rev().map(&mut is_needed).collect();
    code.insts.retain(|_| kept.pop() == Some(true));
}

/// Removes scratch buffers that no instruction accesses.
fn remove_buffers(code: &mut Code) {
    let mut used: Vec<bool> = code.buffers.iter().map(|buffer| buffer.role != Role::Scratch).collect();
    let references = code.insts.iter().filter_map(|inst| inst.memory);
    references.for_each(|at| used[at.buffer.index()] = true);
    let before = |buffer: BufferId| used[..buffer.index()].iter().filter(|&&used| used).count();
    let renumber = |buffer: &mut BufferId| *buffer = BufferId(before(*buffer) as u32);
    for at in code.insts.iter_mut().filter_map(|inst| inst.memory.as_mut()) {
        renumber(&mut at.buffer);
    }
    for claim in &mut code.claims {
        claim.outputs.iter_mut().chain(&mut claim.inputs).for_each(renumber);
    }
    for start in code.buffers.iter_mut().filter_map(|buffer| buffer.within.as_mut()) {
        renumber(&mut start.buffer);
    }
    let mut used = used.iter();
    code.buffers.retain(|_| used.next() == Some(&true));
}
