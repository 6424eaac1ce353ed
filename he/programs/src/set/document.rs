//! The TOML form of a parameter set.

use super::contents::{BootstrapTable, Contents, Entry, LevelEntry};
use super::primes::alternating_primes;
use super::variation::{Variation, resized_special};
use super::{ParameterSet, log2};
use crate::base::{Levels, Tower};
use crate::bootstrap::{Bootstrap, Fault, Steps};
use crate::security::{self, Security};
use diagnostic::document::{Document, Format, Schema};
use diagnostic::{Code, Diagnostic, Diagnostics, Span, counted};
use num_bigint::BigUint;
use ring::prime::{largest_primes, nearest_prime};
use ring::{Basis, Degree, Ring};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use toml::Spanned;

/// The schema of parameter sets: the file, with the names of steps.
pub(super) static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let schema = Schema::new(Format::Set, include_str!("../../schema/set.json"));
    let mut root = schema.value().clone();
    root["properties"]["bootstrap"]["properties"]["steps"]["enum"] =
        Steps::ALL.iter().map(|steps| steps.name()).collect();
    Schema::from_value(Format::Set, root)
});

/// The kind of a list of primes: its definition, and its size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The largest primes of so many bits.
    Largest(u32),
    /// The primes next to this power of two, in Lattigo's order.
    Near(u32),
}

impl Entry {
    /// The number of its moduli.
    pub(super) fn count(&self) -> usize {
        self.primes().map_or(1, |(_, count)| count)
    }

    fn primes(&self) -> Option<(Kind, usize)> {
        match *self {
            Self::Modulus(_) => None,
            Self::Primes { bits, count, around: false } => Some((Kind::Largest(bits), count)),
            Self::Primes { bits, count, around: true } => Some((Kind::Near(bits), count)),
        }
    }
}

/// A decimal number, or a hexadecimal one after `0x`, of at most 128 bits.
fn number(text: &str) -> Option<u128> {
    diagnostic::number_with_separators(text).ok()
}

/// A parameter set's document, with the errors that refer to it.
struct SetDocument<'t>(Document<'t>);

pub(super) fn parse(
    (name, file, text): (&str, &str, &str),
    n: Option<u64>,
    variation: Variation,
) -> Result<ParameterSet, Diagnostics> {
    let source = SetDocument(Document::toml(file, text)?);
    SCHEMA.check(&source.0)?;
    let mut contents: Contents = source.0.read()?;
    let mut errors = Diagnostics::default();
    let degree = errors.keep(source.degree(&contents.n, n));
    let has_changed = variation.apply(&mut contents).map_err(|fault| {
        let error = Diagnostic::new(fault.message).with_code(Code::Contradiction.name());
        error.in_file(file).with_help(fault.help)
    })?;
    if let Some(degree) = degree.filter(|_| has_changed) {
        source.fit_special(&mut contents, degree)?;
    }
    let moduli = degree.and_then(|degree| errors.keep(source.moduli(&contents, degree)));
    let mut levels = None;
    if let Some(Moduli { terminal, q, .. }) = &moduli {
        errors.keep(source.check_digits(&contents.digits, terminal.len() + q.len()));
        levels = errors.keep(source.levels(&contents, terminal, q));
    }
    let rings = degree.zip(moduli).and_then(|(degree, Moduli { terminal, q, p })| {
        errors.keep(source.rings(&contents, degree, [terminal, q, p].concat()))
    });
    let rings = errors.in_order().or(rings)?;
    let (levels, rings) = levels.zip(rings).expect("moduli without errors have levels and rings");
    let count = levels.last().map_or(0, Vec::len);
    let plaintext_modulus = contents.plaintext_modulus.as_ref();
    let plaintext_modulus =
        plaintext_modulus.map(|t| source.plaintext_modulus(t, rings.split_at(count))).transpose()?;
    let basis = Basis::new(rings)
        .map_err(|error| source.error(Code::Contradiction, contents.q.span(), error.to_string()))?;
    let mut errors = Diagnostics::default();
    let moduli = basis.moduli();
    let (q, p) = moduli.split_at(count);
    errors.keep(source.check_special(&contents, q, p));
    let security = errors.keep(source.security(&contents, basis.degree(), n, log2(&moduli)));
    let bootstrap = contents.bootstrap.as_ref();
    let degree = basis.degree();
    let bootstrap = bootstrap.and_then(|table| errors.keep(source.bootstrap(table, (degree, levels.len()))));
    let security = errors.in_order().or(security)?.expect("a set without errors has a class");
    let set = ParameterSet {
        name: diagnostic::one_line(name).into_owned(),
        basis,
        terminal: contents.terminal.iter().map(|entry| entry.get_ref().count()).sum(),
        levels,
        digits: *contents.digits.get_ref(),
        plaintext_modulus,
        states_roots: !contents.roots.is_empty(),
        hamming_weight: contents.hamming_weight.as_ref().map(|weight| {
            let (weight, own, n) = (*weight.get_ref(), *contents.n.get_ref(), degree.get());
            if weight > n { weight * n / own } else { weight }
        }),
        bootstrap,
        security,
        sources: sources(&contents.sources),
    };
    if let Some((table, settings)) = contents.bootstrap.as_ref().zip(set.bootstrap()) {
        set.check_messages(settings).map_err(|fault| source.refused(table, fault))?;
    }
    Ok(set)
}

/// The sources in the order of the keys above.
fn sources(table: &toml::Table) -> Vec<(String, String)> {
    let text = |key: &str| Some((key.to_owned(), table.get(key)?.as_str()?.to_owned()));
    [
        "n",
        "q",
        "p",
        "digits",
        "levels",
        "plaintext_modulus",
        "roots",
        "hamming_weight",
        "bootstrap",
        "security",
    ]
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

    /// The moduli, with their spans.
    fn moduli(&self, contents: &Contents, degree: Degree) -> Result<Moduli, Diagnostics> {
        let mut errors = Diagnostics::default();
        let lists = [contents.p.get_ref(), &contents.terminal, contents.q.get_ref()];
        let mut totals: BTreeMap<Kind, (usize, Span)> = BTreeMap::new();
        for entry in lists.into_iter().flatten() {
            if let Some((kind, count)) = entry.get_ref().primes() {
                let total = totals.entry(kind).or_insert((0, entry.span()));
                *total = (total.0.saturating_add(count), entry.span());
            }
        }
        let written = lists.into_iter().flatten().filter(|entry| entry.get_ref().primes().is_none()).count();
        let all: usize = totals.values().fold(written, |all, (count, _)| all.saturating_add(*count));
        if all > MOST_MODULI {
            let message = format!("{all} moduli are too many");
            let span = contents.q.span();
            let help = format!("the largest number is {MOST_MODULI}");
            return Err(self.error(Code::Value, span, message).with_help(help).into());
        }
        let mut known: BTreeMap<Kind, std::vec::IntoIter<u128>> = BTreeMap::new();
        for (kind, (count, span)) in totals {
            if let Some(mut primes) = errors.keep(self.primes(kind, count, degree, span)) {
                // p is read first: it has the largest primes, but those of Lattigo's order that q leaves.
                if let Kind::Near(_) = kind {
                    let of_q = contents.terminal.iter().chain(contents.q.get_ref());
                    let of_q = of_q.filter_map(|entry| entry.get_ref().primes());
                    let count: usize = of_q.filter(|(other, _)| *other == kind).map(|(_, count)| count).sum();
                    primes.rotate_left(count);
                }
                known.insert(kind, primes.into_iter());
            }
        }
        let [p, terminal, q] = lists.map(|list| {
            let mut moduli = LocatedModuli::new();
            for entry in list {
                match entry.get_ref() {
                    Entry::Modulus(text) => {
                        let modulus = errors.keep(self.number(text, entry.span()));
                        moduli.extend(modulus.map(|modulus| (modulus, entry.span())));
                    }
                    Entry::Primes { .. } => {
                        let (kind, count) = entry.get_ref().primes().expect("a list of primes");
                        let primes = known.entry(kind).or_default().take(count);
                        moduli.extend(primes.map(|prime| (prime, entry.span())));
                    }
                }
            }
            moduli
        });
        errors.or(Moduli { terminal, q, p })
    }

    fn primes(&self, kind: Kind, count: usize, degree: Degree, span: Span) -> Result<Vec<u128>, Diagnostic> {
        let help = "use fewer, or larger ones";
        match kind {
            Kind::Largest(bits) => largest_primes(bits, degree, count)
                .map_err(|error| self.error(Code::Value, span, error.to_string()).with_help(help)),
            Kind::Near(bits) => {
                let primes: Vec<u128> = alternating_primes(bits, degree).take(count).collect();
                if primes.len() == count {
                    return Ok(primes);
                }
                let (n, order) = (degree.get(), degree.order());
                let message = format!(
                    "there are {} primes next to 2^{bits} that are 1 mod {order} for n = {n}, not {count}",
                    primes.len()
                );
                let help = "these primes are within half a bit of the power: use fewer, or larger ones";
                Err(self.error(Code::Value, span, message).with_help(help))
            }
        }
    }

    /// The moduli of each level. Without a word, each level has one modulus more than that below.
    fn levels(
        &self,
        contents: &Contents,
        terminal: &[(u128, Span)],
        q: &[(u128, Span)],
    ) -> Result<Levels, Diagnostics> {
        let Some(stated) = &contents.levels else {
            if let Some(entry) = contents.terminal.first() {
                let error = self.error(Code::Contradiction, entry.span(), "terminal moduli without levels");
                return Err(error
                    .with_help("say which levels have them: `levels = [[0, 2], [3, 0]]`")
                    .into());
            }
            return Ok((1..=q.len()).map(|level| (0..level).map(Tower).collect()).collect());
        };
        let (mut errors, mut levels) = (Diagnostics::default(), Vec::<Vec<Tower>>::new());
        let product = |towers: &[Tower]| {
            let moduli = towers.iter().map(|tower| terminal.iter().chain(q).nth(tower.0));
            product(&moduli.flatten().map(|(modulus, _)| *modulus).collect::<Vec<_>>())
        };
        for entry in stated.get_ref() {
            let [of_q, of_terminal] = match *entry.get_ref() {
                LevelEntry::Moduli(count) => [count, 0],
                LevelEntry::WithTerminal(counts) => counts,
            };
            if of_q > q.len() || of_terminal > terminal.len() {
                let message = format!(
                    "a level of {of_q} moduli of q and {of_terminal} terminal ones: there are {} and {}",
                    q.len(),
                    terminal.len()
                );
                let error = self.error(Code::Contradiction, entry.span(), message);
                errors.push(error.with_help("give each level moduli that the set has"));
                continue;
            }
            let of_q = terminal.len()..terminal.len() + of_q;
            let towers: Vec<Tower> = (0..of_terminal).chain(of_q).map(Tower).collect();
            let below = levels.last().map_or(&[][..], |below| below);
            if towers.len() <= below.len() || product(&towers) <= product(below) {
                let error = self.error(
                    Code::Contradiction,
                    entry.span(),
                    format!("level {} has no more moduli than the one below", levels.len() + 1),
                );
                errors.push(error.with_help("give each level more moduli, and a larger product"));
            }
            levels.push(towers);
        }
        let all = terminal.len() + q.len();
        if errors.is_empty() && levels.last().map_or(0, Vec::len) < all {
            let message =
                format!("the highest level lacks some of the {}", counted(all, "modulus", "moduli"));
            let error = self.error(Code::Contradiction, stated.span(), message);
            errors.push(error.with_help("give the highest level all of them: keys have all moduli"));
        }
        errors.or(levels.into())
    }

    /// The parameters of a bootstrap.
    fn bootstrap(
        &self,
        table: &Spanned<BootstrapTable>,
        (degree, levels): (Degree, usize),
    ) -> Result<Bootstrap, Diagnostic> {
        let contents = table.get_ref();
        let bootstrap = Bootstrap {
            scale_bits: *contents.scale_bits.get_ref(),
            message_ratio_bits: *contents.message_ratio_bits.get_ref(),
            coeff_to_slot: contents.coeff_to_slot,
            eval_mod: *contents.eval_mod.get_ref(),
            slot_to_coeff: contents.slot_to_coeff,
            slot_to_coeff_matrices: contents
                .slot_to_coeff_matrices
                .as_ref()
                .map_or(contents.slot_to_coeff, |count| *count.get_ref()),
            normalisation: contents.normalisation,
            range: contents.range,
            degree: *contents.degree.get_ref(),
            double_angles: contents.double_angles,
            arcsine: contents.arcsine.as_ref().map_or(0, |degree| *degree.get_ref()),
            ephemeral_weight: contents.ephemeral_weight.as_ref().map(|weight| *weight.get_ref()),
            steps: Steps::ALL
                .into_iter()
                .find(|steps| steps.name() == contents.steps)
                .expect("the schema allows names only"),
        };
        if !bootstrap.degree.is_multiple_of(2) {
            let message = format!("the polynomial's degree {} is odd", bootstrap.degree);
            let error = self.error(Code::Value, contents.degree.span(), message);
            return Err(error.with_help("the cosine is even: choose an even degree"));
        }
        if let Some(degree) = contents.arcsine.as_ref().filter(|degree| degree.get_ref().is_multiple_of(2)) {
            let message = format!("the arcsine's degree {} is even", degree.get_ref());
            let error = self.error(Code::Value, degree.span(), message);
            return Err(error.with_help("the arcsine is odd: choose an odd degree, or leave it out"));
        }
        let least = bootstrap.least_eval_mod();
        if bootstrap.eval_mod < least {
            let message = format!(
                "EvalMod has {}, but a polynomial of degree {} and {}{} need {least}",
                counted(bootstrap.eval_mod, "level", "levels"),
                bootstrap.degree,
                counted(bootstrap.double_angles as usize, "double angle", "double angles"),
                if bootstrap.arcsine > 0 { " and the arcsine" } else { "" }
            );
            let error = self.error(Code::Contradiction, contents.eval_mod.span(), message);
            return Err(error.with_help(format!("give it {least}, or choose a lower degree")));
        }
        if let Some(count) = &contents.slot_to_coeff_matrices
            && !count.get_ref().is_multiple_of(bootstrap.slot_to_coeff)
        {
            let message = format!(
                "{} of SlotToCoeff cannot share {} evenly",
                counted(*count.get_ref(), "matrix", "matrices"),
                counted(bootstrap.slot_to_coeff, "level", "levels")
            );
            let error = self.error(Code::Contradiction, count.span(), message);
            return Err(error.with_help("choose a multiple of the levels"));
        }
        let stages = degree.get().ilog2() as usize - 1;
        let most = bootstrap.coeff_to_slot.max(bootstrap.slot_to_coeff_matrices);
        if most > stages {
            let message = format!("a transform of {stages} stages cannot have {most} matrices");
            let error = self.error(Code::Contradiction, table.span(), message);
            return Err(error.with_help("give each matrix at least one stage"));
        }
        self.check_weight(contents.ephemeral_weight.as_ref(), degree)?;
        if levels <= bootstrap.depth() {
            let message = format!(
                "the set has no room for its bootstrap: {}, and the bootstrap uses up {}",
                counted(levels, "level", "levels"),
                bootstrap.depth()
            );
            let error = self.error(Code::Contradiction, table.span(), message);
            return Err(error.with_help("give the set at least one level more than the bootstrap uses up"));
        }
        Ok(bootstrap)
    }

    /// The error of a value with which a bootstrap computes nothing.
    fn refused(&self, table: &Spanned<BootstrapTable>, fault: Fault) -> Diagnostic {
        let contents = table.get_ref();
        let span = match fault.key {
            "scale_bits" => contents.scale_bits.span(),
            "message_ratio_bits" => contents.message_ratio_bits.span(),
            _ => table.span(),
        };
        self.error(Code::Contradiction, span, fault.message).with_help(fault.help)
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
                let error = self.error(Code::Value, span, error.to_string());
                match nearest_prime(modulus, degree) {
                    Some(prime) => error
                        .with_help(format!("the nearest prime that is 1 mod {} is {prime}", degree.order())),
                    None => error,
                }
            });
        };
        let value = self.number(root.get_ref(), root.span())?;
        Ring::with_root(degree, modulus, value).map_err(|error| {
            let help = "leave `roots` out for the smallest roots";
            self.error(Code::Value, root.span(), error.to_string()).with_help(help)
        })
    }

    /// Gives P the fewest moduli whose product is at least as large as every digit.
    fn fit_special(&self, contents: &mut Contents, degree: Degree) -> Result<(), Diagnostics> {
        let own = contents.p.get_ref().clone();
        for p in (1..).map_while(|count| resized_special(&own, count)) {
            *contents.p.get_mut() = p;
            let Moduli { terminal, q, p } = self.moduli(contents, degree)?;
            let [q, p] = [[terminal, q].concat(), p]
                .map(|moduli| moduli.into_iter().map(|(q, _)| q).collect::<Vec<u128>>());
            if covers(&p, largest_digit(*contents.digits.get_ref(), &q)) {
                break;
            }
        }
        Ok(())
    }

    /// Checks that P, the product of the special moduli, is about as large as every digit: libraries choose
    /// it by its bits, so it may be below a digit of as many bits, and then the noise of a key switch grows
    /// by less than a bit.
    fn check_special(&self, contents: &Contents, q: &[u128], p: &[u128]) -> Result<(), Diagnostic> {
        let largest = largest_digit(*contents.digits.get_ref(), q);
        if covers(p, largest) {
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

    /// Refuses a Hamming weight above the degree.
    fn check_weight(&self, weight: Option<&Spanned<u64>>, degree: Degree) -> Result<(), Diagnostic> {
        let Some(weight) = weight.filter(|weight| *weight.get_ref() > degree.get()) else { return Ok(()) };
        let (n, value) = (degree.get(), weight.get_ref());
        let message = format!("a secret of {n} coefficients has no Hamming weight {value}");
        Err(self.error(Code::Contradiction, weight.span(), message).with_help("choose at most n"))
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
        // With a smaller degree than its own, a secret of more coefficients is as dense as before.
        let is_dense = weight.is_some_and(|weight| weight.get_ref() <= contents.n.get_ref());
        self.check_weight(weight.filter(|_| !is_dense || n.is_none()), degree)?;
        if contents.security.is_some() || n.is_some_and(|n| n < *contents.n.get_ref()) {
            return Ok(Security::None);
        }
        match security::class(degree, log2_qp) {
            Some(_) if weight.is_some_and(|weight| *weight.get_ref() < security::LEAST_WEIGHT) => {
                Ok(Security::None)
            }
            Some(_) if weight.is_some() || !security::is_tabulated(degree) => Ok(Security::Unclassified),
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

    fn plaintext_modulus(&self, t: &Spanned<u64>, (q, p): (&[Ring], &[Ring])) -> Result<u128, Diagnostic> {
        let value = u128::from(*t.get_ref());
        let moduli: Vec<u128> = q.iter().map(Ring::q).collect();
        if product(&moduli) <= value.into() {
            let message =
                format!("the plaintext modulus {value} is not below Q, which is 2^{:.2}", log2(&moduli));
            let error = self.error(Code::Contradiction, t.span(), message);
            return Err(error.with_help("choose a smaller one, such as 65537, or more moduli q"));
        }
        match q.iter().chain(p).find(|ring| ring.modulus().inverse(value % ring.q()).is_none()) {
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

fn product(moduli: &[u128]) -> BigUint {
    moduli.iter().map(|&modulus| BigUint::from(modulus)).product()
}

/// The largest of the digits of q.
fn largest_digit(digits: usize, q: &[u128]) -> &[u128] {
    let size = q.len().div_ceil(digits.max(1)).max(1);
    q.chunks(size).max_by_key(|digit| product(digit)).expect("q has moduli")
}

/// Whether the product P is about as large as a digit: libraries choose it by its bits, so it may be below by
/// less than a bit.
pub(super) fn covers(p: &[u128], digit: &[u128]) -> bool {
    product(p) * 2_u32 > product(digit)
}

/// The most moduli that a set may ask for: their search and their roots take time, and no scheme has as many.
const MOST_MODULI: usize = 1024;

/// The moduli of a set.
struct Moduli {
    terminal: LocatedModuli,
    q: LocatedModuli,
    p: LocatedModuli,
}

/// Moduli and their spans in the text.
type LocatedModuli = Vec<(u128, Span)>;

#[cfg(test)]
mod tests;
