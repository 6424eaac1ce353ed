//! Lines of a program, one after the other.

use crate::base::{Base, Tower};
use ring_program::shape::{Binary, Clear, Galois, Scalar, Transform};
use ring_program::{
    Builder, Call, ConstantIndex, FunctionIndex, Limb, LimbId, ModulusIndex, Operation, Parameters,
    RingProgram, Shape,
};
use std::collections::{BTreeMap, BTreeSet};

/// A program under construction. Each result is a new limb; ids start at 1 with the inputs.
#[derive(Debug)]
pub(crate) struct Emitter {
    base: Base,
    builder: Builder,
    next: u64,
    /// By tower in use, with the root if the program states it.
    moduli: BTreeMap<Tower, (ModulusIndex, Option<ConstantIndex>)>,
    transforms: usize,
    outputs: Vec<(String, Vec<Limb>)>,
    /// The lines of the function under construction.
    function: Option<Vec<Operation>>,
}

impl Emitter {
    pub(crate) fn new(base: Base, parameters: Parameters) -> Self {
        let towers = base.all();
        let degree = base.ring(towers[0]).degree();
        let mut builder = Builder::new(degree.get()).expect("it is a degree");
        builder.declare_parameters(parameters);
        // Ascending, as other writers have them.
        let mut moduli: Vec<u128> = towers.iter().map(|&tower| base.ring(tower).q()).collect();
        moduli.sort_unstable();
        for modulus in moduli {
            builder.add_modulus(modulus).expect("the moduli of a set are distinct primes with roots");
        }
        let mut indices = BTreeMap::new();
        for &tower in &towers {
            let ring = base.ring(tower);
            let index = builder.program().moduli().find(ring.q()).expect("the table has the modulus");
            let root = ring.root().filter(|_| base.states_roots);
            indices.insert(tower, (index, root.map(|root| builder.constant(root))));
        }
        Self { base, builder, next: 1, moduli: indices, transforms: 0, outputs: Vec::new(), function: None }
    }

    /// Declares the parameters of the program, with more than those of its set.
    pub(crate) fn declare(&mut self, parameters: Parameters) {
        self.builder.declare_parameters(parameters);
    }

    /// The moduli in use at the program's level.
    pub(crate) fn base(&self) -> &Base {
        &self.base
    }

    /// The forward and inverse transforms so far.
    pub(crate) fn transforms(&self) -> usize {
        self.transforms
    }

    fn fresh(&mut self) -> Limb {
        self.next += 1;
        self.builder.limb(LimbId(self.next - 1))
    }

    /// Declares an input of `count` limbs.
    pub(crate) fn input(&mut self, name: impl Into<String>, count: usize) -> Vec<Limb> {
        let limbs: Vec<Limb> = (0..count).map(|_| self.fresh()).collect();
        self.builder.declare_input(name, limbs.clone());
        limbs
    }

    /// Declares an output.
    pub(crate) fn output(&mut self, name: impl Into<String>, limbs: Vec<Limb>) {
        self.outputs.push((name.into(), limbs));
    }

    fn push(&mut self, operation: impl FnOnce(Limb) -> Operation) -> Limb {
        let d = self.fresh();
        match &mut self.function {
            Some(lines) => lines.push(operation(d)),
            None => self.builder.push(operation(d)).expect("operands are limbs with values and residues"),
        }
        d
    }

    /// Begins a function: what follows are its lines. Returns as many parameters.
    ///
    /// # Panics
    /// Panics in a function, or if the program has lines outside of functions.
    pub(crate) fn begin_function(&mut self, parameters: usize) -> Vec<Limb> {
        let has_lines = !self.builder.program().operations().is_empty();
        assert!(self.function.is_none() && !has_lines, "functions are no parts of others");
        self.function = Some(Vec::new());
        (0..parameters).map(|_| self.fresh()).collect()
    }

    /// Ends the function. Returns the limbs of the program that it reads beside its parameters: further parameters, which follow
    /// these.
    ///
    /// # Panics
    /// Panics outside of a function, or if another one has the name.
    pub(crate) fn end_function(
        &mut self,
        name: &str,
        parameters: &[Limb],
        results: &[Limb],
    ) -> (FunctionIndex, Vec<Limb>) {
        let lines = self.function.take().expect("a function has begun");
        let (mut known, mut captured) = (parameters.iter().copied().collect::<BTreeSet<_>>(), Vec::new());
        for line in &lines {
            captured.extend(line.sources().into_iter().flatten().filter(|&source| known.insert(source)));
            known.insert(line.destination());
        }
        // Limbs that follow each other are short in text.
        captured.sort_unstable();
        let body = self.builder.function_of(&[parameters, &captured].concat(), &lines);
        let results: Vec<LimbId> =
            results.iter().map(|&limb| self.builder.program().limbs().id(limb)).collect();
        let function = self.builder.add_function(name, body, &results);
        (function.expect("a function with another name and with results"), captured)
    }

    /// Calls a function. Returns its results.
    pub(crate) fn call(&mut self, function: FunctionIndex, arguments: Vec<Limb>) -> Vec<Limb> {
        let count = self.builder.program().function(function).results().len();
        let results: Vec<Limb> = (0..count).map(|_| self.fresh()).collect();
        let call = Call { function, arguments, results: results.clone() };
        self.builder.call(call).expect("arguments are limbs with values");
        results
    }

    fn binary(&self, a: Limb, b: Limb, tower: Tower) -> impl FnOnce(Limb) -> Binary + use<> {
        let m = self.moduli[&tower].0;
        move |d| Binary { d, a, b, m }
    }

    fn scalar(&mut self, a: Limb, scalar: u128, tower: Tower) -> impl FnOnce(Limb) -> Scalar + use<> {
        let (m, scalar) = (self.moduli[&tower].0, self.builder.constant(scalar));
        move |d| Scalar { d, a, scalar, m }
    }

    fn transform(&mut self, a: Limb, tower: Tower) -> impl FnOnce(Limb) -> Transform + use<> {
        self.transforms += 1;
        let (m, root) = self.moduli[&tower];
        move |d| Transform { d, a, root, m }
    }

    pub(crate) fn add(&mut self, a: Limb, b: Limb, tower: Tower) -> Limb {
        let operands = self.binary(a, b, tower);
        self.push(|d| Operation::Add(operands(d)))
    }

    pub(crate) fn subtract(&mut self, a: Limb, b: Limb, tower: Tower) -> Limb {
        let operands = self.binary(a, b, tower);
        self.push(|d| Operation::Subtract(operands(d)))
    }

    pub(crate) fn multiply(&mut self, a: Limb, b: Limb, tower: Tower) -> Limb {
        let operands = self.binary(a, b, tower);
        self.push(|d| Operation::Multiply(operands(d)))
    }

    pub(crate) fn add_scalar(&mut self, a: Limb, scalar: u128, tower: Tower) -> Limb {
        let operands = self.scalar(a, scalar, tower);
        self.push(|d| Operation::AddScalar(operands(d)))
    }

    pub(crate) fn subtract_scalar(&mut self, a: Limb, scalar: u128, tower: Tower) -> Limb {
        let operands = self.scalar(a, scalar, tower);
        self.push(|d| Operation::SubtractScalar(operands(d)))
    }

    /// The product with a scalar; `a` has any words.
    pub(crate) fn multiply_scalar(&mut self, a: Limb, scalar: u128, tower: Tower) -> Limb {
        let operands = self.scalar(a, scalar, tower);
        self.push(|d| Operation::MultiplyScalar(operands(d)))
    }

    /// A limb of zeros.
    pub(crate) fn zero(&mut self) -> Limb {
        self.push(|d| Operation::Zero(Clear { d, m: None }))
    }

    pub(crate) fn ntt(&mut self, a: Limb, tower: Tower) -> Limb {
        let operands = self.transform(a, tower);
        self.push(|d| Operation::Ntt(operands(d)))
    }

    pub(crate) fn intt(&mut self, a: Limb, tower: Tower) -> Limb {
        let operands = self.transform(a, tower);
        self.push(|d| Operation::Intt(operands(d)))
    }

    /// X to X^k on values.
    pub(crate) fn automorphism(&mut self, a: Limb, k: u32, tower: Tower) -> Limb {
        let m = Some(self.moduli[&tower].0);
        self.push(|d| Operation::AutomorphEvaluation(Galois { d, a, k, m }))
    }

    /// `a + b`, or `b` if there is no `a`.
    pub(crate) fn accumulate(&mut self, a: Option<Limb>, b: Limb, tower: Tower) -> Limb {
        match a {
            Some(a) => self.add(a, b, tower),
            None => b,
        }
    }

    /// The program.
    pub(crate) fn finish(self) -> RingProgram {
        self.builder.finish(Some(self.outputs)).expect("outputs are limbs with values")
    }
}
