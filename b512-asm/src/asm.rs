//! The assembler: from `.b512` text to a [`Program`].
//!
//! ```text
//! .kernel double                    // comments run from // or # to the end of the line
//! .input  x, 512                    // 512 words of the VDM, placed after the symbols before it
//! .output y, 512, at 0x400          // the same at a given word address
//! .table  k, 1, sdm                 // a word of the SDM
//! .words  k { 2 }                   // initial contents: decimal or 0x..., over any number of lines
//! .modulus m1, 0x7fffffffffffffffffffffffffffffff      // launch value of a modulus register
//! .address a1, y                    // launch value of an address register
//!
//! sload s0, k                       // an offset is a number of words, a symbol, or symbol+number
//! vload v0, a0, x                   // a0 holds 0, so the offset is the address
//! vmuls v0, v0, s0, m1
//! vstore v0, a1, 0, strided 2^0     // the mode is linear unless said: strided, skip, repeated 2^k
//! halt
//! ```
//!
//! Numbers may be expressions of numbers, constants and counters, with `+`, `-`, `*`, `^` and parentheses.
//! `.repeat i, 8` repeats the instructions up to `.end` for i from 0 to 7; `v[2 * i]` is the register with a
//! computed number:
//!
//! ```text
//! .const q = 2^60 - 93
//! .modulus m1, q
//! .repeat i, 8
//!   vload  v[i], a0, x + 512 * i
//!   vadd   v[i], v[i], v[i], m1
//!   vstore v[i], a0, y + 512 * i
//! .end
//! ```
//!
//! `.isa vector_length=1024, word_bits=64` selects other parameters than B512's; `.scratch` declares working
//! memory. `.computes y = ntt(x) * k, n=1024, modulus=..., root=...` claims a result: outputs, an expression
//! for each, and settings. The assembler checks only the symbols of a claim. The order of lines matters only
//! for instructions and for the placement of symbols. `docs/isa.md` describes the instructions.

mod address;
mod claim;
mod instruction;
mod repetition;

use self::address::shown;
use crate::check::{Defect, Part};
use crate::code::Code;
use crate::grammar::{self, Kind, Parse, Statement};
use crate::intrinsics::Function;
use crate::isa::{Operand, OperandKind};
use crate::lex::{Fault, span_in};
use crate::operand::parse_register;
use crate::parameters::{InvalidIsa, Isa};
use crate::program::{Image, Program, Segment, Symbol};
use crate::source_map::SourceMap;
use crate::space::Space;
use diagnostic::{Diagnostics, Span, nearest};
use num_bigint::BigInt;
use std::collections::{HashMap, HashSet};

/// Assembles a `.b512` source.
///
/// # Errors
/// Returns every error in the source, in source order, the first [`Diagnostics::LIMIT`] in full.
pub fn assemble(source: &str) -> Result<Program, Diagnostics> {
    assemble_with_source_map(source).map(|(program, _)| program)
}

/// Assembles a `.b512` source and returns the source location of each part of the program, so that
/// later checks of the program can point into the source.
///
/// ```
/// use b512_asm::{ClaimPart, Part, assemble_with_source_map};
///
/// let source = ".input x, 512\n.output y, 512\n.computes y = negate(x), n=512\nhalt\n";
/// let (program, source_map) = assemble_with_source_map(source)?;
/// assert_eq!(program.claims[0].to_string(), "y = negate(x), n=512");
/// assert_eq!(&source[source_map.span(Part::Claim(0, ClaimPart::Operation(0)))], "negate");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the errors of [`assemble`].
pub fn assemble_with_source_map(source: &str) -> Result<(Program, SourceMap<'_>), Diagnostics> {
    assemble_with_checks(source, &|_, _| Vec::new())
}

/// Checks of a program that this crate does not make. The second argument is false if lines with errors are
/// missing from the program.
pub type Checks<'c> = &'c dyn Fn(&Program, bool) -> Vec<Defect>;

/// Assembles a `.b512` source with additional checks. Their defects are reported with the other errors.
///
/// # Errors
/// Returns the errors of [`assemble`] and of the checks.
pub fn assemble_with_checks<'a>(
    source: &'a str,
    checks: Checks<'_>,
) -> Result<(Program, SourceMap<'a>), Diagnostics> {
    run(source, grammar::parse, |assembler| {
        assembler.check(true);
        assembler.check_further(checks);
    })
}

/// Assembles directives without the checks of the whole program.
pub(crate) fn assemble_directives(source: &str) -> Result<Program, Diagnostics> {
    run(source, grammar::parse, |_| {}).map(|(program, _)| program)
}

/// Assembles the directives in the comments of a C text, and the function that `read` finds there.
pub(crate) fn assemble_calls<'a>(
    source: &'a str,
    read: impl FnOnce(Isa) -> Function<'a>,
    checks: Checks<'_>,
) -> Result<(Program, SourceMap<'a>), Diagnostics> {
    run(source, grammar::parse_comments, |assembler| {
        let Function { name, instructions, faults } = read(assembler.program.isa);
        if assembler.program.name.is_empty() {
            assembler.program.name = name.to_owned();
            assembler.source_map.name = name;
        }
        let complete = faults.is_empty();
        faults.into_iter().for_each(|fault| assembler.report(fault));
        for (instr, text) in instructions {
            assembler.program.instructions.push(instr);
            assembler.source_map.instructions.push(text);
        }
        assembler.check(complete);
        assembler.check_further(checks);
    })
}

fn run<'a>(
    source: &'a str,
    parse: fn(&'a str, &mut Diagnostics) -> Parse<'a>,
    check: impl FnOnce(&mut Assembler<'a>),
) -> Result<(Program, SourceMap<'a>), Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let Parse { statements, lost } = parse(source, &mut diagnostics);
    let mut assembler = Assembler {
        source,
        diagnostics,
        program: Program::default(),
        symbols: HashMap::new(),
        constants: HashMap::new(),
        counters: Vec::new(),
        rounds: 0,
        free: [0; 2],
        source_map: SourceMap { source, ..SourceMap::default() },
        has_isa: false,
        faults: 0,
        lost: Vec::new(),
        followers: HashSet::new(),
    };
    lost.into_iter().for_each(|line| assembler.lose(line));
    assembler.statements(statements);
    check(&mut assembler);
    let Assembler { diagnostics, program, source_map, .. } = assembler;
    diagnostics.into_result(source).map(|()| (program, source_map))
}

/// The segments of each memory, with the places of their addresses and words.
type Segments<'a> = [Vec<(Segment, (&'a str, &'a str))>; 2];

struct Assembler<'a> {
    source: &'a str,
    diagnostics: Diagnostics,
    program: Program,
    /// The index of each symbol.
    symbols: HashMap<&'a str, usize>,
    /// The value of each constant, and of each counter of the repetitions around a line.
    constants: HashMap<&'a str, BigInt>,
    /// The counters, from the outside to the inside.
    counters: Vec<(&'a str, u128)>,
    /// The rounds of all repetitions so far.
    rounds: u128,
    /// For each memory, the first word after the symbols declared so far.
    free: [u64; 2],
    source_map: SourceMap<'a>,
    /// Whether an `.isa` directive has been read.
    has_isa: bool,
    /// The faults so far, also those that follow from others.
    faults: usize,
    /// The lines with errors, which are missing from the program.
    lost: Vec<&'a str>,
    /// What is missing because of an error that is reported: words of lost directives, unknown names, and
    /// `halt` and `.repeat` of lines that may mean them.
    followers: HashSet<&'a str>,
}

impl<'a> Assembler<'a> {
    /// Assembles the statements.
    fn statements(&mut self, mut statements: Vec<Statement<'a>>) {
        for statement in &statements {
            let faults = self.faults;
            match &statement.kind {
                Kind::Symbol { .. } => self.take(|this| this.symbol(statement)),
                Kind::Constant { name, value } => self.take(|this| this.constant(name, value)),
                Kind::Kernel { .. }
                | Kind::Isa { .. }
                | Kind::Words { .. }
                | Kind::Modulus { .. }
                | Kind::Address { .. }
                | Kind::Computes { .. }
                | Kind::Instruction { .. }
                | Kind::Repeat { .. }
                | Kind::End => {}
            }
            if self.faults > faults {
                self.lose(statement.text);
            }
        }
        let mut segments = [Vec::new(), Vec::new()];
        self.block(&mut statements, &mut segments);
        for (space, mut segments) in Space::ALL.into_iter().zip(segments) {
            segments.sort_by_key(|(segment, _)| segment.start);
            let (segments, spans) = segments.into_iter().unzip();
            self.source_map.segments[space as usize] = spans;
            match space {
                Space::Vdm => self.program.vdm = Image { segments },
                Space::Sdm => self.program.sdm = Image { segments },
            }
        }
    }

    /// Reports the fault of `step`, if it has one.
    fn take(&mut self, step: impl FnOnce(&mut Self) -> Result<(), Fault<'a>>) {
        if let Err(fault) = step(self) {
            self.report(fault);
        }
    }

    /// Reports a fault, unless it follows from another.
    fn report(&mut self, mut fault: Fault<'a>) {
        self.faults += 1;
        let is_name = matches!(fault.code, Code::UnknownSymbol | Code::UnknownMnemonic);
        if is_name && !self.followers.insert(fault.at) {
            return;
        }
        let counters: Vec<String> =
            self.counters.iter().map(|(name, round)| format!("{name} = {round}")).collect();
        if !counters.is_empty() {
            fault.message += &format!(" (in the round with {})", counters.join(", "));
        }
        self.diagnostics.push(fault.into_diagnostic(self.source));
    }

    fn symbol(&mut self, statement: &Statement<'a>) -> Result<(), Fault<'a>> {
        let Kind::Symbol { role, name, words, space, at } = &statement.kind else { return Ok(()) };
        let (&name, &role, &space) = (name, role, space);
        if self.constants.contains_key(name) {
            self.is_new(name)?;
        }
        let limit = i128::from(space.max_words());
        let start = match at {
            None => i128::from(self.free[space as usize]),
            Some(at) => {
                let at = self.address(at)?;
                let start = self.value(&at)?;
                if !(0..limit).contains(&start) {
                    let message = format!("address {} is outside the {space}", shown(start, &at));
                    return Err(Fault::new(Code::SymbolRange, at.text, message)
                        .help(format!("the largest address is {:#x}", limit - 1)));
                }
                start
            }
        };
        let words_text = words.text.trim_end();
        let words = i128::try_from(self.number(words)?)
            .ok()
            .filter(|&words| words > 0 && words <= limit - start)
            .ok_or_else(|| {
                let message = format!("`{name}` does not fit: {words_text} words from address {start:#x}");
                Fault::new(Code::SymbolRange, words_text, message).help(match limit - start {
                    0 => format!("the symbols before it take all {limit} words of the {space}"),
                    room => format!("a symbol has 1 to {room} words here, as the {space} has {limit}"),
                })
            })?;
        self.free[space as usize] = self.free[space as usize].max((start + words) as u64);
        self.symbols.entry(name).or_insert(self.program.symbols.len());
        self.program.symbols.push(Symbol {
            name: name.to_owned(),
            space,
            start: start as u32,
            words: words as u32,
            role,
        });
        self.source_map.symbols.push(name);
        Ok(())
    }

    fn directive(&mut self, statement: &Statement<'a>) -> Result<(), Fault<'a>> {
        match &statement.kind {
            Kind::Kernel { name } => {
                if !self.program.name.is_empty() {
                    let message = format!("the kernel is already named `{}`", self.program.name);
                    return Err(Fault::new(Code::Duplicate, name, message));
                }
                self.program.name = (*name).to_owned();
                self.source_map.name = name;
            }
            Kind::Isa { settings } => self.isa(statement.text, settings)?,
            Kind::Modulus { register, value } => {
                let Operand::MReg(reg) = parse_register(OperandKind::MReg, "m", register)? else {
                    return Ok(());
                };
                self.program.moduli.push((reg, self.number(value)?));
                self.source_map.moduli.push(statement.text);
            }
            Kind::Address { register, at } => {
                let Operand::AReg(reg) = parse_register(OperandKind::AReg, "a", register)? else {
                    return Ok(());
                };
                let at = &self.address(at)?;
                self.same_space(at, Space::Vdm, "an address register")?;
                let address = self.value(at)?;
                let address = u32::try_from(address).map_err(|_| {
                    let message = format!("address {} is outside the VDM", shown(address, at));
                    Fault::new(Code::Address, at.text, message)
                        .help(format!("the largest address is {:#x}", Space::Vdm.max_words() - 1))
                })?;
                self.program.addresses.push((reg, address));
                self.source_map.addresses.push(statement.text);
            }
            Kind::Computes { outputs, expressions, settings } => {
                let claim = self.claim(statement.text, outputs, expressions, settings);
                let (claim, spans) = claim?;
                self.program.claims.push(claim);
                self.source_map.claims.push(spans);
            }
            Kind::Symbol { .. }
            | Kind::Words { .. }
            | Kind::Constant { .. }
            | Kind::Instruction { .. }
            | Kind::Repeat { .. }
            | Kind::End => {}
        }
        Ok(())
    }

    fn isa(&mut self, text: &'a str, settings: &[(&'a str, (&'a str, u128))]) -> Result<(), Fault<'a>> {
        if std::mem::replace(&mut self.has_isa, true) {
            let fault = Fault::new(Code::Duplicate, text, "a second `.isa` directive");
            return Err(fault.help("a program has one instruction set"));
        }
        let mut values = [None; 2];
        for &(key, (text, value)) in settings {
            let value = (text, u32::try_from(value).unwrap_or(u32::MAX));
            if values[usize::from(key == "word_bits")].replace(value).is_some() {
                return Err(Fault::new(Code::Duplicate, key, format!("`{key}` is given twice")));
            }
        }
        let [vector_length, word_bits] = values;
        let value = |setting: Option<(&str, u32)>, default| setting.map_or(default, |(_, value)| value);
        let isa = Isa::new(
            value(vector_length, Isa::B512.vector_length()),
            value(word_bits, Isa::B512.word_bits()),
        );
        self.program.isa = isa.map_err(|invalid| {
            let setting = match invalid {
                InvalidIsa::VectorLength(_) => vector_length,
                InvalidIsa::WordBits(_) => word_bits,
            };
            Fault::new(Code::Isa, setting.map_or(text, |(text, _)| text), invalid.to_string())
        })?;
        Ok(())
    }

    /// See [`nearest`]; `None` if nobody will see the error.
    fn nearest<'c>(&self, word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
        if self.diagnostics.is_full() { None } else { nearest(word, candidates) }
    }

    /// Checks the program as a whole and locates its defects in the source. Defects that follow from earlier
    /// errors are not reported. `complete` is false if instructions are missing although no line was lost.
    fn check(&mut self, complete: bool) {
        let Err(invalid) = self.program.check() else { return };
        for defect in invalid.defects {
            let code = defect.code;
            let is_end = defect.part == Part::Instruction(self.program.instructions.len());
            let mut diagnostic = self.source_map.diagnostic(defect);
            if is_end {
                diagnostic.span = self.last_line().or(diagnostic.span);
            }
            let name = diagnostic.span.clone().and_then(|span| self.source.get(span));
            let no_halt = code == Code::Halt && (!complete || self.followers.contains("halt"));
            let no_symbol =
                code == Code::UnknownSymbol && name.is_some_and(|name| !self.followers.insert(name));
            let consequence = no_halt || no_symbol;
            if !consequence {
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// The last line with an instruction, also if it has an error.
    fn last_line(&self) -> Option<Span> {
        let lost = self.lost.iter().filter(|line| !line.starts_with('.'));
        let lines = lost.chain(self.source_map.instructions.last()).map(|line| span_in(self.source, line));
        lines.max_by_key(|span| span.start)
    }

    /// Applies the caller's checks.
    fn check_further(&mut self, checks: Checks<'_>) {
        for defect in checks(&self.program, self.diagnostics.is_empty()) {
            self.diagnostics.push(self.source_map.diagnostic(defect));
        }
    }

    /// Notes that a line with an error is missing from the program. If it is a directive, it may define any
    /// of its words.
    fn lose(&mut self, line: &'a str) {
        self.lost.push(line);
        let first = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '.').next();
        self.followers.extend(first.and_then(|word| nearest(word, ["halt", ".repeat"])));
        if line.starts_with('.') {
            let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            self.followers.extend(line.split(|c| !in_name(c)));
        }
    }
}

#[cfg(test)]
mod tests;
