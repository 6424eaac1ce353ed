//! The descent: the fastest design within each area, by single axes.
//!
//! The staircase is the front of the first objective that is no area, and the area. A round offers the
//! designs one axis away from its steps; every other round, also designs that differ from a step in several
//! axes, and any others. The area of a design needs no simulation. A [`Model`] of the other objective
//! predicts which design improves on the staircase most: the best one of each band of areas is evaluated. The
//! descent ends if every neighbour of a step has been evaluated: then none improves on the staircase.

use super::model::{Model, Places};
use super::{Design, Space};
use crate::front::Constraint;
use crate::measure::{Costs, Measure};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};

/// The designs that a round draws: as many near a step as anywhere.
const DRAWN: usize = 400;
/// The most axes in which a drawn design differs from its step.
const MOST_AXES: usize = 4;
/// The most designs that a model is fitted to: those nearest above the staircase.
const MOST_KNOWN: usize = 200;
/// The designs whose areas tell the range of areas.
const SURVEYED: usize = 400;

/// What the descent keeps for a whole search.
pub(super) struct Descent<'s> {
    space: &'s Space,
    places: Places,
    /// Whether each axis is ordered.
    ordered: Vec<bool>,
    /// What is minimised within an area, and the area.
    measures: [Measure; 2],
    /// The logarithms of the least and the largest area of some designs.
    range: (f64, f64),
    rounds: usize,
}

/// An evaluated design with its costs.
pub(super) type Evaluated = (Design, Costs);

/// An evaluated design with the logarithms of the objective and the area.
type Known<'d> = (&'d Design, [f64; 2]);

impl<'s> Descent<'s> {
    /// `None` if the objectives are areas only.
    pub(super) fn new(space: &'s Space, random: &mut Xoshiro256PlusPlus) -> Option<Self> {
        let goals = space.goals();
        let is_area = |measure: &Measure| [Measure::AreaMm2, Measure::AreaRpuMm2].contains(measure);
        let objective = goals.objectives.iter().copied().find(|measure| !is_area(measure))?;
        let limited = goals.constraints.iter().map(|constraint| constraint.measure);
        let area = goals.objectives.iter().copied().chain(limited).find(is_area).unwrap_or(Measure::AreaMm2);
        let axes = space.axes();
        let surveyed = (0..SURVEYED).map(|_| anywhere(&axes, random));
        let range = surveyed
            .filter_map(|design| Some(area.of(&space.areas(&design)?).ln()))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), area| {
                (least.min(area), most.max(area))
            });
        let places = Places::new(space);
        let ordered = (0..axes.len()).map(|axis| space.is_ordered(axis)).collect();
        Some(Self { space, places, ordered, measures: [objective, area], range, rounds: 0 })
    }

    /// The evaluated designs that have both measures.
    fn known<'d>(&self, evaluated: &'d [Evaluated]) -> Vec<Known<'d>> {
        let known =
            evaluated.iter().map(|(design, costs)| (design, self.measures.map(|of| of.of(costs).ln())));
        known.filter(|(_, values)| values.iter().all(|value| value.is_finite())).collect()
    }

    /// The designs within the constraints for which no other one is as small and better, in ascending order
    /// of areas.
    fn staircase<'d>(&self, evaluated: &'d [Evaluated]) -> Vec<Known<'d>> {
        let mut sorted = self.known(evaluated);
        let allowed: BTreeSet<&Design> = evaluated
            .iter()
            .filter(|(_, costs)| self.space.goals().allow(costs))
            .map(|(design, _)| design)
            .collect();
        sorted.retain(|(design, _)| allowed.contains(design));
        sorted.sort_by(|(a, x), (b, y)| {
            (x[1], x[0]).partial_cmp(&(y[1], y[0])).expect("numbers").then(a.cmp(b))
        });
        let mut least = f64::INFINITY;
        sorted.retain(|(_, [value, _])| {
            let is_step = *value < least;
            least = least.min(*value);
            is_step
        });
        sorted
    }

    /// The designs one axis away: the next values on an ordered axis, all others on one of names.
    fn neighbours(&self, design: &Design) -> Vec<Design> {
        let mut all = Vec::new();
        for (axis, count) in self.space.axes().into_iter().enumerate() {
            let is_near = |&number: &usize| {
                let own = design[axis];
                number != own && (number.abs_diff(own) == 1 || !self.ordered[axis])
            };
            all.extend((0..count).filter(is_near).map(|number| {
                let mut neighbour = design.clone();
                neighbour[axis] = number;
                neighbour
            }));
        }
        all
    }

    /// The neighbours of the steps that are not known.
    pub(super) fn left(
        &self,
        evaluated: &[Evaluated],
        is_known: impl Fn(&Design) -> bool,
    ) -> BTreeSet<Design> {
        let steps = self.staircase(evaluated);
        let all = steps.iter().flat_map(|(design, _)| self.neighbours(design));
        all.filter(|design| !is_known(design) && self.areas(design).is_some()).collect()
    }

    /// The logarithm of a design's area, if it exists and keeps the limits of areas.
    fn areas(&self, design: &Design) -> Option<f64> {
        let costs = self.space.areas(design)?;
        let is_known = |constraint: &&Constraint| !constraint.measure.of(&costs).is_nan();
        let mut limits = self.space.goals().constraints.iter().filter(is_known);
        limits.all(|constraint| constraint.allows(&costs)).then(|| self.measures[1].of(&costs).ln())
    }

    /// The designs to evaluate next, at most `most`; none if the descent has ended.
    pub(super) fn round(
        &mut self,
        evaluated: &[Evaluated],
        is_known: impl Fn(&Design) -> bool,
        most: usize,
        random: &mut Xoshiro256PlusPlus,
    ) -> Vec<Design> {
        let steps = self.staircase(evaluated);
        let mut offered = self.left(evaluated, &is_known);
        if offered.is_empty() {
            return Vec::new();
        }
        self.rounds += 1;
        if self.rounds % 2 == 1 {
            let axes = self.space.axes();
            for _ in 0..DRAWN {
                let step = steps.choose(random).expect("neighbours are those of steps").0;
                let drawn = [elsewhere(step, &axes, random), anywhere(&axes, random)];
                offered.extend(drawn.into_iter().filter(|design| !is_known(design)));
            }
        }
        let Some(model) = self.fit(self.known(evaluated), &steps) else { return Vec::new() };
        // The design of each band of areas that should gain most.
        let mut best: BTreeMap<usize, (f64, Design)> = BTreeMap::new();
        for design in offered {
            let Some(area) = self.areas(&design) else { continue };
            let within = steps.iter().rfind(|(_, step)| step[1] <= area);
            // Smaller than all steps: as good as a step of the mean.
            let least = within.map_or(model.mean(), |(_, step)| step[0]);
            let gain = least - model.predict(&design);
            let band = self.band(area, most);
            if best.get(&band).is_none_or(|(most, _)| gain > *most) {
                best.insert(band, (gain, design));
            }
        }
        let mut best: Vec<(f64, Design)> = best.into_values().collect();
        best.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
        best.into_iter().map(|(_, design)| design).collect()
    }

    /// The model of the designs that are nearest above the staircase.
    fn fit(&self, known: Vec<Known<'_>>, steps: &[Known<'_>]) -> Option<Model<'_>> {
        let excess = |[value, area]: [f64; 2]| {
            let within = steps.iter().rfind(|(_, step)| step[1] <= area);
            within.map_or(0.0, |(_, step)| value - step[0])
        };
        let mut nearest: Vec<(f64, Known<'_>)> =
            known.into_iter().map(|known| (excess(known.1), known)).collect();
        nearest.sort_by(|(a, (x, _)), (b, (y, _))| a.total_cmp(b).then(x.cmp(y)));
        nearest.truncate(MOST_KNOWN);
        let designs: Vec<(&Design, f64)> =
            nearest.iter().map(|(_, (design, [value, _]))| (*design, *value)).collect();
        Model::fit(&self.places, &designs)
    }

    /// The band of an area, of `count` bands with equal ratios.
    fn band(&self, area: f64, count: usize) -> usize {
        let (least, most) = self.range;
        let place = (area - least) / (most - least) * count as f64;
        // An infinite or undefined place is that of the only area.
        (place.max(0.0) as usize).min(count.max(1) - 1)
    }
}

/// Any design.
fn anywhere(axes: &[usize], random: &mut Xoshiro256PlusPlus) -> Design {
    axes.iter().map(|&count| random.random_range(0..count)).collect()
}

/// A design that differs from another one in several axes.
fn elsewhere(design: &Design, axes: &[usize], random: &mut Xoshiro256PlusPlus) -> Design {
    let mut other = design.clone();
    let most = axes.len().min(MOST_AXES);
    let changes = random.random_range(2.min(most)..=most);
    for axis in rand::seq::index::sample(random, axes.len(), changes) {
        other[axis] = random.random_range(0..axes[axis]);
    }
    other
}
