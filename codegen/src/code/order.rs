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
