//! From C text to a program.

use super::{Argument, CALLS, prefix};
use super::{Call as Row, ModeKind};
use crate::asm::{Checks, assemble_calls};
use crate::c_text::{Place, skip};
use crate::code::Code;
use crate::isa::{Instr, Operand, OperandKind};
use crate::lex::{Fault, Parsed, c_number_value, expect, fault, first_token, span_in, token};
use crate::operand::{operand_count, parse_register};
use crate::parameters::Isa;
use crate::program::Program;
use crate::reg::{LaneMap, Log2, Offset};
use crate::source_map::SourceMap;
use diagnostic::{Diagnostics, nearest};
use nom::Parser;
use nom::bytes::complete::tag;
use nom::character::complete::char;
use nom::multi::separated_list0;
use nom::sequence::delimited;

/// Reads a kernel and the directives in its comments.
///
/// # Errors
/// Returns every error in the source, in source order.
pub fn assemble(source: &str) -> Result<Program, Diagnostics> {
    assemble_with_source_map(source).map(|(program, _)| program)
}

/// Reads a kernel, and returns the source location of each part of the program.
///
/// # Errors
/// Returns the errors of [`assemble`].
pub fn assemble_with_source_map(source: &str) -> Result<(Program, SourceMap<'_>), Diagnostics> {
    assemble_with_checks(source, &|_, _| Vec::new())
}

/// Reads intrinsics with additional checks, as [`assemble_with_checks`](crate::assemble_with_checks) does.
///
/// # Errors
/// Returns the errors of [`assemble`] and of the checks.
pub fn assemble_with_checks<'a>(
    source: &'a str,
    checks: Checks<'_>,
) -> Result<(Program, SourceMap<'a>), Diagnostics> {
    assemble_calls(source, |isa| kernel(source, isa), checks)
}

/// The function of a kernel.
#[derive(Debug, Default)]
pub(crate) struct Function<'a> {
    /// Its name; empty if the head has an error.
    pub(crate) name: &'a str,
    /// The instructions with their calls.
    pub(crate) instructions: Vec<(Instr, &'a str)>,
    /// The errors.
    pub(crate) faults: Vec<Fault<'a>>,
}

/// Reads the function.
fn kernel(source: &str, isa: Isa) -> Function<'_> {
    let mut function = Function::default();
    let head = skip(source, Place::LineStart).map_err(nom::Err::Failure).and_then(function_head);
    let mut rest = match head {
        Ok((rest, name)) => {
            function.name = name;
            rest
        }
        Err(error) => {
            function.faults.push(fault(error));
            return function;
        }
    };
    let mut entered = false;
    loop {
        rest = match skip(rest, Place::WithinLine) {
            Ok(rest) => rest,
            // What follows may be meant or not.
            Err(fault) => {
                function.faults.push(fault);
                return function;
            }
        };
        if rest.is_empty() || rest.starts_with('}') {
            break;
        }
        match call(rest) {
            Ok((after, call)) => {
                rest = after;
                let halted = function.is_halted();
                match call.meaning(isa, entered, halted) {
                    Ok(Some(instr)) => function.instructions.push((instr, call.text)),
                    Ok(None) => entered = true,
                    Err(fault) => function.faults.push(fault),
                }
            }
            Err(error) => {
                function.faults.push(fault(error));
                rest = rest.split_once(';').map_or("", |(_, after)| after);
            }
        }
    }
    let end = function_end(rest, function.is_halted());
    function.faults.extend(end.err());
    function
}

impl Function<'_> {
    fn is_halted(&self) -> bool {
        self.instructions.last().is_some_and(|&(instr, _)| instr == Instr::Halt {})
    }
}

/// Runs `parser` after blanks, lines and comments.
fn spaced<'a, O>(
    parser: impl Parser<&'a str, Output = O, Error = Fault<'a>>,
) -> impl Parser<&'a str, Output = O, Error = Fault<'a>> {
    let mut parser = parser;
    move |input: &'a str| {
        let rest = skip(input, Place::WithinLine).map_err(nom::Err::Failure)?;
        parser.parse(rest)
    }
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
fn function_end(rest: &str, is_halted: bool) -> Result<(), Fault<'_>> {
    let (after, _) = expect("`}`", char('}'))(rest).map_err(fault)?;
    if !is_halted {
        let brace = &rest[..1];
        return Err(Fault::new(Code::Halt, brace, "the kernel does not end with `leave`")
            .help("write `leave(OP_DEFAULT);` as its last call"));
    }
    match skip(after, Place::WithinLine)? {
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
    fn meaning(&self, isa: Isa, entered: bool, halted: bool) -> Result<Option<Instr>, Fault<'a>> {
        if halted {
            return Err(Fault::new(Code::Halt, self.text, "this call comes after `leave`"));
        }
        if entered == (self.name == "enter") {
            let message = "`enter(OP_DEFAULT);` is the first call of a kernel, and no other";
            return Err(Fault::new(Code::Syntax, self.name, message));
        }
        if self.name == "enter" || self.name == "leave" {
            let [option] = self.arguments[..] else {
                return Err(operand_count(self.text, self.name, 1, 1, self.arguments.len()));
            };
            if option != "OP_DEFAULT" {
                let message = format!("expected `OP_DEFAULT`, found `{option}`");
                return Err(Fault::new(Code::OperandKind, option, message));
            }
            return Ok((self.name == "leave").then_some(Instr::Halt {}));
        }
        self.instr(isa).map(Some)
    }

    fn instr(&self, isa: Isa) -> Result<Instr, Fault<'a>> {
        let plain = self.name.strip_prefix('_').and_then(|name| name.strip_suffix(&suffix(isa)));
        let rows: Vec<&Row> = CALLS.iter().filter(|row| Some(row.name) == plain).collect();
        let Some(first) = rows.first() else { return Err(self.unknown(isa)) };
        let (needed, found) = (first.arguments.len(), self.arguments.len());
        if found != needed {
            return Err(operand_count(self.text, self.name, needed, needed, found));
        }
        // Rows of one name differ in the kind of a register.
        let row = rows.iter().find(|row| self.has_registers_of(row)).unwrap_or(first);
        let mut operands = Vec::new();
        let (mut offset, mut value, mut multiplier, mut shift) = (None, None, 1, 0);
        for (argument, &text) in row.arguments.iter().zip(&self.arguments) {
            match argument {
                Argument::Register(_) => {}
                Argument::Bytes => offset = Some(byte_offset(text, isa)?),
                Argument::Words => offset = Some(word_offset(text, constant(text)?, isa)?),
                Argument::Mode => value = Some(power_of_two(text)?),
                Argument::Multiplier => multiplier = lane_number(text, 1)?,
                Argument::Shift => shift = lane_number(text, 0)?,
            }
        }
        for spec in row.op.info().operands {
            operands.push(match spec.kind {
                OperandKind::Offset => Operand::Offset(offset.unwrap_or_default()),
                OperandKind::Mode => {
                    let mode = row.mode.unwrap_or(ModeKind::Linear).with(value);
                    Operand::Mode(mode.expect("a call has a value if its mode has one"))
                }
                OperandKind::Map => {
                    Operand::Map(LaneMap::new(multiplier, shift).expect("the arguments are in range"))
                }
                OperandKind::VReg | OperandKind::SReg | OperandKind::AReg | OperandKind::MReg => {
                    let index = row.arguments.iter().position(|&a| a == Argument::Register(spec.name));
                    let text = self.arguments[index.expect("a call has every register")];
                    parse_register(spec.kind, prefix(spec.kind).unwrap_or_default(), text)?
                }
            });
        }
        Ok(row.op.with_operands(&operands).expect("operands of the table's kinds"))
    }

    /// Whether the arguments look like the registers of a row.
    fn has_registers_of(&self, row: &Row) -> bool {
        row.arguments.iter().zip(&self.arguments).all(|(argument, text)| match argument {
            Argument::Register(name) => {
                prefix(row.register_kind(name)).is_some_and(|prefix| text.starts_with(prefix))
            }
            Argument::Bytes | Argument::Words | Argument::Mode | Argument::Multiplier | Argument::Shift => {
                true
            }
        })
    }

    fn unknown(&self, isa: Isa) -> Fault<'a> {
        let message = format!("unknown intrinsic `{}`", self.name);
        let fault = Fault::new(Code::UnknownIntrinsic, self.name, message);
        let plain = self.name.trim_start_matches('_').split('_').next().unwrap_or_default();
        let suffix = suffix(isa);
        match nearest(plain, CALLS.iter().map(|row| row.name)) {
            Some(near) => fault.help(format!("did you mean `_{near}{suffix}`?")),
            None => {
                let mut names: Vec<&str> = CALLS.iter().map(|row| row.name).collect();
                names.dedup();
                fault.help(format!("they are `_NAME{suffix}` with NAME one of {}", names.join(", ")))
            }
        }
    }
}

/// The end of the intrinsics' names: vector length and word width.
pub(super) fn suffix(isa: Isa) -> String {
    format!("_{}x{}i", isa.vector_length(), isa.word_bits())
}

fn constant(text: &str) -> Result<u128, Fault<'_>> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(Fault::new(Code::OperandKind, text, format!("expected a number, found `{text}`")));
    }
    c_number_value(text)
}

/// An offset in bytes.
fn byte_offset(text: &str, isa: Isa) -> Result<Offset, Fault<'_>> {
    let bytes = constant(text)?;
    let word = u128::from(isa.word_bytes());
    if !bytes.is_multiple_of(word) {
        let message = format!("byte {bytes} is inside a word");
        let help = format!("offsets are multiples of {word} bytes, {} for example", bytes / word * word);
        return Err(Fault::new(Code::ByteOffset, text, message).help(help));
    }
    word_offset(text, bytes / word, isa)
}

fn word_offset(text: &str, words: u128, isa: Isa) -> Result<Offset, Fault<'_>> {
    u32::try_from(words).ok().and_then(Offset::new).ok_or_else(|| {
        let message = format!("word {words} does not fit the address field");
        let help =
            format!("the largest offset is word {}, byte {}", Offset::MAX, Offset::MAX * isa.word_bytes());
        Fault::new(Code::OffsetRange, text, message).help(help)
    })
}

/// A number of a map of lanes; `lowest_bit` is 1 if it must be odd.
fn lane_number(text: &str, lowest_bit: u16) -> Result<u16, Fault<'_>> {
    let value = constant(text)?;
    let number = u16::try_from(value).ok().filter(|&number| number <= LaneMap::MAX);
    number.filter(|number| number | lowest_bit == *number).ok_or_else(|| {
        let odd = if lowest_bit == 1 { "odd and " } else { "" };
        Fault::new(Code::OperandKind, text, format!("invalid number {value} of a map of lanes"))
            .help(format!("it must be {odd}at most {}", LaneMap::MAX))
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
