//! Registers and words of memory, as a user names them.

use b512_asm::reg::REGISTERS;
use b512_asm::{AReg, Direction, Instr, MReg, Operand, Program, SReg, Space, Symbol, VReg};
use diagnostic::{Diagnostic, nearest};
use std::fmt;
use std::ops::Range;

/// A register, or consecutive words of a symbol.
///
/// A user writes `v3`, `s0`, `a1`, `m2`, `v0..v7` for several registers, `y` for a symbol, `y+5` for one of
/// its words, `y+0..7` for several. Both ends of a range are included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A vector register.
    Vector(VReg),
    /// A scalar register.
    Scalar(SReg),
    /// An address register.
    Address(AReg),
    /// A modulus register.
    Modulus(MReg),
    /// Words of a memory.
    Words {
        /// The name, as a user writes it.
        name: String,
        /// The memory.
        space: Space,
        /// Word addresses.
        words: Range<u32>,
    },
}

/// The forms of a target.
const FORMS: &str = "write a register such as v3, s0, a1 or m2, several as v0..v7, or words of a symbol as y, y+5 or \
                     y+0..7";

impl Target {
    /// The registers or words of a program with this name: one, or a range of registers.
    ///
    /// # Errors
    /// Returns an error if there are none.
    pub fn parse(text: &str, program: &Program) -> Result<Vec<Self>, Diagnostic> {
        let wrong = |message: String| Diagnostic::new(message).with_help(FORMS);
        let (first, last) = text.split_once("..").unwrap_or((text, text));
        if let Some((kind, from)) = register(first) {
            return match register(last) {
                Some((other, to)) if other == kind && from <= to && to < REGISTERS => {
                    Ok((from..=to).filter_map(|index| Self::register(kind, index)).collect())
                }
                Some((other, to)) if other == kind && from.max(to) >= REGISTERS => {
                    let name = if from >= REGISTERS { first } else { last };
                    Err(wrong(format!("invalid register `{name}`: the last is {kind}63")))
                }
                _ => Err(wrong(format!("invalid range `{text}`"))),
            };
        }
        let (name, words) = text.split_once('+').map_or((text, None), |(name, words)| (name, Some(words)));
        let symbol = program.symbol(name).ok_or_else(|| unknown(name, program))?;
        let range = match words {
            None => Some(0..symbol.words),
            Some(words) => {
                let (first, last) = words.split_once("..").unwrap_or((words, words));
                let number =
                    |text: &str| -> Option<u32> { diagnostic::number(text.as_bytes()).ok()?.try_into().ok() };
                number(first).zip(number(last)).map(|(first, last)| first..last.saturating_add(1))
            }
        };
        match range {
            Some(range) if range.start < range.end && range.end <= symbol.words => {
                Ok(vec![Self::words(text, symbol, range)])
            }
            Some(_) => {
                let Symbol { name, words, .. } = symbol;
                Err(wrong(format!("`{text}` is outside `{name}`, which has {words} words")))
            }
            None => Err(wrong(format!("invalid words `{text}`"))),
        }
    }

    fn words(name: &str, symbol: &Symbol, range: Range<u32>) -> Self {
        let words = symbol.start + range.start..symbol.start + range.end;
        Self::Words { name: name.to_owned(), space: symbol.space, words }
    }

    fn register(kind: char, index: usize) -> Option<Self> {
        match kind {
            VReg::PREFIX => Some(Self::Vector(VReg::at(index))),
            SReg::PREFIX => Some(Self::Scalar(SReg::at(index))),
            AReg::PREFIX => Some(Self::Address(AReg::at(index))),
            MReg::PREFIX => Some(Self::Modulus(MReg::at(index))),
            _ => None,
        }
    }

    /// Whether an instruction may write the register or the words.
    pub(crate) fn may_be_written(&self, instr: &Instr) -> bool {
        if let Self::Words { space, .. } = self {
            return *space == Space::Vdm && instr.vector_access().is_some_and(|access| access.store);
        }
        let mut written = false;
        instr.for_each_operand(|spec, operand| {
            let register = match operand {
                Operand::VReg(register) => Some(Self::Vector(register)),
                Operand::SReg(register) => Some(Self::Scalar(register)),
                Operand::AReg(register) => Some(Self::Address(register)),
                Operand::MReg(register) => Some(Self::Modulus(register)),
                Operand::Offset(_) | Operand::Mode(_) | Operand::Map(_) => None,
            };
            written |= spec.direction == Direction::Write && register.as_ref() == Some(self);
        });
        written
    }
}

/// The kind and the number of a register; the number may be too large.
fn register(text: &str) -> Option<(char, usize)> {
    let kind = text.chars().next().filter(|kind| ['v', 's', 'a', 'm'].contains(kind))?;
    let digits = &text[1..];
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (kind, digits.parse().unwrap_or(usize::MAX)))
}

fn unknown(name: &str, program: &Program) -> Diagnostic {
    let names = || program.symbols.iter().map(|symbol| symbol.name.as_str());
    let error = Diagnostic::new(format!("`{name}` is neither a register nor a symbol"));
    match nearest(name, names()) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error.with_help(FORMS),
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vector(register) => register.fmt(f),
            Self::Scalar(register) => register.fmt(f),
            Self::Address(register) => register.fmt(f),
            Self::Modulus(register) => register.fmt(f),
            Self::Words { name, .. } => f.write_str(name),
        }
    }
}
