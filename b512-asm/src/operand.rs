//! Operands in assembly text: registers, maps of lanes and addressing modes.

use crate::code::Code;
use crate::isa::{Op, Operand, OperandKind};
use crate::lex::{Fault, is_blank, number};
use crate::reg::{AReg, AddressMode, LaneMap, Log2, MReg, REGISTERS, SReg, VReg};
use crate::space::Space;
use diagnostic::nearest;

/// The memory that an instruction's offset refers to.
pub(crate) fn offset_space(op: Op) -> Space {
    op.class().space().unwrap_or(Space::Sdm)
}

/// The instruction's form, `vload vd, base, offset [, mode]`.
pub(crate) fn syntax(op: Op) -> String {
    let info = op.info();
    let mut text = info.mnemonic.to_owned();
    for (i, spec) in info.operands.iter().enumerate() {
        let separator = if i == 0 { " " } else { ", " };
        if spec.kind == OperandKind::Mode {
            text.push_str(&format!(" [, {}]", spec.name));
        } else {
            text.extend([separator, spec.name]);
        }
    }
    text
}

/// The name of a register kind in messages.
fn register_file(kind: OperandKind) -> &'static str {
    match kind {
        OperandKind::VReg => "a vector register",
        OperandKind::SReg => "a scalar register",
        OperandKind::AReg => "an address register",
        OperandKind::MReg => "a modulus register",
        OperandKind::Offset | OperandKind::Mode | OperandKind::Map => "a register",
    }
}

/// The letter in front of a register's number.
pub(crate) fn prefix(kind: OperandKind) -> char {
    match kind {
        OperandKind::VReg => VReg::PREFIX,
        OperandKind::SReg => SReg::PREFIX,
        OperandKind::AReg => AReg::PREFIX,
        OperandKind::MReg => MReg::PREFIX,
        OperandKind::Offset | OperandKind::Mode | OperandKind::Map => ' ',
    }
}

/// The register of that kind and number, if there is one.
pub(crate) fn register(kind: OperandKind, index: u8) -> Option<Operand> {
    match kind {
        OperandKind::VReg => VReg::new(index).map(Operand::VReg),
        OperandKind::SReg => SReg::new(index).map(Operand::SReg),
        OperandKind::AReg => AReg::new(index).map(Operand::AReg),
        OperandKind::MReg => MReg::new(index).map(Operand::MReg),
        OperandKind::Offset | OperandKind::Mode | OperandKind::Map => None,
    }
}

/// An operand in a message.
pub(crate) fn quoted(text: &str) -> String {
    if text.is_empty() { "nothing".to_owned() } else { format!("`{text}`") }
}

/// Operand-count error: `name` at `text` has `found` operands instead of `least` to `most`.
pub(crate) fn operand_count<'a>(
    text: &'a str,
    name: &str,
    least: usize,
    most: usize,
    found: usize,
) -> Fault<'a> {
    let number = if least == most { "" } else { &format!("{least} or ") };
    Fault::new(Code::OperandCount, text, format!("`{name}` takes {number}{most} operands, not {found}"))
}

/// Parses a register of that kind: `prefix` and a number.
pub(crate) fn parse_register<'a>(
    kind: OperandKind,
    prefix: &str,
    text: &'a str,
) -> Result<Operand, Fault<'a>> {
    let name = register_file(kind);
    let last = REGISTERS - 1;
    let range = || format!("{name} is one of `{prefix}0` to `{prefix}{last}`");
    let digits = text.strip_prefix(prefix).filter(|digits| {
        let canonical = digits.len() == 1 || !digits.starts_with('0');
        !digits.is_empty() && canonical && digits.bytes().all(|b| b.is_ascii_digit())
    });
    let Some(digits) = digits else {
        let message = format!("expected {name}, found {}", quoted(text));
        return Err(Fault::new(Code::OperandKind, text, message).help(range()));
    };
    digits.parse().ok().and_then(|index| register(kind, index)).ok_or_else(|| {
        Fault::new(Code::RegisterRange, text, format!("register `{text}` is out of range")).help(range())
    })
}

/// Parses a map of lanes, `5h+3`.
pub(crate) fn parse_map(text: &str) -> Result<LaneMap, Fault<'_>> {
    let number = |digits: &str| {
        let number = diagnostic::number(digits.trim_matches(is_blank).as_bytes());
        number.ok().and_then(|number| number.try_into().ok())
    };
    let parts = text.split_once('h').and_then(|(multiplier, rest)| {
        let shift = rest.trim_start_matches(is_blank).strip_prefix('+')?;
        LaneMap::new(number(multiplier)?, number(shift)?)
    });
    parts.ok_or_else(|| {
        let message = format!("expected a map of lanes, found {}", quoted(text));
        let most = LaneMap::MAX;
        Fault::new(Code::OperandKind, text, message)
            .help(format!("write `gh+d`, such as `5h+3`, with an odd g; both numbers are at most {most}"))
    })
}

/// Parses an addressing mode. `value` evaluates an expression, and returns `None` if it is not a number.
pub(crate) fn parse_mode<'a>(
    text: &'a str,
    value: &dyn Fn(&'a str) -> Option<u128>,
) -> Result<AddressMode, Fault<'a>> {
    let word = &text[..text.find(is_blank).unwrap_or(text.len())];
    let rest = text[word.len()..].trim_start_matches(is_blank);
    let mode: fn(Log2) -> AddressMode = match word {
        "linear" if rest.is_empty() => return Ok(AddressMode::Linear),
        "strided" => AddressMode::Strided,
        "skip" => AddressMode::StridedSkip,
        "repeated" => AddressMode::Repeated,
        _ => {
            let fault = Fault::new(Code::Mode, text, format!("invalid addressing mode {}", quoted(text)));
            let names = ["linear", "strided", "skip", "repeated"];
            let exponent = |near| if near == "linear" { "" } else { " 2^k" };
            return Err(match nearest(word, names) {
                Some(near) => fault.help(format!("did you mean `{near}{}`?", exponent(near))),
                None => fault.help("the modes are `linear`, `strided 2^k`, `skip 2^k` and `repeated 2^k`"),
            });
        }
    };
    let form = format!("write `{word} 2^k` with k from 0 to {}", Log2::MAX);
    let exponent = rest.strip_prefix("2^").and_then(value);
    let Some(exponent) = exponent else {
        let fault = Fault::new(Code::Mode, text, format!("`{word}` needs a power of two"));
        return Err(match number(rest) {
            Ok(("", n)) if n.is_power_of_two() => fault.help(format!("write `{word} 2^{}`", n.ilog2())),
            _ => fault.help(form),
        });
    };
    u8::try_from(exponent).ok().and_then(Log2::new).map(mode).ok_or_else(|| {
        Fault::new(Code::Mode, rest, format!("the exponent {exponent} is too large")).help(form)
    })
}
