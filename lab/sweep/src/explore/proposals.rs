//! What to evaluate next: the designs whose forecasts gain most (Bayesian optimisation).
//!
//! The designs that are best within their areas are the steps of a staircase: no other known design is as
//! small and better. The area of a design needs no evaluation, a [`Forecast`] tells the rest. A design gains
//! the volume by which it lowers the staircase (hypervolume improvement, with an area that is certain). Its
//! forecast counts with its uncertainty as a gain (lower confidence bound), so that what is unknown is tried.
//!
//! A round takes designs one axis away from the steps, some that differ in more axes, and any others. It
//! climbs from the one that gains most over single axes, believes the forecast of where it ends, and takes
//! the next.
//!
//! The numbers below are set by hand, and no committed study compares others. `reports/bootstrap-designs.md`
//! has what the search finds with them.

use super::forecast::{Forecast, Relevances};
use super::model::Places;
use super::{Design, Space};
use crate::measure::{Costs, Measure};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The designs that a round draws: as many near a step as anywhere.
const DRAWN: usize = 400;
/// The most axes in which a drawn design differs from its step.
const MOST_AXES: usize = 4;
/// The most designs that a forecast is fitted to: those nearest above the staircase.
const MOST_KNOWN: usize = 120;
/// The designs whose areas tell the range of areas.
const SURVEYED: usize = 400;
/// The areas, in equal ratios, at which the staircase is compared; and how often without a limit.
const LEVELS: (usize, usize) = (32, 2);
/// The standard deviations by which a forecast is taken to be better than its mean.
const HOPE: f64 = 1.0;
/// Of so many rounds, one minimises a mean of all objectives.
const TURN: usize = 4;
/// What a design loses that should exceed a constraint: more than all gains.
const FORBIDDEN: f64 = 1e6;

/// What the proposals keep for a whole search.
pub(super) struct Proposals<'s> {
    space: &'s Space,
    places: Places,
    /// Whether each axis is ordered.
    ordered: Vec<bool>,
    /// The objectives that are no areas.
    objectives: Vec<Measure>,
    area: Measure,
    /// The logarithms of the areas at which the staircase is compared.
    levels: Vec<f64>,
    /// The logarithm of the area of each design that was asked for, or none if it cannot be.
    areas: RefCell<HashMap<Design, Option<f64>>>,
    /// Those of the round before, by measure.
    relevances: RefCell<BTreeMap<&'static str, Relevances>>,
    rounds: usize,
}

/// An evaluated design with its costs.
pub(super) type Evaluated = (Design, Costs);

/// What a round minimises within an area: a mean of the logarithms of measures, by their weights.
type Aim = [(Measure, f64)];

/// A design of the staircase with the logarithms of its aim and its area.
type Step<'d> = (&'d Design, f64, f64);

/// What a round compares designs by.
struct Comparison<'p> {
    /// The forecasts of the aim's measures, with their weights.
    aim: Vec<(f64, Forecast<'p>)>,
    /// The forecasts of the measures that constraints limit.
    limited: Vec<(usize, Forecast<'p>)>,
    /// The best aim within each level.
    best: Vec<f64>,
}

impl<'s> Proposals<'s> {
    /// `None` if the objectives are areas only.
    pub(super) fn new(space: &'s Space, random: &mut Xoshiro256PlusPlus) -> Option<Self> {
        let goals = space.goals();
        let limited = goals.constraints.iter().map(|constraint| constraint.measure);
        let area = goals.objectives.iter().copied().chain(limited).find(is_area).unwrap_or(Measure::AreaMm2);
        let objectives: Vec<Measure> =
            goals.objectives.iter().copied().filter(|measure| !is_area(measure)).collect();
        let axes = space.axes();
        let surveyed = (0..SURVEYED).map(|_| anywhere(&axes, random));
        let (least, most) = surveyed
            .filter_map(|design| Some(area.of(&space.areas(&design)?).ln()))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), area| {
                (least.min(area), most.max(area))
            });
        let level = |level| least + (most - least) * level as f64 / LEVELS.0 as f64;
        let levels = (0..=LEVELS.0).map(level).chain(std::iter::repeat_n(f64::INFINITY, LEVELS.1));
        (!objectives.is_empty()).then(|| Self {
            space,
            places: Places::new(space),
            ordered: (0..axes.len()).map(|axis| space.is_ordered(axis)).collect(),
            objectives,
            area,
            levels: levels.collect(),
            areas: RefCell::default(),
            relevances: RefCell::default(),
            rounds: 0,
        })
    }

    /// The steps of the staircase in ascending order of areas, of the designs within the constraints.
    fn staircase<'d>(&self, evaluated: &'d [Evaluated], aim: &Aim) -> Vec<Step<'d>> {
        let allowed = evaluated.iter().filter(|(_, costs)| self.space.goals().allow(costs));
        let values = allowed.map(|(design, costs)| (design, value(aim, costs), self.area.of(costs).ln()));
        let mut steps: Vec<Step<'_>> =
            values.filter(|(_, value, area)| value.is_finite() && area.is_finite()).collect();
        steps.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.1.total_cmp(&b.1)).then(a.0.cmp(b.0)));
        let mut least = f64::INFINITY;
        steps.retain(|(_, value, _)| {
            let is_step = *value < least;
            least = least.min(*value);
            is_step
        });
        steps
    }

    /// The designs one axis away: the next values on an ordered axis, all others on one of names.
    fn neighbours(&self, design: &Design) -> Vec<Design> {
        self.moved(design, |axis, own, number| number.abs_diff(own) == 1 || !self.ordered[axis])
    }

    /// The designs that differ in one axis, with some numbers of it.
    fn moved(&self, design: &Design, is_wanted: impl Fn(usize, usize, usize) -> bool) -> Vec<Design> {
        let mut all = Vec::new();
        for (axis, count) in self.space.axes().into_iter().enumerate() {
            let own = design[axis];
            let others = (0..count).filter(|&number| number != own && is_wanted(axis, own, number));
            all.extend(others.map(|number| {
                let mut other = design.clone();
                other[axis] = number;
                other
            }));
        }
        all
    }

    /// The neighbours of the best designs by the first objective within each area that are not known.
    pub(super) fn left(
        &self,
        evaluated: &[Evaluated],
        is_known: impl Fn(&Design) -> bool,
    ) -> BTreeSet<Design> {
        self.around(&self.staircase(evaluated, &[(self.objectives[0], 1.0)]), is_known)
    }

    fn around(&self, steps: &[Step<'_>], is_known: impl Fn(&Design) -> bool) -> BTreeSet<Design> {
        let all = steps.iter().flat_map(|(design, ..)| self.neighbours(design));
        all.filter(|design| !is_known(design) && self.area_of(design).is_some()).collect()
    }

    /// The logarithm of a design's area, if it exists and keeps the limits of areas.
    fn area_of(&self, design: &Design) -> Option<f64> {
        if let Some(known) = self.areas.borrow().get(design) {
            return *known;
        }
        let area = self.space.areas(design).and_then(|costs| {
            let mut limits = self.space.goals().constraints.iter().filter(|limit| is_area(&limit.measure));
            limits.all(|limit| limit.allows(&costs)).then(|| self.area.of(&costs).ln())
        });
        self.areas.borrow_mut().insert(design.clone(), area);
        area
    }

    /// What the next round minimises: in most rounds the first objective.
    fn aim(&mut self, random: &mut Xoshiro256PlusPlus) -> Vec<(Measure, f64)> {
        self.rounds += 1;
        if !self.rounds.is_multiple_of(TURN) || self.objectives.len() == 1 {
            return vec![(self.objectives[0], 1.0)];
        }
        // Uniform weights with the sum 1.
        let drawn: Vec<f64> = self.objectives.iter().map(|_| -(1.0 - random.random::<f64>()).ln()).collect();
        let sum: f64 = drawn.iter().sum();
        self.objectives.iter().copied().zip(drawn.into_iter().map(|weight| weight / sum)).collect()
    }

    /// The designs to evaluate next, at most `most`; none if it finds no other ones.
    pub(super) fn round(
        &mut self,
        evaluated: &[Evaluated],
        is_known: impl Fn(&Design) -> bool,
        most: usize,
        random: &mut Xoshiro256PlusPlus,
    ) -> Vec<Design> {
        let aim = self.aim(random);
        let steps = self.staircase(evaluated, &aim);
        let mut pool = self.around(&steps, &is_known);
        let axes = self.space.axes();
        for _ in 0..DRAWN {
            pool.extend(steps.choose(random).map(|step| elsewhere(step.0, &axes, random)));
            pool.insert(anywhere(&axes, random));
        }
        pool.retain(|design| !is_known(design) && self.area_of(design).is_some());
        let Some(comparison) = self.compare(evaluated, &steps, &aim) else {
            return pool.into_iter().take(most).collect();
        };
        self.choose(comparison, pool.into_iter().collect(), is_known, most)
    }

    /// The forecasts of a round; `None` without designs to fit them to.
    fn compare(&self, evaluated: &[Evaluated], steps: &[Step<'_>], aim: &Aim) -> Option<Comparison<'_>> {
        // Of many designs, those nearest above the staircase.
        let excess = |costs: &Costs| {
            let area = self.area.of(costs).ln();
            let within = steps.iter().rfind(|step| step.2 <= area);
            within.map_or(0.0, |step| value(aim, costs) - step.1)
        };
        let mut known: Vec<(f64, &Evaluated)> = evaluated
            .iter()
            .filter(|(_, costs)| value(aim, costs).is_finite())
            .map(|own| (excess(&own.1), own))
            .collect();
        known.sort_by(|(a, x), (b, y)| a.total_cmp(b).then(x.0.cmp(&y.0)));
        known.truncate(MOST_KNOWN);
        let designs: Vec<(&Design, &Costs)> =
            known.iter().map(|(_, (design, costs))| (design, costs)).collect();
        let fit = |measure: Measure| {
            let mut relevances = self.relevances.borrow_mut();
            Forecast::fit(&self.places, &designs, measure, relevances.entry(measure.name()).or_default())
        };
        let forecasts = aim.iter().map(|(measure, weight)| Some((*weight, fit(*measure)?)));
        let forecasts = forecasts.collect::<Option<Vec<_>>>()?;
        let constraints = self.space.goals().constraints.iter().enumerate();
        let unknown = constraints.filter(|(_, limit)| !is_area(&limit.measure));
        let limited = unknown.filter_map(|(at, limit)| Some((at, fit(limit.measure)?))).collect();
        // Smaller than all steps, a design is compared with the worst one.
        let worst = designs.iter().map(|(_, costs)| value(aim, costs)).fold(f64::NEG_INFINITY, f64::max);
        let within = |level: &f64| steps.iter().rfind(|step| step.2 <= *level).map_or(worst, |step| step.1);
        Some(Comparison { aim: forecasts, limited, best: self.levels.iter().map(within).collect() })
    }

    /// The best designs of a pool, or those to which a climb from them leads.
    fn choose(
        &self,
        mut comparison: Comparison<'_>,
        pool: Vec<Design>,
        is_known: impl Fn(&Design) -> bool,
        most: usize,
    ) -> Vec<Design> {
        let mut ranked: Vec<(f64, Design)> = Vec::new();
        ranked.extend(pool.into_iter().filter_map(|design| Some((self.gain(&comparison, &design)?, design))));
        let mut chosen: Vec<Design> = Vec::new();
        while chosen.len() < most {
            ranked.sort_by(|(a, x), (b, y)| b.total_cmp(a).then(x.cmp(y)));
            // Those far behind do not come first.
            ranked.truncate(16 * most);
            let Some(mut best) = ranked.first().cloned() else { break };
            loop {
                let others = self.moved(&best.1, |_, _, _| true).into_iter();
                let free = others.filter(|other| !is_known(other) && !chosen.contains(other));
                let gains = free.filter_map(|other| Some((self.gain(&comparison, &other)?, other)));
                let next = gains.max_by(|(a, x), (b, y)| a.total_cmp(b).then(y.cmp(x)));
                match next.filter(|(gain, _)| *gain > best.0) {
                    Some(next) => best = next,
                    None => break,
                }
            }
            let design = best.1;
            self.believe(&mut comparison, &design);
            ranked.retain(|(_, other)| *other != design);
            for (gain, other) in &mut ranked {
                *gain = self.gain(&comparison, other).unwrap_or(f64::NEG_INFINITY);
            }
            chosen.push(design);
        }
        chosen
    }

    /// What a design should gain: the volume by which it lowers the staircase; or how much it fails to, below
    /// 0.
    fn gain(&self, comparison: &Comparison<'_>, design: &Design) -> Option<f64> {
        let area = self.area_of(design)?;
        let (mean, deviation) = mean(&comparison.aim, design);
        let hoped = mean - HOPE * deviation;
        let within = self.levels.iter().zip(&comparison.best).filter(|(level, _)| area <= **level);
        let gains = within.map(|(_, best)| best - hoped);
        let volume: f64 = gains.clone().map(|gain| gain.max(0.0)).sum();
        let gain = if volume > 0.0 { volume } else { gains.fold(f64::NEG_INFINITY, f64::max) };
        let limits = &self.space.goals().constraints;
        let is_allowed =
            comparison.limited.iter().all(|(at, forecast)| limits[*at].admits(forecast.of(design).0.exp()));
        Some(if is_allowed { gain } else { gain - FORBIDDEN })
    }

    /// Takes the forecast of a design for its costs.
    fn believe(&self, comparison: &mut Comparison<'_>, design: &Design) {
        let (value, _) = mean(&comparison.aim, design);
        let area = self.area_of(design).unwrap_or(f64::INFINITY);
        for (level, best) in self.levels.iter().zip(&mut comparison.best) {
            if area <= *level {
                *best = best.min(value);
            }
        }
        for (_, forecast) in &mut comparison.aim {
            if let Some(believing) = forecast.believing(design) {
                *forecast = believing;
            }
        }
    }
}

fn is_area(measure: &Measure) -> bool {
    [Measure::AreaMm2, Measure::AreaRpuMm2].contains(measure)
}

/// The logarithm of an aim.
fn value(aim: &Aim, costs: &Costs) -> f64 {
    aim.iter().map(|(measure, weight)| weight * measure.of(costs).ln()).sum()
}

/// The mean and the standard deviation of the logarithm of an aim.
fn mean(aim: &[(f64, Forecast<'_>)], design: &Design) -> (f64, f64) {
    let forecasts = aim.iter().map(|(weight, forecast)| (weight, forecast.of(design)));
    let (mean, variance) = forecasts.fold((0.0, 0.0), |(mean, variance), (weight, (of, deviation))| {
        (mean + weight * of, variance + (weight * deviation).powi(2))
    });
    (mean, variance.sqrt())
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
