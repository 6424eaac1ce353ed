//! Operands, and the bits of the instruction word that hold them.

use crate::reg::{AReg, AddressMode, LaneMap, Log2, MReg, Offset, SReg, VReg};

/// A range of bits of the instruction word that holds an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The name that the paper gives the field.
    pub name: &'static str,
    /// The lowest bit.
    pub low: u32,
    /// The number of bits.
    pub bits: u32,
}

impl Slot {
    const fn new(name: &'static str, high: u32, low: u32) -> Self {
        Self { name, low, bits: high - low + 1 }
    }

    /// The bits of the word that belong to the slot.
    pub const fn mask(self) -> u64 {
        ((1 << self.bits) - 1) << self.low
    }

    pub(super) const fn get(self, word: u64) -> u64 {
        (word & self.mask()) >> self.low
    }

    pub(super) const fn put(self, value: u64) -> u64 {
        value << self.low
    }
}

/// The slots of Table I, under the paper's names.
pub mod slot {
    use super::Slot;
    /// Second destination of a butterfly; nine bits wide, of which a register uses six.
    pub const VD1: Slot = Slot::new("VD1", 63, 55);
    /// Third source of a butterfly: the twiddle factors.
    pub const VT1: Slot = Slot::new("VT1", 54, 49);
    /// Set in butterflies.
    pub const BFLY: Slot = Slot::new("BFLY", 48, 48);
    /// The opcode.
    pub const OPCODE: Slot = Slot::new("opcode", 47, 44);
    /// Word offset of a load or store.
    pub const ADDRESS: Slot = Slot::new("address", 43, 24);
    /// Map of an extension: half of the odd multiplier, rounded down, above ten bits of the shift.
    pub const MAP: Slot = Slot::new("map", 43, 24);
    /// Destination, or the register that a vector store reads.
    pub const VD: Slot = Slot::new("VD", 23, 18);
    /// First source.
    pub const VS: Slot = Slot::new("VS", 17, 12);
    /// Addressing mode (six bits) and its value (six bits), side by side.
    pub const MODE_VALUE: Slot = Slot::new("mode, value", 17, 6);
    /// Second source.
    pub const VT: Slot = Slot::new("VT", 11, 6);
    /// Scalar, address or modulus register of a scalar load; scalar operand of a compute.
    pub const RT: Slot = Slot::new("RT", 11, 6);
    /// Modulus register of a compute, address register of a vector load or store.
    pub const RM: Slot = Slot::new("RM", 5, 0);
}

/// The use that an instruction makes of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// A source register.
    Read,
    /// A destination register.
    Write,
    /// A constant in the instruction word.
    Immediate,
}

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandKind {
    /// A vector register.
    VReg,
    /// A scalar register.
    SReg,
    /// An address register.
    AReg,
    /// A modulus register.
    MReg,
    /// A word offset.
    Offset,
    /// An addressing mode with its value.
    Mode,
    /// An affine map of lanes.
    Map,
}

/// An operand with its value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// A vector register.
    VReg(VReg),
    /// A scalar register.
    SReg(SReg),
    /// An address register.
    AReg(AReg),
    /// A modulus register.
    MReg(MReg),
    /// A word offset.
    Offset(Offset),
    /// An addressing mode with its value.
    Mode(AddressMode),
    /// An affine map of lanes.
    Map(LaneMap),
}

/// An operand of an instruction, as its row in the table declares it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandSpec {
    /// The operand's name in the [`Instr`](crate::Instr) variant and in the reference.
    pub name: &'static str,
    /// The kind.
    pub kind: OperandKind,
    /// The bits that hold it.
    pub slot: Slot,
    /// Read, written or immediate.
    pub direction: Direction,
}

/// The type of an operand in a slot of the instruction word.
pub(super) trait OperandType: Copy {
    const KIND: OperandKind;
    fn to_bits(self) -> u64;
    fn from_bits(bits: u64) -> Option<Self>;
    fn wrap(self) -> Operand;
    fn unwrap(operand: Operand) -> Option<Self>;
}

macro_rules! operand_type {
    ($type:ident, $kind:ident, $to:expr, $from:expr) => {
        impl OperandType for $type {
            const KIND: OperandKind = OperandKind::$kind;
            fn to_bits(self) -> u64 {
                ($to)(self)
            }
            fn from_bits(bits: u64) -> Option<Self> {
                ($from)(bits)
            }
            fn wrap(self) -> Operand {
                Operand::$kind(self)
            }
            fn unwrap(operand: Operand) -> Option<Self> {
                match operand {
                    Operand::$kind(value) => Some(value),
                    _ => None,
                }
            }
        }
    };
}

operand_type!(VReg, VReg, |r: VReg| r.index() as u64, |b| VReg::new(u8::try_from(b).ok()?));
operand_type!(SReg, SReg, |r: SReg| r.index() as u64, |b| SReg::new(u8::try_from(b).ok()?));
operand_type!(AReg, AReg, |r: AReg| r.index() as u64, |b| AReg::new(u8::try_from(b).ok()?));
operand_type!(MReg, MReg, |r: MReg| r.index() as u64, |b| MReg::new(u8::try_from(b).ok()?));
operand_type!(Offset, Offset, |o: Offset| u64::from(o.words()), |b| Offset::new(u32::try_from(b).ok()?));
operand_type!(AddressMode, Mode, mode_to_bits, mode_from_bits);
operand_type!(LaneMap, Map, map_to_bits, map_from_bits);

fn map_to_bits(map: LaneMap) -> u64 {
    u64::from(map.multiplier() / 2) << 10 | u64::from(map.shift())
}

fn map_from_bits(bits: u64) -> Option<LaneMap> {
    LaneMap::new(u16::try_from(bits >> 10 << 1 | 1).ok()?, (bits & 0x3ff) as u16)
}

fn mode_to_bits(mode: AddressMode) -> u64 {
    let (number, value) = match mode {
        AddressMode::Linear => (0, 0),
        AddressMode::Strided(v) => (1, v.value()),
        AddressMode::StridedSkip(v) => (2, v.value()),
        AddressMode::Repeated(v) => (3, v.value()),
    };
    number << 6 | u64::from(value)
}

fn mode_from_bits(bits: u64) -> Option<AddressMode> {
    let value = Log2::new((bits & 0x3f) as u8)?;
    match bits >> 6 {
        0 if value.value() == 0 => Some(AddressMode::Linear),
        1 => Some(AddressMode::Strided(value)),
        2 => Some(AddressMode::StridedSkip(value)),
        3 => Some(AddressMode::Repeated(value)),
        _ => None,
    }
}
