//! Successive halving: points that do badly on a small ring are not simulated on the large one.
//!
//! Each *rung* is a smaller ring degree than the sweep's. All points start on the lowest rung: their
//! kernels run with that degree (or with their own, if it is smaller). The best share advances to
//! the next rung, and in the end to its own degree. Points of different kernels, degrees or modulus
//! sizes do not compete with each other. A point that fails on a rung advances, since nothing is
//! known about it.
//!
//! The decisions depend only on the records in the journals: a sweep that was killed decides the
//! same again, and so does a merge of its shards.

use super::goals::Goals;
use super::key::PointKey;
use super::manifest::{Halving, Manifest, Objective, Workload};
use std::collections::{BTreeMap, HashSet};

/// The cost of a simulated point, from its record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Costs {
    pub(super) cycles: u64,
    pub(super) time_us: f64,
    /// The time of a stream of runs, if the point has one.
    pub(super) stream_us: Option<f64>,
    pub(super) area_mm2: f64,
    pub(super) energy_uj: f64,
}

/// The progress of a sweep's points.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Standing {
    /// The rung on which each point was dropped, if it was; empty without a halving.
    pub(super) dropped: Vec<Option<usize>>,
    /// The first rung without complete results. No point has been dropped there or later.
    pub(super) open: Option<usize>,
}

impl Halving {
    /// Selects the points that advance, of those for one task.
    fn best(&self, goals: &Goals, points: &[(usize, Costs)]) -> HashSet<usize> {
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
            let front = goals.front(left.iter().copied());
            if front.is_empty() {
                // The rest lacks a cost.
                break;
            }
            best.extend(front);
            left.retain(|(point, _)| !best.contains(point));
        }
        best
    }
}

/// Drops points rung by rung as far as results exist. For the key of a point on a rung, `outcome`
/// returns whether a record exists, and the point's cost unless it failed.
pub(super) fn standing(
    manifest: &Manifest,
    outcome: impl Fn(&PointKey) -> Option<Option<Costs>>,
) -> Standing {
    let points = &manifest.points;
    let Some(halving) = &manifest.halving else { return Standing { dropped: Vec::new(), open: None } };
    let mut dropped = vec![None; points.len()];
    for rung in 0..halving.rungs.len() {
        let mut competitors: BTreeMap<Workload, Vec<(usize, Costs)>> = BTreeMap::new();
        for index in (0..points.len()).filter(|&index| dropped[index].is_none()) {
            match outcome(&points.rungs(index)[rung]) {
                None => return Standing { dropped, open: Some(rung) },
                Some(None) => {}
                Some(Some(costs)) => {
                    competitors.entry(points.workload(index)).or_default().push((index, costs));
                }
            }
        }
        for (workload, points) in &competitors {
            let best = halving.best(&Goals::of(workload), points);
            for &(index, _) in points.iter().filter(|(index, _)| !best.contains(index)) {
                dropped[index] = Some(rung);
            }
        }
    }
    Standing { dropped, open: None }
}
