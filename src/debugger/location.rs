//! Locations in a program, as a user writes them.

use crate::debugger::source::Listing;
use diagnostic::{Diagnostic, nearest};
use std::str::FromStr;

/// A location in a program: before an instruction, or at the end.
///
/// A user writes `31`, a line of the text; `#15`, the index of an instruction from 0; the name of a symbol,
/// for every instruction that accesses it; or `end`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    /// The first instruction on this line of the text or after it.
    Line(usize),
    /// The instruction with this index.
    Instruction(usize),
    /// The instructions that read or write words of this symbol.
    Symbol(String),
    /// The end of the program.
    End,
}

/// The forms of a location.
const FORMS: &str = "write a line of the text, `#` and the index of an instruction, a symbol, or `end`";

impl FromStr for Location {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Self, Diagnostic> {
        let wrong = || Diagnostic::new(format!("invalid location `{text}`")).with_help(FORMS);
        if text == "end" {
            return Ok(Self::End);
        }
        if let Some(index) = text.strip_prefix('#') {
            return index.parse().map(Self::Instruction).map_err(|_| wrong());
        }
        match text.chars().next() {
            Some('0'..='9') => text.parse().map(Self::Line).map_err(|_| wrong()),
            Some(first) if first.is_ascii_alphabetic() || first == '_' => Ok(Self::Symbol(text.to_owned())),
            _ => Err(wrong()),
        }
    }
}

impl Location {
    /// The indices of the instructions at this location, in ascending order; at least one. The end has the
    /// index after the last instruction.
    ///
    /// # Errors
    /// Returns an error if the program has no such location.
    pub fn resolve(&self, source: &Listing) -> Result<Vec<usize>, Diagnostic> {
        let length = source.program.instructions.len();
        match self {
            Self::End => Ok(vec![length]),
            Self::Instruction(index) if *index < length => Ok(vec![*index]),
            Self::Instruction(index) => {
                let error = Diagnostic::new(format!("there is no instruction #{index}"));
                Err(error.with_help(format!("the program has {length}, from #0 on")))
            }
            Self::Line(line) => line_of(source, *line).map(|index| vec![index]),
            Self::Symbol(name) => accesses_of(source, name),
        }
    }
}

fn line_of(source: &Listing, line: usize) -> Result<usize, Diagnostic> {
    let Some(lines) = source.lines() else {
        let error = Diagnostic::new("an object has no lines");
        return Err(error.with_help(format!("write #{line} for the instruction with this index")));
    };
    let index = lines.partition_point(|known| *known < line);
    if index < lines.len() {
        return Ok(index);
    }
    let error = Diagnostic::new(format!("there is no instruction on line {line} or after it"));
    Err(match lines.last() {
        Some(last) => error.with_help(format!("the last one is on line {last}")),
        None => error,
    })
}

fn accesses_of(source: &Listing, name: &str) -> Result<Vec<usize>, Diagnostic> {
    let symbols = &source.program.symbols;
    let Some(symbol) = source.program.symbol(name) else {
        let names = || symbols.iter().map(|symbol| symbol.name.as_str());
        let error = Diagnostic::new(format!("unknown symbol `{name}`"));
        return Err(match nearest(name, names()) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error.with_help(format!("the program has: {}", names().collect::<Vec<_>>().join(", "))),
        });
    };
    let all: Vec<usize> =
        (0..source.program.instructions.len()).filter(|&index| source.accesses(index, symbol)).collect();
    if all.is_empty() {
        return Err(Diagnostic::new(format!("no instruction accesses `{name}`")));
    }
    Ok(all)
}
