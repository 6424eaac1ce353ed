//! The kernels of a program, each generated and timed once.
//!
//! Timing does not depend on data, moduli or scalars. A transform's kernel is chosen for the machine
//! once, and has other tables for each modulus and root. An elementwise kernel works on slices of at
//! most [`SLICE_VECTORS`] vectors: one launch runs it on slice after slice, with other addresses.

use crate::flow::Direction;
use crate::lift::{Launches, ShapeId, Work};
use b512_asm::{MReg, Program, Role, Space};
use codegen::elementwise::{Elementwise, StepOp};
use codegen::{Error, Kernel, PlanChoice, Request, compile, instantiate};
use golden::Operation;
use rayon::prelude::*;
use ring::{Degree, Ring};
use ring_program::RingProgram;
use sim::timing::{Timing, simulate};
use sim::{Energy, Events, Machine};

/// The vectors of the longest slice of a limb.
pub const SLICE_VECTORS: u32 = 8;

/// A kernel with its timing.
#[derive(Debug)]
pub struct Timed {
    /// The name in reports.
    pub name: &'static str,
    /// The kernel.
    pub kernel: Kernel,
    /// The runs of one launch.
    pub runs: u32,
    /// The cycles of one run.
    pub timing: Timing,
    /// The energy of one run, in uJ.
    pub energy_uj: f64,
    /// The words of the VDM beside the operands and the table.
    pub scratch_words: u64,
    /// The words of its table of factors.
    pub table_words: u32,
    /// Whether it overwrites its operand to save space.
    pub overwrites_operand: bool,
    /// The registers of the moduli, in order.
    pub moduli: Vec<MReg>,
    /// The words of the SDM with the scalars, in order.
    pub scalars: Vec<u32>,
}

impl Timed {
    fn new(name: &'static str, kernel: Kernel, runs: u32, scalars: usize, machine: &Machine) -> Self {
        let mut timing = simulate(machine, &kernel.program);
        // They are as many as instructions, and of no use here.
        timing.timestamps = Vec::new();
        let energy = Energy::of(&machine.technology.energy, &Events::of(&kernel.program));
        let address = |scalar| kernel.scalar_address(scalar).expect("the kernel has its scalars");
        Self {
            name,
            runs,
            timing,
            energy_uj: energy.total(),
            scratch_words: words(&kernel, Role::Scratch),
            table_words: words(&kernel, Role::Table) as u32,
            overwrites_operand: overwrites_operand(&kernel),
            moduli: kernel.program.moduli.iter().map(|&(register, _)| register).collect(),
            scalars: (0..scalars as u128).map(address).collect(),
            kernel,
        }
    }

    /// The time of one launch on the machine that it was timed for, in ns.
    pub fn launch_ns(&self, machine: &Machine) -> f64 {
        f64::from(self.runs) * self.timing.cycles.0 as f64 / machine.frequency_ghz()
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

/// The kernels of a program for a machine.
#[derive(Debug)]
pub struct Kernels {
    degree: Degree,
    elementwise: Vec<Timed>,
    forward: Option<Timed>,
    inverse: Option<Timed>,
    /// The words of a limb that a run of an elementwise kernel works on.
    slice: u32,
}

impl Kernels {
    /// Generates and times the kernels that `launches` need.
    ///
    /// # Errors
    /// Returns an error if a kernel does not fit the machine, or if its vectors are longer than a limb.
    pub fn new(program: &RingProgram, launches: &Launches, machine: &Machine) -> Result<Self, Error> {
        let degree = program.degree();
        let n = degree.get() as u32;
        let slice = n.min(SLICE_VECTORS * machine.isa.vector_length);
        let elementwise: Vec<Timed> = launches
            .shapes
            .par_iter()
            .map(|shape| {
                let (name, placeholder) = (name_of(shape), PLACEHOLDER);
                let kernel = shape.compile(format!("{name}{slice}"), slice, placeholder, machine)?;
                Ok(Timed::new(name, kernel, n / slice, shape.scalars(), machine))
            })
            .collect::<Result<_, Error>>()?;
        let transform = |direction| -> Result<Option<Timed>, Error> {
            let is_such =
                |work: &Work| matches!(work, Work::Transform { direction: of, .. } if *of == direction);
            let launch = launches.launches.iter().find(|launch| is_such(&launch.work));
            let Some((launch, Work::Transform { root, .. })) = launch.map(|launch| (launch, launch.work))
            else {
                return Ok(None);
            };
            let operation = operation(direction);
            let modulus = program.moduli().value(launches.moduli(launch)[0]);
            let request = Request::single(operation, Ring::with_root(degree, modulus, root)?);
            let recipe = codegen::choose(&request, machine, &PlanChoice::Best)?.recipe;
            Ok(Some(Timed::new(operation.name(), compile(&request, &recipe, machine)?, 1, 0, machine)))
        };
        let (forward, inverse) = (transform(Direction::Forward)?, transform(Direction::Inverse)?);
        Ok(Self { degree, elementwise, forward, inverse, slice })
    }

    /// The words of a limb that a run of an elementwise kernel works on.
    pub fn slice(&self) -> u32 {
        self.slice
    }

    /// The elementwise kernel of a shape.
    pub fn elementwise(&self, shape: ShapeId) -> &Timed {
        &self.elementwise[shape.index()]
    }

    /// The kernel of a transform.
    ///
    /// # Panics
    /// Panics if the program has no such transform.
    pub fn transform(&self, direction: Direction) -> &Timed {
        let kernel = match direction {
            Direction::Forward => &self.forward,
            Direction::Inverse => &self.inverse,
        };
        kernel.as_ref().expect("the program has such a transform")
    }

    /// The program of a transform in one ring.
    ///
    /// # Errors
    /// Returns an error if the modulus has no such root.
    pub fn transform_program(
        &self,
        direction: Direction,
        modulus: u128,
        root: u128,
    ) -> Result<Program, Error> {
        let ring = Ring::with_root(self.degree, modulus, root)?;
        instantiate(&self.transform(direction).kernel, &Request::single(operation(direction), ring))
    }
}

/// A modulus of kernels before their launch.
const PLACEHOLDER: u128 = 97;

/// The ring operation of a transform.
fn operation(direction: Direction) -> Operation {
    match direction {
        Direction::Forward => golden::NTT,
        Direction::Inverse => golden::INTT,
    }
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
        };
    }
    let has = |wanted: fn(&StepOp) -> bool| shape.steps.iter().any(|step| wanted(&step.op));
    let products = has(|op| matches!(op, StepOp::Multiply(..)));
    let sums = has(|op| matches!(op, StepOp::Add(..)));
    let multiples = has(|op| matches!(op, StepOp::MultiplyScalar(_)));
    match (products, sums, multiples) {
        (true, true, _) => "sum-of-products",
        (true, false, _) => "products",
        (false, true, true) => "sum-of-multiples",
        (false, _, _) if shape.moduli > 1 => "switch",
        (false, _, _) => "linear",
    }
}
