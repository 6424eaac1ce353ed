//! Scatter charts of designs: their series, names and lines, whatever holds their values.

use super::quantity::{Quantity, names};
use super::value::Text;
use plot::{Chart, Point, Series};
use std::collections::{BTreeMap, BTreeSet};

/// Designs of a chart.
pub(super) struct Designs<'d, D> {
    pub(super) all: &'d [D],
    /// The display text of a design's value in a column.
    pub(super) text: &'d dyn Fn(&D, &str) -> String,
    /// The axes on which they differ.
    pub(super) varying: Vec<&'d str>,
    /// The designs on each front, in its order.
    pub(super) fronts: Vec<Vec<usize>>,
    /// The column that makes the series; by default the axis with two to eight values that says most of a
    /// place on the fronts, see [`Designs::effect`].
    pub(super) colour: Option<&'d str>,
    /// The column that names designs; by default all axes if they are few, or else those that say most of a
    /// place on the fronts.
    pub(super) label: Option<&'d str>,
}

/// The most keys whose values name a design. More make labels that hide the chart, and tell nothing at a
/// glance.
const MAX_NAMED: usize = 4;

/// The name of a design by the values of `keys` keys, as they are listed: in parentheses if there are
/// several.
pub(super) fn tuple(values: String, keys: usize) -> String {
    if keys > 1 { format!("({values})") } else { values }
}

/// A chart of two columns with their labels, in the units whose prefixes fit the values.
pub(super) fn in_fitting_units(mut chart: Chart, [x, y]: [&str; 2]) -> Chart {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let references = || chart.references.iter();
    let (x, by_x) = Quantity::of(x).fitting(points().map(|p| p.x).chain(references().map(|r| r.x)));
    let (y, by_y) = Quantity::of(y).fitting(points().map(|p| p.y).chain(references().map(|r| r.y)));
    (chart.x_label, chart.y_label) = (x.label(), y.label());
    let points = chart.series.iter_mut().flat_map(|series| &mut series.points);
    points.for_each(|point| (point.x, point.y) = (point.x * by_x, point.y * by_y));
    for reference in &mut chart.references {
        (reference.x, reference.y) = (reference.x * by_x, reference.y * by_y);
    }
    for limit in &mut chart.limits {
        limit.value *= if limit.vertical { by_y } else { by_x };
    }
    chart
}

impl<'d, D> Designs<'d, D> {
    /// The distinct values of a column, in order.
    pub(super) fn values(&self, column: &str) -> Vec<String> {
        let values: BTreeSet<Text> =
            self.all.iter().map(|design| Text((self.text)(design, column))).collect();
        values.into_iter().map(|Text(value)| value).collect()
    }

    /// The column that makes the series. Without an effect of any axis, it is the last one with few values.
    pub(super) fn series_key(&self) -> Option<&'d str> {
        let few = |key: &&&'d str| (2..=plot::MAX_SERIES).contains(&self.values(key).len());
        let few = self.varying.iter().filter(few).copied();
        self.colour.or_else(|| few.max_by(|a, b| self.effect(a).total_cmp(&self.effect(b))))
    }

    /// The axes whose values name a design on a front.
    pub(super) fn named_keys(&self) -> Vec<&'d str> {
        if let Some(label) = self.label {
            return vec![label];
        }
        if self.varying.len() <= MAX_NAMED {
            return self.varying.clone();
        }
        let varies = |key: &&str| self.of_fronts(key).0.len() > 1;
        let mut keys: Vec<&str> = self.varying.iter().copied().filter(varies).collect();
        keys.sort_by(|a, b| self.effect(b).total_cmp(&self.effect(a)));
        keys.truncate(MAX_NAMED);
        self.varying.iter().copied().filter(|key| keys.contains(key)).collect()
    }

    /// The places on the fronts, from 0 to 1, by the value of a column; and the number of the designs there.
    fn of_fronts(&self, column: &str) -> (BTreeMap<Text, Vec<f64>>, usize) {
        let mut places: BTreeMap<Text, Vec<f64>> = BTreeMap::new();
        for front in &self.fronts {
            let last = (front.len().max(2) - 1) as f64;
            for (at, &design) in front.iter().enumerate() {
                let value = Text((self.text)(&self.all[design], column));
                places.entry(value).or_default().push(at as f64 / last);
            }
        }
        let count = places.values().map(Vec::len).sum();
        (places, count)
    }

    /// The share of the variance of the places on the fronts that a column explains, adjusted for the number
    /// of its values: 1 if the value says where a design is, 0 or less if it says nothing.
    fn effect(&self, column: &str) -> f64 {
        let (places, count) = self.of_fronts(column);
        if places.len() < 2 || count <= places.len() {
            return 0.0;
        }
        let squares = |values: &mut dyn Iterator<Item = f64>| {
            let values: Vec<f64> = values.collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        };
        let all = squares(&mut places.values().flatten().copied());
        let within: f64 = places.values().map(|values| squares(&mut values.iter().copied())).sum();
        let adjusted = within / (count - places.len()) as f64 * (count - 1) as f64;
        if all > 0.0 { 1.0 - adjusted / all } else { 0.0 }
    }

    /// A chart with the series and the names of designs. `point` gives the place and the marks of a design,
    /// if it has a place, from its number.
    pub(super) fn scatter<E>(
        &self,
        point: impl Fn(usize, &D) -> Result<Option<Point>, E>,
    ) -> Result<Chart, E> {
        let colour = self.series_key();
        // The keys of a design's full name, and of the short one, which leaves out the series.
        let keys = self.named_keys();
        // Some of the axes do not name a design that is on no front.
        let are_all = self.label.is_some() || keys.len() == self.varying.len();
        let is_short = |key: &&&str| self.label.is_some() || are_all && Some(**key) != colour;
        let short_keys: Vec<&str> = keys.iter().filter(is_short).copied().collect();
        let name = |design: &D, keys: &[&str]| {
            keys.iter().map(|key| (self.text)(design, key)).collect::<Vec<_>>().join(", ")
        };
        let others: Vec<&str> = self.varying.iter().copied().filter(|key| Some(*key) != colour).collect();
        let (order, joined) = self.in_order(&others);
        let values = colour.map_or(vec![String::new()], |colour| self.values(colour));
        let series = |label: &String| Series { label: label.clone(), joined, ..Series::default() };
        let mut series: Vec<Series> = values.iter().map(series).collect();
        for (i, design) in order {
            let Some(point) = point(i, design)? else { continue };
            let value = colour.map_or(String::new(), |colour| (self.text)(design, colour));
            let place = values.iter().position(|known| *known == value).unwrap_or(0);
            let (name, short_name) = (tuple(name(design, &keys), keys.len()), name(design, &short_keys));
            series[place].points.push(Point { name, short_name, ..point });
        }
        Ok(Chart {
            series_label: colour.map(|key| Quantity::of(key).with_unit()).unwrap_or_default(),
            name_label: names(keys),
            short_name_label: names(short_keys),
            series,
            ..Chart::default()
        })
    }

    /// The designs in the order in which a line may join those of a series, and whether one may: if they
    /// differ in one key with numbers, in the order of its values. Otherwise a line would mean nothing but
    /// the order of the sweep.
    fn in_order(&self, keys: &[&str]) -> (Vec<(usize, &D)>, bool) {
        let mut designs: Vec<(usize, &D)> = self.all.iter().enumerate().collect();
        let [key] = keys else { return (designs, false) };
        let joined = designs.iter().all(|(_, design)| (self.text)(design, key).parse::<f64>().is_ok());
        if joined {
            designs.sort_by_cached_key(|(_, design)| Text((self.text)(design, key)));
        }
        (designs, joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_a_chart_is_in_its_units() {
        let point = |(x, y)| Point { x, y, ..Point::default() };
        let series = Series { points: [(2000.0, 3.0), (500.0, 0.25)].map(point).into(), ..Series::default() };
        let reference = |(x, y)| plot::Reference { x, y, label: String::new(), is_design: false };
        let limit = |(vertical, value)| plot::Limit { vertical, value, label: String::new() };
        let chart = Chart {
            series: vec![series],
            references: vec![reference((1000.0, 4000.0))],
            limits: [(false, 1500.0), (true, 2000.0)].map(limit).into(),
            ..Chart::default()
        };
        let fitting = in_fitting_units(chart, ["time_us", "energy_uj"]);
        assert_eq!((fitting.x_label.as_str(), fitting.y_label.as_str()), ("Latency (ms)", "Energy (mJ)"));
        let places: Vec<_> = fitting.series[0].points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(places, [(2.0, 0.003), (0.5, 0.00025)]);
        assert_eq!((fitting.references[0].x, fitting.references[0].y), (1.0, 4.0));
        assert_eq!(fitting.limits.iter().map(|limit| limit.value).collect::<Vec<_>>(), [1.5, 2.0]);
    }

    /// The front is in the order of `a`, which has two values; `b` has the same ones in turns.
    #[test]
    fn an_axis_has_the_effect_that_its_values_have_on_the_place() {
        let all: Vec<[usize; 3]> = (0..4).map(|i| [i / 2, i % 2, i]).collect();
        let designs = Designs {
            all: &all,
            text: &|design: &[usize; 3], column: &str| design["abc".find(column).unwrap()].to_string(),
            varying: vec!["a", "b", "c"],
            fronts: vec![vec![0, 1, 2, 3], vec![3]],
            colour: None,
            label: None,
        };
        let (places, count) = designs.of_fronts("a");
        assert_eq!(count, 5);
        assert_eq!(
            places.into_values().collect::<Vec<_>>(),
            [vec![0.0, 1.0 / 3.0], vec![2.0 / 3.0, 1.0, 0.0]]
        );
        let designs = Designs { fronts: vec![vec![0, 1, 2, 3]], ..designs };
        // Squares: 5/9 in all, 1/18 and 1/18 within the values of `a`, 2/9 and 2/9 within those of `b`.
        let close = |key: &str, expected: f64| {
            assert!((designs.effect(key) - expected).abs() < 1e-12, "{key}: {}", designs.effect(key));
        };
        close("a", 1.0 - (1.0 / 9.0 / 2.0 * 3.0) / (5.0 / 9.0));
        close("b", 1.0 - (4.0 / 9.0 / 2.0 * 3.0) / (5.0 / 9.0));
        // As many values as designs.
        close("c", 0.0);
        // All designs are at one place.
        let designs = Designs { fronts: vec![vec![0], vec![1], vec![2]], ..designs };
        assert_eq!(designs.effect("a"), 0.0);
        // Of six designs: squares 7/10 in all, 2/25 and 2/25 within the values of `a`.
        let six: Vec<[usize; 3]> = (0..6).map(|i| [i / 3, i % 2, i]).collect();
        let designs = Designs { all: &six, fronts: vec![(0..6).collect()], ..designs };
        assert!((designs.effect("a") - (1.0 - (4.0 / 25.0 / 4.0 * 5.0) / 0.7)).abs() < 1e-12);
    }

    /// Designs of five axes. Along the front, `a` halves it, `b` alternates, `c` is constant, `d` and `e`
    /// have four values.
    #[test]
    fn the_axis_that_orders_the_front_colours_and_few_axes_name_designs() {
        let all: Vec<[usize; 5]> = (0..16).map(|i| [i / 4 % 2, i % 2, i / 8, i / 2 % 4, i % 4]).collect();
        let text = &|design: &[usize; 5], column: &str| design["abcde".find(column).unwrap()].to_string();
        let designs = |varying: &[&'static str], front: std::ops::Range<usize>| Designs {
            all: &all,
            text,
            varying: varying.to_vec(),
            fronts: vec![front.collect()],
            colour: None,
            label: None,
        };
        let axes = ["a", "b", "c", "d", "e"];
        // In order of the four pairs of `d`.
        assert_eq!(designs(&axes, 0..8).series_key(), Some("d"));
        assert_eq!(designs(&["a", "b", "c"], 0..8).series_key(), Some("a"));
        assert_eq!(designs(&axes, 0..8).named_keys(), ["a", "b", "d", "e"]);
        assert_eq!(designs(&axes[..4], 0..8).named_keys(), ["a", "b", "c", "d"]);
        assert_eq!(designs(&axes, 0..16).named_keys().len(), MAX_NAMED);
        assert!(designs(&axes, 0..16).named_keys().contains(&"c"));
        // A front of one design orders nothing.
        assert_eq!(
            (designs(&axes, 0..1).series_key(), designs(&axes, 0..1).named_keys().len()),
            (Some("e"), 0)
        );
        assert_eq!(Designs { colour: Some("b"), ..designs(&axes, 0..8) }.series_key(), Some("b"));
        assert_eq!(Designs { label: Some("c"), ..designs(&axes, 0..8) }.named_keys(), ["c"]);
    }
}
