//! The operands of an instruction in text.

use super::token::{Span, text, trim};
use crate::code::Code;
use crate::fault::Fault;
use crate::part::{Name, Part};
use crate::{Builder, ConstantIndex, Limb, LimbId, ModulusIndex};
use diagnostic::number;

/// The operands of one line, split but not read.
pub(super) struct Operands<'t> {
    line: &'t [u8],
    /// The whole instruction.
    instruction: Span,
    opcode: &'t str,
    positional: [Span; 3],
    count: usize,
    named: [Option<Span>; Name::ALL.len()],
}

/// An operand that cannot be split: its position and the fault.
pub(super) struct Misplaced(pub(super) Span, pub(super) Fault);

impl<'t> Operands<'t> {
    /// Splits the operands in `rest`, at commas.
    pub(super) fn split(
        line: &'t [u8],
        instruction: Span,
        opcode: &'t str,
        rest: Span,
    ) -> Result<Self, Misplaced> {
        let mut operands = Self {
            line,
            instruction,
            opcode,
            positional: Default::default(),
            count: 0,
            named: Default::default(),
        };
        let mut start = rest.start;
        while start < rest.end {
            let length = line[start..rest.end].iter().position(|&byte| byte == b',');
            let end = length.map_or(rest.end, |length| start + length);
            operands.add(trim(line, start..end))?;
            start = end + 1;
            if length.is_some() && start >= rest.end {
                return Err(Misplaced(
                    end..start,
                    Fault::new(Part::Operation, "expected an operand after `,`"),
                ));
            }
        }
        Ok(operands)
    }

    fn add(&mut self, operand: Span) -> Result<(), Misplaced> {
        let bytes = &self.line[operand.clone()];
        let fault = |message: String| Misplaced(operand.clone(), Fault::new(Part::Operation, message));
        if bytes.is_empty() {
            return Err(fault("expected an operand before `,`".into()));
        }
        if let Some(blank) = bytes.iter().position(|&byte| super::token::is_blank(byte)) {
            let blank = operand.start + blank;
            let fault = Fault::new(Part::Operation, "expected `,` between operands");
            return Err(Misplaced(blank..blank + 1, fault));
        }
        let Some(equals) = bytes.iter().position(|&byte| byte == b'=') else {
            if self.named.iter().any(Option::is_some) {
                return Err(fault(format!("operand `{}` without a name after one with a name", text(bytes))));
            }
            let Some(slot) = self.positional.get_mut(self.count) else {
                return Err(fault(format!("too many operands for `{}`", self.opcode)));
            };
            *slot = operand;
            self.count += 1;
            return Ok(());
        };
        let name = &bytes[..equals];
        let Some(slot) = Name::ALL.iter().position(|known| known.text().as_bytes() == name) else {
            let names = Name::ALL.map(|name| format!("`{}`", name.text())).join(", ");
            let fault = Fault::new(Part::Operation, format!("unknown operand `{}`", text(name)));
            let span = operand.start..operand.start + equals;
            return Err(Misplaced(span, fault.help(format!("operands with names are {names}"))));
        };
        if self.named[slot].is_some() {
            return Err(fault(format!("duplicate operand `{}`", text(name))));
        }
        self.named[slot] = Some(operand.start + equals + 1..operand.end);
        Ok(())
    }

    /// The bytes of a part, or of the whole instruction if the part is missing.
    pub(super) fn span(&self, part: Part) -> Span {
        let slot = match part {
            Part::Operation | Part::Argument(_) | Part::Result(_) => None,
            Part::Destination => Some(0),
            Part::First => Some(1),
            Part::Second | Part::Scalar => Some(2),
            Part::Named(name) => {
                return self.named[name as usize].clone().unwrap_or_else(|| self.instruction.clone());
            }
        };
        slot.filter(|&slot| slot < self.count)
            .map_or_else(|| self.instruction.clone(), |slot| self.positional[slot].clone())
    }

    fn bytes(&self, part: Part) -> &'t [u8] {
        &self.line[self.span(part)]
    }

    /// Checks that the number of operands and their names are as in `syntax`.
    pub(super) fn expect(&self, count: usize, names: &[Name], syntax: &str) -> Result<(), Fault> {
        let help = || format!("write `{} {syntax}`", self.opcode);
        if self.count != count {
            let message =
                format!("`{}` has {count} operands without a name, found {}", self.opcode, self.count);
            return Err(Fault::new(Part::Operation, message).help(help()));
        }
        for name in Name::ALL {
            if self.named[name as usize].is_some() && !names.contains(&name) {
                let message = format!("`{}` has no operand `{}`", self.opcode, name.text());
                return Err(Fault::new(Part::Named(name), message).code(Code::Operands).help(help()));
            }
        }
        Ok(())
    }

    /// The value of an operand, if it is there.
    fn value(&self, part: Part) -> Result<u128, Fault> {
        let bytes = self.bytes(part);
        number(bytes)
            .map_err(|reason| Fault::new(part, format!("invalid number `{}`: {reason}", text(bytes))))
    }

    fn optional(&self, name: Name) -> Result<Option<u128>, Fault> {
        self.named[name as usize].as_ref().map(|_| self.value(Part::Named(name))).transpose()
    }

    fn required(&self, name: Name) -> Result<u128, Fault> {
        self.optional(name)?.ok_or_else(|| {
            let message = format!("`{}` needs an operand `{}=`", self.opcode, name.text());
            Fault::new(Part::Operation, message)
        })
    }

    /// The id of a limb.
    pub(super) fn id(&self, part: Part) -> Result<LimbId, Fault> {
        limb_id(self.bytes(part), part)
    }

    /// A limb.
    pub(super) fn limb(&self, part: Part, builder: &mut Builder) -> Result<Limb, Fault> {
        Ok(builder.limb(self.id(part)?))
    }

    /// The number.
    pub(super) fn scalar(&self, builder: &mut Builder) -> Result<ConstantIndex, Fault> {
        Ok(builder.constant(self.value(Part::Scalar)?))
    }

    /// Whether the number is zero.
    pub(super) fn scalar_is_zero(&self) -> bool {
        self.count == 3 && number(self.bytes(Part::Scalar)) == Ok(0)
    }

    /// Whether the index of the modulus is the sentinel's.
    pub(super) fn is_without_modulus(&self) -> bool {
        self.named[Name::Modulus as usize].is_some()
            && number(self.bytes(Part::Named(Name::Modulus))) == Ok(0)
    }

    /// The modulus; `None` for the sentinel. A number beyond the table is a modulus itself.
    pub(super) fn optional_modulus(&self, builder: &Builder) -> Result<Option<ModulusIndex>, Fault> {
        let index = self.required(Name::Modulus)?;
        if index == 0 {
            return Ok(None);
        }
        let moduli = builder.program().moduli();
        let known = u64::try_from(index).ok().and_then(|index| moduli.index(index));
        known.or_else(|| moduli.find(index)).map(Some).ok_or_else(|| {
            let message = format!("the modulus index {index} is beyond the table");
            let help = format!("the last modulus is m[{}]", moduli.len());
            Fault::new(Part::Named(Name::Modulus), message).help(help)
        })
    }

    /// The modulus of an operation that only moves words: without a word, it is the sentinel.
    pub(super) fn modulus_of_moves(&self, builder: &Builder) -> Result<Option<ModulusIndex>, Fault> {
        match self.named[Name::Modulus as usize] {
            None => Ok(None),
            Some(_) => self.optional_modulus(builder),
        }
    }

    /// The modulus, not the sentinel.
    pub(super) fn modulus(&self, builder: &Builder) -> Result<ModulusIndex, Fault> {
        self.optional_modulus(builder)?.ok_or_else(|| {
            let message = format!("`{}` needs a modulus, but m=0 means no modulus", self.opcode);
            Fault::new(Part::Named(Name::Modulus), message)
                .help("m=0 is for copies (`sr_addps` of 0), zero (`sr_mulps` by 0) and `sr_automorph_eval`")
        })
    }

    /// The root of unity; `None` if it is missing or 0.
    pub(super) fn root(&self, builder: &mut Builder) -> Result<Option<ConstantIndex>, Fault> {
        let root = self.optional(Name::Root)?.filter(|&root| root != 0);
        Ok(root.map(|root| builder.constant(root)))
    }

    /// An operand of at most 32 bits.
    pub(super) fn small(&self, name: Name) -> Result<u32, Fault> {
        let value = self.required(name)?;
        u32::try_from(value).map_err(|_| {
            Fault::new(Part::Named(name), format!("invalid `{}`: {value} is too large", name.text()))
        })
    }

    /// Checks a redundant operand, if it is present. `meaning` says what it must be.
    pub(super) fn redundant(&self, name: Name, meaning: &str, expected: u64) -> Result<(), Fault> {
        match self.optional(name)? {
            Some(value) if value != u128::from(expected) => {
                let message = format!("`{}` is {value}, but {meaning} is {expected}", name.text());
                Err(Fault::new(Part::Named(name), message).help("does the program have another ring degree?"))
            }
            _ => Ok(()),
        }
    }
}

/// The id of the limb in a text, which is a part of a line.
pub(super) fn limb_id(bytes: &[u8], part: Part) -> Result<LimbId, Fault> {
    let fault = |reason: &str| {
        Fault::new(part, format!("invalid limb `{}`: {reason}", text(bytes)))
            .help("a limb is `%` and a decimal number of at most 64 bits")
    };
    let Some((b'%', digits)) = bytes.split_first() else { return Err(fault("no `%`")) };
    if digits.starts_with(b"0x") || digits.starts_with(b"0X") {
        return Err(fault("not a decimal number"));
    }
    let id = number(digits).map_err(fault)?;
    u64::try_from(id).map(LimbId).map_err(|_| fault("more than 64 bits"))
}
