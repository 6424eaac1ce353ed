//! Kernels: ring operations as programs that stand on their own.

use crate::code::{BufferId, Claim, Code, MemRef, Tower, TowerId};
use crate::formula;
use crate::library;
use crate::lower::{Dialect, Memory, transform};
use crate::number::{NumberError, check_root, transform_modulus};
use crate::plan::{Algorithm, Plan, PlanError};
use crate::schedule::{Addresses, ScheduleError, Scheduled, Tuning, schedule};
use crate::search::{Effort, tune};
use b512_asm::reg::VECTOR_LENGTH;
use b512_asm::{
    AReg, AddressMode, Equation, Function, Image, Instr, MReg, Offset, Op, Pipe, Program, Role, SReg,
    Segment, Space, Symbol,
};
use serde::{Deserialize, Serialize};
use sim::Machine;
use sim::modular::Modulus;
use sim::timing::{Cycle, simulate};
use thiserror::Error;

/// What is to be generated.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    /// The ring operation.
    pub function: Function,
    /// The ring's degree: a power of two from 1024 to 131072.
    pub n: u32,
    /// The modulus: a prime that is 1 mod 2n, or, for functions without a transform, any odd
    /// number from 3 on.
    pub modulus: u128,
    /// psi, a primitive 2n-th root of unity modulo the modulus; not looked at where the function
    /// has no transform.
    pub root: u128,
    /// How it is computed.
    pub plan: PlanChoice,
}

/// How a kernel is computed.
#[derive(Clone, PartialEq, Debug)]
pub enum PlanChoice {
    /// The fastest known for the machine.
    Best,
    /// The classical constant-geometry pair, as in the paper: Korn-Lambiotte forward, Pease
    /// inverse, in rectangles, scheduled greedily without regard to the SRAMs.
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
    /// The plan of each transform of the kernel, forward ones first.
    pub plans: Vec<Plan>,
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
    /// The schedule of that code.
    pub scheduled: Scheduled,
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
        let timing = simulate(machine, &self.program);
        for pipe in Pipe::VECTOR {
            let (count, busy) = (timing.instructions[pipe.index()], timing.busy[pipe.index()]);
            text += &format!("{:<12} {count:>6} instructions, {busy:>7} cycles\n", pipe.name());
        }
        let (cycles, bounds) = (timing.cycles, timing.bounds);
        let ratio = cycles.0 as f64 / bounds.resource.max(bounds.dependence).max(Cycle(1)).0 as f64;
        text += &format!(
            "{cycles} cycles; bounds: {} by resources, {} by dependence; {ratio:.2} times the larger\n",
            bounds.resource, bounds.dependence
        );
        text
    }
}

/// Generates a kernel for a machine.
///
/// # Errors
/// Where the request cannot be met, and why.
pub fn generate(request: &Request, machine: &Machine) -> Result<Kernel, Error> {
    validate(request)?;
    let recipe = recipe(request, machine)?;
    generate_with(request, recipe, machine)
}

fn validate(request: &Request) -> Result<(), Error> {
    let n = request.n;
    let transforms = matches!(request.function, Function::Ntt | Function::Intt | Function::Polymul);
    let least = if transforms { 1024 } else { VECTOR_LENGTH as u32 };
    if !n.is_power_of_two() || !(least..=1 << 17).contains(&n) {
        return Err(Error::Degree { n, least });
    }
    if transforms {
        transform_modulus(request.modulus, n.into())?;
        check_root(request.modulus, n.into(), request.root)?;
    } else {
        Modulus::new(request.modulus).map_err(|_| Error::Modulus(request.modulus))?;
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

fn recipe(request: &Request, machine: &Machine) -> Result<Recipe, Error> {
    let log_n = request.n.trailing_zeros();
    // Rectangles of so many stages, or the whole transform where 32 registers hold it.
    let classical = |depth, tuning| {
        let depth = if log_n <= 14 { 5 } else { depth };
        let forward = Plan::korn_lambiotte(log_n, depth);
        let plans = algorithms(request.function).iter().map(|algorithms| match algorithms[0] {
            Algorithm::Forward => forward.clone(),
            inverse => forward.reversed("pease", inverse).expect("Korn-Lambiotte is a plan"),
        });
        Recipe { tuning, plans: plans.collect() }
    };
    Ok(match &request.plan {
        PlanChoice::Classical => classical(4, Tuning::spiral()),
        PlanChoice::Paper => classical(5, Tuning::paper()),
        PlanChoice::Unoptimised => classical(4, Tuning::textbook()),
        PlanChoice::Recipe(recipe) => (**recipe).clone(),
        PlanChoice::Best => match library::lookup(request, machine) {
            Some(recipe) => recipe,
            None => tune(request, machine, Effort::QUICK, |_, _, _| ())?.recipe,
        },
    })
}

fn generate_with(request: &Request, recipe: Recipe, machine: &Machine) -> Result<Kernel, Error> {
    let mut code = lower(request, &recipe, machine, "scratch")?;
    let mut layout = Layout::new(&code);
    if layout.end > machine.vdm_words() && matches!(request.function, Function::Ntt | Function::Intt) {
        // A transform that is short of memory works in its operand, which it then overwrites.
        code = lower(request, &recipe, machine, "x")?;
        layout = Layout::new(&code);
    }
    let launch = layout.launch();
    let prologue = layout.prologue(&code);
    let mut scheduled = schedule(&code, &layout.addresses, &launch, &prologue, machine, &recipe.tuning)?;
    scheduled.instructions.push(Instr::Halt {});
    scheduled.origin.push(None);

    layout.end += scheduled.spill_words;
    let (needed, available) = (layout.end, machine.vdm_words());
    if needed > available {
        let (function, n) = (request.function, request.n);
        return Err(Error::DoesNotFit { function, n, needed, available });
    }
    let (needed, available) = (scheduled.instructions.len(), machine.instruction_capacity());
    if needed > available {
        return Err(Error::TooLong { needed, available });
    }
    let program = layout.program(request, &code, &scheduled, &launch);
    Ok(Kernel { program, recipe, code, scheduled })
}

/// The vector code of a request.
///
/// `scratch` names the second buffer of a transform whose passes do not work in place.
fn lower(request: &Request, recipe: &Recipe, machine: &Machine, scratch: &str) -> Result<Code, Error> {
    let Request { function, n, modulus, root, .. } = *request;
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
    let dialect = Dialect { gs_butterfly: machine.isa.gs_butterfly };
    let mut code = Code::default();
    let tower = code.tower(Tower { n, modulus, root });
    let run = |code: &mut Code, plan: &Plan, input, output, scratch: &str, times| {
        transform(code, dialect, plan, tower, Memory { input, output, scratch, times })
            .map_err(|error| Error::Plan { name: plan.name.clone(), error })
    };
    let (inputs, output) = match function {
        Function::Ntt | Function::Intt => {
            let (x, y) = (code.buffer("x", n, Role::Input), code.buffer("y", n, Role::Output));
            run(&mut code, &recipe.plans[0], x, y, scratch, None)?;
            (vec![x], y)
        }
        Function::Polymul => {
            let (a, b) = (code.buffer("a", n, Role::Input), code.buffer("b", n, Role::Input));
            let c = code.buffer("c", n, Role::Output);
            let product = code.buffer("product", n, Role::Scratch);
            run(&mut code, &recipe.plans[0], a, c, "product", None)?;
            run(&mut code, &recipe.plans[0], b, product, "scratch", Some(c))?;
            run(&mut code, &recipe.plans[1], product, c, "scratch", None)?;
            (vec![a, b], c)
        }
        Function::Add | Function::Sub | Function::Mul => {
            let (a, b) = (code.buffer("a", n, Role::Input), code.buffer("b", n, Role::Input));
            let c = code.buffer("c", n, Role::Output);
            let op = match function {
                Function::Add => Op::Vadd,
                Function::Sub => Op::Vsub,
                _ => Op::Vmul,
            };
            pointwise(&mut code, op, tower, n, [a, b], c);
            (vec![a, b], c)
        }
    };
    code.claims.push(Claim { output, function, inputs, tower });
    Ok(code)
}

fn pointwise(code: &mut Code, op: Op, tower: TowerId, n: u32, inputs: [BufferId; 2], output: BufferId) {
    for word in (0..n).step_by(VECTOR_LENGTH) {
        let at = |buffer| MemRef { buffer, word, mode: AddressMode::Linear };
        let values = inputs.map(|input| code.load(at(input), tower));
        let result = code.apply(op, values, None, tower);
        code.store(result, at(output), tower);
    }
}

/// Where everything lies in memory and in the scalar registers.
struct Layout {
    addresses: Addresses,
    /// First word of each buffer, then of the table and of the spill memory.
    starts: Vec<u32>,
    table_words: u32,
    end: u32,
}

impl Layout {
    fn new(code: &Code) -> Self {
        let aligned = |word: u32| word.next_multiple_of(VECTOR_LENGTH as u32);
        let mut end = 0;
        let mut starts = Vec::new();
        for buffer in &code.buffers {
            starts.push(end);
            end = aligned(end + buffer.words);
        }
        let mut table_words = 0;
        let mut constants = Vec::new();
        for constant in &code.constants {
            constants.push(table_words);
            table_words += constant.factors.len() as u32;
        }
        starts.push(end);
        end = aligned(end + table_words);
        starts.push(end);
        let buffers = code.buffers.len();
        let addresses = Addresses {
            buffers: (0..buffers).map(AReg::at).collect(),
            table: AReg::at(buffers),
            constants,
            spills: AReg::at(buffers + 1),
            moduli: (0..code.towers.len()).map(MReg::at).collect(),
            scales: (0..code.towers.len()).map(SReg::at).collect(),
        };
        Self { addresses, starts, table_words, end }
    }

    /// The address registers that the controlling core sets.
    fn launch(&self) -> Vec<(AReg, u32)> {
        (0..).map(AReg::at).zip(self.starts.iter().copied()).collect()
    }

    /// Loads of 1/n, where the code scales by it.
    fn prologue(&self, code: &Code) -> Vec<Instr> {
        let scales =
            |tower: usize| code.insts.iter().any(|inst| inst.op == Op::Vmuls && inst.tower.index() == tower);
        let towers = (0..code.towers.len()).filter(|&tower| scales(tower));
        let load = |tower: usize| Instr::Sload {
            rt: self.addresses.scales[tower],
            offset: Offset::new(tower as u32).expect("there are at most 64 towers"),
        };
        towers.map(load).collect()
    }

    fn program(
        &self,
        request: &Request,
        code: &Code,
        scheduled: &Scheduled,
        launch: &[(AReg, u32)],
    ) -> Program {
        let mut symbols: Vec<Symbol> = code
            .buffers
            .iter()
            .zip(&self.starts)
            .map(|(buffer, &start)| Symbol {
                name: buffer.name.clone(),
                space: Space::Vdm,
                start,
                words: buffer.words,
                role: buffer.role,
            })
            .collect();
        let mut extra = |name: &str, start, words, role| {
            if words > 0 {
                symbols.push(Symbol { name: name.to_owned(), space: Space::Vdm, start, words, role });
            }
        };
        let table = self.starts[code.buffers.len()];
        extra("factors", table, self.table_words, Role::Table);
        extra("spills", self.starts[code.buffers.len() + 1], scheduled.spill_words, Role::Scratch);

        let powers: Vec<Powers> = code.towers.iter().map(Powers::new).collect();
        let words = code.constants.iter().flat_map(|constant| {
            let powers = &powers[constant.tower.index()];
            constant.factors.iter().map(|factor| powers.get(factor.exponent, factor.scaled))
        });
        let words: Vec<u128> = words.collect();
        let mut segments = Vec::new();
        if !words.is_empty() {
            segments.push(Segment { start: table, words });
        }
        let mut sdm = Image::default();
        let scaled = scheduled.instructions.iter().any(|instr| matches!(instr, Instr::Sload { .. }));
        if scaled {
            let words = powers.iter().map(|powers| powers.over_n).collect();
            sdm.segments.push(Segment { start: 0, words });
        }
        let name = |buffer: BufferId| code.buffers[buffer.index()].name.clone();
        let equations = code.claims.iter().map(|claim| {
            let tower = &code.towers[claim.tower.index()];
            Equation {
                output: name(claim.output),
                function: claim.function,
                inputs: claim.inputs.iter().map(|&input| name(input)).collect(),
                n: tower.n,
                modulus: tower.modulus,
                root: if claim.function.needs_root() { tower.root } else { 0 },
            }
        });
        Program {
            name: format!("{}{}", request.function, request.n),
            instructions: scheduled.instructions.clone(),
            vdm: Image { segments },
            sdm,
            addresses: launch.to_vec(),
            moduli: self
                .addresses
                .moduli
                .iter()
                .copied()
                .zip(code.towers.iter().map(|t| t.modulus))
                .collect(),
            symbols,
            equations: equations.collect(),
        }
    }
}

/// The powers of psi.
struct Powers {
    modulus: Modulus,
    /// psi^0 to psi^(n - 1); psi^n is -1.
    powers: Vec<u128>,
    over_n: u128,
}

impl Powers {
    fn new(tower: &Tower) -> Self {
        let modulus = Modulus::new(tower.modulus).expect("the request has been validated");
        let root = modulus.prepare(modulus.residue(tower.root));
        let next = |&power: &u128| Some(modulus.mul_prepared(power, root));
        let powers = std::iter::successors(Some(1), next).take(tower.n as usize).collect();
        // Where n has no inverse the function has no transform and no factors.
        let over_n = modulus.inverse(modulus.residue(tower.n.into())).unwrap_or(0);
        Self { modulus, powers, over_n }
    }

    fn get(&self, exponent: u32, scaled: bool) -> u128 {
        let n = self.powers.len();
        let power = match (exponent as usize).checked_sub(n) {
            None => self.powers[exponent as usize],
            Some(beyond) => self.modulus.neg(self.powers[beyond]),
        };
        if scaled { self.modulus.mul(power, self.over_n) } else { power }
    }
}
