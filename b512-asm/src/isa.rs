//! The instruction set as one table.
//!
//! Every instruction is one row of [`for_each_instruction!`](crate::for_each_instruction): its
//! documentation, its name, its opcode and BFLY bit, its [`Class`], its [`Feature`], and its
//! operands with their bits and direction. From the rows come the [`Op`] and [`Instr`] enums, the
//! encoder and decoder, the operand lists for the assembler, the disassembler and the property
//! tests, and the hazard sets for the busyboard and the register allocator. From the class follow
//! the pipeline and, in the simulator, latency, occupancy and energy. Other crates match on the
//! class or expand the table, so code that omits an instruction does not compile.
//!
//! The fields are Table I of the paper:
//!
//! ```text
//! [63:55] [54:49] [48] [47:44] [43:24] [23:18] [17:12] [11:6]  [5:0]
//! -       -       -    opcode  address VD      mode    value   RM      vector load, store
//! -       -       -    opcode  address -       -       RT      -       scalar loads
//! VD1     VT1     BFLY opcode  -       VD      VS      VT      RM      vector-vector compute
//! -       -       -    opcode  -       VD      VS      RT      RM      vector-scalar compute
//! -       -       -    opcode  -       VD      VS      VT      -       shuffle
//! ```
//!
//! The opcode numbers are this project's choice: the paper prints none. Bits that no operand of an
//! instruction uses must be zero, so that decoding and encoding are inverse to each other.

mod class;
mod operand;
mod pipe;
mod table;
mod word;

pub use class::{Butterfly, Class, Feature, FeatureSet, Permutation};
pub use operand::{Direction, Operand, OperandKind, OperandSpec, Slot, slot};
pub use pipe::{PerPipe, Pipe};
pub use word::DecodeError;

use crate::for_each_instruction;
use crate::reg::{AReg, AddressMode, LaneMap, MReg, Offset, SReg, VReg};
use operand::OperandType;

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpInfo {
    /// The instruction's name in assembly text.
    pub mnemonic: &'static str,
    /// Bits \[47:44\].
    pub opcode: u8,
    /// Bit 48.
    pub bfly: bool,
    /// The class, which determines the pipeline.
    pub class: Class,
    /// The instruction's extension; `None` for the paper's 17.
    pub feature: Option<Feature>,
    /// The operands, in the order of the assembly text.
    pub operands: &'static [OperandSpec],
    /// The documentation, one line each.
    pub doc: &'static [&'static str],
}

macro_rules! define {
    ($(
        $(#[doc = $doc:literal])*
        $variant:ident = $mnemonic:literal, $opcode:literal, $bfly:literal,
        $class:ident $(($kind:ident))?, $feature:ident,
        { $($operand:ident : $type:ident in $slot:ident $direction:ident),* $(,)? };
    )*) => {
        /// The instructions, without operands.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Op {
            $($(#[doc = $doc])* $variant,)*
        }

        /// An instruction with its operands.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Instr {
            $(
                $(#[doc = $doc])*
                #[allow(missing_docs, reason = "the operands are described in the variant's text")]
                $variant { $($operand: $type),* },
            )*
        }

        impl Op {
            /// Every instruction, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The instruction's row in the table.
            pub const fn info(self) -> &'static OpInfo {
                match self {
                    $(Self::$variant => &OpInfo {
                        mnemonic: $mnemonic,
                        opcode: $opcode,
                        bfly: $bfly == 1,
                        class: define!(@class $class $($kind)?),
                        feature: define!(@feature $feature),
                        operands: &[$(OperandSpec {
                            name: stringify!($operand),
                            kind: <$type as OperandType>::KIND,
                            slot: slot::$slot,
                            direction: Direction::$direction,
                        }),*],
                        doc: &[$($doc),*],
                    },)*
                }
            }

            /// The instruction with the given operands, one for each of [`OpInfo::operands`] in
            /// their order; `None` if their number or a kind differs.
            pub fn with_operands(self, operands: &[Operand]) -> Option<Instr> {
                let mut operands = operands.iter().copied();
                let instr = match self {
                    $(Self::$variant => Instr::$variant {
                        $($operand: <$type as OperandType>::unwrap(operands.next()?)?),*
                    },)*
                };
                operands.next().is_none().then_some(instr)
            }

            fn decode_operands(self, word: u64) -> Result<Instr, DecodeError> {
                Ok(match self {
                    $(Self::$variant => Instr::$variant {
                        $($operand: self.decode_operand(word, slot::$slot)?),*
                    },)*
                })
            }
        }

        impl Instr {
            /// The instruction without its operands.
            pub const fn op(&self) -> Op {
                match self {
                    $(Self::$variant { .. } => Op::$variant,)*
                }
            }

            /// Calls `visit` with each operand, in the order of [`OpInfo::operands`].
            pub fn for_each_operand(&self, mut visit: impl FnMut(&'static OperandSpec, Operand)) {
                let mut specs = self.op().info().operands.iter();
                let mut next = |operand: Operand| {
                    visit(specs.next().expect("the table lists every operand"), operand);
                };
                match *self {
                    $(Self::$variant { $($operand),* } => { $(next($operand.wrap());)* })*
                }
            }

            /// Calls `visit` with each operand and its direction, in the order of [`OpInfo::operands`]. It is
            /// faster than [`for_each_operand`](Self::for_each_operand).
            #[inline(always)]
            pub fn for_each_directed_operand(&self, mut visit: impl FnMut(Direction, Operand)) {
                match *self {
                    $(Self::$variant { $($operand),* } => {
                        $(visit(Direction::$direction, $operand.wrap());)*
                    })*
                }
            }

            /// Calls `visit` with each vector register, in the order of the operands.
            #[inline(always)]
            pub fn for_each_vector_register(&self, mut visit: impl FnMut(Direction, VReg)) {
                match *self {
                    $(Self::$variant { $($operand),* } => {
                        $(if let Operand::VReg(reg) = $operand.wrap() {
                            visit(Direction::$direction, reg);
                        })*
                    })*
                }
            }

            /// The instruction with `rename` of each of its vector registers.
            pub fn with_vector_registers(self, rename: impl Fn(VReg) -> VReg) -> Self {
                match self {
                    $(Self::$variant { $($operand),* } => {
                        Self::$variant { $($operand: renamed($operand, &rename)),* }
                    })*
                }
            }

            /// The instruction word.
            pub fn encode(&self) -> u64 {
                let info = self.op().info();
                let head = slot::BFLY.put(info.bfly.into()) | slot::OPCODE.put(info.opcode.into());
                head | match *self {
                    $(Self::$variant { $($operand),* } => 0 $(| slot::$slot.put($operand.to_bits()))*,)*
                }
            }
        }
    };
    (@class Butterfly $kind:ident) => { Class::Butterfly(Butterfly::$kind) };
    (@class Permute $kind:ident) => { Class::Permute(Permutation::$kind) };
    (@class $class:ident) => { Class::$class };
    (@feature base) => { None };
    (@feature $feature:ident) => { Some(Feature::$feature) };
}

for_each_instruction!(define);

/// An operand, with `rename` of the register if it is a vector register.
fn renamed<T: OperandType>(operand: T, rename: impl Fn(VReg) -> VReg) -> T {
    let Operand::VReg(reg) = operand.wrap() else { return operand };
    T::unwrap(Operand::VReg(rename(reg))).expect("the operand is of this type")
}

impl Op {
    /// The instruction of that name in assembly text.
    pub fn from_mnemonic(mnemonic: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| op.info().mnemonic == mnemonic)
    }

    /// The operation without its operands.
    pub const fn class(self) -> Class {
        self.info().class
    }

    /// The unit that executes the instruction.
    pub const fn pipe(self) -> Pipe {
        self.class().pipe()
    }
}

/// The words of the VDM that an instruction accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct VectorAccess {
    /// Whether the access is a store.
    pub store: bool,
    /// The address register.
    pub base: AReg,
    /// The offset from the address in the register.
    pub offset: Offset,
    /// The arrangement of the elements.
    pub mode: AddressMode,
}

impl Instr {
    /// The operation without its operands.
    pub const fn class(&self) -> Class {
        self.op().class()
    }

    /// The unit that executes the instruction.
    pub const fn pipe(&self) -> Pipe {
        self.op().pipe()
    }

    /// The access to the VDM of a vector load or store; `None` for other instructions.
    #[inline]
    pub const fn vector_access(&self) -> Option<VectorAccess> {
        // A test asks this of every instruction with a mode.
        if let Self::Vload { base, offset, mode, .. } | Self::Vstore { base, offset, mode, .. } = *self {
            Some(VectorAccess { store: matches!(self, Self::Vstore { .. }), base, offset, mode })
        } else {
            None
        }
    }

    /// The vector registers that the instruction reads, in the order of its operands.
    pub fn vector_reads(&self) -> RegList {
        self.vector_registers(Direction::Read)
    }

    /// The vector registers that the instruction writes, in the order of its operands.
    pub fn vector_writes(&self) -> RegList {
        self.vector_registers(Direction::Write)
    }

    fn vector_registers(&self, of: Direction) -> RegList {
        let mut list = RegList::default();
        self.for_each_vector_register(|direction, reg| {
            if direction == of {
                list.push(reg);
            }
        });
        list
    }
}

/// Up to three vector registers, the maximum that an instruction reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegList {
    regs: [VReg; 3],
    len: u8,
}

impl Default for RegList {
    fn default() -> Self {
        Self { regs: [VReg::at(0); 3], len: 0 }
    }
}

impl RegList {
    fn push(&mut self, reg: VReg) {
        self.regs[usize::from(self.len)] = reg;
        self.len += 1;
    }
}

impl std::ops::Deref for RegList {
    type Target = [VReg];
    #[inline]
    fn deref(&self) -> &[VReg] {
        &self.regs[..usize::from(self.len)]
    }
}

impl FeatureSet {
    /// Whether a machine with these extensions implements `op`.
    pub const fn allows(self, op: Op) -> bool {
        match op.info().feature {
            Some(feature) => self.contains(feature),
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reg::MReg;

    #[test]
    fn the_base_set_has_the_papers_seventeen_instructions() {
        assert_eq!(Op::ALL.iter().filter(|op| op.info().feature.is_none()).count(), 17);
    }

    #[test]
    fn no_two_operands_overlap_and_no_two_instructions_share_an_opcode() {
        for (i, &op) in Op::ALL.iter().enumerate() {
            let mut used = slot::BFLY.mask() | slot::OPCODE.mask();
            for operand in op.info().operands {
                assert_eq!(used & operand.slot.mask(), 0, "{op:?} {}", operand.name);
                used |= operand.slot.mask();
            }
            for &other in &Op::ALL[..i] {
                assert_ne!((op.info().opcode, op.info().bfly), (other.info().opcode, other.info().bfly));
            }
        }
    }

    #[test]
    fn instructions_with_a_mode_access_the_vdm() {
        for word in 0..u64::from(u16::MAX) {
            let Ok(instr) = Instr::decode(word.wrapping_mul(0x9e37_79b9_7f4a_7c15)) else { continue };
            let has_mode = instr.op().info().operands.iter().any(|spec| spec.kind == OperandKind::Mode);
            assert_eq!(instr.vector_access().is_some(), has_mode, "{instr}");
        }
    }

    #[test]
    fn a_butterfly_has_its_fields_where_table_one_says() {
        let v = VReg::at;
        let instr = Instr::Bfly { vd: v(1), vd1: v(2), vs: v(3), vt: v(4), vt1: v(5), rm: MReg::at(6) };
        let word = 2 << 55 | 5 << 49 | 1 << 48 | 8 << 44 | 1 << 18 | 3 << 12 | 4 << 6 | 6;
        assert_eq!(instr.encode(), word);
        assert_eq!(Instr::decode(word), Ok(instr));
        // VD1 has nine bits; the upper three are effectively reserved.
        assert!(matches!(Instr::decode(word | 1 << 63), Err(DecodeError::Field { slot: "VD1", .. })));
    }

    #[test]
    fn vector_registers_and_no_other_operands_are_renamed() {
        let rename = |reg: VReg| VReg::at(63 - reg.index());
        for word in 0..u64::from(u16::MAX) {
            let Ok(instr) = Instr::decode(word.wrapping_mul(0x9e37_79b9_7f4a_7c15)) else { continue };
            let (mut operands, mut expected) = (Vec::new(), Vec::new());
            instr.for_each_operand(|_, operand| {
                expected.push(match operand {
                    Operand::VReg(reg) => Operand::VReg(rename(reg)),
                    other => other,
                })
            });
            instr.with_vector_registers(rename).for_each_operand(|_, operand| operands.push(operand));
            assert_eq!(operands, expected, "{instr:?}");
            assert_eq!(instr.with_vector_registers(rename).op(), instr.op());
        }
    }

    #[test]
    fn loads_and_stores_and_no_others_access_the_vdm() {
        for &op in Op::ALL {
            let operand = |kind| match kind {
                OperandKind::VReg => Operand::VReg(VReg::at(1)),
                OperandKind::SReg => Operand::SReg(SReg::at(1)),
                OperandKind::AReg => Operand::AReg(AReg::at(1)),
                OperandKind::MReg => Operand::MReg(MReg::at(1)),
                OperandKind::Offset => Operand::Offset(Offset::default()),
                OperandKind::Mode => Operand::Mode(AddressMode::Linear),
                OperandKind::Map => Operand::Map(LaneMap::new(1, 0).unwrap()),
            };
            let operands: Vec<_> = op.info().operands.iter().map(|spec| operand(spec.kind)).collect();
            let access = op.with_operands(&operands).unwrap().vector_access();
            let store = access.map(|access| access.store);
            let expected = match op.info().class {
                Class::Load => Some(false),
                Class::Store => Some(true),
                _ => None,
            };
            assert_eq!(store, expected, "{op:?}");
        }
    }
}
