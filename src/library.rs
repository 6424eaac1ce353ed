//! `rpu library`

use crate::failure::Failure;
use crate::files;
use crate::generate::function;
use b512_asm::Function;
use codegen::library::{BUILT_IN, Entry, Standing, Target};
use rayon::prelude::*;
use sim::machine::{BankMapping, Busyboard};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Kernel to list; by default all
    #[arg(value_name = "KERNEL", value_parser = function)]
    kernel: Option<Function>,
    /// Degrees to list; by default all
    #[arg(long, value_name = "N")]
    n: Vec<u32>,
}

/// Generates the best known programs and says how close they come to the bounds of their plans.
pub(crate) fn main(args: &Args) -> Result<(), Failure> {
    let listed = |entry: &&Entry| {
        let kernel = args.kernel.is_none_or(|kernel| kernel.name() == entry.function);
        kernel && (args.n.is_empty() || args.n.contains(&entry.n))
    };
    let entries = BUILT_IN.entry.iter().filter(listed);
    let mut programs: Vec<(&Entry, &Target)> =
        entries.flat_map(|entry| entry.targets.iter().map(move |known| (entry, &known.machine))).collect();
    programs.sort_by_key(|(entry, target)| {
        let memory = (mapping(target), busyboard(target));
        let properties = (target.gs_butterfly, target.ideal_vrf_ports, memory);
        (&entry.function, entry.towers, entry.n, properties, target.hples, target.banks)
    });
    let rows: Vec<String> = programs
        .par_iter()
        .map(|(entry, target)| Ok(row(entry, target, entry.measure(target)?)))
        .collect::<Result<_, codegen::Error>>()
        .map_err(|error| Failure::wrong(error, None))?;
    let mut text = format!(
        "{:<8} {:>6} {:>6} {:>5} {:>5}  {:<11}  {:<12}  {:<18} {:>7} {:>7} {:>5}  plan\n",
        "kernel",
        "n",
        "towers",
        "hples",
        "banks",
        "mapping",
        "busyboard",
        "other",
        "cycles",
        "bound",
        "ratio"
    );
    text.extend(rows);
    files::print(text.as_bytes())
}

fn row(entry: &Entry, target: &Target, standing: Standing) -> String {
    let Entry { function, n, towers, .. } = entry;
    let Target { hples, banks, gs_butterfly, ideal_vrf_ports, .. } = *target;
    let others = [("gs butterfly", gs_butterfly), ("ideal vrf ports", ideal_vrf_ports)];
    let others: Vec<&str> = others.iter().filter(|(_, on)| *on).map(|&(name, _)| name).collect();
    let Standing { cycles, bound, .. } = standing;
    let plans: Vec<&str> = entry.recipe.plans.iter().map(|plan| &*plan.name).collect();
    format!(
        "{function:<8} {n:>6} {towers:>6} {hples:>5} {banks:>5}  {:<11}  {:<12}  {:<18} {cycles:>7} {bound:>7} {:>5.2}  {}\n",
        mapping(target),
        busyboard(target),
        others.join(", "),
        cycles.0 as f64 / bound.0 as f64,
        plans.join(", "),
    )
}

/// The value of `vdm.mapping`.
const fn mapping(target: &Target) -> &'static str {
    match target.mapping {
        BankMapping::Interleaved => "interleaved",
        BankMapping::Xor => "xor",
    }
}

/// The value of `frontend.busyboard`.
const fn busyboard(target: &Target) -> &'static str {
    match target.busyboard {
        Busyboard::Strict => "strict",
        Busyboard::SharedReads => "shared-reads",
    }
}
