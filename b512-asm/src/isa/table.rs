//! The instructions, one row each.

/// Calls the macro `$callback` with the rows of the instruction table.
///
/// A row is
///
/// ```text
/// /// documentation
/// Variant = "mnemonic", opcode, BFLY bit, class, feature, { operand: Type in SLOT Direction, .. };
/// ```
///
/// The class is a [`Class`](crate::Class) without its enum, such as `Load` or
/// `Butterfly(CooleyTukey)`; the feature is `base` for the instructions of the paper, or else the
/// [`Feature`](crate::Feature) that a machine needs. An operand's slot is a constant of
/// [`isa::slot`](crate::isa::slot). For example:
///
/// ```
/// macro_rules! mnemonics {
///     ($(
///         $(#[$doc:meta])*
///         $variant:ident = $mnemonic:literal, $opcode:literal, $bfly:literal,
///         $class:ident $(($kind:ident))?, $feature:ident, { $($operands:tt)* };
///     )*) => {
///         [$($mnemonic),*]
///     };
/// }
/// assert!(b512_asm::for_each_instruction!(mnemonics).contains(&"bfly"));
/// ```
#[macro_export]
macro_rules! for_each_instruction {
    ($callback:ident) => {
        $callback! {
        /// End of the program. The run ends when every instruction before it has completed.
        Halt = "halt", 0x0, 0, Halt, base, {};

        /// Load a vector from the VDM: lane `i` of `vd` receives the word at
        /// `ARF[base] + offset + mode(i)`.
        Vload = "vload", 0x1, 0, Load, base,
            { vd: VReg in VD Write, base: AReg in RM Read, offset: Offset in ADDRESS Immediate, mode: AddressMode in MODE_VALUE Immediate };

        /// Store a vector to the VDM: lane `i` of `vs` goes to `ARF[base] + offset + mode(i)`.
        /// If lanes share a word, the highest lane's value stays.
        Vstore = "vstore", 0x2, 0, Store, base,
            { vs: VReg in VD Read, base: AReg in RM Read, offset: Offset in ADDRESS Immediate, mode: AddressMode in MODE_VALUE Immediate };

        /// Load a scalar: `SRF[rt] = SDM[offset]`.
        Sload = "sload", 0x3, 0, ScalarLoad, base,
            { rt: SReg in RT Write, offset: Offset in ADDRESS Immediate };

        /// Load an address: `ARF[rt] = SDM[offset]`, which must be below 2^28.
        Aload = "aload", 0x4, 0, ScalarLoad, base,
            { rt: AReg in RT Write, offset: Offset in ADDRESS Immediate };

        /// Load a modulus: `MRF[rt] = SDM[offset]`, which must be odd and above 1.
        Mload = "mload", 0x5, 0, ScalarLoad, base,
            { rt: MReg in RT Write, offset: Offset in ADDRESS Immediate };

        /// Modular addition, lane by lane: `vd = vs + vt mod MRF[rm]`.
        Vadd = "vadd", 0x6, 0, Add, base,
            { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read, rm: MReg in RM Read };

        /// Modular subtraction, lane by lane: `vd = vs - vt mod MRF[rm]`.
        Vsub = "vsub", 0x7, 0, Subtract, base,
            { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read, rm: MReg in RM Read };

        /// Modular multiplication, lane by lane: `vd = vs * vt mod MRF[rm]`.
        Vmul = "vmul", 0x8, 0, Multiply, base,
            { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read, rm: MReg in RM Read };

        /// Modular addition of a scalar: `vd = vs + SRF[rt] mod MRF[rm]`.
        Vadds = "vadds", 0x9, 0, Add, base,
            { vd: VReg in VD Write, vs: VReg in VS Read, rt: SReg in RT Read, rm: MReg in RM Read };

        /// Modular subtraction of a scalar: `vd = vs - SRF[rt] mod MRF[rm]`.
        Vsubs = "vsubs", 0xa, 0, Subtract, base,
            { vd: VReg in VD Write, vs: VReg in VS Read, rt: SReg in RT Read, rm: MReg in RM Read };

        /// Modular multiplication by a scalar: `vd = vs * SRF[rt] mod MRF[rm]`.
        Vmuls = "vmuls", 0xb, 0, Multiply, base,
            { vd: VReg in VD Write, vs: VReg in VS Read, rt: SReg in RT Read, rm: MReg in RM Read };

        /// Cooley-Tukey butterfly, lane by lane: `vd = vs + vt * vt1`, `vd1 = vs - vt * vt1`,
        /// mod `MRF[rm]`. If `vd` and `vd1` are one register, it holds the difference.
        Bfly = "bfly", 0x8, 1, Butterfly(CooleyTukey), base,
            { vd: VReg in VD Write, vd1: VReg in VD1 Write, vs: VReg in VS Read, vt: VReg in VT Read, vt1: VReg in VT1 Read, rm: MReg in RM Read };

        /// Gentleman-Sande butterfly, lane by lane: `vd = vs + vt`, `vd1 = (vs - vt) * vt1`,
        /// mod `MRF[rm]`. If `vd` and `vd1` are one register, it holds the product.
        /// An extension of this project in the spare encoding space.
        Gsbfly = "gsbfly", 0x7, 1, Butterfly(GentlemanSande), GsButterfly,
            { vd: VReg in VD Write, vd1: VReg in VD1 Write, vs: VReg in VS Read, vt: VReg in VT Read, vt1: VReg in VT1 Read, rm: MReg in RM Read };

        /// Interleave the low halves: `vd[2i] = vs[i]`, `vd[2i + 1] = vt[i]` for `i` below L/2.
        Unpklo = "unpklo", 0xc, 0, Permute(UnpackLow), base,
            { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read };

        /// Interleave the high halves: `vd[2i] = vs[L/2 + i]`, `vd[2i + 1] = vt[L/2 + i]`.
        Unpkhi = "unpkhi", 0xd, 0, Permute(UnpackHigh), base,
            { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read };

        /// Gather the even elements: `vd[i] = vs[2i]`, `vd[L/2 + i] = vt[2i]` for `i` below L/2.
        Pklo = "pklo", 0xe, 0, Permute(PackEven), base,
            { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read };

        /// Gather the odd elements: `vd[i] = vs[2i + 1]`, `vd[L/2 + i] = vt[2i + 1]`.
        Pkhi = "pkhi", 0xf, 0, Permute(PackOdd), base,
            { vd: VReg in VD Write, vs: VReg in VS Read, vt: VReg in VT Read };

        /// Map the lanes: `vd[r(h)] = vs[r(g h + d mod L)]`, with `r` the reversal of the log2 L bits of a
        /// lane. The map is written `gh+d`, such as `5h+3`: `g` is odd, both numbers are below 1024.
        /// An extension of this project in the spare encoding space.
        Vaff = "vaff", 0xc, 1, Permute(Affine), LanePermuter,
            { vd: VReg in VD Write, vs: VReg in VS Read, map: LaneMap in MAP Immediate };
        }
    };
}
