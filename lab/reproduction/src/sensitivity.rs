//! Figs. 8 and 9: sensitivity to latencies and intervals.

use super::evaluation::{
    Code, Evaluation, INTERVALS, LOAD_STORE_LATENCIES, MULTIPLIER_LATENCIES, SHUFFLE_LATENCIES,
};
use super::figure::Figure;
use super::table::{Table, significant};
use plot::{Line, Lines, Panel};

/// The title of a panel: the paper's program is scheduled once, ours for each machine.
fn title(code: Code) -> String {
    let scheduled = match code {
        Code::Best => "for each machine",
        Code::Paper | Code::Unoptimised => "scheduled once",
    };
    format!("64K NTT, {}, {scheduled}", code.label())
}

/// Fig. 8.
pub(super) fn multiplier(evaluation: &Evaluation) -> Figure {
    let mut table = Table {
        header: vec!["plan", "initiation_interval", "multiplier_latency_cycles", "cycles"],
        ..Table::default()
    };
    let mut panel = |code: Code| {
        let series = INTERVALS.map(|interval| {
            let points = MULTIPLIER_LATENCIES.map(|latency| {
                let cycles = evaluation.multiplier(code, latency, interval).timing.cycles;
                let row =
                    [code.plan().to_owned(), interval.to_string(), latency.to_string(), cycles.to_string()];
                table.rows.push(row.into());
                (f64::from(latency), cycles as f64)
            });
            Line { label: interval.to_string(), points: points.into() }
        });
        Panel::Lines(Lines {
            title: title(code),
            x_label: "Multiplier latency (cycles)".into(),
            x_logarithmic: false,
            y_label: "Clock cycles".into(),
            series_label: "II (cycles)".into(),
            series: series.into(),
        })
    };
    let panels = Code::BOTH.map(&mut panel).into();
    let share = |code| {
        let cycles =
            |interval| evaluation.multiplier(code, evaluation.multiplier_latency(code), interval).cycles();
        significant((cycles(2) / cycles(1) - 1.0) * 100.0, 3)
    };
    Figure {
        number: 8,
        caption: format!(
            "Simulated cycles of a 64K NTT on (128, 128) by latency and initiation interval (II) of the multiplier: \
             an II of 2 costs the paper's program, scheduled once, {}% (the paper: 16%), and our fastest for each \
             machine {}%: it shuffles less.",
            share(Code::Paper),
            share(Code::Best)
        ),
        drawing: plot::Figure { columns: 2, panel: (560, 420), panels, basis: evaluation.basis() },
        table,
    }
}

/// Fig. 9.
pub(super) fn crossbars(evaluation: &Evaluation) -> Figure {
    let mut table = Table {
        header: vec!["plan", "sbar_latency_cycles", "vbar_latency_cycles", "cycles"],
        ..Table::default()
    };
    let mut panel = |code: Code| {
        let series = LOAD_STORE_LATENCIES.map(|load_store| {
            let points = SHUFFLE_LATENCIES.map(|shuffle| {
                let cycles = evaluation.crossbars(code, shuffle, load_store).timing.cycles;
                let row =
                    [code.plan().to_owned(), shuffle.to_string(), load_store.to_string(), cycles.to_string()];
                table.rows.push(row.into());
                (f64::from(shuffle), cycles as f64)
            });
            Line { label: load_store.to_string(), points: points.into() }
        });
        Panel::Lines(Lines {
            title: title(code),
            x_label: "Shuffle latency, SBAR (cycles)".into(),
            x_logarithmic: false,
            y_label: "Clock cycles".into(),
            series_label: "LS latency, VBAR (cycles)".into(),
            series: series.into(),
        })
    };
    let panels = Code::BOTH.map(&mut panel).into();
    let share = |code| {
        let cycles = |load_store| evaluation.crossbars(code, 4, load_store).cycles();
        significant((cycles(10) / cycles(4) - 1.0) * 100.0, 2)
    };
    Figure {
        number: 9,
        caption: format!(
            "Simulated cycles of a 64K NTT on (128, 128) by the latencies of shuffles and of loads and stores (LS): LS \
             latency 10 instead of 4 costs the paper's program, scheduled once, {}% (the paper: 1.7%), and our fastest for \
             each machine {}%.",
            share(Code::Paper),
            share(Code::Best)
        ),
        drawing: plot::Figure { columns: 2, panel: (560, 420), panels, basis: evaluation.basis() },
        table,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use configs::evaluation::{CROSSBARS, MULTIPLIERS};

    /// A program that is scheduled for one machine says little of the others.
    #[test]
    fn the_titles_say_which_programs_are_scheduled_once() {
        for [paper, best] in [MULTIPLIERS, CROSSBARS].map(|sweeps| [sweeps[0], sweeps[1]]) {
            assert!(
                paper.1.contains("schedule_for = \"base\"") && title(Code::Paper).ends_with("scheduled once")
            );
            assert!(!best.1.contains("schedule_for") && title(Code::Best).ends_with("for each machine"));
        }
    }
}
