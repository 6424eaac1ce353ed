//! The stages of a ring program's run, from its profile.

use runtime::schedule::traffic::Kind;
use runtime::{Entry, Owner, Profile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a stage takes, in the document of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StageCost {
    /// Its name, behind those of the stages around it. A program without stages has its operations on
    /// ciphertexts in their place; `unnamed` is what has no name.
    pub name: String,
    /// Its time, waits for transfers included.
    pub time_us: f64,
    /// Its energy.
    pub energy_uj: f64,
    /// The bytes of its off-chip transfers, for all kinds.
    pub bytes_by_kind: BTreeMap<String, u64>,
}

/// The stages of a profile. They add up to its run; so a program without names has one.
pub(crate) fn stage_costs(profile: &Profile) -> Vec<StageCost> {
    let cost = |stage: Stage| StageCost {
        name: stage.name,
        time_us: stage.time_ps as f64 / 1e6,
        energy_uj: stage.energy_uj,
        bytes_by_kind: stage.bytes_by_kind,
    };
    by_name(profile, names(profile).unwrap_or(|_| &[])).into_iter().map(cost).collect()
}

/// What a stage takes.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Stage {
    /// The names of the stage and of those around it; of a program without stages, an operation.
    pub(crate) name: String,
    pub(crate) time_ps: u64,
    pub(crate) waiting_ps: u64,
    pub(crate) bytes_by_kind: BTreeMap<String, u64>,
    pub(crate) multiplications: u64,
    pub(crate) energy_uj: f64,
}

impl Stage {
    /// The share of its time in which transfers are waited for.
    pub(crate) fn waiting(&self) -> f64 {
        self.waiting_ps as f64 / self.time_ps.max(1) as f64
    }

    /// All bytes of its off-chip transfers.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes_by_kind.values().sum()
    }

    /// Multiplications for each byte of off-chip transfers; none without bytes.
    pub(crate) fn intensity(&self) -> Option<f64> {
        let bytes = self.bytes();
        (bytes > 0).then(|| self.multiplications as f64 / bytes as f64)
    }

    /// 10^9 multiplications in a second.
    pub(crate) fn rate(&self) -> f64 {
        1e3 * self.multiplications as f64 / self.time_ps.max(1) as f64
    }
}

/// The stages in the order of their first launches. A program without stages has its outermost operations in
/// their place, and one without regions nothing.
pub(crate) fn stages(profile: &Profile) -> Vec<Stage> {
    names(profile).map(|names| by_name(profile, names)).unwrap_or_default()
}

/// The names of an entry by which stages are told apart.
type Names = fn(&Entry) -> &[String];

/// Those of the stages, or else of the outermost operations; none if the program has neither.
fn names(profile: &Profile) -> Option<Names> {
    let stages: Names = |entry| &entry.owner.stages;
    let operations: Names = |entry| &entry.owner.operations[..entry.owner.operations.len().min(1)];
    let has = |names: &Names| profile.entries.iter().any(|entry| !names(entry).is_empty());
    [stages, operations].into_iter().find(has)
}

fn by_name(profile: &Profile, names: Names) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    for entry in &profile.entries {
        let name = match names(entry) {
            [] => Owner::UNNAMED.to_owned(),
            names => names.join(" > "),
        };
        let place = stages.iter().position(|stage| stage.name == name).unwrap_or_else(|| {
            let bytes_by_kind = Kind::ALL.iter().map(|kind| (kind.name().to_owned(), 0)).collect();
            stages.push(Stage { name, bytes_by_kind, ..Stage::default() });
            stages.len() - 1
        });
        let stage = &mut stages[place];
        stage.time_ps += entry.time_ps;
        stage.waiting_ps += entry.waiting_ps;
        for (kind, bytes) in &entry.bytes_by_kind {
            *stage.bytes_by_kind.entry(kind.clone()).or_default() += bytes;
        }
        stage.multiplications += entry.multiplications;
        stage.energy_uj += entry.energy_uj;
    }
    stages
}
