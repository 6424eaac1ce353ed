//! Types and attributes, from their text.

use super::text::{Source, assignments, balanced, parts, shown};
use super::value::{Tensor, Value};
use diagnostic::Diagnostic;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The longest chain of aliases.
const LONGEST: usize = 16;

/// The most elements of a tensor.
pub(super) const MOST_ELEMENTS: usize = 1 << 24;

/// What stands for a number that is known at run time only, in offsets and sizes of slices.
const DYNAMIC: i64 = i64::MIN;

/// A type.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Type {
    /// An index or an integer of at most 64 bits.
    Integer,
    /// `f32`, which rounds, or `f64`.
    Real { single: bool },
    /// A tensor; `None` for a size that is known at run time only.
    Tensor { shape: Vec<Option<usize>>, element: Rc<Type> },
    /// A ciphertext.
    Ciphertext(CiphertextType),
    /// A plaintext, with log2 of its scale.
    Plaintext { scale_bits: u32 },
    /// What holds plaintexts.
    Storage,
    /// Diagonals of a matrix.
    LinearTransform,
    /// A key of the client.
    Key,
}

impl Type {
    /// The sizes of a tensor; `None` if one of them is known at run time only, or if this is no tensor.
    pub(super) fn fixed_shape(&self) -> Option<Vec<usize>> {
        if let Self::Tensor { shape, .. } = self { shape.iter().copied().collect() } else { None }
    }

    /// Whether its numbers have single precision.
    pub(super) fn is_single(&self) -> bool {
        match self {
            Self::Real { single } => *single,
            Self::Tensor { element, .. } => element.is_single(),
            Self::Integer
            | Self::Ciphertext(_)
            | Self::Plaintext { .. }
            | Self::Storage
            | Self::LinearTransform
            | Self::Key => false,
        }
    }
}

/// What the type of a ciphertext says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CiphertextType {
    /// The number of moduli.
    pub(super) level: usize,
    /// log2 of the scale, next to it.
    pub(super) scale_bits: u32,
    /// Two, or three of a product.
    pub(super) components: usize,
}

/// The types and attributes of a file.
#[derive(Debug)]
pub(super) struct Types<'t> {
    pub(super) source: Source<'t>,
    aliases: BTreeMap<&'t str, &'t str>,
    known: RefCell<BTreeMap<&'t str, Rc<Type>>>,
    /// The moduli that the chains of ciphertexts have.
    chain: Vec<u128>,
    /// The degree that all rings have.
    degree: u64,
}

impl<'t> Types<'t> {
    pub(super) fn new(source: Source<'t>, aliases: BTreeMap<&'t str, &'t str>) -> Self {
        Self { source, aliases, known: RefCell::default(), chain: Vec::new(), degree: 0 }
    }

    /// Sets the moduli that the chains of ciphertexts have, and the degree of rings.
    pub(super) fn set_ring(&mut self, chain: Vec<u128>, degree: u64) {
        (self.chain, self.degree) = (chain, degree);
    }

    /// The number of moduli of a ring, which are the first ones of the chain; `None` for real coefficients.
    pub(super) fn ring(&self, text: &'t str) -> Result<Option<usize>, Diagnostic> {
        let list = self.parameters(text, "polynomial.ring")?;
        let polynomial = self.parameter(text, &list, "polynomialModulus")?;
        let degree = polynomial.strip_prefix("<1 + x**").and_then(|rest| rest.strip_suffix('>'));
        if degree.and_then(|degree| degree.parse().ok()) != Some(self.degree) {
            let message = format!(
                "a ring modulo `{}`, and `logN` of `ckks.schemeParam` says 1 + x**{}",
                shown(polynomial),
                self.degree
            );
            return Err(self.error(polynomial, message));
        }
        let coefficients = self.parameter(text, &list, "coefficientType")?;
        let moduli = self.resolve(coefficients)?.strip_prefix("!rns.rns<");
        let Some(moduli) = moduli.and_then(|rest| rest.strip_suffix('>')).and_then(parts) else {
            return Ok(None);
        };
        let count = moduli.len();
        for (index, part) in moduli.into_iter().enumerate() {
            let number = self.resolve(part)?.strip_prefix("!mod_arith.int<");
            let number = number.and_then(|rest| rest.split([':', '>']).next()?.trim().parse().ok());
            if number.is_none() || number != self.chain.get(index).copied() {
                return Err(self.error(part, "a modulus that differs from Q of `ckks.schemeParam`"));
            }
        }
        Ok(Some(count))
    }

    fn error(&self, part: &str, message: impl Into<String>) -> Diagnostic {
        self.source.error(part, message)
    }

    /// What an alias stands for; a text that is none stays.
    fn resolve(&self, text: &'t str) -> Result<&'t str, Diagnostic> {
        let mut now = text;
        for _ in 0..LONGEST {
            let is_alias = now.starts_with(['!', '#']) && !now.contains(['<', '.']);
            match self.aliases.get(now) {
                Some(body) => now = body,
                None if is_alias => return Err(self.error(text, format!("unknown alias `{now}`"))),
                None => return Ok(now),
            }
        }
        Err(self.error(text, format!("the alias `{text}` stands for itself")))
    }

    /// The parameters of `#dialect.name<key = value, ..>` or of `<key = value, ..>`, under its alias or not.
    fn parameters(&self, text: &'t str, name: &str) -> Result<Vec<(&'t str, &'t str)>, Diagnostic> {
        let body = self.resolve(text)?;
        let found = body.trim_start_matches(['!', '#']).strip_prefix(name).unwrap_or(body);
        let list = found.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
        let list = list.and_then(assignments);
        list.ok_or_else(|| self.error(text, format!("expected `{name}<..>`, found `{}`", shown(body))))
    }

    fn parameter(
        &self,
        text: &'t str,
        list: &[(&'t str, &'t str)],
        key: &str,
    ) -> Result<&'t str, Diagnostic> {
        let value = list.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
        value.ok_or_else(|| self.error(text, format!("missing parameter `{key}`")))
    }

    /// A type.
    pub(super) fn get(&self, text: &'t str) -> Result<Rc<Type>, Diagnostic> {
        self.nested(text, 0)
    }

    fn nested(&self, text: &'t str, depth: usize) -> Result<Rc<Type>, Diagnostic> {
        if let Some(known) = self.known.borrow().get(text) {
            return Ok(Rc::clone(known));
        }
        let found = Rc::new(self.read(text, depth)?);
        self.known.borrow_mut().insert(text, Rc::clone(&found));
        Ok(found)
    }

    fn read(&self, text: &'t str, depth: usize) -> Result<Type, Diagnostic> {
        let body = self.resolve(text)?;
        if depth > LONGEST {
            return Err(self.error(text, "a type inside too many others"));
        }
        let name = &body[..body.find('<').unwrap_or(body.len())];
        match name {
            "index" | "i1" | "i8" | "i16" | "i32" | "i64" => Ok(Type::Integer),
            "f32" => Ok(Type::Real { single: true }),
            "f64" => Ok(Type::Real { single: false }),
            "tensor" => self.tensor(body, depth),
            "!lwe.lwe_ciphertext" => self.ciphertext(body).map(Type::Ciphertext),
            "!lwe.lwe_plaintext" => {
                let list = self.parameters(body, "lwe.lwe_plaintext")?;
                let space = self.parameter(body, &list, "plaintext_space")?;
                Ok(Type::Plaintext { scale_bits: self.scale_bits(space)? })
            }
            "!preprocessing.storage" => Ok(Type::Storage),
            "!kernel.prepared_linear_transform" => Ok(Type::LinearTransform),
            "!lwe.lwe_public_key" | "!lwe.lwe_secret_key" => Ok(Type::Key),
            _ => Err(self.error(text, format!("unknown type `{}`", shown(body)))),
        }
    }

    fn tensor(&self, body: &'t str, depth: usize) -> Result<Type, Diagnostic> {
        let wrong = || self.error(body, format!("invalid type `{}`", shown(body)));
        let mut rest =
            body.strip_prefix("tensor<").and_then(|rest| rest.strip_suffix('>')).ok_or_else(wrong)?;
        let mut shape = Vec::new();
        // `8x16x!ct`: a size is digits or `?`, before an `x`.
        while let Some((size, after)) = rest.split_once('x') {
            shape.push(match size {
                "?" => None,
                size => match size.parse::<usize>() {
                    Ok(size) => Some(size),
                    Err(_) => break,
                },
            });
            rest = after;
        }
        let elements = shape.iter().flatten().try_fold(1_usize, |product, &size| product.checked_mul(size));
        if elements.is_none_or(|elements| elements > MOST_ELEMENTS) {
            let message = format!("a tensor of more than {MOST_ELEMENTS} elements");
            return Err(self.error(body, message));
        }
        Ok(Type::Tensor { shape, element: self.nested(rest, depth + 1)? })
    }

    fn ciphertext(&self, body: &'t str) -> Result<CiphertextType, Diagnostic> {
        let list = self.parameters(body, "lwe.lwe_ciphertext")?;
        let scale_bits = self.scale_bits(self.parameter(body, &list, "plaintext_space")?)?;
        let space = self.parameter(body, &list, "ciphertext_space")?;
        let space = self.parameters(space, "lwe.ciphertext_space")?;
        let size = space.iter().find(|(key, _)| *key == "size");
        let components = size.map_or(Ok(2), |(_, size)| self.integer(size))?;
        let chain = self.parameter(body, &list, "modulus_chain")?;
        let chain = self.parameters(chain, "lwe.modulus_chain")?;
        let current = self.integer(self.parameter(body, &chain, "current")?)?;
        let elements = self.parameter(body, &chain, "elements")?;
        let elements = elements.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).and_then(parts);
        let number = |part: &str| part.split(':').next().unwrap_or_default().trim().parse().ok();
        let elements: Option<Vec<u128>> =
            elements.and_then(|elements| elements.into_iter().map(number).collect());
        if elements.as_ref() != Some(&self.chain) {
            return Err(self.error(body, "a modulus chain that differs from Q of `ckks.schemeParam`"));
        }
        let ring = space.iter().find(|(key, _)| *key == "ring").map(|&(_, ring)| ring);
        if let Some((ring, of_ring)) = ring.and_then(|ring| Some((ring, self.ring(ring).transpose()?))) {
            let of_ring = of_ring?;
            if of_ring as i64 != current.saturating_add(1) {
                let message =
                    format!("a ring of {of_ring} moduli, and the modulus {current} of the chain is the last");
                return Err(self.error(ring, message));
            }
        }
        let moduli = self.chain.len();
        match (usize::try_from(current), components) {
            (Ok(current), 2 | 3) if current < moduli => {
                Ok(CiphertextType { level: current + 1, scale_bits, components: components as usize })
            }
            (_, 2 | 3) => Err(self.error(body, format!("no modulus {current} in a chain of {moduli}"))),
            (_, _) => Err(self.error(body, format!("a ciphertext of {components} components"))),
        }
    }

    /// log2 of the scale in a plaintext space.
    fn scale_bits(&self, space: &'t str) -> Result<u32, Diagnostic> {
        let list = self.parameters(space, "lwe.plaintext_space")?;
        if let Some((_, ring)) = list.iter().find(|(key, _)| *key == "ring") {
            self.ring(ring)?;
        }
        self.encoding(self.parameter(space, &list, "encoding")?)
    }

    /// log2 of the scale of an encoding, which is that of CKKS.
    pub(super) fn encoding(&self, text: &'t str) -> Result<u32, Diagnostic> {
        let list = self.parameters(text, "lwe.inverse_canonical_encoding")?;
        let bits = self.integer(self.parameter(text, &list, "scaling_factor")?)?;
        let valid = u32::try_from(bits).ok().filter(|bits| (1..=4096).contains(bits));
        valid.ok_or_else(|| self.error(text, format!("invalid scaling factor {bits}, from 1 to 4096")))
    }

    /// An integer, with its type or not.
    pub(super) fn integer(&self, text: &'t str) -> Result<i64, Diagnostic> {
        let digits = text.split_once(':').map_or(text, |(digits, _)| digits).trim();
        let known = match digits {
            "true" => Some(1),
            "false" => Some(0),
            digits => digits.parse().ok(),
        };
        known.ok_or_else(|| self.error(text, format!("expected an integer, found `{}`", shown(text))))
    }

    /// `array<i64: 1, 2>`.
    pub(super) fn integers(&self, text: &'t str) -> Result<Vec<i64>, Diagnostic> {
        let list = text.strip_prefix("array<").and_then(|rest| rest.strip_suffix('>'));
        let list = list.map(|list| list.split_once(':').map_or("", |(_, list)| list));
        let list = list
            .and_then(parts)
            .ok_or_else(|| self.error(text, format!("expected `array<i64: ..>`, found `{}`", shown(text))))?;
        list.into_iter().map(|part| self.integer(part)).collect()
    }

    /// `[1, 2]` of numbers, of which each may have a type.
    pub(super) fn numbers<T: std::str::FromStr>(&self, text: &'t str) -> Result<Vec<T>, Diagnostic> {
        let wrong = || self.error(text, format!("expected `[..]` of numbers, found `{}`", shown(text)));
        let list = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).and_then(parts);
        let list = list.ok_or_else(wrong)?.into_iter();
        let number = |part: &str| part.split(':').next().unwrap_or_default().trim().parse().ok();
        list.map(|part| number(part).ok_or_else(wrong)).collect()
    }

    /// The parameters of an attribute such as `#ckks.scheme_param<..>`.
    pub(super) fn attribute(
        &self,
        text: &'t str,
        name: &str,
    ) -> Result<impl Fn(&str) -> Result<&'t str, Diagnostic>, Diagnostic> {
        let list = self.parameters(text, name)?;
        Ok(move |key: &str| self.parameter(text, &list, key))
    }

    /// The value of a constant.
    pub(super) fn constant(&self, text: &'t str, is: &'t str) -> Result<Value, Diagnostic> {
        let own = balanced(self.resolve(text)?, b":").and_then(|end| self.resolve(text).ok()?.get(end + 1..));
        if let Some(own) = own.map(str::trim)
            && self.get(own)? != self.get(is)?
        {
            let message =
                format!("a constant of the type `{}`, and its result has `{}`", shown(own), shown(is));
            return Err(self.error(own, message));
        }
        match &*self.get(is)? {
            Type::Integer => self.integer(text).map(Value::Integer),
            Type::Real { .. } => self.real(text).map(|value| Value::Real(Some(value))),
            Type::Tensor { shape, element } => {
                let count = shape.iter().copied().collect::<Option<Vec<usize>>>();
                let shape = count.ok_or_else(|| self.error(is, "a constant without a size"))?;
                self.dense(text, (shape, element))
            }
            Type::Ciphertext(_)
            | Type::Plaintext { .. }
            | Type::Storage
            | Type::LinearTransform
            | Type::Key => Err(self.error(is, "a constant must be a number or a tensor of numbers")),
        }
    }

    fn real(&self, text: &'t str) -> Result<f64, Diagnostic> {
        let digits = text.split_once(':').map_or(text, |(digits, _)| digits).trim();
        let value: Option<f64> = digits.parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| self.error(text, format!("expected a finite number, found `{}`", shown(text))))
    }

    fn scalar(&self, text: &'t str, element: &Type) -> Result<Value, Diagnostic> {
        match element {
            Type::Integer => self.integer(text).map(Value::Integer),
            Type::Real { .. } => self.real(text).map(|value| Value::Real(Some(value))),
            Type::Tensor { .. }
            | Type::Ciphertext(_)
            | Type::Plaintext { .. }
            | Type::Storage
            | Type::LinearTransform
            | Type::Key => Err(self.error(text, "a constant of something else than numbers")),
        }
    }

    /// `dense<..> : tensor<..>`: one value for all, nested lists, or bytes in hexadecimal. A resource is not
    /// in the text.
    fn dense(&self, text: &'t str, (shape, element): (Vec<usize>, &Type)) -> Result<Value, Diagnostic> {
        let body = self.resolve(text)?;
        let count: usize = shape.iter().product();
        if body.starts_with("dense_resource<") {
            let unknown = match element {
                Type::Real { .. } => Value::Real(None),
                _ => return Err(self.error(text, "integers without their values: compile without elision")),
            };
            return Ok(Value::Tensor(Rc::new(Tensor { shape, elements: vec![unknown; count] })));
        }
        let wrong = || self.error(text, format!("expected `dense<..>`, found `{}`", shown(body)));
        let inside = body.strip_prefix("dense").ok_or_else(wrong)?;
        let length = balanced(inside, b":").ok_or_else(wrong)?;
        let inside = inside[..length].trim();
        let inside = inside.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).ok_or_else(wrong)?;
        let bytes = inside.strip_prefix("\"0x").and_then(|rest| rest.strip_suffix('"'));
        let elements = match bytes {
            Some(digits) => self.bytes((text, is_of(text)), digits, (count, element))?,
            None if inside.starts_with('[') => {
                // Brackets show the shape, which the type gives.
                let flat = inside.split([',', '[', ']']).map(str::trim).filter(|part| !part.is_empty());
                flat.map(|part| self.scalar(part, element)).collect::<Result<_, _>>()?
            }
            None if inside.is_empty() => Vec::new(),
            None => vec![self.scalar(inside, element)?; count],
        };
        if elements.len() != count {
            let message = format!("{} elements for a tensor of {count}", elements.len());
            return Err(self.error(text, message));
        }
        Ok(Value::Tensor(Rc::new(Tensor { shape, elements })))
    }

    /// Elements from little-endian bytes; a single element is that of all.
    fn bytes(
        &self,
        (text, is): (&'t str, &str),
        digits: &str,
        (count, element): (usize, &Type),
    ) -> Result<Vec<Value>, Diagnostic> {
        let wrong = |reason: &str| self.error(text, format!("invalid bytes of a constant: {reason}"));
        let bytes: Option<Vec<u8>> = (digits.len().is_multiple_of(2) && digits.is_ascii())
            .then(|| (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok()))
            .and_then(Iterator::collect);
        let bytes = bytes.ok_or_else(|| wrong("not pairs of hexadecimal digits"))?;
        let size = match is {
            "i1" | "i8" => 1,
            "i16" => 2,
            "i32" | "f32" => 4,
            "i64" | "f64" | "index" => 8,
            other => return Err(wrong(&format!("elements of the type `{other}`"))),
        };
        let (words, rest) = (bytes.chunks_exact(size), bytes.len() % size);
        if rest != 0 {
            return Err(wrong("an incomplete element"));
        }
        let value = |word: &[u8]| match (element, size) {
            (Type::Real { .. }, 4) => {
                Value::Real(Some(f32::from_le_bytes(word.try_into().expect("4 bytes")).into()))
            }
            (Type::Real { .. }, _) => {
                Value::Real(Some(f64::from_le_bytes(word.try_into().expect("8 bytes"))))
            }
            (_, _) => {
                let sign = if word[size - 1] > 127 && is != "i1" { 255 } else { 0 };
                let mut whole = [sign; 8];
                whole[..size].copy_from_slice(word);
                Value::Integer(i64::from_le_bytes(whole))
            }
        };
        let values: Vec<Value> = words.map(value).collect();
        let infinite = |value: &Value| matches!(value, Value::Real(Some(value)) if !value.is_finite());
        if values.iter().any(infinite) {
            return Err(wrong("an element that is no finite number"));
        }
        Ok(match &values[..] {
            [one] => vec![one.clone(); count],
            _ => values,
        })
    }
}

/// The type of the elements of `dense<..> : tensor<8xf32>`.
fn is_of(text: &str) -> &str {
    let is = text.rsplit_once(':').map_or("", |(_, is)| is);
    let after = is.rsplit_once('x').or_else(|| is.rsplit_once('<')).map_or("", |(_, after)| after);
    after.trim_end_matches('>')
}

/// Numbers of a list with those that are known at run time only, which `operands` gives.
pub(super) fn with_dynamic(fixed: &[i64], operands: &mut impl Iterator<Item = i64>) -> Option<Vec<usize>> {
    let number = |&number: &i64| match number {
        DYNAMIC => operands.next().and_then(|number| number.try_into().ok()),
        number => number.try_into().ok(),
    };
    fixed.iter().map(number).collect()
}
