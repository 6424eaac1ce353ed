//! The kernels of a program, each generated and timed.
//!
//! Timing does not depend on data, moduli or scalars. The kernel of a transform or of an automorphism has
//! other tables for each modulus and root, the same in launches of any number of rings if the recipe suits
//! them. Automorphisms with different exponents have one recipe, but a kernel each, since their tables and
//! exchanges differ. A [mapping](crate::mapping) names the recipes. An elementwise kernel works on a slice of
//! each limb: one launch runs it on slice after slice, with other addresses. Operands of many limbs thus need
//! not be in the VDM as a whole.

use crate::flow::operation::{Batch, Kind, RingOperation, RingParameters};
use crate::known::Known;
use crate::launches::facts::{Facts, Resource, bank_cycles};
use crate::launches::{Launches, ShapeId, is_short};
use crate::mapping::Form;
use b512_asm::{MReg, Program, Role, Setting, Space};
use codegen::elementwise::{Elementwise, LONGEST_BLOCK, StepOp, StepOrder, Way};
use codegen::{
    Error, Kernel, NumberWords, Parameters, Recipe, RecipeOrigin, Request, compile, compile_within,
    instantiate,
};
use rayon::prelude::*;
use ring::Degree;
use ring_program::RingProgram;
use rustc_hash::FxHashMap;
use sim::Clock;
use sim::timing::{Timing, simulate};
use sim::{Energy, Events, Machine};
use std::sync::{Arc, OnceLock};

/// The instructions of an elementwise kernel that make the latency of its last ones negligible.
const SLICE_INSTRUCTIONS: usize = 512;

/// The vectors of the longest slice.
const SLICE_VECTORS: u32 = 16;

/// The slices of a launch, two of each operand, take at most this part of the VDM.
const SLICE_SHARE: u32 = 4;

/// The most vectors of the slices of a launch with short slices. Runs on them wait for fewer transfers, and
/// more of the VDM is for whole limbs.
const SHORT_SLICES_VECTORS: u32 = 128;

/// The most vectors of the slices of a launch on short limbs. With more, a launch has few runs, and waits for
/// transfers: without this limit, `MONOTONY_CASES=400` of `tests/all/mappings.rs` fails.
const SHORT_LIMB_SLICES_VECTORS: u32 = 256;

/// The words of the long and of the short slices of an elementwise kernel.
fn slices(shape: &Elementwise, n: u32, machine: &Machine) -> [u32; 2] {
    let length = machine.isa.vector_length;
    let operands = u32::from(shape.inputs) + shape.outputs.len() as u32;
    let by_instructions = (SLICE_INSTRUCTIONS / shape.instructions().max(1)) as u32;
    let space = machine.vdm_words() / (SLICE_SHARE * length);
    let space = if is_short(n.into(), machine) { space.min(SHORT_LIMB_SLICES_VECTORS) } else { space };
    [space, space.min(SHORT_SLICES_VECTORS)].map(|space| {
        let by_space = space / (2 * operands.max(1));
        let vectors = by_instructions.max(LONGEST_BLOCK).min(by_space).min(SLICE_VECTORS);
        n.min(length << vectors.max(1).ilog2())
    })
}

/// The timing of a kernel, and what its launches need.
#[derive(Clone, Debug)]
pub struct Timed {
    /// The name in reports.
    pub name: &'static str,
    /// The number of instructions of its program.
    pub instructions: usize,
    /// The number of its address registers.
    pub address_registers: usize,
    /// The words of an operand that a run works on: a slice, or a whole limb.
    pub slice: u32,
    /// The runs of one launch.
    pub runs: u32,
    /// Whether it is an elementwise kernel, whose operands may stream.
    pub is_elementwise: bool,
    /// The cycles of one run.
    pub timing: Timing,
    /// What limits a run.
    pub(crate) resource: Resource,
    /// The clock of the machine that it is timed for, in GHz.
    ghz: f64,
    /// A lower bound of these cycles for any order of the instructions: the busiest resource, or the longest
    /// chain of dependent instructions.
    pub bound_cycles: u64,
    /// The cycles in which the banks of the VDM can make the accesses of one run.
    pub bank_cycles: u64,
    /// The events of one run.
    pub events: Events,
    /// The energy of one run, in uJ.
    pub energy_uj: f64,
    /// The words of the VDM beside the operands and the table: those of spilled vectors, and an elementwise
    /// kernel's scalars.
    pub scratch_words: u64,
    /// The words of its table of factors for one ring.
    pub table_words: u32,
    /// Whether it overwrites its operand to save space.
    pub overwrites_operand: bool,
    /// Whether its results may lie in the memory of its operands.
    pub may_work_in_place: bool,
    /// The registers of the moduli, in order.
    pub moduli: Vec<MReg>,
    /// The words of the SDM that an operation's kernel reads.
    pub sdm_words: u32,
    /// The words with the scalars, in order.
    pub scalars: Vec<NumberWords>,
}

impl Timed {
    /// The timing of an operation's kernel.
    pub(crate) fn of(request: &Request, kernel: &Kernel, machine: &Machine) -> Self {
        let timed = Self::new(request.operation.name(), kernel, [request.n(), 1], 0, machine);
        Self { is_elementwise: false, ..timed }
    }

    fn new(
        name: &'static str,
        kernel: &Kernel,
        [slice, runs]: [u32; 2],
        scalars: usize,
        machine: &Machine,
    ) -> Self {
        let mut timing = simulate(machine, &kernel.program);
        // They are as many as instructions, and of no use here.
        timing.timestamps = Vec::new();
        let bound_cycles = timing.bounds.resource.max(timing.bounds.dependence).0;
        let resource = Resource::of(&timing, kernel.program.instructions.len() as u64, machine);
        let events = Events::of(&kernel.program);
        let energy = Energy::of(machine, &events);
        let words_of = |scalar| kernel.number_words(scalar).expect("the kernel has its scalars");
        Self {
            name,
            instructions: kernel.program.instructions.len(),
            address_registers: kernel.program.addresses.len(),
            slice,
            runs,
            is_elementwise: true,
            resource,
            ghz: Clock::of(machine).ghz(),
            bound_cycles,
            bank_cycles: bank_cycles(machine, &timing, &events),
            timing,
            events,
            energy_uj: energy.total(),
            scratch_words: words(kernel, Role::Scratch),
            table_words: kernel.table_of(0).len() as u32,
            overwrites_operand: overwrites_operand(kernel),
            may_work_in_place: kernel.may_work_in_place(),
            moduli: kernel.program.moduli.iter().map(|&(register, _)| register).collect(),
            sdm_words: kernel.sdm_words(),
            scalars: (0..scalars as u128).map(words_of).collect(),
        }
    }

    /// What decides when its launches take place.
    pub(crate) fn facts(&self) -> Facts {
        Facts {
            name: self.name,
            instructions: self.instructions as u64,
            cycles: self.timing.cycles.0,
            bank_cycles: self.bank_cycles,
            resource: self.resource,
            slices: self.is_elementwise.then_some((self.slice, self.runs)),
            scratch_words: self.scratch_words,
            overwrites_operand: self.overwrites_operand,
            may_work_in_place: self.may_work_in_place,
        }
    }

    /// The time of one run on the machine that it was timed for, in ns.
    pub fn run_ns(&self) -> f64 {
        self.timing.cycles.0 as f64 / self.ghz
    }

    /// The time of the runs of one launch, in ns.
    pub fn launch_ns(&self) -> f64 {
        f64::from(self.runs) * self.run_ns()
    }

    /// The lower bound of the time of the runs of one launch, in ns.
    pub fn launch_bound_ns(&self) -> f64 {
        f64::from(self.runs) * self.bound_cycles as f64 / self.ghz
    }

    /// The energy of one launch, in uJ.
    pub fn launch_energy_uj(&self) -> f64 {
        f64::from(self.runs) * self.energy_uj
    }
}

/// The words of the VDM with a role.
fn words(kernel: &Kernel, role: Role) -> u64 {
    let symbols = kernel.program.symbols.iter();
    let symbols = symbols.filter(|symbol| symbol.space == Space::Vdm && symbol.role == role);
    symbols.map(|symbol| u64::from(symbol.words)).sum()
}

/// Whether a kernel stores to an input.
fn overwrites_operand(kernel: &Kernel) -> bool {
    kernel.code.insts.iter().any(|inst| {
        let stored = inst.memory.filter(|_| inst.results.is_empty());
        stored.is_some_and(|memory| kernel.code.buffers[memory.buffer.index()].role == Role::Input)
    })
}

/// The recipe of each kind. Kinds with the same recipe have the same tables.
pub(crate) type RecipeTable = FxHashMap<Kind, Arc<Recipe>>;

/// The size of the factors' tables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tables {
    /// As the fastest kernels have them.
    Large,
    /// As small as they can be. Some factors are then products, which takes more multiplications.
    Small,
}

/// The kernels of a program for a machine.
#[derive(Clone, Debug)]
pub struct Kernels {
    degree: Degree,
    tables: Tables,
    /// By shape, each in its fastest order of steps.
    elementwise: Vec<Arc<ElementwiseKernel>>,
    /// By shape, each in the order of the program, and each with short slices; empty if they are the same.
    others: [Vec<Arc<ElementwiseKernel>>; 2],
    operations: Arc<Operations>,
    /// Those of operations that other launches of the program need too.
    made: Arc<Made>,
    /// The origin of the recipe whose search tried the most; `None` without operations.
    pub(crate) origin: Option<RecipeOrigin>,
}

/// An elementwise kernel, timed.
#[derive(Debug)]
struct ElementwiseKernel {
    timed: Timed,
    program: Program,
}

impl ElementwiseKernel {
    fn new(shape: &Elementwise, way: Way, [slice, n]: [u32; 2], machine: &Machine) -> Result<Self, Error> {
        let name = name_of(shape);
        let kernel = shape.compile(format!("{name}{slice}"), slice, PLACEHOLDER, way, machine)?;
        let timed = Timed::new(name, &kernel, [slice, n / slice], shape.scalars(), machine);
        // No other launch has its constants.
        let scratch_words = timed.scratch_words + words(&kernel, Role::Table);
        Ok(Self { timed: Timed { scratch_words, table_words: 0, ..timed }, program: kernel.program })
    }

    /// The kernel in its fastest order; in the order of the program; and in its fastest order with short
    /// slices.
    fn all(shape: &Elementwise, n: u32, machine: &Machine) -> Result<[Arc<Self>; 3], Error> {
        let [long, short] = slices(shape, n, machine);
        let kernel = |way| Ok((way, Arc::new(Self::new(shape, way, [long, n], machine)?)));
        let kernels = shape.ways().map(kernel).collect::<Result<Vec<_>, Error>>()?;
        let fastest = |is_candidate: fn(&Way) -> bool| {
            let candidates = kernels.iter().filter(|(way, _)| is_candidate(way));
            candidates.min_by_key(|(_, kernel)| kernel.timed.timing.cycles).expect("a way in each order")
        };
        let (way, in_any_order) = fastest(|_| true);
        let (_, in_order) = fastest(|way| way.order == StepOrder::Program);
        let with_short_slices = match short == long {
            true => Arc::clone(in_any_order),
            false => Arc::new(Self::new(shape, *way, [short, n], machine)?),
        };
        Ok([Arc::clone(in_any_order), Arc::clone(in_order), with_short_slices])
    }
}

type Operations = FxHashMap<Batch, Arc<OperationKernel>>;

/// Kernels of operations, by all that decides on them.
type Made = Known<Making, Result<Arc<OperationKernel>, Error>>;

/// How a kernel of an operation is made.
#[derive(Debug)]
struct Making {
    batch: Batch,
    recipe: Arc<Recipe>,
    tables: Tables,
    vdm_words: u32,
    /// For each limb, the first one in the same ring.
    rings: Vec<usize>,
}

impl PartialEq for Making {
    /// Equal recipes are not the same: their kernels have no table in common.
    fn eq(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.batch, it.tables, it.vdm_words);
        key(self) == key(other) && Arc::ptr_eq(&self.recipe, &other.recipe) && self.rings == other.rings
    }
}

/// The kernel of an operation, timed. Its code takes megabytes, and a program may have hundreds of exponents
/// of automorphisms, so the first execution on data compiles it again.
#[derive(Debug)]
struct OperationKernel {
    timed: Timed,
    recipe: Arc<Recipe>,
    rings: Vec<RingParameters>,
    kernel: OnceLock<Kernel>,
}

impl Kernels {
    /// Generates and times the kernels that `launches` need. Of the elementwise ones, those of `known`
    /// launches are known if their slices are as long.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine, or if its vectors are longer than a limb.
    pub(crate) fn build(
        program: &RingProgram,
        launches: &Launches,
        machine: &Machine,
        (recipes, tables): (&RecipeTable, Tables),
        known: Option<(&Launches, &Self)>,
    ) -> Result<Self, Error> {
        let degree = program.degree();
        let n = degree.get() as u32;
        let made = known.map_or_else(|| Arc::new(Known::new()), |(_, kernels)| Arc::clone(&kernels.made));
        let known = known.into_iter().flat_map(|(launches, kernels)| {
            let shapes = launches.shapes.iter().enumerate();
            shapes.map(move |(index, shape)| (shape, kernels.all_of(index)))
        });
        let known: FxHashMap<_, _> = known.collect();
        let has_slices = |[fastest, _, with_short_slices]: &[Arc<ElementwiseKernel>; 3], shape| {
            [fastest.timed.slice, with_short_slices.timed.slice] == slices(shape, n, machine)
        };
        let shapes = launches.shapes.par_iter().map(|shape| {
            match known.get(shape).filter(|kernels| has_slices(kernels, shape)) {
                Some(kernels) => Ok(kernels.clone()),
                None => ElementwiseKernel::all(shape, n, machine),
            }
        });
        let shapes = shapes.collect::<Result<Vec<_>, Error>>()?;
        let [elementwise, others @ ..] =
            [0, 1, 2].map(|choice| shapes.iter().map(|kernels| Arc::clone(&kernels[choice])).collect());
        let others = others.map(|other: Vec<_>| {
            let is_same = std::iter::zip(&other, &elementwise).all(|(one, other)| Arc::ptr_eq(one, other));
            if is_same { Vec::new() } else { other }
        });
        let operations = Arc::new(operations(program, launches, machine, (recipes, tables), &made)?);
        Ok(Self { degree, tables, elementwise, others, operations, made, origin: None })
    }

    /// The elementwise kernels of a shape: see [`ElementwiseKernel::all`].
    fn all_of(&self, shape: usize) -> [Arc<ElementwiseKernel>; 3] {
        let fastest = &self.elementwise[shape];
        let [in_order, with_short_slices] =
            self.others.each_ref().map(|others| Arc::clone(others.get(shape).unwrap_or(fastest)));
        [Arc::clone(fastest), in_order, with_short_slices]
    }

    /// These kernels with operations by other recipes; `None` if one does not fit the machine.
    pub(crate) fn with_recipes(
        &self,
        program: &RingProgram,
        launches: &Launches,
        machine: &Machine,
        (recipes, tables): (&RecipeTable, Tables),
    ) -> Option<Self> {
        let made = Arc::clone(&self.made);
        let operations = operations(program, launches, machine, (recipes, tables), &made).ok()?;
        Some(Self {
            degree: self.degree,
            tables,
            elementwise: self.elementwise.clone(),
            others: self.others.clone(),
            operations: Arc::new(operations),
            made,
            origin: self.origin,
        })
    }

    /// These kernels with the elementwise kernels of a form.
    pub fn in_form(mut self, form: Form) -> Self {
        let [in_order, with_short_slices] = std::mem::take(&mut self.others);
        let other = match form {
            Form::Fastest => Vec::new(),
            Form::InOrder => in_order,
            Form::ShortSlices => with_short_slices,
        };
        if !other.is_empty() {
            self.elementwise = other;
        }
        self
    }

    /// The size of the tables.
    pub fn tables(&self) -> Tables {
        self.tables
    }

    /// The origin of the kernels: of the operations' recipes, the one whose search tried the most.
    pub fn origin(&self) -> Option<RecipeOrigin> {
        self.origin
    }

    /// The number of instructions of all programs.
    pub fn instructions(&self) -> usize {
        let elementwise = self.elementwise.iter().map(|kernel| kernel.timed.instructions);
        elementwise.chain(self.operations.values().map(|kernel| kernel.timed.instructions)).sum()
    }

    /// The elementwise kernel of a shape.
    pub fn elementwise(&self, shape: ShapeId) -> &Timed {
        &self.elementwise[shape.index()].timed
    }

    /// The program of the elementwise kernel of a shape.
    pub fn elementwise_program(&self, shape: ShapeId) -> &Program {
        &self.elementwise[shape.index()].program
    }

    /// The kernel of an operation.
    ///
    /// # Panics
    /// Panics if the program has no such operation.
    pub fn operation(&self, batch: Batch) -> &Timed {
        &self.operations[&batch].timed
    }

    /// The identity of the recipe of an operation: its tables are those of other operations with this recipe.
    pub(crate) fn recipe(&self, batch: Batch) -> *const Recipe {
        Arc::as_ptr(&self.operations[&batch].recipe)
    }

    /// The program of an operation in some rings.
    ///
    /// # Errors
    /// Returns an error if a modulus has no such root.
    ///
    /// # Panics
    /// Panics if the program has no such operation, or if the machine is another one.
    pub fn program(
        &self,
        batch: Batch,
        rings: &[RingParameters],
        machine: &Machine,
    ) -> Result<Program, Error> {
        instantiate(self.kernel(batch, machine), &request(batch.operation, self.degree, rings)?)
    }

    /// The kernel of an operation.
    pub(crate) fn kernel(&self, batch: Batch, machine: &Machine) -> &Kernel {
        let OperationKernel { recipe, rings, kernel, .. } = &*self.operations[&batch];
        kernel.get_or_init(|| {
            let request = request(batch.operation, self.degree, rings).expect("the request was valid");
            compile_small(&request, recipe, machine, self.tables).expect("it was compiled before")
        })
    }
}

/// Generates and times the kernels of operations that are not made. The first launch of each gives it rings.
fn operations(
    program: &RingProgram,
    launches: &Launches,
    machine: &Machine,
    (recipes, tables): (&RecipeTable, Tables),
    made: &Made,
) -> Result<Operations, Error> {
    let degree = program.degree();
    let mut first: FxHashMap<Batch, Vec<RingParameters>> = FxHashMap::default();
    for launch in &launches.launches {
        if let Some(batch) = launches.batch(launch) {
            first.entry(batch).or_insert_with(|| launches.rings(program, launch));
        }
    }
    let kernels = first.into_par_iter().map(|(batch, rings)| {
        let recipe = recipes[&batch.kind()].clone();
        let first = |ring| rings.iter().position(|other| other == ring).unwrap_or_default();
        let making = Making {
            batch,
            recipe: Arc::clone(&recipe),
            tables,
            vdm_words: machine.vdm_words(),
            rings: rings.iter().map(first).collect(),
        };
        let kernel = made.get(making, |_| {
            let request = request(batch.operation, degree, &rings)?;
            let kernel = compile_small(&request, &recipe, machine, tables)?;
            let timed = Timed::of(&request, &kernel, machine);
            Ok(Arc::new(OperationKernel { timed, recipe, rings, kernel: OnceLock::new() }))
        });
        Ok((batch, kernel?))
    });
    kernels.collect()
}

/// A kernel that takes a larger part of the VDM has no scratch memory if it can do without.
const NEGLIGIBLE_SHARE: u32 = 16;

/// Compiles a kernel.
pub(crate) fn compile_small(
    request: &Request,
    recipe: &Recipe,
    machine: &Machine,
    tables: Tables,
) -> Result<Kernel, Error> {
    if tables == Tables::Small {
        return compile_within(request, recipe, machine, 0);
    }
    let kernel = compile(request, recipe, machine)?;
    if end(&kernel) <= machine.vdm_words() / NEGLIGIBLE_SHARE {
        return Ok(kernel);
    }
    let without_scratch = end(&kernel) - words(&kernel, Role::Scratch) as u32;
    let without_scratch = without_scratch.next_multiple_of(machine.vector_length());
    let smaller = compile_within(request, recipe, machine, without_scratch)?;
    Ok(if end(&smaller) <= without_scratch { smaller } else { kernel })
}

/// The words of the VDM from its beginning to the end of a kernel's last symbol.
fn end(kernel: &Kernel) -> u32 {
    let symbols = kernel.program.symbols.iter().filter(|symbol| symbol.space == Space::Vdm);
    symbols.map(|symbol| symbol.start + symbol.words).max().unwrap_or(0)
}

/// A modulus of kernels before their launch.
const PLACEHOLDER: u128 = 97;

/// The request of an operation in some rings.
///
/// # Errors
/// Returns an error if a modulus has no such root.
pub fn request(operation: RingOperation, degree: Degree, rings: &[RingParameters]) -> Result<Request, Error> {
    let automorphism = |k: u32, order: &str| {
        let parameters = vec![
            ("g".to_owned(), Setting::Number(k.into())),
            ("order".to_owned(), Setting::Word(order.to_owned())),
        ];
        (golden::AUTOMORPHISM, Parameters::new(parameters))
    };
    let (operation, parameters) = match operation {
        RingOperation::Ntt => (golden::NTT, Parameters::default()),
        RingOperation::Intt => (golden::INTT, Parameters::default()),
        RingOperation::AutomorphismOfValues { k } => automorphism(k, "evaluation"),
        RingOperation::AutomorphismOfCoefficients { k } => automorphism(k, "coefficients"),
    };
    let rings = rings.iter().map(|&(modulus, root)| Request::ring(operation, degree, modulus, root));
    Ok(Request { operation, rings: rings.collect::<Result<_, _>>()?, parameters })
}

/// The name of an elementwise kernel in reports: that of its only operation, or what such groups are
/// in most programs.
fn name_of(shape: &Elementwise) -> &'static str {
    if let [step] = &shape.steps[..] {
        return match step.op {
            StepOp::Add(..) => "add",
            StepOp::Subtract(..) => "sub",
            StepOp::Multiply(..) => "mul",
            StepOp::AddScalar(_) => "adds",
            StepOp::SubtractScalar(_) => "subs",
            StepOp::MultiplyScalar(_) => "muls",
            StepOp::MultiplyAdd(..) | StepOp::MultiplySubtract(..) => "mac",
            StepOp::MultiplyAddScalar(..) | StepOp::MultiplySubtractScalar(..) => "macs",
        };
    }
    let has = |wanted: fn(&StepOp) -> bool| shape.steps.iter().any(|step| wanted(&step.op));
    let product_sums = has(|op| matches!(op, StepOp::MultiplyAdd(..) | StepOp::MultiplySubtract(..)));
    let multiple_sums =
        has(|op| matches!(op, StepOp::MultiplyAddScalar(..) | StepOp::MultiplySubtractScalar(..)));
    let products = product_sums || has(|op| matches!(op, StepOp::Multiply(..)));
    let sums = product_sums || multiple_sums || has(|op| matches!(op, StepOp::Add(..)));
    let multiples = multiple_sums || has(|op| matches!(op, StepOp::MultiplyScalar(_)));
    match (products, sums, multiples) {
        (true, true, _) => "sum-of-products",
        (true, false, _) => "products",
        (false, true, true) => "sum-of-multiples",
        (false, _, _) if shape.moduli > 1 => "switch",
        (false, _, _) => "linear",
    }
}
