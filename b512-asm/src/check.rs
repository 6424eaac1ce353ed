//! The rules of a well-formed [`Program`], for every notation.
//!
//! The assembler and the object reader both end with [`Program::check`], and the object writer
//! begins with it, so every program that they produce or accept obeys these rules:
//!
//! * names are identifiers and unique; symbols and images lie inside the ISA's memories; no two inputs share
//!   words, nor two outputs;
//! * image segments are in ascending order, not empty, and do not overlap; their words fit the
//!   ISA's word width;
//! * launch values fit their registers; moduli are odd, at least 3, and fit a word;
//! * claims name input and output symbols of the VDM, each output once; the content of a claim is
//!   not checked here;
//! * values of tables, and of inputs without a claim, are below the program's modulus if it has
//!   only one;
//! * some machine has its instructions with vectors of its length;
//! * the program ends with its only `halt`.

use crate::claim::{Claim, Setting};
use crate::code::Code;
use crate::isa::{Instr, Op};
use crate::lex::is_name;
use crate::program::{Program, Role, Symbol};
use crate::reg::{LaneMap, MAX_VDM_WORDS};
use crate::space::Space;
use diagnostic::{Diagnostics, counted, nearest};
use std::collections::HashSet;
use std::fmt;

/// The part of a program that has a [`Defect`]; numbers index the program's lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The kernel's name.
    Name,
    /// An instruction; one past the last if one is missing.
    Instruction(usize),
    /// A symbol.
    Symbol(usize),
    /// The launch value of an address register.
    Address(usize),
    /// The launch value of a modulus register.
    Modulus(usize),
    /// A part of a claim.
    Claim(usize, ClaimPart),
    /// A segment of a memory's image.
    Segment(Space, usize),
    /// A word of a segment of a memory's image.
    Word {
        /// The memory.
        space: Space,
        /// The index of the segment.
        segment: usize,
        /// The index of the word in the segment.
        word: usize,
    },
}

impl Part {
    /// The index of the instruction; `None` for other parts.
    pub const fn instruction(self) -> Option<usize> {
        match self {
            Self::Instruction(index) => Some(index),
            Self::Name
            | Self::Symbol(_)
            | Self::Address(_)
            | Self::Modulus(_)
            | Self::Claim(..)
            | Self::Segment(..)
            | Self::Word { .. } => None,
        }
    }
}

/// A part of a claim; numbers index the claim's lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClaimPart {
    /// The whole claim.
    Whole,
    /// An operation, by its place in [`Claim::calls`].
    Operation(usize),
    /// The name of an output.
    Output(usize),
    /// The name of an input.
    Input(usize),
    /// A setting of the claim, name and value.
    Setting(usize),
    /// A setting of an operation alone: the operation's place, and the setting's.
    SettingOf(usize, usize),
}

/// A rule that a program breaks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defect {
    /// The error code.
    pub code: Code,
    /// The location.
    pub part: Part,
    /// The problem, in one line.
    pub message: String,
    /// The fix.
    pub help: Option<String>,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.help {
            Some(help) => write!(f, " ({help})"),
            None => Ok(()),
        }
    }
}

/// A program that breaks rules, with all of its defects, but at most [`Diagnostics::LIMIT`] words
/// of the images.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidProgram {
    /// The defects, at least one.
    pub defects: Vec<Defect>,
}

impl fmt::Display for InvalidProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, defect) in self.defects.iter().enumerate() {
            let newline = if i > 0 { "\n" } else { "" };
            write!(f, "{newline}{defect}")?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidProgram {}

const NAME_RULE: &str = "a name is a letter or `_`, then letters, digits, `_` or `.`";

impl Program {
    /// Checks the program against the rules of the [module](self).
    ///
    /// # Errors
    /// Returns every violation.
    pub fn check(&self) -> Result<(), InvalidProgram> {
        let mut checker = Checker { program: self, defects: Vec::new() };
        checker.names();
        checker.symbols();
        checker.overlaps();
        checker.image(Space::Vdm);
        checker.image(Space::Sdm);
        checker.launch_values();
        checker.claims();
        checker.reduced_values();
        checker.extensions();
        checker.halt();
        if checker.defects.is_empty() { Ok(()) } else { Err(InvalidProgram { defects: checker.defects }) }
    }

    /// The program's modulus, if there can only be one: every modulus register has the same launch
    /// value, and no instruction loads another.
    pub fn only_modulus(&self) -> Option<u128> {
        let mut all = self.moduli.iter().map(|&(_, modulus)| modulus);
        let first = all.next()?;
        (all.all(|modulus| modulus == first) && !self.loads_moduli()).then_some(first)
    }

    /// Whether an instruction loads a modulus register.
    pub fn loads_moduli(&self) -> bool {
        self.instructions.iter().any(|instr| instr.op() == Op::Mload)
    }
}

struct Checker<'a> {
    program: &'a Program,
    defects: Vec<Defect>,
}

impl Checker<'_> {
    fn report(&mut self, code: Code, part: Part, message: String, help: impl Into<Option<String>>) {
        self.defects.push(Defect { code, part, message, help: help.into() });
    }

    fn names(&mut self) {
        let program = self.program;
        if !program.name.is_empty() && !is_name(&program.name) {
            let message = format!("invalid kernel name `{}`", program.name.escape_debug());
            self.report(Code::Syntax, Part::Name, message, NAME_RULE.to_owned());
        }
        for (i, symbol) in program.symbols.iter().enumerate() {
            if !is_name(&symbol.name) {
                let message = format!("invalid symbol name `{}`", symbol.name.escape_debug());
                self.report(Code::Syntax, Part::Symbol(i), message, NAME_RULE.to_owned());
            }
        }
    }

    fn symbols(&mut self) {
        let mut seen = HashSet::new();
        for (i, symbol) in self.program.symbols.iter().enumerate() {
            if !seen.insert(&symbol.name) {
                let message = format!("symbol `{}` is declared twice", symbol.name);
                let help = "a name denotes one range of words".to_owned();
                self.report(Code::Duplicate, Part::Symbol(i), message, help);
            }
            let limit = symbol.space.max_words();
            if symbol.words == 0 {
                let message = format!("symbol `{}` has no words", symbol.name);
                self.report(Code::SymbolRange, Part::Symbol(i), message, None);
            } else if u64::from(symbol.start) + u64::from(symbol.words) > u64::from(limit) {
                let end = u64::from(symbol.start) + u64::from(symbol.words);
                let message = format!("symbol `{}` ends at word {end:#x}", symbol.name);
                let help = format!("the {} has {limit:#x} words at most", symbol.space);
                self.report(Code::SymbolRange, Part::Symbol(i), message, help);
            }
        }
    }

    /// Reports inputs that share words, and outputs.
    fn overlaps(&mut self) {
        let end = |symbol: &Symbol| u64::from(symbol.start) + u64::from(symbol.words);
        let mut kept: Vec<(usize, &Symbol)> = (0..).zip(&self.program.symbols).collect();
        kept.retain(|(_, symbol)| matches!(symbol.role, Role::Input | Role::Output));
        kept.sort_by_key(|&(i, symbol)| (symbol.role, symbol.space, symbol.start, i));
        for pair in kept.windows(2) {
            let [(a, first), (b, second)] = [pair[0], pair[1]];
            let alike = (first.role, first.space) == (second.role, second.space);
            if alike && u64::from(second.start) < end(first) {
                let (later, earlier) = if a < b { (b, first) } else { (a, second) };
                let (role, name) = (first.role, &self.program.symbols[later].name);
                let message = format!("{role} `{name}` overlaps {role} `{}`", earlier.name);
                let help = "leave out `at` to place it after the symbols before it".to_owned();
                self.report(Code::Overlap, Part::Symbol(later), message, help);
            }
        }
    }

    fn image(&mut self, space: Space) {
        let mut free_from = 0;
        for (i, segment) in self.program.image(space).segments.iter().enumerate() {
            let part = Part::Segment(space, i);
            let start = u64::from(segment.start);
            let end = start + segment.words.len() as u64;
            if segment.words.is_empty() {
                self.report(Code::Image, part, format!("no words for address {start:#x}"), None);
            } else if end > u64::from(space.max_words()) {
                let message = format!("the words end at address {end:#x}");
                let help = format!("the {space} has {:#x} words at most", space.max_words());
                self.report(Code::Image, part, message, help);
            } else if start < free_from {
                let message = format!("the words from address {start:#x} overlap others");
                let help = format!("the {space} has contents up to address {free_from:#x} before these");
                self.report(Code::Image, part, message, help);
            }
            free_from = free_from.max(end);
        }
        self.word_widths(space);
    }

    /// Reports words that are wider than the ISA's, at most [`Diagnostics::LIMIT`].
    fn word_widths(&mut self, space: Space) {
        let isa = self.program.isa;
        if isa.max_word() == u128::MAX {
            return;
        }
        let segments = self.program.image(space).segments.iter().enumerate();
        let words = segments.flat_map(|(s, segment)| (0..).zip(&segment.words).map(move |at| (s, at)));
        let wide = words.filter(|&(_, (_, &word))| word > isa.max_word());
        for (segment, (word, value)) in wide.take(Diagnostics::LIMIT) {
            let message = format!("{value:#x} does not fit a word");
            let help = format!("a word has {} bits", isa.word_bits());
            self.report(Code::Image, Part::Word { space, segment, word }, message, help);
        }
    }

    fn launch_values(&mut self) {
        let program = self.program;
        let mut seen = HashSet::new();
        for (i, &(reg, address)) in program.addresses.iter().enumerate() {
            let part = Part::Address(i);
            if !seen.insert(reg) {
                self.report(Code::Duplicate, part, format!("`{reg}` has two launch values"), None);
            }
            if address >= MAX_VDM_WORDS {
                let message = format!("launch value {address:#x} of `{reg}` is outside the VDM");
                let help = format!("the largest address is {:#x}", MAX_VDM_WORDS - 1);
                self.report(Code::Address, part, message, help);
            }
        }
        let mut seen = HashSet::new();
        for (i, &(reg, modulus)) in program.moduli.iter().enumerate() {
            let part = Part::Modulus(i);
            if !seen.insert(reg) {
                self.report(Code::Duplicate, part, format!("`{reg}` has two launch values"), None);
            }
            self.modulus(part, modulus);
        }
    }

    /// Reports an invalid `modulus`; returns whether it is valid.
    fn modulus(&mut self, part: Part, modulus: u128) -> bool {
        let isa = self.program.isa;
        let odd = "a modulus is odd and at least 3".to_owned();
        let (what, help) = if modulus < 3 {
            ("too small", odd)
        } else if modulus.is_multiple_of(2) {
            ("even", odd)
        } else if modulus > isa.max_word() {
            ("too large", format!("a word has {} bits", isa.word_bits()))
        } else {
            return true;
        };
        self.report(Code::Modulus, part, format!("the modulus {modulus:#x} is {what}"), help);
        false
    }

    fn claims(&mut self) {
        let program = self.program;
        let mut seen = HashSet::new();
        for (number, claim) in program.claims.iter().enumerate() {
            for (i, output) in claim.outputs.iter().enumerate() {
                let part = ClaimPart::Output(i);
                if !seen.insert(output) {
                    let message = format!("`{output}` has two claims");
                    self.report(Code::Duplicate, Part::Claim(number, part), message, None);
                }
                self.operand(Part::Claim(number, part), output, Role::Output);
            }
            for (i, input) in claim.inputs.iter().enumerate() {
                self.operand(Part::Claim(number, ClaimPart::Input(i)), input, Role::Input);
            }
            self.claim_text(number, claim);
        }
    }

    /// Checks that the claim can be written as text.
    fn claim_text(&mut self, number: usize, claim: &Claim) {
        let within = |part| Part::Claim(number, part);
        if claim.outputs.is_empty() || claim.inputs.is_empty() {
            let message = "a claim has at least one output and one input".to_owned();
            self.report(Code::Claim, within(ClaimPart::Whole), message, None);
        }
        let [outputs, expressions] = [claim.outputs.len(), claim.expressions.len()];
        if outputs != expressions {
            let outputs = counted(outputs, "output", "outputs");
            let message = format!("{outputs}, but {}", counted(expressions, "expression", "expressions"));
            let help = "each output has one expression: `.computes y, z = a + b, a - b, ..`".to_owned();
            self.report(Code::Claim, within(ClaimPart::Whole), message, help);
        }
        if !claim.names_inputs_in_order() {
            let message = "the inputs of a claim are those of its expressions in order, each once".to_owned();
            self.report(Code::Claim, within(ClaimPart::Whole), message, None);
        }
        self.settings(&claim.settings, &|i| within(ClaimPart::Setting(i)));
        for (place, call) in claim.calls().enumerate() {
            self.name(within(ClaimPart::Operation(place)), &call.operation);
            self.settings(&call.settings, &|i| within(ClaimPart::SettingOf(place, i)));
        }
    }

    fn name(&mut self, part: Part, name: &str) {
        if !is_name(name) {
            let message = format!("invalid name `{}` in a claim", name.escape_debug());
            self.report(Code::Syntax, part, message, NAME_RULE.to_owned());
        }
    }

    fn settings(&mut self, settings: &[(String, Setting)], part: &dyn Fn(usize) -> Part) {
        for (i, (key, value)) in settings.iter().enumerate() {
            self.name(part(i), key);
            if let Setting::Word(word) = value {
                self.name(part(i), word);
            }
            if settings[..i].iter().any(|(earlier, _)| earlier == key) {
                self.report(Code::Duplicate, part(i), format!("`{key}` is given twice"), None);
            }
        }
    }

    fn operand(&mut self, part: Part, name: &str, role: Role) {
        let program = self.program;
        let Some(symbol) = program.symbol(name) else {
            let near = nearest(name, program.symbols.iter().map(|symbol| symbol.name.as_str()));
            let help = near.map(|near| format!("did you mean `{near}`?"));
            return self.report(
                Code::UnknownSymbol,
                part,
                format!("unknown symbol `{name}` in a claim"),
                help,
            );
        };
        if symbol.role != role || symbol.space != Space::Vdm {
            let message = format!("`{name}` is not an {role} in the VDM");
            let help = match (role, symbol.role) {
                (Role::Input, Role::Output) | (Role::Output, Role::Input) => format!(
                    "it is an {}: a claim has outputs before `=`, and inputs in its expressions",
                    symbol.role
                ),
                _ => format!("declare it with `.{role} {name}, {}`", symbol.words),
            };
            self.report(Code::Claim, part, message, help);
        }
    }

    fn reduced_values(&mut self) {
        let program = self.program;
        let Some(modulus) = program.only_modulus() else { return };
        let claimed: HashSet<&str> =
            program.claims.iter().flat_map(|claim| &claim.inputs).map(String::as_str).collect();
        let mut reported = 0;
        for (s, segment) in program.vdm.segments.iter().enumerate() {
            for (w, &word) in segment.words.iter().enumerate() {
                if word < modulus {
                    continue;
                }
                let address = u64::from(segment.start) + w as u64;
                let owner = program.symbols.iter().find(|symbol| {
                    let data = match symbol.role {
                        Role::Table => true,
                        // If an input has a claim, the operation determines its modulus.
                        Role::Input => !claimed.contains(symbol.name.as_str()),
                        Role::Output | Role::Scratch => false,
                    };
                    data && symbol.space == Space::Vdm && symbol.contains(address)
                });
                if let Some(symbol) = owner {
                    let index = address - u64::from(symbol.start);
                    let message = format!("{}[{index}] = {word:#x} is not below the modulus", symbol.name);
                    let part = Part::Word { space: Space::Vdm, segment: s, word: w };
                    self.report(Code::NotReduced, part, message, format!("the modulus is {modulus:#x}"));
                    reported += 1;
                    if reported == Diagnostics::LIMIT {
                        return;
                    }
                }
            }
        }
    }

    /// Reports instructions that no machine has with vectors of the program's length, at most
    /// [`Diagnostics::LIMIT`].
    fn extensions(&mut self) {
        let isa = self.program.isa;
        let instructions = self.program.instructions.iter().enumerate();
        let is_missing =
            |instr: &Instr| instr.op().info().feature.is_some_and(|feature| !feature.exists(isa));
        for (i, instr) in instructions.filter(|(_, instr)| is_missing(instr)).take(Diagnostics::LIMIT) {
            let mnemonic = instr.op().info().mnemonic;
            let message =
                format!("no machine has `{mnemonic}` with vectors of {} lanes", isa.vector_length());
            let help = format!("its map has numbers of up to {}: use a shorter vector", LaneMap::MAX);
            self.report(Code::Isa, Part::Instruction(i), message, help);
        }
    }

    fn halt(&mut self) {
        let instructions = &self.program.instructions;
        let first = instructions.iter().position(|instr| *instr == Instr::Halt {});
        match first {
            None => {
                let message = "the program has no `halt`".to_owned();
                let help = "put `halt` after the last instruction".to_owned();
                self.report(Code::Halt, Part::Instruction(instructions.len()), message, help);
            }
            Some(i) if i + 1 < instructions.len() => {
                let message = "this instruction comes after `halt` and cannot execute".to_owned();
                let help = "a program has one `halt`, its last instruction".to_owned();
                self.report(Code::Halt, Part::Instruction(i + 1), message, help);
            }
            Some(_) => {}
        }
    }
}
