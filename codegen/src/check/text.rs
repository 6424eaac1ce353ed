//! Elements of the domain as formulas: `7 * x[510]`, `x(psi^9)`.

use super::domain::{Domain, Element, Factor, Polynomial, PolynomialId};
use super::rules::is_nowhere;

/// The most terms of a sum that a text shows.
const SHOWN: usize = 4;

/// What a text says of a polynomial.
#[derive(Clone, Copy)]
enum Atom {
    Coefficient(u32),
    /// The value at a power of psi.
    Value(u32),
}

impl Domain {
    /// An element as a formula. A coefficient is `x[3]`, a value `x(psi^9)`. A residue modulo X^h - psi^e has
    /// `(x[j] + psi^e * x[j + h] + ..)`.
    pub(super) fn describe(&self, element: Element) -> String {
        self.sum_text(&self.summands(element))
    }

    /// What differs between two elements: the terms that only one of them has.
    pub(super) fn difference_text(&self, found: Element, claimed: &str, expected: Element) -> String {
        let [left, right] = [found, expected].map(|element| self.summands(element));
        let only = |of: &[Term], other: &[Term]| -> Vec<Term> {
            of.iter().filter(|term| !other.contains(term)).copied().collect()
        };
        let [more, missing] = [only(&left, &right), only(&right, &left)];
        match (more.is_empty(), missing.is_empty()) {
            (true, _) => format!("lacks {}, which {claimed} has", self.sum_text(&missing)),
            (false, true) => format!("has {}, which {claimed} lacks", self.sum_text(&more)),
            (false, false) => {
                format!("has {} where {claimed} has {}", self.sum_text(&more), self.sum_text(&missing))
            }
        }
    }

    /// A known factor.
    pub(super) fn factor_text(factor: Factor) -> String {
        match factor {
            Factor::Root { exponent, scaled: false } => format!("psi^{exponent}"),
            Factor::Root { exponent, scaled: true } => format!("psi^{exponent} / n"),
            Factor::Residue(number) => number_text(number),
        }
    }

    /// The terms of an element, with their factors.
    fn summands(&self, element: Element) -> Vec<Term> {
        let parts = self.mixture(element).map_or_else(|| vec![element], |parts| parts.to_vec());
        let terms = parts.into_iter().flat_map(|part| {
            let terms = self.terms(part.polynomial).into_iter();
            terms.map(move |(polynomial, factor)| (Element { polynomial, ..part }, factor))
        });
        terms.collect()
    }

    fn sum_text(&self, terms: &[Term]) -> String {
        let texts = terms.iter().take(SHOWN).map(|&(element, factor)| {
            // The factor closest to zero is the shortest.
            let negative = self.modulus_of(element.polynomial).neg(factor);
            let (sign, size) = if negative < factor { ('-', negative) } else { ('+', factor) };
            let term = self.term_text(element);
            (sign, if size == 1 { term } else { times(&number_text(size), &term) })
        });
        let rest = (terms.len() > SHOWN).then(|| ('+', "..".to_owned()));
        sum(texts.chain(rest))
    }

    /// The text of an element whose polynomial is one term.
    fn term_text(&self, element: Element) -> String {
        let Element { polynomial, root, coefficient, twist, log_scale, log_degree } = element;
        if is_nowhere(element) {
            return self.part_text(polynomial, Atom::Coefficient(0));
        }
        let n = self.tower(self.tower_of(polynomial)).n;
        let mut text = if log_degree == 0 {
            self.part_text(polynomial, Atom::Value(root))
        } else if 1 << log_degree == n {
            self.part_text(polynomial, Atom::Coefficient(coefficient))
        } else {
            let second = self.part_text(polynomial, Atom::Coefficient(coefficient + (1 << log_degree)));
            let more = if n >> log_degree > 2 { " + .." } else { "" };
            let first = self.part_text(polynomial, Atom::Coefficient(coefficient));
            format!("({first} + {}{more})", times(&format!("psi^{root}"), &second))
        };
        if twist != 0 {
            text = times(&format!("psi^{twist}"), &text);
        }
        match log_scale {
            0 => text,
            1.. => times(&format!("2^{log_scale}"), &text),
            ..0 => times(&format!("2^({log_scale})"), &text),
        }
    }

    fn part_text(&self, id: PolynomialId, part: Atom) -> String {
        let all = |factors: &[PolynomialId]| {
            let texts: Vec<String> = factors.iter().map(|&factor| self.part_text(factor, part)).collect();
            texts.join(" * ")
        };
        let whole = |name: String| match part {
            Atom::Coefficient(coefficient) => format!("{name}[{coefficient}]"),
            Atom::Value(root) => format!("{name}(psi^{root})"),
        };
        match (self.polynomial(id), part) {
            (Polynomial::Ones, Atom::Coefficient(_)) => "1".to_owned(),
            (Polynomial::Product(factors), Atom::Value(_))
            | (Polynomial::Pointwise(factors), Atom::Coefficient(_)) => all(factors),
            (&Polynomial::Reduced(of), Atom::Coefficient(_)) => {
                let modulus = number_text(self.tower(self.tower_of(id)).modulus);
                format!("({} mod {modulus})", self.part_text(of, part))
            }
            (&Polynomial::Rotated(of, places), Atom::Coefficient(coefficient)) => {
                let n = self.tower(self.tower_of(of)).n;
                self.part_text(of, Atom::Coefficient((coefficient + places) % n))
            }
            (Polynomial::Linear(terms), _) => {
                let texts = terms.iter().take(SHOWN).map(|&(term, factor)| {
                    let term = self.part_text(term, part);
                    ('+', if factor == 1 { term } else { times(&number_text(factor), &term) })
                });
                let rest = (terms.len() > SHOWN).then(|| ('+', "..".to_owned()));
                format!("({})", sum(texts.chain(rest)))
            }
            (Polynomial::Mixture(parts), _) => {
                let parts: Vec<Term> = parts.iter().map(|&part| (part, 1)).collect();
                format!("({})", self.sum_text(&parts))
            }
            (Polynomial::Crossed(parts), _) => {
                let texts: Vec<String> = parts.iter().map(|&part| self.describe(part)).collect();
                texts.join(" * ")
            }
            (
                Polynomial::Input(_)
                | Polynomial::Words(_)
                | Polynomial::Ones
                | Polynomial::Product(_)
                | Polynomial::Pointwise(_)
                | Polynomial::Reduced(_)
                | Polynomial::Rotated(..),
                _,
            ) => whole(self.name(id)),
        }
    }

    /// The name of a polynomial, as claims write it.
    fn name(&self, id: PolynomialId) -> String {
        let list = |factors: &[PolynomialId], separator: &str| {
            let names: Vec<String> = factors.iter().map(|&factor| self.name(factor)).collect();
            names.join(separator)
        };
        match self.polynomial(id) {
            Polynomial::Input(buffer) | Polynomial::Words(buffer) => self.buffer_name(*buffer).to_owned(),
            Polynomial::Ones => "ones".to_owned(),
            Polynomial::Product(factors) => format!("polymul({})", list(factors, ", ")),
            Polynomial::Pointwise(factors) => format!("({})", list(factors, " * ")),
            Polynomial::Reduced(of) => {
                format!("({} mod {})", self.name(*of), number_text(self.tower(self.tower_of(id)).modulus))
            }
            Polynomial::Rotated(of, places) => format!("rotate({}, by={places})", self.name(*of)),
            Polynomial::Linear(terms) => {
                let names: Vec<PolynomialId> = terms.iter().map(|&(term, _)| term).collect();
                format!("({})", list(&names, " + "))
            }
            Polynomial::Mixture(_) | Polynomial::Crossed(_) => self.part_text(id, Atom::Coefficient(0)),
        }
    }
}

/// An element whose polynomial is one term, and its factor.
type Term = (Element, u128);

/// A factor before a term. A product of a number with one is the number.
fn times(factor: &str, term: &str) -> String {
    if term == "1" { factor.to_owned() } else { format!("{factor} * {term}") }
}

/// A number: short ones decimal, as most are written, and longer ones hexadecimal.
fn number_text(number: u128) -> String {
    if number < 1_000_000 { number.to_string() } else { format!("{number:#x}") }
}

/// Terms with their signs.
fn sum(terms: impl Iterator<Item = (char, String)>) -> String {
    let mut text = String::new();
    for (sign, term) in terms {
        match (text.is_empty(), sign) {
            (true, '+') => {}
            (true, _) => text.push('-'),
            (false, _) => text += &format!(" {sign} "),
        }
        text += &term;
    }
    if text.is_empty() { "0".to_owned() } else { text }
}
