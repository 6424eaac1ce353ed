//! Successive halving: points that do badly on a small ring are not simulated on the large one.
//!
//! Each *rung* is a ring degree below that of the sweep. All points start on the lowest rung, where
//! their kernels run with that degree (or with their own, where it is smaller). The best share goes
//! on to the next rung, and in the end to its own degree. Points of different kernels, degrees or
//! sizes of the modulus do not compete with each other. A point that fails on a rung goes on, since
//! nothing is known about it.
//!
//! Who goes on is a function of the records in the journals alone: a sweep that was killed takes the
//! same decisions again, and so does whoever merges its shards.

use super::plan::Manifest;
use crate::pareto;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// How points are dropped before they are simulated in full.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Halving {
    /// What makes a point better than another.
    pub objective: Objective,
    /// The share of the points that goes on from each rung, above 0 and below 1; rounded up.
    pub keep: f64,
    /// The degrees of the small rings, powers of two in ascending order.
    pub rungs: Vec<u32>,
}

/// What makes a point better than another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objective {
    /// Fewer cycles.
    Cycles,
    /// Less time.
    TimeUs,
    /// Less energy.
    EnergyUj,
    /// A smaller product of area and time.
    AreaDelay,
    /// A smaller product of energy and time.
    EnergyDelay,
    /// The front of area and time, then the front of what remains, and so on; the last of these
    /// fronts goes on as a whole.
    Pareto,
}

/// What a simulated point costs: a part of its record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Costs {
    pub(super) cycles: u64,
    pub(super) time_us: f64,
    pub(super) area_mm2: f64,
    pub(super) energy_uj: f64,
}

/// How far the points of a sweep have come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Standing {
    /// The rung on which each point was dropped, if it was.
    pub(super) dropped: Vec<Option<usize>>,
    /// The first rung that lacks results. No point has been dropped there or later.
    pub(super) open: Option<usize>,
}

impl Halving {
    /// Whether the values make sense; if not, what is wrong and what would be right.
    pub(super) fn check(&self) -> Result<(), (String, String)> {
        if !(self.keep > 0.0 && self.keep < 1.0) {
            let help = "it is the share of the points that goes on, for example 0.5";
            return Err((format!("`keep` cannot be {}", self.keep), help.into()));
        }
        let ascending = self.rungs.windows(2).all(|pair| pair[0] < pair[1]);
        if self.rungs.is_empty() || !ascending || !self.rungs.iter().all(|n| n.is_power_of_two()) {
            let help = "list powers of two in ascending order, for example [1024, 4096]";
            return Err((format!("`rungs` cannot be {:?}", self.rungs), help.into()));
        }
        Ok(())
    }

    /// Which of the competing points go on.
    fn best(&self, points: &[(usize, Costs)]) -> HashSet<usize> {
        let count = (self.keep * points.len() as f64).ceil() as usize;
        let product = |costs: &Costs| match self.objective {
            Objective::Cycles => costs.cycles as f64,
            Objective::TimeUs => costs.time_us,
            Objective::EnergyUj => costs.energy_uj,
            Objective::AreaDelay | Objective::Pareto => costs.area_mm2 * costs.time_us,
            Objective::EnergyDelay => costs.energy_uj * costs.time_us,
        };
        let mut left = points.to_vec();
        if self.objective != Objective::Pareto {
            left.sort_by(|(i, a), (j, b)| product(a).total_cmp(&product(b)).then(i.cmp(j)));
            return left[..count].iter().map(|&(point, _)| point).collect();
        }
        let mut best = HashSet::new();
        while best.len() < count {
            let costs = left.iter().map(|(_, c)| pareto::Costs { first: c.time_us, second: c.area_mm2 });
            let front = pareto::front(&costs.collect::<Vec<_>>());
            best.extend(front.iter().map(|&i| left[i].0));
            left.retain(|(point, _)| !best.contains(point));
        }
        best
    }
}

/// Drops points rung by rung as far as results go. `outcome` says for the key of a point on a rung
/// whether there is a record, and what the point costs unless it failed.
pub(super) fn standing(manifest: &Manifest, outcome: impl Fn(&str) -> Option<Option<Costs>>) -> Standing {
    let mut dropped = vec![None; manifest.points.len()];
    let Some(halving) = &manifest.halving else { return Standing { dropped, open: None } };
    for rung in 0..halving.rungs.len() {
        let mut competitors: BTreeMap<_, Vec<(usize, Costs)>> = BTreeMap::new();
        for (index, point) in manifest.points.iter().enumerate().filter(|&(i, _)| dropped[i].is_none()) {
            match outcome(&point.rungs[rung]) {
                None => return Standing { dropped, open: Some(rung) },
                Some(None) => {}
                Some(Some(costs)) => competitors.entry(point.workload()).or_default().push((index, costs)),
            }
        }
        for points in competitors.values() {
            let best = halving.best(points);
            for &(index, _) in points.iter().filter(|(index, _)| !best.contains(index)) {
                dropped[index] = Some(rung);
            }
        }
    }
    Standing { dropped, open: None }
}
