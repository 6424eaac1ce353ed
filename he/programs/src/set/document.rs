//! The TOML form of a parameter set.

use super::{ParameterSet, log2};
use crate::security::{self, Security};
use diagnostic::document::{Document, Format, Schema};
use diagnostic::{Code, Diagnostic, Diagnostics, Span, counted};
use num_bigint::BigUint;
use ring::prime::largest_primes;
use ring::{Basis, Degree, Ring};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use toml::Spanned;

/// The schema of parameter sets.
pub(super) static SCHEMA: LazyLock<Schema> =
    LazyLock::new(|| Schema::new(Format::Set, include_str!("../../schema/set.json")));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    n: Spanned<u64>,
    q: Spanned<Vec<Spanned<Entry>>>,
    p: Spanned<Vec<Spanned<Entry>>>,
    digits: Spanned<usize>,
    plaintext_modulus: Option<Spanned<u64>>,
    #[serde(default)]
    roots: Vec<Spanned<String>>,
    hamming_weight: Option<Spanned<u64>>,
    /// The schema allows `none` only.
    security: Option<String>,
    #[serde(default)]
    sources: toml::Table,
}

/// One modulus, or the largest primes of a size.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Modulus(String),
    Primes { bits: u32, count: usize },
}

/// A decimal number, or a hexadecimal one after `0x`, of at most 128 bits.
fn number(text: &str) -> Option<u128> {
    match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A parameter set's document, with the errors that refer to it.
struct SetDocument<'t>(Document<'t>);

pub(super) fn parse(name: &str, file: &str, text: &str, n: Option<u64>) -> Result<ParameterSet, Diagnostics> {
    let source = SetDocument(Document::toml(file, text)?);
    SCHEMA.check(&source.0)?;
    let contents: Contents = source.0.read()?;
    let mut errors = Diagnostics::default();
    let degree = errors.keep(source.degree(&contents.n, n));
    let moduli = degree.and_then(|degree| errors.keep(source.moduli(&contents, degree)));
    if let Some((q, _)) = &moduli {
        errors.keep(source.check_digits(&contents.digits, q.len()));
    }
    let rings = degree.zip(moduli).and_then(|(degree, (q, p))| {
        Some((q.len(), errors.keep(source.rings(&contents, degree, [q, p].concat()))?))
    });
    let rings = errors.in_order().or(rings)?;
    let (levels, rings) = rings.expect("moduli without errors have rings");
    let plaintext_modulus = contents.plaintext_modulus.as_ref();
    let plaintext_modulus = plaintext_modulus.map(|t| source.plaintext_modulus(t, &rings)).transpose()?;
    let basis = Basis::new(rings)
        .map_err(|error| source.error(Code::Contradiction, contents.q.span(), error.to_string()))?;
    let mut errors = Diagnostics::default();
    let moduli = basis.moduli();
    let (q, p) = moduli.split_at(levels);
    errors.keep(source.check_special(&contents, q, p));
    let security = errors.keep(source.security(&contents, basis.degree(), n, log2(&moduli)));
    let security = errors.in_order().or(security)?.expect("a set without errors has a class");
    Ok(ParameterSet {
        name: name.to_owned(),
        basis,
        levels,
        digits: *contents.digits.get_ref(),
        plaintext_modulus,
        states_roots: !contents.roots.is_empty(),
        hamming_weight: contents.hamming_weight.as_ref().map(|weight| *weight.get_ref()),
        security,
        sources: sources(&contents.sources),
    })
}

/// The sources in the order of the keys above.
fn sources(table: &toml::Table) -> Vec<(String, String)> {
    let text = |key: &str| Some((key.to_owned(), table.get(key)?.as_str()?.to_owned()));
    ["n", "q", "p", "digits", "plaintext_modulus", "roots", "hamming_weight", "security"]
        .into_iter()
        .filter_map(text)
        .collect()
}

impl SetDocument<'_> {
    fn error(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        self.0.error(code, span, message)
    }

    fn degree(&self, stated: &Spanned<u64>, n: Option<u64>) -> Result<Degree, Diagnostic> {
        let value = n.unwrap_or(*stated.get_ref());
        Degree::new(value).map_err(|error| match n {
            None => self.error(Code::Value, stated.span(), error.to_string()),
            Some(_) => Diagnostic::new(error.to_string()).with_code(Code::Value.name()).in_file("--n"),
        })
    }

    /// The moduli q and p, with their spans.
    fn moduli(
        &self,
        contents: &Contents,
        degree: Degree,
    ) -> Result<(LocatedModuli, LocatedModuli), Diagnostics> {
        let mut errors = Diagnostics::default();
        let lists = [&contents.p, &contents.q];
        let mut totals: BTreeMap<u32, (usize, Span)> = BTreeMap::new();
        for entry in lists.iter().flat_map(|list| list.get_ref()) {
            if let Entry::Primes { bits, count } = *entry.get_ref() {
                let total = totals.entry(bits).or_insert((0, entry.span()));
                *total = (total.0.saturating_add(count), entry.span());
            }
        }
        let mut known: BTreeMap<u32, std::vec::IntoIter<u128>> = BTreeMap::new();
        for (bits, (count, span)) in totals {
            if let Some(primes) = errors.keep(self.primes(bits, count, degree, span)) {
                known.insert(bits, primes.into_iter());
            }
        }
        let [p, q] = lists.map(|list| {
            let mut moduli = LocatedModuli::new();
            for entry in list.get_ref() {
                match entry.get_ref() {
                    Entry::Modulus(text) => {
                        let modulus = errors.keep(self.number(text, entry.span()));
                        moduli.extend(modulus.map(|modulus| (modulus, entry.span())));
                    }
                    Entry::Primes { bits, count } => {
                        let primes = known.entry(*bits).or_default().take(*count);
                        moduli.extend(primes.map(|prime| (prime, entry.span())));
                    }
                }
            }
            moduli
        });
        errors.or((q, p))
    }

    fn primes(&self, bits: u32, count: usize, degree: Degree, span: Span) -> Result<Vec<u128>, Diagnostic> {
        if count > usize::from(u16::MAX) {
            let message = format!("{count} moduli of {bits} bits are too many");
            let help = format!("the largest number is {}", u16::MAX);
            return Err(self.error(Code::Value, span, message).with_help(help));
        }
        largest_primes(bits, degree, count).map_err(|error| {
            self.error(Code::Value, span, error.to_string()).with_help("use fewer, or larger ones")
        })
    }

    fn number(&self, text: &str, span: Span) -> Result<u128, Diagnostic> {
        number(text).ok_or_else(|| {
            let help = "write a decimal number, or a hexadecimal one after `0x`, of at most 128 bits";
            self.error(Code::Value, span, format!("invalid number `{text}`")).with_help(help)
        })
    }

    fn check_digits(&self, digits: &Spanned<usize>, levels: usize) -> Result<(), Diagnostic> {
        let count = *digits.get_ref();
        let fits = |count: usize| count >= 1 && levels > levels.div_ceil(count) * (count - 1);
        if fits(count) {
            return Ok(());
        }
        let size = levels.div_ceil(count.max(1));
        let moduli = |number| counted(number, "modulus", "moduli");
        let message = format!(
            "{} cannot be divided into {count} digits: {} of {} have all of them",
            moduli(levels),
            counted(levels.div_ceil(size), "digit", "digits"),
            moduli(size)
        );
        let allowed: Vec<String> =
            (1..=levels).filter(|&count| fits(count)).map(|count| count.to_string()).collect();
        let error = self.error(Code::Contradiction, digits.span(), message);
        Err(error.with_help(format!("choose one of {}", allowed.join(", "))))
    }

    /// The rings of all moduli, in order.
    fn rings(
        &self,
        contents: &Contents,
        degree: Degree,
        moduli: LocatedModuli,
    ) -> Result<Vec<Ring>, Diagnostics> {
        let roots = &contents.roots;
        if !roots.is_empty() && roots.len() != moduli.len() {
            let message =
                format!("{} roots are given, but q and p have {} moduli", roots.len(), moduli.len());
            let error = self.error(Code::Contradiction, roots[0].span(), message);
            return Err(error.with_help("give a root for each modulus of q and p, in order, or none").into());
        }
        let (mut errors, mut rings) = (Diagnostics::default(), Vec::new());
        let mut known = BTreeSet::new();
        for (index, (modulus, span)) in moduli.into_iter().enumerate() {
            if !known.insert(modulus) {
                let message = format!("duplicate modulus {modulus:#x}: moduli must be coprime");
                let error = self.error(Code::Contradiction, span, message);
                errors.push(error.with_help("give each modulus once"));
                continue;
            }
            rings.extend(errors.keep(self.ring(degree, modulus, span, roots.get(index))));
        }
        errors.or(rings)
    }

    fn ring(
        &self,
        degree: Degree,
        modulus: u128,
        span: Span,
        root: Option<&Spanned<String>>,
    ) -> Result<Ring, Diagnostic> {
        let Some(root) = root else {
            return Ring::with_smallest_root(degree, modulus).map_err(|error| {
                let help = format!("use a prime that is 1 mod {}", 2 * degree.get());
                self.error(Code::Value, span, error.to_string()).with_help(help)
            });
        };
        let value = self.number(root.get_ref(), root.span())?;
        Ring::with_root(degree, modulus, value).map_err(|error| {
            let help = "leave `roots` out for the smallest roots";
            self.error(Code::Value, root.span(), error.to_string()).with_help(help)
        })
    }

    /// Checks that P, the product of the special moduli, is at least as large as every digit.
    fn check_special(&self, contents: &Contents, q: &[u128], p: &[u128]) -> Result<(), Diagnostic> {
        let product =
            |moduli: &[u128]| moduli.iter().map(|&modulus| BigUint::from(modulus)).product::<BigUint>();
        let size = q.len().div_ceil(*contents.digits.get_ref());
        let largest = q.chunks(size).max_by_key(|digit| product(digit)).expect("q has moduli");
        if product(p) >= product(largest) {
            return Ok(());
        }
        let message = format!(
            "the special moduli are too small: log2 P is {:.2}, but log2 of the largest digit is {:.2}",
            log2(p),
            log2(largest)
        );
        let help = "the noise of a key switch would drown the message: give more or larger special moduli, or more digits";
        Err(self.error(Code::Contradiction, contents.p.span(), message).with_help(help))
    }

    /// The class of security of a set whose degree `n` replaces.
    fn security(
        &self,
        contents: &Contents,
        degree: Degree,
        n: Option<u64>,
        log2_qp: f64,
    ) -> Result<Security, Diagnostic> {
        let weight = contents.hamming_weight.as_ref();
        if let Some(weight) = weight.filter(|weight| *weight.get_ref() > degree.get()) {
            let message = format!(
                "a secret of {} coefficients has no Hamming weight {}",
                degree.get(),
                weight.get_ref()
            );
            return Err(self
                .error(Code::Contradiction, weight.span(), message)
                .with_help("choose at most n"));
        }
        if contents.security.is_some() || n.is_some_and(|n| n < *contents.n.get_ref()) {
            return Ok(Security::None);
        }
        match security::class(degree, log2_qp) {
            Some(_) if weight.is_some() => Ok(Security::Unclassified),
            Some(class) => Ok(class),
            None => {
                let n = degree.get();
                let bound = match security::bound(degree) {
                    Some(bound) => format!("beyond {bound}, the bound for n = {n} and 128 bits of security"),
                    None => format!("but the homomorphic encryption standard has no bound for n = {n}"),
                };
                let message = format!("the set is not secure: log2 QP is {log2_qp:.2}, {bound}");
                let help = "use fewer or smaller moduli or a larger n; or say that it is for tests: `security = \"none\"`";
                Err(self.error(Code::Contradiction, contents.q.span(), message).with_help(help))
            }
        }
    }

    fn plaintext_modulus(&self, t: &Spanned<u64>, rings: &[Ring]) -> Result<u128, Diagnostic> {
        let value = u128::from(*t.get_ref());
        match rings.iter().find(|ring| ring.modulus().inverse(value % ring.q()).is_none()) {
            None => Ok(value),
            Some(ring) => {
                let message =
                    format!("the plaintext modulus {value} is a multiple of the modulus {:#x}", ring.q());
                let error = self.error(Code::Contradiction, t.span(), message);
                Err(error.with_help("choose it coprime to all moduli, such as 65537"))
            }
        }
    }
}

/// Moduli and their spans in the text.
type LocatedModuli = Vec<(u128, Span)>;
