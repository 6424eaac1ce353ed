//! Lines of a program, one after the other.

use crate::base::{Base, Extended, Tower};
use ring_program::shape::{Binary, Clear, Galois, Scalar, Transform};
use ring_program::{
    Builder, Call, ConstantIndex, FunctionIndex, Limb, LimbId, ModulusIndex, Operation, Parameters,
    RegionKind, RegionWriter, Regions, RingProgram, Shape,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A program under construction. Each result is a new limb; ids start at 1 with the inputs.
#[derive(Clone, Debug)]
pub(crate) struct Emitter {
    base: Base,
    builder: Builder,
    next: u64,
    /// By tower in use, with the root if the program states it.
    moduli: BTreeMap<Tower, (ModulusIndex, Option<ConstantIndex>)>,
    transforms: usize,
    outputs: Vec<Output>,
    /// The lines of the function under construction.
    function: Option<Vec<Operation>>,
    /// The calls so far.
    calls: usize,
    /// Why the program has no room for more, once it has none. What follows is dropped.
    full: Option<String>,
    regions: Scopes,
    /// Those of the program, while a function is under construction.
    outer_regions: Scopes,
    function_regions: Vec<(FunctionIndex, Regions)>,
    /// The towers of the limbs of inputs, by their names.
    input_towers: BTreeMap<String, Vec<Tower>>,
}

/// An output: its name, its limbs and their towers.
type Output = (String, Vec<Limb>, Vec<Tower>);

/// The most lines of a program, or of a function; assumed, as a bound on memory.
const MOST_LINES: usize = 1 << 22;

/// The regions of a text under construction.
#[derive(Clone, Default, Debug)]
struct Scopes {
    writer: RegionWriter,
    /// The regions that a new stage does not end.
    floor: usize,
}

/// A scope that is open.
#[must_use]
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenScope {
    depth: usize,
    floor: usize,
}

impl Emitter {
    pub(crate) fn new(base: Base, parameters: Parameters) -> Self {
        let towers = [base.q_below(), base.p()].concat();
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
        Self {
            base,
            builder,
            next: 1,
            moduli: indices,
            transforms: 0,
            outputs: Vec::new(),
            function: None,
            calls: 0,
            full: None,
            regions: Scopes::default(),
            outer_regions: Scopes::default(),
            function_regions: Vec::new(),
            input_towers: BTreeMap::new(),
        }
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

    /// Why the program has no room for what has been emitted.
    pub(crate) fn full(&self) -> Option<&str> {
        self.full.as_deref()
    }

    fn fresh(&mut self) -> Limb {
        self.next += 1;
        self.builder.limb(LimbId(self.next - 1))
    }

    /// Declares an input with a limb for each of some towers.
    pub(crate) fn input(&mut self, name: impl Into<String>, towers: &[Tower]) -> Extended {
        let (name, limbs) = (name.into(), towers.iter().map(|_| self.fresh()).collect::<Vec<_>>());
        self.input_towers.insert(name.clone(), towers.to_vec());
        self.builder.declare_input(name, limbs.clone());
        towers.iter().copied().zip(limbs).collect()
    }

    /// Declares an output.
    pub(crate) fn output(&mut self, name: impl Into<String>, limbs: Extended) {
        let (towers, limbs) = limbs.into_iter().unzip();
        self.outputs.push((name.into(), limbs, towers));
    }

    /// The lines of the text under construction.
    fn lines(&self) -> usize {
        match &self.function {
            Some(lines) => lines.len(),
            None => self.calls + self.builder.program().operations().len(),
        }
    }

    /// Begins a scope: what follows belongs to this stage or operation, inside those that are open.
    pub(crate) fn open(&mut self, kind: RegionKind, name: impl Into<Arc<str>>) -> OpenScope {
        let line = self.lines();
        let Scopes { writer, floor } = &mut self.regions;
        let open = OpenScope { depth: writer.depth(), floor: *floor };
        writer.begin(kind, name, line);
        *floor = writer.depth();
        open
    }

    /// Ends a scope, and what began in it.
    pub(crate) fn close(&mut self, scope: OpenScope) {
        self.end_regions(scope.depth);
        self.regions.floor = scope.floor;
    }

    /// Begins a stage of the innermost scope, and ends the one before it.
    pub(crate) fn stage(&mut self, name: impl Into<Arc<str>>) {
        self.end_regions(self.regions.floor);
        let line = self.lines();
        self.regions.writer.begin(RegionKind::Stage, name, line);
    }

    fn end_regions(&mut self, depth: usize) {
        let line = self.lines();
        while self.regions.writer.depth() > depth {
            self.regions.writer.end(line);
        }
    }

    fn push(&mut self, operation: impl FnOnce(Limb) -> Operation) -> Limb {
        let d = self.fresh();
        if self.lines() >= MOST_LINES && self.full.is_none() {
            self.full = Some(format!("it has more than {MOST_LINES} lines"));
        }
        if self.full.is_some() {
            return d;
        }
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
        self.outer_regions = std::mem::take(&mut self.regions);
        (0..parameters).map(|_| self.fresh()).collect()
    }

    /// Ends the function. Returns the limbs of the program that it reads beside its parameters: further
    /// parameters, which follow these.
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
        let regions = std::mem::replace(&mut self.regions, std::mem::take(&mut self.outer_regions));
        let regions = regions.writer.finish(lines.len());
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
        let function = function.expect("a function with another name and with results");
        self.function_regions.push((function, regions));
        (function, captured)
    }

    /// Calls a function. Returns its results.
    pub(crate) fn call(&mut self, function: FunctionIndex, arguments: Vec<Limb>) -> Vec<Limb> {
        let count = self.builder.program().function(function).results().len();
        let results: Vec<Limb> = (0..count).map(|_| self.fresh()).collect();
        if self.full.is_none() {
            let call = Call { function, arguments, results: results.clone() };
            // All arguments are limbs with values, so that only the lines of the calls can be too many.
            self.full = self.builder.call(call).err().map(|fault| fault.message);
            self.calls += 1;
        }
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

    /// The program, with what its keys do.
    pub(crate) fn finish(mut self, keys: BTreeMap<String, String>) -> RingProgram {
        let lines = self.lines();
        self.builder.declare_keys(keys);
        let index = |tower: &Tower| self.moduli.get(tower).map(|modulus| modulus.0);
        let (mut outputs, mut of_outputs) = (Vec::new(), Vec::new());
        for (name, limbs, towers) in self.outputs {
            of_outputs.push(towers.iter().map(index).collect());
            outputs.push((name, limbs));
        }
        let of_inputs = self.builder.program().inputs().iter();
        let of_inputs = of_inputs.map(|group| self.input_towers[&group.name].iter().map(index).collect());
        let of_inputs = of_inputs.collect();
        let mut program = self.builder.finish(Some(outputs)).expect("outputs are limbs with values");
        program.set_moduli(of_inputs, of_outputs);
        let own = [(None, self.regions.writer.finish(lines))];
        let functions =
            self.function_regions.into_iter().map(|(function, regions)| (Some(function), regions));
        for (function, regions) in own.into_iter().chain(functions) {
            let set = program.set_regions(function, regions.into_vec());
            set.expect("regions of the lines that were written");
        }
        program
    }
}
