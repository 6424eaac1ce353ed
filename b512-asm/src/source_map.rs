//! The source locations of a program's parts.

use crate::check::{ClaimPart, Defect, Part};
use crate::grammar::BlockWords;
use crate::lex::span_in;
use diagnostic::{Diagnostic, Span};

/// The source locations of the parts of an assembled program.
///
/// They turn a [`Defect`] of the program into a [`Diagnostic`] that points into the text.
#[derive(Clone, Debug, Default)]
pub struct SourceMap<'a> {
    pub(crate) source: &'a str,
    pub(crate) name: &'a str,
    pub(crate) instructions: Vec<&'a str>,
    pub(crate) symbols: Vec<&'a str>,
    pub(crate) addresses: Vec<&'a str>,
    pub(crate) moduli: Vec<&'a str>,
    pub(crate) claims: Vec<ClaimSpans<'a>>,
    /// For each memory, the address and the words of each segment.
    pub(crate) segments: [Vec<(&'a str, &'a str)>; 2],
}

/// The locations of a claim's parts.
#[derive(Clone, Debug)]
pub(crate) struct ClaimSpans<'a> {
    pub(crate) text: &'a str,
    pub(crate) outputs: Vec<&'a str>,
    pub(crate) inputs: Vec<&'a str>,
    pub(crate) calls: Vec<CallSpans<'a>>,
    pub(crate) settings: Vec<&'a str>,
}

/// The locations of an operation's parts: its name, or the text around an operator; and its settings.
#[derive(Clone, Debug)]
pub(crate) struct CallSpans<'a> {
    pub(crate) text: &'a str,
    pub(crate) settings: Vec<&'a str>,
}

impl ClaimSpans<'_> {
    fn part(&self, part: ClaimPart) -> &str {
        let call = |i: usize| self.calls.get(i);
        let text = match part {
            ClaimPart::Whole => None,
            ClaimPart::Operation(i) => call(i).map(|call| call.text),
            ClaimPart::Output(i) => self.outputs.get(i).copied(),
            ClaimPart::Input(i) => self.inputs.get(i).copied(),
            ClaimPart::Setting(i) => self.settings.get(i).copied(),
            ClaimPart::SettingOf(i, setting) => call(i).and_then(|call| call.settings.get(setting).copied()),
        };
        text.unwrap_or(self.text)
    }
}

impl SourceMap<'_> {
    /// The byte range of the source for a part of the program. For a part that is missing from the
    /// source, it is the position where the part should be.
    pub fn span(&self, part: Part) -> Span {
        let text = match part {
            Part::Name => Some(self.name),
            Part::Symbol(i) => self.symbols.get(i).copied(),
            Part::Address(i) => self.addresses.get(i).copied(),
            Part::Modulus(i) => self.moduli.get(i).copied(),
            Part::Claim(i, part) => self.claims.get(i).map(|claim| claim.part(part)),
            Part::Segment(space, i) => self.segments[space as usize].get(i).map(|&(at, _)| at),
            Part::Word { space, segment, word } => {
                self.segments[space as usize].get(segment).map(|&(at, block)| {
                    let mut words = BlockWords { rest: block.get(1..).unwrap_or("") };
                    words.nth(word).map_or(at, |(text, _)| text)
                })
            }
            Part::Instruction(i) => self.instructions.get(i).or(self.instructions.last()).copied(),
        };
        match text {
            Some(text) => span_in(self.source, text),
            None => self.source.len()..self.source.len(),
        }
    }

    /// Turns a defect of the program into an error in its source, without the text.
    pub(crate) fn diagnostic(&self, defect: Defect) -> Diagnostic {
        let span = Some(self.span(defect.part));
        let Defect { code, message, help, .. } = defect;
        let help = help.map(Into::into);
        Diagnostic { code: Some(code.name()), message, span, help, ..Diagnostic::default() }
    }
}
