//! Charts of any columns, from the results of several sweeps.

mod mark;
mod points;
mod pool;
mod request;
mod table;

pub use super::condition::Condition;
pub use mark::Mark;
pub use points::points;
pub use pool::Pool;
pub use request::Request;

use super::basis::basis_of;
use super::chart::PALE;
use super::front;
use super::journal::JournalError;
use super::measure::Measure;
use super::quantity::{Better, Quantity};
use super::scatter::{Designs, in_fitting_units};
use super::value::Text;
use super::view::{EXTRAPOLATED, SEARCHED, cost_notes, efforts_differ, is_searched, reticle_note};
use super::workload::Workload;
use diagnostic::Diagnostic;
use plot::{
    Chart, Figure, Panel, Parallel, ParallelAxis, ParallelLine, PlotError, Point, Tornado, TornadoBar,
};
use pool::{Row, Task};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use thiserror::Error;

/// The form of a chart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Form {
    /// Designs in two columns, with their fronts.
    #[default]
    Scatter,
    /// Parallel coordinates: the axes of the sweeps and some columns.
    Parallel,
    /// A tornado chart: the effect of each axis on one column.
    Tornado,
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 3] = [Self::Scatter, Self::Parallel, Self::Tornado];

    /// Its name, its meaning, and the parts of a composition that have no effect on it.
    pub const fn row(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Self::Scatter => ("scatter", "Designs in two columns", &[]),
            Self::Parallel => (
                "parallel",
                "Parallel coordinates",
                &["colour", "label", "mark", "limit", "legend", "points"],
            ),
            Self::Tornado => (
                "tornado",
                "Effect of each axis on one column",
                &["x", "front", "colour", "label", "mark", "limit", "legend", "points"],
            ),
        }
    }
}

/// Whether a chart has fronts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fronts {
    /// If less or more is better in both columns.
    #[default]
    IfBetter,
    /// Yes; an error if neither less nor more is better in a column.
    Always,
    /// No.
    Never,
}

/// A chart to compose.
#[derive(Clone, PartialEq, Debug)]
pub struct Composition {
    /// The form.
    pub form: Form,
    /// The horizontal column.
    pub x: String,
    /// The vertical column; the one of a tornado chart.
    pub y: String,
    /// The column whose values make the series; by default the last axis with few values.
    pub colour: Option<String>,
    /// The column that names designs; by default all axes if they are few.
    pub label: Option<String>,
    /// The column whose values make panels.
    pub facet: Option<String>,
    /// Whether fronts are drawn.
    pub fronts: Fronts,
    /// Designs that are marked as references.
    pub marks: Vec<Mark>,
    /// Limits of the columns of the axes, drawn across the chart.
    pub limits: Vec<Condition>,
}

/// The reason why a chart cannot be composed.
#[derive(Debug, Error)]
pub enum ComposeError {
    /// Results cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A table cannot be read.
    #[error("{}: {reason}", diagnostic::path(path))]
    Table {
        /// The file.
        path: PathBuf,
        /// The error.
        reason: String,
    },
    /// The chart cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// A condition that does not fit the results.
    #[error(transparent)]
    Condition(#[from] Diagnostic),
    /// A column that no result has.
    #[error("{message}")]
    Unknown {
        /// The error.
        message: String,
        /// The remedy.
        help: String,
    },
    /// A column of a chart's axis with text.
    #[error("the column `{0}` has values that are not numbers")]
    NotNumbers(String),
    /// A column of a chart's axis that some results leave empty.
    #[error("the column `{0}` is empty for some results")]
    Empty(String),
    /// A tornado chart of a column whose values have no ratios.
    #[error(
        "the column `{name}` is not above 0 in {found} of {of} results; a tornado chart shows ratios of values"
    )]
    NoRatio {
        /// The column.
        name: String,
        /// The number of such values.
        found: usize,
        /// The number of all results.
        of: usize,
    },
    /// A front of a column such as a machine key.
    #[error("no front of the column `{0}`: neither less nor more of it is better")]
    NoFront(String),
    /// A limit of another column than those of the axes.
    #[error("the limit of `{0}` is on no axis of the chart")]
    NoAxis(String),
    /// A mark of no design.
    #[error("no result in the chart meets the conditions of the mark `{0}`")]
    NoMark(String),
    /// A tornado chart of designs that have nothing in common.
    #[error("no axis can be varied alone: no two results differ in one key only")]
    NoEffect,
    /// A facet with many values.
    #[error("the column `{name}` has {values} values; a chart has at most {MAX_FACETS} panels")]
    Facets {
        /// The column.
        name: String,
        /// The number of its values.
        values: usize,
    },
    /// A column of colours with many values.
    #[error("the column `{name}` has {values} values; a chart has at most {} colours", plot::MAX_SERIES)]
    Colours {
        /// The column.
        name: String,
        /// The number of its values.
        values: usize,
    },
    /// More points than a chart can show.
    #[error("{found} points; a chart shows at most {MAX_POINTS}")]
    TooMany {
        /// The number of points.
        found: usize,
    },
    /// Nothing meets the conditions.
    #[error("no result meets the conditions")]
    Nothing,
    /// No point succeeded, whatever the conditions.
    #[error("there is nothing to draw: no point has a result")]
    NoResults,
}

/// The most points of a composed chart.
pub const MAX_POINTS: usize = 20_000;
/// The most panels of a chart.
const MAX_FACETS: usize = 12;
/// The most values of an axis whose positions in parallel coordinates are evenly spaced.
const MAX_CATEGORIES: usize = 16;

impl Pool {
    /// Draws a chart.
    ///
    /// # Errors
    /// Returns an error if a column is unknown or has no numbers where an axis needs them, or if nothing
    /// meets the conditions.
    pub fn compose(&self, composition: &Composition) -> Result<Figure, ComposeError> {
        let composition = &self.resolved(composition)?;
        let Composition { x, y, facet, marks, limits, .. } = composition;
        if self.points.is_empty() {
            return Err(if self.is_filtered { ComposeError::Nothing } else { ComposeError::NoResults });
        }
        if let Some(limit) = limits.iter().find(|limit| ![x, y].contains(&&limit.column)) {
            return Err(ComposeError::NoAxis(limit.column.clone()));
        }
        for mark in marks {
            let meets = self.points.iter().map(|point| self.meets(point, &mark.conditions));
            if !meets.collect::<Result<Vec<bool>, _>>()?.contains(&true) {
                return Err(ComposeError::NoMark(mark.label.clone()));
            }
        }
        if composition.form == Form::Tornado {
            self.check_ratios(y)?;
        }
        let mut panels: BTreeMap<Text, Vec<&Row>> = BTreeMap::new();
        for point in &self.points {
            let value = facet.as_ref().map(|facet| self.text(point, facet));
            panels.entry(Text(value.unwrap_or_default())).or_default().push(point);
        }
        if panels.len() > MAX_FACETS {
            let name = facet.clone().unwrap_or_default();
            return Err(ComposeError::Facets { name, values: panels.len() });
        }
        let several = panels.len() > 1;
        let panels: Vec<Panel> = panels
            .iter()
            .map(|(Text(value), points)| {
                let title = match facet {
                    Some(facet) => format!("{} {value}", Quantity::of(facet).with_unit()),
                    None => self.title(composition, points),
                };
                let group = Group { pool: self, composition, points, title };
                match composition.form {
                    Form::Scatter => group.scatter(),
                    Form::Parallel => group.parallel(),
                    Form::Tornado => group.tornado(),
                }
            })
            .collect::<Result<_, _>>()?;
        let (width, height) = if several { (720, 480) } else { (960, 640) };
        let axes = |panel: &Panel| match panel {
            Panel::Parallel(chart) => chart.axes.len() as u32,
            Panel::Scatter(_) | Panel::Bars(_) | Panel::Lines(_) | Panel::Heat(_) | Panel::Tornado(_) => 0,
        };
        // Room for all axes.
        let panel = (width, panels.iter().map(axes).max().map_or(height, |axes| height.max(100 + 46 * axes)));
        let basis = basis_of(self.points.iter().map(|point| self.basis(point)));
        Ok(Figure { columns: if several { 2 } else { 1 }, panel, panels, basis })
    }

    /// Refuses a column without logarithms. To leave out the results without one would hide what the axes do
    /// most: they make the column 0.
    fn check_ratios(&self, y: &str) -> Result<(), ComposeError> {
        let numbers = self.points.iter().map(|point| self.number(point, y));
        let numbers: Vec<f64> = numbers.collect::<Result<_, _>>()?;
        match numbers.iter().filter(|number| **number <= 0.0).count() {
            0 => Ok(()),
            found => Err(ComposeError::NoRatio { name: y.to_owned(), found, of: numbers.len() }),
        }
    }

    /// The chart with the full names of its columns.
    fn resolved(&self, composition: &Composition) -> Result<Composition, ComposeError> {
        let Composition { form, x, y, colour, label, facet, fronts, marks, limits } = composition;
        let optional = |name: &Option<String>| name.as_ref().map(|name| self.column(name)).transpose();
        let all = |conditions: &[Condition]| -> Result<Vec<Condition>, ComposeError> {
            conditions.iter().map(|condition| self.resolve(condition)).collect()
        };
        let mark = |Mark { label, conditions }: &Mark| {
            Ok(Mark { label: label.clone(), conditions: all(conditions)? })
        };
        Ok(Composition {
            form: *form,
            x: self.column(x)?,
            y: self.column(y)?,
            colour: optional(colour)?,
            label: optional(label)?,
            facet: optional(facet)?,
            fronts: *fronts,
            marks: marks.iter().map(mark).collect::<Result<_, ComposeError>>()?,
            limits: all(limits)?,
        })
    }

    /// The title of the only sweep, or what the points compute; and the columns, unless the sweep's own
    /// charts have these.
    fn title(&self, composition: &Composition, points: &[&Row]) -> String {
        let workloads: BTreeMap<Task, String> =
            points.iter().map(|row| (row.task(), row.workload().to_string())).collect();
        let columns = |axes: [&str; 2]| {
            let [x, y] = axes.map(|column| Quantity::of(column).name);
            format!(": {y} against {x}")
        };
        let (own, wanted) = (self.axes(), [composition.x.as_str(), composition.y.as_str()]);
        let of = match (&self.title, workloads.len()) {
            (Some(title), _) if composition.form == Form::Scatter && own == wanted => return title.clone(),
            (Some(title), _) => title.trim_end_matches(&columns(own)).to_owned(),
            (None, 1) => workloads.into_values().next().unwrap_or_default(),
            (None, count) => format!("{count} tasks"),
        };
        match composition.form {
            Form::Scatter => of + &columns(wanted),
            Form::Parallel => of,
            Form::Tornado => {
                format!("{of}: effect of each axis on the {}", Quantity::of(&composition.y).name)
            }
        }
    }
}

/// The points of a panel.
struct Group<'p> {
    pool: &'p Pool,
    composition: &'p Composition,
    points: &'p [&'p Row],
    title: String,
}

impl Group<'_> {
    fn text(&self, point: &Row, column: &str) -> String {
        self.pool.text(point, column)
    }

    /// The distinct values of a column, in order.
    fn values(&self, column: &str) -> Vec<String> {
        let values: BTreeSet<Text> = self.points.iter().map(|point| Text(self.text(point, column))).collect();
        values.into_iter().map(|Text(value)| value).collect()
    }

    /// The axes on which the points differ.
    fn varying(&self) -> Vec<&str> {
        let varying = self.pool.varying.iter().map(String::as_str);
        let facet = self.composition.facet.as_deref();
        varying.filter(|key| Some(*key) != facet && self.values(key).len() > 1).collect()
    }

    fn scatter(&self) -> Result<Panel, ComposeError> {
        let Composition { x, y, colour, label, .. } = self.composition;
        let fronts = self.fronts()?;
        let designs = Designs {
            all: self.points,
            text: &|point, column| self.text(point, column),
            varying: self.varying(),
            fronts: fronts.clone().unwrap_or_default(),
            colour: colour.as_deref(),
            label: label.as_deref(),
        };
        let values = colour.as_ref().map_or(0, |colour| designs.values(colour).len());
        if let Some(name) = colour.clone().filter(|_| values > plot::MAX_SERIES) {
            return Err(ComposeError::Colours { name, values });
        }
        let searched = efforts_differ(self.points.iter().map(|point| point.source_of_program()));
        let chart = designs.scatter(|i, point| -> Result<Option<Point>, ComposeError> {
            Ok(Some(Point {
                x: self.pool.number(point, x)?,
                y: self.pool.number(point, y)?,
                marked: point.is_extrapolated(),
                dotted: searched && is_searched(point.source_of_program()),
                pale: !point.is_allowed(),
                front: fronts.as_ref().and_then(|fronts| fronts.iter().position(|front| front.contains(&i))),
                ..Point::default()
            }))
        })?;
        let limit = |limit: &Condition| -> Result<plot::Limit, ComposeError> {
            let (value, quantity) = (limit.limit()?, Quantity::of(&limit.column));
            let amount = quantity.amount(&value.to_string());
            let label = format!("{} {} {amount}", quantity.name, limit.comparison.sign());
            Ok(plot::Limit { vertical: limit.column == *y, value, label })
        };
        let one_each = fronts.as_ref().is_some_and(|fronts| fronts.len() > 1);
        let one_each = one_each.then(|| "One front for each task".to_owned()).into_iter();
        let chart = Chart {
            title: self.title.clone(),
            references: self.references()?,
            limits: self.composition.limits.iter().map(limit).collect::<Result<_, _>>()?,
            mark_label: EXTRAPOLATED.into(),
            dot_label: SEARCHED.into(),
            notes: one_each.chain(self.cost_notes()).chain(self.pale_note()).collect(),
            without_front: fronts.is_none(),
            ..chart
        };
        Ok(Panel::Scatter(in_fitting_units(chart, [x, y])))
    }

    /// Marked designs, and published results of the tasks.
    fn references(&self) -> Result<Vec<plot::Reference>, ComposeError> {
        let Composition { x, y, marks, .. } = self.composition;
        let mut references = Vec::new();
        for mark in marks {
            for point in self.points {
                if !self.pool.meets(point, &mark.conditions)? {
                    continue;
                }
                let [x, y] = [self.pool.number(point, x)?, self.pool.number(point, y)?];
                references.push(plot::Reference { x, y, label: mark.label.clone(), is_design: true });
            }
        }
        let Some((x, y)) = Measure::find(x).zip(Measure::find(y)) else { return Ok(references) };
        let workloads: BTreeSet<Workload> = self.points.iter().map(|point| point.workload()).collect();
        for published in &self.pool.references {
            let is_wanted = workloads.iter().any(|workload| published.is_about(workload));
            let place = published.value(x).zip(published.value(y)).filter(|_| is_wanted);
            references.extend(place.map(|(x, y)| plot::Reference {
                x,
                y,
                label: published.label.clone(),
                is_design: false,
            }));
        }
        Ok(references)
    }

    /// Remarks on points that are missing, and on machine keys of the chart that cost nothing, or whose cost
    /// no model covers.
    fn cost_notes(&self) -> Vec<String> {
        let Composition { x, y, colour, label, facet, .. } = self.composition;
        let named = [Some(x), Some(y), colour.as_ref(), label.as_ref(), facet.as_ref()];
        let keys = self.varying().into_iter().chain(named.into_iter().flatten().map(String::as_str));
        let mut known = BTreeSet::new();
        let (all, missing) = self.pool.missing;
        let missing = (missing > 0).then(|| format!("{missing} of {all} points have not run"));
        missing.into_iter().chain(cost_notes(keys.filter(|key| known.insert(*key)))).collect()
    }

    /// A remark if designs exceed a constraint.
    fn pale_note(&self) -> Option<String> {
        self.points.iter().any(|point| !point.is_allowed()).then(|| PALE.to_owned())
    }

    /// A remark on designs beyond a reticle.
    fn reticle_note(&self) -> Option<String> {
        reticle_note(self.points.iter().filter(|point| point.is_beyond_reticle()).count())
    }

    /// A remark on extrapolated costs, in charts that mark no designs.
    fn extrapolated_note(&self) -> Option<String> {
        let count = self.points.iter().filter(|point| point.is_extrapolated()).count();
        (count > 0).then(|| format!("Costs extrapolated in {count} of {} designs", self.points.len()))
    }

    /// The better values of the columns of the axes, if the chart has fronts.
    fn better(&self) -> Result<Option<[Better; 2]>, ComposeError> {
        let Composition { x, y, fronts, .. } = self.composition;
        let better =
            |column: &String| self.pool.better(column).ok_or_else(|| ComposeError::NoFront(column.clone()));
        let both = || Ok([better(x)?, better(y)?]);
        match fronts {
            Fronts::IfBetter => Ok(both().ok()),
            Fronts::Always => both().map(Some),
            Fronts::Never => Ok(None),
        }
    }

    /// The indices of the points on the front of each task, in the columns of the axes; `None` if the chart
    /// has no fronts. Designs that exceed a constraint of their exploration are not on it.
    fn fronts(&self) -> Result<Option<Vec<Vec<usize>>>, ComposeError> {
        let Some(better) = self.better()? else { return Ok(None) };
        let Composition { x, y, .. } = self.composition;
        let mut tasks = BTreeMap::new();
        for (i, point) in self.points.iter().enumerate().filter(|(_, point)| point.is_allowed()) {
            let [x, y] = [self.pool.number(point, x)?, self.pool.number(point, y)?];
            let (designs, costs): &mut (Vec<_>, Vec<_>) = tasks.entry(point.task()).or_default();
            designs.push((i, point.is_ideal()));
            costs.push([better[0].cost(x), better[1].cost(y)]);
        }
        Ok(Some(tasks.values().map(|(designs, costs)| front::front(designs, costs)).collect()))
    }

    fn parallel(&self) -> Result<Panel, ComposeError> {
        let Composition { x, y, .. } = self.composition;
        let front = self.fronts()?.unwrap_or_default().concat();
        let mut keys = self.varying();
        keys.extend([x.as_str(), y.as_str()]);
        // Each axis with the factor of its numbers.
        let axis = |key: &&str| {
            let (quantity, values) = (Quantity::of(key), self.values(key));
            if self.pool.varying.iter().any(|varying| varying == key) && values.len() <= MAX_CATEGORIES {
                return Ok((ParallelAxis { label: quantity.with_unit(), categories: values }, 1.0));
            }
            let numbers = self.points.iter().map(|point| self.pool.number(point, key));
            let numbers: Vec<f64> = numbers.collect::<Result<_, _>>()?;
            let (quantity, factor) = quantity.fitting(numbers.into_iter());
            Ok((ParallelAxis { label: quantity.with_unit(), categories: Vec::new() }, factor))
        };
        let axes: Vec<(ParallelAxis, f64)> = keys.iter().map(axis).collect::<Result<_, ComposeError>>()?;
        let line = |(i, point): (usize, &&Row)| {
            let value =
                |(key, (axis, factor)): (&&str, &(ParallelAxis, f64))| match axis.categories.is_empty() {
                    true => self.pool.number(point, key).map(|number| number * factor),
                    false => {
                        let text = self.text(point, key);
                        Ok(axis.categories.iter().position(|name| *name == text).unwrap_or(0) as f64)
                    }
                };
            let values = keys.iter().zip(&axes).map(value).collect::<Result<_, ComposeError>>()?;
            Ok(ParallelLine { values, highlighted: front.contains(&i), pale: !point.is_allowed() })
        };
        let lines = self.points.iter().enumerate().map(line).collect::<Result<_, ComposeError>>()?;
        let highlight_label =
            format!("Pareto front of {} and {}", Quantity::of(x).name, Quantity::of(y).name);
        let notes = self
            .cost_notes()
            .into_iter()
            .chain(self.extrapolated_note())
            .chain(self.reticle_note())
            .chain(self.pale_note());
        let notes = notes.collect();
        let axes = axes.into_iter().map(|(axis, _)| axis).collect();
        Ok(Panel::Parallel(Parallel { title: self.title.clone(), axes, lines, highlight_label, notes }))
    }

    /// For each axis, the geometric mean of the ratio of the column to its mean over the axis, by the value
    /// of the axis. Only designs count whose other settings come with every value of the axis.
    fn tornado(&self) -> Result<Panel, ComposeError> {
        let y = &self.composition.y;
        let varying = self.varying();
        let (mut bars, mut left_out) = (Vec::new(), Vec::new());
        for key in &varying {
            let values = self.values(key);
            let mut contexts: BTreeMap<Vec<String>, Vec<(String, f64)>> = BTreeMap::new();
            for point in self.points {
                let others = varying.iter().filter(|other| *other != key);
                // The task is no part of it: an axis such as the parameter set is one of the task.
                let mut context: Vec<String> = others.map(|other| self.text(point, other)).collect();
                context.push(point.source().to_string());
                let logarithm = self.pool.number(point, y)?.ln();
                contexts.entry(context).or_default().push((self.text(point, key), logarithm));
            }
            contexts.retain(|_, found| found.len() == values.len());
            let mut effects: BTreeMap<Text, Vec<f64>> = BTreeMap::new();
            for found in contexts.values() {
                let mean = found.iter().map(|(_, value)| value).sum::<f64>() / found.len() as f64;
                for (value, logarithm) in found {
                    effects.entry(Text(value.clone())).or_default().push(logarithm - mean);
                }
            }
            let ratio = |(Text(value), all): (&Text, &Vec<f64>)| {
                ((all.iter().sum::<f64>() / all.len() as f64).exp(), value.clone())
            };
            let mut ratios: Vec<(f64, String)> = effects.iter().map(ratio).collect();
            ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
            match (ratios.first(), ratios.last()) {
                (Some(low), Some(high)) => {
                    let label = Quantity::of(key).with_unit();
                    bars.push(TornadoBar { label, low: low.clone(), high: high.clone() });
                }
                _ => left_out.push(Quantity::of(key).name),
            }
        }
        if bars.is_empty() {
            return Err(ComposeError::NoEffect);
        }
        let effect = |bar: &TornadoBar| bar.high.0 / bar.low.0;
        let largest = bars.iter().max_by(|a, b| effect(a).total_cmp(&effect(b)));
        let largest = largest.map(|bar| format!("Largest effect: {}, {:.2} times", bar.label, effect(bar)));
        let mut notes = vec![
            "Ratio to the geometric mean over the values of an axis, all else equal; labels are the values."
                .into(),
        ];
        if !left_out.is_empty() {
            notes.push(format!("Left out, since never varied alone: {}", left_out.join(", ")));
        }
        notes.extend(
            largest
                .into_iter()
                .chain(self.cost_notes())
                .chain(self.extrapolated_note())
                .chain(self.reticle_note()),
        );
        Ok(Panel::Tornado(Tornado {
            title: self.title.clone(),
            x_label: format!("{}, relative to its mean", Quantity { unit: None, ..Quantity::of(y) }.label()),
            bars,
            notes,
        }))
    }
}
