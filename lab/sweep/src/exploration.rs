//! The table `[explore]` of a definition.

use super::front::Constraint;
use super::measure::Measure;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Objectives and constraints of an exploration.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Exploration {
    /// What to minimise: two measures or more; `None` for time and area.
    pub objectives: Option<Vec<Measure>>,
    /// What designs must keep.
    #[serde(deserialize_with = "constraints")]
    pub constraints: Vec<Constraint>,
    /// Designs of a generation.
    pub population: usize,
}

fn constraints<'de, D: Deserializer<'de>>(texts: D) -> Result<Vec<Constraint>, D::Error> {
    let texts: Vec<String> = Vec::deserialize(texts)?;
    let all = texts.iter().map(|text| Constraint::parse_all(text));
    Ok(all.collect::<Result<Vec<_>, _>>().map_err(D::Error::custom)?.concat())
}

impl Default for Exploration {
    fn default() -> Self {
        Self { objectives: None, constraints: Vec::new(), population: 24 }
    }
}

impl Exploration {
    /// Checks the values. An error names the problem and a fix.
    pub(super) fn check(&self) -> Result<(), (String, String)> {
        let are_distinct = |objectives: &Vec<Measure>| {
            objectives.len() >= 2 && (1..objectives.len()).all(|i| !objectives[..i].contains(&objectives[i]))
        };
        if !self.objectives.as_ref().is_none_or(are_distinct) {
            let names = Measure::names().join(", ");
            return Err(("fewer than two different objectives".into(), format!("choose from {names}")));
        }
        if !(4..=10_000).contains(&self.population) {
            let message = format!("invalid value {} for `population`", self.population);
            return Err((message, "expected 4 to 10000 designs".into()));
        }
        Ok(())
    }
}
