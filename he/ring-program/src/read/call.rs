//! Functions, calls and repeats in text:
//!
//! ```text
//! function NAME %1..%3, %7 -> %8, %9
//! ..
//! end
//! repeat 5
//! call NAME %1, %2, %3, %4 -> %4, %5
//! end
//! ```

use super::Reader;
use super::operands::limb_id;
use super::token::{Span, first_word, text, trim};
use crate::code::Code;
use crate::fault::Fault;
use crate::part::Part;
use crate::{Builder, Call, LimbId};
use diagnostic::{nearest, number};
use std::num::NonZeroU32;

/// The keywords of functions, calls and repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Keyword {
    Function,
    Call,
    Repeat,
    End,
}

impl Keyword {
    pub(super) const ALL: [(&'static str, Self); 4] =
        [("function", Self::Function), ("call", Self::Call), ("repeat", Self::Repeat), ("end", Self::End)];

    pub(super) fn find(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|&(_, keyword)| keyword)
    }
}

/// A function before its `end`.
pub(super) struct OpenFunction {
    name: String,
    pub(super) body: Builder,
    results: Vec<LimbId>,
    /// Its first line.
    line: u32,
    /// The repeats that are open in it, though none belongs there.
    repeats: u32,
}

/// The most limbs of one list, so that a mistake does not fill the memory.
const MOST_LIMBS: usize = 1 << 20;

/// Limbs with their places in a line.
type Limbs = Vec<(LimbId, Span)>;

/// What stands behind `function` or `call`.
struct Signature {
    name: Span,
    from: Limbs,
    to: Limbs,
}

impl Signature {
    fn read(line: &[u8], rest: Span) -> Result<Self, (Span, Fault)> {
        let (name, rest) = first_word(line, rest);
        let bytes = &line[name.clone()];
        let is_letter = |&byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if !bytes.first().is_some_and(u8::is_ascii_alphabetic) || !bytes.iter().all(is_letter) {
            let fault = Fault::new(Part::Operation, format!("invalid name `{}` of a function", text(bytes)));
            return Err((name, fault.help("a name is a letter, then letters, digits, `_`, `-` and `.`")));
        }
        let arrow = line[rest.clone()].windows(2).position(|two| two == b"->");
        let Some(arrow) = arrow.map(|at| rest.start + at) else {
            let fault = Fault::new(Part::Operation, "expected `->` between arguments and results");
            return Err((name.start..rest.end, fault.help("write `NAME %1, %2..%4 -> %5, %6`")));
        };
        let from = limbs(line, trim(line, rest.start..arrow))?;
        let to = limbs(line, trim(line, arrow + 2..rest.end))?;
        Ok(Self { name, from, to })
    }

    fn span(&self, part: Part, whole: Span) -> Span {
        match part {
            Part::Argument(index) => self.from[index].1.clone(),
            Part::Result(index) => self.to[index].1.clone(),
            Part::Operation
            | Part::Destination
            | Part::First
            | Part::Second
            | Part::Scalar
            | Part::Named(_) => whole,
        }
    }
}

/// Limbs and ranges of limbs between commas.
fn limbs(line: &[u8], span: Span) -> Result<Limbs, (Span, Fault)> {
    let mut limbs = Vec::new();
    let mut start = span.start;
    while start < span.end {
        let comma = line[start..span.end].iter().position(|&byte| byte == b',');
        let end = comma.map_or(span.end, |length| start + length);
        let item = trim(line, start..end);
        let bytes = &line[item.clone()];
        let dots = bytes.windows(2).position(|two| two == b"..");
        let id = |bytes| limb_id(bytes, Part::Operation).map_err(|fault| (item.clone(), fault));
        let (first, last) = match dots {
            None => (id(bytes)?, id(bytes)?),
            Some(dots) => (id(&bytes[..dots])?, id(&bytes[dots + 2..])?),
        };
        let count = last.0.checked_sub(first.0).filter(|&count| count < (MOST_LIMBS - limbs.len()) as u64);
        if count.is_none() {
            let fault = Fault::new(Part::Operation, format!("invalid range {first}..{last}"));
            let help = format!("limbs ascend, and a list has at most {MOST_LIMBS}");
            return Err((item, fault.help(help)));
        }
        limbs.extend((first.0..=last.0).map(|id| (LimbId(id), item.clone())));
        start = end + 1;
        if comma.is_some() && trim(line, start.min(span.end)..span.end).is_empty() {
            return Err((end..start, Fault::new(Part::Operation, "expected a limb after `,`")));
        }
    }
    Ok(limbs)
}

fn ids(limbs: &Limbs) -> Vec<LimbId> {
    limbs.iter().map(|&(id, _)| id).collect()
}

impl Reader<'_> {
    pub(super) fn read_keyword(&mut self, keyword: Keyword, line: &[u8], significant: Span, rest: Span) {
        let read = match keyword {
            Keyword::Function => self.read_function(line, &significant, rest),
            Keyword::Call => self.read_call(line, &significant, rest),
            Keyword::Repeat => self.read_repeat(line, &significant, rest),
            Keyword::End => self.read_end(&significant, rest),
        };
        if let Err((span, fault)) = read {
            self.report_fault(fault.code(Code::Function), line, span);
        }
    }

    /// Ends all blocks. The block whose `end` comes next, and its first line.
    pub(super) fn take_open_block(&mut self) -> Option<(&'static str, u32)> {
        let function = self.function.take().map(|function| ("function", function.line));
        let repeat = std::mem::take(&mut self.repeats).pop().map(|line| ("repeat", line));
        function.or(repeat)
    }

    /// Reads what stands behind `function` or `call`, within the limit on all lists.
    fn signature(&mut self, line: &[u8], rest: Span) -> Result<Signature, (Span, Fault)> {
        let signature = Signature::read(line, rest.clone())?;
        self.listed += (signature.from.len() + signature.to.len()) as u64;
        let most = Self::MOST_LISTED + Self::LISTED_PER_LINE * u64::from(self.line);
        if self.listed <= most {
            return Ok(signature);
        }
        let message = format!("the lists of functions and calls have {} limbs so far", self.listed);
        let fault = Fault::new(Part::Operation, message);
        Err((rest, fault.help(format!("up to this line they may have {most}"))))
    }

    /// Calls and repeats are outside of functions, and functions are outside of repeats.
    fn expect_outside(&self, what: &str, significant: &Span) -> Result<(), (Span, Fault)> {
        let Some(function) = &self.function else { return Ok(()) };
        let message = format!("{what} in the function `{}`", function.name);
        let fault = Fault::new(Part::Operation, message);
        Err((significant.clone(), fault.help("a function has operations only, so there is no recursion")))
    }

    fn read_function(&mut self, line: &[u8], significant: &Span, rest: Span) -> Result<(), (Span, Fault)> {
        let name = text(&line[first_word(line, rest.clone()).0]);
        if let Err(error) = self.expect_outside("a function", significant) {
            // The function around it gets its lines, which read its parameters.
            self.function.iter_mut().for_each(|function| function.body.set_declared(false));
            self.faulty.insert(name);
            return Err(error);
        }
        let (results, body, error) = match self.head(line, significant, rest) {
            Ok((signature, body)) => (ids(&signature.to), body, None),
            // A wrong head has a body, too. All limbs are its parameters, so that one error causes no other
            // error.
            Err(error) => {
                let mut body = self.builder.function(&[]).expect("no parameter occurs twice");
                body.set_declared(false);
                self.faulty.insert(name.clone());
                (Vec::new(), body, Some(error))
            }
        };
        self.function = Some(OpenFunction { name, body, results, line: self.line, repeats: 0 });
        error.map_or(Ok(()), Err)
    }

    fn head(&mut self, line: &[u8], whole: &Span, rest: Span) -> Result<(Signature, Builder), (Span, Fault)> {
        let misplaced = if !self.repeats.is_empty() {
            Some(("a function in a repeat", "functions stand before their first call"))
        } else if !self.builder.program().operations().is_empty() {
            Some(("a function after lines", "a program has lines, or functions with lines and calls of them"))
        } else {
            None
        };
        if let Some((message, help)) = misplaced {
            return Err((whole.clone(), Fault::new(Part::Operation, message).help(help)));
        }
        let signature = self.signature(line, rest)?;
        let body = self.builder.function(&ids(&signature.from)).map_err(|twice| {
            let (id, span) = signature.from[twice].clone();
            (span, Fault::new(Part::Operation, format!("the parameter `{id}` occurs twice")))
        })?;
        Ok((signature, body))
    }

    fn read_call(&mut self, line: &[u8], significant: &Span, rest: Span) -> Result<(), (Span, Fault)> {
        let called = self.expect_outside("a call", significant);
        let called = called.and_then(|()| self.call(line, significant, rest.clone()));
        if called.is_err() {
            self.define_results(line, rest);
        }
        called
    }

    fn call(&mut self, line: &[u8], significant: &Span, rest: Span) -> Result<(), (Span, Fault)> {
        let signature = self.signature(line, rest.clone())?;
        let name = text(&line[signature.name.clone()]);
        if self.faulty.contains(&name) {
            self.define_results(line, rest);
            return Ok(());
        }
        let function = self.builder.find_function(&name).ok_or_else(|| {
            let fault = Fault::new(Part::Operation, format!("no function `{name}` stands before this call"));
            let names = self.builder.program().functions().iter().map(|function| function.name());
            let fault = match nearest(&name, names) {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None => fault,
            };
            (signature.name.clone(), fault)
        })?;
        let limbs = |builder: &mut Builder, limbs: &Limbs| {
            limbs.iter().map(|&(id, _)| builder.limb(id)).collect::<Vec<_>>()
        };
        let arguments = limbs(&mut self.builder, &signature.from);
        let results = limbs(&mut self.builder, &signature.to);
        let called = self.builder.call(Call { function, arguments, results });
        called.map_err(|fault| (signature.span(fault.part, significant.clone()), fault))
    }

    /// Takes what a wrong call names as its results as written, so that one error causes no other error.
    fn define_results(&mut self, line: &[u8], rest: Span) {
        let arrow = line[rest.clone()].windows(2).position(|two| two == b"->");
        let Some(start) = arrow.map(|at| rest.start + at + 2) else { return };
        for (id, _) in limbs(line, trim(line, start..rest.end)).unwrap_or_default() {
            self.define(Ok(id));
        }
    }

    fn read_repeat(&mut self, line: &[u8], significant: &Span, rest: Span) -> Result<(), (Span, Fault)> {
        if let Err(error) = self.expect_outside("a repeat", significant) {
            self.function.iter_mut().for_each(|function| function.repeats += 1);
            return Err(error);
        }
        let span = if rest.is_empty() { significant.clone() } else { rest.clone() };
        let count = number(&line[rest]).map_err(str::to_owned);
        let count = count.and_then(|count| {
            u32::try_from(count)
                .ok()
                .and_then(NonZeroU32::new)
                .ok_or_else(|| "not from 1 to 2^32 - 1".to_owned())
        });
        self.repeats.push(self.line);
        let (count, error) = match count {
            Ok(count) => (count, None),
            Err(reason) => (NonZeroU32::MIN, Some(format!("invalid number of repeats: {reason}"))),
        };
        let begun = self.builder.begin_repeat(count);
        let error = error.map(|message| Fault::new(Part::Operation, message)).or(begun.err());
        error.map_or(Ok(()), |fault| Err((span, fault)))
    }

    fn read_end(&mut self, significant: &Span, rest: Span) -> Result<(), (Span, Fault)> {
        let whole = |fault| (significant.clone(), fault);
        if !rest.is_empty() {
            return Err((rest, Fault::new(Part::Operation, "`end` has no operands")));
        }
        if let Some(function) = self.function.as_mut().filter(|function| function.repeats > 0) {
            function.repeats -= 1;
            return Ok(());
        }
        if let Some(OpenFunction { name, body, results, .. }) = self.function.take() {
            let Err(fault) = self.builder.add_function(&*name, body, &results) else { return Ok(()) };
            self.faulty.insert(name);
            // Errors of its lines may be the reason.
            return if self.errors.is_empty() { Err(whole(fault)) } else { Ok(()) };
        }
        self.repeats.pop();
        match self.builder.end_repeat() {
            Ok(true) => Ok(()),
            Ok(false) => Err(whole(
                Fault::new(Part::Operation, "`end` without a function or a repeat")
                    .help("`end` ends a function or a repeat, `halt` a program"),
            )),
            Err(fault) => Err(whole(fault)),
        }
    }
}
