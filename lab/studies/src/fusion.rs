//! What the fusion of transforms with elementwise work can gain at most: `reports/fusion.md`.

mod compose;
mod launches;
mod recorded;

use crate::operations::machine;
use crate::page::{Fault, Files, fill, lines, text};
use b512_asm::Pipe;
use codegen::library::BUILT_IN;
use codegen::{Kernel, PlanChoice, Recipe, Request, compile, generate};
use golden::Operation;
use programs::{Options, ParameterSet, find_program, generate as generate_program};
use rayon::prelude::*;
use ring::Degree;
use runtime::{Keys, Runtime};
use sim::timing::{DecodedProgram, simulate};
use sim::{Clock, Machine};

/// Products of ciphertexts: the set, its degree if it is another, and the machine.
const PRODUCTS: [(&str, Option<u64>, &str); 8] = [
    ("ark", None, "narrow"),
    ("ark", None, "paper"),
    ("dprive", None, "paper"),
    ("bts2", None, "narrow"),
    ("ark", Some(8192), "narrow"),
    ("ark", Some(4096), "narrow"),
    ("ark", Some(2048), "narrow"),
    ("ark", Some(1024), "narrow"),
];

/// Targets of a conversion in one kernel, which share its loads.
const TARGETS: f64 = 8.0;

/// Words of the rings that a launch has if limbs are short.
const SHARED: u64 = 16384;

/// The part of the kernels' time that fusion would have to leave at most.
const GOAL: f64 = 0.82;

/// What fusion saves, and what the fused kernels take by passes, as parts of the kernels' time.
#[derive(Clone, Copy, Default)]
struct Saved {
    /// If each fused kernel reaches its bound.
    at_most: f64,
    /// If each of its passes does.
    by_passes: f64,
    /// If it exceeds its bound as the transform does.
    likely: f64,
    fused: f64,
}

impl std::ops::Add for Saved {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            at_most: self.at_most + other.at_most,
            by_passes: self.by_passes + other.by_passes,
            likely: self.likely + other.likely,
            fused: self.fused + other.fused,
        }
    }
}

/// The shape of a key switch.
#[derive(Clone, Copy)]
struct Shape {
    levels: f64,
    special: f64,
    digits: f64,
    /// Moduli of a digit.
    digit: f64,
}

/// What a limb of elementwise work takes: limbs that are loaded or stored, and instructions for each of its vectors.
#[derive(Clone, Copy)]
struct Work {
    accesses: f64,
    operations: f64,
}

/// The elementwise work on one side of a transform.
#[derive(Clone, Copy)]
struct Side {
    name: &'static str,
    /// In a kernel of its own.
    apart: fn(Shape) -> Work,
    /// Within the kernel of the transform, without the access of the transform that is saved.
    fused: fn(Shape) -> Work,
}

/// Transforms with the same work before and behind them.
struct Group {
    operation: Operation,
    /// The transforms of a product.
    count: fn(Shape) -> f64,
    before: Side,
    behind: Side,
}

/// The base conversion of a digit.
const OF_DIGIT: Side = Side {
    name: "conversion",
    apart: |s| Work { accesses: s.digit / TARGETS + 1.0, operations: s.digit },
    fused: |s| Work { accesses: s.digit - 1.0, operations: s.digit },
};

/// The base conversion of a mod-down that is merged with a rescale.
const OF_SPECIAL: Side = Side {
    name: "conversion",
    apart: |s| Work { accesses: (s.special + 1.0) / TARGETS + 1.0, operations: s.special + 1.0 },
    fused: |s| Work { accesses: s.special, operations: s.special + 1.0 },
};

/// Sums over digits stay in registers apart, and go through the memory if fused: two limbs in, two limbs out.
const TO_SUM: Side = Side {
    name: "inner product",
    apart: |s| Work { accesses: 3.0 + 2.0 / s.digits, operations: 2.0 },
    fused: |s| Work { accesses: 2.0 + 2.0 * (s.digits - 1.0) / s.digits + 2.0 - 1.0, operations: 2.0 },
};

/// Both results read the same limbs, if fused each in a kernel of its own.
const FROM_SUM: Side = Side {
    name: "inner product",
    apart: |s| Work { accesses: 1.5 * s.digits + 1.0, operations: s.digits },
    fused: |s| Work { accesses: 2.0 * s.digits - 1.0, operations: s.digits },
};

const SUBTRACT: Side = Side {
    name: "subtract and scale",
    apart: |_| Work { accesses: 3.0, operations: 2.0 },
    fused: |_| Work { accesses: 2.0 - 1.0, operations: 2.0 },
};

const PRODUCT: Side = Side {
    name: "product",
    apart: |_| Work { accesses: 3.0, operations: 1.0 },
    fused: |_| Work { accesses: 2.0 - 1.0, operations: 1.0 },
};

const SCALE: Side = Side {
    name: "scale",
    apart: |_| Work { accesses: 2.0, operations: 1.0 },
    fused: |_| Work { accesses: 0.0, operations: 1.0 },
};

/// All transforms of a product of ciphertexts.
const GROUPS: [Group; 4] = [
    Group {
        operation: golden::NTT,
        count: |s| s.digits * (s.levels + s.special) - s.levels,
        before: OF_DIGIT,
        behind: TO_SUM,
    },
    Group { operation: golden::NTT, count: |s| 2.0 * (s.levels - 1.0), before: OF_SPECIAL, behind: SUBTRACT },
    Group { operation: golden::INTT, count: |s| 2.0 * (s.special + 1.0), before: FROM_SUM, behind: SCALE },
    Group { operation: golden::INTT, count: |s| s.levels, before: PRODUCT, behind: SCALE },
];

/// The resources of a machine: the front end, and the pipes.
type Resources = [f64; 4];

/// What a transform of a limb takes.
struct Transform {
    cycles: f64,
    resources: Resources,
    /// The resources of each pass, by each plan of the library and the fastest one; none if several limbs share a launch, whose
    /// passes overlap.
    plans: Vec<Vec<Resources>>,
}

impl Transform {
    fn new(operation: Operation, degree: Degree, machine: &Machine) -> Result<Self, Fault> {
        let rings = (SHARED / degree.get()).max(1) as usize;
        let request = Request::with_primes(operation, degree, 60, rings)?;
        let kernel = generate(&request, machine, &PlanChoice::Best)?;
        let timing = simulate(machine, &kernel.program);
        let of_limb = |cycles: u64| cycles as f64 / rings as f64;
        let [load_store, compute, shuffle] = Pipe::VECTOR.map(|pipe| of_limb(timing.busy[pipe]));
        let resources = [of_limb(kernel.program.instructions.len() as u64), load_store, compute, shuffle];
        let mut plans = Vec::new();
        if rings == 1 {
            let mut recipes: Vec<&Recipe> = Vec::new();
            for recipe in BUILT_IN.recipes(&request) {
                if recipe.plans != kernel.recipe.plans
                    && recipes.iter().all(|known| known.plans != recipe.plans)
                {
                    recipes.push(recipe);
                }
            }
            // Some do not suit the machine.
            let others = recipes.into_par_iter().filter_map(|recipe| compile(&request, recipe, machine).ok());
            plans = others.map(|other| of_passes(&other, machine)).collect();
            plans.push(of_passes(&kernel, machine));
        }
        Ok(Self { cycles: of_limb(timing.cycles.0), resources, plans })
    }

    /// The fewest cycles of a program that finishes one pass before the next, with work in the first and in the last pass.
    fn by_passes(&self, [first, last]: [Resources; 2]) -> Option<f64> {
        let of_plan = |passes: &Vec<Resources>| -> f64 {
            let end = passes.len() - 1;
            let with = |pass: usize, work: Resources, of: usize| {
                if pass == of { work } else { Resources::default() }
            };
            let of_pass = |(pass, &own): (usize, &Resources)| {
                most([with(pass, first, 0), with(pass, last, end)].into_iter().fold(own, sum))
            };
            passes.iter().enumerate().map(of_pass).sum()
        };
        self.plans.iter().map(of_plan).min_by(f64::total_cmp)
    }
}

/// What each pass of a kernel takes at least: its instructions, and one load of each constant.
fn of_passes(kernel: &Kernel, machine: &Machine) -> Vec<Resources> {
    let instructions = &kernel.code.insts;
    let mut passes =
        vec![Resources::default(); instructions.iter().map(|inst| inst.pass as usize + 1).max().unwrap_or(1)];
    let beats = f64::from(machine.vector_length()) / f64::from(machine.hple.count);
    let mut add = |pass: u32, pipe: Pipe, cycles: f64| {
        let of_pass = &mut passes[pass as usize];
        of_pass[0] += 1.0 / f64::from(machine.frontend.width);
        if let Some(number) = Pipe::VECTOR.into_iter().position(|vector| vector == pipe) {
            of_pass[number + 1] += cycles;
        }
    };
    let micro_ops = DecodedProgram::of(&kernel.program).micro_ops(machine);
    let mut constants = vec![u32::MAX; kernel.code.constants.len()];
    for (micro_op, origin) in micro_ops.iter().zip(&kernel.scheduled.origin) {
        let Some(inst) = origin.map(|id| &instructions[id.index()]) else { continue };
        add(inst.pass, micro_op.pipe, f64::from(micro_op.occupancy));
        if let Some(constant) = inst.constant {
            let first = &mut constants[constant.index()];
            *first = inst.pass.min(*first);
        }
    }
    constants.into_iter().filter(|&pass| pass != u32::MAX).for_each(|pass| add(pass, Pipe::LoadStore, beats));
    passes
}

fn sum(one: Resources, other: Resources) -> Resources {
    std::array::from_fn(|resource| one[resource] + other[resource])
}

/// The cycles in which elementwise work takes each resource.
fn resources(work: Work, degree: Degree, machine: &Machine) -> Resources {
    let length = f64::from(machine.instruction_set().vector_length());
    let vectors = degree.len() as f64 / length;
    let beats = length / f64::from(machine.hple.count);
    let Work { accesses, operations } = work;
    [
        vectors * (accesses + operations) / f64::from(machine.frontend.width),
        vectors * beats * accesses,
        vectors * beats * operations,
        0.0,
    ]
}

fn most(resources: Resources) -> f64 {
    resources.into_iter().fold(0.0, f64::max)
}

/// The rows of the transforms of a group: with the work before them, behind them, and both. Then the most that is saved, as a
/// part of the kernels' time: if fused kernels reach their bounds, if each of their passes does, and if they exceed their bounds as
/// the transform does.
fn group_rows(
    label: &str,
    group: &Group,
    shape: Shape,
    (degree, machine): (Degree, &Machine),
    (kernels_us, ratio): (f64, f64),
) -> Result<(Vec<String>, Saved), Fault> {
    let transform = Transform::new(group.operation, degree, machine)?;
    let Transform { cycles, resources: of_transform, .. } = transform;
    let count = (group.count)(shape);
    let cycles_of_all = kernels_us * 1e3 * Clock::of(machine).ghz();
    let (mut rows, mut most_saved) = (Vec::new(), Saved::default());
    for (before, behind) in [(true, false), (false, true), (true, true)] {
        let sides = [before.then_some(group.before), behind.then_some(group.behind)];
        let work = sides.map(|side| {
            side.map_or_else(Resources::default, |side| resources((side.fused)(shape), degree, machine))
        });
        let sides: Vec<Side> = sides.into_iter().flatten().collect();
        let apart = sides.iter().map(|side| most(resources((side.apart)(shape), degree, machine)));
        let apart = cycles + ratio * apart.sum::<f64>();
        let fused = most(work.into_iter().fold(of_transform, sum));
        let by_passes = transform.by_passes(work).unwrap_or(fused).max(fused);
        let part = |cycles: f64| count * cycles / cycles_of_all;
        let saved = Saved {
            at_most: part(apart - fused),
            by_passes: part(apart - by_passes),
            likely: part(apart - fused * cycles / most(of_transform)),
            fused: part(by_passes),
        };
        if saved.by_passes > most_saved.by_passes {
            (most_saved.by_passes, most_saved.fused) = (saved.by_passes, saved.fused);
        }
        most_saved.at_most = most_saved.at_most.max(saved.at_most);
        most_saved.likely = most_saved.likely.max(saved.likely);
        let names: Vec<&str> = sides.iter().map(|side| side.name).collect();
        rows.push(format!(
            "| {label} | {} | {} | {count} | {apart:.0} | {fused:.0} | {by_passes:.0} | {:.1}% |",
            group.operation,
            names.join("; "),
            100.0 * saved.at_most,
        ));
    }
    Ok((rows, most_saved))
}

/// The rows of a product, and its rows in the tables of all: its times, and what is left of them.
fn rows((set, n, machine_name): (&str, Option<u64>, &str)) -> Result<[String; 3], Fault> {
    let machine = machine(machine_name)?;
    let set = ParameterSet::built_in(set, n).ok_or("a built-in set")??;
    let options = Options::of([("dataflow", "oct")]);
    let program = generate_program(&find_program("hmult").ok_or("a program")?, &set, &options)?;
    let runtime = Runtime::new(&program, &machine, Keys::Streamed)?;
    let report = runtime.report(&runtime.time(false)?);
    let is_transform = |name: &str| name.contains("ntt");
    let kernels_us: f64 = report.costs.values().map(|cost| cost.time_us).sum();
    let transforms = report.costs.iter().filter(|(name, _)| is_transform(name));
    let transforms: u64 = transforms.map(|(_, cost)| cost.operations).sum();
    let others = report.costs.iter().filter(|(name, _)| !is_transform(name));
    let (time, bound) =
        others.fold((0.0, 0.0), |(time, bound), (_, cost)| (time + cost.time_us, bound + cost.bound_us));
    let levels = set.levels() as f64;
    let digits = set.digits() as f64;
    let digit = (levels / digits).ceil();
    let shape = Shape { levels, special: set.p().len() as f64, digits, digit };
    let label = format!("{} | {} | {machine_name}", set.name(), set.degree().get());
    let (mut rows, mut all, mut counted) = (Vec::new(), Saved::default(), 0.0);
    for group in &GROUPS {
        let (of_group, saved) =
            group_rows(&label, group, shape, (set.degree(), &machine), (kernels_us, time / bound))?;
        rows.extend(of_group);
        all = all + saved;
        counted += (group.count)(shape);
    }
    let excess = (GOAL - 1.0 + all.by_passes) / all.fused;
    let now = report.compute.bound_ratio.ok_or("a program with kernels")?;
    let times = format!(
        "| {label} | {transforms} | {counted} | {kernels_us:.1} | {:.0}% | {:.0}% |",
        100.0 * time / kernels_us,
        100.0 * (now - 1.0),
    );
    let left = format!(
        "| {label} | {:.3} | {:.3} | {:.2} | {} | {:.3} |",
        1.0 - all.at_most,
        1.0 - all.by_passes,
        1.0 - all.likely,
        if excess > 0.0 { format!("{:.1}%", 100.0 * excess) } else { "none".to_owned() },
        1.0 - all.by_passes * kernels_us / report.time_us,
    );
    Ok([lines(rows), times, left])
}

pub(crate) fn files() -> Files {
    let rows = PRODUCTS.par_iter().map(|&product| rows(product)).collect::<Result<Vec<_>, Fault>>()?;
    let column = |index: usize| lines(rows.iter().map(|rows| rows[index].clone()));
    let page = fill(
        include_str!("fusion.md"),
        &[
            ("forms", &column(0)),
            ("times", &column(1)),
            ("left", &column(2)),
            ("launches", &launches::rows()?),
        ],
    );
    let mut files = vec![text("reports/fusion.md", page)];
    files.extend(recorded::files()?);
    Ok(files)
}
