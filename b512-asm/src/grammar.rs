//! The grammar of `.b512` text: from source to statements with unresolved names.
//!
//! A statement is one line; only the words of an image span several, between braces. A line that
//! does not parse becomes a diagnostic, and parsing continues with the next line.

use crate::c_text::directives;
use crate::code::Code;
use crate::expression::{Expr, SettingText, expr, setting};
use crate::isa::Op;
use crate::lex::{
    Fault, Parsed, expect, fault, first_token, is_blank, is_token, name, number, number_value, span_in,
    token, ws,
};
use crate::program::Role;
use crate::space::Space;
use diagnostic::{Diagnostics, nearest};
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_till};
use nom::character::complete::char;
use nom::combinator::{consumed, eof, not, opt, peek, value};
use nom::multi::{many0, separated_list0, separated_list1};
use nom::sequence::{preceded, terminated};

/// A statement with its source text, for the spans of later errors.
#[derive(Debug)]
pub(crate) struct Statement<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: Kind<'a>,
}

#[derive(Debug)]
pub(crate) enum Kind<'a> {
    Kernel {
        name: &'a str,
    },
    Isa {
        settings: Vec<(&'a str, (&'a str, u128))>,
    },
    Symbol {
        role: Role,
        name: &'a str,
        words: Expr<'a>,
        space: Space,
        at: Option<Expr<'a>>,
    },
    Words {
        at: Expr<'a>,
        space: Option<Space>,
        block: &'a str,
        words: Vec<u128>,
        /// The places of words that are expressions: they are zeros in `words`.
        expressions: Vec<(usize, Expr<'a>)>,
    },
    Constant {
        name: &'a str,
        value: Expr<'a>,
    },
    Modulus {
        register: &'a str,
        value: Expr<'a>,
    },
    Address {
        register: &'a str,
        at: Expr<'a>,
    },
    Computes {
        outputs: Vec<&'a str>,
        expressions: Vec<Expr<'a>>,
        settings: Vec<SettingText<'a>>,
    },
    Instruction {
        mnemonic: &'a str,
        operands: Vec<&'a str>,
    },
    /// The instructions up to the end of the repetition, for each value of a counter from 0 on.
    Repeat {
        counter: &'a str,
        count: Expr<'a>,
    },
    End,
}

/// The directives without a [`Role`].
const DIRECTIVES: [&str; 9] =
    ["kernel", "isa", "const", "words", "modulus", "address", "computes", "repeat", "end"];

/// The statements of a source that parse.
#[derive(Debug, Default)]
pub(crate) struct Parse<'a> {
    pub(crate) statements: Vec<Statement<'a>>,
    /// The lines that did not parse.
    pub(crate) lost: Vec<&'a str>,
}

/// Parses a whole source.
pub(crate) fn parse<'a>(source: &'a str, diagnostics: &mut Diagnostics) -> Parse<'a> {
    let mut parse = Parse::default();
    let mut rest = skip_space(source);
    while !rest.is_empty() {
        let (line, next) = code_of_line(rest);
        let mut after = next;
        let is_directive = line.starts_with('.');
        let result = if let Some(semicolon) = line.find(';') {
            let fault = Fault::new(Code::Syntax, &line[semicolon..][..1], "`;` has no meaning here");
            Err(fault.help("an instruction or directive ends with its line; comments begin with `//` or `#`"))
        } else if is_directive {
            directive(line, rest, &mut after, source, diagnostics)
        } else {
            instruction(line)
        };
        match result {
            Ok(kind) => {
                let text = line.trim_end();
                parse.statements.push(Statement { text, kind });
            }
            Err(fault) => {
                parse.lost.push(line);
                diagnostics.push(fault.into_diagnostic(source));
            }
        }
        rest = skip_space(after);
    }
    parse
}

/// Parses the directives in the comments of a C text.
pub(crate) fn parse_comments<'a>(source: &'a str, diagnostics: &mut Diagnostics) -> Parse<'a> {
    let mut parse = Parse::default();
    for comment in directives(source) {
        let (line, mut after) = code_of_line(comment);
        let kind = directive(line, comment, &mut after, source, diagnostics);
        match kind.and_then(|kind| of_comment(kind, line)) {
            Ok(kind) => parse.statements.push(Statement { text: line, kind }),
            Err(fault) => {
                parse.lost.push(line);
                diagnostics.push(fault.into_diagnostic(source));
            }
        }
    }
    parse
}

/// Refuses a directive of instructions: a comment has none.
fn of_comment<'a>(kind: Kind<'a>, line: &'a str) -> Result<Kind<'a>, Fault<'a>> {
    if !matches!(kind, Kind::Repeat { .. } | Kind::End) {
        return Ok(kind);
    }
    let fault = Fault::new(Code::Syntax, line, "a repetition has no calls of C");
    Err(fault.help("write the calls of each round: a C compiler ignores comments"))
}

/// Splits off the first line. Returns its text without the comment, and the rest of the source.
fn code_of_line(input: &str) -> (&str, &str) {
    let end = input.find('\n').unwrap_or(input.len());
    let (line, rest) = input.split_at(end);
    let comment = line.find("//").into_iter().chain(line.find('#')).min();
    (line[..comment.unwrap_or(line.len())].trim_end(), rest)
}

/// Skips blanks, empty lines and comments.
pub(crate) fn skip_space(mut input: &str) -> &str {
    loop {
        input = input.trim_start();
        if !(input.starts_with("//") || input.starts_with('#')) {
            return input;
        }
        input = &input[input.find('\n').unwrap_or(input.len())..];
    }
}

/// Refuses an operator like a sign: in ` +3`, it may begin another word or go on with this one.
fn signed(text: &str) -> Option<Fault<'_>> {
    let is_sign = |&(at, _): &(usize, &str)| {
        text[..at].ends_with(is_blank) && !text[at + 1..].starts_with(|c| is_blank(c) || c == '\n')
    };
    let (at, operator) = text.match_indices(['+', '-', '*', '^']).find(is_sign)?;
    let end = text[at + 1..].find(|c| !is_token(c)).map_or(text.len(), |length| at + 1 + length);
    let (left, signed, right) = (text[..at].trim_end(), &text[at..end], &text[at + 1..end]);
    let fault = Fault::new(Code::Number, signed, format!("`{signed}` is no word of its own"));
    let left = &left[left.rfind(|c| !is_token(c)).map_or(0, |index| index + 1)..];
    Some(fault.help(format!("write `{left} {operator} {right}` for one word; words have no signs")))
}

/// Runs `parser` over the whole of `line`.
fn whole<'a, O>(line: &'a str, mut parser: impl FnMut(&'a str) -> Parsed<'a, O>) -> Result<O, Fault<'a>> {
    let (rest, output) = parser(line).map_err(fault)?;
    match rest.is_empty() {
        true => Ok(output),
        false => Err(Fault::new(Code::Syntax, first_token(rest), "expected the end of the line")
            .help("each instruction or directive has its own line; comments begin with `//` or `#`")),
    }
}

fn instruction(line: &str) -> Result<Kind<'_>, Fault<'_>> {
    whole(line, |line| {
        let (rest, mnemonic) = expect("an instruction, a directive or a comment", ws(token)).parse(line)?;
        let operand = take_till(|c| c == ',').map(str::trim);
        let (rest, mut operands) = separated_list0(char(','), operand).parse(rest)?;
        if operands == [""] {
            operands.clear();
        }
        Ok((rest, Kind::Instruction { mnemonic, operands }))
    })
}

/// Parses a directive. `line` is its first line; `input` begins with it. `after` is the text after
/// the directive; it advances if the directive has several lines.
fn directive<'a>(
    line: &'a str,
    input: &'a str,
    after: &mut &'a str,
    source: &'a str,
    diagnostics: &mut Diagnostics,
) -> Result<Kind<'a>, Fault<'a>> {
    let word_length = line[1..].find(|c| !is_token(c)).map_or(line.len(), |i| i + 1);
    let (word, arguments) = line.split_at(word_length);
    let arguments = arguments.trim_start_matches(is_blank);
    if let Some(role) = Role::ALL.into_iter().find(|role| role.name() == &word[1..]) {
        return whole(arguments, |input| symbol(role, input));
    }
    match &word[1..] {
        "kernel" => whole(arguments, |input| {
            let (rest, name) = expect("the kernel's name", ws(name))(input)?;
            Ok((rest, Kind::Kernel { name }))
        }),
        "isa" => whole(arguments, isa),
        "modulus" => whole(arguments, |input| {
            let (rest, register) = expect("a modulus register", ws(token))(input)?;
            let (rest, value) = preceded(comma, expect("the modulus", expr)).parse(rest)?;
            Ok((rest, Kind::Modulus { register, value }))
        }),
        "const" => whole(arguments, |input| {
            let (rest, name) = expect("the constant's name", ws(name))(input)?;
            let (rest, value) =
                preceded(expect("`=`", ws(char('='))), expect("a number", expr)).parse(rest)?;
            Ok((rest, Kind::Constant { name, value }))
        }),
        "repeat" => whole(arguments, |input| {
            let (rest, counter) = expect("the counter's name", ws(name))(input)?;
            let (rest, count) = preceded(comma, expect("the number of repetitions", expr)).parse(rest)?;
            Ok((rest, Kind::Repeat { counter, count }))
        }),
        "end" => whole(arguments, |input| Ok((input, Kind::End))),
        "address" => whole(arguments, |input| {
            let (rest, register) = expect("an address register", ws(token))(input)?;
            let (rest, at) = preceded(comma, address).parse(rest)?;
            Ok((rest, Kind::Address { register, at }))
        }),
        "computes" => whole(arguments, computes),
        "words" => {
            let result = words_header(arguments);
            let brace = line.find('{').map(|i| &input[i..]);
            let (block_end, words) = match brace {
                Some(open) => block(open, source, diagnostics),
                None => (*after, Ok((Vec::new(), Vec::new()))),
            };
            *after = block_end;
            let (_, (at, space)) = result.map_err(fault)?;
            let open = brace.unwrap_or_default();
            let block = &open[..open.len() - block_end.len()];
            let (words, expressions) = words?;
            let (behind, next) = code_of_line(block_end);
            *after = next;
            whole(behind.trim_start_matches(is_blank), |input| Ok((input, ())))?;
            Ok(Kind::Words { at, space, block, words, expressions })
        }
        other => {
            let directives = DIRECTIVES.into_iter().chain(Role::ALL.into_iter().map(Role::name));
            let fault = Fault::new(Code::UnknownDirective, word, format!("unknown directive `{word}`"));
            Err(match nearest(other, directives) {
                Some(near) => fault.help(format!("did you mean `.{near}`?")),
                None => fault.help("the directives are `.kernel`, `.isa`, `.const`, `.input`, `.output`, `.table`, `.scratch`, `.words`, `.modulus`, `.address`, `.computes`, `.repeat` and `.end`"),
            })
        }
    }
}

fn comma(input: &str) -> Parsed<'_, char> {
    expect("a comma", ws(char(','))).parse(input)
}

fn space(input: &str) -> Parsed<'_, Space> {
    ws(alt((value(Space::Vdm, tag("vdm")), value(Space::Sdm, tag("sdm"))))).parse(input)
}

/// `NAME, WORDS [, vdm|sdm] [, at ADDRESS]`
fn symbol(role: Role, input: &str) -> Parsed<'_, Kind<'_>> {
    enum Attribute<'a> {
        Space(Space),
        At(Expr<'a>),
    }
    let (rest, name) = expect("the symbol's name", ws(name))(input)?;
    let size = "the number of words";
    let (rest, words) = preceded(comma, expect(size, expr)).parse(rest)?;
    let setting = alt((space.map(Attribute::Space), preceded(ws(tag("at")), address).map(Attribute::At)));
    let setting = expect("`vdm`, `sdm` or `at ADDRESS`", setting);
    let (rest, settings) = many0(preceded(ws(char(',')), setting)).parse(rest)?;
    let (mut memory, mut place) = (None, None);
    for setting in settings {
        let is_second = match setting {
            Attribute::Space(space) => memory.replace(space).is_some(),
            Attribute::At(at) => place.replace(at).is_some(),
        };
        if is_second {
            let fault =
                Fault::new(Code::Duplicate, name, format!("`{name}` has two memories or two addresses"));
            return fault.help("give each once").fail();
        }
    }
    Ok((rest, Kind::Symbol { role, name, words, space: memory.unwrap_or(Space::Vdm), at: place }))
}

/// A word address, see [`expression`](crate::expression).
pub(crate) fn address(input: &str) -> Parsed<'_, Expr<'_>> {
    expect("an address: a number, a symbol, or a symbol + a number", expr)(input)
}

/// `vector_length=1024, word_bits=64`, or only one of them
fn isa(input: &str) -> Parsed<'_, Kind<'_>> {
    let key = alt((tag("vector_length"), tag("word_bits")));
    let key = expect("`vector_length` or `word_bits`", ws(key));
    let value = expect("a number", ws(consumed(number)));
    let setting = (key, preceded(expect("`=`", ws(char('='))), value));
    let (rest, settings) = separated_list1(ws(char(',')), setting).parse(input)?;
    Ok((rest, Kind::Isa { settings }))
}

/// `y = a * b + c, n=1024, modulus=0x..`: outputs, an expression for each, and any settings.
fn computes(input: &str) -> Parsed<'_, Kind<'_>> {
    let outputs = separated_list1(ws(char(',')), expect("an output's name", ws(name)));
    let (rest, outputs) = terminated(outputs, expect("`=`", ws(char('=')))).parse(input)?;
    let another = preceded((ws(char(',')), not(setting)), expect("an expression or a setting", expr));
    let (rest, first) = expect("an expression", expr)(rest)?;
    let (rest, others) = many0(another).parse(rest)?;
    let end = alt((peek(char(',')).map(drop), eof.map(drop)));
    let (rest, ()) = expect("an operator, `,` or the end of the line", end)(rest)?;
    let (rest, settings) = many0(preceded(ws(char(',')), expect("a setting", setting))).parse(rest)?;
    let expressions = std::iter::once(first).chain(others).collect();
    Ok((rest, Kind::Computes { outputs, expressions, settings }))
}

/// `ADDRESS [, vdm|sdm] {`
fn words_header(input: &str) -> Parsed<'_, (Expr<'_>, Option<Space>)> {
    let (rest, at) = address(input)?;
    let (rest, space) = opt(preceded(ws(char(',')), expect("`vdm` or `sdm`", space))).parse(rest)?;
    let (rest, _) = expect("`{`", char('{'))(rest)?;
    Ok((rest, (at, space)))
}

/// Numbers, with zeros for the expressions among them; and these with their places.
type Block<'a> = (Vec<u128>, Vec<(usize, Expr<'a>)>);

/// The words from `{` to `}`. Returns the remaining input.
fn block<'a>(
    open: &'a str,
    source: &'a str,
    diagnostics: &mut Diagnostics,
) -> (&'a str, Result<Block<'a>, Fault<'a>>) {
    let (mut numbers, mut expressions) = (Vec::new(), Vec::new());
    let mut words = BlockWords { rest: &open[1..] };
    while let Some((text, word)) = words.next() {
        numbers.push(match word {
            Ok(Word::Number(number)) => number,
            Ok(Word::Expression(expression)) => {
                expressions.push((numbers.len(), expression));
                0
            }
            Err(_) if is_next_line(text) => {
                return (&open[open.len() - text.len() - words.rest.len()..], unclosed(open));
            }
            Err(fault) => {
                diagnostics.push(fault.into_diagnostic(source));
                0
            }
        });
    }
    match words.rest.strip_prefix('}') {
        Some(rest) => (rest, Ok((numbers, expressions))),
        None => ("", unclosed(open)),
    }
}

/// Whether a token in a block is the beginning of another statement.
fn is_next_line(token: &str) -> bool {
    token.starts_with('.') || Op::from_mnemonic(token).is_some()
}

fn unclosed<'a, O>(open: &'a str) -> Result<O, Fault<'a>> {
    Err(Fault::new(Code::Syntax, &open[..1], "this brace is not closed").help("put `}` after the last word"))
}

/// A word of a block.
pub(crate) enum Word<'a> {
    Number(u128),
    Expression(Expr<'a>),
}

/// The words of a block with their texts, up to its closing brace. Blanks, lines and commas separate them; an
/// operator joins what is on its sides.
pub(crate) struct BlockWords<'a> {
    pub(crate) rest: &'a str,
}

impl<'a> Iterator for BlockWords<'a> {
    type Item = (&'a str, Result<Word<'a>, Fault<'a>>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            // Nearly all separators are single blanks and newlines.
            let blanks = self.rest.bytes().take_while(|b| matches!(b, b' ' | b',' | b'\n')).count();
            self.rest = &self.rest[blanks..];
            match self.rest.as_bytes().first() {
                None | Some(b'}') => return None,
                Some(b) if b.is_ascii_alphanumeric() => break,
                Some(_) => {}
            }
            let skipped = skip_space(self.rest);
            if skipped.len() == self.rest.len() {
                break;
            }
            self.rest = skipped;
        }
        // Every separator lies outside this range of bytes; letters, digits and `_` lie inside.
        let plain = self.rest.bytes().take_while(|b| (b'0'..=b'z').contains(b)).count();
        let end = |c: char| c.is_whitespace() || matches!(c, ',' | '}' | '{' | '#' | '/');
        let length = match self.rest[plain..].find(end) {
            // A character that can neither begin nor end a number is a token of its own.
            Some(0) if plain == 0 => self.rest.chars().next().map_or(0, char::len_utf8),
            Some(more) => plain + more,
            None => self.rest.len(),
        };
        let (token, rest) = self.rest.split_at(length);
        let start = std::mem::replace(&mut self.rest, rest);
        let next = rest.bytes().find(|&byte| !is_blank(byte.into()));
        let is_joined = next.is_some_and(|byte| b"+-*^".contains(&byte));
        match number_value(token) {
            Ok(number) if !is_joined => return Some((token, Ok(Word::Number(number)))),
            Err(fault) if is_next_line(token) => return Some((token, Err(fault))),
            Err(fault) if !token.starts_with(|c| is_token(c) || c == '(') => {
                return Some((token, Err(fault)));
            }
            Ok(_) | Err(_) => {}
        }
        Some(match expr(start) {
            Ok((rest, expression)) => {
                self.rest = rest;
                let text = expression.text;
                (text, signed(text).map_or(Ok(Word::Expression(expression)), Err))
            }
            Err(error) => {
                let fault = fault(error);
                // What is marked is not read again, unless it ends the block.
                let marked = span_in(start, fault.at);
                let next = if fault.at.starts_with('}') { marked.start } else { marked.end };
                self.rest = &start[next.max(length)..];
                (token, Err(fault))
            }
        })
    }
}
