//! The setting of the paper's program: one reading of the paper, which prints neither latencies nor a
//! scheduler.
//!
//! [`PAPER_SETTING`] lists the open questions. Each has the values that the text allows, the simplest
//! first. Every combination is a candidate; [`trials`](crate::trials) chooses one.

use codegen::schedule::Tuning;
use codegen::{PlanChoice, classical};
use configs::PAPER_SETTING;
use diagnostic::document::{Format, Schema};
use diagnostic::{Diagnostic, Diagnostics};
use serde::{Deserialize, Serialize};
use sim::{Machine, MachineBase, Override};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The file of the choices.
const FILE: &str = "configs/paper-setting.toml";

/// The prefix of scheduler keys. All other keys are the machine's.
const SCHEDULER: &str = "scheduler.";

/// The candidate settings, and the claims that choose among them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Space {
    /// The built-in machine whose keys the choices set.
    pub machine: String,
    /// The ids of the training claims.
    pub training: Vec<String>,
    /// Stages of a rectangle, 1 to 5, for all candidates.
    pub depth: u32,
    /// Machine keys with the same value for all candidates.
    pub keys: BTreeMap<String, toml::Value>,
    /// Scheduler keys with the same value for all candidates.
    pub scheduler: toml::Table,
    /// The choices.
    pub choice: Vec<Choice>,
}

/// A question that the paper leaves open.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The key that it sets: a machine key, or after `scheduler.` a scheduler key.
    pub key: String,
    /// The answers, the simplest first.
    pub values: Vec<toml::Value>,
    /// The reason for these answers.
    pub why: String,
}

/// A candidate: for each choice the index of its value.
pub type Picks = Vec<usize>;

/// The machine and the program settings of a candidate.
#[derive(Clone, PartialEq, Debug)]
pub struct PaperSetting {
    /// The machine, at 128 HPLEs and 128 banks.
    pub machine: Machine,
    /// Stages of a rectangle.
    pub depth: u32,
    /// The scheduler.
    pub tuning: Tuning,
}

impl PaperSetting {
    /// The plan of the transform of `n` points.
    pub(super) fn plan(&self, n: u32) -> PlanChoice {
        PlanChoice::Recipe(Box::new(classical(golden::NTT, n, self.depth, self.tuning.clone())))
    }
}

impl Space {
    /// The built-in space.
    ///
    /// # Errors
    /// Returns an error if its file is invalid.
    pub fn built_in() -> Result<Self, Diagnostics> {
        Self::schema().read_toml(FILE, PAPER_SETTING)
    }

    /// The JSON schema of its file.
    pub fn schema() -> &'static Schema {
        static SETTING: LazyLock<Schema> =
            LazyLock::new(|| Schema::new(Format::Setting, include_str!("../schema/setting.json")));
        &SETTING
    }

    /// The number of candidates.
    pub fn size(&self) -> usize {
        self.choice.iter().map(|choice| choice.values.len()).product()
    }

    /// All candidates, the last choice varying fastest.
    pub fn candidates(&self) -> Vec<Picks> {
        let extend = |all: Vec<Picks>, choice: &Choice| {
            all.iter()
                .flat_map(|picks| (0..choice.values.len()).map(|pick| [&**picks, &[pick]].concat()))
                .collect()
        };
        self.choice.iter().fold(vec![Picks::new()], extend)
    }

    /// The setting of a candidate.
    ///
    /// # Errors
    /// Returns an error if a key or a value is invalid.
    pub fn setting(&self, picks: &Picks) -> Result<PaperSetting, Diagnostics> {
        let fixed = self.keys.iter().map(|(key, value)| Override::parse(&format!("{key}={value}")));
        let mut overrides = fixed.collect::<Result<Vec<_>, _>>()?;
        let mut scheduler = self.scheduler.clone();
        for (choice, &pick) in self.choice.iter().zip(picks) {
            let value = &choice.values[pick];
            if let Some(key) = choice.key.strip_prefix(SCHEDULER) {
                scheduler.insert(key.to_owned(), value.clone());
            } else {
                overrides.push(Override::parse(&format!("{}={value}", choice.key))?);
            }
        }
        let wrong = |message: String| Diagnostic::new(message).in_file(FILE);
        let tuning =
            scheduler.try_into().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?;
        let mut machine = MachineBase::built_in(&self.machine)?.machine(&overrides)?;
        // The printed area and energy belong to the paper's multiplier, however many stages it has.
        let stages = machine.hple.multiplier_latency_cycles;
        machine
            .edit(|values| values.technology.law_stages = stages)
            .map_err(|invalid| wrong(invalid.to_string()))?;
        Ok(PaperSetting { machine, depth: self.depth, tuning })
    }

    /// Key and value of each choice of a candidate.
    pub fn describe(&self, picks: &Picks) -> String {
        let named = self
            .choice
            .iter()
            .zip(picks)
            .map(|(choice, &pick)| format!("{} = {}", choice.key, choice.values[pick]));
        named.collect::<Vec<_>>().join(", ")
    }
}

/// A value without quotes.
pub(crate) fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_candidate_is_a_setting_and_another_one() {
        let space = Space::built_in().unwrap();
        let first = space.setting(&vec![0; space.choice.len()]).unwrap();
        for (index, choice) in space.choice.iter().enumerate() {
            for pick in 1..choice.values.len() {
                let mut picks = vec![0; space.choice.len()];
                picks[index] = pick;
                assert_ne!(space.setting(&picks).unwrap(), first, "{} {pick}", choice.key);
            }
        }
    }
}
