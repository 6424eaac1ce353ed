//! The abstract domain of the lowering proof: elements, and the polynomials to which they belong.

use crate::code::{BufferId, Code, Tower, TowerId};
use crate::number::{Expression, Number, NumberId};
use ring::bits::bit_reverse;
use ring::modular::Modulus;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A polynomial of the domain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct PolynomialId(u32);

/// The words of a polynomial in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Basis {
    /// The coefficients, in order.
    Coefficients,
    /// The transform: word i is the value at psi^(2 bitrev(i) + 1).
    Evaluations,
}

impl PolynomialId {
    /// The words in a buffer, in a basis.
    pub(crate) const fn in_basis(self, basis: Basis) -> Words {
        match basis {
            Basis::Coefficients => self.coefficients(),
            Basis::Evaluations => self.evaluations(),
        }
    }

    /// The coefficients in a buffer, in order.
    pub(crate) const fn coefficients(self) -> Words {
        Words { polynomial: self, form: Form::Coefficients }
    }

    /// The transform in a buffer: word i is the value at psi^(2 bitrev(i) + 1).
    pub(crate) const fn evaluations(self) -> Words {
        Words { polynomial: self, form: Form::Evaluations }
    }

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The content of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Words {
    pub(super) polynomial: PolynomialId,
    form: Form,
}

impl Words {
    /// The polynomial, if the words are those of one in a basis.
    pub(super) fn of_basis(self, basis: Basis) -> Option<PolynomialId> {
        (self == self.polynomial.in_basis(basis)).then_some(self.polynomial)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Coefficients,
    Evaluations,
    /// The coefficients of `polynomial(X^g)`, with the inverse of g modulo 2n.
    MappedCoefficients {
        inverse: u32,
        negative: PolynomialId,
    },
    /// The transform of `polynomial(X^g)`.
    MappedEvaluations {
        g: u32,
    },
}

/// The most terms of a product that is expanded.
const MOST_TERMS: usize = 256;

/// A polynomial over the ring of its tower, modulo X^n + 1.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Polynomial {
    /// The operand in an input buffer.
    Input(BufferId),
    /// The operand in an input buffer with any words. They are integers, not residues.
    Words(BufferId),
    /// The polynomial whose coefficients are all one.
    Ones,
    /// The product of factors, in order.
    Product(Rc<[PolynomialId]>),
    /// The product of factors coefficient by coefficient, in order.
    Pointwise(Rc<[PolynomialId]>),
    /// The polynomial with the coefficients of a polynomial of another tower, taken as integers
    /// from 0 to that tower's modulus less one, or with any words; reduced.
    Reduced(PolynomialId),
    /// A linear combination of other kinds, in their order, with factors from 1 to q - 1.
    Linear(Rc<[(PolynomialId, u128)]>),
    /// The coefficients of a polynomial that is no sum and no product, moved cyclically: word i has the one
    /// of word i + k.
    Rotated(PolynomialId, u32),
    /// Not a polynomial but a sum of elements at several positions, in order.
    Mixture(Rc<[Element]>),
    /// Not a polynomial but a product of coefficients at several positions, in order.
    Crossed(Rc<[Element]>),
}

/// `2^log_scale psi^twist [X^coefficient] (polynomial mod (X^(2^log_degree) - psi^root))`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Element {
    pub(super) polynomial: PolynomialId,
    pub(super) root: u32,
    pub(super) coefficient: u32,
    pub(super) twist: u32,
    pub(super) log_scale: i16,
    pub(super) log_degree: u8,
}

/// A known number, in the form that the rules use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Factor {
    /// psi^exponent, divided by n if `scaled`.
    Root { exponent: u32, scaled: bool },
    /// A residue.
    Residue(u128),
}

/// The polynomials of a proof, each stored once.
pub(crate) struct Domain {
    towers: Vec<Tower>,
    /// The modulus of each tower; `None` if it is invalid.
    moduli: Vec<Option<Modulus>>,
    /// Name and tower of each buffer.
    buffers: Vec<(String, TowerId)>,
    expressions: Vec<Expression>,
    polynomials: Vec<(Polynomial, TowerId)>,
    known: FxHashMap<(Polynomial, TowerId), PolynomialId>,
    /// Sums and differences, which are costly to search for.
    sums: FxHashMap<(PolynomialId, PolynomialId), [PolynomialId; 2]>,
    multiples: FxHashMap<(PolynomialId, u128), PolynomialId>,
    /// Products, and products coefficient by coefficient.
    products: [FxHashMap<(PolynomialId, PolynomialId), PolynomialId>; 2],
    residues: FxHashMap<(NumberId, TowerId), Option<u128>>,
    /// Whether elements at different positions make mixtures: the code exchanges lanes, or claims rotations.
    pub(super) mixes: bool,
}

impl Domain {
    pub(super) fn new(code: &Code) -> Self {
        Self {
            towers: code.towers.clone(),
            moduli: code.towers.iter().map(|tower| Modulus::new(tower.modulus).ok()).collect(),
            buffers: code.buffers.iter().map(|buffer| (buffer.name.clone(), buffer.tower)).collect(),
            expressions: code.expressions.clone(),
            polynomials: Vec::new(),
            known: FxHashMap::default(),
            sums: FxHashMap::default(),
            multiples: FxHashMap::default(),
            products: Default::default(),
            residues: FxHashMap::default(),
            mixes: false,
        }
    }

    /// The operand in an input buffer.
    pub(crate) fn input(&mut self, buffer: BufferId) -> PolynomialId {
        let tower = self.buffers[buffer.index()].1;
        self.intern(Polynomial::Input(buffer), tower)
    }

    /// The operand in an input buffer that may have any words.
    pub(crate) fn words(&mut self, buffer: BufferId) -> PolynomialId {
        let tower = self.buffers[buffer.index()].1;
        self.intern(Polynomial::Words(buffer), tower)
    }

    pub(super) fn is_words(&self, p: PolynomialId) -> bool {
        matches!(self.polynomials[p.index()].0, Polynomial::Words(_))
    }

    /// The coefficients of p(X^g), in order. The code may exchange lanes.
    pub(crate) fn mapped_coefficients(&mut self, p: PolynomialId, g: u32) -> Words {
        self.mixes = true;
        let negative = self.negative(p);
        let order = 2 * self.tower(self.tower_of(p)).n;
        // Newton's iteration modulo 2^32: g is odd.
        let inverse = (0..5).fold(g, |x, _| x.wrapping_mul(2u32.wrapping_sub(g.wrapping_mul(x))));
        Words { polynomial: p, form: Form::MappedCoefficients { inverse: inverse & (order - 1), negative } }
    }

    /// The transform of p(X^g): word i is the value of p at psi^(g (2 bitrev(i) + 1)). The code may
    /// exchange lanes.
    pub(crate) const fn mapped_evaluations(&mut self, p: PolynomialId, g: u32) -> Words {
        self.mixes = true;
        Words { polynomial: p, form: Form::MappedEvaluations { g } }
    }

    /// The coefficients of a polynomial, moved cyclically: word i has the one of word i + places.
    pub(crate) fn rotated(&mut self, p: PolynomialId, places: u128) -> PolynomialId {
        self.mixes = true;
        let (tower, n) = (self.tower_of(p), self.tower(self.tower_of(p)).n);
        let places = (places % u128::from(n)) as u32;
        let terms = self.terms(p).into_iter().map(|(term, factor)| (self.rotated_term(term, places), factor));
        let terms: Vec<(PolynomialId, u128)> = terms.collect();
        let zero = self.linear(Vec::new(), tower);
        terms.into_iter().fold(zero, |sum, (term, factor)| self.combination(sum, term, factor))
    }

    fn rotated_term(&mut self, term: PolynomialId, places: u32) -> PolynomialId {
        let (tower, n) = (self.tower_of(term), self.tower(self.tower_of(term)).n);
        if places == 0 {
            return term;
        }
        match self.polynomials[term.index()].0.clone() {
            Polynomial::Ones => term,
            Polynomial::Rotated(of, before) if (before + places).is_multiple_of(n) => of,
            Polynomial::Rotated(of, before) => {
                self.intern(Polynomial::Rotated(of, (before + places) % n), tower)
            }
            Polynomial::Pointwise(factors) => {
                let factors = factors.iter().map(|&factor| self.rotated_term(factor, places)).collect();
                self.product_of(factors, tower, true)
            }
            Polynomial::Input(_)
            | Polynomial::Words(_)
            | Polynomial::Product(_)
            | Polynomial::Reduced(_)
            | Polynomial::Linear(_)
            | Polynomial::Mixture(_)
            | Polynomial::Crossed(_) => self.intern(Polynomial::Rotated(term, places), tower),
        }
    }

    /// The residues of a polynomial that may have any words in the tower of its buffer; another polynomial
    /// itself.
    pub(crate) fn residues(&mut self, p: PolynomialId) -> PolynomialId {
        if self.is_words(p) { self.reduced(p, self.tower_of(p)) } else { p }
    }

    /// The polynomial whose words in a basis are all this number, if the domain has it.
    pub(super) fn number(&mut self, basis: Basis, number: u128, tower: TowerId) -> Option<PolynomialId> {
        match basis {
            Basis::Coefficients => {
                let ones = self.ones(tower);
                Some(self.multiple(ones, number))
            }
            Basis::Evaluations => None,
        }
    }

    /// The polynomial whose coefficients are all one.
    pub(super) fn ones(&mut self, tower: TowerId) -> PolynomialId {
        self.intern(Polynomial::Ones, tower)
    }

    /// p plus and minus a number, word by word in a basis.
    pub(crate) fn plus_minus(
        &mut self,
        basis: Basis,
        p: PolynomialId,
        number: u128,
    ) -> Option<[PolynomialId; 2]> {
        let number = self.number(basis, number, self.tower_of(p))?;
        Some(self.sum_and_difference(p, number))
    }

    /// -p.
    pub(crate) fn negative(&mut self, p: PolynomialId) -> PolynomialId {
        let minus_one = self.modulus_of(p).neg(1);
        self.multiple(p, minus_one)
    }

    /// p q modulo X^n + 1.
    pub(crate) fn product(&mut self, p: PolynomialId, q: PolynomialId) -> PolynomialId {
        self.expanded(p, q, false)
    }

    /// The product coefficient by coefficient.
    pub(crate) fn pointwise(&mut self, p: PolynomialId, q: PolynomialId) -> PolynomialId {
        self.expanded(p, q, true)
    }

    /// The product word by word, in a basis.
    pub(crate) fn product_in(&mut self, basis: Basis, p: PolynomialId, q: PolynomialId) -> PolynomialId {
        match basis {
            Basis::Coefficients => self.pointwise(p, q),
            Basis::Evaluations => self.product(p, q),
        }
    }

    /// A product as a combination of products, so that the order and the grouping of operations do not
    /// matter.
    fn expanded(&mut self, p: PolynomialId, q: PolynomialId, pointwise: bool) -> PolynomialId {
        let key = (p.min(q), p.max(q));
        if let Some(&known) = self.products[usize::from(pointwise)].get(&key) {
            return known;
        }
        let (tower, modulus) = (self.tower_of(p), *self.modulus_of(p));
        let [left, right] = [p, q].map(|factor| self.terms(factor));
        let result = if left.len() * right.len() > MOST_TERMS {
            self.product_of(vec![p, q], tower, pointwise)
        } else {
            let mut sum = self.linear(Vec::new(), tower);
            for &(u, factor) in &left {
                for &(v, other) in &right {
                    let factors = [u, v].into_iter().flat_map(|term| self.factors(term, pointwise));
                    let term = self.product_of(factors.collect(), tower, pointwise);
                    sum = self.combination(sum, term, modulus.mul(factor, other));
                }
            }
            sum
        };
        self.products[usize::from(pointwise)].insert(key, result);
        result
    }

    /// The product of factors that are no sums.
    fn product_of(
        &mut self,
        mut factors: Vec<PolynomialId>,
        tower: TowerId,
        pointwise: bool,
    ) -> PolynomialId {
        if pointwise {
            // A one changes no product of coefficients.
            let ones = self.ones(tower);
            factors.retain(|&factor| factor != ones);
            if factors.is_empty() {
                return ones;
            }
        }
        factors.sort_unstable();
        match factors[..] {
            [factor] => factor,
            _ if pointwise => self.intern(Polynomial::Pointwise(factors.into()), tower),
            _ => self.intern(Polynomial::Product(factors.into()), tower),
        }
    }

    /// The factors of a product of one kind; other polynomials themselves.
    pub(super) fn factors(&self, p: PolynomialId, pointwise: bool) -> Vec<PolynomialId> {
        match &self.polynomials[p.index()].0 {
            Polynomial::Product(factors) if !pointwise => factors.to_vec(),
            Polynomial::Pointwise(factors) if pointwise => factors.to_vec(),
            Polynomial::Input(_)
            | Polynomial::Words(_)
            | Polynomial::Ones
            | Polynomial::Product(_)
            | Polynomial::Pointwise(_)
            | Polynomial::Reduced(_)
            | Polynomial::Linear(_)
            | Polynomial::Rotated(..)
            | Polynomial::Mixture(_)
            | Polynomial::Crossed(_) => vec![p],
        }
    }

    /// p + q.
    pub(crate) fn sum(&mut self, p: PolynomialId, q: PolynomialId) -> PolynomialId {
        self.sum_and_difference(p, q)[0]
    }

    /// p - q.
    pub(crate) fn difference(&mut self, p: PolynomialId, q: PolynomialId) -> PolynomialId {
        self.sum_and_difference(p, q)[1]
    }

    /// p + q and p - q.
    pub(super) fn sum_and_difference(&mut self, p: PolynomialId, q: PolynomialId) -> [PolynomialId; 2] {
        if let Some(&known) = self.sums.get(&(p, q)) {
            return known;
        }
        let minus_one = self.modulus_of(p).neg(1);
        let results = [1, minus_one].map(|factor| self.combination(p, q, factor));
        self.sums.insert((p, q), results);
        results
    }

    /// A multiple of p by a number.
    pub(crate) fn multiple(&mut self, p: PolynomialId, factor: u128) -> PolynomialId {
        if let Some(&known) = self.multiples.get(&(p, factor)) {
            return known;
        }
        let modulus = *self.modulus_of(p);
        let residue = modulus.residue(factor);
        let terms = self.terms(p).into_iter().map(|(term, own)| (term, modulus.mul(own, residue)));
        let result = self.linear(terms.collect(), self.tower_of(p));
        self.multiples.insert((p, factor), result);
        result
    }

    /// The polynomial of `tower` with the coefficients of p as integers. p is a polynomial of another
    /// tower, or has any words.
    pub(super) fn reduced(&mut self, p: PolynomialId, tower: TowerId) -> PolynomialId {
        self.intern(Polynomial::Reduced(p), tower)
    }

    /// p + factor q.
    fn combination(&mut self, p: PolynomialId, q: PolynomialId, factor: u128) -> PolynomialId {
        let modulus = *self.modulus_of(p);
        let mut terms = self.terms(p);
        for (term, own) in self.terms(q) {
            let summand = modulus.mul(own, factor);
            match terms.binary_search_by_key(&term, |&(term, _)| term) {
                Ok(at) => terms[at].1 = modulus.add(terms[at].1, summand),
                Err(at) => terms.insert(at, (term, summand)),
            }
        }
        self.linear(terms, self.tower_of(p))
    }

    pub(super) fn terms(&self, p: PolynomialId) -> Vec<(PolynomialId, u128)> {
        match &self.polynomials[p.index()].0 {
            Polynomial::Linear(terms) => terms.to_vec(),
            Polynomial::Input(_)
            | Polynomial::Words(_)
            | Polynomial::Ones
            | Polynomial::Product(_)
            | Polynomial::Pointwise(_)
            | Polynomial::Reduced(_)
            | Polynomial::Rotated(..)
            | Polynomial::Mixture(_)
            | Polynomial::Crossed(_) => vec![(p, 1)],
        }
    }

    fn linear(&mut self, mut terms: Vec<(PolynomialId, u128)>, tower: TowerId) -> PolynomialId {
        terms.retain(|&(_, factor)| factor != 0);
        match terms[..] {
            [(term, 1)] => term,
            _ => self.intern(Polynomial::Linear(terms.into()), tower),
        }
    }

    pub(super) fn intern(&mut self, polynomial: Polynomial, tower: TowerId) -> PolynomialId {
        let next = PolynomialId(self.polynomials.len() as u32);
        *self.known.entry((polynomial, tower)).or_insert_with_key(|key| {
            self.polynomials.push(key.clone());
            next
        })
    }

    /// The tower of a polynomial.
    pub(super) fn tower_of(&self, polynomial: PolynomialId) -> TowerId {
        self.polynomials[polynomial.index()].1
    }

    pub(super) fn polynomial(&self, id: PolynomialId) -> &Polynomial {
        &self.polynomials[id.index()].0
    }

    pub(super) fn tower(&self, tower: TowerId) -> &Tower {
        &self.towers[tower.index()]
    }

    /// The modulus of a polynomial's tower.
    pub(super) fn modulus_of(&self, polynomial: PolynomialId) -> &Modulus {
        self.modulus(self.tower_of(polynomial))
    }

    /// The modulus of a tower.
    pub(super) fn modulus(&self, tower: TowerId) -> &Modulus {
        self.moduli[tower.index()].as_ref().expect("the proof has checked the moduli")
    }

    /// Whether the modulus is odd and at least 3.
    pub(super) fn has_modulus(&self, tower: TowerId) -> bool {
        self.moduli[tower.index()].is_some()
    }

    /// Whether psi^n = -1 and n has an inverse. For n a power of two, it has one modulo every odd
    /// number.
    pub(super) fn has_root(&self, tower: TowerId) -> bool {
        let Tower { n, modulus: q, root } = *self.tower(tower);
        let order = |modulus: &Modulus| root < q && modulus.pow(root, n.into()) == q - 1;
        n.is_power_of_two() && n < 1 << 30 && self.moduli[tower.index()].as_ref().is_some_and(order)
    }

    /// The residue of a number of the code in the tower; `None` if it has no value.
    pub(super) fn factor(&mut self, number: Number, tower: TowerId) -> Option<Factor> {
        match number {
            Number::Root { exponent, scaled } => Some(Factor::Root { exponent, scaled }),
            Number::Expression(id) => {
                if let Some(&known) = self.residues.get(&(id, tower)) {
                    return known.map(Factor::Residue);
                }
                let expression = self.expressions.get(id.index());
                let residue = expression.and_then(|expression| self.residue(expression, tower));
                self.residues.insert((id, tower), residue);
                residue.map(Factor::Residue)
            }
        }
    }

    fn residue(&self, expression: &Expression, tower: TowerId) -> Option<u128> {
        let modulus = self.moduli[tower.index()].as_ref()?;
        match expression {
            Expression::Value(value) => Some(modulus.residue(*value)),
            Expression::Negative(of) => Some(modulus.neg(self.residue(of, tower)?)),
            Expression::Inverse(of) => modulus.inverse(self.residue(of, tower)?),
        }
    }

    /// The element in a word of a buffer with the given content.
    pub(super) fn element(&mut self, words: Words, word: u32) -> Element {
        let n = self.tower(self.tower_of(words.polynomial)).n;
        let (polynomial, log_n) = (words.polynomial, n.trailing_zeros());
        match words.form {
            Form::Coefficients if self.mixes => self.placed(polynomial, word),
            Form::Coefficients => self.coefficient(polynomial, word),
            Form::Evaluations => {
                let root = 2 * bit_reverse(word as usize, log_n) as u32 + 1;
                Element { polynomial, root, coefficient: 0, twist: 0, log_scale: 0, log_degree: 0 }
            }
            Form::MappedCoefficients { inverse, negative } => {
                // X^i with g i = word modulo n; X^n is -1.
                let power = word.wrapping_mul(inverse) & (2 * n - 1);
                let polynomial = if power < n { polynomial } else { negative };
                self.element(polynomial.coefficients(), power % n)
            }
            Form::MappedEvaluations { g } => {
                let element = self.element(polynomial.evaluations(), word);
                Element { root: element.root.wrapping_mul(g) & (2 * n - 1), ..element }
            }
        }
    }

    /// A coefficient of a polynomial.
    pub(super) fn coefficient(&self, polynomial: PolynomialId, coefficient: u32) -> Element {
        let n = self.tower(self.tower_of(polynomial)).n;
        let log_degree = n.trailing_zeros() as u8;
        Element { polynomial, root: n, coefficient, twist: 0, log_scale: 0, log_degree }
    }

    pub(super) fn buffer_name(&self, buffer: BufferId) -> &str {
        &self.buffers[buffer.index()].0
    }
}
