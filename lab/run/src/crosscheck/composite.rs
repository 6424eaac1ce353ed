//! Operations modulo several numbers, as ring programs.

use super::Operands;
use diagnostic::Diagnostic;
use programs::{Options, ParameterSet, find_program, generate};
use ring::{Basis, Degree, Ring};
use ring_program::data::Words;
use ring_program::shape::{Binary, Scalar, Transform};
use ring_program::{Builder, Inputs, Limb, LimbId, ModulusIndex, Operation, RingProgram};

/// An operation modulo several numbers. Unless it says otherwise, it works on values in bit-reversed order, from
/// two moduli, the sources, to two others, the targets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Composition {
    /// The fast conversion of coefficients.
    BaseConversion,
    /// The fast conversion of values.
    ModUp,
    /// The division by the product of the sources. The operands are residues modulo the targets, then modulo the
    /// sources.
    ModDown,
    /// The sums of the products of three digits with the two parts of a key, modulo one number. The operands are
    /// the digits, then the first part of the key, then the second.
    InnerProduct,
    /// A key switch of four limbs in two digits, with two special limbs. The operands are the limbs, then the first
    /// part of the key and the second, each with a row for each digit and each modulus.
    KeySwitch,
}

impl Composition {
    /// The display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BaseConversion => "bconv",
            Self::ModUp => "mod_up",
            Self::ModDown => "mod_down",
            Self::InnerProduct => "ks_inner_product",
            Self::KeySwitch => "key_switch",
        }
    }

    /// The number of moduli of the first list and of the second: sources and targets, or limbs and special ones.
    const fn moduli(self) -> [usize; 2] {
        match self {
            Self::BaseConversion | Self::ModUp | Self::ModDown => [2, 2],
            Self::InnerProduct => [1, 0],
            Self::KeySwitch => [4, 2],
        }
    }

    /// The number of digits; 1 without a key.
    pub const fn digits(self) -> usize {
        match self {
            Self::BaseConversion | Self::ModUp | Self::ModDown => 1,
            Self::InnerProduct => 3,
            Self::KeySwitch => 2,
        }
    }
}

/// A composition in certain rings.
#[derive(Clone, Debug)]
pub struct Composite {
    composition: Composition,
    rings: Vec<Ring>,
    program: Box<RingProgram>,
    operands: Vec<u128>,
}

impl Composite {
    /// The composition modulo the largest primes of `bits` bits.
    ///
    /// # Errors
    /// Returns an error if there are too few such primes.
    pub fn with_primes(composition: Composition, degree: Degree, bits: u32) -> Result<Self, ring::Error> {
        let [first, second] = composition.moduli();
        let basis = Basis::generate(degree, bits, first + second)?;
        let (rings, moduli) = (basis.rings().to_vec(), basis.moduli());
        let digits = composition.digits();
        let all = || moduli.iter().copied();
        let (program, operands) = match composition {
            Composition::BaseConversion => {
                let lines = Lines::new(&basis);
                (lines.convert_only(first), all().take(first).collect())
            }
            Composition::ModUp => (Lines::new(&basis).raise_only(first), all().take(first).collect()),
            Composition::ModDown => {
                (Lines::new(&basis).divide(first), all().skip(first).chain(all().take(first)).collect())
            }
            Composition::InnerProduct => {
                (Lines::new(&basis).inner_product(digits), all().cycle().take(3 * digits).collect())
            }
            Composition::KeySwitch => {
                let keys = (0..2 * digits).flat_map(|_| all());
                (key_switch(degree, moduli.split_at(first), digits), all().take(first).chain(keys).collect())
            }
        };
        Ok(Self { composition, rings, program: Box::new(program), operands })
    }

    /// The operation.
    pub fn composition(&self) -> Composition {
        self.composition
    }

    /// The rings of the sources and of the targets, or of the limbs and of the special limbs.
    pub fn rings(&self) -> (&[Ring], &[Ring]) {
        self.rings.split_at(self.composition.moduli()[0])
    }

    /// The program. Its inputs are the operands in order.
    pub fn program(&self) -> &RingProgram {
        &self.program
    }

    /// The modulus of each operand.
    pub fn operands(&self) -> &[u128] {
        &self.operands
    }

    /// The program's inputs for some operands.
    pub(super) fn inputs(&self, operands: &Operands) -> Result<Inputs<'_>, Diagnostic> {
        let mut inputs = Inputs::new(&self.program);
        let mut left = operands.vectors.iter();
        for group in self.program.inputs() {
            let own = left.by_ref().take(group.limbs.len()).map(|words| Words::from(&words[..]));
            inputs.set(&group.name, own)?;
        }
        Ok(inputs)
    }
}

/// The generated key switch.
fn key_switch(degree: Degree, (limbs, special): (&[u128], &[u128]), digits: usize) -> RingProgram {
    let list = |moduli: &[u128]| {
        let texts: Vec<String> = moduli.iter().map(|modulus| format!("\"{modulus:#x}\"")).collect();
        format!("[{}]", texts.join(", "))
    };
    let n = degree.get();
    let text = format!("n = {n}\nq = {}\np = {}\ndigits = {digits}\n", list(limbs), list(special));
    let set = ParameterSet::parse("crosscheck", "crosscheck.toml", &text, None).expect("a valid set");
    let program = find_program("keyswitch").expect("a program");
    generate(&program, &set, &Options::default()).expect("the set has its highest level")
}

/// A program under construction, in rings that are named by their numbers.
struct Lines {
    rings: Vec<Ring>,
    moduli: Vec<ModulusIndex>,
    builder: Builder,
    next: u64,
}

impl Lines {
    fn new(basis: &Basis) -> Self {
        let mut builder = Builder::new(basis.degree().get()).expect("a degree of ring programs");
        let moduli = basis.moduli().into_iter();
        let moduli = moduli.map(|q| builder.add_modulus(q).expect("a prime with roots")).collect();
        Self { rings: basis.rings().to_vec(), moduli, builder, next: 0 }
    }

    fn fresh(&mut self) -> Limb {
        self.next += 1;
        self.builder.limb(LimbId(self.next))
    }

    fn input(&mut self, name: &str, count: usize) -> Vec<Limb> {
        let limbs: Vec<Limb> = (0..count).map(|_| self.fresh()).collect();
        self.builder.declare_input(name, limbs.clone());
        limbs
    }

    fn push(&mut self, operation: impl FnOnce(Limb) -> Operation) -> Limb {
        let d = self.fresh();
        self.builder.push(operation(d)).expect("operands are limbs with residues");
        d
    }

    fn binary(&mut self, operation: fn(Binary) -> Operation, [a, b]: [Limb; 2], ring: usize) -> Limb {
        let m = self.moduli[ring];
        self.push(|d| operation(Binary { d, a, b, m }))
    }

    fn transform(&mut self, operation: fn(Transform) -> Operation, a: Limb, ring: usize) -> Limb {
        let m = self.moduli[ring];
        self.push(|d| operation(Transform { d, a, root: None, m }))
    }

    fn scaled(&mut self, a: Limb, factor: u128, ring: usize) -> Limb {
        let (m, scalar) = (self.moduli[ring], self.builder.constant(factor));
        self.push(|d| Operation::MultiplyScalar(Scalar { d, a, scalar, m }))
    }

    fn sum(&mut self, terms: Vec<Limb>, ring: usize) -> Limb {
        let sum = terms.into_iter().reduce(|sum, term| self.binary(Operation::Add, [sum, term], ring));
        sum.expect("a sum has a term")
    }

    /// The basis of the first rings.
    fn sources(&self, count: usize) -> Basis {
        Basis::new(self.rings[..count].to_vec()).expect("the moduli are coprime")
    }

    /// The coefficients modulo the other rings of a polynomial with these coefficients modulo the first rings.
    fn convert(&mut self, coefficients: &[Limb]) -> Vec<Limb> {
        let sources = self.sources(coefficients.len());
        let scaled = coefficients.iter().enumerate();
        let scaled: Vec<Limb> =
            scaled.map(|(i, &limb)| self.scaled(limb, sources.inverse_cofactor(i), i)).collect();
        let rings = sources.len()..self.rings.len();
        let target = |ring: usize| {
            let modulus = *self.rings[ring].modulus();
            let terms = scaled.iter().enumerate();
            let terms = terms
                .map(|(i, &limb)| self.scaled(limb, sources.cofactor_modulo(i, &modulus), ring))
                .collect();
            self.sum(terms, ring)
        };
        rings.map(target).collect()
    }

    /// The same on values.
    fn raise(&mut self, values: &[Limb]) -> Vec<Limb> {
        let coefficients = values.iter().enumerate();
        let coefficients: Vec<Limb> =
            coefficients.map(|(ring, &limb)| self.transform(Operation::Intt, limb, ring)).collect();
        let raised = self.convert(&coefficients);
        (values.len()..).zip(raised).map(|(ring, limb)| self.transform(Operation::Ntt, limb, ring)).collect()
    }

    fn convert_only(mut self, first: usize) -> RingProgram {
        let x = self.input("x", first);
        let y = self.convert(&x);
        self.finish(y)
    }

    fn raise_only(mut self, first: usize) -> RingProgram {
        let x = self.input("x", first);
        let y = self.raise(&x);
        self.finish(y)
    }

    /// The division by the first moduli.
    fn divide(mut self, first: usize) -> RingProgram {
        let (x, p) = (self.input("x", self.rings.len() - first), self.input("p", first));
        let divisor = self.sources(first);
        let remainders = self.raise(&p);
        let quotient = |(ring, (x, remainder)): (usize, (Limb, Limb))| {
            let multiple = self.binary(Operation::Subtract, [x, remainder], ring);
            let inverse = divisor.inverse_product_modulo(self.rings[ring].modulus());
            self.scaled(multiple, inverse.expect("the moduli are coprime"), ring)
        };
        let y = (first..).zip(x.into_iter().zip(remainders)).map(quotient).collect();
        self.finish(y)
    }

    /// The products of digits with a key in the first ring.
    fn inner_product(mut self, digits: usize) -> RingProgram {
        let [d, b, a] = ["d", "b", "a"].map(|name| self.input(name, digits));
        let sum = |key: Vec<Limb>| {
            let products = d.iter().zip(key);
            let products = products.map(|(&d, key)| self.binary(Operation::Multiply, [d, key], 0)).collect();
            self.sum(products, 0)
        };
        let y = [b, a].map(sum).to_vec();
        self.finish(y)
    }

    fn finish(self, y: Vec<Limb>) -> RingProgram {
        self.builder.finish(Some(vec![("y".to_owned(), y)])).expect("results are limbs with values")
    }
}
