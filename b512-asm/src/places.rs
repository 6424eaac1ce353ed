//! The places of a program's parts in its source.

use crate::check::{ClaimPart, Defect, InvalidProgram, Place};
use crate::grammar::BlockTokens;
use crate::lex::span_in;
use diagnostic::{Diagnostic, Diagnostics, Span};

/// The places of a program's parts in the source that it was assembled from.
///
/// They turn a [`Defect`] that was found in the program into a [`Diagnostic`] that points into the
/// text.
#[derive(Clone, Debug, Default)]
pub struct Places<'a> {
    pub(crate) source: &'a str,
    pub(crate) name: &'a str,
    pub(crate) instructions: Vec<&'a str>,
    pub(crate) symbols: Vec<&'a str>,
    pub(crate) addresses: Vec<&'a str>,
    pub(crate) moduli: Vec<&'a str>,
    pub(crate) claims: Vec<ClaimPlaces<'a>>,
    /// For each memory the address and the words of each segment.
    pub(crate) segments: [Vec<(&'a str, &'a str)>; 2],
}

/// The places of a claim's parts.
#[derive(Clone, Debug)]
pub(crate) struct ClaimPlaces<'a> {
    pub(crate) text: &'a str,
    pub(crate) outputs: Vec<&'a str>,
    pub(crate) operation: &'a str,
    pub(crate) inputs: Vec<&'a str>,
    pub(crate) settings: Vec<&'a str>,
}

impl ClaimPlaces<'_> {
    fn part(&self, part: ClaimPart) -> &str {
        match part {
            ClaimPart::Whole => self.text,
            ClaimPart::Operation => self.operation,
            ClaimPart::Output(i) => self.outputs.get(i).copied().unwrap_or(self.text),
            ClaimPart::Input(i) => self.inputs.get(i).copied().unwrap_or(self.text),
            ClaimPart::Setting(i) => self.settings.get(i).copied().unwrap_or(self.text),
        }
    }
}

impl Places<'_> {
    /// The bytes of the source that a part of the program was read from. A part that the source
    /// lacks has the place where it should be.
    pub fn span(&self, place: Place) -> Span {
        let text = match place {
            Place::Name => Some(self.name),
            Place::Symbol(i) => self.symbols.get(i).copied(),
            Place::Address(i) => self.addresses.get(i).copied(),
            Place::Modulus(i) => self.moduli.get(i).copied(),
            Place::Claim(i, part) => self.claims.get(i).map(|claim| claim.part(part)),
            Place::Segment(space, i) => self.segments[space as usize].get(i).map(|&(at, _)| at),
            Place::Word { space, segment, word } => {
                self.segments[space as usize].get(segment).map(|&(at, block)| {
                    let mut tokens = BlockTokens { rest: block.get(1..).unwrap_or("") };
                    tokens.nth(word).unwrap_or(at)
                })
            }
            Place::Instruction(i) => self.instructions.get(i).or(self.instructions.last()).copied(),
        };
        match text {
            Some(text) => span_in(self.source, text),
            None => self.source.len()..self.source.len(),
        }
    }

    /// A defect of the program as an error in its source, without the text.
    pub(crate) fn diagnostic(&self, defect: Defect) -> Diagnostic {
        let span = Some(self.span(defect.place));
        let Defect { code, message, help, .. } = defect;
        let help = help.map(Into::into);
        Diagnostic { code: Some(code.name()), message, span, help, ..Diagnostic::default() }
    }

    /// Checks that were made on the assembled program, as checks of its source.
    ///
    /// # Errors
    /// Returns the defects as errors in the source, in the order of the text, if there are any.
    pub fn locate<T>(&self, checked: Result<T, InvalidProgram>) -> Result<T, Diagnostics> {
        checked.map_err(|invalid| {
            let mut diagnostics = Diagnostics::default();
            for defect in invalid.defects {
                diagnostics.push(self.diagnostic(defect));
            }
            diagnostics.into_result(self.source).expect_err("an invalid program has a defect")
        })
    }
}
