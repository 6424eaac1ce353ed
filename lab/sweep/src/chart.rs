//! The chart of a workload.

use super::record::Record;
use super::scatter::{Designs, in_fitting_units};
use super::view::{EXTRAPOLATED, SEARCHED, View, extrapolated, text};
use plot::{Chart, Figure, Point};
use std::convert::Infallible;

/// The meaning of pale designs.
pub(super) const PALE: &str = "Pale designs exceed a constraint";

/// The designs of a chart.
pub(super) fn designs<'v>(view: &'v View<'_>) -> Designs<'v, &'v Record> {
    let text = &|record: &&Record, column: &str| text(record, column);
    let first = |&at: &usize| View::value(view.records[at], view.goals.axes()[0]).unwrap_or_default();
    let mut front: Vec<usize> = (0..view.records.len()).collect();
    front.retain(|&at| view.front.contains(&view.records[at].key));
    front.sort_by(|a, b| first(a).total_cmp(&first(b)));
    let fronts = vec![front];
    Designs { all: &view.records, text, varying: view.varying.clone(), fronts, colour: None, label: None }
}

/// The first two objectives.
pub(super) fn chart(view: &View<'_>) -> Figure {
    let axes = view.goals.axes();
    let point = |record: &Record| {
        let [x, y] = axes.map(|measure| View::value(record, measure));
        Some(Point {
            x: x?,
            y: y?,
            marked: !extrapolated(record).is_empty(),
            dotted: view.is_searched(record),
            pale: view.is_beyond(record),
            front: view.front.contains(&record.key).then_some(0),
            ..Point::default()
        })
    };
    let Ok(chart) = designs(view).scatter(|_, record| Ok::<_, Infallible>(point(record)));
    let (shown, all) = view.beside_front();
    let shown = (view.hidden() > 0).then(|| format!("The front and {shown} of {all} other points"));
    let pale = (view.beyond > 0).then(|| PALE.to_owned());
    let references = view.manifest.references.iter().filter(|reference| reference.is_about(view.workload));
    let chart = Chart {
        title: view.title.clone(),
        mark_label: EXTRAPOLATED.into(),
        dot_label: SEARCHED.into(),
        notes: view.notes().into_iter().chain(pale).chain(shown).collect(),
        without_front: view.front.is_empty(),
        scattered_front: view.goals.objectives.len() > 2,
        references: references
            .filter_map(|r| {
                let [x, y] = axes.map(|measure| r.value(measure));
                Some(plot::Reference { x: x?, y: y?, label: r.label.clone(), is_design: false })
            })
            .collect(),
        ..chart
    };
    let chart = in_fitting_units(chart, axes.map(|measure| measure.name()));
    let basis = View::basis(view.records.iter().copied()).unwrap_or_default();
    Figure { basis, ..chart.into() }
}
