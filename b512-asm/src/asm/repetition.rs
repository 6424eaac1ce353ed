//! Blocks of statements, and their repetition.

use super::{Assembler, Segments};
use crate::code::Code;
use crate::expression::Expr;
use crate::grammar::{Kind, Statement};
use crate::lex::Fault;
use crate::program::Segment;

/// The most rounds of all repetitions of a text.
const MOST_ROUNDS: u128 = 1 << 20;
/// The most repetitions inside of each other.
const DEEPEST: usize = 16;

impl<'a> Assembler<'a> {
    /// Assembles statements other than symbols and constants.
    pub(super) fn block(&mut self, statements: &mut [Statement<'a>], segments: &mut Segments<'a>) {
        let mut at = 0;
        while let Some(statement) = statements.get_mut(at) {
            at += 1;
            match &mut statement.kind {
                Kind::Symbol { .. } | Kind::Constant { .. } => {}
                Kind::Words { at, space, block, words, expressions } => self.take(|this| {
                    let values = expressions.iter().map(|(place, expression)| {
                        words[*place] = this.number(expression)?;
                        Ok(())
                    });
                    let mut faults: Vec<Fault<'a>> = values.filter_map(Result::err).collect();
                    if let Some(last) = faults.pop() {
                        faults.into_iter().for_each(|fault| this.report(fault));
                        return Err(last);
                    }
                    let at = this.address(at)?;
                    let (space, start) = this.image_address(&at, *space)?;
                    this.fits_symbol(&at, words.len())?;
                    let segment = Segment { start, words: std::mem::take(words) };
                    segments[space as usize].push((segment, (at.text, block)));
                    Ok(())
                }),
                Kind::Instruction { mnemonic, operands } => {
                    if !self.instruction(statement.text, mnemonic, operands) {
                        self.lose(statement.text);
                    }
                }
                Kind::Kernel { .. }
                | Kind::Isa { .. }
                | Kind::Modulus { .. }
                | Kind::Address { .. }
                | Kind::Computes { .. } => self.take(|this| this.directive(statement)),
                Kind::Repeat { .. } => at += self.repeat(&mut statements[at - 1..]),
                Kind::End if self.followers.contains(".repeat") => {}
                Kind::End => {
                    let fault = Fault::new(Code::Syntax, statement.text, "`.end` without `.repeat`");
                    self.report(fault.help("`.repeat COUNTER, COUNT` begins a repetition"));
                }
            }
        }
    }

    /// Assembles a repetition, the first of the statements. Returns the number of statements after the first
    /// that belong to it.
    fn repeat(&mut self, statements: &mut [Statement<'a>]) -> usize {
        let (mut depth, mut deepest) = (0, 0);
        let end = statements.iter().position(|statement| {
            match statement.kind {
                Kind::Repeat { .. } => depth += 1,
                Kind::End => depth -= 1,
                Kind::Kernel { .. }
                | Kind::Isa { .. }
                | Kind::Symbol { .. }
                | Kind::Words { .. }
                | Kind::Constant { .. }
                | Kind::Modulus { .. }
                | Kind::Address { .. }
                | Kind::Computes { .. }
                | Kind::Instruction { .. } => {}
            }
            deepest = deepest.max(depth);
            depth == 0
        });
        let (first, body) = statements.split_first_mut().expect("a repetition has a first line");
        let Some(end) = end else {
            let fault = Fault::new(Code::Syntax, first.text, "this repetition has no end");
            self.report(fault.help("put `.end` after its last line"));
            let is_halt = |statement: &Statement<'_>| {
                matches!(statement.kind, Kind::Instruction { mnemonic: "halt", .. })
            };
            if body.iter().any(is_halt) {
                self.followers.insert("halt");
            }
            return body.len();
        };
        if deepest > DEEPEST {
            let message = format!("more than {DEEPEST} repetitions inside of each other");
            self.report(Fault::new(Code::Syntax, first.text, message).help("write several programs"));
            return end;
        }
        let body = &mut body[..end - 1];
        if let Kind::Repeat { counter, count } = &first.kind {
            self.take(|this| this.rounds(first.text, counter, count, body));
        }
        end
    }

    /// Assembles the rounds of a repetition, up to the first with an error.
    fn rounds(
        &mut self,
        text: &'a str,
        counter: &'a str,
        count: &Expr<'a>,
        body: &mut [Statement<'a>],
    ) -> Result<(), Fault<'a>> {
        let others = |statement: &&Statement<'_>| {
            !matches!(statement.kind, Kind::Instruction { .. } | Kind::Repeat { .. } | Kind::End)
        };
        if let Some(other) = body.iter().find(others) {
            let fault = Fault::new(Code::Syntax, other.text, "a repetition has instructions only");
            return Err(fault.help("put directives before it"));
        }
        let count = self.number(count)?;
        self.is_new(counter)?;
        self.rounds = self.rounds.saturating_add(count);
        if self.rounds > MOST_ROUNDS {
            let message = format!("more than {MOST_ROUNDS} rounds of repetitions");
            return Err(
                Fault::new(Code::Syntax, text, message).help("repeat fewer times, or write several programs")
            );
        }
        for round in 0..count {
            self.constants.insert(counter, round.into());
            self.counters.push((counter, round));
            let faults = self.faults;
            self.block(body, &mut [Vec::new(), Vec::new()]);
            self.counters.pop();
            if self.faults > faults {
                break;
            }
        }
        self.constants.remove(counter);
        Ok(())
    }
}
