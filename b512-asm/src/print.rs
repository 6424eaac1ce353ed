//! The disassembler: from a [`Program`] to `.b512` text.
//!
//! For a program that [`Program::check`] accepts, [`assemble`](crate::assemble) turns the text back
//! into the program, and printing that gives the same text.

use crate::isa::{Instr, Operand};
use crate::operand::offset_space;
use crate::parameters::Isa;
use crate::program::{Program, Segment, Symbol};
use crate::reg::{AReg, AddressMode, REGISTERS};
use crate::space::Space;
use std::fmt::{self, Write};

/// Prints the assembly text of the program.
///
/// Offsets into the SDM, and into the VDM from an address register that holds 0 throughout, are
/// printed relative to their symbol. If the register holds another address, a comment names the
/// location.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let directives = self.directives();
        f.write_str(&directives)?;
        if !directives.is_empty() {
            f.write_str("\n")?;
        }
        let listing = self.listing();
        for instr in &self.instructions {
            listing.write(f, instr)?;
            f.write_str("\n")?;
        }
        for space in Space::ALL {
            for segment in &self.image(space).segments {
                write_segment(f, self, space, segment)?;
            }
        }
        Ok(())
    }
}

impl Program {
    /// The directives as text: everything except the instructions and the memory images.
    pub(crate) fn directives(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_head(&mut text);
        text
    }

    fn write_head(&self, f: &mut impl Write) -> fmt::Result {
        if self.isa != Isa::B512 {
            writeln!(f, ".isa {}", self.isa)?;
        }
        if !self.name.is_empty() {
            writeln!(f, ".kernel {}", self.name)?;
        }
        for Symbol { name, space, start, words, role } in &self.symbols {
            let space = if *space == Space::Sdm { ", sdm" } else { "" };
            writeln!(f, ".{role} {name}, {words}{space}, at {start:#x}")?;
        }
        for &(reg, address) in &self.addresses {
            write!(f, ".address {reg}, ")?;
            write_address(f, self, Space::Vdm, address)?;
            writeln!(f)?;
        }
        for (reg, modulus) in &self.moduli {
            writeln!(f, ".modulus {reg}, {modulus:#x}")?;
        }
        for claim in &self.claims {
            writeln!(f, ".computes {claim}")?;
        }
        Ok(())
    }
}

/// The instructions of a program as text, with symbols instead of addresses.
#[derive(Debug)]
pub struct Listing<'p> {
    program: &'p Program,
    bases: Bases,
}

impl Program {
    /// The printer of the program's instructions.
    pub fn listing(&self) -> Listing<'_> {
        Listing { program: self, bases: Bases::of(self) }
    }
}

impl Listing<'_> {
    /// The text of one of the program's instructions, in one line.
    pub fn text(&self, instr: &Instr) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text, instr);
        text
    }

    fn write(&self, f: &mut impl Write, instr: &Instr) -> fmt::Result {
        write_instr(f, self.program, &self.bases, instr)
    }
}

/// The known contents of each address register, without execution.
#[derive(Debug)]
struct Bases([Option<u32>; REGISTERS]);

impl Bases {
    fn of(program: &Program) -> Self {
        let mut bases = [Some(0); REGISTERS];
        for &(reg, address) in &program.addresses {
            bases[reg.index()] = Some(address);
        }
        for instr in &program.instructions {
            if let Instr::Aload { rt, .. } = instr {
                bases[rt.index()] = None;
            }
        }
        Self(bases)
    }

    fn get(&self, reg: AReg) -> Option<u32> {
        self.0[reg.index()]
    }
}

fn write_instr(f: &mut impl Write, program: &Program, bases: &Bases, instr: &Instr) -> fmt::Result {
    let op = instr.op();
    // Offsets into both memories are absolute, unless an address register holds another value than
    // 0.
    let mut base = Some(0);
    let mut result = f.write_str(op.info().mnemonic);
    let mut word = None;
    let mut separator = " ";
    instr.for_each_operand(|_, operand| {
        if result.is_err() || operand == Operand::Mode(AddressMode::Linear) {
            return;
        }
        result = f.write_str(separator).and_then(|()| match operand {
            Operand::AReg(reg) if op.class().space() == Some(Space::Vdm) => {
                base = bases.get(reg);
                write!(f, "{reg}")
            }
            Operand::Offset(offset) if base == Some(0) => {
                write_address(f, program, offset_space(op), offset.words())
            }
            Operand::Offset(offset) => {
                word = base.and_then(|base| base.checked_add(offset.words()));
                write!(f, "{}", offset.words())
            }
            operand @ (Operand::VReg(_)
            | Operand::SReg(_)
            | Operand::AReg(_)
            | Operand::MReg(_)
            | Operand::Mode(_)
            | Operand::Map(_)) => write!(f, "{operand}"),
        });
        separator = ", ";
    });
    result?;
    if let Some((symbol, address)) = word.and_then(|a| Some((symbol_at(program, Space::Vdm, a)?, a))) {
        f.write_str("  // ")?;
        write_from(f, symbol, address)?;
    }
    Ok(())
}

fn symbol_at(program: &Program, space: Space, address: u32) -> Option<&Symbol> {
    program.symbols.iter().find(|symbol| symbol.space == space && symbol.contains(address.into()))
}

/// An address relative to the first symbol that contains it, or else as a number.
fn write_address(f: &mut impl Write, program: &Program, space: Space, address: u32) -> fmt::Result {
    match symbol_at(program, space, address) {
        Some(symbol) => write_from(f, symbol, address),
        None => write!(f, "{address:#x}"),
    }
}

fn write_from(f: &mut impl Write, symbol: &Symbol, address: u32) -> fmt::Result {
    match address - symbol.start {
        0 => f.write_str(&symbol.name),
        distance => write!(f, "{}+{distance}", symbol.name),
    }
}

/// The words of a segment, two per line, in columns as wide as the largest.
fn write_segment(f: &mut impl Write, program: &Program, space: Space, segment: &Segment) -> fmt::Result {
    let largest = segment.words.iter().copied().max().unwrap_or(0);
    let digits = (u128::BITS - largest.leading_zeros()).div_ceil(4).max(1) as usize;
    f.write_str("\n.words ")?;
    // Words beyond a symbol's end do not belong to it.
    let last = u64::from(segment.start) + (segment.words.len() as u64).saturating_sub(1);
    match symbol_at(program, space, segment.start).filter(|symbol| symbol.contains(last)) {
        Some(symbol) => write_from(f, symbol, segment.start)?,
        None => {
            write!(f, "{:#x}", segment.start)?;
            if space == Space::Sdm {
                f.write_str(", sdm")?;
            }
        }
    }
    f.write_str(" {\n")?;
    let per_line = if digits <= 8 { 8 } else { 64 / digits };
    for line in segment.words.chunks(per_line) {
        f.write_str("   ")?;
        for word in line {
            write_word(f, *word, digits)?;
        }
        f.write_char('\n')?;
    }
    f.write_str("}\n")
}

/// A blank, `0x` and `digits` hexadecimal digits, without the general formatting machinery, which
/// would dominate the time of printing a large table.
fn write_word(f: &mut impl Write, word: u128, digits: usize) -> fmt::Result {
    let mut text = *b" 0x00000000000000000000000000000000";
    let digits_of = |half: u64, out: &mut [u8]| {
        for (i, byte) in out.iter_mut().rev().enumerate() {
            *byte = b"0123456789abcdef"[(half >> (4 * i) & 0xf) as usize];
        }
    };
    let (high, low) = text[3..].split_at_mut(16);
    digits_of((word >> 64) as u64, high);
    digits_of(word as u64, low);
    let text = std::str::from_utf8(&text).map_err(|_| fmt::Error)?;
    f.write_str(&text[..3])?;
    f.write_str(&text[text.len() - digits..])
}

impl fmt::Display for Instr {
    /// The instruction in assembly text, with its offset as a number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.op().info().mnemonic)?;
        let mut result = Ok(());
        let mut separator = " ";
        self.for_each_operand(|_, operand| {
            if result.is_ok() && operand != Operand::Mode(AddressMode::Linear) {
                result = write!(f, "{separator}{operand}");
                separator = ", ";
            }
        });
        result
    }
}

impl fmt::Display for Operand {
    /// The operand in assembly text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::VReg(reg) => reg.fmt(f),
            Self::SReg(reg) => reg.fmt(f),
            Self::AReg(reg) => reg.fmt(f),
            Self::MReg(reg) => reg.fmt(f),
            Self::Offset(offset) => offset.words().fmt(f),
            Self::Map(map) => map.fmt(f),
            Self::Mode(mode) => mode.fmt(f),
        }
    }
}
