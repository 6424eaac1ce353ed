//! Each rule, against the values of its elements on random polynomials.

use super::super::domain::{Domain, Element, Factor, Polynomial, PolynomialId};
use crate::code::{BufferId, Code, Tower, TowerId};
use b512_asm::Role;
use proptest::prelude::*;
use ring::modular::Modulus;

const N: u32 = 8;
const LOG_N: u8 = 3;
/// Moduli with 16th roots of unity.
const MODULI: [u128; 2] = [97, 193];

/// A power of a number that is not a square has the order 2n.
fn root(q: u128) -> u128 {
    let modulus = Modulus::new(q).unwrap();
    let powers = (2..q).map(|base| modulus.pow(base, (q - 1) / u128::from(2 * N)));
    powers.into_iter().find(|&root| modulus.pow(root, N.into()) == q - 1).unwrap()
}

/// Two towers; `x` and `y` of the first one, `z` of the second, and `w` of the first with any words.
struct Fixture {
    domain: Domain,
    towers: [TowerId; 2],
    polynomials: Vec<PolynomialId>,
    /// The words of each buffer.
    words: Vec<Vec<u128>>,
}

impl Fixture {
    fn new(seed: u64, mixes: bool) -> Self {
        let mut code = Code::default();
        let towers = MODULI.map(|modulus| code.tower(Tower { n: N, modulus, root: root(modulus) }));
        let [a, b] = towers;
        let buffers: Vec<BufferId> = [a, a, b, a]
            .into_iter()
            .zip(["x", "y", "z", "w"])
            .map(|(of, name)| code.buffer(name, N, Role::Input, of))
            .collect();
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            u128::from(state >> 33)
        };
        let limits = [MODULI[0], MODULI[0], MODULI[1], 1 << 31];
        let words = limits.map(|limit| (0..N).map(|_| next() % limit).collect()).to_vec();
        let mut domain = Domain::new(&code);
        domain.mixes = mixes;
        let [x, y, z] = [0, 1, 2].map(|buffer: usize| domain.input(buffers[buffer]));
        let any = domain.words(buffers[3]);
        let (ones, product) = (domain.ones(a), domain.product(x, y));
        Self { domain, towers, polynomials: vec![x, y, product, ones, z, any], words }
    }

    fn modulus(&self, polynomial: PolynomialId) -> Modulus {
        *self.domain.modulus_of(polynomial)
    }

    /// The coefficients of a polynomial.
    fn coefficients(&self, id: PolynomialId) -> Vec<u128> {
        let m = self.modulus(id);
        match self.domain.polynomial(id).clone() {
            Polynomial::Input(buffer) | Polynomial::Words(buffer) => self.words[buffer.index()].clone(),
            Polynomial::Ones => vec![1; N as usize],
            Polynomial::Product(factors) => self.folded(&factors, |p, q| {
                let mut product = vec![0; N as usize];
                for (i, &a) in p.iter().enumerate() {
                    for (j, &b) in q.iter().enumerate() {
                        let (at, term) = ((i + j) % N as usize, m.mul(m.residue(a), m.residue(b)));
                        product[at] = if i + j < N as usize {
                            m.add(product[at], term)
                        } else {
                            m.sub(product[at], term)
                        };
                    }
                }
                product
            }),
            Polynomial::Pointwise(factors) => self.folded(&factors, |p, q| {
                p.iter().zip(q).map(|(&a, &b)| m.mul(m.residue(a), m.residue(b))).collect()
            }),
            Polynomial::Reduced(p) => self.coefficients(p).into_iter().map(|word| m.residue(word)).collect(),
            Polynomial::Linear(terms) => terms.iter().fold(vec![0; N as usize], |sum, &(term, factor)| {
                let term = self.coefficients(term);
                sum.iter().zip(term).map(|(&sum, word)| m.add(sum, m.mul(m.residue(word), factor))).collect()
            }),
            Polynomial::Rotated(p, places) => {
                let mut words = self.coefficients(p);
                words.rotate_left(places as usize);
                words
            }
            Polynomial::Mixture(_) | Polynomial::Crossed(_) => unreachable!("no polynomial"),
        }
    }

    fn folded(&self, factors: &[PolynomialId], product: impl Fn(&[u128], &[u128]) -> Vec<u128>) -> Vec<u128> {
        let words = factors.iter().map(|&factor| self.coefficients(factor));
        words.reduce(|p, q| product(&p, &q)).unwrap()
    }

    /// The value of an element: a residue; or any word, if it is the word of a buffer that may have any.
    fn value(&self, u: Element) -> u128 {
        let m = self.modulus(u.polynomial);
        if (u.root, u.log_degree) == (0, 0) {
            return self.domain.terms(u.polynomial).into_iter().fold(0, |sum, (term, factor)| {
                let value = match self.domain.polynomial(term).clone() {
                    Polynomial::Mixture(parts) => {
                        parts.iter().fold(0, |sum, &part| m.add(sum, self.value(part)))
                    }
                    Polynomial::Crossed(parts) => {
                        parts.iter().fold(1, |product, &part| m.mul(product, m.residue(self.value(part))))
                    }
                    polynomial => unreachable!("{polynomial:?}"),
                };
                m.add(sum, m.mul(value, factor))
            });
        }
        let words = self.coefficients(u.polynomial);
        if self.domain.is_words(u.polynomial) && u.log_degree == LOG_N && (u.twist, u.log_scale) == (0, 0) {
            return words[u.coefficient as usize];
        }
        let psi = self.domain.tower(self.domain.tower_of(u.polynomial)).root;
        let of_residue = words.iter().skip(u.coefficient as usize).step_by(1 << u.log_degree);
        let residue = (0..).zip(of_residue).fold(0, |sum, (power, &word): (u128, _)| {
            m.add(sum, m.mul(m.residue(word), m.pow(psi, u128::from(u.root) * power)))
        });
        let scale = m.pow(2, u.log_scale.unsigned_abs().into());
        let scale = if u.log_scale < 0 { m.inverse(scale).unwrap() } else { scale };
        m.mul(m.mul(residue, scale), m.pow(psi, u.twist.into()))
    }

    /// Checks all rules on two elements in a tower.
    fn check(
        &mut self,
        u: Element,
        v: Element,
        tower: TowerId,
        number: u128,
        exponent: u32,
    ) -> Result<(), TestCaseError> {
        let m = *self.domain.modulus(tower);
        let psi = self.domain.tower(tower).root;
        let [x, y] = [u, v].map(|element| self.value(element));
        if let Some([sum, difference]) = self.domain.combine(u, v, tower) {
            prop_assert_eq!(self.value(sum), m.add(x, y), "{:?} + {:?}", u, v);
            prop_assert_eq!(self.value(difference), m.sub(x, y), "{:?} - {:?}", u, v);
        }
        if let Some(product) = self.domain.multiply(u, v, tower) {
            prop_assert_eq!(self.value(product), m.mul(m.residue(x), y), "{:?} times {:?}", u, v);
        }
        if let Some([sum, difference]) = self.domain.offset(u, Factor::Residue(number), tower) {
            prop_assert_eq!(self.value(sum), m.add(x, number), "{:?} + {}", u, number);
            prop_assert_eq!(self.value(difference), m.sub(x, number), "{:?} - {}", u, number);
        }
        let inverse = m.inverse(N.into()).unwrap();
        for (factor, value) in [
            (Factor::Residue(number), number),
            (Factor::Root { exponent, scaled: false }, m.pow(psi, exponent.into())),
            (Factor::Root { exponent, scaled: true }, m.mul(m.pow(psi, exponent.into()), inverse)),
        ] {
            if let Some(product) = self.domain.scale(u, factor, tower) {
                prop_assert_eq!(
                    self.value(product),
                    m.mul(m.residue(x), value),
                    "{:?} times {:?}",
                    u,
                    factor
                );
            }
        }
        Ok(())
    }
}

/// What tells the second element from the first. Most often a rule applies.
#[derive(Clone, Copy, Debug)]
struct Other {
    polynomial: Option<usize>,
    half: bool,
    conjugate: bool,
    twist: u32,
    scale: i16,
    degree: bool,
}

fn other() -> BoxedStrategy<Other> {
    let seldom = || prop::bool::weighted(0.15);
    let twist = prop_oneof![2 => Just(0), 2 => Just(u32::MAX), 1 => 0..2 * N];
    let scale = prop_oneof![4 => Just(0i16), 1 => -2..2i16];
    (prop::option::weighted(0.4, 0usize..6), any::<bool>(), any::<bool>(), twist, scale, seldom())
        .prop_map(|(polynomial, half, conjugate, twist, scale, degree)| Other {
            polynomial,
            half,
            conjugate,
            twist,
            scale,
            degree,
        })
        .boxed()
}

fn second(setting: &Fixture, u: Element, other: Other) -> Element {
    let mut v = u;
    let h = 1 << u.log_degree;
    if let Some(polynomial) = other.polynomial {
        v.polynomial = setting.polynomials[polynomial];
    }
    if other.half {
        v.coefficient = (u.coefficient + h / 2) % h;
    }
    if other.conjugate {
        v.root = (u.root + N) % (2 * N);
    }
    // Half of the root splits.
    let twist = if other.twist == u32::MAX { u.root / 2 } else { other.twist };
    v.twist = (u.twist + twist) % (2 * N);
    v.log_scale += other.scale;
    if other.degree && u.log_degree < LOG_N {
        v.log_degree += 1;
        v.root = 2 * u.root % (2 * N);
    }
    v
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]
    #[test]
    fn rules_keep_values(
        seed in any::<u64>(), mixes in any::<bool>(), polynomial in 0usize..6, log_degree in prop_oneof![2 => Just(LOG_N), 1 => 0..=LOG_N],
        position in any::<u32>(), twist in prop_oneof![1 => Just(0), 1 => 0..2 * N],
        log_scale in prop_oneof![3 => Just(0), 1 => -2..2i16], change in other(), third in other(),
        second_tower in prop::bool::weighted(0.2), number in 0..97u128, exponent in 0..2 * N
    ) {
        let mut setting = Fixture::new(seed, mixes);
        let h = 1 << log_degree;
        // The roots of the factors X^h - psi^e of X^n + 1.
        let root = (h + 2 * h * (position % N)) % (2 * N);
        let polynomial = setting.polynomials[polynomial];
        let u = Element { polynomial, root, coefficient: position / N % h, twist, log_scale, log_degree };
        let [v, w] = [change, third].map(|change| second(&setting, u, change));
        let tower = setting.towers[usize::from(second_tower)];
        setting.check(u, v, tower, number, exponent)?;
        // Of results, too: mixtures are among them.
        let mixtures = [(u, v), (u, w), (v, w)].map(|(a, b)| setting.domain.combine(a, b, tower));
        let results: Vec<Element> = mixtures.into_iter().flatten().flatten().collect();
        for pair in results.windows(2) {
            setting.check(pair[0], pair[1], tower, number, exponent)?;
            setting.check(pair[0], u, tower, number, exponent)?;
        }
    }
}

/// The second residue, modulo X^h + psi^e, may be its negative.
#[test]
fn conjugates_join_in_both_orders() {
    let Fixture { mut domain, polynomials, towers: [tower, _], .. } = Fixture::new(1, false);
    let u = Element {
        polynomial: polynomials[0],
        root: 4,
        coefficient: 1,
        twist: 3,
        log_scale: 0,
        log_degree: 2,
    };
    let v = Element { root: 4 + N, ..u };
    let [sum, difference] = domain.combine(u, v, tower).unwrap();
    assert_eq!((sum.root, sum.coefficient, difference.coefficient), (8, 1, 1 + 4));
    let negative = Element { twist: v.twist + N, ..v };
    assert_eq!(domain.combine(u, negative, tower), Some([difference, sum]));
}

/// Messages contain these texts.
#[test]
fn elements_are_described_by_their_formulas() {
    let Fixture { mut domain, polynomials, .. } = Fixture::new(1, false);
    let [x, y, product] = [0, 1, 2].map(|i: usize| polynomials[i]);
    let coefficient = domain.element(x.coefficients(), 3);
    assert_eq!(domain.describe(coefficient), "x[3]");
    let value = Element { twist: 5, log_scale: -3, ..domain.element(product.evaluations(), 1) };
    assert_eq!(domain.describe(value), "2^(-3) * psi^5 * x(psi^9) * y(psi^9)");

    let twice = domain.multiple(x, 2);
    let minus_three = domain.multiple(y, MODULI[0] - 3);
    let [sum, difference] = [domain.sum(twice, y), domain.difference(x, y)];
    let [factors, negative, zero] =
        [domain.sum(twice, minus_three), domain.negative(x), domain.multiple(x, 0)];
    for (polynomial, name) in [
        (sum, "2 * x[0] + y[0]"),
        (difference, "x[0] - y[0]"),
        (factors, "2 * x[0] - 3 * y[0]"),
        (negative, "-x[0]"),
        (zero, "0"),
    ] {
        let coefficient = domain.element(polynomial.coefficients(), 0);
        assert_eq!(domain.describe(coefficient), name);
    }
}

/// The words of polynomials with rotations are sums and products of coefficients at other places.
#[test]
fn rotations_move_coefficients() {
    let mut setting = Fixture::new(5, true);
    let [x, y] = [0, 1].map(|which| setting.polynomials[which]);
    let domain = &mut setting.domain;
    let [moved, further] = [(y, 3), (x, 21)].map(|(p, places)| domain.rotated(p, places));
    let product = domain.pointwise(x, moved);
    let sum = domain.sum(product, further);
    let three = domain.multiple(moved, 3);
    let square = domain.pointwise(sum, three);
    let again = domain.rotated(square, 2);
    assert_eq!(domain.rotated(moved, u128::from(N) - 3), y);
    for polynomial in [moved, product, sum, square, again] {
        let words = setting.coefficients(polynomial);
        for (word, &expected) in (0..).zip(&words) {
            let element = setting.domain.placed(polynomial, word);
            assert_eq!(setting.value(element), expected, "word {word} of {polynomial:?}");
        }
    }
}
