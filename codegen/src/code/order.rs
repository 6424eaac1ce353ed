//! The order of the instructions, and what it must respect.

use super::{Code, Inst, InstId, MemRef};
use b512_asm::Op;

impl Code {
    /// Interleaves the towers: each one starts when the previous one is `stagger` instructions
    /// ahead.
    pub fn interleave(&mut self, stagger: u32) {
        let mut turns = vec![0u64; self.towers.len()];
        for (tower, turn) in turns.iter_mut().enumerate() {
            *turn = tower as u64 * u64::from(stagger);
        }
        let mut insts: Vec<(u64, Inst)> = Vec::with_capacity(self.insts.len());
        for inst in self.insts.drain(..) {
            let turn = &mut turns[inst.tower.index()];
            insts.push((*turn, inst));
            *turn += 1;
        }
        // A stable sort: towers that are due together keep their order.
        insts.sort_by_key(|&(turn, _)| turn);
        self.insts.extend(insts.into_iter().map(|(_, inst)| inst));
    }

    /// Sorts the instructions by demand of the stores: operands are loaded when they are first
    /// needed, and results are stored as soon as they exist, so that the loads of the next block
    /// find free registers early.
    pub fn order_by_demand(&mut self) {
        let memory_order = self.memory_order();
        let mut producer = vec![None; self.values as usize];
        for (number, inst) in self.insts.iter().enumerate() {
            for value in inst.results.iter() {
                producer[value.index()] = Some(InstId(number as u32));
            }
        }
        // The predecessors of an instruction by number: its operands come first, then its memory dependences.
        // Some operands have no producer.
        let before = |id: InstId, number: usize| -> Option<Option<InstId>> {
            let operands = self.insts[id.index()].sources.as_slice();
            let operand = operands.get(number).map(|value| producer[value.index()]);
            operand.or_else(|| memory_order[id.index()].get(number - operands.len()).copied().map(Some))
        };
        let mut order: Vec<InstId> = Vec::with_capacity(self.insts.len());
        let mut reached = vec![false; self.insts.len()];
        // Instructions in progress, each with the number of its predecessors visited so far.
        let mut path: Vec<(InstId, usize)> = Vec::new();
        for number in 0..self.insts.len() {
            if self.insts[number].op != Op::Vstore || std::mem::replace(&mut reached[number], true) {
                continue;
            }
            path.push((InstId(number as u32), 0));
            while let Some((id, next)) = path.last_mut() {
                match before(*id, *next) {
                    Some(earlier) => {
                        *next += 1;
                        if let Some(earlier) = earlier
                            && !std::mem::replace(&mut reached[earlier.index()], true)
                        {
                            path.push((earlier, 0));
                        }
                    }
                    None => {
                        order.push(*id);
                        path.pop();
                    }
                }
            }
        }
        self.insts = order.iter().map(|id| self.insts[id.index()].clone()).collect();
    }

    /// Removes instructions other than stores whose results no instruction reads.
    pub fn remove_unread(&mut self) {
        let mut read = vec![false; self.values as usize];
        let mut is_needed = |inst: &Inst| {
            let keep = inst.results.is_empty() || inst.results.iter().any(|value| read[value.index()]);
            if keep {
                inst.sources.iter().for_each(|value| read[value.index()] = true);
            }
            keep
        };
        let mut kept: Vec<bool> = self.insts.iter().rev().map(&mut is_needed).collect();
        self.insts.retain(|_| kept.pop() == Some(true));
    }

    /// The memory dependences of each instruction: a load comes after the stores that it reads
    /// from, a store after the loads and stores of the words that it overwrites.
    pub fn memory_order(&self) -> Vec<Vec<InstId>> {
        /// The accesses to a word.
        #[derive(Clone, Copy, Default)]
        struct Word {
            writer: Option<InstId>,
            /// The last reader of the writer's word.
            reader: Option<Read>,
        }
        /// An entry of the list of reads.
        #[derive(Clone, Copy)]
        struct Read(u32);

        // The elements of an access are all sums of some bits: the bits of the last element.
        let bits = |memory: &MemRef| memory.mode.element(self.isa.vector_length() - 1);
        // Bits in which all accesses to a buffer have all words: the first of these words stands for all.
        let mut common = vec![u32::MAX; self.buffers.len()];
        for memory in self.insts.iter().filter_map(|inst| inst.memory.as_ref()) {
            let is_aligned = memory.word & bits(memory) == 0;
            common[memory.buffer.index()] &= if is_aligned { bits(memory) } else { 0 };
        }
        let mut words: Vec<Vec<Word>> =
            self.buffers.iter().map(|buffer| vec![Word::default(); buffer.words as usize]).collect();
        // Each read, with an earlier read of the same word.
        let mut reads: Vec<(InstId, Option<Read>)> = Vec::new();
        // For each instruction, the last one found to depend on it.
        let mut successor = vec![None; self.insts.len()];
        let mut order = vec![Vec::new(); self.insts.len()];
        for (number, inst) in self.insts.iter().enumerate() {
            let (Some(memory), id) = (&inst.memory, InstId(number as u32)) else { continue };
            let before: &mut Vec<InstId> = &mut order[number];
            let mut depends_on = |earlier: InstId| {
                if earlier != id && successor[earlier.index()] != Some(id) {
                    successor[earlier.index()] = Some(id);
                    before.push(earlier);
                }
            };
            let buffer = &mut words[memory.buffer.index()];
            for element in sums(bits(memory) & !common[memory.buffer.index()]) {
                let word = &mut buffer[(memory.word + element) as usize];
                word.writer.into_iter().for_each(&mut depends_on);
                if inst.op == Op::Vstore {
                    while let Some(Read(read)) = word.reader {
                        let (reader, earlier) = reads[read as usize];
                        depends_on(reader);
                        word.reader = earlier;
                    }
                    word.writer = Some(id);
                } else {
                    reads.push((id, word.reader));
                    word.reader = Some(Read(reads.len() as u32 - 1));
                }
            }
            before.sort_unstable();
        }
        order
    }
}

/// All sums of some bits, in ascending order, each once.
fn sums(bits: u32) -> impl Iterator<Item = u32> {
    let next = move |sum: &u32| Some(sum.wrapping_sub(bits) & bits).filter(|&next| next != 0);
    std::iter::successors(Some(0), next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::BufferId;
    use crate::library::{BUILT_IN, Task};
    use crate::{compile, compile_within};
    use b512_asm::{AddressMode, Log2};
    use std::collections::{BTreeSet, HashMap};

    /// The definition, word by word.
    fn by_word(code: &Code) -> Vec<Vec<InstId>> {
        let mut writers: HashMap<(BufferId, u32), InstId> = HashMap::new();
        let mut readers: HashMap<(BufferId, u32), BTreeSet<InstId>> = HashMap::new();
        let mut order = Vec::new();
        for (inst, id) in code.insts.iter().zip((0..).map(InstId)) {
            let mut before = BTreeSet::new();
            if let Some(MemRef { buffer, word, mode, .. }) = inst.memory {
                for lane in 0..code.isa.vector_length() {
                    let word = (buffer, word + mode.element(lane));
                    before.extend(writers.get(&word));
                    if inst.op == Op::Vstore {
                        before.extend(readers.remove(&word).unwrap_or_default());
                        writers.insert(word, id);
                    } else {
                        readers.entry(word).or_default().insert(id);
                    }
                }
            }
            before.remove(&id);
            order.push(before.into_iter().collect());
        }
        order
    }

    #[test]
    fn the_order_is_that_of_the_single_words() {
        let tasks = BUILT_IN.tasks().filter(|task| task.n <= 8192);
        let mut several_words = 0;
        for (task, entry, known) in tasks.flat_map(Task::programs) {
            let (request, machine) = (task.request().unwrap(), known.machine.machine());
            let kernel = compile(&request, &entry.recipe, &machine).unwrap();
            let small = compile_within(&request, &entry.recipe, &machine, 0).unwrap();
            for mut code in [kernel.code, small.code] {
                let name = task.file_name();
                assert_eq!(code.memory_order(), by_word(&code), "{name}");
                // Not aligned, and in other modes.
                for (number, inst) in code.insts.iter_mut().enumerate() {
                    let Some(memory) = &mut inst.memory else { continue };
                    let words = code.buffers[memory.buffer.index()].words;
                    let mut other = *memory;
                    match number % 7 {
                        0 => other.word += 8,
                        1 => other.mode = AddressMode::Repeated(Log2::new(4).unwrap()),
                        2 => other.mode = AddressMode::StridedSkip(Log2::new(5).unwrap()),
                        3 => other.mode = AddressMode::Strided(Log2::new(1).unwrap()),
                        4.. => {}
                    }
                    if other.word + other.mode.span(code.isa) <= words {
                        several_words += usize::from(other != *memory);
                        *memory = other;
                    }
                }
                assert_eq!(code.memory_order(), by_word(&code), "{name}, changed");
            }
        }
        assert!(several_words > 1000, "{several_words}");
    }
}
