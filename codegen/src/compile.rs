//! Compilation: a request and a recipe become a kernel. Pure, and fast.

use crate::code::{Code, Tower};
use crate::error::Error;
use crate::forwarding::{Removed, forward};
use crate::kernel::Kernel;
use crate::layout::{Layout, TooMany};
use crate::lower::Dialect;
use crate::ops::{self, Builder, Workspace};
use crate::plan::Plan;
use crate::recipe::{Order, Recipe};
use crate::request::Request;
use crate::schedule::{Graph, Partial, Scheduled, Tuning, schedule};
use b512_asm::{Instr, Isa, Program};
use sim::Machine;
use sim::machine::VbarPaths;
use sim::timing::simulate;

/// Compiles a request by a recipe for a machine.
///
/// # Errors
/// Returns an error if the request is invalid, the recipe does not suit it, or the program does not
/// fit the machine.
pub fn compile(request: &Request, recipe: &Recipe, machine: &Machine) -> Result<Kernel, Error> {
    compile_within(request, recipe, machine, machine.vdm_words())
}

/// As [`compile`], for a kernel in at most `words` words of the VDM: it saves memory at the cost of time, and
/// may overwrite its operand. If `words` is too small, the kernel is as small as possible.
///
/// # Errors
/// Returns the errors of [`compile`].
pub fn compile_within(
    request: &Request,
    recipe: &Recipe,
    machine: &Machine,
    words: u32,
) -> Result<Kernel, Error> {
    let prepared = Prepared::within(request, recipe, machine, words)?;
    let scheduled = prepared.schedule(machine, &recipe.tuning)?;
    prepared.emit(recipe, machine, scheduled)
}

/// The words of the VDM that the smallest kernel of a recipe takes. It is not scheduled, which takes most of
/// the time of [`compile_within`].
///
/// # Errors
/// Returns an error if the request is invalid or the recipe does not suit it.
pub fn least_words(request: &Request, recipe: &Recipe, machine: &Machine) -> Result<u32, Error> {
    Ok(Prepared::within(request, recipe, machine, 0)?.layout.end)
}

/// Vector code with its memory map, ready for scheduling.
///
/// It depends on all parts of a recipe but most of the scheduler's settings, see [`Self::serves`], and is the
/// same on machines with the same extensions, memories and beats. A search schedules it many times.
pub(crate) struct Prepared {
    name: String,
    code: Code,
    removed: Removed,
    layout: Layout,
    graph: Graph,
    /// Whether the fastest use of memory did not fit the machine.
    saves_memory: bool,
}

impl Prepared {
    /// # Errors
    /// Returns an error if the request is invalid or the recipe does not suit it.
    pub(crate) fn new(request: &Request, recipe: &Recipe, machine: &Machine) -> Result<Self, Error> {
        Self::within(request, recipe, machine, machine.vdm_words())
    }

    /// The code with the fastest use of memory that fits in `words`, or else with the smallest.
    fn within(request: &Request, recipe: &Recipe, machine: &Machine, words: u32) -> Result<Self, Error> {
        let page = machine.page_words(request.n().into()) as u32;
        let machine = &recipe.tuning.assumed(machine);
        let (isa, words) = (machine.instruction_set(), words.min(machine.vdm_words()));
        request.check(isa)?;
        check_recipe(request, recipe, machine)?;
        let mut uses = memory_uses(request, machine).peekable();
        let mut saves_memory = false;
        while let Some(memory_use) = uses.next() {
            let (code, removed) = lower(isa, request, recipe, machine, memory_use)?;
            let layout =
                Layout::new(&code, recipe.tuning.table, page).map_err(|error| error.for_request(request))?;
            if layout.end <= words || uses.peek().is_none() {
                return Ok(Self { saves_memory, ..Self::of(request.name(), code, removed, layout) });
            }
            saves_memory = true;
        }
        unreachable!("the last use of memory is emitted, or is refused there")
    }

    fn of(name: String, code: Code, removed: Removed, layout: Layout) -> Self {
        let graph = Graph::of(&code);
        Self { name, code, removed, layout, graph, saves_memory: false }
    }

    /// Whether the machine's memory is too small for the fastest code.
    pub(crate) fn saves_memory(&self) -> bool {
        self.saves_memory
    }

    /// Whether two recipes differ in scheduling only, so that they share the code on a machine.
    pub(crate) fn serves(one: &Recipe, other: &Recipe, machine: &Machine) -> bool {
        let of = |recipe: &Recipe| (recipe.order, recipe.stagger, recipe.forwarding, recipe.tuning.table);
        let of_machine = |recipe: &Recipe| {
            let machine = recipe.tuning.assumed(machine);
            (machine.vdm_words(), longest_factor_bits(&machine), machine.isa.clone())
        };
        of(one) == of(other)
            && one.method == other.method
            && one.plans == other.plans
            && (one.tuning.assume == other.tuning.assume || of_machine(one) == of_machine(other))
    }

    /// Whether forwarding, if the recipe asks for it, had no effect.
    pub(crate) fn removes_nothing(&self) -> bool {
        self.removed == Removed::default()
    }

    /// The beginning of a schedule of the code. `assumed` is the machine that the tuning assumes.
    pub(crate) fn start<'a>(&'a self, assumed: &'a Machine, tuning: &'a Tuning) -> Partial<'a> {
        let Self { code, layout, graph, .. } = self;
        Partial::start(code, graph, &layout.addresses, &layout.launch(), assumed, tuning)
    }

    /// The number of instructions of the code.
    pub(crate) fn instructions(&self) -> usize {
        self.code.insts.len()
    }

    /// Schedules the code.
    pub(crate) fn schedule(&self, machine: &Machine, tuning: &Tuning) -> Result<Scheduled, Error> {
        let Self { code, layout, graph, .. } = self;
        let mut scheduled = schedule(code, graph, &layout.addresses, &layout.launch(), machine, tuning)?;
        scheduled.instructions.push(Instr::Halt {});
        scheduled.origin.push(None);
        Ok(scheduled)
    }

    /// The program of a schedule, without tables and scalars. They do not affect its timing.
    ///
    /// # Errors
    /// Returns an error if it does not fit the machine.
    pub(crate) fn outline(&self, machine: &Machine, scheduled: &Scheduled) -> Result<Program, Error> {
        let outline = self.layout.outline(self.name.clone(), &self.code, &self.code.towers, scheduled);
        machine.check_fits(&outline)?;
        // Only a run tells the distance between accesses of both paths.
        if machine.vbar.paths == VbarPaths::Split
            && let Some(overtaking) = simulate(machine, &outline).overtaking(machine, &outline)
        {
            let instr = |index: usize| outline.instructions[index].to_string();
            let (earlier, later) = (instr(overtaking.earlier), instr(overtaking.later));
            return Err(Error::Overtaking { earlier, later });
        }
        Ok(outline)
    }

    /// Makes a kernel of a schedule.
    fn emit(self, recipe: &Recipe, machine: &Machine, scheduled: Scheduled) -> Result<Kernel, Error> {
        let outline = self.outline(machine, &scheduled)?;
        let program = self.layout.with_data(outline, &self.code, &self.code.towers)?;
        let Self { code, removed, layout, .. } = self;
        Ok(Kernel { program, recipe: recipe.clone(), code, removed, scheduled, layout })
    }
}

/// The use of memory by vector code.
#[derive(Clone, Copy)]
struct MemoryUse {
    workspace: Workspace,
    /// See [`Dialect::factor_bits`].
    factor_bits: u32,
    /// See [`Dialect::most_factor_bits`].
    most_factor_bits: u32,
}

/// The smallest table has 1/16 of the degree for each stage.
const MOST_HALVINGS: u32 = 4;

/// The binary logarithm of the words that a constant with one number in all lanes needs for loads at full
/// speed.
pub(crate) fn longest_factor_bits(machine: &Machine) -> u32 {
    let lanes_per_beat = machine.hple.count.min(machine.vdm.banks);
    if machine.vdm.multicast { 0 } else { lanes_per_beat.ilog2() }
}

/// The memory usages to try until one fits the machine, from the fastest to the smallest.
fn memory_uses(request: &Request, machine: &Machine) -> impl Iterator<Item = MemoryUse> {
    let longest = longest_factor_bits(machine);
    let smallest = if ops::of(request.operation).may_overwrite_operand() {
        Workspace::Operand
    } else {
        Workspace::Separate
    };
    let most = request.n().ilog2();
    let first = MemoryUse { workspace: Workspace::Separate, factor_bits: longest, most_factor_bits: most };
    let smaller = move |factor_bits| MemoryUse { workspace: smallest, factor_bits, ..first };
    let smaller = (0..=longest).rev().map(smaller).skip(usize::from(smallest == Workspace::Separate));
    let halvings = if ops::of(request.operation).transforms().is_empty() { 0 } else { MOST_HALVINGS };
    let smallest_table = MemoryUse { workspace: smallest, factor_bits: 0, ..first };
    let halved = (1..=halvings)
        .map(move |halvings| MemoryUse { most_factor_bits: most.saturating_sub(halvings), ..smallest_table });
    std::iter::once(first).chain(smaller).chain(halved)
}

/// The program of a kernel for a request that differs in its rings only. The vector code names numbers whose
/// residues follow from the rings, so that the schedule and the memory map are those of the kernel.
///
/// # Errors
/// Returns an error if the request is invalid, or if a number has no inverse modulo a new modulus.
pub fn instantiate(kernel: &Kernel, request: &Request) -> Result<Program, Error> {
    let Kernel { program, code, scheduled, layout, .. } = kernel;
    request.check(code.isa)?;
    let towers: Vec<Tower> = request.rings.iter().map(Tower::of).collect();
    let outline = layout.outline(program.name.clone(), code, &towers, scheduled);
    layout.with_data(outline, code, &towers)
}

/// Compiles vector code that no request describes. The recipe gives the settings of the schedule.
///
/// # Errors
/// Returns an error if the code has too many operands, or no schedule.
pub fn compile_code(name: String, code: Code, recipe: &Recipe, machine: &Machine) -> Result<Kernel, Error> {
    // No launch shares its table.
    let layout = Layout::new(&code, recipe.tuning.table, 1)
        .map_err(|TooMany(needed)| Error::TooManyOperands { needed })?;
    let prepared = Prepared::of(name, code, Removed::default(), layout);
    let scheduled = prepared.schedule(machine, &recipe.tuning)?;
    prepared.emit(recipe, machine, scheduled)
}

/// Checks that the recipe has a method that applies, and a plan of the right degree and direction for each
/// transform.
fn check_recipe(request: &Request, recipe: &Recipe, machine: &Machine) -> Result<(), Error> {
    let method = ops::method(recipe.method.as_deref(), request, machine)?;
    let (operation, n, isa) = (request.operation, request.n(), machine.instruction_set());
    let op = ops::of(operation);
    let wanted = if op.has_plans(method) { op.transforms() } else { &[] };
    let fits = recipe.plans.len() == wanted.len()
        && recipe.plans.iter().zip(wanted).all(|(plan, &direction)| {
            plan.shape() == request.shape(isa) && plan.algorithm.direction() == direction
        });
    if fits {
        return Ok(());
    }
    let list = |plans: Vec<String>| if plans.is_empty() { "no plan".to_owned() } else { plans.join(" and ") };
    let describe = |plan: &Plan| {
        // A plan from a file may have any numbers.
        let power =
            |log: u32| 1u64.checked_shl(log).map_or_else(|| format!("2^{log}"), |power| power.to_string());
        let (degree, lanes) = (power(plan.log_n), power(plan.shape().lanes));
        format!("one of the {} transform of degree {degree} in {lanes} lanes", plan.algorithm.direction())
    };
    Err(Error::Recipe {
        operation,
        n,
        expected: list(
            wanted.iter().map(|direction| format!("a plan of the {direction} transform")).collect(),
        ),
        found: list(recipe.plans.iter().map(describe).collect()),
    })
}

/// The vector code of a request, and the accesses that forwarding removed from it.
fn lower(
    isa: Isa,
    request: &Request,
    recipe: &Recipe,
    machine: &Machine,
    MemoryUse { workspace, factor_bits, most_factor_bits }: MemoryUse,
) -> Result<(Code, Removed), Error> {
    let by_level = recipe.order == Order::ByLevel;
    let gs_butterfly = machine.isa.gs_butterfly;
    let dialect = Dialect { gs_butterfly, by_level, factor_bits, most_factor_bits };
    let mut code = Code::for_isa(isa);
    let plans = &recipe.plans;
    let method = ops::method(recipe.method.as_deref(), request, machine)?;
    let mut builder = Builder { code: &mut code, request, plans, dialect, workspace, method };
    ops::of(request.operation).lower(&mut builder)?;
    let removed = recipe.forwarding.map(|registers| forward(&mut code, registers)).unwrap_or_default();
    if recipe.order == Order::ByDemand {
        code.order_by_demand();
    }
    if let Some(stagger) = recipe.stagger {
        code.interleave(stagger);
    }
    Ok((code, removed))
}
