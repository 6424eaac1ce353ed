//! The front end: which programs it binds, and what a wider one gains: `reports/front-end.md`.

use crate::operations::{binding, changed_machine};
use crate::page::{Fault, Files, fill, lines, text};
use codegen::{PlanChoice, Request, generate};
use golden::Operation;
use plot::{Figure, Line, Lines, Panel};
use programs::{Options, ParameterSet, find_dataflow, find_program, generate as generate_program};
use rayon::prelude::*;
use ring::Degree;
use ring_program::RingProgram;
use runtime::{Keys, Report, Runtime};
use sim::timing::simulate;
use sim::{Area, Clock, Machine};

/// HPLEs, with as many banks. Vectors have 512 elements, so the last machine takes an instruction a cycle in
/// each pipe.
const HPLES: [u32; 3] = [128, 256, 512];

/// Instructions that the front end dispatches a cycle.
const WIDTHS: [u32; 3] = [1, 2, 4];

const OPERATIONS: [Operation; 2] = [golden::NTT, golden::INTT];

/// Degrees, with the number of rings of a launch: as ring programs have them.
const SIZES: [(u32, usize); 4] = [(1024, 16), (4096, 8), (16384, 1), (65536, 1)];

/// Ring programs: the program, its set, its dataflow, and changes to the machine.
const PROGRAMS: [(&str, &str, &str, &str); 2] =
    [("hmult", "ark", "oct", "vdm.size_mib=16"), ("bootstrap", "lattigo-n16qp1546", "oc", "vdm.size_mib=64")];

/// The machine `narrow` with other numbers of HPLEs, banks and dispatched instructions.
fn machine(hples: u32, width: u32, change: &str) -> Result<Machine, Fault> {
    let changes = [
        format!("hple.count={hples}"),
        format!("vdm.banks={hples}"),
        format!("frontend.width={width}"),
        "hbm.stacks=8".to_owned(),
        change.to_owned(),
    ];
    changed_machine("narrow", &changes.each_ref().map(String::as_str))
}

/// A kernel on a machine.
struct Kernel {
    cycles: u64,
    instructions: u64,
    /// The part of the cycles in which the busiest pipe is occupied.
    pipe: f64,
}

fn kernel(operation: Operation, (n, rings): (u32, usize), machine: &Machine) -> Result<Kernel, Fault> {
    let request = Request::with_primes(operation, Degree::try_from(n)?, 60, rings)?;
    let program = generate(&request, machine, &PlanChoice::Best)?.program;
    let timing = simulate(machine, &program);
    let busiest = b512_asm::Pipe::ALL.into_iter().map(|pipe| timing.busy[pipe]).max().unwrap_or_default();
    Ok(Kernel {
        cycles: timing.cycles.0,
        instructions: program.instructions.len() as u64,
        pipe: busiest as f64 / timing.cycles.0 as f64,
    })
}

fn kernel_row((operation, size, hples): (Operation, (u32, usize), u32)) -> Result<String, Fault> {
    let of = |width| kernel(operation, size, &machine(hples, width, "vdm.size_mib=16")?);
    let [one, two, four] = WIDTHS.map(of);
    let (one, two, four) = (one?, two?, four?);
    let (n, rings) = size;
    Ok(format!(
        "| {operation} | {n} | {rings} | {hples} | {} | {} | {:.0}% | {:.0}% | {} | {} | {:.2} |",
        one.instructions,
        one.cycles,
        100.0 * one.instructions as f64 / one.cycles as f64,
        100.0 * one.pipe,
        two.cycles,
        four.cycles,
        two.cycles as f64 / one.cycles as f64,
    ))
}

fn ring_program(name: &str, set: &str, dataflow: &str) -> Result<RingProgram, Fault> {
    let set = ParameterSet::built_in(set, None).ok_or("a built-in set")??;
    let dataflow = find_dataflow(dataflow).ok_or("a dataflow")?;
    let program = find_program(name).ok_or("a program")?;
    Ok(generate_program(&program, &set, &Options::of([("dataflow", dataflow.name)]))?)
}

fn report(program: &RingProgram, machine: &Machine) -> Result<Report, Fault> {
    let runtime = Runtime::new(program, machine, Keys::Streamed)?;
    Ok(runtime.report(&runtime.time(false)?))
}

/// The area of the front end's logic and of the instruction memory beside the RPU's, by width, as a row of a
/// table.
fn area_row(hples: u32) -> Result<String, Fault> {
    let of = |width| Ok::<_, Fault>(Area::of(&machine(hples, width, "vdm.size_mib=16")?));
    let [one, two, four] = WIDTHS.map(of);
    let (one, two, four) = (one?, two?, four?);
    Ok(format!(
        "| {hples} | {:.4} | {:.4} | {:.4} | {:.3} | {:.2} |",
        one.front_end,
        two.front_end,
        four.front_end,
        one.instruction_memory,
        one.total(),
    ))
}

/// The rows of a ring program, and its times in ms by width and number of HPLEs.
fn rows_of(
    (name, set, dataflow, change): (&str, &str, &str, &str),
) -> Result<(Vec<String>, [[f64; HPLES.len()]; WIDTHS.len()]), Fault> {
    let program = ring_program(name, set, dataflow)?;
    let (mut rows, mut times) = (Vec::new(), [[0.0; HPLES.len()]; WIDTHS.len()]);
    for (place, hples) in HPLES.into_iter().enumerate() {
        for (of_width, width) in times.iter_mut().zip(WIDTHS) {
            let machine = machine(hples, width, change)?;
            let report = report(&program, &machine)?;
            of_width[place] = report.time_us / 1e3;
            rows.push(format!(
                "| {name}, {set} | {hples} | {width} | {:.3} | {:.2} | {:.2} | {} |",
                report.time_us / 1e3,
                Clock::of(&machine).ghz(),
                Area::of(&machine).total(),
                binding(&report),
            ));
        }
    }
    Ok((rows, times))
}

fn panel(title: &str, y_label: &str, values: &[[f64; HPLES.len()]; WIDTHS.len()]) -> Panel {
    let line = |(width, values): (u32, &[f64; HPLES.len()])| Line {
        label: width.to_string(),
        points: HPLES.into_iter().map(f64::from).zip(values.iter().copied()).collect(),
    };
    Panel::Lines(Lines {
        title: title.into(),
        x_label: "HPLEs".into(),
        x_logarithmic: true,
        y_label: y_label.into(),
        series_label: "instructions a cycle".into(),
        series: WIDTHS.into_iter().zip(values).map(line).collect(),
    })
}

pub(crate) fn files() -> Files {
    let cases: Vec<_> = OPERATIONS
        .iter()
        .flat_map(|&operation| SIZES.map(|size| (operation, size)))
        .flat_map(|(operation, size)| HPLES.map(|hples| (operation, size, hples)))
        .collect();
    let kernels = cases.into_par_iter().map(kernel_row).collect::<Result<Vec<_>, Fault>>()?;
    let programs = PROGRAMS.into_par_iter().map(rows_of).collect::<Result<Vec<_>, Fault>>()?;
    let panels = PROGRAMS
        .iter()
        .zip(&programs)
        .map(|((name, set, ..), (_, times))| panel(&format!("{name}, {set}"), "Time (ms)", times))
        .collect();
    let basis = lab_sweep::basis([&machine(HPLES[0], WIDTHS[0], "vdm.size_mib=16")?]);
    let chart = Figure { columns: 2, panel: (480, 360), panels, basis: basis.clone() };
    let rows = programs.into_iter().flat_map(|(rows, _)| rows);
    let areas = HPLES.into_iter().map(area_row).collect::<Result<Vec<_>, Fault>>()?;
    let page = fill(
        include_str!("front_end.md"),
        &[
            ("basis", &basis),
            ("kernels", &lines(kernels)),
            ("programs", &lines(rows)),
            ("areas", &lines(areas)),
        ],
    );
    Ok(vec![text("reports/front-end.md", page), text("reports/front-end.svg", chart.svg()?)])
}
