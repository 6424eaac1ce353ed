//! Fig. 10: runtime by ring size, against theory and off-chip memory.

use super::evaluation::{Code, Evaluation, Run, SIZES};
use super::figure::Figure;
use super::table::{Table, cell, significant, size};
use b512_asm::Pipe;
use lab_run::Bottleneck;
use plot::{Bar, Bars, Panel, Stacking};
use runtime::schedule::consecutive::{Repeated, stream};
use sim::hbm::Traffic;

/// The paper's theoretical latency of a run's transform on its machine: n log2 n / (HPLEs * clock), in
/// us.
pub(super) fn theory_us(run: &Run) -> f64 {
    let n = f64::from(run.n);
    n * n.log2() / (f64::from(run.report.machine.hple.count) * run.timing.frequency_ghz) * 1e-3
}

/// Runtime divided by theory.
pub(super) fn over_theory(run: &Run) -> f64 {
    run.timing.time_us / theory_us(run)
}

/// The words of a transform's off-chip traffic: three per element, which are data, twiddle factors
/// and result. The paper's 0.041 us at 16K match these three.
fn traffic(run: &Run) -> Traffic {
    let n = u64::from(run.n);
    Traffic { inputs: n, tables: n, outputs: n }
}

/// The off-chip transfer time of a transform, in us.
pub(super) fn transfer_us(run: &Run) -> f64 {
    let machine = &run.report.machine;
    let bytes = machine.instruction_set().bytes(traffic(run).total());
    machine.hbm.occupancy_ns(bytes) * 1e-3
}

/// Microseconds per transform in a stream of towers whose transfers overlap with computation, and
/// the bottleneck.
fn in_stream(run: &Run) -> (f64, &'static str) {
    const TOWERS: usize = 16;
    let busy = run.report.utilisation.map_or(0.0, |of| of.pipes[Pipe::LoadStore]);
    let kernel = Repeated {
        cycles: run.timing.cycles,
        bank_cycles: (busy * run.timing.cycles as f64).round() as u64,
        instructions: 0,
        inputs: vec![run.n],
        tables: vec![run.n],
        outputs: vec![run.n],
        scratch: 0,
        parameter_bytes: 0,
        may_work_in_place: true,
    };
    let stream = stream(&kernel, &run.report.machine, TOWERS).expect("the memories hold a transform");
    let side = match Bottleneck::of(&stream) {
        Bottleneck::Compute => "compute",
        Bottleneck::Hbm => "hbm",
    };
    (stream.total_ns * 1e-3 / TOWERS as f64, side)
}

/// Transfer time divided by runtime.
pub(super) fn transfer_over_runtime(run: &Run) -> f64 {
    transfer_us(run) / run.timing.time_us
}

/// Fig. 10.
pub(super) fn runtime_by_size(evaluation: &Evaluation) -> Figure {
    let mut table = Table {
        header: vec![
            "n",
            "plan",
            "cycles",
            "time_us",
            "theory_us",
            "time_over_theory",
            "hbm_us",
            "hbm_over_time",
            "stream_of_16_us_a_transform",
            "bottleneck",
        ],
        ..Table::default()
    };
    for n in SIZES {
        for code in Code::BOTH {
            let run = evaluation.size(code, n);
            let numbers = [
                run.timing.time_us,
                theory_us(run),
                over_theory(run),
                transfer_us(run),
                transfer_over_runtime(run),
            ];
            let mut row = vec![n.to_string(), code.plan().to_owned(), run.timing.cycles.to_string()];
            row.extend(numbers.map(cell));
            let (stream_us, bottleneck) = in_stream(run);
            row.extend([cell(stream_us), bottleneck.to_owned()]);
            table.rows.push(row);
        }
    }
    let run = |code| move |n| evaluation.size(code, n);
    let bar = |label: &str, value: &dyn Fn(u32) -> f64, notes: Vec<String>| Bar {
        label: label.into(),
        values: SIZES.map(|n| Some(value(n))).into(),
        notes,
    };
    let ratios = |code| SIZES.map(|n| format!("{:.2}", over_theory(run(code)(n)))).into();
    let (paper, best) = (run(Code::Paper), run(Code::Best));
    let series = vec![
        bar("theory: n log₂ n / (HPLEs · clock)", &|n| theory_us(paper(n)), Vec::new()),
        bar(Code::Paper.label(), &|n| paper(n).timing.time_us, ratios(Code::Paper)),
        bar(Code::Best.label(), &|n| best(n).timing.time_us, ratios(Code::Best)),
        bar("HBM2, 512 GB/s: three words an element", &|n| transfer_us(paper(n)), Vec::new()),
    ];
    let ratio = |code, n| significant(over_theory(run(code)(n)), 3);
    Figure {
        number: 10,
        caption: format!(
            "Simulated runtime on (128, 128) against theory and off-chip memory; above the bars, runtime over theory: \
             the paper's program goes from {} at 1K to {} at 64K (the paper: 3.86 and 1.38). Our fastest reaches {}: \
             the paper's formula counts two multiplier slots a butterfly and so is no lower bound.",
            ratio(Code::Paper, 1024),
            ratio(Code::Paper, 65536),
            ratio(Code::Best, 65536)
        ),
        drawing: plot::Figure {
            columns: 1,
            basis: evaluation.basis(),
            panel: (1080, 460),
            panels: vec![Panel::Bars(Bars {
                title: "NTT on (128, 128): runtime, theory and off-chip transfer by ring size".into(),
                x_label: "Points".into(),
                y_label: "Time (µs)".into(),
                categories: SIZES.map(size).into(),
                series,
                stacking: Stacking::BesideLogarithmic,
            })],
        },
        table,
    }
}
