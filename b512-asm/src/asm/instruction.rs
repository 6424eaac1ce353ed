//! Instructions and their operands.

use super::Assembler;
use super::address::is_exact;
use crate::code::Code;
use crate::expression::expr;
use crate::grammar;
use crate::isa::{Op, Operand, OperandKind, OperandSpec};
use crate::lex::{Fault, is_blank};
use crate::operand::{
    offset_space, operand_count, parse_map, parse_mode, parse_register, prefix, quoted, register, syntax,
};
use crate::reg::{AddressMode, Offset, REGISTERS};
use crate::space::Space;

impl<'a> Assembler<'a> {
    /// Adds an instruction. Returns false if it has an error.
    pub(super) fn instruction(&mut self, text: &'a str, mnemonic: &'a str, operands: &[&'a str]) -> bool {
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
                let mode = text.find(is_blank).map(|end| text[end..].trim_start_matches(is_blank));
                let is_mode = |mode: &&str| MODES.contains(&mode.split(is_blank).next().unwrap_or_default());
                let mode = mode.filter(is_mode);
                return Err(Fault::new(Code::OperandKind, text, message).help(match mode {
                    Some(mode) => format!("put a comma before `{mode}`"),
                    None => "an offset is a number of words, a symbol, or a symbol + a number".to_owned(),
                }));
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
}

/// The words with which an addressing mode begins.
const MODES: [&str; 4] = ["linear", "strided", "skip", "repeated"];

/// Whether other instruction sets have a branch of this name.
fn is_branch(mnemonic: &str) -> bool {
    let branches = [
        "b", "beq", "bge", "bgt", "ble", "blt", "bne", "bnz", "br", "bz", "call", "for", "goto", "j", "jal",
        "jmp", "jnz", "jump", "jz", "loop", "ret",
    ];
    branches.contains(&mnemonic)
}
