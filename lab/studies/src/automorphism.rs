//! The cost of X -> X^g over machines, in several ways.

use crate::page::{Files, fill, lines, text};
use b512_asm::{PerPipe, Pipe, Setting};
use codegen::schedule::Tuning;
use codegen::{Kernel, Order, Parameters, PlanChoice, Recipe, Request, classical, compile, generate};
use plot::{Figure, Line, Lines, Panel};
use rayon::prelude::*;
use ring::Degree;
use sim::Clock;
use sim::Machine;
use sim::area::Area;
use sim::machine::BankMapping;
use sim::timing::simulate;

/// The degrees of the chart.
const DEGREES: [u32; 4] = [1024, 4096, 16384, 65536];
const LARGEST: u32 = 65536;

/// HPLEs and banks of the machines.
const MACHINES: [(u32, u32); 6] = [(64, 64), (64, 128), (128, 128), (128, 256), (256, 256), (256, 512)];
const PAPER: (u32, u32) = (128, 128);

const MAPPINGS: [(BankMapping, &str); 2] =
    [(BankMapping::Interleaved, "interleaved"), (BankMapping::Xor, "XOR")];

/// The polynomials of a kernel in registers. They hide latencies if a polynomial has few vectors.
const TOGETHER: u32 = 4;

/// A way with a kernel of its own: a method of the code generator.
#[derive(Clone, Copy)]
struct Way(&'static str);

const WAYS: [Way; 3] = [Way("memory"), Way("permuter"), Way("network")];

impl Way {
    /// The polynomials that its kernel permutes.
    fn together(self, n: u32, machine: &Machine) -> u32 {
        let lanes = machine.vector_length();
        if self.0 == "memory" { lanes * lanes / n } else { TOGETHER }
    }

    /// The machine with the extension that it needs.
    fn extended(self, machine: &Machine) -> Machine {
        let mut machine = machine.clone();
        machine
            .edit(|values| values.isa.lane_permuter = self.0 == "permuter")
            .expect("a machine of the study");
        machine
    }

    /// The fastest of several schedules of its kernel.
    fn cost(self, n: u32, g: u32, machine: &Machine) -> Cost {
        let together = self.together(n, machine);
        let request = request(n, g, together);
        let machine = &self.extended(machine);
        let settings = [
            (Tuning::default(), Order::ByStep),
            (Tuning::default(), Order::ByDemand),
            (Tuning::spiral(), Order::ByStep),
        ];
        let recipes = settings.into_iter().map(|(tuning, order)| Recipe {
            order,
            method: Some(self.0.to_owned()),
            ..classical(golden::AUTOMORPHISM, n, 4, tuning)
        });
        let costs = recipes.map(|recipe| {
            let kernel = compile(&request, &recipe, machine).expect("the machine has enough memory");
            Cost::of(&kernel, machine, together)
        });
        costs.min_by(|a, b| a.cycles.total_cmp(&b.cycles)).expect("there are schedules")
    }
}

/// An automorphism of values in several rings.
fn request(n: u32, g: u32, rings: u32) -> Request {
    let degree = Degree::try_from(n).unwrap();
    let request = Request::with_primes(golden::AUTOMORPHISM, degree, 60, rings as usize).unwrap();
    let order = ("order".to_owned(), Setting::Word("evaluation".to_owned()));
    let parameters = Parameters::new(vec![("g".to_owned(), Setting::Number(g.into())), order]);
    Request { parameters, ..request }
}

/// The cost of a kernel.
struct Cost {
    /// Cycles for a polynomial.
    cycles: f64,
    /// The same if its busiest resource never waited.
    bound: f64,
    /// Instructions of each vector pipe for a vector.
    instructions: PerPipe<f64>,
    /// The bank conflicts for a vector.
    conflicts: f64,
    /// Operands, results, tables and memory between passes, in MiB.
    mib: f64,
}

impl Cost {
    fn of(kernel: &Kernel, machine: &Machine, polynomials: u32) -> Self {
        let timing = simulate(machine, &kernel.program);
        let n = kernel.program.claims[0].number("n").expect("a claim in a ring") as u32;
        let vectors = f64::from(polynomials * n / machine.vector_length());
        let words: u32 = kernel.program.symbols.iter().map(|symbol| symbol.words).sum();
        Self {
            cycles: timing.cycles.0 as f64 / f64::from(polynomials),
            bound: timing.bounds.resource.0 as f64 / f64::from(polynomials),
            instructions: PerPipe::from_fn(|pipe| timing.instructions[pipe] as f64 / vectors),
            conflicts: timing.bank_conflicts as f64 / vectors,
            mib: mib(words, machine),
        }
    }
}

fn mib(words: u32, machine: &Machine) -> f64 {
    machine.instruction_set().bytes(words.into()) as f64 / f64::from(1 << 20)
}

fn machine((hples, banks): (u32, u32), mapping: BankMapping) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            values.hple.count = hples;
            values.vdm.banks = banks;
            values.vdm.mapping = mapping;
            values.vdm.size_mib = 32;
        })
        .expect("a machine of the study");
    machine
}

/// The rotation by this number of slots.
fn rotation(n: u32, slots: u32) -> u32 {
    (0..slots).fold(1, |power, _| power * 5 % (2 * n))
}

/// The exponent of the chart: a rotation by a number of slots without structure.
fn exponent(n: u32) -> u32 {
    rotation(n, 77)
}

/// Cycles of a transform of a polynomial, by the library's program for the machine or a similar one.
fn transform_cycles(n: u32, machine: &Machine) -> f64 {
    let degree = Degree::try_from(n).unwrap();
    let request = Request::with_primes(golden::NTT, degree, 60, 1).unwrap();
    let kernel = generate(&request, machine, &PlanChoice::Known).unwrap();
    simulate(machine, &kernel.program).cycles.0 as f64
}

/// Cycles for the transfer of a table of factors from the off-chip memory.
fn table_cycles(n: u32, machine: &Machine) -> f64 {
    machine.hbm.occupancy_ns(machine.instruction_set().bytes(n.into())) * Clock::of(machine).ghz()
}

/// The ways over degrees, for each mapping.
fn chart(basis: String) -> Figure {
    let panel = |&(mapping, name): &(BankMapping, &str)| {
        let machine = machine(PAPER, mapping);
        let vectors = |n: u32| f64::from(n / machine.vector_length());
        let line = |label: &str, cycles: &(dyn Fn(u32) -> f64 + Sync)| Line {
            label: label.into(),
            points: DEGREES.par_iter().map(|&n| (f64::from(n), cycles(n) / vectors(n))).collect(),
        };
        let mut series = vec![line("root, its table streamed", &|n| table_cycles(n, &machine))];
        for way in WAYS {
            series.push(line(way.0, &|n| way.cost(n, exponent(n), &machine).cycles));
        }
        series.push(line("a transform", &|n| transform_cycles(n, &machine)));
        Panel::Lines(Lines {
            title: format!("128 HPLEs, 128 {name} banks"),
            x_label: "Degree n".into(),
            x_logarithmic: true,
            y_label: "Cycles for a vector".into(),
            series_label: "way".into(),
            series,
        })
    };
    Figure { columns: 2, panel: (560, 420), panels: MAPPINGS.iter().map(panel).collect(), basis }
}

pub(crate) fn files() -> Files {
    let paper = machine(PAPER, BankMapping::Xor);
    let machines = MACHINES.iter().flat_map(|&size| MAPPINGS.map(|(mapping, name)| (size, mapping, name)));
    let machines: Vec<_> = machines.collect();
    let basis = lab_sweep::basis([&paper]);
    let page = fill(
        include_str!("automorphism.md"),
        &[
            ("basis", &basis),
            ("transform", &format!("{:.0}", transform_cycles(LARGEST, &paper))),
            ("root_mib", &format!("{:.1}", mib(LARGEST, &paper))),
            ("root_cycles", &format!("{:.0}", table_cycles(LARGEST, &paper))),
            ("instructions", &lines(exponents(&paper))),
            ("machines", &lines(machines.par_iter().map(row).collect::<Vec<_>>())),
        ],
    );
    Ok(vec![text("reports/automorphism.md", page), text("reports/automorphism.svg", chart(basis).svg()?)])
}

/// The ways and several exponents, at the largest degree.
fn exponents(machine: &Machine) -> Vec<String> {
    let exponents = [
        ("5, rotation by 1", 5),
        ("5^77", exponent(LARGEST)),
        ("5^128 = 1 mod 512", rotation(LARGEST, 128)),
        ("-1, conjugation", 2 * LARGEST - 1),
    ];
    let row = |way: Way, (name, g)| {
        let Cost { cycles, bound, instructions, conflicts, mib } = way.cost(LARGEST, g, machine);
        let [accesses, arithmetic, shuffles] =
            [Pipe::LoadStore, Pipe::Compute, Pipe::Shuffle].map(|pipe| instructions[pipe]);
        format!(
            "| {} | {name} | {} | {mib:.1} | {accesses:.2} | {arithmetic:.2} | {shuffles:.2} | {conflicts:.1} | \
             {cycles:.0} | {bound:.0} |",
            way.0,
            way.together(LARGEST, machine)
        )
    };
    WAYS.iter().flat_map(|&way| exponents.map(|exponent| row(way, exponent))).collect()
}

/// The ways on a machine, at the largest degree.
fn row(&(size, mapping, name): &((u32, u32), BankMapping, &str)) -> String {
    let machine = machine(size, mapping);
    let transform = transform_cycles(LARGEST, &machine);
    let ways = WAYS.map(|way| {
        let cycles = way.cost(LARGEST, exponent(LARGEST), &machine).cycles;
        format!(" {cycles:.0} ({:.2}) |", cycles / transform)
    });
    let [with, without] = [true, false].map(|permuter| {
        let mut machine = machine.clone();
        machine.edit(|values| values.isa.lane_permuter = permuter).expect("a machine of the study");
        Area::of(&machine).total()
    });
    format!(
        "| {} | {} | {name} | {transform:.0} | {:.0} |{} {:.3} ({:.2}%) |",
        size.0,
        size.1,
        table_cycles(LARGEST, &machine),
        ways.concat(),
        with - without,
        100.0 * (with / without - 1.0)
    )
}
