//! The chart of a workload.

use super::quantity::{Quantity, names};
use super::record::Record;
use super::view::{EXTRAPOLATED, View, extrapolated, text};
use plot::{Chart, Point, Series};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The key that makes the series: the last varying one with two to eight values.
pub(super) fn series_key<'v>(view: &'v View<'_>) -> Option<&'v str> {
    let values = |key: &&&str| {
        let values: BTreeSet<String> = view.records.iter().map(|record| text(record, key)).collect();
        (2..=plot::MAX_SERIES).contains(&values.len())
    };
    view.varying.iter().rfind(values).copied()
}

/// The records of a series in the order in which a line may join them, and whether one may: if they differ in
/// one key, in the order of its values. Otherwise a line would mean nothing but the order of the sweep.
pub(super) fn in_order<'r>(mut records: Vec<&'r Record>, keys: &[&str]) -> (Vec<&'r Record>, bool) {
    let [key] = keys else { return (records, false) };
    let number = |record: &Record| text(record, key).parse::<f64>().ok();
    let is_ordered = records.iter().all(|record| number(record).is_some());
    if is_ordered {
        records.sort_by(|a, b| number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal));
    }
    (records, is_ordered)
}

/// The name of a design by the values of `keys` keys, as they are listed: in parentheses if there are several.
pub(super) fn tuple(values: String, keys: usize) -> String {
    if keys > 1 { format!("({values})") } else { values }
}

/// The most keys whose values name a design. More make labels that hide the chart, and tell nothing at a glance.
pub(super) const MAX_NAMED: usize = 4;

/// The meaning of pale designs.
pub(super) const PALE: &str = "Pale designs exceed a constraint";

/// The first two objectives. The last varying key with at most eight values makes the series.
pub(super) fn chart(view: &View<'_>) -> Chart {
    let View { manifest, workload, records, .. } = view;
    let values = |key: &str| {
        let mut values: Vec<String> = Vec::new();
        for &record in records {
            let value = text(record, key);
            if !values.contains(&value) && values.len() <= plot::MAX_SERIES {
                values.push(value);
            }
        }
        let number = |value: &String| value.parse::<f64>().ok();
        if values.iter().all(|value| number(value).is_some()) {
            values.sort_by(|a, b| number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal));
        }
        values
    };
    let varying: Vec<(&str, Vec<String>)> = view.varying.iter().map(|&key| (key, values(key))).collect();
    let series = varying.iter().rfind(|(_, values)| (2..=plot::MAX_SERIES).contains(&values.len()));
    let (series_key, series_values) = match series {
        Some((key, values)) => (Some(*key), values.clone()),
        None => (None, vec![String::new()]),
    };
    let named: Vec<&str> = match varying.len() {
        0..=MAX_NAMED => varying.iter().map(|(key, _)| *key).collect(),
        _ => Vec::new(),
    };
    let short: Vec<&str> = named.iter().copied().filter(|key| Some(*key) != series_key).collect();
    let name = |record: &Record, keys: &[&str]| {
        keys.iter().map(|key| text(record, key)).collect::<Vec<_>>().join(", ")
    };
    let axes = view.goals.axes();
    let point = |record: &Record| {
        let [x, y] = axes.map(|measure| View::value(record, measure));
        Some(Point {
            x: x?,
            y: y?,
            name: tuple(name(record, &named), named.len()),
            short_name: name(record, &short),
            marked: !extrapolated(record).is_empty(),
            pale: view.is_beyond(record),
            front: view.front.contains(&record.key).then_some(0),
        })
    };
    let others: Vec<&str> =
        varying.iter().map(|(key, _)| *key).filter(|key| Some(*key) != series_key).collect();
    let in_series = |record: &Record, of: &String| series_key.is_none_or(|key| text(record, key) == *of);
    Chart {
        title: view.title.clone(),
        x_label: Quantity::of(axes[0].name()).label(),
        y_label: Quantity::of(axes[1].name()).label(),
        series_label: series_key.map(|key| Quantity::of(key).with_unit()).unwrap_or_default(),
        name_label: names(named.iter().copied()),
        short_name_label: names(short.iter().copied()),
        series: series_values
            .iter()
            .map(|of| {
                let own = records.iter().copied().filter(|record| in_series(record, of)).collect();
                let (own, joined) = in_order(own, &others);
                Series { label: of.clone(), points: own.into_iter().filter_map(point).collect(), joined }
            })
            .collect(),
        limits: Vec::new(),
        mark_label: EXTRAPOLATED.into(),
        notes: {
            let (shown, all) = view.beside_front();
            let shown = || format!("The front and {shown} of {all} other points");
            let pale = || PALE.to_owned();
            let notes = view.notes().into_iter().chain((view.beyond > 0).then(pale));
            notes.chain((view.hidden() > 0).then(shown)).collect()
        },
        without_front: view.front.is_empty(),
        scattered_front: view.goals.objectives.len() > 2,
        references: manifest
            .references
            .iter()
            .filter(|reference| reference.is_about(workload))
            .filter_map(|r| {
                let [x, y] = axes.map(|measure| r.value(measure));
                Some(plot::Reference { x: x?, y: y?, label: r.label.clone() })
            })
            .collect(),
    }
}
