//! Ranges and ticks: logarithmic if the values span enough, linear otherwise.

use plotters::coord::ranged1d::{KeyPointHint, KeyPointWeight, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// The scale of an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scale {
    Linear,
    Logarithmic,
}

/// An axis: maps values to positions and places its ticks.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Axis {
    scale: Scale,
    /// The position of its lower end.
    low: f64,
    /// The position of its upper end.
    high: f64,
}

/// Positive values with a ratio of at least this are drawn on a logarithmic scale.
const LOGARITHMIC_FROM: f64 = 4.0;
/// Share of an axis that stays free at each end.
const MARGIN: f64 = 0.06;

impl Axis {
    /// An axis for `values`, all finite; `None` if there are none.
    pub(super) fn new(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let low = values.clone().min_by(f64::total_cmp)?;
        let high = values.max_by(f64::total_cmp)?;
        let logarithmic = low > 0.0 && high / low >= LOGARITHMIC_FROM;
        let scale = if logarithmic { Scale::Logarithmic } else { Scale::Linear };
        let mut axis = Self { scale, low, high };
        let (low, high) = (axis.position(low), axis.position(high));
        let span = if high > low { high - low } else { high.abs().max(1.0) };
        (axis.low, axis.high) = (low - MARGIN * span, high + MARGIN * span);
        Some(axis)
    }

    /// A linear axis for `values`, all finite; `None` if there are none.
    pub(super) fn linear(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let low = values.clone().min_by(f64::total_cmp)?;
        let high = values.max_by(f64::total_cmp)?;
        let span = if high > low { high - low } else { high.abs().max(1.0) };
        Some(Self { scale: Scale::Linear, low: low - MARGIN * span, high: high + MARGIN * span })
    }

    /// A logarithmic axis; `None` without values, or if a value is not positive.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let axis = Self::linear(values.clone().map(f64::log10))?;
        values.clone().all(|value| value > 0.0).then_some(Self { scale: Scale::Logarithmic, ..axis })
    }

    /// A linear axis from 0 to `high`, with room for a label above it.
    pub(super) fn from_zero(high: f64) -> Self {
        Self { scale: Scale::Linear, low: 0.0, high: high * (1.0 + 2.0 * MARGIN) }
    }

    /// A logarithmic axis for the positive values, from the power of ten below them, with room for
    /// a label above them; `None` if there are none.
    pub(super) fn decades_around(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let positive = values.filter(|value| *value > 0.0);
        let low = positive.clone().min_by(f64::total_cmp)?.log10().floor();
        let high = positive.max_by(f64::total_cmp)?.log10();
        Some(Self { scale: Scale::Logarithmic, low, high: high + 2.0 * MARGIN * (high - low).max(0.5) })
    }

    /// The position of a value between the ends of the axis: 0 at the lower end, 1 at the upper
    /// end.
    pub(super) fn share(&self, value: f64) -> f64 {
        (self.position(value) - self.low) / (self.high - self.low)
    }

    /// The coordinate of a value.
    fn position(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.log10(),
        }
    }

    /// The value at a position.
    fn value(&self, position: f64) -> f64 {
        match self.scale {
            Scale::Linear => position,
            Scale::Logarithmic => 10f64.powf(position),
        }
    }

    /// The step between labelled ticks of a linear axis.
    fn step(&self) -> f64 {
        nice_step((self.high - self.low) / 6.0)
    }

    /// The multiples of `step` on a linear axis.
    fn multiples(&self, step: f64) -> Vec<f64> {
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|i| i as f64 * step).collect()
    }

    /// The values on a logarithmic axis that are one of `mantissas` times a power of ten.
    fn decades(&self, mantissas: &[f64]) -> Vec<f64> {
        (self.low.floor() as i32..=self.high.ceil() as i32)
            .flat_map(|decade| mantissas.iter().map(move |m| m * 10f64.powi(decade)))
            .filter(|value| (self.low..self.high).contains(&value.log10()))
            .collect()
    }

    /// The values of the labelled ticks.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => self.multiples(self.step()),
            Scale::Logarithmic if self.high - self.low < 1.3 => {
                self.decades(&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0])
            }
            Scale::Logarithmic if self.high - self.low < 3.0 => self.decades(&[1.0, 2.0, 5.0]),
            Scale::Logarithmic => self.decades(&[1.0]),
        }
    }

    /// The values of the finer grid.
    fn fine_ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => self.multiples(self.step() / 5.0),
            Scale::Logarithmic => self.decades(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (self.share(*value) * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight() {
            KeyPointWeight::Bold => self.ticks(),
            KeyPointWeight::Any => self.fine_ticks(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.value(self.low)..self.value(self.high)
    }
}

impl ValueFormatter<f64> for Axis {
    /// The label of a tick.
    fn format_ext(&self, value: &f64) -> String {
        // All ticks of a linear axis have the digits of its step; ticks of a logarithmic axis have only the
        // necessary digits.
        match self.scale {
            Scale::Linear => {
                let decimals = (-(self.step() * 1.0001).log10().floor()).max(0.0) as usize;
                format!("{value:.decimals$}")
            }
            Scale::Logarithmic => {
                let decimals = (1.0 - value.log10().floor()).max(0.0) as usize;
                let text = format!("{value:.decimals$}");
                if text.contains('.') {
                    text.trim_end_matches('0').trim_end_matches('.').into()
                } else {
                    text
                }
            }
        }
    }
}

/// Round ratios from e^`-reach` to e^`reach` with their labels: in percent if they are close to 1.
pub(super) fn ratios(reach: f64) -> Vec<(f64, String)> {
    const PERCENT_BELOW: f64 = 0.7;
    if reach < PERCENT_BELOW {
        let percent = |reach: f64| 100.0 * (reach.exp() - 1.0);
        let axis = Axis { scale: Scale::Linear, low: percent(-reach), high: percent(reach) };
        let label = |tick: f64| match tick {
            0.0 => "0 %".to_owned(),
            tick => format!("{}{} %", if tick > 0.0 { "+" } else { "" }, axis.format_ext(&tick)),
        };
        return axis.ticks().into_iter().map(|tick| (1.0 + tick / 100.0, label(tick))).collect();
    }
    let decades = reach * std::f64::consts::LOG10_E;
    let axis = Axis { scale: Scale::Logarithmic, low: -decades, high: decades };
    axis.ticks().into_iter().map(|tick| (tick, format!("x {}", axis.format_ext(&tick)))).collect()
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below `step`.
fn nice_step(step: f64) -> f64 {
    let decade = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0].into_iter().map(|m| m * decade).find(|&nice| nice >= step).unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64]) -> Vec<String> {
        let axis = Axis::new(values.iter().copied()).unwrap();
        axis.ticks().iter().map(|value| axis.format_ext(value)).collect()
    }

    #[test]
    fn wide_ranges_are_logarithmic() {
        assert_eq!(labels(&[3.0, 180.0]), ["5", "10", "20", "50", "100", "200"]);
        assert_eq!(labels(&[0.3, 2.0]), ["0.3", "0.4", "0.5", "0.7", "1", "1.5", "2"]);
    }

    #[test]
    fn narrow_ranges_are_linear() {
        assert_eq!(labels(&[10.0, 12.0]), ["10.0", "10.5", "11.0", "11.5", "12.0"]);
        assert_eq!(labels(&[0.0, 1000.0]), ["0", "200", "400", "600", "800", "1000"]);
    }

    #[test]
    fn ratios_are_round() {
        let labels =
            |reach: f64| -> Vec<String> { ratios(reach).into_iter().map(|(_, label)| label).collect() };
        assert_eq!(labels(0.06), ["-5 %", "0 %", "+5 %"]);
        assert_eq!(labels(0.5), ["-20 %", "0 %", "+20 %", "+40 %", "+60 %"]);
        assert_eq!(labels(1.0), ["x 0.4", "x 0.5", "x 0.7", "x 1", "x 1.5", "x 2"]);
        assert_eq!(labels(3.0), ["x 0.05", "x 0.1", "x 0.2", "x 0.5", "x 1", "x 2", "x 5", "x 10", "x 20"]);
        assert!(ratios(1.0).iter().all(|(ratio, _)| ratio.ln().abs() < 1.0));
    }

    #[test]
    fn logarithmic_axes_have_positive_values() {
        let axis = Axis::logarithmic([64.0, 128.0, 4096.0].into_iter()).unwrap();
        assert!((axis.share(512.0) - 0.5).abs() < 1e-9);
        assert_eq!(Axis::logarithmic([0.0, 1.0].into_iter()), None);
    }

    #[test]
    fn one_value_has_an_axis_and_none_has_not() {
        assert!(Axis::new([7.0].into_iter()).unwrap().range().contains(&7.0));
        assert_eq!(Axis::new(std::iter::empty()), None);
    }
}
