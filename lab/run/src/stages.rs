//! The stages of a ring program's run, from its profile.

use runtime::{Entry, Profile};

/// What a stage takes.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Stage {
    /// The names of the stage and of those around it; of a program without stages, an operation.
    pub(crate) name: String,
    pub(crate) time_ps: u64,
    pub(crate) waiting_ps: u64,
    pub(crate) bytes: u64,
    pub(crate) multiplications: u64,
    pub(crate) energy_uj: f64,
}

impl Stage {
    /// The share of its time in which transfers are waited for.
    pub(crate) fn waiting(&self) -> f64 {
        self.waiting_ps as f64 / self.time_ps.max(1) as f64
    }

    /// Multiplications for each byte of off-chip transfers; none without bytes.
    pub(crate) fn intensity(&self) -> Option<f64> {
        (self.bytes > 0).then(|| self.multiplications as f64 / self.bytes as f64)
    }

    /// 10^9 multiplications in a second.
    pub(crate) fn rate(&self) -> f64 {
        1e3 * self.multiplications as f64 / self.time_ps.max(1) as f64
    }
}

/// The stages in the order of their first launches. A program without stages has its outermost operations in
/// their place, and one without regions nothing.
pub(crate) fn stages(profile: &Profile) -> Vec<Stage> {
    let has = |names: fn(&Entry) -> &[String]| profile.entries.iter().any(|entry| !names(entry).is_empty());
    let names: fn(&Entry) -> &[String] = if has(|entry| &entry.owner.stages) {
        |entry| &entry.owner.stages
    } else if has(|entry| &entry.owner.operations) {
        |entry| &entry.owner.operations[..entry.owner.operations.len().min(1)]
    } else {
        return Vec::new();
    };
    let mut stages: Vec<Stage> = Vec::new();
    for entry in &profile.entries {
        let name = names(entry).join(" > ");
        let name = if name.is_empty() { "outside of all".to_owned() } else { name };
        let place = stages.iter().position(|stage| stage.name == name).unwrap_or_else(|| {
            stages.push(Stage { name, ..Stage::default() });
            stages.len() - 1
        });
        let stage = &mut stages[place];
        stage.time_ps += entry.time_ps;
        stage.waiting_ps += entry.waiting_ps;
        stage.bytes += entry.bytes();
        stage.multiplications += entry.multiplications;
        stage.energy_uj += entry.energy_uj;
    }
    stages
}
