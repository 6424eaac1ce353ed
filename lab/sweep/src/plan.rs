//! The points of a sweep, resolved.
//!
//! A point is a number: its place among all combinations of the axes. A plan keeps this number and the row
//! of the point in the manifest. Machine, program and settings are made when they are needed.

use super::data::Data;
use super::definition::Definition;
use super::front::Goals;
use super::key::PointKey;
use super::manifest::{FORMAT, Manifest};
use super::parameter::{self, PARAMETERS};
use super::point::{Class, PlannedPoint, Source};
use super::points::Points;
use super::resolver::{Columns, Resolver};
use diagnostic::Diagnostics;
use rayon::prelude::*;
use std::collections::HashSet;
use std::fmt;

/// A sweep whose machines and keys are all checked.
pub struct Plan {
    resolver: Resolver,
    /// The number of each point among all combinations of the axes.
    numbers: Vec<u64>,
    /// The number of a point that is the same as one before, and how many there are.
    repeated: Option<(u64, usize)>,
    /// The manifest of the sweep, with the key of each point. The keys are unique.
    pub manifest: Manifest,
}

impl Source for Plan {
    fn point(&self, index: usize) -> PlannedPoint {
        self.resolver.point(&self.digits(index)).expect("all points have been resolved before")
    }

    fn class(&self, index: usize) -> Class {
        self.resolver.class(&self.digits(index))
    }

    fn data(&self) -> &Data {
        self.resolver.data()
    }
}

/// The points that are resolved at a time.
const CHUNK: usize = 4096;

impl Plan {
    /// Resolves a definition.
    ///
    /// # Errors
    /// Returns all errors: a machine or kernel key or its value is invalid. Each has its position.
    pub fn new(definition: &Definition) -> Result<Self, Diagnostics> {
        let resolver = Resolver::new(definition)?;
        let all = definition.numbers()?;
        let key = |&number: &u64| resolver.key(&definition.digits(number));
        let (mut points, mut numbers) = (Points::default(), Vec::with_capacity(all.len()));
        let (mut seen, mut repeated) = (HashSet::with_capacity(all.len()), None);
        let mut columns = Columns::new(definition);
        for chunk in all.chunks(CHUNK) {
            let keys: Result<Vec<PointKey>, _> = chunk.par_iter().map(key).collect();
            let keys =
                keys.map_err(|_| resolver.errors(all.iter().map(|&number| definition.digits(number))))?;
            for (key, &number) in keys.into_iter().zip(chunk) {
                if seen.insert(key) {
                    let settings = columns.codes(&resolver, &definition.digits(number), &mut points)?;
                    points.push(key, &settings);
                    numbers.push(number);
                } else {
                    repeated.get_or_insert((number, 0)).1 += 1;
                }
            }
        }
        points.shrink();
        let title = numbers.first().map_or(Ok(definition.name.clone()), |&first| {
            let first = resolver.point(&definition.digits(first));
            first.map(|first| title(definition, &first, &points, &Goals::of_sweep(first.workload().time())))
        })?;
        let manifest = manifest(definition, title, points);
        Ok(Self { resolver, numbers, repeated, manifest })
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// A point that is the same as one before, and the number of such points. They count once: plans of other
    /// names can be one for a small ring, and a value can be the default that another point leaves out.
    pub fn repeated(&self) -> Option<(PlannedPoint, usize)> {
        let (number, count) = self.repeated?;
        let point = self.resolver.point(&self.definition().digits(number));
        Some((point.expect("all points have been resolved before"), count))
    }

    /// The point with this index.
    ///
    /// # Panics
    /// Panics if the sweep has no such point.
    pub fn point(&self, index: usize) -> PlannedPoint {
        Source::point(self, index)
    }

    /// The points, in the order of the sweep; each is made when it is taken.
    pub fn points(&self) -> impl Iterator<Item = PlannedPoint> {
        (0..self.len()).map(|index| self.point(index))
    }

    /// The definition of the sweep.
    pub fn definition(&self) -> &Definition {
        self.resolver.definition()
    }

    fn digits(&self, index: usize) -> Vec<usize> {
        self.definition().digits(self.numbers[index])
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("points", &self.len()).field("name", &self.manifest.name).finish()
    }
}

/// The common workload of all points, or the sweep's name.
pub(super) fn title(definition: &Definition, first: &PlannedPoint, points: &Points, goals: &Goals) -> String {
    let same = |name: &str| {
        // One tower is the default.
        let of = |point| points.value(point, name).filter(|value| name != "towers" || **value != 1);
        (1..points.len()).all(|point| of(point) == of(0))
    };
    let identifying = PARAMETERS.iter().filter(|parameter| parameter.identifies);
    if !identifying.map(|parameter| parameter.name).all(same) {
        return definition.name.clone();
    }
    format!("{}: {}", first.workload(), goals.title())
}

/// The manifest of a definition with these points.
pub(super) fn manifest(definition: &Definition, title: String, points: Points) -> Manifest {
    let varying = definition.varying();
    let is_set =
        |key: &str| varying.iter().any(|varying| varying == key) || points.names().any(|name| name == key);
    let task_columns =
        PARAMETERS.iter().map(|parameter| parameter.name).filter(|key| is_set(key)).map(str::to_owned);
    let machine_columns = varying.iter().filter(|key| !parameter::is_parameter(key)).cloned();
    Manifest {
        schema: FORMAT,
        name: definition.name.clone(),
        title: if definition.title.is_empty() { title } else { definition.title.clone() },
        columns: task_columns.chain(machine_columns).collect(),
        varying: varying.clone(),
        references: definition.references.clone(),
        explored: None,
        goals: None,
        source: definition.source(),
        points,
    }
}
