//! The dependences of vector code: its part of scheduling that is the same on every machine.

use crate::code::{Code, ConstantId, InstId, ScalarId, ValueId};

/// The dependences between the instructions of a code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    /// The number of instructions that must dispatch before each one.
    pub(super) predecessors: Vec<u32>,
    /// The instructions that must dispatch after each one.
    successors: Lists,
    /// The instructions that read each value, in program order.
    readers: Lists,
    /// The instructions that use each constant, in program order.
    users: Lists,
    /// The instructions that use each scalar, in program order.
    scalar_users: Lists,
}

impl Graph {
    /// The dependences of `code`.
    pub fn of(code: &Code) -> Self {
        let ids = || (0..).map(InstId).zip(&code.insts);
        let mut producer = vec![None; code.values as usize];
        let mut before = Lists { starts: vec![0], items: Vec::new() };
        let mut list: Vec<InstId> = Vec::new();
        for ((id, inst), memory_order) in ids().zip(code.memory_order()) {
            list.clear();
            list.extend(memory_order);
            list.extend(inst.sources.as_slice().iter().filter_map(|value| producer[value.index()]));
            list.sort_unstable();
            list.dedup();
            before.push(&list);
            for value in inst.results.iter() {
                producer[value.index()] = Some(id);
            }
        }
        let after =
            ids().flat_map(|(id, _)| before.get(id.index()).iter().map(move |earlier| (earlier.index(), id)));
        let reads =
            ids().flat_map(|(id, inst)| inst.sources.as_slice().iter().map(move |value| (value.index(), id)));
        let uses = ids().flat_map(|(id, inst)| inst.constant.map(|constant| (constant.index(), id)));
        let scalar_uses = ids().flat_map(|(id, inst)| inst.scalar.map(|scalar| (scalar.index(), id)));
        Self {
            predecessors: before.starts.windows(2).map(|ends| ends[1] - ends[0]).collect(),
            successors: Lists::new(code.insts.len(), after),
            readers: Lists::new(code.values as usize, reads),
            users: Lists::new(code.constants.len(), uses),
            scalar_users: Lists::new(code.scalars.len(), scalar_uses),
        }
    }

    pub(super) fn successors(&self, id: InstId) -> &[InstId] {
        self.successors.get(id.index())
    }

    pub(super) fn readers(&self, value: ValueId) -> &[InstId] {
        self.readers.get(value.index())
    }

    pub(super) fn users(&self, constant: ConstantId) -> &[InstId] {
        self.users.get(constant.index())
    }

    pub(super) fn scalar_users(&self, scalar: ScalarId) -> &[InstId] {
        self.scalar_users.get(scalar.index())
    }
}

/// Lists of instructions, one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Lists {
    /// The start of each list in `items`, and the end of the last one.
    starts: Vec<u32>,
    items: Vec<InstId>,
}

impl Lists {
    /// `count` lists of the entries, each with the number of its list. A list keeps their order.
    fn new(count: usize, entries: impl Iterator<Item = (usize, InstId)> + Clone) -> Self {
        let mut starts = vec![0; count + 1];
        for (list, _) in entries.clone() {
            starts[list + 1] += 1;
        }
        for list in 0..count {
            starts[list + 1] += starts[list];
        }
        let mut ends = starts.clone();
        let mut items = vec![InstId(0); starts[count] as usize];
        for (list, id) in entries {
            items[ends[list] as usize] = id;
            ends[list] += 1;
        }
        Self { starts, items }
    }

    fn push(&mut self, list: &[InstId]) {
        self.items.extend_from_slice(list);
        self.starts.push(self.items.len() as u32);
    }

    fn get(&self, list: usize) -> &[InstId] {
        &self.items[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
}
