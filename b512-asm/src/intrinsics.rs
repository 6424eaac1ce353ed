//! A second front end: SPIRAL's C intrinsics, as the paper's listing of a kernel prints them.
//!
//! ```text
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
//! By analogy the front end also accepts `_vstore(A, bytes, VS)`, `_vloads(VD, A, bytes, stride)`,
//! `_vunpackhi`, `_vpacklo`, `_vpackhi`, and a scalar register as the last source of the three
//! arithmetic calls, which selects `vmuls`, `vadds`, `vsubs`.
//!
//! A kernel in this form has instructions only: the host code, which the paper does not print, sets
//! up tables, launch values and symbols.

use crate::asm::{operand_count, parse_register};
use crate::code::Code;
use crate::grammar::skip_space;
use crate::isa::{Instr, Operand, OperandKind};
use crate::lex::{Fault, Parsed, expect, fault, first_token, number, span_in, token};
use crate::parameters::Isa;
use crate::program::Program;
use crate::reg::{AReg, AddressMode, Log2, MReg, Offset, SReg, VReg};
use diagnostic::{Diagnostics, nearest};
use nom::Parser;
use nom::bytes::complete::tag;
use nom::character::complete::char;
use nom::multi::separated_list0;
use nom::sequence::{delimited, preceded, terminated};

/// A kernel written in intrinsics.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The function's name.
    pub name: String,
    /// The instructions; the last is `halt`.
    pub instructions: Vec<Instr>,
}

/// A program of the kernel's instructions, without data or launch values.
impl From<Kernel> for Program {
    fn from(Kernel { name, instructions }: Kernel) -> Self {
        Self { name, instructions, ..Self::default() }
    }
}

/// The vector intrinsics, without the prefix `_` and the suffix `_512x128i`.
const VECTOR_CALLS: [&str; 12] = [
    "vload",
    "vloads",
    "vstore",
    "vstores",
    "vbroadcast",
    "vaddmod",
    "vsubmod",
    "vimulmod",
    "vunpacklo",
    "vunpackhi",
    "vpacklo",
    "vpackhi",
];

/// Reads a kernel.
///
/// # Errors
/// Returns every error in the source, in source order.
pub fn parse(source: &str) -> Result<Kernel, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let mut kernel = Kernel { name: String::new(), instructions: Vec::new() };
    let mut report = |fault: Fault<'_>| diagnostics.push(fault.into_diagnostic(source));
    match function_head(source) {
        Ok((mut rest, name)) => {
            kernel.name = name.to_owned();
            let mut entered = false;
            loop {
                rest = skip_space(rest);
                if rest.is_empty() || rest.starts_with('}') {
                    break;
                }
                match call(rest) {
                    Ok((after, call)) => {
                        rest = after;
                        let halted = kernel.instructions.last() == Some(&Instr::Halt {});
                        match call.meaning(entered, halted) {
                            Ok(Some(instr)) => kernel.instructions.push(instr),
                            Ok(None) => entered = true,
                            Err(fault) => report(fault),
                        }
                    }
                    Err(error) => {
                        report(fault(error));
                        rest = rest.split_once(';').map_or("", |(_, after)| after);
                    }
                }
            }
            if let Err(error) = function_end(rest, &kernel) {
                report(error);
            }
        }
        Err(error) => report(fault(error)),
    }
    diagnostics.into_result(source).map(|()| kernel)
}

/// Runs `parser` after blanks, lines and comments.
fn spaced<'a, O>(
    parser: impl Parser<&'a str, Output = O, Error = Fault<'a>>,
) -> impl Parser<&'a str, Output = O, Error = Fault<'a>> {
    preceded(|input: &'a str| Ok((skip_space(input), ())), parser)
}

/// `void NAME() {`
fn function_head(input: &str) -> Parsed<'_, &str> {
    let (rest, _) = expect("`void`", spaced(tag("void")))(input)?;
    let (rest, name) = expect("the function's name", spaced(token))(rest)?;
    let (rest, _) = expect("`()`", (spaced(char('(')), spaced(char(')')))).parse(rest)?;
    let (rest, _) = expect("`{`", spaced(char('{')))(rest)?;
    Ok((rest, name))
}

/// `}` after the last call, `leave`.
fn function_end<'a>(rest: &'a str, kernel: &Kernel) -> Result<(), Fault<'a>> {
    let (after, _) = expect("`}`", char('}'))(rest).map_err(fault)?;
    if kernel.instructions.last() != Some(&Instr::Halt {}) {
        let brace = &rest[..1];
        return Err(Fault::new(Code::Halt, brace, "the kernel does not end with `leave`")
            .help("write `leave(OP_DEFAULT);` as its last call"));
    }
    match skip_space(after) {
        "" => Ok(()),
        more => Err(Fault::new(Code::Syntax, first_token(more), "expected the end after the kernel")),
    }
}

/// A call with its arguments.
struct Call<'a> {
    /// From the name to the closing parenthesis.
    text: &'a str,
    name: &'a str,
    arguments: Vec<&'a str>,
}

/// `NAME(ARGUMENT, ...);`
fn call(input: &str) -> Parsed<'_, Call<'_>> {
    let (rest, name) = expect("a call", token)(input)?;
    let list = separated_list0(spaced(char(',')), spaced(token));
    let (rest, arguments) =
        delimited(expect("`(`", spaced(char('('))), list, expect("`)`", spaced(char(')')))).parse(rest)?;
    let text = &input[..span_in(input, rest).start];
    let (rest, _) = expect("`;`", spaced(char(';')))(rest)?;
    Ok((rest, Call { text, name, arguments }))
}

impl<'a> Call<'a> {
    /// The call's instruction, or `None` for `enter`. `entered` and `halted` say whether `enter` and
    /// `leave` came before.
    fn meaning(&self, entered: bool, halted: bool) -> Result<Option<Instr>, Fault<'a>> {
        if halted {
            return Err(Fault::new(Code::Halt, self.text, "this call comes after `leave`"));
        }
        if entered == (self.name == "enter") {
            let message = "`enter(OP_DEFAULT);` is the first call of a kernel, and no other";
            return Err(Fault::new(Code::Syntax, self.name, message));
        }
        match self.name {
            "enter" | "leave" => {
                let [option] = self.take()?;
                if option != "OP_DEFAULT" {
                    let message = format!("expected `OP_DEFAULT`, found `{option}`");
                    return Err(Fault::new(Code::OperandKind, option, message));
                }
                Ok((self.name == "leave").then_some(Instr::Halt {}))
            }
            _ => self.vector_instr().map(Some),
        }
    }

    fn vector_instr(&self) -> Result<Instr, Fault<'a>> {
        let name = self.name.strip_prefix('_').and_then(|name| name.strip_suffix("_512x128i"));
        Ok(match name.unwrap_or_default() {
            "vload" => {
                let [vd, base, offset] = self.take()?;
                let mode = AddressMode::Linear;
                Instr::Vload { vd: vreg(vd)?, base: areg(base)?, offset: byte_offset(offset)?, mode }
            }
            "vloads" => {
                let [vd, base, offset, stride] = self.take()?;
                let mode = AddressMode::Strided(power_of_two(stride)?);
                Instr::Vload { vd: vreg(vd)?, base: areg(base)?, offset: byte_offset(offset)?, mode }
            }
            "vbroadcast" => {
                let [vd, base, first, length] = self.take()?;
                let mode = AddressMode::Repeated(power_of_two(length)?);
                Instr::Vload {
                    vd: vreg(vd)?,
                    base: areg(base)?,
                    offset: word_offset(first, constant(first)?)?,
                    mode,
                }
            }
            "vstore" => {
                let [base, offset, vs] = self.take()?;
                let mode = AddressMode::Linear;
                Instr::Vstore { vs: vreg(vs)?, base: areg(base)?, offset: byte_offset(offset)?, mode }
            }
            "vstores" => {
                let [base, offset, vs, stride] = self.take()?;
                let mode = AddressMode::Strided(power_of_two(stride)?);
                Instr::Vstore { vs: vreg(vs)?, base: areg(base)?, offset: byte_offset(offset)?, mode }
            }
            arithmetic @ ("vaddmod" | "vsubmod" | "vimulmod") => {
                let [vd, vs, source, rm] = self.take()?;
                let (vd, vs, rm) = (vreg(vd)?, vreg(vs)?, mreg(rm)?);
                match (arithmetic, source.starts_with("REG_S")) {
                    ("vaddmod", false) => Instr::Vadd { vd, vs, vt: vreg(source)?, rm },
                    ("vaddmod", true) => Instr::Vadds { vd, vs, rt: sreg(source)?, rm },
                    ("vsubmod", false) => Instr::Vsub { vd, vs, vt: vreg(source)?, rm },
                    ("vsubmod", true) => Instr::Vsubs { vd, vs, rt: sreg(source)?, rm },
                    (_, false) => Instr::Vmul { vd, vs, vt: vreg(source)?, rm },
                    (_, true) => Instr::Vmuls { vd, vs, rt: sreg(source)?, rm },
                }
            }
            shuffle @ ("vunpacklo" | "vunpackhi" | "vpacklo" | "vpackhi") => {
                let [vd, vs, vt] = self.take()?;
                let (vd, vs, vt) = (vreg(vd)?, vreg(vs)?, vreg(vt)?);
                match shuffle {
                    "vunpacklo" => Instr::Unpklo { vd, vs, vt },
                    "vunpackhi" => Instr::Unpkhi { vd, vs, vt },
                    "vpacklo" => Instr::Pklo { vd, vs, vt },
                    _ => Instr::Pkhi { vd, vs, vt },
                }
            }
            _ => return Err(self.unknown()),
        })
    }

    fn unknown(&self) -> Fault<'a> {
        let message = format!("unknown intrinsic `{}`", self.name);
        let fault = Fault::new(Code::UnknownIntrinsic, self.name, message);
        let plain = self.name.trim_start_matches('_').trim_end_matches("_512x128i");
        match nearest(plain, VECTOR_CALLS) {
            Some(near) => fault.help(format!("did you mean `_{near}_512x128i`?")),
            None => {
                fault.help(format!("they are `_NAME_512x128i` with NAME one of {}", VECTOR_CALLS.join(", ")))
            }
        }
    }

    /// The arguments, if there are `N` of them.
    fn take<const N: usize>(&self) -> Result<[&'a str; N], Fault<'a>> {
        let found = self.arguments.len();
        self.arguments[..].try_into().map_err(|_| operand_count(self.text, self.name, N, N, found))
    }
}

macro_rules! registers {
    ($($function:ident, $kind:ident, $prefix:literal;)*) => {$(
        fn $function(text: &str) -> Result<$kind, Fault<'_>> {
            match parse_register(OperandKind::$kind, $prefix, text)? {
                Operand::$kind(reg) => Ok(reg),
                _ => Err(Fault::new(Code::OperandKind, text, "this is a register of another kind")),
            }
        }
    )*};
}

registers! {
    vreg, VReg, "REG_V";
    sreg, SReg, "REG_S";
    areg, AReg, "REG_A";
    mreg, MReg, "REG_M";
}

fn constant(text: &str) -> Result<u128, Fault<'_>> {
    match terminated(number, nom::combinator::eof).parse(text) {
        Ok((_, value)) => Ok(value),
        Err(nom::Err::Failure(fault)) => Err(fault),
        Err(_) => Err(Fault::new(Code::OperandKind, text, format!("expected a number, found `{text}`"))),
    }
}

/// Bytes of a word: SPIRAL's types are B512's.
const WORD_BYTES: u32 = Isa::B512.word_bytes();

/// An offset in bytes.
fn byte_offset(text: &str) -> Result<Offset, Fault<'_>> {
    let bytes = constant(text)?;
    let word = u128::from(WORD_BYTES);
    if !bytes.is_multiple_of(word) {
        let message = format!("byte {bytes} is inside a word");
        let help = format!("offsets are multiples of {word} bytes, {} for example", bytes / word * word);
        return Err(Fault::new(Code::ByteOffset, text, message).help(help));
    }
    word_offset(text, bytes / word)
}

fn word_offset(text: &str, words: u128) -> Result<Offset, Fault<'_>> {
    u32::try_from(words).ok().and_then(Offset::new).ok_or_else(|| {
        let message = format!("word {words} does not fit the address field");
        let help = format!("the largest offset is word {}, byte {}", Offset::MAX, Offset::MAX * WORD_BYTES);
        Fault::new(Code::OffsetRange, text, message).help(help)
    })
}

fn power_of_two(text: &str) -> Result<Log2, Fault<'_>> {
    let value = constant(text)?;
    let exponent = value.is_power_of_two().then(|| value.ilog2());
    exponent.and_then(|exponent| Log2::new(u8::try_from(exponent).ok()?)).ok_or_else(|| {
        Fault::new(Code::Mode, text, format!("{value} is not a power of two that fits"))
            .help(format!("strides and block lengths are 1, 2, 4, .. 2^{}", Log2::MAX))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let program = Program::from(parse(LISTING).unwrap());
        assert_eq!(program.check(), Ok(()));
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
        let diagnostics = parse(&source).unwrap_err();
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
        for (calls, code, place) in cases {
            assert_eq!(errors(calls), [(code.name(), place.to_owned())], "{calls}");
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
            let error = parse(source).unwrap_err();
            assert_eq!(error.iter().next().unwrap().code, Some(code.name()), "{source}");
        }
    }
}
