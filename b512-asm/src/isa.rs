//! The instruction set as one table.
//!
//! Every instruction is one row of the `isa!` invocation below: its documentation, its name,
//! its opcode and BFLY bit, the pipeline that executes it, and its operands with the bits that
//! hold them and their direction. From the rows come the [`Op`] and [`Instr`] enums, the encoder
//! and decoder, the operand lists that the assembler, the disassembler and the property tests
//! walk, and the hazard sets that the busyboard and the register allocator use. An instruction
//! that is missing anywhere does not compile.
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
//! The opcode numbers are this project's: the paper prints none. Bits that no operand of an
//! instruction uses must be zero, so that decoding and encoding are inverse to each other.

use crate::reg::{AReg, AddressMode, Log2, MReg, Offset, SReg, VReg};
use thiserror::Error;

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

    const fn get(self, word: u64) -> u64 {
        (word & self.mask()) >> self.low
    }

    const fn put(self, value: u64) -> u64 {
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

/// The unit that executes an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pipe {
    /// Between VDM and VRF, through the vector crossbar (VBAR).
    LoadStore,
    /// In the LAW engines of the HPLEs.
    Compute,
    /// Between vector registers, through the shuffle crossbar (SBAR).
    Shuffle,
    /// In the front end's scalar unit, in order: scalar, address and modulus loads, and `halt`.
    Scalar,
}

impl Pipe {
    /// The three decoupled pipelines, in the order of the paper's queues.
    pub const VECTOR: [Self; 3] = [Self::LoadStore, Self::Compute, Self::Shuffle];

    /// The name used in results: `load_store`, `compute`, `shuffle`, `scalar`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LoadStore => "load_store",
            Self::Compute => "compute",
            Self::Shuffle => "shuffle",
            Self::Scalar => "scalar",
        }
    }

    /// A small index: load/store 0, compute 1, shuffle 2, scalar 3.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Whether an instruction reads or writes an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// A source register.
    Read,
    /// A destination register.
    Write,
    /// A constant in the instruction word.
    Immediate,
}

/// What an operand is.
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
}

/// One operand of an instruction, as its row in the table declares it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandSpec {
    /// The operand's name in the [`Instr`] variant and in the reference.
    pub name: &'static str,
    /// What it is.
    pub kind: OperandKind,
    /// The bits that hold it.
    pub slot: Slot,
    /// Read, written or immediate.
    pub direction: Direction,
}

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpInfo {
    /// The instruction's name in assembly text.
    pub mnemonic: &'static str,
    /// Bits \[47:44\].
    pub opcode: u8,
    /// Bit 48.
    pub bfly: bool,
    /// The unit that executes it.
    pub pipe: Pipe,
    /// True for instructions beyond the paper's 17; a machine must enable them.
    pub extension: bool,
    /// The operands, in the order of the assembly text.
    pub operands: &'static [OperandSpec],
    /// The row's documentation, one line each.
    pub doc: &'static [&'static str],
}

/// A word that is no instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum DecodeError {
    /// The BFLY bit with an opcode that has no butterfly form.
    #[error("word {word:#018x}: opcode {opcode:#x} with the BFLY bit is no instruction")]
    UnknownOpcode {
        /// The word.
        word: u64,
        /// Its opcode field.
        opcode: u8,
    },
    /// Bits set that no operand of the instruction uses.
    #[error("word {word:#018x}: `{mnemonic}` must have zeros in the reserved bits {bits:#018x}")]
    ReservedBits {
        /// The word.
        word: u64,
        /// The instruction that the opcode names.
        mnemonic: &'static str,
        /// The offending bits.
        bits: u64,
    },
    /// A field whose value means nothing.
    #[error("word {word:#018x}: `{mnemonic}` cannot have {value:#x} in its field {slot}")]
    Field {
        /// The word.
        word: u64,
        /// The instruction that the opcode names.
        mnemonic: &'static str,
        /// The field's name.
        slot: &'static str,
        /// The field's value.
        value: u64,
    },
}

/// A type that stands in a slot of the instruction word.
trait OperandType: Copy {
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

macro_rules! isa {
    ($(
        $(#[doc = $doc:literal])*
        $variant:ident = $mnemonic:literal, $opcode:literal, $bfly:literal, $pipe:ident, $set:ident,
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
                        pipe: Pipe::$pipe,
                        extension: isa!(@extension $set),
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

            /// The instruction with `operands`, one for each of [`OpInfo::operands`] and in
            /// their order; `None` where their number or a kind differs.
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
            /// Which instruction this is.
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
    (@extension base) => { false };
    (@extension extension) => { true };
}

isa! {
    /// End of the program. The run ends when every instruction before it has completed.
    Halt = "halt", 0x0, 0, Scalar, base, {};

    /// Load 512 elements from the VDM: lane `i` of `vd` receives the word at
    /// `ARF[base] + offset + mode(i)`.
    Vload = "vload", 0x1, 0, LoadStore, base,
        { vd: VReg in VD Write, base: AReg in RM Read, offset: Offset in ADDRESS Immediate, mode: AddressMode in MODE_VALUE Immediate };

    /// Store 512 elements to the VDM: lane `i` of `vs` goes to `ARF[base] + offset + mode(i)`.
    /// Where lanes share a word, the highest lane's value stays.
    Vstore = "vstore", 0x2, 0, LoadStore, base,
        { vs: VReg in VD Read, base: AReg in RM Read, offset: Offset in ADDRESS Immediate, mode: AddressMode in MODE_VALUE Immediate };

    /// Load a scalar: `SRF[rt] = SDM[offset]`.
    Sload = "sload", 0x3, 0, Scalar, base,
        { rt: SReg in RT Write, offset: Offset in ADDRESS Immediate };

    /// Load an address: `ARF[rt] = SDM[offset]`, which must be below 2^21.
    Aload = "aload", 0x4, 0, Scalar, base,
        { rt: AReg in RT Write, offset: Offset in ADDRESS Immediate };

    /// Load a modulus: `MRF[rt] = SDM[offset]`, which must be odd and above 1.
    Mload = "mload", 0x5, 0, Scalar, base,
        { rt: MReg in RT Write, offset: Offset in ADDRESS Immediate };

    /// Modular addition, lane by lane: `vd = vs + vt mod MRF[rm]`.
    Vadd = "vadd", 0x6, 0, Compute, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read, rm: MReg in RM Read };

    /// Modular subtraction, lane by lane: `vd = vs - vt mod MRF[rm]`.
    Vsub = "vsub", 0x7, 0, Compute, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read, rm: MReg in RM Read };

    /// Modular multiplication, lane by lane: `vd = vs * vt mod MRF[rm]`.
    Vmul = "vmul", 0x8, 0, Compute, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read, rm: MReg in RM Read };

    /// Modular addition of a scalar: `vd = vs + SRF[rt] mod MRF[rm]`.
    Vadds = "vadds", 0x9, 0, Compute, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, rt: SReg in RT Read, rm: MReg in RM Read };

    /// Modular subtraction of a scalar: `vd = vs - SRF[rt] mod MRF[rm]`.
    Vsubs = "vsubs", 0xa, 0, Compute, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, rt: SReg in RT Read, rm: MReg in RM Read };

    /// Modular multiplication by a scalar: `vd = vs * SRF[rt] mod MRF[rm]`.
    Vmuls = "vmuls", 0xb, 0, Compute, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, rt: SReg in RT Read, rm: MReg in RM Read };

    /// Cooley-Tukey butterfly, lane by lane: `vd = vs + vt * vt1`, `vd1 = vs - vt * vt1`,
    /// mod `MRF[rm]`. Where `vd` and `vd1` are one register, it holds the difference.
    Bfly = "bfly", 0x8, 1, Compute, base,
        { vd: VReg in VD Write, vd1: VReg in VD1 Write, vs: VReg in VS Read, vt: VReg in VT Read, vt1: VReg in VT1 Read, rm: MReg in RM Read };

    /// Gentleman-Sande butterfly, lane by lane: `vd = vs + vt`, `vd1 = (vs - vt) * vt1`,
    /// mod `MRF[rm]`. Where `vd` and `vd1` are one register, it holds the product.
    /// An extension of this project in the spare encoding space.
    Gsbfly = "gsbfly", 0x7, 1, Compute, extension,
        { vd: VReg in VD Write, vd1: VReg in VD1 Write, vs: VReg in VS Read, vt: VReg in VT Read, vt1: VReg in VT1 Read, rm: MReg in RM Read };

    /// Interleave the low halves: `vd[2i] = vs[i]`, `vd[2i + 1] = vt[i]` for `i` below 256.
    Unpklo = "unpklo", 0xc, 0, Shuffle, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read };

    /// Interleave the high halves: `vd[2i] = vs[256 + i]`, `vd[2i + 1] = vt[256 + i]`.
    Unpkhi = "unpkhi", 0xd, 0, Shuffle, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read };

    /// Gather the even elements: `vd[i] = vs[2i]`, `vd[256 + i] = vt[2i]` for `i` below 256.
    Pklo = "pklo", 0xe, 0, Shuffle, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read };

    /// Gather the odd elements: `vd[i] = vs[2i + 1]`, `vd[256 + i] = vt[2i + 1]`.
    Pkhi = "pkhi", 0xf, 0, Shuffle, base,
        { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read };
}

impl Op {
    /// The instruction of that name in assembly text.
    pub fn from_mnemonic(mnemonic: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| op.info().mnemonic == mnemonic)
    }

    /// The unit that executes the instruction.
    pub const fn pipe(self) -> Pipe {
        self.info().pipe
    }

    /// The bits of the word that the instruction gives a meaning.
    fn used_bits(self) -> u64 {
        let operands = self.info().operands.iter();
        operands.fold(slot::BFLY.mask() | slot::OPCODE.mask(), |bits, operand| bits | operand.slot.mask())
    }

    fn decode_operand<T: OperandType>(self, word: u64, slot: Slot) -> Result<T, DecodeError> {
        T::from_bits(slot.get(word)).ok_or(DecodeError::Field {
            word,
            mnemonic: self.info().mnemonic,
            slot: slot.name,
            value: slot.get(word),
        })
    }
}

impl Instr {
    /// The instruction that `word` encodes. `decode(w)?.encode() == w` for every accepted word.
    ///
    /// # Errors
    /// Where the opcode, a field or a reserved bit means nothing.
    pub fn decode(word: u64) -> Result<Self, DecodeError> {
        let opcode = slot::OPCODE.get(word) as u8;
        let bfly = slot::BFLY.get(word) == 1;
        let op = Op::ALL
            .iter()
            .copied()
            .find(|op| op.info().opcode == opcode && op.info().bfly == bfly)
            .ok_or(DecodeError::UnknownOpcode { word, opcode })?;
        let bits = word & !op.used_bits();
        if bits != 0 {
            return Err(DecodeError::ReservedBits { word, mnemonic: op.info().mnemonic, bits });
        }
        op.decode_operands(word)
    }

    /// The unit that executes the instruction.
    pub const fn pipe(&self) -> Pipe {
        self.op().pipe()
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

/// Up to three vector registers: the most that an instruction reads.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_set_has_the_papers_seventeen_instructions() {
        assert_eq!(Op::ALL.iter().filter(|op| !op.info().extension).count(), 17);
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
    fn a_butterfly_has_its_fields_where_table_one_says() {
        let v = VReg::at;
        let instr = Instr::Bfly { vd: v(1), vd1: v(2), vs: v(3), vt: v(4), vt1: v(5), rm: MReg::at(6) };
        let word = 2 << 55 | 5 << 49 | 1 << 48 | 8 << 44 | 1 << 18 | 3 << 12 | 4 << 6 | 6;
        assert_eq!(instr.encode(), word);
        assert_eq!(Instr::decode(word), Ok(instr));
        // VD1 has nine bits, of which the upper three are reserved in effect.
        assert!(matches!(Instr::decode(word | 1 << 63), Err(DecodeError::Field { slot: "VD1", .. })));
    }
}
