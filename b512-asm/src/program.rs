//! A self-contained program.

use crate::claim::Claim;
use crate::isa::Instr;
use crate::parameters::Isa;
use crate::reg::{AReg, MReg};
use crate::space::Space;
use std::fmt;

/// Instructions, initial memories, initial registers, symbols and claims.
///
/// Assembly text and object files hold a program, and the simulator runs it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The instruction set: vector length and word width.
    pub isa: Isa,
    /// The kernel's name.
    pub name: String,
    /// The instructions in program order. There are no branches: each executes once.
    pub instructions: Vec<Instr>,
    /// Initial contents of the vector data memory.
    pub vdm: Image,
    /// Initial contents of the scalar data memory.
    pub sdm: Image,
    /// Address registers that the controlling core sets before the start. Registers without an entry hold 0.
    pub addresses: Vec<(AReg, u32)>,
    /// Modulus registers that the controlling core sets before the start. Each value is odd and
    /// above 1, and fits a word. Using another register before an `mload` is an error of the
    /// program.
    pub moduli: Vec<(MReg, u128)>,
    /// Named ranges of the memories, in the order of their declaration.
    pub symbols: Vec<Symbol>,
    /// The program's claims. No output has two claims.
    pub claims: Vec<Claim>,
}

impl Program {
    /// The symbol of that name.
    pub fn symbol(&self, name: &str) -> Option<&Symbol> {
        self.symbols.iter().find(|symbol| symbol.name == name)
    }

    /// The initial contents of one of the memories.
    pub fn image(&self, space: Space) -> &Image {
        match space {
            Space::Vdm => &self.vdm,
            Space::Sdm => &self.sdm,
        }
    }
}

/// Initial contents of a memory: segments in ascending order that do not overlap. Words outside
/// of them are zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Image {
    /// The segments, in ascending order of their first word.
    pub segments: Vec<Segment>,
}

impl Image {
    /// One past the last word of the last segment.
    pub fn end(&self) -> u32 {
        self.segments.last().map_or(0, Segment::end)
    }

    /// The word at `address`: zero outside of the segments.
    pub fn word(&self, address: u32) -> u128 {
        let after = self.segments.partition_point(|segment| segment.start <= address);
        let segment = after.checked_sub(1).map(|at| &self.segments[at]);
        segment.and_then(|s| s.words.get((address - s.start) as usize)).copied().unwrap_or(0)
    }
}

/// Consecutive words of a memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Word address of the first word.
    pub start: u32,
    /// The words.
    pub words: Vec<u128>,
}

impl Segment {
    /// One past the last word; `u32::MAX` if that does not fit.
    pub fn end(&self) -> u32 {
        self.start.saturating_add(u32::try_from(self.words.len()).unwrap_or(u32::MAX))
    }
}

/// The use of a symbol's words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// Data that the caller provides before each run. The program may overwrite it.
    Input,
    /// A result that the caller reads after the run.
    Output,
    /// Constants that belong to the program.
    Table,
    /// Working memory, undefined before and after the run.
    Scratch,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Input, Self::Output, Self::Table, Self::Scratch];

    /// The name of the role's directive, without the dot.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::Table => "table",
            Self::Scratch => "scratch",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A named range of a memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// The name: a letter or `_`, then letters, digits, `_` or `.`.
    pub name: String,
    /// The memory.
    pub space: Space,
    /// Word address of the first word.
    pub start: u32,
    /// Number of words.
    pub words: u32,
    /// The use of the words.
    pub role: Role,
}

impl Symbol {
    /// Whether word `address` of the symbol's memory belongs to the symbol.
    pub fn contains(&self, address: u64) -> bool {
        let start = u64::from(self.start);
        (start..start + u64::from(self.words)).contains(&address)
    }
}
