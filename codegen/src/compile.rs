//! Compilation: a request and a recipe become a kernel. Pure, and fast.

mod layout;

use self::layout::Layout;
use crate::code::{BufferId, Claim, Code, MemRef, Tower, TowerId};
use crate::error::Error;
use crate::forwarding::{Removed, forward};
use crate::kernel::Kernel;
use crate::lower::{Dialect, Memory, Scratch, Second, transform};
use crate::plan::Plan;
use crate::recipe::{Order, Recipe};
use crate::request::{Request, Ring, algorithms};
use crate::schedule::schedule;
use b512_asm::reg::VECTOR_LENGTH;
use b512_asm::{AddressMode, Function, Instr, Op, Role};
use sim::Machine;

/// Compiles a request by a recipe for a machine.
///
/// # Errors
/// Returns an error if the request is invalid, the recipe does not suit it, or the program does not
/// fit the machine.
pub fn compile(request: &Request, recipe: &Recipe, machine: &Machine) -> Result<Kernel, Error> {
    request.check()?;
    check_recipe(request, recipe)?;
    let (mut code, mut removed) = lower(request, recipe, machine, Workspace::Separate)?;
    let mut layout = Layout::new(request, &code, recipe.tuning.table)?;
    if layout.end > machine.vdm_words() && matches!(request.operation, Function::Ntt | Function::Intt) {
        (code, removed) = lower(request, recipe, machine, Workspace::Operand)?;
        layout = Layout::new(request, &code, recipe.tuning.table)?;
    }
    let launch = layout.launch();
    let prologue = layout.prologue(&code);
    let mut scheduled = schedule(&code, &layout.addresses, &launch, &prologue, machine, &recipe.tuning)?;
    scheduled.instructions.push(Instr::Halt {});
    scheduled.origin.push(None);

    layout.end += scheduled.spill_words;
    let (needed, available) = (layout.end, machine.vdm_words());
    if needed > available {
        let (operation, n) = (request.operation, request.n);
        return Err(Error::DoesNotFit { operation, n, needed, available });
    }
    let (needed, available) = (scheduled.instructions.len(), machine.instruction_capacity());
    if needed > available {
        return Err(Error::TooLong { needed, available });
    }
    let program = layout.program(request, &code, &scheduled, &launch);
    Ok(Kernel { program, recipe: recipe.clone(), code, removed, scheduled, addresses: layout.addresses })
}

fn check_recipe(request: &Request, recipe: &Recipe) -> Result<(), Error> {
    let (operation, n) = (request.operation, request.n);
    let wanted = algorithms(operation);
    let fits = recipe.plans.len() == wanted.len()
        && recipe.plans.iter().zip(wanted).all(|(plan, algorithms)| {
            plan.log_n == n.trailing_zeros() && algorithms.contains(&plan.algorithm)
        });
    if fits {
        return Ok(());
    }
    let describe = |plan: &Plan| format!("{:?} for n = {}", plan.algorithm, 1u64 << plan.log_n);
    Err(Error::Recipe {
        operation,
        n,
        expected: format!("{wanted:?}"),
        found: recipe.plans.iter().map(describe).collect::<Vec<_>>().join(", "),
    })
}

/// The second buffer of transforms that do not work in place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Workspace {
    /// A scratch buffer.
    Separate,
    /// The operand, which is then overwritten. It saves memory.
    Operand,
}

/// The vector code of a request, and the accesses that forwarding removed from it.
fn lower(
    request: &Request,
    recipe: &Recipe,
    machine: &Machine,
    workspace: Workspace,
) -> Result<(Code, Removed), Error> {
    let Request { operation, n, ref rings } = *request;
    let dialect =
        Dialect { gs_butterfly: machine.isa.gs_butterfly, by_level: recipe.order == Order::ByLevel };
    let mut code = Code::default();
    for (number, &Ring { modulus, root }) in rings.iter().enumerate() {
        let tower = code.tower(Tower { n, modulus, root });
        // The towers of a batch have buffers of their own, with the tower's number in their names.
        let suffix = if rings.len() > 1 { number.to_string() } else { String::new() };
        lower_tower(&mut code, tower, operation, &recipe.plans, dialect, workspace, &suffix)?;
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
    workspace: Workspace,
    suffix: &str,
) -> Result<(), Error> {
    let n = code.towers[tower.index()].n;
    let name = |name: &str| format!("{name}{suffix}");
    let mut scratch = Scratch::new(name("scratch"), n);
    let mut run = |code: &mut Code, plan: &Plan, memory: Memory| {
        transform(code, dialect, plan, tower, memory, &mut scratch)
            .map_err(|error| Error::Plan { name: plan.name.clone(), error })
    };
    let (inputs, output) = match function {
        Function::Ntt | Function::Intt => {
            let (x, y) = (code.buffer(name("x"), n, Role::Input), code.buffer(name("y"), n, Role::Output));
            let second = if workspace == Workspace::Operand { Second::Reuse(x) } else { Second::New };
            run(code, &plans[0], Memory { input: x, output: y, second, times: None })?;
            (vec![x], y)
        }
        Function::Polymul => {
            let (a, b) = (code.buffer(name("a"), n, Role::Input), code.buffer(name("b"), n, Role::Input));
            let c = code.buffer(name("c"), n, Role::Output);
            let product = code.buffer(name("product"), n, Role::Scratch);
            let second = Second::Reuse(product);
            run(code, &plans[0], Memory { input: a, output: c, second, times: None })?;
            code.first_pass();
            let second = Second::New;
            run(code, &plans[0], Memory { input: b, output: product, second, times: Some(c) })?;
            run(code, &plans[1], Memory { input: product, output: c, second, times: None })?;
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
