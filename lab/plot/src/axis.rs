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

/// The most characters of a number without a power of ten.
const PLAIN: i32 = 7;
/// The most characters of one without a power of ten on a logarithmic axis whose other ticks need powers.
const PLAIN_BESIDE_POWERS: usize = 3;

impl Axis {
    /// The label of a tick of a linear axis: all of them have the digits of its step.
    fn linear_label(&self, value: f64) -> String {
        // The places of the first digit of the largest number, and of the step.
        let place = |number: f64| (number * 1.0001).log10().floor() as i32;
        let (first, last) = (place(self.low.abs().max(self.high.abs())), place(self.step()));
        let with_decimals = |before: i32, decimals: i32| before + decimals + i32::from(decimals > 0);
        let plain = with_decimals(first.max(0) + 1, (-last).max(0));
        let digits = (first - last).max(0);
        let power = with_decimals(1, digits) + superscript(first).chars().count() as i32;
        if plain <= PLAIN || power >= plain {
            let decimals = (-last).max(0) as usize;
            return format!("{value:.decimals$}");
        }
        let (share, decimals) = (value / 10f64.powi(first), digits as usize);
        if value == 0.0 { "0".to_owned() } else { format!("{share:.decimals$}×{}", superscript(first)) }
    }

    /// The label of a tick of a logarithmic axis, with the necessary digits.
    fn logarithmic_label(&self, value: f64) -> String {
        let trimmed = |text: String| match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        };
        let place = value.log10().floor();
        let decimals = (1.0 - place).max(0.0) as usize;
        let plain = trimmed(format!("{value:.decimals$}"));
        let powers = self.low < -f64::from(PLAIN - 2) || self.high > f64::from(PLAIN);
        if !powers || plain.len() <= PLAIN_BESIDE_POWERS {
            return plain;
        }
        let (share, power) =
            (trimmed(format!("{:.1}", value / 10f64.powf(place))), superscript(place as i32));
        if share == "1" { power } else { format!("{share}×{power}") }
    }

    /// The labelled ticks with their labels.
    pub(super) fn labels(&self) -> Vec<(f64, String)> {
        self.ticks().into_iter().map(|tick| (tick, self.format_ext(&tick))).collect()
    }
}

impl ValueFormatter<f64> for Axis {
    /// The label of a tick.
    fn format_ext(&self, value: &f64) -> String {
        match self.scale {
            Scale::Linear => self.linear_label(*value),
            Scale::Logarithmic => self.logarithmic_label(*value),
        }
    }
}

/// A power of ten.
fn superscript(exponent: i32) -> String {
    let digit = |letter: char| match letter.to_digit(10) {
        Some(digit) => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][digit as usize],
        None => '⁻',
    };
    format!("10{}", exponent.to_string().chars().map(digit).collect::<String>())
}

/// A label of a tick: its value, the middle of its text on the axis, and the width of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    pub(super) value: f64,
    pub(super) middle: f64,
    pub(super) width: f64,
}

/// Whether each label of an axis has room: all of them, or every second, third and so on, with `gap` between
/// them. The first power of ten, or 0, is one of these.
pub(super) fn with_room(labels: &[Spread], gap: f64) -> Vec<bool> {
    let is_round = |value: f64| value == 0.0 || value > 0.0 && value.log10().fract().abs() < 1e-9;
    let first = labels.iter().position(|label| is_round(label.value)).unwrap_or(0);
    let stays = |stride: usize| move |i: &usize| i.abs_diff(first).is_multiple_of(stride);
    let fits = |stride: &usize| {
        let kept: Vec<Spread> = (0..labels.len()).filter(stays(*stride)).map(|i| labels[i]).collect();
        kept.windows(2).all(|pair| {
            (pair[1].middle - pair[0].middle).abs() >= (pair[0].width + pair[1].width) / 2.0 + gap
        })
    };
    let stride = (1..=labels.len()).find(fits).unwrap_or(1);
    (0..labels.len()).map(|i| stays(stride)(&i)).collect()
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
    fn long_numbers_have_powers_of_ten() {
        assert_eq!(labels(&[5e8, 2.1e9]), ["5×10⁸", "7×10⁸", "10⁹", "1.5×10⁹", "2×10⁹"]);
        let decades = ["1", "10", "100", "10³", "10⁴", "10⁵", "10⁶", "10⁷", "10⁸", "10⁹", "10¹⁰"];
        assert_eq!(labels(&[2.0, 4e9]), decades);
        assert_eq!(
            labels(&[2e-9, 3e-9]),
            ["2.0×10⁻⁹", "2.2×10⁻⁹", "2.4×10⁻⁹", "2.6×10⁻⁹", "2.8×10⁻⁹", "3.0×10⁻⁹"]
        );
        assert_eq!(labels(&[0.0, 4e9]), ["0", "1×10⁹", "2×10⁹", "3×10⁹", "4×10⁹"]);
        // A power saves nothing beside all digits.
        assert_eq!(labels(&[123_456_789.0, 123_456_790.0])[0], "123456789.0");
        // Seven characters are plain.
        assert_eq!(labels(&[1.0, 2e6]).last().unwrap(), "1000000");
        assert_eq!(labels(&[2e-5, 0.9])[0], "0.0001");
    }

    #[test]
    fn labels_without_room_are_left_out_evenly() {
        let spread = |i: usize| Spread {
            value: [5.0, 10.0, 20.0, 50.0, 100.0][i],
            middle: 10.0 * i as f64,
            width: 12.0,
        };
        let labels: Vec<Spread> = (0..5).map(spread).collect();
        assert_eq!(with_room(&labels, 2.0), [false, true, false, true, false]);
        let wide: Vec<Spread> = labels.iter().map(|label| Spread { width: 90.0, ..*label }).collect();
        assert_eq!(with_room(&wide, 2.0), [false, true, false, false, false]);
        let narrow: Vec<Spread> = labels.iter().map(|label| Spread { width: 8.0, ..*label }).collect();
        assert_eq!(with_room(&narrow, 2.0), [true; 5]);
        assert!(with_room(&[], 2.0).is_empty());
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
