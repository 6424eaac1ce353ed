//! The contents of the vector registers at one point of a schedule.

use crate::code::{ConstantId, ValueId};
use b512_asm::VReg;
use b512_asm::reg::REGISTERS;

/// A set of vector registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct RegSet(u64);

const _: () = assert!(u64::BITS as usize == REGISTERS);

impl RegSet {
    pub(super) const ALL: Self = Self(u64::MAX);

    /// The set with a bit for each register.
    pub(super) const fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) fn insert(&mut self, reg: VReg) {
        self.0 |= 1 << reg.index();
    }

    pub(super) fn remove(&mut self, reg: VReg) {
        self.0 &= !(1 << reg.index());
    }

    pub(super) fn contains(self, reg: VReg) -> bool {
        self.0 >> reg.index() & 1 != 0
    }

    pub(super) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether there is exactly one register.
    pub(super) fn is_single(self) -> bool {
        self.0 != 0 && self.0 & (self.0 - 1) == 0
    }

    /// The first register.
    pub(super) fn first(self) -> Option<VReg> {
        self.into_iter().next()
    }

    /// The set without `others`, or the whole set if the difference is empty.
    pub(super) fn preferably_without(self, others: Self) -> Self {
        let rest = self.without(others);
        if rest.is_empty() { self } else { rest }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl FromIterator<VReg> for RegSet {
    fn from_iter<I: IntoIterator<Item = VReg>>(regs: I) -> Self {
        let mut set = Self::default();
        regs.into_iter().for_each(|reg| set.insert(reg));
        set
    }
}

/// The registers in ascending order.
impl IntoIterator for RegSet {
    type Item = VReg;
    type IntoIter = RegSetIter;
    fn into_iter(self) -> RegSetIter {
        RegSetIter(self.0)
    }
}

/// See [`RegSet::into_iter`].
#[derive(Clone)]
pub(super) struct RegSetIter(u64);

impl Iterator for RegSetIter {
    type Item = VReg;
    fn next(&mut self) -> Option<VReg> {
        let index = self.0.trailing_zeros() as usize;
        (index < REGISTERS).then(|| {
            self.0 &= self.0 - 1;
            VReg::at(index)
        })
    }
}

/// The content of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    Free,
    Value(ValueId),
    Constant(ConstantId),
}

/// The contents of all registers, indexed by register and by content.
///
/// Each register is in exactly one of `free`, `values` and the sets in `copies`, as `contents` says.
#[derive(Clone)]
pub(super) struct Registers {
    contents: [Content; REGISTERS],
    free: RegSet,
    values: RegSet,
    /// The registers with each constant.
    copies: Vec<RegSet>,
    /// The registers with constants that no instruction has read since their loads.
    unread: RegSet,
    /// For each register in `unread`, the position of the load among the scheduled instructions.
    loads: [usize; REGISTERS],
    /// The positions of loads of constants that left their registers unread.
    dead: Vec<usize>,
}

impl Registers {
    /// All registers free, for code with the given number of constants.
    pub(super) fn new(constants: usize) -> Self {
        Self {
            contents: [Content::Free; REGISTERS],
            free: RegSet::ALL,
            values: RegSet::default(),
            copies: vec![RegSet::default(); constants],
            unread: RegSet::default(),
            loads: [0; REGISTERS],
            dead: Vec::new(),
        }
    }

    pub(super) fn content(&self, reg: VReg) -> Content {
        self.contents[reg.index()]
    }

    pub(super) fn set(&mut self, reg: VReg, content: Content) {
        match self.contents[reg.index()] {
            Content::Free => self.free.remove(reg),
            Content::Value(_) => self.values.remove(reg),
            Content::Constant(constant) => {
                self.copies[constant.index()].remove(reg);
                if self.unread.contains(reg) {
                    self.unread.remove(reg);
                    self.dead.push(self.loads[reg.index()]);
                }
            }
        }
        match content {
            Content::Free => self.free.insert(reg),
            Content::Value(_) => self.values.insert(reg),
            Content::Constant(constant) => self.copies[constant.index()].insert(reg),
        }
        self.contents[reg.index()] = content;
    }

    /// Notes that the instruction at a position of the schedule loads a constant, which is in `reg` now.
    pub(super) fn note_load(&mut self, reg: VReg, position: usize) {
        self.unread.insert(reg);
        self.loads[reg.index()] = position;
    }

    /// Notes that an instruction reads some registers.
    pub(super) fn note_reads(&mut self, regs: &[VReg]) {
        regs.iter().for_each(|&reg| self.unread.remove(reg));
    }

    /// The positions of the loads of constants that left their registers unread, in any order.
    pub(super) fn dead_loads(&self) -> &[usize] {
        &self.dead
    }

    /// The free registers.
    pub(super) fn free(&self) -> RegSet {
        self.free
    }

    /// The registers with values.
    pub(super) fn values(&self) -> RegSet {
        self.values
    }

    /// The registers with constants.
    pub(super) fn constants(&self) -> RegSet {
        RegSet::ALL.without(self.free.or(self.values))
    }

    /// The registers with the given constant.
    pub(super) fn copies(&self, constant: ConstantId) -> RegSet {
        self.copies[constant.index()]
    }
}
