//! Sets of vector registers, and tables with an entry per register.

use b512_asm::reg::REGISTERS;
use b512_asm::{Direction, Instr, VReg};

/// Up to `N` vector registers, each once, in the order of the operands.
///
/// There are always `N` slots. Unused ones hold a number beyond the registers, so that loops over a
/// table with an entry for that number need no branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegSlots<const N: usize>([u8; N]);

/// The content of a slot without a register.
const NO_REGISTER: u8 = REGISTERS as u8;

// A set of registers is a word.
const _: () = assert!(REGISTERS == u64::BITS as usize);

impl<const N: usize> RegSlots<N> {
    const EMPTY: Self = Self([NO_REGISTER; N]);

    /// The registers of a list, at most `N`.
    #[inline]
    pub(super) fn from_slice(registers: &[VReg]) -> Self {
        let mut slots = [NO_REGISTER; N];
        for (slot, reg) in slots.iter_mut().zip(registers) {
            *slot = reg.index() as u8;
        }
        Self(slots).without_repetitions()
    }

    /// The registers.
    pub fn iter(&self) -> impl Iterator<Item = VReg> {
        self.0.into_iter().filter_map(VReg::new)
    }

    /// The indices of the registers in a [`Table`].
    #[inline]
    pub(super) fn indices(&self) -> [RegisterIndex; N] {
        self.0.map(RegisterIndex)
    }

    /// The registers as a bit set.
    #[inline]
    pub(super) fn mask(&self) -> u64 {
        self.indices().into_iter().fold(0, |mask, index| mask | index.bit())
    }

    /// Empties the slots of registers that are in an earlier slot.
    #[inline]
    fn without_repetitions(self) -> Self {
        let Self(mut slots) = self;
        for (i, slot) in slots.iter_mut().enumerate() {
            // All slots are compared, without a branch.
            let repeated = (0..i).fold(false, |any, earlier| any | (self.0[earlier] == *slot));
            *slot = if repeated { NO_REGISTER } else { *slot };
        }
        Self(slots)
    }
}

impl RegSlots<3> {
    /// The vector registers that `instr` reads, and the ones that it writes.
    #[inline]
    pub(super) fn of(instr: &Instr) -> (Self, RegSlots<2>) {
        let (mut reads, mut writes) = (Self::EMPTY, RegSlots::<2>::EMPTY);
        let (mut sources, mut destinations) = (0, 0);
        instr.for_each_vector_register(|direction, reg| {
            if direction == Direction::Read {
                reads.0[sources] = reg.index() as u8;
                sources += 1;
            } else {
                writes.0[destinations] = reg.index() as u8;
                destinations += 1;
            }
        });
        (reads.without_repetitions(), writes.without_repetitions())
    }
}

/// A register, or none, as an index of a [`Table`].
#[derive(Clone, Copy)]
pub(super) struct RegisterIndex(u8);

impl RegisterIndex {
    /// The bit of the register; 0 without one.
    #[inline]
    pub(super) fn bit(self) -> u64 {
        1u64.checked_shl(self.0.into()).unwrap_or(0)
    }

    /// The first register of a set that is not empty.
    #[inline]
    pub(super) fn lowest(set: u64) -> Self {
        Self(set.trailing_zeros() as u8)
    }
}

impl From<VReg> for RegisterIndex {
    fn from(reg: VReg) -> Self {
        Self(reg.index() as u8)
    }
}

/// A value for each register, and one for none. It has 256 entries, so that no access needs a bounds
/// check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<T>([T; 1 << u8::BITS]);

impl<T: Copy> Table<T> {
    /// A table with `value` in every entry.
    pub(super) const fn new(value: T) -> Self {
        Self([value; 1 << u8::BITS])
    }

    /// Sets the value of slots without a register.
    #[inline]
    pub(super) fn set_none(&mut self, value: T) {
        self.0[usize::from(NO_REGISTER)] = value;
    }
}

/// A number for each register that counts reads from it, and one that counts writes to it.
#[derive(Clone, Debug)]
pub(super) struct Accesses {
    pub(super) reads: Table<u64>,
    pub(super) writes: Table<u64>,
}

impl Default for Accesses {
    fn default() -> Self {
        Self { reads: Table::new(0), writes: Table::new(0) }
    }
}

impl<T> std::ops::Index<RegisterIndex> for Table<T> {
    type Output = T;
    #[inline]
    fn index(&self, RegisterIndex(index): RegisterIndex) -> &T {
        &self.0[usize::from(index)]
    }
}

impl<T> std::ops::IndexMut<RegisterIndex> for Table<T> {
    #[inline]
    fn index_mut(&mut self, RegisterIndex(index): RegisterIndex) -> &mut T {
        &mut self.0[usize::from(index)]
    }
}
