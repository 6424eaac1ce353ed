//! Fig. 7: the gain from machine-aware scheduling.

use super::evaluation::{Code, Evaluation, HPLES};
use super::figure::Figure;
use super::table::{Table, cell, significant};
use plot::{Bar, Bars, Panel, Stacking};

/// The programs, slowest first.
const CODES: [Code; 3] = [Code::Unoptimised, Code::Paper, Code::Best];

/// Fig. 7.
pub(super) fn optimised_against_unoptimised(evaluation: &Evaluation) -> Figure {
    let time = |code, hples| evaluation.at_128_banks(code, hples).timing.time_us;
    let speed_up = |code, hples| time(Code::Unoptimised, hples) / time(code, hples);
    let mean = |code| HPLES.iter().map(|&hples| speed_up(code, hples)).sum::<f64>() / HPLES.len() as f64;
    let mut table =
        Table { header: vec!["plan", "hples", "banks", "cycles", "time_us", "speed_up"], ..Table::default() };
    for code in CODES {
        for hples in HPLES {
            let run = evaluation.at_128_banks(code, hples);
            table.rows.push(vec![
                code.plan().into(),
                hples.to_string(),
                "128".into(),
                run.timing.cycles.to_string(),
                cell(run.timing.time_us),
                cell(speed_up(code, hples)),
            ]);
        }
    }
    let series = CODES.map(|code| Bar {
        label: code.label().into(),
        values: HPLES.map(|hples| Some(time(code, hples))).into(),
        notes: match code {
            Code::Unoptimised => Vec::new(),
            Code::Paper | Code::Best => HPLES.map(|hples| format!("{:.1}x", speed_up(code, hples))).into(),
        },
    });
    Figure {
        number: 7,
        caption: format!(
            "Simulated runtime of a 64K NTT at 128 VDM banks; above the bars, how many times faster than textbook \
             order: {} times on average with the paper's program (the paper: 1.8), {} with our fastest. Our fastest runs on the \
             machine that the paper describes, the others on the one that reproduces its numbers.",
            significant(mean(Code::Paper), 3),
            significant(mean(Code::Best), 3)
        ),
        drawing: plot::Figure {
            columns: 1,
            basis: evaluation.basis(),
            panel: (960, 440),
            panels: vec![Panel::Bars(Bars {
                title: "64K NTT at 128 VDM banks: programs that know the machine and one that does not"
                    .into(),
                x_label: "HPLEs".into(),
                y_label: "Runtime (µs)".into(),
                categories: HPLES.map(|hples| hples.to_string()).into(),
                series: series.into(),
                stacking: Stacking::BesideLogarithmic,
            })],
        },
        table,
    }
}
