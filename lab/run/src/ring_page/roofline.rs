//! The roofline of the stages: multiplications for each byte against multiplications in a second.

use crate::page_parts::four_digits;
use crate::stages::Stage;
use maud::{Markup, html};
use sim::{Clock, Machine};

/// The plane, and its margins.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 58.0;
const BOTTOM: f64 = 40.0;
const TOP: f64 = 22.0;

/// A chart of the stages with transfers and multiplications; nothing if there are none.
pub(super) fn roofline(stages: &[Stage], machine: &Machine) -> Markup {
    let points: Vec<(usize, f64, f64)> = (1..)
        .zip(stages)
        .filter_map(|(number, stage)| Some((number, stage.intensity()?, stage.rate())))
        .filter(|&(_, intensity, rate)| intensity > 0.0 && rate > 0.0)
        .collect();
    let Some(&(_, first, _)) = points.first() else { return html! {} };
    // In 10^9 multiplications and bytes in a second.
    let most = f64::from(machine.hple.count) * Clock::of(machine).ghz();
    let channel = machine.hbm.sustained_gb_per_s();
    let ridge = most / channel;
    let of = |value: fn(&(usize, f64, f64)) -> f64| points.iter().map(value);
    let decade = |value: f64| value.log10().floor();
    let (low_x, high_x) = of(|point| point.1)
        .fold((first.min(ridge), first.max(ridge)), |(low, high), x| (low.min(x), high.max(x)));
    let low_y = of(|point| point.2).fold(most, f64::min).min(low_x * channel);
    let (x_from, x_to) = (decade(low_x), decade(high_x * 1.5) + 1.0);
    let (y_from, y_to) = (decade(low_y), decade(most * 1.2) + 1.0);
    let x = |value: f64| LEFT + (value.log10() - x_from) / (x_to - x_from) * (WIDTH - LEFT - 12.0);
    let y = |value: f64| {
        let share = (value.log10() - y_from) / (y_to - y_from);
        HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)
    };
    let decades = |from: f64, to: f64| (from as i32..=to as i32).map(|power| 10f64.powi(power));
    let text = |value: f64| if value >= 0.01 { format!("{value}") } else { format!("{value:e}") };
    let begin = 10f64.powf(x_from).max(10f64.powf(y_from) / channel);
    let roof = format!(
        "M{:.1} {:.1}L{:.1} {:.1}H{:.1}",
        x(begin),
        y(begin * channel),
        x(ridge),
        y(most),
        x(10f64.powf(x_to))
    );
    html! {
        h3 { "Roofline" }
        p {
            "Multiplications for each off-chip byte against 10⁹ multiplications in a second. The roofs are the channel, "
            (four_digits(channel)) " GB/s, and " (machine.hple.count) " multipliers, " (four_digits(most)) " · 10⁹/s. "
            "Numbers are those of the stages in the table."
        }
        figure.roofline {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="Roofline of the stages" {
                @for value in decades(x_from, x_to) {
                    line.grid x1=(format!("{:.1}", x(value))) x2=(format!("{:.1}", x(value))) y1=(TOP) y2=(HEIGHT - BOTTOM) {}
                    text x=(format!("{:.1}", x(value))) y=(HEIGHT - BOTTOM + 16.0) text-anchor="middle" { (text(value)) }
                }
                @for value in decades(y_from, y_to) {
                    line.grid x1=(LEFT) x2=(WIDTH - 12.0) y1=(format!("{:.1}", y(value))) y2=(format!("{:.1}", y(value))) {}
                    text x=(LEFT - 6.0) y=(format!("{:.1}", y(value) + 4.0)) text-anchor="end" { (text(value)) }
                }
                text x=((WIDTH + LEFT) / 2.0) y=(HEIGHT - 6.0) text-anchor="middle" { "multiplications per byte" }
                text x="0" y="12" { "10⁹ multiplications/s" }
                path.roof d=(roof) {}
                @for &(number, intensity, rate) in &points {
                    @let title = format!("{}: {} per byte, {} · 10⁹/s", stages[number - 1].name, four_digits(intensity), four_digits(rate));
                    circle cx=(format!("{:.1}", x(intensity))) cy=(format!("{:.1}", y(rate))) r="4" { title { (title) } }
                    text x=(format!("{:.1}", x(intensity) + 6.0)) y=(format!("{:.1}", y(rate) + 12.0)) { (number) }
                }
            }
        }
    }
}
