//! What composition of kernels gains on recorded bootstraps: `reports/fusion-recorded.md`.

use super::compose::{Part, composed};
use crate::operations::machine;
use crate::page::{Fault, Files, fill, lines, text};
use crate::recordings::{at_degree, folder};
use b512_asm::Pipe;
use codegen::elementwise::StepOrder;
use codegen::{Kernel, PlanChoice, Recipe, choose, compile};
use rayon::prelude::*;
use ring_program::RingProgram;
use runtime::kernels::request;
use runtime::lift::{Launch, Work};
use runtime::operation::RingOperation;
use runtime::schedule::INSTRUCTION_BYTES;
use runtime::{Keys, Launches, Limits, Runtime, lift_program};
use sim::Machine;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// The recorded bootstrap.
const RECORDING: &str = "boot_sparse_n512";

/// Degrees and machines; then the operands of a group of lines and the limbs of a transform, from which kernels are composed.
const ROWS: [(u64, &str, [usize; 2]); 4] =
    [(512, "paper", [20, 8]), (512, "narrow", [20, 8]), (2048, "paper", [16, 4]), (2048, "narrow", [16, 4])];

/// The most operands of a composed kernel: the address registers without those of scratch words, table and spilled vectors.
const OPERANDS: usize = 61;

/// The most launches and instructions of a composed kernel.
const LAUNCHES: usize = 16;
const INSTRUCTIONS: u64 = 6000;

/// Of so many composed kernels, one is proven equal to its parts: a proof takes longer than all else.
const PROVEN: usize = 128;

/// The launches that are looked at for a kernel, from the first one that is not yet done.
const AHEAD: usize = 600;

/// The front end, and the pipes of loads and stores, of compute, and of shuffles: the cycles that instructions take of each.
type Resources = [u64; 4];

/// A kernel, and what a launch of it takes.
struct Timed {
    kernel: Kernel,
    cycles: u64,
    resources: Resources,
}

/// A launch, by the numbers of its kernel, limbs and moduli.
struct Item {
    kernel: usize,
    sources: Vec<u32>,
    results: Vec<u32>,
    moduli: Vec<u32>,
}

/// The launches of a program that is lifted for composition.
struct Lifted {
    kernels: Vec<Timed>,
    items: Vec<Item>,
    /// For each limb: the launch that makes it, and those that read it.
    maker: HashMap<u32, usize>,
    readers: HashMap<u32, Vec<usize>>,
    outputs: HashSet<u32>,
}

impl Lifted {
    fn new(program: &RingProgram, machine: &Machine, [operands, rings]: [usize; 2]) -> Result<Self, Fault> {
        let limits = Limits::for_degree(program.degree().get(), machine);
        let (flow, launches) = lift_program(program, Limits { operands, rings, steps: 64, ..limits });
        let mut kernels =
            Kernels { program, machine, recipes: HashMap::new(), known: HashMap::new(), all: Vec::new() };
        // The first launch of an operation decides its recipe: one in the most rings.
        let mut order: Vec<&Launch> = launches.launches.iter().collect();
        order.sort_by_key(|launch| Reverse(launches.moduli(launch).len()));
        order.into_iter().try_for_each(|launch| kernels.of(&launches, launch).map(drop))?;
        let mut items = Vec::new();
        for launch in &launches.launches {
            let numbers =
                |values: &[runtime::flow::ValueId]| values.iter().map(|value| value.index() as u32).collect();
            items.push(Item {
                kernel: kernels.of(&launches, launch)?,
                sources: numbers(launches.sources(launch)),
                results: numbers(launches.results(launch)),
                moduli: launches.moduli(launch).iter().map(|modulus| modulus.get() as u32).collect(),
            });
        }
        let (mut maker, mut readers) = (HashMap::new(), HashMap::<u32, Vec<usize>>::new());
        for (number, item) in items.iter().enumerate() {
            maker.extend(item.results.iter().map(|&limb| (limb, number)));
            item.sources.iter().for_each(|&limb| readers.entry(limb).or_default().push(number));
        }
        let outputs = flow.outputs.iter().flatten().map(|value| value.index() as u32).collect();
        Ok(Self { kernels: kernels.all, items, maker, readers, outputs })
    }

    fn timed(&self, item: usize) -> &Timed {
        &self.kernels[self.items[item].kernel]
    }

    fn is_read_outside(&self, limb: u32, group: &[usize]) -> bool {
        let readers = self.readers.get(&limb);
        self.outputs.contains(&limb)
            || readers.is_none_or(|all| all.iter().any(|reader| !group.contains(reader)))
    }

    /// The operands of launches in one kernel, and the cycles of the busiest resource; `None` if it is too large.
    fn joined(&self, group: &[usize], vector: [u64; 2]) -> Option<(usize, u64)> {
        let (mut read, mut made) = (HashSet::<&u32>::new(), HashSet::new());
        let mut moduli = HashSet::<&u32>::new();
        let (mut resources, mut accesses) = (Resources::default(), 0);
        for &item in group {
            let Item { sources, results, moduli: of_item, .. } = &self.items[item];
            read.extend(sources.iter().filter(|limb| !made.contains(*limb)));
            made.extend(results);
            moduli.extend(of_item);
            accesses += sources.len() + results.len();
            let of_item = self.timed(item).resources;
            resources = std::array::from_fn(|resource| resources[resource] + of_item[resource]);
        }
        let written = made.iter().filter(|&&&limb| self.is_read_outside(limb, group)).count();
        let operands = read.len() + written;
        let is_small = operands <= OPERANDS && moduli.len() <= OPERANDS && resources[0] <= INSTRUCTIONS;
        let saved = (accesses - operands) as u64;
        let [instructions, cycles] = vector.map(|of_vector| saved * of_vector);
        resources[0] = resources[0].saturating_sub(instructions);
        resources[1] = resources[1].saturating_sub(cycles);
        is_small.then(|| (operands, busiest(resources)))
    }

    /// The launches in groups, each for one kernel. A group begins with the first launch that is left. The ready launch that adds
    /// the fewest cycles of the busiest resource and the fewest operands, both for its own, joins it again and again.
    fn groups(&self, vector: [u64; 2]) -> Vec<Vec<usize>> {
        let mut is_done = vec![false; self.items.len()];
        let mut groups = Vec::new();
        while let Some(first) = is_done.iter().position(|done| !done) {
            let mut group = vec![first];
            is_done[first] = true;
            while group.len() < LAUNCHES
                && let Some((operands, cycles)) = self.joined(&group, vector)
            {
                let value = |item: usize| {
                    let Item { sources, results, .. } = &self.items[item];
                    let is_ready =
                        sources.iter().all(|limb| self.maker.get(limb).is_none_or(|&maker| is_done[maker]));
                    if !is_ready {
                        return None;
                    }
                    let with: Vec<usize> = group.iter().copied().chain([item]).collect();
                    let (more_operands, more_cycles) = self.joined(&with, vector)?;
                    let own = busiest(self.timed(item).resources);
                    let own_operands = (sources.len() + results.len()) as f64;
                    let operands = (more_operands as f64 - operands as f64) / own_operands;
                    Some(operands + (more_cycles as f64 - cycles as f64) / own as f64)
                };
                let ahead = (first..self.items.len().min(first + AHEAD)).filter(|&item| !is_done[item]);
                let valued = ahead.filter_map(|item| Some((value(item)?, item)));
                let Some((_, best)) = valued.min_by(|one, other| one.0.total_cmp(&other.0)) else { break };
                is_done[best] = true;
                group.push(best);
            }
            groups.push(group);
        }
        groups
    }

    /// The instructions and the cycles of launches in one kernel, if it is faster, or else in one for each; and what the busiest
    /// resource takes then.
    fn fused(&self, group: &[usize], machine: &Machine, prove: bool) -> Result<(u64, u64, u64), Fault> {
        let timed = || group.iter().map(|&item| self.timed(item));
        let cycles = timed().map(|timed| timed.cycles).sum();
        let apart = (
            timed().map(|t| t.resources[0]).sum(),
            cycles,
            timed().map(|timed| busiest(timed.resources)).sum(),
        );
        if group.len() == 1 {
            return Ok(apart);
        }
        let parts: Vec<Part<'_>> = group
            .iter()
            .map(|&item| {
                let Item { sources, results, moduli, .. } = &self.items[item];
                Part { kernel: &self.timed(item).kernel, sources, results, moduli }
            })
            .collect();
        let fused = composed(&parts, |limb| self.is_read_outside(limb, group), machine, prove)?;
        Ok(fused.filter(|(_, timing)| timing.cycles.0 < cycles).map_or(apart, |(instructions, timing)| {
            let resources = resources(instructions, &timing, machine);
            (instructions as u64, timing.cycles.0, busiest(resources))
        }))
    }

    /// What is the same for groups that are one program: kernels, and which limbs are equal.
    fn shape(&self, group: &[usize]) -> Vec<usize> {
        let mut numbers = HashMap::new();
        let mut shape = Vec::new();
        for &item in group {
            let Item { kernel, sources, results, moduli } = &self.items[item];
            shape.push(*kernel);
            for (kind, list) in [sources, results, moduli].into_iter().enumerate() {
                for &entry in list {
                    let next = numbers.len();
                    shape.push(*numbers.entry((kind == 2, entry)).or_insert(next));
                }
            }
            shape.extend(results.iter().map(|&limb| usize::from(self.is_read_outside(limb, group))));
        }
        shape
    }
}

fn busiest(resources: Resources) -> u64 {
    resources.into_iter().max().unwrap_or(0)
}

fn resources(instructions: usize, timing: &sim::timing::Timing, machine: &Machine) -> Resources {
    let [load_store, compute, shuffle] = Pipe::VECTOR.map(|pipe| timing.busy[pipe]);
    [(instructions as u64).div_ceil(machine.frontend.width.into()), load_store, compute, shuffle]
}

/// What is known of a kernel: a shape of lines, or an operation with its number of rings.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Lines(usize),
    Operation(RingOperation, usize),
}

/// The kernels of a program.
struct Kernels<'p> {
    program: &'p RingProgram,
    machine: &'p Machine,
    /// One for all numbers of rings, if its method suits them.
    recipes: HashMap<std::mem::Discriminant<RingOperation>, Recipe>,
    known: HashMap<Key, usize>,
    all: Vec<Timed>,
}

impl Kernels<'_> {
    /// The kernel of a launch.
    fn of(&mut self, launches: &Launches, launch: &Launch) -> Result<usize, Fault> {
        let key = match launch.work {
            Work::Elementwise(shape) => Key::Lines(shape.index()),
            Work::Operation(operation) => Key::Operation(operation, launches.moduli(launch).len()),
            Work::Permute(_) => return Err("a movement of words is no kernel".into()),
        };
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        let kernel = match key {
            Key::Lines(shape) => {
                let n = self.program.degree().get() as u32;
                launches.shapes[shape].compile("lines".to_owned(), n, 97, StepOrder::Program, self.machine)?
            }
            Key::Operation(operation, _) => {
                let request =
                    request(operation, self.program.degree(), &launches.rings(self.program, launch))?;
                let kind = std::mem::discriminant(&operation);
                let known = self.recipes.get(&kind).map(|recipe| compile(&request, recipe, self.machine));
                match known {
                    Some(Ok(kernel)) => kernel,
                    Some(Err(_)) | None => {
                        let recipe = choose(&request, self.machine, &PlanChoice::Best)?.recipe;
                        let kernel = compile(&request, &recipe, self.machine)?;
                        self.recipes.entry(kind).or_insert(recipe);
                        kernel
                    }
                }
            }
        };
        let timing = sim::timing::simulate(self.machine, &kernel.program);
        let resources = resources(kernel.program.instructions.len(), &timing, self.machine);
        self.all.push(Timed { kernel, cycles: timing.cycles.0, resources });
        self.known.insert(key, self.all.len() - 1);
        Ok(self.all.len() - 1)
    }
}

/// The kernels of a program as the runtime has them.
struct Now {
    cycles: u64,
    resources: Resources,
    /// The sum of the busiest resources of all launches.
    busiest: u64,
    /// The instructions of all programs.
    instructions: u64,
    /// The time of all kernels as a part of the whole.
    share: f64,
    /// The bytes of all transfers.
    traffic: u64,
}

fn now(program: &RingProgram, machine: &Machine) -> Result<Now, Fault> {
    let runtime = Runtime::new(program, machine, Keys::Streamed)?;
    let report = runtime.report(&runtime.time(false)?);
    let launches = runtime.launches();
    let (mut cycles, mut all, mut all_busiest) = (0, Resources::default(), 0);
    for launch in &launches.launches {
        let timed = match (launch.work, launches.batch(launch)) {
            (Work::Elementwise(shape), _) => runtime.kernels().elementwise(shape),
            (_, Some(batch)) => runtime.kernels().operation(batch),
            (_, None) => continue,
        };
        let of_launch = resources(timed.instructions, &timed.timing, machine)
            .map(|cycles| cycles * u64::from(timed.runs));
        cycles += u64::from(timed.runs) * timed.timing.cycles.0;
        all_busiest += busiest(of_launch);
        all = std::array::from_fn(|resource| all[resource] + of_launch[resource]);
    }
    Ok(Now {
        cycles,
        resources: all,
        busiest: all_busiest,
        instructions: runtime.kernels().instructions() as u64,
        share: report.compute.busy,
        traffic: report.hbm.bytes_by_kind.values().sum(),
    })
}

/// The rows of a program: its kernels now, and composed.
fn rows(
    program: &RingProgram,
    (degree, name, limits): (u64, &str, [usize; 2]),
) -> Result<[String; 2], Fault> {
    let machine = machine(name)?;
    let now = now(program, &machine)?;
    let vectors = degree / u64::from(machine.vector_length());
    let beats = u64::from(machine.vector_length() / machine.hple.count);
    let part = |cycles: u64| cycles as f64 / now.cycles as f64;
    let [front_end, load_store, compute, shuffle] = now.resources;
    let least = (compute + shuffle) / beats / u64::from(machine.frontend.width);
    let of_now = format!(
        "| {degree} | {name} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
        now.cycles,
        part(now.busiest),
        part(front_end),
        part(load_store),
        part(compute),
        part(shuffle),
        part(least.max(compute).max(shuffle)),
    );
    let lifted = Lifted::new(program, &machine, limits)?;
    let groups = lifted.groups([vectors, vectors * beats]);
    let fused = groups.par_iter().enumerate();
    let fused = fused.map(|(number, group)| lifted.fused(group, &machine, number % PROVEN == 0));
    let fused = fused.collect::<Result<Vec<_>, Fault>>()?;
    let (mut known, mut instructions) = (HashSet::new(), 0);
    for (group, &(of_group, ..)) in groups.iter().zip(&fused) {
        instructions += if known.insert(lifted.shape(group)) { of_group } else { 0 };
    }
    let apart: u64 = (0..lifted.items.len()).map(|item| lifted.timed(item).cycles).sum();
    let [cycles, busiest] = fused.iter().fold([0; 2], |sum, one| [sum[0] + one.1, sum[1] + one.2]);
    let composed = format!(
        "| {degree} | {name} | {} | {:.2} | {} | {} | {:.2} | **{:.2}** | {:.2} | {:.1} | {:+.1}% |",
        lifted.items.len(),
        part(apart),
        groups.len(),
        known.len(),
        part(busiest),
        part(cycles),
        1.0 - now.share * (1.0 - part(cycles)),
        instructions as f64 / now.instructions as f64,
        100.0 * (instructions as f64 - now.instructions as f64) * INSTRUCTION_BYTES as f64
            / now.traffic as f64,
    );
    Ok([of_now, composed])
}

pub(super) fn files() -> Files {
    let Some(folder) = folder() else { return Ok(Vec::new()) };
    let mut rows_of_all = Vec::new();
    for degree in [512, 2048] {
        let program = at_degree(&folder, RECORDING, degree)?;
        for row in ROWS.into_iter().filter(|row| row.0 == degree) {
            rows_of_all.push(rows(&program, row)?);
        }
    }
    let column = |index: usize| lines(rows_of_all.iter().map(|rows| rows[index].clone()));
    let page = fill(include_str!("recorded.md"), &[("now", &column(0)), ("composed", &column(1))]);
    Ok(vec![text("reports/fusion-recorded.md", page)])
}
