//! The front of a task: what it minimises, and which designs can be on it.
//!
//! A design is on the front if it keeps the constraints and no other such design dominates it: none is as
//! good in every objective and better in one. So equal designs are on it together. Designs of ideal machines,
//! by a setting `ideal.*`, are on it only if all designs are ideal: nobody can build them, so they displace
//! none.

use super::condition::{Comparison, Condition, MAX_CONDITIONS};
use super::measure::{Costs, Measure};
use super::quantity::{Quantity, names};
use diagnostic::Diagnostic;
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
    /// Designs at first; a round has a quarter of them.
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
        if self.constraints.len() > MAX_CONDITIONS {
            let message = format!("{} constraints are too many", self.constraints.len());
            return Err((message, format!("the largest number is {MAX_CONDITIONS}")));
        }
        if !(4..=10_000).contains(&self.population) {
            let message = format!("invalid value {} for `population`", self.population);
            return Err((message, "expected 4 to 10000 designs".into()));
        }
        Ok(())
    }
}

/// A design that may be on a front.
#[derive(Clone, Copy, Debug)]
pub(super) struct Design<T> {
    pub(super) id: T,
    pub(super) costs: Costs,
    /// See [`is_ideal`].
    pub(super) is_ideal: bool,
}

/// The designs on a front, in ascending order of their first costs. A design has its costs, and whether it is
/// ideal.
pub(super) fn front<T: Copy>(designs: &[(T, bool)], costs: &[impl AsRef<[f64]> + Copy]) -> Vec<T> {
    let all_ideal = designs.iter().all(|(_, is_ideal)| *is_ideal);
    let competing = designs.iter().zip(costs).filter(|((_, is_ideal), _)| all_ideal || !is_ideal);
    let (ids, costs): (Vec<T>, Vec<_>) = competing.map(|((id, _), costs)| (*id, *costs)).unzip();
    pareto::front(&costs).into_iter().map(|at| ids[at]).collect()
}

/// Whether a setting makes a machine ideal.
pub(super) fn is_ideal(key: &str, value: &serde_json::Value) -> bool {
    key.starts_with("ideal.") && *value != serde_json::Value::Bool(false)
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
    pub(super) fn of_sweep(time: Measure) -> Self {
        Self { objectives: vec![time, Measure::AreaMm2], constraints: Vec::new() }
    }

    /// The horizontal and the vertical measure of charts: the first two objectives.
    pub(super) fn axes(&self) -> [Measure; 2] {
        [self.objectives[0], self.objectives[1]]
    }

    /// The measures of a table: objectives, those with limits, and what is known of every design.
    pub(super) fn measures(&self, time: Measure) -> Vec<Measure> {
        let limited = self.constraints.iter().map(|constraint| constraint.measure);
        let usual = [time, Measure::AreaMm2, Measure::Cycles];
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

    /// The designs on the front, in ascending order of the first objective.
    pub(super) fn front<T: Copy>(&self, designs: impl Iterator<Item = Design<T>>) -> Vec<T> {
        // A million designs have two numbers each here, not every measure.
        let (mut allowed, mut values) = (Vec::new(), Vec::new());
        for Design { id, costs, is_ideal } in designs.filter(|design| self.allow(&design.costs)) {
            allowed.push((id, is_ideal));
            values.extend(self.objectives.iter().map(|objective| objective.of(&costs)));
        }
        let costs: Vec<&[f64]> = values.chunks(self.objectives.len()).collect();
        front(&allowed, &costs)
    }

    /// The keys of documents that the front needs.
    pub(super) fn keys(&self) -> Vec<Measure> {
        let limited = self.constraints.iter().map(|constraint| constraint.measure);
        let measures = self.objectives.iter().copied().chain(limited);
        let mut keys: Vec<Measure> = measures.flat_map(Measure::keys).copied().collect();
        keys.sort_by_key(|key| *key as usize);
        keys.dedup();
        keys
    }

    /// The title of a chart: `area against latency`.
    pub(super) fn title(&self) -> String {
        let [x, y] = self.axes().map(|measure| Quantity::of(measure.name()).name);
        format!("{y} against {x}")
    }

    /// The constraints that none of these designs keeps, with the value that comes closest.
    pub(super) fn unmet(&self, designs: impl Iterator<Item = Costs> + Clone) -> Vec<(Constraint, f64)> {
        let closest = |constraint: &Constraint| {
            let violations = designs.clone().map(|costs| (constraint.violation(&costs), costs));
            let (violation, costs) = violations.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
            (violation > 0.0).then(|| (*constraint, constraint.measure.of(&costs)))
        };
        self.constraints.iter().filter_map(closest).collect()
    }

    /// Remarks on a front of more than two objectives, and on `beyond` of `all` designs that exceed a
    /// constraint.
    pub(super) fn notes(&self, beyond: usize, all: usize, unmet: &[(Constraint, f64)]) -> Vec<String> {
        let mut notes = Vec::new();
        if self.objectives.len() > 2 {
            let objectives = names(self.objectives.iter().map(|objective| objective.name()));
            notes.push(format!("The objectives of the front are {objectives}"));
        }
        if !self.constraints.is_empty() {
            let limits = self.constraints.iter().map(Constraint::label).collect::<Vec<_>>().join(" and ");
            notes.push(format!("The front is that of the designs with {limits}: {} of {all}", all - beyond));
        }
        notes.extend(unmet.iter().map(|(constraint, closest)| {
            let closest = Quantity::of(constraint.measure.name()).amount(&format!("{closest:.2}"));
            format!("No design has {}: the closest one has {closest}", constraint.label())
        }));
        notes
    }
}

/// A limit on a measure: `area_mm2 < 25`, or `area < 25 mm2`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Constraint {
    /// The measure.
    pub measure: Measure,
    comparison: Comparison,
    /// The limit, above 0.
    pub limit: f64,
}

impl Constraint {
    /// Reads limits with `and` between them.
    ///
    /// # Errors
    /// Returns an error at the first part that is no limit of a measure.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, Diagnostic> {
        Condition::parse_all("", text)?.into_iter().map(Self::new).collect()
    }

    fn new(condition: Condition) -> Result<Self, Diagnostic> {
        let names = Measure::names();
        let condition = condition.resolve(&names, || names.join(", "))?;
        let limit = condition.limit()?;
        if limit <= 0.0 {
            return Err(condition.wrong("a limit is above 0", "no measure is below 0: write a larger limit"));
        }
        let measure = Measure::find(&condition.column).expect("the column is a measure");
        Ok(Self { measure, comparison: condition.comparison, limit })
    }
}

impl TryFrom<String> for Constraint {
    type Error = Diagnostic;

    fn try_from(text: String) -> Result<Self, Diagnostic> {
        let [condition] = <[Condition; 1]>::try_from(Condition::parse_all("", &text)?)
            .map_err(|_| Diagnostic::new("several limits"))?;
        Self::new(condition)
    }
}

impl From<Constraint> for String {
    fn from(Constraint { measure, comparison, limit }: Constraint) -> Self {
        format!("{} {} {limit}", measure.name(), comparison.sign())
    }
}

impl Constraint {
    /// Its text with names and units as in a chart: `area < 25 mm²`.
    pub(crate) fn label(&self) -> String {
        let quantity = Quantity::of(self.measure.name());
        let limit = quantity.amount(&self.limit.to_string());
        format!("{} {} {limit}", quantity.name, self.comparison.sign())
    }

    /// Whether a design keeps the limit.
    pub(crate) fn allows(&self, costs: &Costs) -> bool {
        self.admits(self.measure.of(costs))
    }

    /// Whether a value of the measure keeps the limit.
    pub(crate) fn admits(&self, value: f64) -> bool {
        self.comparison.holds(value.partial_cmp(&self.limit))
    }

    /// The distance of a design from the limit, as the logarithm of their ratio; 0 if it keeps the limit, and
    /// above 0 if not.
    pub(crate) fn violation(&self, costs: &Costs) -> f64 {
        let distance = (self.measure.of(costs) / self.limit).ln().abs();
        if self.allows(costs) { 0.0 } else { distance.max(f64::MIN_POSITIVE) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_have_short_names_units_and_strict_limits() {
        let mut costs = Costs::UNKNOWN;
        for (measure, value) in [
            (Measure::Cycles, 100.0),
            (Measure::TimeUs, 4.5),
            (Measure::AreaMm2, 25.0),
            (Measure::EnergyUj, 60.0),
        ] {
            costs.set(measure, value);
        }
        let allows = |text: &str| {
            let constraints = Constraint::parse_all(text).unwrap();
            let violation: f64 = constraints.iter().map(|constraint| constraint.violation(&costs)).sum();
            let allowed = constraints.iter().all(|constraint| constraint.allows(&costs));
            assert_eq!(allowed, violation == 0.0, "{text}");
            allowed
        };
        for text in ["area <= 25 mm2", "energy_uj<61 and time < 5us", "energy_delay > 100 && cycles <= 100"] {
            assert!(allows(text), "{text}");
        }
        for text in ["area < 25 mm2", "time > 4.5 us", "stream < 40 us", "energy_delay_uj_us < 100 uJ*us"] {
            assert!(!allows(text), "{text}");
        }
        // A half and the double are as far away.
        for text in ["area < 12.5 mm2", "area > 50 mm2"] {
            let violation = Constraint::parse_all(text).unwrap()[0].violation(&costs);
            assert!((violation - 2_f64.ln()).abs() < 1e-12, "{text}: {violation}");
        }
        let goals = |text: &str| Goals {
            objectives: vec![Measure::TimeUs, Measure::AreaMm2],
            constraints: Constraint::parse_all(text).unwrap(),
        };
        let mut smaller = costs;
        smaller.set(Measure::AreaMm2, 24.0);
        let unmet = goals("area < 20 and time < 5").unmet([costs, smaller].into_iter());
        assert_eq!(unmet.iter().map(|(_, closest)| *closest).collect::<Vec<_>>(), [24.0]);
        let notes = goals("area < 20 and time < 5").notes(2, 2, &unmet);
        assert_eq!(notes[1], "No design has area < 20 mm²: the closest one has 24.00 mm²");
        for wrong in [
            "area",
            "area = 3",
            "speed < 3",
            "area < x",
            "area < -1",
            "area < 3 uJ",
            "area < inf",
            "area < 1,5",
        ] {
            assert!(Constraint::parse_all(wrong).is_err(), "{wrong}");
        }
    }
}
