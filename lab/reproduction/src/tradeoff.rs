//! Fig. 4, area against latency, and Fig. 5, performance per area.

use super::evaluation::{BANKS, Code, Evaluation, HPLES, Run};
use super::figure::Figure;
use super::table::{Table, cell, significant};
use plot::pareto;
use plot::{Chart, Heat, Panel, Point, Series};

/// Whether each design is on the front of latency and area.
fn front(designs: &[&Run]) -> Vec<bool> {
    let costs: Vec<[f64; 2]> = designs.iter().map(|run| [run.timing.time_us, run.report.area_mm2]).collect();
    let front = pareto::front(&costs);
    (0..designs.len()).map(|i| front.contains(&i)).collect()
}

/// Fig. 4.
pub(super) fn area_against_latency(evaluation: &Evaluation) -> Figure {
    let mut table = Table {
        header: vec!["plan", "hples", "banks", "cycles", "frequency_ghz", "time_us", "area_mm2", "pareto"],
        ..Table::default()
    };
    for code in Code::BOTH {
        let designs = evaluation.designs(code);
        for (run, on_front) in designs.iter().zip(front(&designs)) {
            let (hples, banks) = run.design();
            table.rows.push(vec![
                code.plan().into(),
                hples.to_string(),
                banks.to_string(),
                run.timing.cycles.to_string(),
                cell(run.timing.frequency_ghz),
                cell(run.timing.time_us),
                cell(run.report.area_mm2),
                on_front.to_string(),
            ]);
        }
    }
    let chart = |code: Code| {
        let designs = evaluation.designs(code);
        let fronts = designs.iter().zip(front(&designs)).filter(|(_, is_on)| *is_on);
        let on_front: Vec<_> = fronts.map(|(run, _)| run.design()).collect();
        let point = |run: &Run| {
            let (hples, banks) = run.design();
            Point {
                x: run.timing.time_us,
                y: run.report.area_mm2,
                name: format!("({hples}, {banks})"),
                short_name: hples.to_string(),
                front: on_front.contains(&run.design()).then_some(0),
                ..Point::default()
            }
        };
        let series = |banks: u32| Series {
            label: banks.to_string(),
            points: HPLES.iter().map(|&hples| point(evaluation.design(code, hples, banks))).collect(),
            joined: true,
        };
        Panel::Scatter(Chart {
            title: format!("64K NTT, {}: area against latency", code.label()),
            x_label: "Latency (µs)".into(),
            y_label: "Area (mm²)".into(),
            series_label: "VDM banks".into(),
            name_label: "HPLEs, VDM banks".into(),
            short_name_label: "HPLEs".into(),
            series: BANKS.iter().map(|&banks| series(banks)).collect(),
            references: vec![plot::Reference {
                x: 6.7,
                y: 20.5,
                label: "RPU paper, (128, 128)".into(),
                is_design: false,
            }],
            ..Chart::default()
        })
    };
    let at = |code| evaluation.design(code, 128, 128).timing.time_us;
    Figure {
        number: 4,
        caption: format!(
            "Latency (simulated) and area (modelled) of a 64K NTT on 28 designs with their Pareto front: on \
             (128, 128) the paper's program takes {} µs and our fastest {} µs; the paper reports 6.7 µs.",
            significant(at(Code::Paper), 3),
            significant(at(Code::Best), 3)
        ),
        drawing: plot::Figure {
            columns: 1,
            panel: (960, 600),
            panels: Code::BOTH.map(chart).into(),
            basis: evaluation.basis(),
        },
        table,
    }
}

/// Fig. 5.
pub(super) fn performance_per_area(evaluation: &Evaluation) -> Figure {
    // Per millisecond, so that the numbers have few digits.
    let value = |run: &Run| run.performance_per_area() * 1e3;
    let mut table =
        Table { header: vec!["plan", "hples", "banks", "transforms_per_ms_and_mm2"], ..Table::default() };
    for code in Code::BOTH {
        for run in evaluation.designs(code) {
            let (hples, banks) = run.design();
            table.rows.push(vec![code.plan().into(), hples.to_string(), banks.to_string(), cell(value(run))]);
        }
    }
    let map = |code: Code| {
        let row = |banks: u32| HPLES.map(|hples| value(evaluation.design(code, hples, banks)));
        Panel::Heat(Heat {
            title: format!("64K NTTs per ms and mm², {}", code.label()),
            x_label: "HPLEs".into(),
            y_label: "VDM banks".into(),
            columns: HPLES.map(|hples| hples.to_string()).into(),
            rows: BANKS.map(|banks| banks.to_string()).into(),
            values: BANKS.iter().flat_map(|&banks| row(banks)).collect(),
            decimals: 2,
        })
    };
    let best = |code: Code| {
        let mut designs = evaluation.designs(code);
        designs.sort_by(|a, b| value(b).total_cmp(&value(a)));
        let name = |run: &Run| format!("({}, {})", run.design().0, run.design().1);
        format!("{} before {}", name(designs[0]), name(designs[1]))
    };
    Figure {
        number: 5,
        caption: format!(
            "Transforms of 64K points per millisecond (simulated) and mm² (modelled): {} with the paper's program, \
             {} with our fastest; the paper has (128, 128) before (64, 64).",
            best(Code::Paper),
            best(Code::Best)
        ),
        drawing: plot::Figure {
            columns: 2,
            panel: (560, 360),
            panels: Code::BOTH.map(map).into(),
            basis: evaluation.basis(),
        },
        table,
    }
}
