//! The TOML form of a parameter set.

use super::ParameterSet;
use diagnostic::{Diagnostic, Span};
use ring::prime::largest_primes;
use ring::{Basis, Degree, Ring};
use ring_program::{Builder, InvalidDegree};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    n: Spanned<u64>,
    q: Spanned<Vec<Spanned<Entry>>>,
    p: Spanned<Vec<Spanned<Entry>>>,
    digits: Spanned<usize>,
    plaintext_modulus: Option<Spanned<u64>>,
    #[serde(default)]
    roots: Vec<Spanned<String>>,
    #[serde(default)]
    sources: toml::Table,
}

/// One modulus, or the largest primes of a size.
#[derive(Clone, Copy)]
enum Entry {
    Modulus(u128),
    Primes { bits: u32, count: usize },
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Primes {
            bits: u32,
            count: usize,
        }

        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Entry;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a modulus in quotes, or { bits = BITS, count = COUNT }")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Entry, E> {
                number(text).map(Entry::Modulus).ok_or_else(|| E::custom(format!("invalid number `{text}`")))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entry, A::Error> {
                let Primes { bits, count } =
                    Primes::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
                Ok(Entry::Primes { bits, count })
            }
        }

        deserializer.deserialize_any(Either)
    }
}

/// A decimal number, or a hexadecimal one after `0x`, of at most 128 bits.
fn number(text: &str) -> Option<u128> {
    match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The text of a file, for errors in it.
struct Source<'t> {
    file: &'t str,
    text: &'t str,
}

impl Source<'_> {
    fn error(&self, span: Span, message: impl ToString) -> Diagnostic {
        Diagnostic::new(message.to_string()).at(self.file, self.text, span)
    }
}

pub(super) fn parse(name: &str, file: &str, text: &str, n: Option<u64>) -> Result<ParameterSet, Diagnostic> {
    let source = Source { file, text };
    let document: Document = toml::from_str(text)
        .map_err(|error| source.error(error.span().unwrap_or(0..text.len()), error.message()))?;
    let degree = source.degree(&document.n, n)?;
    let (q, p) = source.moduli(&document, degree)?;
    let levels = q.len();
    source.check_digits(&document.digits, levels)?;
    let rings = source.rings(&document, degree, [q, p].concat())?;
    let plaintext_modulus = document.plaintext_modulus.as_ref();
    let plaintext_modulus = plaintext_modulus.map(|t| source.plaintext_modulus(t, &rings)).transpose()?;
    let basis = Basis::new(rings).map_err(|error| source.error(document.q.span(), error))?;
    Ok(ParameterSet {
        name: name.to_owned(),
        basis,
        levels,
        digits: *document.digits.get_ref(),
        plaintext_modulus,
        states_roots: !document.roots.is_empty(),
        sources: sources(&document.sources),
    })
}

/// The sources in the order of the keys above.
fn sources(table: &toml::Table) -> Vec<(String, String)> {
    let text = |key: &str| Some((key.to_owned(), table.get(key)?.as_str()?.to_owned()));
    ["n", "q", "p", "digits", "plaintext_modulus", "roots"].into_iter().filter_map(text).collect()
}

impl Source<'_> {
    fn degree(&self, stated: &Spanned<u64>, n: Option<u64>) -> Result<Degree, Diagnostic> {
        let (value, place) = match n {
            Some(n) => (n, None),
            None => (*stated.get_ref(), Some(stated.span())),
        };
        let invalid = InvalidDegree(value).to_string();
        let invalid = || match place.clone() {
            Some(span) => self.error(span, &invalid),
            None => Diagnostic::new(&invalid).in_file("--n"),
        };
        Builder::new(value).map_err(|_| invalid())?;
        Degree::new(value).map_err(|_| invalid())
    }

    /// The moduli q and p, with their places.
    fn moduli(&self, document: &Document, degree: Degree) -> Result<(Places, Places), Diagnostic> {
        let mut known: BTreeMap<u32, std::vec::IntoIter<u128>> = BTreeMap::new();
        let lists = [&document.p, &document.q];
        let mut totals: BTreeMap<u32, (usize, Span)> = BTreeMap::new();
        for entry in lists.iter().flat_map(|list| list.get_ref()) {
            if let Entry::Primes { bits, count } = *entry.get_ref() {
                let total = totals.entry(bits).or_insert((0, entry.span()));
                *total = (total.0.saturating_add(count), entry.span());
            }
        }
        for (bits, (count, span)) in totals {
            if count > usize::from(u16::MAX) {
                return Err(self.error(span, format!("{count} moduli of {bits} bits are too many")));
            }
            let primes = largest_primes(bits, degree, count).map_err(|error| self.error(span, error))?;
            known.insert(bits, primes.into_iter());
        }
        let [p, q] = lists.map(|list| {
            let mut moduli = Places::new();
            for entry in list.get_ref() {
                match *entry.get_ref() {
                    Entry::Modulus(modulus) => moduli.push((modulus, entry.span())),
                    Entry::Primes { bits, count } => {
                        let primes = known.entry(bits).or_default().take(count);
                        moduli.extend(primes.map(|prime| (prime, entry.span())));
                    }
                }
            }
            moduli
        });
        for (list, moduli, name) in [(&document.q, &q, "q"), (&document.p, &p, "p")] {
            if moduli.is_empty() {
                return Err(self.error(list.span(), format!("`{name}` needs at least one modulus")));
            }
        }
        Ok((q, p))
    }

    fn check_digits(&self, digits: &Spanned<usize>, levels: usize) -> Result<(), Diagnostic> {
        let count = *digits.get_ref();
        let fits = |count: usize| count >= 1 && levels > levels.div_ceil(count) * (count - 1);
        if fits(count) {
            return Ok(());
        }
        let size = levels.div_ceil(count.max(1));
        let message = match count {
            0 => "a key needs at least one digit".to_owned(),
            _ => format!(
                "{levels} moduli do not divide into {count} digits: {} digits of {size} moduli have all of them",
                levels.div_ceil(size)
            ),
        };
        let allowed: Vec<String> =
            (1..=levels).filter(|&count| fits(count)).map(|count| count.to_string()).collect();
        Err(self.error(digits.span(), message).with_help(format!("choose one of {}", allowed.join(", "))))
    }

    /// The rings of all moduli, in order.
    fn rings(&self, document: &Document, degree: Degree, moduli: Places) -> Result<Vec<Ring>, Diagnostic> {
        let roots = &document.roots;
        if !roots.is_empty() && roots.len() != moduli.len() {
            let message =
                format!("{} roots are given, but q and p have {} moduli", roots.len(), moduli.len());
            return Err(self.error(roots[0].span(), message));
        }
        for (place, (modulus, span)) in moduli.iter().enumerate() {
            if moduli[..place].iter().any(|(other, _)| other == modulus) {
                let message = format!("duplicate modulus {modulus:#x}: moduli must be coprime");
                return Err(self.error(span.clone(), message));
            }
        }
        let ring = |(place, (modulus, span)): (usize, (u128, Span))| match roots.get(place) {
            None => Ring::with_smallest_root(degree, modulus).map_err(|error| self.error(span, error)),
            Some(root) => {
                let value = number(root.get_ref());
                let value = value
                    .ok_or_else(|| self.error(root.span(), format!("invalid number `{}`", root.get_ref())))?;
                Ring::with_root(degree, modulus, value).map_err(|error| self.error(root.span(), error))
            }
        };
        moduli.into_iter().enumerate().map(ring).collect()
    }

    fn plaintext_modulus(&self, t: &Spanned<u64>, rings: &[Ring]) -> Result<u128, Diagnostic> {
        let value = u128::from(*t.get_ref());
        if value < 2 {
            return Err(
                self.error(t.span(), format!("invalid plaintext modulus {value}: it must be above 1"))
            );
        }
        match rings.iter().find(|ring| ring.modulus().inverse(value % ring.q()).is_none()) {
            None => Ok(value),
            Some(ring) => {
                let message =
                    format!("the plaintext modulus {value} is a multiple of the modulus {:#x}", ring.q());
                Err(self.error(t.span(), message))
            }
        }
    }
}

/// Moduli and their places in the text.
type Places = Vec<(u128, Span)>;
