//! The reader: one pass over the text, in memory that does not grow with it beyond the result.
//!
//! The notation is Niobium's `.fhetch`, with moduli, scalars and roots of up to 128 bits:
//!
//! ```text
//! # comments, also behind an instruction
//! modulus_count 2
//! m[0] 0xFFFFFFFFFFFFFFFF
//! m[1] 0x7FFFFFFFFFFF801
//! sr_ntt %2, %1, m=1, omega=123
//! sr_mulps %2, %2, 77, m=1
//! halt
//! ```
//!
//! Decisions where the format's own tools differ:
//!
//! * Opcodes may have capitals. Operands with names may stand in any order. Commas are required,
//!   blanks after them are not.
//! * Numbers are decimal or hexadecimal. Leading zeros are errors: some readers would read octal.
//! * The indices of the table of moduli must be right. Moduli are distinct primes that are 1 mod 2n.
//! * `m=` is an index, or one of the moduli if it is beyond the table. `sr_automorph_eval`, which only moves
//!   words, needs none.
//! * A program ends with one `halt` or two, so a truncated text is an error.
//! * `sr_addps` of 0 with a real modulus is an addition, not a copy.
//!
//! The notation of functions, calls and repeats is our own. See `docs/book/src/fhetch.md`.

mod call;
mod foreign;
mod instruction;
mod mark;
mod operands;
mod token;

use crate::code::Code;
use crate::fault::Fault;
use crate::manifest::{Manifest, NamedIds};
use crate::part::Part;
use crate::{Builder, Limb, LimbId, ModulusFault, Operation, RingProgram, SENTINEL, compression};
use call::OpenFunction;
use diagnostic::{Diagnostic, Diagnostics, number};
pub use instruction::NOTATION;
pub use mark::mark;
use operands::{Misplaced, Operands};
use ring::prime::nearest_prime;
use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::path::Path;
use token::{Span, first_word, significant, text};

/// The origin of what the text does not say: the ring degree, and the names of inputs and outputs.
#[derive(Clone, Copy, Debug)]
pub enum Interface<'m> {
    /// The ring degree only. Inputs are the limbs that are read before they are written; outputs are the
    /// limbs that are never read after their last write. The limb `%7` has the name `id7`.
    Degree(u64),
    /// A manifest.
    Manifest(&'m Manifest),
}

/// Reads the program in a file, which may be compressed with gzip or xz.
///
/// # Errors
/// Returns the errors in the file, or in the manifest if the two do not belong together.
pub fn read_file(path: &Path, interface: Interface<'_>) -> Result<RingProgram, Diagnostics> {
    let name = diagnostic::path(path);
    let text = compression::open(path)
        .map_err(|error| one(Diagnostic::new(format!("cannot read the program: {error}")).in_file(&name)))?;
    read(&name, text, interface)
}

/// Reads a program from `text`. Errors name the file `file`.
///
/// # Errors
/// Returns the errors in the text, or in the manifest if the two do not belong together.
pub fn read(
    file: &str,
    mut text: impl BufRead,
    interface: Interface<'_>,
) -> Result<RingProgram, Diagnostics> {
    let mut reader = Reader::new(file, interface)?;
    let mut line = Vec::new();
    loop {
        line.clear();
        // The limit keeps files without line ends from memory.
        match text.by_ref().take(Reader::MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) => return reader.finish(),
            Ok(_) => {}
            Err(error) => return Err(reader.unreadable(&error)),
        }
        if line.len() as u64 == Reader::MAX_LINE {
            return Err(reader.too_long());
        }
        reader.line = reader.line.saturating_add(1);
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        let significant = significant(&line);
        if !significant.is_empty() && !reader.read_line(&line, significant) {
            return Err(reader.errors);
        }
    }
}

fn one(error: Diagnostic) -> Diagnostics {
    let mut errors = Diagnostics::default();
    errors.push(error);
    errors
}

/// The position in the structure of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Before `modulus_count`.
    Start,
    /// In the table of moduli, of `count` entries, before the entry `next`.
    Table { count: u64, next: u64 },
    /// Between the table and `halt`.
    Body,
    /// After the first or the second `halt`.
    Halted { second: bool },
}

struct Reader<'m> {
    file: &'m str,
    manifest: Option<&'m Manifest>,
    builder: Builder,
    /// The function whose lines follow.
    function: Option<OpenFunction>,
    /// The names of functions with an error: their calls are not checked.
    faulty: HashSet<String>,
    /// The lines of the repeats that are open.
    repeats: Vec<u32>,
    outputs: Option<Vec<(String, Vec<Limb>)>>,
    stage: Stage,
    line: u32,
    /// The limbs in the lists of functions and calls so far.
    listed: u64,
    errors: Diagnostics,
}

impl<'m> Reader<'m> {
    /// The most limbs in the lists of all functions and calls, and those for which each line of the text
    /// allows.
    const MOST_LISTED: u64 = 1 << 21;
    const LISTED_PER_LINE: u64 = 64;

    /// The longest line in bytes, with its end.
    const MAX_LINE: u64 = 1 << 16;

    fn new(file: &'m str, interface: Interface<'m>) -> Result<Self, Diagnostics> {
        let (n, manifest) = match interface {
            Interface::Degree(n) => (n, None),
            Interface::Manifest(manifest) => (manifest.degree, Some(manifest)),
        };
        let mut builder =
            Builder::new(n).map_err(|error| one(Diagnostic::new(error.to_string()).in_file(file)))?;
        let mut outputs = None;
        if let Some(manifest) = manifest {
            let mut limbs = |group: &NamedIds| -> (String, Vec<Limb>) {
                (group.name.clone(), group.ids.iter().map(|&id| builder.limb(id)).collect())
            };
            let inputs: Vec<_> = manifest.inputs.iter().map(&mut limbs).collect();
            outputs = manifest.outputs.as_ref().map(|outputs| outputs.iter().map(limbs).collect());
            inputs.into_iter().for_each(|(name, limbs)| builder.declare_input(name, limbs));
            builder.set_declared(manifest.inputs_are_complete);
            if let Some(seeded) = &manifest.seeded {
                let seeded = seeded.iter().map(|&id| builder.limb(id)).collect();
                builder.declare_seeded(seeded);
            }
            manifest.parameters.iter().for_each(|parameters| builder.declare_parameters(parameters.clone()));
        }
        let errors = Diagnostics::default();
        Ok(Self {
            file,
            manifest,
            builder,
            function: None,
            faulty: HashSet::new(),
            repeats: Vec::new(),
            outputs,
            stage: Stage::Start,
            line: 0,
            listed: 0,
            errors,
        })
    }

    /// Reads a line that is neither blank nor a comment. False if there is no point in reading on.
    fn read_line(&mut self, line: &[u8], significant: Span) -> bool {
        let (word, rest) = first_word(line, significant.clone());
        match self.stage {
            Stage::Start => return self.read_count(line, significant, word, rest),
            Stage::Table { count, next } if next < count => {
                return self.read_modulus(line, significant, word, rest);
            }
            Stage::Table { .. } => {
                if !self.finish_table() {
                    return false;
                }
                // Every line that uses the modulus would have an error.
                if line[word.clone()].starts_with(b"m[") {
                    self.read_instruction(line, significant, word, rest);
                    return false;
                }
            }
            Stage::Body | Stage::Halted { .. } => {}
        }
        self.read_instruction(line, significant, word, rest);
        true
    }

    fn read_count(&mut self, line: &[u8], significant: Span, word: Span, rest: Span) -> bool {
        if &line[word] != b"modulus_count" {
            let whole = text(&line[significant.clone()]);
            let error = match foreign::recognise(&whole) {
                Some((name, help)) => Code::Text.error(format!("this file is {name}")).with_help(help),
                None => Code::Moduli.error("expected `modulus_count`").with_help(
                    "a ring program begins with its table of moduli: `modulus_count 2`, `m[0] 0xFFFFFFFFFFFFFFFF`, ..",
                ),
            };
            self.report(error, line, significant);
            return false;
        }
        let limit = crate::ModulusTable::MAX as u128 + 1;
        match number(&line[rest.clone()]) {
            Ok(count) if (1..=limit).contains(&count) => {
                self.stage = Stage::Table { count: count as u64, next: 0 };
                return true;
            }
            Ok(count) => {
                let help = format!("the number includes m[0] and is from 1 to {limit}");
                let error = Code::Moduli.error(format!("invalid number of moduli {count}")).with_help(help);
                self.report(error, line, rest);
            }
            Err(reason) => {
                let error = Code::Moduli.error(format!("invalid number of moduli: {reason}"));
                self.report(error, line, if rest.is_empty() { significant } else { rest });
            }
        }
        false
    }

    fn read_modulus(&mut self, line: &[u8], significant: Span, word: Span, rest: Span) -> bool {
        let Stage::Table { count, next } = self.stage else { return false };
        let index = line[word.clone()].strip_prefix(b"m[").and_then(|word| word.strip_suffix(b"]"));
        if index.and_then(|index| number(index).ok()) != Some(next.into()) {
            let error = Code::Moduli
                .error(format!("expected the modulus `m[{next}]`"))
                .with_help(format!("`modulus_count` announces the {count} entries m[0] to m[{}]", count - 1));
            self.report(error, line, if index.is_some() { word } else { significant });
            return false;
        }
        self.stage = Stage::Table { count, next: next + 1 };
        let value = match number(&line[rest.clone()]) {
            Ok(value) => value,
            Err(reason) => {
                let error = Code::Moduli.error(format!("invalid modulus: {reason}"));
                self.report(error, line, if rest.is_empty() { significant } else { rest });
                return true;
            }
        };
        if next == 0 {
            if value != SENTINEL {
                let error = Code::Moduli
                    .error(format!("m[0] is {value:#x}, not the sentinel"))
                    .with_help(format!("m[0] means \"no modulus\" and is {SENTINEL:#X}"));
                self.report(error, line, rest);
            }
        } else if let Err(fault) = self.builder.add_modulus(value) {
            let error = Code::Moduli.error(fault.to_string());
            let n = self.builder.program().degree();
            let help = match fault {
                ModulusFault::Invalid(ring::Error::NoRoots { .. }) => {
                    Some(format!("the ring degree is {n}; does the program have another one?"))
                }
                ModulusFault::Invalid(_) => nearest_prime(value, n)
                    .map(|prime| format!("the nearest prime that is 1 mod {} is {prime:#x}", n.order())),
                ModulusFault::Duplicate { .. } | ModulusFault::TooMany => None,
            };
            let error = match help {
                Some(help) => error.with_help(help),
                None => error,
            };
            self.report(error, line, rest);
        }
        true
    }

    /// Checks the complete table. False if it has errors: they would occur again in every line.
    fn finish_table(&mut self) -> bool {
        self.stage = Stage::Body;
        if let Some(expected) = self.manifest.and_then(|manifest| manifest.moduli.as_deref()) {
            let moduli: Vec<u128> = self.builder.program().moduli().iter().map(|(_, value)| value).collect();
            if self.errors.is_empty() && expected != moduli {
                let message = "the table of moduli differs from the manifest's `modulus_chain`";
                let error = Code::Moduli.error(message).in_file(self.file);
                self.errors.push(error.with_help("does the manifest belong to another program?"));
            }
        }
        self.errors.is_empty()
    }

    fn read_instruction(&mut self, line: &[u8], significant: Span, word: Span, rest: Span) {
        let bytes = &line[word.clone()];
        let lower;
        let opcode = match std::str::from_utf8(bytes) {
            Ok(opcode) if !bytes.iter().any(u8::is_ascii_uppercase) => opcode,
            _ => {
                lower = text(bytes).to_ascii_lowercase();
                &lower
            }
        };
        if opcode == "halt" {
            return self.read_halt(line, significant, rest);
        }
        if let Stage::Halted { .. } = self.stage {
            let error = Code::Halt.error("an instruction after `halt`");
            return self.report(
                error.with_help("only comments and a second `halt` may follow"),
                line,
                significant,
            );
        }
        if opcode.starts_with("m[") || opcode == "modulus_count" {
            let error = Code::Moduli.error("the table of moduli is complete");
            let help = "all moduli come before the first instruction, as many as `modulus_count` says";
            return self.report(error.with_help(help), line, significant);
        }
        if let Some(keyword) = call::Keyword::find(opcode) {
            return self.read_keyword(keyword, line, significant, rest);
        }
        let is_outside = self.function.is_none() && !self.builder.program().functions().is_empty();
        if is_outside && crate::OPCODES.contains(&opcode) {
            let error = Code::Function.error("a line outside of functions");
            let help = "a program has lines, or functions with lines and calls of them";
            return self.report(error.with_help(help), line, significant);
        }
        let operands = match Operands::split(line, significant.clone(), opcode, rest.clone()) {
            Ok(operands) => operands,
            Err(Misplaced(span, fault)) => {
                // What is wrong about an unknown opcode is the opcode.
                let is_known = crate::OPCODES.contains(&opcode);
                let (fault, span) =
                    if is_known { (fault, span) } else { (instruction::unknown(opcode), word) };
                self.report_fault(fault, line, span);
                let end = line[rest.clone()].iter().position(|&byte| byte == b',' || token::is_blank(byte));
                let first = rest.start..end.map_or(rest.end, |length| rest.start + length);
                return self.define(operands::limb_id(&line[first], Part::Destination));
            }
        };
        let builder = self.function.as_mut().map_or(&mut self.builder, |function| &mut function.body);
        match instruction::read(opcode, &operands, builder) {
            Ok(Some(operation)) => self.push(operation, line, &operands),
            Ok(None) => {
                self.report_fault(instruction::unknown(opcode), line, word);
                self.define(operands.id(Part::Destination));
            }
            Err(fault) => {
                let span = operands.span(fault.part);
                self.report_fault(fault, line, span);
                self.define(operands.id(Part::Destination));
            }
        }
    }

    /// Takes the destination of a wrong line as written, so that one error causes no other error.
    fn define(&mut self, destination: Result<LimbId, Fault>) {
        let builder = self.function.as_mut().map_or(&mut self.builder, |function| &mut function.body);
        if let Ok(id) = destination {
            let limb = builder.limb(id);
            builder.define(limb);
        }
    }

    fn push(&mut self, operation: Operation, line: &[u8], operands: &Operands<'_>) {
        let builder = self.function.as_mut().map_or(&mut self.builder, |function| &mut function.body);
        if let Err(fault) = builder.push_from_line(operation, self.line) {
            let span = operands.span(fault.part);
            self.report_fault(fault, line, span);
        }
    }

    fn read_halt(&mut self, line: &[u8], significant: Span, rest: Span) {
        if !rest.is_empty() {
            return self.report(Code::Halt.error("`halt` has no operands"), line, rest);
        }
        if let Some((what, begin)) = self.take_open_block() {
            let error = Code::Halt.error(format!("`halt` in the {what} of line {begin}"));
            self.report(error.with_help("write `end` before"), line, significant.clone());
        }
        self.stage = match self.stage {
            Stage::Halted { second: true } => {
                let error =
                    Code::Halt.error("a third `halt`").with_help("a program ends with one `halt` or two");
                return self.report(error, line, significant);
            }
            Stage::Halted { second: false } => Stage::Halted { second: true },
            Stage::Start | Stage::Table { .. } | Stage::Body => Stage::Halted { second: false },
        };
    }

    fn report_fault(&mut self, fault: Fault, line: &[u8], span: Span) {
        let error = fault.code.error(fault.message);
        let error = match fault.help {
            Some(help) => error.with_help(help),
            None => error,
        };
        self.report(error, line, span);
    }

    fn report(&mut self, error: Diagnostic, line: &[u8], span: Span) {
        self.errors.push(error.on_line(self.file, self.line, text(line), span));
    }

    /// The program, after the last line.
    fn finish(mut self) -> Result<RingProgram, Diagnostics> {
        let end = match self.stage {
            Stage::Start => Some(Code::Text.error("the file has no program: nothing but comments")),
            Stage::Table { count, next } if next < count => {
                let message = format!("the text ends in the table of moduli: m[{next}] is missing");
                Some(Code::Moduli.error(message))
            }
            Stage::Table { .. } | Stage::Body => {
                Some(Code::Halt.error(format!("the text ends at line {} without `halt`", self.line)))
            }
            Stage::Halted { .. } => None,
        };
        if let Some(error) = end {
            self.errors.push(error.in_file(self.file).with_help("is the file truncated?"));
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let mut program = self.builder.finish(self.outputs).map_err(|error| {
            let diagnostic = Code::Limb.error(error.to_string());
            one(match self.manifest {
                Some(manifest) => manifest.locate(diagnostic, "outputs", &error.name),
                None => diagnostic.in_file(self.file),
            })
        })?;
        if let Some(manifest) = self.manifest {
            manifest.annotate(&mut program)?;
        }
        Ok(program)
    }

    fn unreadable(mut self, error: &std::io::Error) -> Diagnostics {
        let message = format!("cannot read on after line {}: {error}", self.line);
        self.errors.push(Diagnostic::new(message).in_file(self.file));
        self.errors
    }

    fn too_long(mut self) -> Diagnostics {
        let message =
            format!("line {} has more than {} bytes", self.line.saturating_add(1), Self::MAX_LINE - 1);
        let error = Code::Text.error(message).in_file(self.file);
        self.errors.push(error.with_help("is this a ring program?"));
        self.errors
    }
}
