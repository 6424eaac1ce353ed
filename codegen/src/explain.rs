//! A kernel in words: formulas, plans, instructions, bounds and the distance from them.

use crate::formula::Formula;
use crate::forwarding::Removed;
use crate::kernel::Kernel;
use b512_asm::Pipe;
use sim::Machine;
use sim::timing::{Cycle, simulate};

/// Describes a kernel and its performance on a machine, in several lines of text.
pub fn explain(kernel: &Kernel, machine: &Machine) -> String {
    let mut text = plans(kernel);
    text += &forwarding(kernel);
    let timing = simulate(machine, &kernel.program);
    for pipe in Pipe::VECTOR {
        let (count, busy) = (timing.instructions[pipe], timing.busy[pipe]);
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
    let passes = kernel.bounds(machine);
    for (number, pass) in passes.iter().enumerate() {
        let (resource, dependence) = (pass.resource, pass.dependence);
        text += &format!("pass {number}: bounds: {resource} by resources, {dependence} by dependence");
        if pass.combined > Cycle::ZERO {
            text += &format!(", {} by both", pass.combined);
        }
        text.push('\n');
    }
    let sum = Cycle(passes.iter().map(|pass| pass.cycles().0).sum());
    text += &format!(
        "{sum} cycles for the passes one after the other, each at its bound; {:.2} times that\n",
        ratio(sum)
    );
    text
}

fn plans(kernel: &Kernel) -> String {
    let method = kernel.recipe.method.as_ref();
    let mut text = method.map(|method| format!("method   {method}\n")).unwrap_or_default();
    for plan in &kernel.recipe.plans {
        text += &format!("formula  {}\n", Formula::new(plan.algorithm, plan.log_n));
        // One line for each pass, below the plan's name.
        text += &format!("plan     {}\n", plan.to_string().trim_end().replace('\n', "\n         "));
    }
    text
}

fn forwarding(kernel: &Kernel) -> String {
    let Some(registers) = kernel.recipe.forwarding else {
        return "forwarding is off: every load and store of the code is made\n".to_owned();
    };
    let Removed { loads, stores } = kernel.removed;
    format!("forwarding, at most {registers} live values: removes {loads} loads and {stores} stores\n")
}
