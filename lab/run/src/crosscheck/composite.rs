//! Operations modulo several numbers, as ring programs.

use super::Operands;
use diagnostic::Diagnostic;
use programs::{Options, ParameterSet, find_program, generate};
use ring::{Basis, Degree, Ring};
use ring_program::data::Words;
use ring_program::shape::{Binary, Scalar};
use ring_program::{Builder, Inputs, Limb, LimbId, ModulusIndex, Operation, RingProgram};

/// An operation modulo several numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Composition {
    /// The fast conversion of coefficients from two moduli, the sources, to two others, the targets.
    BaseConversion,
    /// The sums of the products of three digits with the two parts of a key, modulo one number. The operands
    /// are the digits, then the first part of the key, then the second.
    InnerProduct,
    /// A key switch of four limbs in two digits, with two special limbs. The operands are the limbs, then the
    /// first part of the key and the second, each with a row for each digit and each modulus.
    KeySwitch,
}

impl Composition {
    /// The display name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BaseConversion => "bconv",
            Self::InnerProduct => "ks_inner_product",
            Self::KeySwitch => "key_switch",
        }
    }

    /// The number of moduli of the first list and of the second: sources and targets, or limbs and special
    /// ones.
    const fn moduli(self) -> [usize; 2] {
        match self {
            Self::BaseConversion => [2, 2],
            Self::InnerProduct => [1, 0],
            Self::KeySwitch => [4, 2],
        }
    }

    /// The number of digits; 1 without a key.
    pub const fn digits(self) -> usize {
        match self {
            Self::BaseConversion => 1,
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
        // The largest primes are the second ones, since no special modulus may be below a limb's.
        let mut rings = Basis::generate(degree, bits, first + second)?.rings().to_vec();
        rings.rotate_left(second);
        let basis = Basis::new(rings.clone())?;
        let moduli = basis.moduli();
        let digits = composition.digits();
        let all = || moduli.iter().copied();
        let (program, operands) = match composition {
            Composition::BaseConversion => (Lines::new(&basis).convert(first), all().take(first).collect()),
            Composition::InnerProduct => {
                (Lines::new(&basis).inner_product(digits), all().cycle().take(3 * digits).collect())
            }
            Composition::KeySwitch => {
                let part = || (0..digits).flat_map(|_| all());
                let operands = all().take(first).chain(part()).chain(part()).collect();
                (key_switch(degree, moduli.split_at(first), digits), operands)
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
    let text = format!(
        "n = {n}\nq = {}\np = {}\ndigits = {digits}\nsecurity = \"none\"\n",
        list(limbs),
        list(special)
    );
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
        let mut builder = Builder::new(basis.degree().get()).expect("it is a degree");
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

    fn scaled(&mut self, a: Limb, factor: u128, ring: usize) -> Limb {
        let (m, scalar) = (self.moduli[ring], self.builder.constant(factor));
        self.push(|d| Operation::MultiplyScalar(Scalar { d, a, scalar, m }))
    }

    fn sum(&mut self, terms: Vec<Limb>, ring: usize) -> Limb {
        let sum = terms.into_iter().reduce(|sum, term| self.binary(Operation::Add, [sum, term], ring));
        sum.expect("a sum has a term")
    }

    /// The fast conversion from the first rings to the others.
    fn convert(mut self, first: usize) -> RingProgram {
        let x = self.input("x", first);
        let sources = Basis::new(self.rings[..first].to_vec()).expect("the moduli are coprime");
        let scaled = x.into_iter().enumerate();
        let scaled: Vec<Limb> =
            scaled.map(|(i, limb)| self.scaled(limb, sources.inverse_cofactor(i), i)).collect();
        let targets = first..self.rings.len();
        let target = |ring: usize| {
            let modulus = *self.rings[ring].modulus();
            let terms = scaled.iter().enumerate();
            let terms = terms
                .map(|(i, &limb)| self.scaled(limb, sources.cofactor_modulo(i, &modulus), ring))
                .collect();
            self.sum(terms, ring)
        };
        let y = targets.map(target).collect();
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
