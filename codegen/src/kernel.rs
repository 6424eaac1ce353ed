//! Kernels: ring operations as programs that stand on their own.

mod layout;

use self::layout::Layout;
use crate::bounds::{PassBound, passes};
use crate::code::{BufferId, Claim, Code, MemRef, Tower, TowerId};
use crate::formula;
use crate::forwarding::{Removed, forward};
use crate::library;
use crate::lower::{Dialect, Memory, transform};
use crate::plan::{Algorithm, Plan, PlanError, Shape};
use crate::schedule::{Addresses, ScheduleError, Scheduled, Tuning, schedule};
use crate::search::{Effort, tune};
use b512_asm::reg::{REGISTERS, VECTOR_LENGTH};
use b512_asm::{AddressMode, Function, Instr, Op, Pipe, Program, Role};
use ring::modular::Modulus;
use ring::number::{NumberError, check_root, smallest_root, transform_modulus};
use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::timing::{Cycle, simulate};
use thiserror::Error;

/// What is to be generated, in one ring.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The ring operation.
    pub function: Function,
    /// The ring's degree: a power of two from 1024 to 131072.
    pub n: u32,
    /// See [`Ring::modulus`].
    pub modulus: u128,
    /// See [`Ring::root`].
    pub root: u128,
    /// How it is computed.
    pub plan: PlanChoice,
}

impl From<&Request> for Batch {
    fn from(request: &Request) -> Self {
        let Request { function, n, modulus, root, ref plan } = *request;
        Self { function, n, rings: vec![Ring { modulus, root }], plan: plan.clone() }
    }
}

/// What is to be generated, in one ring or several.
#[derive(Clone, PartialEq, Debug)]
pub struct Batch {
    /// The ring operation.
    pub function: Function,
    /// The ring's degree: a power of two from 1024 to 131072.
    pub n: u32,
    /// The rings, at least one. In more than one, the program computes the function for operands
    /// in each: the towers of a residue number system. They take turns, so that the pipes stay
    /// full where one small transform alone would leave them waiting.
    pub rings: Vec<Ring>,
    /// How it is computed.
    pub plan: PlanChoice,
}

/// The ring Z_modulus\[x\]/(x^n + 1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// The modulus: a prime that is 1 mod 2n, or, for functions without a transform, any odd
    /// number from 3 on.
    pub modulus: u128,
    /// psi, a primitive 2n-th root of unity modulo the modulus; not looked at where the function
    /// has no transform.
    pub root: u128,
}

impl Ring {
    /// A ring in which a function can be computed, with the smallest psi where the function needs
    /// one.
    ///
    /// # Errors
    /// Where there is none modulo `modulus`.
    pub fn new(function: Function, n: u32, modulus: u128) -> Result<Self, NumberError> {
        let root = if has_transform(function) { smallest_root(modulus, n.into())? } else { 0 };
        Ok(Self { modulus, root })
    }
}

/// How a kernel is computed.
#[derive(Clone, PartialEq, Debug)]
pub enum PlanChoice {
    /// The fastest known for the machine.
    Best,
    /// The classical constant-geometry pair, as in the paper: Korn-Lambiotte forward, Pease
    /// inverse, in rectangles, scheduled greedily without regard to the SRAMs. Between the natural
    /// and the bit-reversed order each direction has one of the two, see [`formula`].
    Classical,
    /// The forward transform of the classical pair and its inverse as the paper's numbers tell of
    /// its program: larger rectangles, and a scheduler that knows less. Meant for the machine
    /// `rpu-128x128-paper`.
    Paper,
    /// The classical pair in textbook order, with no knowledge of the machine.
    Unoptimised,
    /// A recipe, for instance from a file that a search wrote.
    Recipe(Box<Recipe>),
}

/// A plan and how it is scheduled.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The scheduler's settings.
    pub tuning: Tuning,
    /// The order that the scheduler is given.
    #[serde(default, skip_serializing_if = "Order::is_by_step")]
    pub order: Order,
    /// How far each of several towers trails the one before it, in instructions in textbook
    /// order; without it they come one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stagger: Option<u32>,
    /// The values that may be live at a time where registers take the place of memory, see
    /// [`forward`]; without it, every load and store of the plans is made. Where memory is not
    /// what the pipes wait for, registers may serve factors better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forwarding: Option<u32>,
    /// The plan of each transform of the kernel, forward ones first.
    pub plans: Vec<Plan>,
}

/// The order of a block's instructions before they are scheduled. Where the scheduler has a
/// choice, it prefers what comes first in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// All loads, then the steps on all registers, then all stores. Steps in a row that pair the
    /// same registers are done pair by pair.
    #[default]
    ByStep,
    /// All loads, then each step on all registers before the next one, then all stores: chains
    /// that do not depend on each other advance together.
    ByLevel,
    /// See [`Code::order_by_demand`].
    ByDemand,
}

impl Order {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_by_step(&self) -> bool {
        *self == Self::ByStep
    }
}

/// A generated kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// The program.
    pub program: Program,
    /// How it was made.
    pub recipe: Recipe,
    /// The vector code that it carries out.
    pub code: Code,
    /// What the code needs no more where the recipe forwards.
    pub removed: Removed,
    /// The schedule of that code.
    pub scheduled: Scheduled,
    /// Where the parts of memory are.
    addresses: Addresses,
}

/// Why a kernel cannot be generated.
#[derive(Clone, PartialEq, Debug, Error)]
pub enum Error {
    /// A ring that the generator does not cover.
    #[error("n = {n} is not covered: it must be a power of two from {least} to 131072")]
    Degree {
        /// The degree asked for.
        n: u32,
        /// The smallest degree of this function.
        least: u32,
    },
    /// Parameters that define no transform.
    #[error(transparent)]
    Number(#[from] NumberError),
    /// A modulus that is even or too small.
    #[error("the modulus {0:#x} must be odd and at least 3")]
    Modulus(u128),
    /// A name that is no function's.
    #[error("there is no kernel `{0}`")]
    Function(String),
    /// A batch without a ring.
    #[error("there is no ring to compute in; give at least one modulus")]
    NoRing,
    /// More rings than the address registers can tell apart.
    #[error(
        "{function} with n = {n} in {towers} rings needs {needed} address registers, but there are \
         {REGISTERS}; split the batch"
    )]
    TooManyRings {
        /// The function asked for.
        function: Function,
        /// The degree asked for.
        n: u32,
        /// The rings.
        towers: usize,
        /// Registers needed: one for each operand, result and other buffer, and two more.
        needed: usize,
    },
    /// A plan that computes nothing, or something else.
    #[error("the plan `{name}` is none: {error}")]
    Plan {
        /// The plan's name.
        name: String,
        /// What is wrong.
        error: PlanError,
    },
    /// A recipe for another function or size.
    #[error("{function} with n = {n} needs {expected}, but the recipe has {found}")]
    Recipe {
        /// The function asked for.
        function: Function,
        /// The degree asked for.
        n: u32,
        /// The plans that it needs.
        expected: String,
        /// The plans that the recipe has.
        found: String,
    },
    /// The code cannot be scheduled.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// Data beyond the vector data memory.
    #[error(
        "{function} with n = {n} needs {needed} words of vector data memory, but the machine has {available}; \
         `-p vdm.size_mib={}` would do", needed.div_ceil(1 << 16)
    )]
    DoesNotFit {
        /// The function asked for.
        function: Function,
        /// The degree asked for.
        n: u32,
        /// Words needed.
        needed: u32,
        /// Words of the machine.
        available: u32,
    },
    /// More instructions than the instruction memory holds.
    #[error(
        "the program has {needed} instructions, but the machine's instruction memory holds {available}; \
         `-p frontend.instruction_memory_kib={}` would do", needed.div_ceil(128)
    )]
    TooLong {
        /// Instructions of the program.
        needed: usize,
        /// Instructions that fit.
        available: usize,
    },
}

impl Kernel {
    /// How the kernel is computed: formulas, plans, instructions, bounds and the distance from
    /// them, as text.
    pub fn explain(&self, machine: &Machine) -> String {
        let mut text = String::new();
        for plan in &self.recipe.plans {
            text += &format!("formula  {}\n", formula::of(plan.algorithm, plan.log_n));
            text += &format!("plan     {}, {} passes\n", plan.name, plan.passes.len());
            for (number, pass) in plan.passes.iter().enumerate() {
                let registers: Vec<String> = pass.registers.iter().map(|bit| bit.0.to_string()).collect();
                text += &format!("  pass {number}: registers {}; {}\n", registers.join(" "), pass.steps);
            }
        }
        text += &match self.recipe.forwarding {
            None => "forwarding is off: every load and store of the plan is made\n".to_owned(),
            Some(registers) => {
                let Removed { loads, stores } = self.removed;
                format!(
                    "forwarding, {registers} values live at most: {loads} loads and {stores} stores fewer\n"
                )
            }
        };
        let timing = simulate(machine, &self.program);
        for pipe in Pipe::VECTOR {
            let (count, busy) = (timing.instructions[pipe.index()], timing.busy[pipe.index()]);
            text += &format!("{:<12} {count:>6} instructions, {busy:>7} cycles\n", pipe.name());
        }
        let (cycles, bounds) = (timing.cycles, timing.bounds);
        let ratio = |bound: Cycle| cycles.0 as f64 / bound.max(Cycle(1)).0 as f64;
        text += &format!(
            "{cycles} cycles; bounds: {} by resources, {} by dependence; {:.2} times the larger\n",
            bounds.resource,
            bounds.dependence,
            ratio(bounds.resource.max(bounds.dependence))
        );
        let passes = self.bounds(machine);
        for (number, pass) in passes.iter().enumerate() {
            let (resource, dependence) = (pass.resource, pass.dependence);
            text += &format!("pass {number}: bounds: {resource} by resources, {dependence} by dependence\n");
        }
        let sum = Cycle(passes.iter().map(|pass| pass.cycles().0).sum());
        text += &format!("{sum} cycles by the larger of each pass; {:.2} times that\n", ratio(sum));
        text
    }

    /// The bounds of the passes of the vector code on a machine, in order.
    pub fn bounds(&self, machine: &Machine) -> Vec<PassBound> {
        passes(&self.code, &self.addresses, &self.program.addresses, machine)
    }
}

/// Generates a kernel for a machine.
///
/// # Errors
/// Where the request cannot be met, and why.
pub fn generate(request: &Request, machine: &Machine) -> Result<Kernel, Error> {
    generate_batch(&request.into(), machine)
}

/// Generates a kernel that computes in several rings.
///
/// # Errors
/// Where the batch cannot be computed, and why.
pub fn generate_batch(batch: &Batch, machine: &Machine) -> Result<Kernel, Error> {
    validate(batch)?;
    let recipe = recipe(batch, machine)?;
    generate_with(batch, recipe, machine)
}

const fn has_transform(function: Function) -> bool {
    matches!(function, Function::Ntt | Function::Intt | Function::Polymul)
}

fn validate(batch: &Batch) -> Result<(), Error> {
    let n = batch.n;
    let transforms = has_transform(batch.function);
    let least = if transforms { 1024 } else { VECTOR_LENGTH as u32 };
    if !n.is_power_of_two() || !(least..=1 << 17).contains(&n) {
        return Err(Error::Degree { n, least });
    }
    if batch.rings.is_empty() {
        return Err(Error::NoRing);
    }
    for &Ring { modulus, root } in &batch.rings {
        if transforms {
            transform_modulus(modulus, n.into())?;
            check_root(modulus, n.into(), root)?;
        } else {
            Modulus::new(modulus).map_err(|_| Error::Modulus(modulus))?;
        }
    }
    Ok(())
}

/// The algorithms of the transforms of a function, in order of their appearance in a recipe.
pub(crate) fn algorithms(function: Function) -> &'static [&'static [Algorithm]] {
    const FORWARD: &[Algorithm] = &[Algorithm::Forward];
    const INVERSE: &[Algorithm] = &[Algorithm::Inverse, Algorithm::InverseTwisted];
    match function {
        Function::Ntt => &[FORWARD],
        Function::Intt => &[INVERSE],
        Function::Polymul => &[FORWARD, INVERSE],
        Function::Add | Function::Sub | Function::Mul => &[],
    }
}

/// The recipe of a function by the classical pair, in rectangles of `depth` stages, 1 to 5; the
/// whole transform is one where 32 registers hold it. `n` is the ring's degree, a power of two
/// from 1024 to 131072.
pub fn classical(function: Function, n: u32, depth: u32, tuning: Tuning) -> Recipe {
    let log_n = n.trailing_zeros();
    let depth = if log_n <= 14 { 5 } else { depth };
    let forward = Plan::korn_lambiotte(Shape::b512(log_n), depth);
    let plans = algorithms(function).iter().map(|algorithms| match algorithms[0] {
        Algorithm::Forward => forward.clone(),
        inverse => forward.reversed("pease", inverse).expect("Korn-Lambiotte is a plan"),
    });
    Recipe { tuning, order: Order::ByStep, stagger: None, forwarding: None, plans: plans.collect() }
}

fn recipe(batch: &Batch, machine: &Machine) -> Result<Recipe, Error> {
    let classical = |depth, tuning| classical(batch.function, batch.n, depth, tuning);
    Ok(match &batch.plan {
        PlanChoice::Classical => classical(4, Tuning::spiral()),
        PlanChoice::Paper => classical(5, Tuning::paper()),
        PlanChoice::Unoptimised => classical(4, Tuning::textbook()),
        PlanChoice::Recipe(recipe) => (**recipe).clone(),
        PlanChoice::Best => match library::lookup(batch, machine) {
            Some(recipe) => recipe,
            None => tune(batch, machine, Effort::QUICK, &(), |_, _, _| ())?.recipe,
        },
    })
}

fn generate_with(batch: &Batch, recipe: Recipe, machine: &Machine) -> Result<Kernel, Error> {
    let (mut code, mut removed) = lower(batch, &recipe, machine, "scratch")?;
    let mut layout = Layout::new(batch, &code, recipe.tuning.table)?;
    if layout.end > machine.vdm_words() && matches!(batch.function, Function::Ntt | Function::Intt) {
        // A transform that is short of memory works in its operand, which it then overwrites.
        (code, removed) = lower(batch, &recipe, machine, "x")?;
        layout = Layout::new(batch, &code, recipe.tuning.table)?;
    }
    let launch = layout.launch();
    let prologue = layout.prologue(&code);
    let mut scheduled = schedule(&code, &layout.addresses, &launch, &prologue, machine, &recipe.tuning)?;
    scheduled.instructions.push(Instr::Halt {});
    scheduled.origin.push(None);

    layout.end += scheduled.spill_words;
    let (needed, available) = (layout.end, machine.vdm_words());
    if needed > available {
        let (function, n) = (batch.function, batch.n);
        return Err(Error::DoesNotFit { function, n, needed, available });
    }
    let (needed, available) = (scheduled.instructions.len(), machine.instruction_capacity());
    if needed > available {
        return Err(Error::TooLong { needed, available });
    }
    let program = layout.program(batch, &code, &scheduled, &launch);
    Ok(Kernel { program, recipe, code, removed, scheduled, addresses: layout.addresses })
}

/// The vector code of a batch, and what forwarding has removed from it.
///
/// `scratch` names the second buffer of a transform whose passes do not work in place.
fn lower(batch: &Batch, recipe: &Recipe, machine: &Machine, scratch: &str) -> Result<(Code, Removed), Error> {
    let Batch { function, n, ref rings, .. } = *batch;
    let wanted = algorithms(function);
    let fits = recipe.plans.len() == wanted.len()
        && recipe.plans.iter().zip(wanted).all(|(plan, algorithms)| {
            plan.log_n == n.trailing_zeros() && algorithms.contains(&plan.algorithm)
        });
    if !fits {
        let describe = |plan: &Plan| format!("{:?} for n = {}", plan.algorithm, 1u64 << plan.log_n);
        return Err(Error::Recipe {
            function,
            n,
            expected: format!("{wanted:?}"),
            found: recipe.plans.iter().map(describe).collect::<Vec<_>>().join(", "),
        });
    }
    let dialect =
        Dialect { gs_butterfly: machine.isa.gs_butterfly, by_level: recipe.order == Order::ByLevel };
    let mut code = Code::default();
    for (number, &Ring { modulus, root }) in rings.iter().enumerate() {
        let tower = code.tower(Tower { n, modulus, root });
        // The towers of a batch have buffers of their own, with the tower's number in their names.
        let suffix = if rings.len() > 1 { number.to_string() } else { String::new() };
        lower_tower(&mut code, tower, function, &recipe.plans, dialect, scratch, &suffix)?;
    }
    let removed = recipe.forwarding.map(|registers| forward(&mut code, registers)).unwrap_or_default();
    if recipe.order == Order::ByDemand {
        code.order_by_demand();
    }
    if let Some(stagger) = recipe.stagger {
        code.interleave(stagger);
    }
    Ok((code, removed))
}

/// Appends the code of one tower.
fn lower_tower(
    code: &mut Code,
    tower: TowerId,
    function: Function,
    plans: &[Plan],
    dialect: Dialect,
    scratch: &str,
    suffix: &str,
) -> Result<(), Error> {
    let n = code.towers[tower.index()].n;
    let name = |name: &str| format!("{name}{suffix}");
    let run = |code: &mut Code, plan: &Plan, input, output, scratch: &str, times| {
        let (scratch, spare) = (&*name(scratch), &*name("scratch"));
        transform(code, dialect, plan, tower, Memory { input, output, scratch, spare, times })
            .map_err(|error| Error::Plan { name: plan.name.clone(), error })
    };
    let (inputs, output) = match function {
        Function::Ntt | Function::Intt => {
            let (x, y) = (code.buffer(name("x"), n, Role::Input), code.buffer(name("y"), n, Role::Output));
            run(code, &plans[0], x, y, scratch, None)?;
            (vec![x], y)
        }
        Function::Polymul => {
            let (a, b) = (code.buffer(name("a"), n, Role::Input), code.buffer(name("b"), n, Role::Input));
            let c = code.buffer(name("c"), n, Role::Output);
            let product = code.buffer(name("product"), n, Role::Scratch);
            run(code, &plans[0], a, c, "product", None)?;
            code.first_pass();
            run(code, &plans[0], b, product, "scratch", Some(c))?;
            run(code, &plans[1], product, c, "scratch", None)?;
            (vec![a, b], c)
        }
        Function::Add | Function::Sub | Function::Mul => {
            let (a, b) = (code.buffer(name("a"), n, Role::Input), code.buffer(name("b"), n, Role::Input));
            let c = code.buffer(name("c"), n, Role::Output);
            let op = match function {
                Function::Add => Op::Vadd,
                Function::Sub => Op::Vsub,
                _ => Op::Vmul,
            };
            pointwise(code, op, tower, n, [a, b], c);
            (vec![a, b], c)
        }
    };
    code.claims.push(Claim { output, function, inputs, tower });
    Ok(())
}

fn pointwise(code: &mut Code, op: Op, tower: TowerId, n: u32, inputs: [BufferId; 2], output: BufferId) {
    for word in (0..n).step_by(VECTOR_LENGTH) {
        let at = |buffer| MemRef { buffer, word, mode: AddressMode::Linear };
        let values = inputs.map(|input| code.load(at(input), tower));
        let result = code.apply(op, values, None, tower);
        code.store(result, at(output), tower);
    }
}
