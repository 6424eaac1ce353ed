//! Numbers of the parts of vector code.

/// A vector value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(pub u32);

/// A known vector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConstantId(pub u32);

/// A known number that multiplies vectors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ScalarId(pub u32);

/// An instruction of the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstId(pub u32);

/// A range of the vector data memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferId(pub u32);

/// A modulus with its roots of unity: one limb of a number in a residue number system.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TowerId(pub u32);

/// An [`Expression`](crate::number::Expression) of the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NumberId(pub u32);

macro_rules! index {
    ($($id:ident),*) => {
        $(impl $id {
            /// The number as an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        })*
    };
}
index!(ValueId, ConstantId, ScalarId, InstId, BufferId, TowerId, NumberId);
