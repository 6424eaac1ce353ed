//! The front of a task: what it minimises, and which designs can be on it.

use super::measure::{Constraint, Measure};
use super::quantity::{Quantity, names};
use super::record::Costs;
use super::workload::Workload;
use plot::pareto;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// The table `[explore]` of a definition.
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
            let names = Measure::ALL.map(Measure::name).join(", ");
            return Err(("fewer than two different objectives".into(), format!("choose from {names}")));
        }
        if !(4..=10_000).contains(&self.population) {
            let message = format!("invalid value {} for `population`", self.population);
            return Err((message, "expected 4 to 10000 designs".into()));
        }
        Ok(())
    }
}

/// The objectives and constraints of a front.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goals {
    /// The measures to minimise: two or more.
    #[serde(deserialize_with = "two_or_more")]
    pub objectives: Vec<Measure>,
    /// The limits of designs on the front.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Constraint>,
}

fn two_or_more<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<Measure>, D::Error> {
    let objectives = Vec::deserialize(value)?;
    if objectives.len() < 2 { Err(D::Error::custom("fewer than two objectives")) } else { Ok(objectives) }
}

impl Goals {
    /// Those of a sweep: time and area.
    pub(super) fn of(workload: &Workload) -> Self {
        Self { objectives: vec![workload.time(), Measure::AreaMm2], constraints: Vec::new() }
    }

    /// The horizontal and the vertical measure of charts: the first two objectives.
    pub(super) fn axes(&self) -> [Measure; 2] {
        [self.objectives[0], self.objectives[1]]
    }

    /// The measures of a table: objectives, those with limits, and what is known of every design.
    pub(super) fn measures(&self, workload: &Workload) -> Vec<Measure> {
        let limited = self.constraints.iter().map(|constraint| constraint.measure);
        let usual = [workload.time(), Measure::AreaMm2, Measure::Cycles];
        let mut measures: Vec<Measure> = Vec::new();
        for measure in self.objectives.iter().copied().chain(limited).chain(usual) {
            if !measures.contains(&measure) {
                measures.push(measure);
            }
        }
        measures
    }

    /// Whether a design keeps the constraints.
    pub(super) fn allow(&self, costs: &Costs) -> bool {
        self.constraints.iter().all(|constraint| constraint.allows(costs))
    }

    /// The designs on the front, in ascending order of the first objective: those that keep the constraints and
    /// that no other one of them dominates.
    pub(super) fn front<T: Copy>(&self, designs: impl Iterator<Item = (T, Costs)>) -> Vec<T> {
        let allowed = designs.filter(|(_, costs)| self.allow(costs));
        let values = |costs: &Costs| self.objectives.iter().map(|objective| objective.of(costs)).collect();
        let (designs, values): (Vec<T>, Vec<Vec<f64>>) =
            allowed.map(|(design, costs)| (design, values(&costs))).unzip();
        pareto::front(&values).into_iter().map(|i| designs[i]).collect()
    }

    /// The title of a chart: `area against latency`.
    pub(super) fn title(&self) -> String {
        let [x, y] = self.axes().map(|measure| Quantity::of(measure.name()).name);
        format!("{y} against {x}")
    }

    /// Remarks on a front of more than two objectives, and on `beyond` of `all` designs that exceed a constraint.
    pub(super) fn notes(&self, beyond: usize, all: usize) -> Vec<String> {
        let mut notes = Vec::new();
        if self.objectives.len() > 2 {
            let objectives = names(self.objectives.iter().map(|objective| objective.name()));
            notes.push(format!("The objectives of the front are {objectives}"));
        }
        if !self.constraints.is_empty() {
            let limits = self.constraints.iter().map(Constraint::label).collect::<Vec<_>>().join(" and ");
            notes.push(format!("The front is that of the designs with {limits}: {} of {all}", all - beyond));
        }
        notes
    }
}
