//! A second notation: SPIRAL's C intrinsics, as the paper's listing of a kernel prints them.
//!
//! ```text
//! //.input x, 1024
//! //.address a1, x
//! void _ntt1024x512_b1() {
//!     enter(OP_DEFAULT);
//!     _vload_512x128i(REG_V60, REG_A1, 0);
//!     ...
//!     leave(OP_DEFAULT);
//! }
//! ```
//!
//! The listing shows calls without definitions. This front end interprets them as follows:
//!
//! | call | instruction |
//! |---|---|
//! | `enter(OP_DEFAULT)` | none; the kernel's first call |
//! | `leave(OP_DEFAULT)` | `halt`; the kernel's last call |
//! | `_vload_512x128i(VD, A, bytes)` | `vload VD, A, bytes/16` |
//! | `_vbroadcast_512x128i(VD, A, first, length)` | `vload VD, A, first, repeated 2^k` with `length` = 2^k |
//! | `_vimulmod_512x128i(VD, VS, VT, M)` | `vmul VD, VS, VT, M` |
//! | `_vaddmod_512x128i`, `_vsubmod_512x128i` | `vadd`, `vsub` in the same way |
//! | `_vunpacklo_512x128i(VD, VS, VT)` | `unpklo VD, VS, VT` |
//! | `_vstores_512x128i(A, bytes, VS, stride)` | `vstore VS, A, bytes/16, strided 2^k` with `stride` = 2^k |
//!
//! * Offsets of loads and stores are **bytes**: the listing's second load is at 8192, which is 512
//!   elements of 16 bytes and half of its 1024 points.
//! * The last two arguments of `_vbroadcast`, 1 and 1 in the listing, are the first **word** and
//!   the length of the block: the first stage of Korn and Lambiotte's algorithm multiplies by word
//!   1 of the twiddle table, repeated with period 1. A byte offset of 1 is impossible.
//! * The stride of `_vstores` is in **words**: 2 is the perfect shuffle of the last stage.
//!
//! The names of the other instructions are this project's, by analogy; [`CALLS`] has all. The suffix names
//! the vector length and the word width.
//!
//! A kernel in this form has instructions only: the host code, which the paper does not print, sets up
//! tables, launch values and symbols. Here, comments that begin with `//.` are directives of the assembler,
//! each on a line of its own. A C compiler ignores them. Numbers are those of C, so `010` is 8. No
//! preprocessor runs: `#include` and `#pragma` are ignored, and other lines such as `#if` are errors, since
//! they may remove calls.

mod print;
mod read;

pub use print::print;
pub(crate) use read::Function;
pub use read::{assemble, assemble_with_checks, assemble_with_source_map};

use crate::isa::{Op, OperandKind};
use crate::reg::{AddressMode, Log2};
use std::sync::LazyLock;

/// An argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument {
    /// The register operand of this name in the instruction table.
    Register(&'static str),
    /// The offset in bytes.
    Bytes,
    /// The offset in words.
    Words,
    /// The value of the addressing mode, a power of two.
    Mode,
    /// The multiplier of a map of lanes.
    Multiplier,
    /// The shift of a map of lanes.
    Shift,
}

/// An intrinsic and its instruction.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name, without the prefix `_` and the suffix such as `_512x128i`.
    pub name: &'static str,
    /// The instruction.
    pub op: Op,
    /// The addressing mode of a vector load or store; without a value, the call has an argument for it.
    pub mode: Option<ModeKind>,
    /// The arguments, in the order of the call.
    pub arguments: Vec<Argument>,
}

/// An addressing mode without its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModeKind {
    /// Consecutive words.
    Linear,
    /// Every 2^k-th word.
    Strided,
    /// Every second block of 2^k words.
    StridedSkip,
    /// A block of 2^k words, again and again.
    Repeated,
}

impl ModeKind {
    /// The mode with its value; linear has none.
    fn with(self, value: Option<Log2>) -> Option<AddressMode> {
        match (self, value) {
            (Self::Linear, None) => Some(AddressMode::Linear),
            (Self::Strided, Some(value)) => Some(AddressMode::Strided(value)),
            (Self::StridedSkip, Some(value)) => Some(AddressMode::StridedSkip(value)),
            (Self::Repeated, Some(value)) => Some(AddressMode::Repeated(value)),
            (Self::Linear, Some(_)) | (Self::Strided | Self::StridedSkip | Self::Repeated, None) => None,
        }
    }

    /// The kind of a mode, and its value.
    fn of(mode: AddressMode) -> (Self, Option<Log2>) {
        match mode {
            AddressMode::Linear => (Self::Linear, None),
            AddressMode::Strided(value) => (Self::Strided, Some(value)),
            AddressMode::StridedSkip(value) => (Self::StridedSkip, Some(value)),
            AddressMode::Repeated(value) => (Self::Repeated, Some(value)),
        }
    }
}

macro_rules! calls {
    ($($name:literal => $op:ident $(($mode:ident))?, [$($argument:expr),*];)*) => {
        /// The intrinsics, except `enter` and `leave`. Calls of one name differ in the kind of a register. An
        /// instruction that is not in the table has its mnemonic as name and its operands as arguments.
        pub static CALLS: LazyLock<Vec<Call>> = LazyLock::new(|| {
            let named = [$(Call {
                name: $name,
                op: Op::$op,
                mode: calls!(@mode $($mode)?),
                arguments: vec![$($argument),*],
            }),*];
            let is_named = |op| named.iter().any(|call| call.op == op);
            let others = Op::ALL.iter().filter(|&&op| op != Op::Halt && !is_named(op));
            let others: Vec<Call> = others.map(|&op| plain(op)).collect();
            named.into_iter().chain(others).collect()
        });
    };
    (@mode) => { None };
    (@mode $mode:ident) => { Some(ModeKind::$mode) };
}

use Argument::{Bytes, Mode, Multiplier, Register as R, Shift, Words};

calls! {
    "vload" => Vload(Linear), [R("vd"), R("base"), Bytes];
    "vloads" => Vload(Strided), [R("vd"), R("base"), Bytes, Mode];
    "vloadskip" => Vload(StridedSkip), [R("vd"), R("base"), Bytes, Mode];
    "vbroadcast" => Vload(Repeated), [R("vd"), R("base"), Words, Mode];
    "vstore" => Vstore(Linear), [R("base"), Bytes, R("vs")];
    "vstores" => Vstore(Strided), [R("base"), Bytes, R("vs"), Mode];
    "vstoreskip" => Vstore(StridedSkip), [R("base"), Bytes, R("vs"), Mode];
    "vstorerepeat" => Vstore(Repeated), [R("base"), Bytes, R("vs"), Mode];
    "vaddmod" => Vadd, [R("vd"), R("vs"), R("vt"), R("rm")];
    "vaddmod" => Vadds, [R("vd"), R("vs"), R("rt"), R("rm")];
    "vsubmod" => Vsub, [R("vd"), R("vs"), R("vt"), R("rm")];
    "vsubmod" => Vsubs, [R("vd"), R("vs"), R("rt"), R("rm")];
    "vimulmod" => Vmul, [R("vd"), R("vs"), R("vt"), R("rm")];
    "vimulmod" => Vmuls, [R("vd"), R("vs"), R("rt"), R("rm")];
    "vbutterfly" => Bfly, [R("vd"), R("vd1"), R("vs"), R("vt"), R("vt1"), R("rm")];
    "vgsbutterfly" => Gsbfly, [R("vd"), R("vd1"), R("vs"), R("vt"), R("vt1"), R("rm")];
    "vunpacklo" => Unpklo, [R("vd"), R("vs"), R("vt")];
    "vunpackhi" => Unpkhi, [R("vd"), R("vs"), R("vt")];
    "vpacklo" => Pklo, [R("vd"), R("vs"), R("vt")];
    "vpackhi" => Pkhi, [R("vd"), R("vs"), R("vt")];
    "vaffine" => Vaff, [R("vd"), R("vs"), Multiplier, Shift];
}

/// The call of an instruction without an addressing mode, by its mnemonic.
fn plain(op: Op) -> Call {
    let arguments = op.info().operands.iter().flat_map(|spec| match spec.kind {
        OperandKind::VReg | OperandKind::SReg | OperandKind::AReg | OperandKind::MReg => vec![R(spec.name)],
        OperandKind::Offset => vec![Bytes],
        OperandKind::Map => vec![Multiplier, Shift],
        OperandKind::Mode => unreachable!("a name for each mode is in the table"),
    });
    Call { name: op.info().mnemonic, op, mode: None, arguments: arguments.collect() }
}

/// The prefix of a register's name; `None` for other operands.
fn prefix(kind: OperandKind) -> Option<&'static str> {
    match kind {
        OperandKind::VReg => Some("REG_V"),
        OperandKind::SReg => Some("REG_S"),
        OperandKind::AReg => Some("REG_A"),
        OperandKind::MReg => Some("REG_M"),
        OperandKind::Offset | OperandKind::Mode | OperandKind::Map => None,
    }
}

impl Call {
    /// The kind of the register operand of this name.
    fn register_kind(&self, name: &str) -> OperandKind {
        let spec = self.op.info().operands.iter().find(|spec| spec.name == name);
        spec.expect("the table of calls names operands of the instruction").kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use diagnostic::Diagnostic;

    /// The listing as the paper prints it.
    const LISTING: &str = "\
// SPIRAL generated NTT Code for RPU vector architecture
#include <rpu.h>
// kernel code
void _ntt1024x512_b1() {
enter(OP_DEFAULT);
_vload_512x128i(REG_V60, REG_A1, 0);
_vload_512x128i(REG_V20, REG_A1, 8192);
_vbroadcast_512x128i(REG_V19, REG_A3, 1, 1);
_vimulmod_512x128i(REG_V59, REG_V20, REG_V19, REG_M1);
_vaddmod_512x128i(REG_V58, REG_V60, REG_V59, REG_M1);
_vsubmod_512x128i(REG_V57, REG_V60, REG_V59, REG_M1);
_vunpacklo_512x128i(REG_V56, REG_V58, REG_V57);
_vstores_512x128i(REG_A2, 16, REG_V21, 2);
leave(OP_DEFAULT);
}
";

    #[test]
    fn the_papers_listing_is_read() {
        let program = assemble(LISTING).unwrap();
        let expected = "\
.kernel _ntt1024x512_b1

vload v60, a1, 0
vload v20, a1, 512
vload v19, a3, 1, repeated 2^0
vmul v59, v20, v19, m1
vadd v58, v60, v59, m1
vsub v57, v60, v59, m1
unpklo v56, v58, v57
vstore v21, a2, 1, strided 2^1
halt
";
        assert_eq!(program.instructions, crate::assemble(expected).unwrap().instructions);
        assert_eq!(program.name, "_ntt1024x512_b1");
    }

    fn errors(calls: &str) -> Vec<(&'static str, String)> {
        let source = format!("void k() {{ enter(OP_DEFAULT); {calls} leave(OP_DEFAULT); }}");
        let diagnostics = assemble(&source).unwrap_err();
        let error = |error: &Diagnostic| Some((error.code?, error.marked()?.to_owned()));
        diagnostics.iter().map(|found| error(found).unwrap()).collect()
    }

    #[test]
    fn errors_point_at_the_argument() {
        let cases = [
            ("_vlaod_512x128i(REG_V0, REG_A0, 0);", Code::UnknownIntrinsic, "_vlaod_512x128i"),
            ("vload(REG_V0, REG_A0, 0);", Code::UnknownIntrinsic, "vload"),
            ("_vload_512x128i(REG_V64, REG_A0, 0);", Code::RegisterRange, "REG_V64"),
            ("_vload_512x128i(REG_A0, REG_A0, 0);", Code::OperandKind, "REG_A0"),
            ("_vload_512x128i(REG_V0, REG_A0, 8);", Code::ByteOffset, "8"),
            ("_vload_512x128i(REG_V0, REG_A0, 16777216);", Code::OffsetRange, "16777216"),
            ("_vload_512x128i(REG_V0, REG_A0);", Code::OperandCount, "_vload_512x128i(REG_V0, REG_A0)"),
            ("_vstores_512x128i(REG_A0, 0, REG_V0, 3);", Code::Mode, "3"),
            ("_vload_512x128i(REG_V0, REG_A0, 0x);", Code::Number, "0x"),
            ("enter(OP_DEFAULT);", Code::Syntax, "enter"),
            ("leave(OP_DEFAULT);", Code::Halt, "leave(OP_DEFAULT)"),
            ("_vload_512x128i REG_V0;", Code::Syntax, "REG_V0"),
        ];
        for (calls, code, marked) in cases {
            assert_eq!(errors(calls), [(code.name(), marked.to_owned())], "{calls}");
        }
    }

    #[test]
    fn several_errors_are_reported_together() {
        let found = errors("_vload_512x128i(REG_V0, REG_A0, 8); halt(); _vpacklo_512x128i(V1, V2, V3);");
        let codes: Vec<_> = found.iter().map(|error| error.0).collect();
        assert_eq!(codes, [Code::ByteOffset, Code::UnknownIntrinsic, Code::OperandKind].map(Code::name));
    }

    #[test]
    fn a_kernel_begins_with_enter_and_ends_with_leave() {
        for (source, code) in [
            ("", Code::Syntax),
            ("void k() {", Code::Syntax),
            ("void k() { enter(OP_DEFAULT); }", Code::Halt),
            ("void k() { leave(OP_DEFAULT); }", Code::Syntax),
            ("void k() { enter(OP_FAST); leave(OP_DEFAULT); }", Code::OperandKind),
            ("void k() { enter(OP_DEFAULT); leave(OP_DEFAULT); } void l() {}", Code::Syntax),
        ] {
            let error = assemble(source).unwrap_err();
            assert_eq!(error.iter().next().unwrap().code, Some(code.name()), "{source}");
        }
    }

    #[test]
    fn every_instruction_and_mode_has_one_call() {
        for &op in Op::ALL.iter().filter(|&&op| op != Op::Halt) {
            let calls: Vec<&Call> = CALLS.iter().filter(|call| call.op == op).collect();
            let has_modes = op.info().operands.iter().any(|spec| spec.kind == OperandKind::Mode);
            assert_eq!(calls.len(), if has_modes { 4 } else { 1 }, "{op:?}");
            for call in calls {
                assert_eq!(call.mode.is_some(), has_modes, "{op:?}");
                // A map has two arguments.
                let maps = call.arguments.iter().filter(|&&argument| argument == Shift).count();
                let linear = usize::from(call.mode == Some(ModeKind::Linear));
                let given = call.arguments.len() + linear - maps;
                assert_eq!(given, op.info().operands.len(), "{op:?}");
            }
        }
    }

    #[test]
    fn directives_are_comments() {
        let source = "\
//.isa vector_length=1024, word_bits=64
//.input x, 1024
//.output y, 1024      // with a remark
//.words 0x800 { 1 2 }
//.modulus m1, 97
void k() {
    enter(OP_DEFAULT); // .not a directive
    _vload_1024x64i(REG_V1, REG_A0, 0);
    _vstore_1024x64i(REG_A0, 8192, REG_V1);
    leave(OP_DEFAULT);
}
";
        let program = assemble(source).unwrap();
        let same = "\
.isa vector_length=1024, word_bits=64
.kernel k
.input x, 1024
.output y, 1024
.words 0x800 { 1 2 }
.modulus m1, 97
vload v1, a0, x
vstore v1, a0, y
halt
";
        assert_eq!(program, crate::assemble(same).unwrap());
        assert_eq!(assemble(&print(&program)).unwrap(), program);
        let errors = assemble(&source.replace("_vload_1024x64i", "_vload_512x128i")).unwrap_err();
        assert_eq!(
            errors.to_string().lines().next(),
            Some("8:5: B018: unknown intrinsic `_vload_512x128i`; did you mean `_vload_1024x64i`?")
        );
        let errors = assemble(&source.replace("//.modulus m1, 97", "//.modulus m1, 96")).unwrap_err();
        assert_eq!(
            errors.to_string(),
            "5:3: B015: the modulus 0x60 is even; a modulus is odd and at least 3"
        );
    }
}
