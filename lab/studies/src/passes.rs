//! The stall breakdown of the 64K transform by pass: `reports/passes.md`.

use crate::operations::changed_machine;
use crate::page::{Fault, Files, fill, lines, text};
use b512_asm::Pipe;
use codegen::{PlanChoice, Request, generate};
use ring::Degree;
use sim::timing::{DecodedProgram, simulate};

/// Changes of the machine of the paper.
const MACHINES: [&[&str]; 2] = [&[], &["vdm.mapping=xor"]];

/// The cycles of a pipe.
#[derive(Default)]
struct Cycles {
    busy: u64,
    /// Without an instruction before the first one.
    fill: u64,
    /// Between two of one pass.
    within: u64,
    /// Between two of different passes.
    between: u64,
    /// Behind the last one.
    drain: u64,
}

/// The rows of the passes, and of the pipes.
fn rows(changes: &[&str]) -> Result<[String; 3], Fault> {
    let machine = changed_machine("paper", changes)?;
    let label = if changes.is_empty() { "paper".to_owned() } else { format!("`{}`", changes.join("` `")) };
    let request = Request::with_primes(golden::NTT, Degree::try_from(65536_u32)?, 128, 1)?;
    let kernel = generate(&request, &machine, &PlanChoice::Best)?;
    let timing = simulate(&machine, &kernel.program);
    let bounds = kernel.bounds(&machine);
    let micro_ops = DecodedProgram::of(&kernel.program).micro_ops(&machine);
    // A load of a constant belongs to the instruction behind it.
    let mut pass = bounds.len() - 1;
    let mut passes = vec![pass; micro_ops.len()];
    for (index, origin) in kernel.scheduled.origin.iter().enumerate().rev() {
        pass = origin.map_or(pass, |id| kernel.code.insts[id.index()].pass as usize);
        passes[index] = pass;
    }
    let mut of_pass = vec![[0; 3]; bounds.len()];
    let mut pipes = Vec::new();
    for (number, pipe) in Pipe::VECTOR.into_iter().enumerate() {
        let mut cycles = Cycles::default();
        let mut last: Option<(u64, usize)> = None;
        for ((micro_op, time), &pass) in micro_ops.iter().zip(&timing.timestamps).zip(&passes) {
            if micro_op.pipe != pipe {
                continue;
            }
            let occupancy = u64::from(micro_op.occupancy);
            cycles.busy += occupancy;
            of_pass[pass][number] += occupancy;
            match last {
                None => cycles.fill = time.issue.0,
                Some((free, before)) if before == pass => cycles.within += time.issue.0 - free,
                Some((free, _)) => cycles.between += time.issue.0 - free,
            }
            last = Some((time.issue.0 + occupancy, pass));
        }
        cycles.drain = timing.cycles.0 - last.map_or(0, |(free, _)| free);
        let Cycles { busy, fill, within, between, drain } = cycles;
        pipes.push(format!(
            "| {label} | {} | {busy} | {fill} | {within} | {between} | {drain} |",
            pipe.label()
        ));
    }
    let of_passes = of_pass.iter().zip(&bounds).enumerate();
    let of_passes = of_passes.map(|(number, ([load_store, compute, shuffle], bound))| {
        let bound = bound.cycles();
        format!("| {label} | {number} | {load_store} | {compute} | {shuffle} | {bound} |")
    });
    let sum: u64 = bounds.iter().map(|bound| bound.cycles().0).sum();
    let all = format!("| {label} | {} | {sum} | {} |", timing.bounds.resource, timing.cycles);
    Ok([lines(of_passes), lines(pipes), all])
}

pub(crate) fn files() -> Files {
    let rows = MACHINES.iter().map(|changes| rows(changes)).collect::<Result<Vec<_>, Fault>>()?;
    let column = |index: usize| lines(rows.iter().map(|rows| rows[index].clone()));
    let page = fill(
        include_str!("passes.md"),
        &[("passes", &column(0)), ("pipes", &column(1)), ("all", &column(2))],
    );
    Ok(vec![text("reports/passes.md", page)])
}
