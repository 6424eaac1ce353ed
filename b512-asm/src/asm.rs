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
//! Numbers may be expressions of numbers, constants and counters, with `+`, `-`, `*`, `^` and parentheses. `.repeat i, 8` repeats
//! the instructions up to `.end` for i from 0 to 7; `v[2 * i]` is the register with a computed number:
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
//! memory. `.computes y = ntt(x), n=1024, modulus=..., root=...` claims a result: outputs, an operation,
//! inputs and settings. The assembler checks only the symbols of a claim. The order of lines matters only for
//! instructions and for the placement of symbols. `docs/isa.md` describes the instructions.

use crate::check::{Defect, Part};
use crate::code::Code;
use crate::expression::{Expr, Meaning, expr};
use crate::grammar::{self, Kind, Parse, SettingText, Statement};
use crate::intrinsics::Function;
use crate::isa::{Op, Operand, OperandKind, OperandSpec};
use crate::lex::{Fault, span_in};
use crate::operand::{
    offset_space, operand_count, parse_map, parse_mode, parse_register, prefix, quoted, register, syntax,
};
use crate::parameters::{InvalidIsa, Isa};
use crate::program::{Claim, Image, Program, Segment, Setting, Symbol};
use crate::reg::{AddressMode, Offset, REGISTERS};
use crate::source_map::{ClaimSpans, SourceMap};
use crate::space::Space;
use diagnostic::{Diagnostics, Span, nearest};
use num_bigint::{BigInt, Sign};
use std::collections::HashMap;

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
/// assert_eq!(program.claims[0].operation, "negate");
/// assert_eq!(&source[source_map.span(Part::Claim(0, ClaimPart::Operation))], "negate");
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
        lost,
    };
    assembler.statements(statements);
    check(&mut assembler);
    let Assembler { diagnostics, program, source_map, .. } = assembler;
    diagnostics.into_result(source).map(|()| (program, source_map))
}

/// The most rounds of all repetitions of a text.
const MOST_ROUNDS: u32 = 1 << 20;

/// The distance from which numbers in addresses are all the same.
const FAR: i128 = i128::MAX / 2;

/// A word address: a number, or a symbol's address plus a number.
#[derive(Clone, Copy, Debug)]
struct Address<'a> {
    text: &'a str,
    symbol: Option<&'a str>,
    /// From `-FAR` to `FAR`: the caller, who knows the range, reports the error.
    constant: i128,
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
    rounds: u32,
    /// For each memory, the first word after the symbols declared so far.
    free: [u64; 2],
    source_map: SourceMap<'a>,
    /// Whether an `.isa` directive has been read.
    has_isa: bool,
    /// The lines with errors, which are missing from the program.
    lost: Vec<&'a str>,
}

impl<'a> Assembler<'a> {
    /// Assembles the statements.
    fn statements(&mut self, mut statements: Vec<Statement<'a>>) {
        for statement in &statements {
            let errors = self.diagnostics.len();
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
            if self.diagnostics.len() > errors {
                self.lost.push(statement.text);
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

    /// Assembles statements other than symbols and constants.
    fn block(&mut self, statements: &mut [Statement<'a>], segments: &mut Segments<'a>) {
        let mut at = 0;
        while let Some(statement) = statements.get_mut(at) {
            at += 1;
            match &mut statement.kind {
                Kind::Symbol { .. } | Kind::Constant { .. } => {}
                Kind::Words { at, space, block, words } => self.take(|this| {
                    let at = this.address(at)?;
                    let (space, start) = this.image_address(&at, *space)?;
                    this.fits_symbol(&at, words.len())?;
                    let segment = Segment { start, words: std::mem::take(words) };
                    segments[space as usize].push((segment, (at.text, block)));
                    Ok(())
                }),
                Kind::Instruction { mnemonic, operands } => {
                    if !self.instruction(statement.text, mnemonic, operands) {
                        self.lost.push(statement.text);
                    }
                }
                Kind::Kernel { .. }
                | Kind::Isa { .. }
                | Kind::Modulus { .. }
                | Kind::Address { .. }
                | Kind::Computes { .. } => self.take(|this| this.directive(statement)),
                Kind::Repeat { .. } => at += self.repeat(&mut statements[at - 1..]),
                Kind::End => {
                    let fault = Fault::new(Code::Syntax, statement.text, "`.end` without `.repeat`");
                    self.report(fault.help("`.repeat COUNTER, COUNT` begins a repetition"));
                }
            }
        }
    }

    /// Assembles a repetition, the first of the statements. Returns the number of statements after the first that belong to
    /// it.
    fn repeat(&mut self, statements: &mut [Statement<'a>]) -> usize {
        let mut depth = 0;
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
            depth == 0
        });
        let (first, body) = statements.split_first_mut().expect("a repetition has a first line");
        let Some(end) = end else {
            let fault = Fault::new(Code::Syntax, first.text, "this repetition has no end");
            self.report(fault.help("put `.end` after its last line"));
            return body.len();
        };
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
        for round in 0..count {
            self.rounds += 1;
            if self.rounds > MOST_ROUNDS {
                let message = format!("more than {MOST_ROUNDS} rounds of repetitions");
                return Err(Fault::new(Code::Syntax, text, message));
            }
            self.constants.insert(counter, round.into());
            self.counters.push((counter, round));
            let errors = self.diagnostics.len();
            self.block(body, &mut [Vec::new(), Vec::new()]);
            self.counters.pop();
            if self.diagnostics.len() > errors || self.rounds > MOST_ROUNDS {
                break;
            }
        }
        self.constants.remove(counter);
        Ok(())
    }

    /// Reports the fault of `step`, if it has one.
    fn take(&mut self, step: impl FnOnce(&mut Self) -> Result<(), Fault<'a>>) {
        if let Err(fault) = step(self) {
            self.report(fault);
        }
    }

    fn report(&mut self, mut fault: Fault<'a>) {
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
                Fault::new(Code::SymbolRange, words_text, message).help(format!(
                    "a symbol has 1 to {} words here, as the {space} has {limit}",
                    limit - start
                ))
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
            Kind::Computes { outputs, operation, inputs, settings } => {
                let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
                let setting = |setting: &SettingText<'a>| {
                    let value = match setting.value.name().filter(|word| !self.constants.contains_key(word)) {
                        Some(word) => Setting::Word(word.to_owned()),
                        None => Setting::Number(self.number(&setting.value)?),
                    };
                    Ok((setting.name.to_owned(), value))
                };
                let settings_of_claim: Result<_, Fault<'a>> = settings.iter().map(setting).collect();
                self.program.claims.push(Claim {
                    outputs: names(outputs),
                    operation: (*operation).to_owned(),
                    inputs: names(inputs),
                    settings: settings_of_claim?,
                });
                self.source_map.claims.push(ClaimSpans {
                    text: statement.text,
                    outputs: outputs.clone(),
                    operation,
                    inputs: inputs.clone(),
                    settings: settings.iter().map(|setting| setting.text).collect(),
                });
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

    fn image_address(&self, at: &Address<'a>, space: Option<Space>) -> Result<(Space, u32), Fault<'a>> {
        let of_symbol = at.symbol.map(|name| self.lookup(name)).transpose()?.map(|symbol| symbol.space);
        if let (Some(space), Some(_)) = (space, of_symbol) {
            self.same_space(at, space, "this image")?;
        }
        let space = of_symbol.or(space).unwrap_or(Space::Vdm);
        let start = self.value(at)?;
        let fits = u32::try_from(start).ok().filter(|&start| start < space.max_words());
        let start = fits.ok_or_else(|| {
            let message = format!("address {} is outside the {space}", shown(start, at));
            Fault::new(Code::Image, at.text, message)
                .help(format!("the largest address is {:#x}", space.max_words() - 1))
        })?;
        Ok((space, start))
    }

    /// Rejects words that begin in a symbol and end outside of it.
    fn fits_symbol(&self, at: &Address<'a>, words: usize) -> Result<(), Fault<'a>> {
        let Some(name) = at.symbol else { return Ok(()) };
        let symbol = self.lookup(name)?;
        let end = at.constant.saturating_add(words as i128);
        if !(0..i128::from(symbol.words)).contains(&at.constant) || end <= i128::from(symbol.words) {
            return Ok(());
        }
        let message = format!(
            "{words} words do not fit: `{name}` has {} from here",
            i128::from(symbol.words) - at.constant
        );
        Err(Fault::new(Code::Image, at.text, message).help("declare the symbol with more words"))
    }

    /// See [`nearest`]; `None` if nobody will see the error.
    fn nearest<'c>(&self, word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
        if self.diagnostics.is_full() { None } else { nearest(word, candidates) }
    }

    /// The symbol called `name`, a slice of the source.
    fn lookup(&self, name: &'a str) -> Result<&Symbol, Fault<'a>> {
        match self.symbols.get(name) {
            Some(&i) => Ok(&self.program.symbols[i]),
            None => {
                let fault = Fault::new(Code::UnknownSymbol, name, format!("unknown symbol `{name}`"));
                Err(match self.nearest(name, self.symbols.keys().copied()) {
                    Some(near) => fault.help(format!("did you mean `{near}`?")),
                    None => fault.help("declare it with `.input`, `.output`, `.table` or `.scratch`"),
                })
            }
        }
    }

    /// The meaning of a name.
    fn meaning(&self, name: &'a str) -> Result<Meaning, Fault<'a>> {
        match self.constants.get(name) {
            Some(value) => Ok(Meaning::Number(value.clone())),
            None => self.lookup(name).map(|_| Meaning::Address),
        }
    }

    /// The value of an expression as an address.
    fn address(&self, expr: &Expr<'a>) -> Result<Address<'a>, Fault<'a>> {
        let value = expr.value(&|name| self.meaning(name))?;
        let far = if value.constant.sign() == Sign::Minus { -FAR } else { FAR };
        let constant = i128::try_from(&value.constant).map_or(far, |number| number.clamp(-FAR, FAR));
        Ok(Address { text: expr.text, symbol: value.symbol, constant })
    }

    /// The value of an expression as a number of up to 128 bits.
    fn number(&self, expr: &Expr<'a>) -> Result<u128, Fault<'a>> {
        let value = expr.value(&|name| self.meaning(name))?;
        let text = expr.text.trim_end();
        if let Some(name) = value.symbol {
            return Err(Fault::new(Code::Number, text, format!("`{name}` is an address, not a number")));
        }
        u128::try_from(&value.constant).map_err(|_| {
            let message = format!("{} is not a number of up to 128 bits", value.constant);
            Fault::new(Code::Number, text, message).help("the largest number is 2^128 - 1")
        })
    }

    fn constant(&mut self, name: &'a str, value: &Expr<'a>) -> Result<(), Fault<'a>> {
        self.is_new(name)?;
        let value = self.number(value)?;
        self.constants.insert(name, value.into());
        Ok(())
    }

    /// Rejects the name of another constant, counter or symbol.
    fn is_new(&self, name: &'a str) -> Result<(), Fault<'a>> {
        if self.constants.contains_key(name) || self.symbols.contains_key(name) {
            return Err(Fault::new(Code::Duplicate, name, format!("`{name}` is defined twice")));
        }
        Ok(())
    }

    /// The word address that `expr` denotes, possibly outside every memory.
    fn value(&self, expr: &Address<'a>) -> Result<i128, Fault<'a>> {
        let base = expr.symbol.map(|name| self.lookup(name)).transpose()?.map_or(0, |symbol| symbol.start);
        Ok(i128::from(base).saturating_add(expr.constant))
    }

    /// Rejects an address in another memory than `user` works on.
    fn same_space(&self, expr: &Address<'a>, space: Space, user: &str) -> Result<(), Fault<'a>> {
        let Some(name) = expr.symbol else { return Ok(()) };
        let symbol = self.lookup(name)?;
        if symbol.space == space {
            return Ok(());
        }
        let message = format!("`{name}` lies in the {}, but {user} addresses the {space}", symbol.space);
        let help = match space {
            Space::Vdm => "declare it without `sdm`, or load it with `sload`",
            Space::Sdm => "declare it with `sdm`, or load it with `vload`",
        };
        Err(Fault::new(Code::OperandKind, expr.text, message).help(help))
    }

    /// Adds an instruction. Returns false if it has an error.
    fn instruction(&mut self, text: &'a str, mnemonic: &'a str, operands: &[&'a str]) -> bool {
        let Some(op) = Op::from_mnemonic(mnemonic) else {
            let fault =
                Fault::new(Code::UnknownMnemonic, mnemonic, format!("unknown instruction `{mnemonic}`"));
            let near = self.nearest(mnemonic, Op::ALL.iter().map(|op| op.info().mnemonic));
            self.report(match near {
                Some(near) => fault.help(format!("did you mean `{near}`?")),
                None if operands.first().is_some_and(|rest| rest.starts_with(':')) || is_branch(mnemonic) => {
                    fault.help(
                        "there are no labels and no branches; `.repeat i, 8` repeats the lines up to `.end`",
                    )
                }
                None => fault,
            });
            return false;
        };
        let specs = op.info().operands;
        let least = specs.iter().filter(|spec| spec.kind != OperandKind::Mode).count();
        if !(least..=specs.len()).contains(&operands.len()) {
            let fault = operand_count(text, mnemonic, least, specs.len(), operands.len());
            self.report(fault.help(format!("write `{}`", syntax(op))));
            return false;
        }
        let mut values = Vec::with_capacity(specs.len());
        for (spec, operand) in specs.iter().zip(operands) {
            match self.operand(op, spec, operand) {
                Ok(value) => values.push(value),
                Err(fault) => self.report(match self.with_such_operands(op, operands) {
                    Some(other) if fault.code == Code::OperandKind => {
                        fault.help(format!("did you mean `{}`?", syntax(other)))
                    }
                    _ => fault,
                }),
            }
        }
        if operands.len() < specs.len() {
            values.push(Operand::Mode(AddressMode::Linear));
        }
        match op.with_operands(&values) {
            Some(instr) => {
                self.program.instructions.push(instr);
                self.source_map.instructions.push(text);
                true
            }
            None => false,
        }
    }

    /// The instruction with a similar name that accepts the operands, such as `vmuls` for `vmul` with a
    /// scalar register.
    fn with_such_operands(&self, op: Op, operands: &[&'a str]) -> Option<Op> {
        let takes = |other: Op| {
            let specs = other.info().operands;
            specs.len() == operands.len()
                && specs
                    .iter()
                    .zip(operands)
                    .all(|(spec, operand)| self.operand(other, spec, operand).is_ok())
        };
        let others = Op::ALL.iter().filter(|&&other| other != op && takes(other));
        self.nearest(op.info().mnemonic, others.map(|other| other.info().mnemonic))
            .and_then(Op::from_mnemonic)
    }

    fn operand(&self, op: Op, spec: &OperandSpec, text: &'a str) -> Result<Operand, Fault<'a>> {
        match spec.kind {
            OperandKind::Offset => self.offset(op, text).map(Operand::Offset),
            OperandKind::Mode => {
                parse_mode(text, &|exponent| self.whole(exponent).and_then(Result::ok)).map(Operand::Mode)
            }
            OperandKind::Map => parse_map(text).map(Operand::Map),
            kind @ (OperandKind::VReg | OperandKind::SReg | OperandKind::AReg | OperandKind::MReg) => {
                let index = text.strip_prefix(prefix(kind)).and_then(|rest| rest.strip_prefix('['));
                match index.and_then(|rest| self.whole(rest.strip_suffix(']')?)) {
                    Some(index) => self.register(kind, text, index?),
                    None => parse_register(kind, prefix(kind).encode_utf8(&mut [0; 4]), text),
                }
            }
        }
    }

    /// The number that a text denotes, if it is an expression.
    fn whole(&self, text: &'a str) -> Option<Result<u128, Fault<'a>>> {
        match expr(text) {
            Ok(("", expr)) => Some(self.number(&expr)),
            Ok(_) | Err(_) => None,
        }
    }

    /// The register with a computed number.
    fn register(&self, kind: OperandKind, text: &'a str, index: u128) -> Result<Operand, Fault<'a>> {
        u8::try_from(index).ok().and_then(|index| register(kind, index)).ok_or_else(|| {
            let message = format!("register {index} is out of range");
            Fault::new(Code::RegisterRange, text, message)
                .help(format!("each file has {REGISTERS} registers, numbered from 0"))
        })
    }

    fn offset(&self, op: Op, text: &'a str) -> Result<Offset, Fault<'a>> {
        let expr = match grammar::address(text) {
            Ok(("", expr)) => self.address(&expr)?,
            Err(nom::Err::Failure(fault)) if fault.code == Code::Number => return Err(fault),
            _ => {
                let message = format!("expected an offset, found {}", quoted(text));
                return Err(Fault::new(Code::OperandKind, text, message)
                    .help("an offset is a number of words, a symbol, or a symbol + a number"));
            }
        };
        let space = offset_space(op);
        self.same_space(&expr, space, &format!("`{}`", op.info().mnemonic))?;
        let value = self.value(&expr)?;
        u32::try_from(value).ok().and_then(Offset::new).ok_or_else(|| {
            let shown = if is_exact(value) { value.to_string() } else { quoted(text) };
            let fault = Fault::new(Code::OffsetRange, text, format!("offset {shown} does not fit the address field"));
            let range = format!("offsets are 0 to {} words", Offset::MAX);
            match (space, expr.symbol) {
                (Space::Vdm, Some(name)) => fault.help(format!(
                    "{range}: let an address register hold the symbol (`.address a1, {name}`) and write the offset from it"
                )),
                (Space::Vdm, None) => fault.help(format!("{range}: an address register reaches further")),
                (Space::Sdm, _) => fault.help(range),
            }
        })
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
            let no_halt = code == Code::Halt && (!complete || self.lost.iter().any(|line| may_be_halt(line)));
            let no_symbol = code == Code::UnknownSymbol && name.is_some_and(|name| self.is_lost(name));
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

    /// Whether a line with an error may declare the symbol `name`.
    fn is_lost(&self, name: &str) -> bool {
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        self.lost
            .iter()
            .any(|line| line.starts_with('.') && line.split(|c| !in_name(c)).any(|word| word == name))
    }
}

/// Whether an address is the value of its expression.
fn is_exact(address: i128) -> bool {
    (-FAR..FAR).contains(&address)
}

/// An address in messages: its value, or else the text of its expression.
fn shown(address: i128, expr: &Address<'_>) -> String {
    if is_exact(address) { format!("{address:#x}") } else { quoted(expr.text.trim_end()) }
}

/// Whether a name is that of a branch in other instruction sets.
fn is_branch(mnemonic: &str) -> bool {
    let branches = [
        "b", "beq", "bge", "bgt", "ble", "blt", "bne", "bnz", "br", "bz", "call", "for", "goto", "j", "jal",
        "jmp", "jnz", "jump", "jz", "loop", "ret",
    ];
    branches.contains(&mnemonic)
}

/// Whether a line with an error was meant to be `halt`.
fn may_be_halt(line: &str) -> bool {
    let word = line.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or(line);
    nearest(word, ["halt"]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_module_assembles() {
        let documentation = include_str!("asm.rs").lines().map_while(|line| line.strip_prefix("//!"));
        let example = documentation.skip_while(|line| !line.ends_with("```text")).skip(1);
        let example: Vec<_> = example.take_while(|line| !line.ends_with("```")).collect();
        let program = assemble(&example.join("\n")).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!((program.instructions.len(), program.symbols.len()), (5, 3));
    }

    #[test]
    fn a_repetition_is_its_rounds_one_after_the_other() {
        let head = ".input x, 2048\n.output y, 2048\n";
        let short = ".const q = 2^60 - 93\n.const half = 2\n.modulus m1, q\n.repeat i, half\n.repeat j, half\n\
            vload v[2 * i + j], a0, x + 512 * (half * i + j), strided 2^(j)\n.end\nvadd v[i], v[i], v1, m1\n.end\n\
            vstore v1, a0, y + 2^3\nhalt";
        let long = ".modulus m1, 0xfffffffffffffa3\nvload v0, a0, x, strided 2^0\nvload v1, a0, x+512, strided 2^1\n\
            vadd v0, v0, v1, m1\nvload v2, a0, x+1024, strided 2^0\nvload v3, a0, x+1536, strided 2^1\n\
            vadd v1, v1, v1, m1\nvstore v1, a0, y+8\nhalt";
        assert_eq!(
            assemble(&(head.to_owned() + short)).unwrap(),
            assemble(&(head.to_owned() + long)).unwrap()
        );
    }

    #[test]
    fn expressions_follow_the_usual_order_of_operations() {
        for (text, value) in
            [("2 + 3 * 4", 14), ("(2 + 3) * 4", 20), ("2 * 3^2", 18), ("20 - 3 - 2", 15), ("2^10 - 1", 1023)]
        {
            let program = assemble(&format!(".const n = {text}\n.input x, n\nhalt")).unwrap();
            assert_eq!(program.symbols[0].words, value, "{text}");
        }
    }

    #[test]
    fn an_error_names_its_round() {
        let error = |text: &str| assemble(text).unwrap_err().to_string();
        let round = error(".repeat i, 100\nvload v[i], a0, 0\n.end\nhalt");
        assert!(round.contains("register 64 is out of range (in the round with i = 64)"), "{round}");
        for (text, message) in [
            (".repeat i, 8\nhalt", "this repetition has no end"),
            ("halt\n.end", "`.end` without `.repeat`"),
            (".repeat i, 2\n.modulus m1, 7\n.end\nhalt", "a repetition has instructions only"),
            (".repeat i, 2^20 + 1\n.end\nhalt", "more than 1048576 rounds"),
            (".const n = 2^300\nhalt", "more than 256 bits"),
            (".const n = 2^128\nhalt", "not a number of up to 128 bits"),
            (".const n = 1 - 2\nhalt", "-1 is not a number"),
            (".const n = 1\n.const n = 2\nhalt", "`n` is defined twice"),
            (".const n = 1\n.input n, 8\nhalt", "`n` is defined twice"),
            (".input x, 8\n.modulus m1, x + 1\nhalt", "`x` is an address, not a number"),
            (".input x, 8\nvload v0, a0, 2 * x\nhalt", "this is no address"),
            ("loop:\nhalt", "there are no labels and no branches"),
            ("bnz v0\nhalt", "there are no labels and no branches"),
            (".table k, 8, sdm\nvload v0, a0, k\nhalt", "declare it without `sdm`, or load it with `sload`"),
        ] {
            let error = error(text);
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn symbols_follow_the_end_of_those_before_in_their_memory() {
        let source = ".input x, 8, at 16\n.table k, 3, sdm\n.output y, 4, at x\n.scratch z, 1\nhalt";
        let program = assemble(source).unwrap();
        let starts: Vec<_> = program.symbols.iter().map(|symbol| symbol.start).collect();
        assert_eq!(starts, [16, 0, 16, 24]);
    }

    #[test]
    fn a_values_place_is_found_among_comments_and_commas() {
        let source = ".table t, 3\n.modulus m1, 7\n.words t { 1, // one\n 0x2,, # two\n 9 }\nhalt";
        let errors = assemble(source).unwrap_err();
        let spans: Vec<_> = errors.iter().map(|error| error.marked().unwrap()).collect();
        assert_eq!(spans, ["9"]);
    }
}
