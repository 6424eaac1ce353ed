//! The generic form of MLIR: aliases, operations, regions.
//!
//! ```text
//! %38 = "ckks.level_reduce"(%33) <{levelToDrop = 1 : i64}> : (!ct_L3_1) -> !ct_L2_1
//! results = "dialect.name"(operands) [<{properties}>] [(regions)] [{attributes}] : (types) -> types
//! ```
//!
//! Values have numbers in place of names. Types and attributes stay text until somebody asks for them.

use super::RELEASE;
use diagnostic::{Code, Diagnostic};
use nom::branch::alt;
use nom::bytes::complete::{escaped, is_not, tag, take_while1};
use nom::character::complete::{anychar, char, digit1, multispace1, not_line_ending};
use nom::combinator::{map_opt, opt, recognize, value};
use nom::multi::many0_count;
use nom::sequence::{delimited, pair, preceded};
use nom::{IResult, Offset, Parser};
use std::collections::{BTreeMap, BTreeSet};

/// The names of operations that end a block.
pub(super) const ENDS: [&str; 2] = ["func.return", "scf.yield"];

/// The deepest nesting of regions.
const DEEPEST: usize = 64;

/// A file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'t> {
    /// The name for users.
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

impl<'t> Source<'t> {
    /// An error at a part of the text.
    pub(super) fn error(&self, part: &str, message: impl Into<String>) -> Diagnostic {
        let error = Diagnostic::new(message);
        let start = (part.as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let Some(before) = self.text.get(..start).filter(|_| self.text.len() - start >= part.len()) else {
            return error.in_file(self.file);
        };
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
        let number = 1 + before.matches('\n').count();
        let span = start - line_start..(start + part.len()).min(line_end) - line_start;
        let line = &self.text[line_start..line_end];
        error.on_line(self.file, number.try_into().unwrap_or(u32::MAX), line, span)
    }

    /// An error of syntax.
    fn syntax(&self, rest: &'t str, expected: &str) -> Diagnostic {
        let found = token(rest).map_or_else(|_| &rest[..0], |(_, found)| found);
        let message = match found {
            "" if rest.is_empty() => format!("expected {expected}, found the end of the file"),
            "" => format!("expected {expected}"),
            found => format!("expected {expected}, found `{}`", found.replace('`', "'")),
        };
        self.error(found, message).with_code(Code::Syntax.name())
    }
}

/// The number of a value.
pub(super) type ValueId = u32;

/// A value that an operation reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operand<'t> {
    pub(super) value: ValueId,
    /// Whether nothing reads it later, so that it may be taken.
    pub(super) is_last: bool,
    pub(super) name: &'t str,
}

/// An operation that a table has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// Its row.
    pub(super) index: usize,
    /// Whether it only computes its results, so that it may be left out if nobody reads them.
    pub(super) is_pure: bool,
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Operation<'t> {
    /// As `ckks.add`.
    pub(super) name: &'t str,
    /// What is known of it.
    pub(super) known: Option<Known>,
    /// Whether nothing reads its results.
    pub(super) is_dead: bool,
    pub(super) operands: Vec<Operand<'t>>,
    pub(super) results: Vec<ValueId>,
    /// Properties and attributes.
    pub(super) attributes: BTreeMap<&'t str, &'t str>,
    pub(super) regions: Vec<Block<'t>>,
    pub(super) operand_types: Vec<&'t str>,
    pub(super) result_types: Vec<&'t str>,
}

/// The only block of a region.
#[derive(Clone, Default, Debug)]
pub(super) struct Block<'t> {
    pub(super) arguments: Vec<ValueId>,
    pub(super) operations: Vec<Operation<'t>>,
}

/// A file in the generic form.
#[derive(Clone, Debug)]
pub(super) struct Generic<'t> {
    /// By name, with the mark `!` or `#`.
    pub(super) aliases: BTreeMap<&'t str, &'t str>,
    pub(super) module: Operation<'t>,
    /// The number of values.
    pub(super) values: usize,
}

/// Blanks and comments.
fn blank(text: &str) -> IResult<&str, ()> {
    let comment = recognize(pair(tag("//"), not_line_ending));
    value((), many0_count(alt((multispace1, comment)))).parse(text)
}

/// A text in quotes, with them.
fn string(text: &str) -> IResult<&str, &str> {
    let content = escaped(is_not("\\\""), '\\', anychar);
    recognize(delimited(char('"'), opt(content), char('"'))).parse(text)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')
}

/// A name with a mark such as `%` before it.
fn marked(mark: char) -> impl Fn(&str) -> IResult<&str, &str> {
    move |text| recognize(pair(char(mark), take_while1(is_name))).parse(text)
}

fn word(text: &str) -> IResult<&str, &str> {
    take_while1(is_name)(text)
}

/// What an error shows of the text.
fn token(text: &str) -> IResult<&str, &str> {
    let marked = recognize(pair(nom::character::complete::one_of("%!#^@"), take_while1(is_name)));
    let other = recognize(map_opt(anychar, |c: char| (!c.is_whitespace()).then_some(c)));
    alt((string, marked, word, other)).parse(text)
}

/// The length of text up to one of `stops` outside all brackets, or to the end; `None` if brackets do not
/// fit.
pub(super) fn balanced(text: &str, stops: &[u8]) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if open.is_empty() && stops.contains(&byte) {
            return Some(at);
        }
        match byte {
            b'"' => at = text.len() - string(&text[at..]).ok()?.0.len() - 1,
            // The `>` of an arrow closes nothing.
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b'<' => open.push(b'>'),
            b')' | b']' | b'}' | b'>' if open.pop() != Some(byte) => return None,
            _ => {}
        }
        at += 1;
    }
    open.is_empty().then_some(at)
}

/// The parts of a list, outside all brackets; none of an empty text.
pub(super) fn parts(text: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let length = balanced(rest, b",")?;
        parts.push(rest[..length].trim());
        rest = rest.get(length + 1..).unwrap_or_default().trim_start();
    }
    Some(parts)
}

/// The keys of a list such as `a = 1, b`, with their values; `None` if a key occurs twice.
pub(super) fn assignments(text: &str) -> Option<Vec<(&str, &str)>> {
    let assignment = |part: &'_ str| {
        let equals = balanced(part, b"=").filter(|&length| length < part.len());
        equals.map_or((0, None), |length| (length, Some(length)))
    };
    let split = |part| match assignment(part) {
        (_, Some(length)) => {
            let (key, value): (&str, &str) = part.split_at(length);
            (key.trim().trim_matches('"'), value[1..].trim())
        }
        (_, None) => (part.trim_matches('"'), &part[part.len()..]),
    };
    let found: Vec<(&str, &str)> = parts(text)?.into_iter().map(split).collect();
    let mut keys = BTreeSet::new();
    found.iter().all(|(key, _)| keys.insert(*key)).then_some(found)
}

/// The beginning of a text, for errors.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}..", text[..end].replace('`', "'")),
        None => text.replace('`', "'"),
    }
}

/// Reads a file, with what is known of an operation with a name.
pub(super) fn read<'t>(
    source: Source<'t>,
    find: fn(&str) -> Option<Known>,
) -> Result<Generic<'t>, Diagnostic> {
    let mut reader = Reader {
        source,
        find,
        rest: source.text,
        aliases: BTreeMap::new(),
        scopes: vec![BTreeMap::new()],
        types: Vec::new(),
    };
    reader.read_aliases()?;
    let mut module = reader.operation(0)?;
    if module.name != "builtin.module" {
        let message = format!("expected `builtin.module`, found `{}`", module.name);
        return Err(source.error(module.name, message));
    }
    reader.blank();
    // Values of resources may follow; without them, constants are not known.
    if !reader.rest.is_empty() && !reader.rest.starts_with("{-#") {
        return Err(source.syntax(reader.rest, "the end of the file"));
    }
    for function in &mut module.regions[..] {
        for operation in &mut function.operations {
            operation.regions.iter_mut().for_each(|body| mark_last(body, &mut BTreeSet::new()));
        }
    }
    Ok(Generic { aliases: reader.aliases, module, values: reader.types.len() })
}

struct Reader<'t> {
    source: Source<'t>,
    find: fn(&str) -> Option<Known>,
    rest: &'t str,
    aliases: BTreeMap<&'t str, &'t str>,
    /// The names of values, of the regions around.
    scopes: Vec<BTreeMap<&'t str, Vec<ValueId>>>,
    /// The type of each value.
    types: Vec<&'t str>,
}

impl<'t> Reader<'t> {
    fn blank(&mut self) {
        if let Ok((rest, ())) = blank(self.rest) {
            self.rest = rest;
        }
    }

    /// What a parser reads after blanks, if it does.
    fn find<O>(&mut self, parser: impl FnOnce(&'t str) -> IResult<&'t str, O>) -> Option<O> {
        self.blank();
        let (rest, found) = parser(self.rest).ok()?;
        self.rest = rest;
        Some(found)
    }

    fn has(&mut self, mark: &'static str) -> bool {
        self.find(tag(mark)).is_some()
    }

    fn expected(&mut self, what: &str) -> Diagnostic {
        self.blank();
        self.source.syntax(self.rest, what)
    }

    fn expect(&mut self, mark: &'static str) -> Result<(), Diagnostic> {
        if self.has(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    /// The text up to one of `stops` outside all brackets.
    fn balanced(&mut self, stops: &[u8]) -> Result<&'t str, Diagnostic> {
        self.blank();
        let Some(length) = balanced(self.rest, stops).filter(|&length| length < self.rest.len()) else {
            let begin = &self.rest[..token(self.rest).map_or(0, |(_, token)| token.len())];
            let error = self.source.error(begin, "a bracket without its partner from here on");
            return Err(error.with_code(Code::Syntax.name()));
        };
        let (found, rest) = self.rest.split_at(length);
        self.rest = rest;
        Ok(found.trim_end())
    }

    fn read_aliases(&mut self) -> Result<(), Diagnostic> {
        while let Some(name) = self.find(|text| alt((marked('!'), marked('#'))).parse(text)) {
            self.expect("=")?;
            let body = self.balanced(b"\n")?;
            if self.aliases.insert(name, body).is_some() {
                return Err(self.source.error(name, format!("a second alias `{name}`")));
            }
        }
        Ok(())
    }

    fn operation(&mut self, depth: usize) -> Result<Operation<'t>, Diagnostic> {
        if depth > DEEPEST {
            self.blank();
            let message = format!("regions are nested deeper than {DEEPEST}");
            return Err(self.source.error(&self.rest[..0], message));
        }
        let mut names = Vec::new();
        while let Some(name) = self.find(marked('%')) {
            let count = self.find(|text| preceded(char(':'), digit1).parse(text));
            let count = count.map_or(Ok(1), str::parse).ok().filter(|count| (1..=1024).contains(count));
            let count = count.ok_or_else(|| self.source.error(name, "invalid number of results"))?;
            names.push((name, count));
            if !self.has(",") {
                self.expect("=")?;
            }
        }
        let Some(quoted) = self.find(string) else {
            let error = self.expected("an operation in quotes");
            return Err(error.with_help("print the generic form: heir-opt --mlir-print-op-generic"));
        };
        let name = &quoted[1..quoted.len() - 1];
        let operands = self.operands()?;
        if self.has("[") {
            return Err(self.source.error(quoted, format!("`{name}` branches to a block")));
        }
        let mut attributes = BTreeMap::new();
        if self.has("<{") {
            self.attributes(&mut attributes)?;
            self.expect(">")?;
        }
        let mut regions = Vec::new();
        if self.has("(") {
            loop {
                self.expect("{")?;
                regions.push(self.region(depth)?);
                if !self.has(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        if self.has("{") {
            self.attributes(&mut attributes)?;
        }
        self.expect(":")?;
        let operand_types = self.types()?;
        self.expect("->")?;
        let result_types = self.types()?;
        if self.has("loc(") {
            self.balanced(b")")?;
            self.expect(")")?;
        }
        for (what, found, count) in [
            ("operands", operand_types.len(), operands.len()),
            ("results", result_types.len(), count(&names)),
        ] {
            if found != count {
                let message = format!("`{name}` has {count} {what}, and {found} types for them");
                return Err(self.source.error(quoted, message));
            }
        }
        for (operand, is) in operands.iter().zip(&operand_types) {
            let defined = self.types[operand.value as usize];
            if defined != *is
                && self.aliases.get(defined).unwrap_or(&defined) != self.aliases.get(is).unwrap_or(is)
            {
                let message = format!(
                    "`{}` is a `{}`, and `{name}` takes a `{}`",
                    operand.name,
                    shown(defined),
                    shown(is)
                );
                return Err(self.source.error(is, message));
            }
        }
        let (mut results, mut types) = (Vec::new(), &result_types[..]);
        for (name, count) in names {
            let (own, others) = types.split_at(count as usize);
            results.extend(self.define(name, own)?);
            types = others;
        }
        Ok(Operation {
            name,
            known: (self.find)(name),
            is_dead: false,
            operands,
            results,
            attributes,
            regions,
            operand_types,
            result_types,
        })
    }

    /// Numbers the values of a name, which have these types.
    fn define(&mut self, name: &'t str, types: &[&'t str]) -> Result<Vec<ValueId>, Diagnostic> {
        let first = self.types.len();
        self.types.extend(types);
        let ids: Vec<ValueId> = (first..self.types.len()).map(|id| id as ValueId).collect();
        if self.scopes.last_mut().expect("a scope").insert(name, ids.clone()).is_some() {
            return Err(self.source.error(name, format!("a second value `{name}`")));
        }
        Ok(ids)
    }

    fn operands(&mut self) -> Result<Vec<Operand<'t>>, Diagnostic> {
        self.expect("(")?;
        let mut operands = Vec::new();
        while !self.has(")") {
            let Some(name) = self.find(marked('%')) else { return Err(self.expected("a value, or `)`")) };
            let index = match self.rest.strip_prefix('#') {
                Some(_) => self.find(|text| preceded(char('#'), digit1).parse(text)).map(str::parse),
                None => Some(Ok(0_usize)),
            };
            let known = self.scopes.iter().rev().find_map(|scope| scope.get(name));
            let value = known.zip(index.and_then(Result::ok)).and_then(|(ids, index)| ids.get(index));
            let Some(&value) = value else {
                return Err(self.source.error(name, format!("unknown value `{name}`")));
            };
            operands.push(Operand { value, is_last: false, name });
            if !self.has(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(operands)
    }

    /// Adds the attributes up to `}`, which is read too.
    fn attributes(&mut self, attributes: &mut BTreeMap<&'t str, &'t str>) -> Result<(), Diagnostic> {
        let text = self.balanced(b"}")?;
        self.expect("}")?;
        let Some(found) = assignments(text) else {
            let message = "invalid attributes, or one of them twice";
            return Err(self.source.error(text, message).with_code(Code::Syntax.name()));
        };
        for (key, value) in found {
            if attributes.insert(key, value).is_some() {
                return Err(self.source.error(key, format!("a second attribute `{key}`")));
            }
        }
        Ok(())
    }

    /// The types of operands or results, of which one may be without parentheses.
    fn types(&mut self) -> Result<Vec<&'t str>, Diagnostic> {
        if !self.has("(") {
            let text = self.balanced(b"\n\r")?;
            let length = text.find(" loc(").unwrap_or(text.len());
            // A region may end in the same line.
            let length = balanced(&text[..length], b"}").unwrap_or(length);
            let (found, _) = text.split_at(length);
            self.rest = &self.rest_from(found)[found.len()..];
            return Ok(vec![found.trim_end()]);
        }
        let text = self.balanced(b")")?;
        self.expect(")")?;
        parts(text).ok_or_else(|| self.source.error(text, "invalid types").with_code(Code::Syntax.name()))
    }

    /// The text from a part of it on.
    fn rest_from(&self, part: &str) -> &'t str {
        &self.source.text[self.source.text.offset(part)..]
    }

    fn region(&mut self, depth: usize) -> Result<Block<'t>, Diagnostic> {
        self.scopes.push(BTreeMap::new());
        let mut block = Block::default();
        if self.find(marked('^')).is_some() {
            if self.has("(") {
                loop {
                    let Some(name) = self.find(marked('%')) else {
                        return Err(self.expected("an argument of the block"));
                    };
                    self.expect(":")?;
                    let is = self.balanced(b",)")?;
                    let is = is[..is.find(" loc(").unwrap_or(is.len())].trim_end();
                    block.arguments.extend(self.define(name, &[is])?);
                    if !self.has(",") {
                        break;
                    }
                }
                self.expect(")")?;
            }
            self.expect(":")?;
        }
        while !self.has("}") {
            if let Some(label) = self.find(marked('^')) {
                return Err(self.source.error(label, format!("a second block `{label}` of a region")));
            }
            let operation = self.operation(depth + 1)?;
            if let Some(end) = block.operations.last().filter(|last| ENDS.contains(&last.name)) {
                let message = format!("`{}` behind `{}`, the end of its block", operation.name, end.name);
                return Err(self.source.error(operation.name, message));
            }
            block.operations.push(operation);
        }
        self.scopes.pop();
        Ok(block)
    }
}

fn count(names: &[(&str, u32)]) -> usize {
    names.iter().map(|&(_, count)| count as usize).sum()
}

/// Marks the last uses of values, and operations whose results nobody reads. `live` has the values that are
/// read after the block, and gains those that the block reads.
fn mark_last(block: &mut Block<'_>, live: &mut BTreeSet<ValueId>) {
    for operation in block.operations.iter_mut().rev() {
        if operation.name == "scf.if" {
            // One of the branches runs.
            let after = live.clone();
            for branch in &mut operation.regions {
                let mut inside = after.clone();
                mark_last(branch, &mut inside);
                live.extend(inside);
            }
        } else {
            // A body runs again and again, so that values from outside stay.
            for body in &mut operation.regions {
                let mut captured = BTreeSet::new();
                collect_captured(body, &mut BTreeSet::new(), &mut captured);
                mark_last(body, &mut captured.clone());
                live.extend(captured);
            }
        }
        let is_read = |result: &ValueId| live.contains(result);
        // A call on numbers only, such as a call of a layout function, has no effect.
        let is_clear_call =
            operation.name == "func.call" && operation.operand_types.iter().all(|is| !is.contains('!'));
        let is_pure = is_clear_call || operation.known.is_some_and(|known| known.is_pure);
        operation.is_dead = is_pure && !operation.results.iter().any(is_read);
        if operation.is_dead {
            continue;
        }
        for operand in operation.operands.iter_mut().rev() {
            operand.is_last = live.insert(operand.value);
        }
    }
}

/// Collects what a block reads and does not define.
fn collect_captured(block: &Block<'_>, defined: &mut BTreeSet<ValueId>, captured: &mut BTreeSet<ValueId>) {
    defined.extend(&block.arguments);
    for operation in &block.operations {
        captured.extend(
            operation.operands.iter().map(|operand| operand.value).filter(|value| !defined.contains(value)),
        );
        operation.regions.iter().for_each(|region| collect_captured(region, defined, captured));
        defined.extend(&operation.results);
    }
}

impl<'t> Operation<'t> {
    /// The error that this reader has no such operation.
    pub(super) fn unknown(&self, source: &Source<'_>, known: &[&'static str]) -> Diagnostic {
        let error = source.error(self.name, format!("unknown operation `{}`", self.name));
        let near = diagnostic::nearest(self.name, known.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        error.with_help(format!("{near}read are operations on ciphertexts of HEIR {RELEASE}"))
    }
}
