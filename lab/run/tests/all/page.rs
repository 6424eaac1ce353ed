//! The pages of runs.

use crate::samples::{kernel, ring, untimed};
use b512_asm::Pipe;
use lab_run::crosscheck::{Composite, Composition};
use lab_run::model::MODEL_VERSION;
use lab_run::{Mode, Options, page, ring_page, run};
use ring::Degree;
use runtime::{Keys, Runtime};
use sim::Machine;
use sim::trace::Trace;

#[test]
fn a_page_has_the_numbers_of_its_run() {
    let report = kernel(&["vdm.banks=64"]);
    let html = page(&report, None);
    for part in [
        "<h1>demo on rpu-128x128: 128 HPLEs, 64 VDM banks, 1.53 GHz</h1>",
        "Machine rpu-128x128 with vdm.banks = 64. Every coefficient of the results was checked. ",
        "<td class=\"name\">time</td><td>1.250 µs, 2000 cycles at 1.53 GHz</td>",
        "<td class=\"name\">resource bound</td><td>1600 cycles</td>",
        "<td class=\"name\">dependence bound</td><td>0 cycles</td>",
        "<td class=\"name\">over the larger bound</td><td>1.25 times</td>",
        "<td class=\"name\">area</td><td>20.50 mm²</td>",
        "<td class=\"name\">energy</td><td>4.000 µJ</td>",
        "<td class=\"name\">power</td><td>3.20 W</td>",
        "<td class=\"name\">load/store</td><td>1200</td><td>50.0 %</td><td>4000</td>",
        "<td class=\"name\">compute</td><td>1</td><td>37.5 %</td><td>30</td>",
        "Bank conflicts of the VDM: 0 cycles.",
        "<h3>area: 20.50 mm²</h3>",
        "LAW engines: 39.0%",
        "<h3>energy: 4.000 µJ</h3>",
        "VDM: 75.0%",
        "<td class=\"name\">vdm.banks</td><td>64</td>",
    ] {
        assert!(html.contains(part), "{part}");
    }
    let footer = format!("model {}, program {}", MODEL_VERSION, report.program_blake3);
    assert!(html.contains(&footer) && !html.contains("<h2>Pipeline</h2>"));
    let html = page(&untimed(&[]), None);
    assert!(html.contains("<h3>area: 20.50 mm²</h3>"));
    assert!(
        !html.contains("resource bound") && !html.contains("<h2>Pipes</h2>") && !html.contains("was checked")
    );
}

/// The height of a row of the chart of the pipes, and its columns.
const ROW: usize = 46;
const COLUMNS: f64 = 300.0;

/// The chart of a run has as much of each pipe as the timing says.
#[test]
fn the_chart_of_a_run_has_its_utilisation() {
    let text = include_str!("../../../../kernels-b512/vadd.b512");
    let program = b512_asm::assemble(text).unwrap();
    let machine = Machine::rpu_128x128();
    let outcome = run(&program, &machine, &Options { mode: Mode::TimingOnly, ..Options::default() }).unwrap();
    let timing = outcome.timing.unwrap();
    let html = page(&outcome.report, Some(&Trace::new(&machine, &program, &timing)));
    let chart = &html[html.find("The busy share of each pipe over time.").unwrap()..];
    let svg = &chart[..chart.find("</svg>").unwrap()];
    let mut heights = [0.0; 3];
    for bar in svg.split("<rect").skip(1) {
        let number = |name: &str| {
            let rest = &bar[bar.find(&format!(" {name}=\"")).unwrap() + name.len() + 3..];
            rest[..rest.find('"').unwrap()].parse::<f64>().unwrap()
        };
        heights[(number("y") + number("height")).round() as usize / ROW - 1] += number("height");
    }
    let utilisation = timing.utilisation(&machine).pipes;
    for (height, pipe) in heights.iter().zip(Pipe::VECTOR) {
        let share = height / (ROW - 8) as f64 / COLUMNS;
        assert!((share - utilisation[pipe]).abs() < 0.01, "{}: {share}, {}", pipe.label(), utilisation[pipe]);
    }
    assert!(svg.contains(&format!(">{}</text>", timing.cycles.0)));
}

#[test]
fn the_parts_of_the_page_have_the_numbers_of_the_run() {
    let report = ring();
    // The timeline, of another run, has no slices.
    let degree = Degree::new(1024).unwrap();
    let composite = Composite::with_primes(Composition::BaseConversion, degree, 30).unwrap();
    let machine = Machine::rpu_128x128();
    let runtime = Runtime::new(composite.program(), &machine, Keys::default()).unwrap();
    let timeline = runtime.time(false).unwrap();
    let html = ring_page(&report, &runtime, &timeline);
    for part in [
        "<td class=\"name\">time</td><td>2.500 ms</td>",
        "<td class=\"name\">ring degree</td><td>2048</td>",
        "<td class=\"name\">keys</td><td>seeded</td>",
        "<td class=\"name\">operations</td><td>1234, 1 fused or renamed</td>",
        "<td class=\"name\">kernels run</td><td>80.0 % of the time</td>",
        "<td class=\"name\">off-chip channel busy</td><td>62.5 % of the time</td>",
        "<td class=\"name\">power</td><td>0.02 W</td>",
        "<h3>time: 2.000 ms</h3>",
        "<td class=\"name\">ntt 1 to 2</td><td>24</td><td>1</td><td>1.400</td><td>0.700</td><td>0.000</td>",
        "<h3>transfers: 4.000 MiB</h3>",
        "inputs: 75.0%",
        "</i>inputs 75.0 %</span>",
        "</i>compute 50.0 %</span>",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
}
