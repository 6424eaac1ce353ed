//! Several limbs in a launch, and transforms in one kernel with other work.

use super::compose::{Part, composed};
use crate::operations::machine;
use crate::page::{Fault, lines};
use b512_asm::Pipe;
use codegen::elementwise::{Elementwise, Operand, Step, StepOp, StepOrder};
use codegen::library::BUILT_IN;
use codegen::{PlanChoice, Request, choose, compile};
use rayon::prelude::*;
use ring::Degree;
use sim::timing::simulate;

const MACHINES: [&str; 2] = ["paper", "narrow"];
const DEGREES: [u64; 4] = [1024, 2048, 4096, 8192];
const LIMBS: [u16; 5] = [1, 2, 4, 8, 16];

/// The most limbs of a transform that leaves address registers to the products' operands.
const MIXED: u16 = 8;

/// Operand, result, scratch words and table of a transform; with products, their operands and results too.
const WHOLE: u64 = 4;
const WITH_PRODUCTS: u64 = WHOLE + 3;

/// Products of as many pairs of limbs, modulo as many numbers.
fn products(limbs: u16) -> Elementwise {
    let factors = |limb: u16| StepOp::Multiply(Operand::Input(2 * limb), Operand::Input(2 * limb + 1));
    let steps = (0..limbs).map(|limb| Step { op: factors(limb), modulus: limb }).collect();
    Elementwise { inputs: 2 * limbs, moduli: limbs, steps, outputs: (0..limbs).collect() }
}

fn row((machine_name, n, limbs): (&str, u64, u16)) -> Result<Option<String>, Fault> {
    let (machine, degree) = (machine(machine_name)?, Degree::new(n)?);
    let fits = |operands: u64| operands * n * u64::from(limbs) <= machine.vdm_words().into();
    if !fits(WHOLE) {
        return Ok(None);
    }
    let request = Request::with_primes(golden::NTT, degree, 60, limbs.into())?;
    let single = Request::with_primes(golden::NTT, degree, 60, 1)?;
    // The library has programs for several limbs, or for one.
    let known = if BUILT_IN.recipes(&request).next().is_some() { &request } else { &single };
    let recipe = choose(known, &machine, &PlanChoice::Best)?.recipe;
    let transform = compile(&request, &recipe, &machine)?;
    let timing = simulate(&machine, &transform.program);
    let front_end = (transform.program.instructions.len() as u64).div_ceil(machine.frontend.width.into());
    let of_limb = |cycles: u64| cycles as f64 / f64::from(limbs);
    let share = |cycles: u64| format!("{:.0}%", 100.0 * cycles as f64 / timing.cycles.0 as f64);
    let [load_store, compute, shuffle] = Pipe::VECTOR.map(|pipe| share(timing.busy[pipe]));
    let mixed = if limbs > MIXED || !fits(WITH_PRODUCTS) {
        "| |".to_owned()
    } else {
        let products = products(limbs);
        let products = products.compile("products".to_owned(), n as u32, 97, StepOrder::Program, &machine)?;
        let limbs_from = |first: u32, count: u16| (first..first + u32::from(count)).collect::<Vec<u32>>();
        let [x, y, factors, z] = [(0, limbs), (100, limbs), (200, 2 * limbs), (300, limbs)]
            .map(|(first, count)| limbs_from(first, count));
        let [one, other] = [0, 100].map(|first| limbs_from(first, limbs));
        let parts = [
            Part { kernel: &transform, sources: &x, results: &y, moduli: &one },
            Part { kernel: &products, sources: &factors, results: &z, moduli: &other },
        ];
        let apart = timing.cycles.0 + simulate(&machine, &products.program).cycles.0;
        let (_, together) = composed(&parts, |_| true, &machine, true)?.ok_or("too many operands")?;
        format!("| {:.0} | {:.0} |", of_limb(apart), of_limb(together.cycles.0))
    };
    Ok(Some(format!(
        "| {machine_name} | {n} | {limbs} | {:.0} | {} | {load_store} | {compute} | {shuffle} {mixed}",
        of_limb(timing.cycles.0),
        share(front_end),
    )))
}

/// The rows of all machines, degrees and numbers of limbs.
pub(super) fn rows() -> Result<String, Fault> {
    let mut cases = Vec::new();
    for machine in MACHINES {
        for n in DEGREES {
            cases.extend(LIMBS.map(|limbs| (machine, n, limbs)));
        }
    }
    let rows = cases.into_par_iter().map(row).collect::<Result<Vec<_>, Fault>>()?;
    Ok(lines(rows.into_iter().flatten()))
}
