//! Names, numbers and addresses.

use super::Assembler;
use crate::code::Code;
use crate::expression::{Expr, Meaning};
use crate::lex::Fault;
use crate::operand::quoted;
use crate::program::Symbol;
use crate::space::Space;
use num_bigint::Sign;

/// The distance from which numbers in addresses are all the same.
const FAR: i128 = i128::MAX / 2;

/// A word address: a number, or a symbol's address plus a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address<'a> {
    pub(super) text: &'a str,
    pub(super) symbol: Option<&'a str>,
    /// From `-FAR` to `FAR`: the caller, who knows the range, reports the error.
    pub(super) constant: i128,
}

impl<'a> Assembler<'a> {
    pub(super) fn image_address(
        &self,
        at: &Address<'a>,
        space: Option<Space>,
    ) -> Result<(Space, u32), Fault<'a>> {
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
    pub(super) fn fits_symbol(&self, at: &Address<'a>, words: usize) -> Result<(), Fault<'a>> {
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

    /// The symbol called `name`, a slice of the source.
    pub(super) fn lookup(&self, name: &'a str) -> Result<&Symbol, Fault<'a>> {
        match self.symbols.get(name) {
            Some(&i) => Ok(&self.program.symbols[i]),
            None => {
                let fault = Fault::new(Code::UnknownSymbol, name, format!("unknown symbol `{name}`"));
                let names = self.symbols.keys().chain(self.constants.keys()).copied();
                Err(match self.nearest(name, names) {
                    Some(near) => fault.help(format!("did you mean `{near}`?")),
                    None if name.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                        fault.help(format!("hexadecimal numbers begin with 0x: `0x{name}`"))
                    }
                    None => fault.help(
                        "`.input`, `.output`, `.table` or `.scratch` declares a symbol, `.const` a constant",
                    ),
                })
            }
        }
    }

    /// The meaning of a name.
    pub(super) fn meaning(&self, name: &'a str) -> Result<Meaning, Fault<'a>> {
        match self.constants.get(name) {
            Some(value) => Ok(Meaning::Number(value.clone())),
            None => self.lookup(name).map(|_| Meaning::Address),
        }
    }

    /// The value of an expression as an address.
    pub(super) fn address(&self, expr: &Expr<'a>) -> Result<Address<'a>, Fault<'a>> {
        let value = expr.value(&|name| self.meaning(name))?;
        let far = if value.constant.sign() == Sign::Minus { -FAR } else { FAR };
        let constant = i128::try_from(&value.constant).map_or(far, |number| number.clamp(-FAR, FAR));
        Ok(Address { text: expr.text, symbol: value.symbol, constant })
    }

    /// The value of an expression as a number of up to 128 bits.
    pub(super) fn number(&self, expr: &Expr<'a>) -> Result<u128, Fault<'a>> {
        let value = expr.value(&|name| self.meaning(name))?;
        let text = expr.text.trim_end();
        if let Some(name) = value.symbol {
            return Err(Fault::new(Code::Number, text, format!("`{name}` is an address, not a number")));
        }
        u128::try_from(&value.constant).map_err(|_| {
            let message = format!("{} is not a number of up to 128 bits", value.constant);
            Fault::new(Code::Number, text, message).help("the smallest number is 0, the largest 2^128 - 1")
        })
    }

    pub(super) fn constant(&mut self, name: &'a str, value: &Expr<'a>) -> Result<(), Fault<'a>> {
        self.is_new(name)?;
        let value = self.number(value)?;
        self.constants.insert(name, value.into());
        Ok(())
    }

    /// Rejects the name of another constant, counter or symbol.
    pub(super) fn is_new(&self, name: &'a str) -> Result<(), Fault<'a>> {
        if self.constants.contains_key(name) || self.symbols.contains_key(name) {
            return Err(Fault::new(Code::Duplicate, name, format!("`{name}` is defined twice")));
        }
        Ok(())
    }

    /// The word address that `expr` denotes, possibly outside every memory.
    pub(super) fn value(&self, expr: &Address<'a>) -> Result<i128, Fault<'a>> {
        let base = expr.symbol.map(|name| self.lookup(name)).transpose()?.map_or(0, |symbol| symbol.start);
        Ok(i128::from(base).saturating_add(expr.constant))
    }

    /// Rejects an address in another memory than `user` works on.
    pub(super) fn same_space(&self, expr: &Address<'a>, space: Space, user: &str) -> Result<(), Fault<'a>> {
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
}

/// Whether an address is the value of its expression.
pub(super) fn is_exact(address: i128) -> bool {
    (-FAR..FAR).contains(&address)
}

/// An address in messages: its value, or else the text of its expression.
pub(super) fn shown(address: i128, expr: &Address<'_>) -> String {
    let sign = if address < 0 { "-" } else { "" };
    if is_exact(address) {
        format!("{sign}{:#x}", address.unsigned_abs())
    } else {
        quoted(expr.text.trim_end())
    }
}
