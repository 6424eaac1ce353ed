//! Scatter charts of designs: their series, names and lines, whatever holds their values.

use super::quantity::{Quantity, names};
use super::value::Text;
use plot::{Chart, Point, Series};
use std::collections::BTreeSet;

/// Designs of a chart.
pub(super) struct Designs<'d, D> {
    pub(super) all: &'d [D],
    /// The display text of a design's value in a column.
    pub(super) text: &'d dyn Fn(&D, &str) -> String,
    /// The axes on which they differ.
    pub(super) varying: Vec<&'d str>,
    /// The column that makes the series; by default the last axis with two to eight values.
    pub(super) colour: Option<&'d str>,
    /// The column that names designs; by default all axes, if they are few.
    pub(super) label: Option<&'d str>,
}

/// The most keys whose values name a design. More make labels that hide the chart, and tell nothing at a glance.
const MAX_NAMED: usize = 4;

/// The name of a design by the values of `keys` keys, as they are listed: in parentheses if there are several.
pub(super) fn tuple(values: String, keys: usize) -> String {
    if keys > 1 { format!("({values})") } else { values }
}

impl<'d, D> Designs<'d, D> {
    /// The distinct values of a column, in order.
    pub(super) fn values(&self, column: &str) -> Vec<String> {
        let values: BTreeSet<Text> =
            self.all.iter().map(|design| Text((self.text)(design, column))).collect();
        values.into_iter().map(|Text(value)| value).collect()
    }

    /// The column that makes the series.
    pub(super) fn series_key(&self) -> Option<&'d str> {
        let few = |key: &&&str| (2..=plot::MAX_SERIES).contains(&self.values(key).len());
        self.colour.or_else(|| self.varying.iter().rfind(few).copied())
    }

    /// A chart with the series and the names of designs. `point` gives the place and the marks of a design, if it has
    /// a place, from its number.
    pub(super) fn scatter<E>(
        &self,
        point: impl Fn(usize, &D) -> Result<Option<Point>, E>,
    ) -> Result<Chart, E> {
        let colour = self.series_key();
        // The keys of a design's full name, and of the short one, which leaves out the series.
        let keys: Vec<&str> = match self.label {
            Some(label) => vec![label],
            None if self.varying.len() <= MAX_NAMED => self.varying.clone(),
            None => Vec::new(),
        };
        let is_short = |key: &&&str| self.label.is_some() || Some(**key) != colour;
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

    /// The designs in the order in which a line may join those of a series, and whether one may: if they differ in one
    /// key with numbers, in the order of its values. Otherwise a line would mean nothing but the order of the sweep.
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
