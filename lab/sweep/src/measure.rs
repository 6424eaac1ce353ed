//! What a front minimises, and the limits of its designs.

use crate::condition::{Comparison, Condition};
use crate::quantity::Quantity;
use crate::record::Costs;
use diagnostic::Diagnostic;
use serde::{Deserialize, Serialize};

/// A cost of a design.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Cycles.
    Cycles,
    /// Time of one run, in us.
    TimeUs,
    /// Time of a stream of runs with their off-chip transfers, in us.
    StreamUs,
    /// Area, in mm2.
    AreaMm2,
    /// Energy, in uJ.
    EnergyUj,
    /// The product of area and time.
    #[serde(rename = "area_delay_mm2_us")]
    AreaDelay,
    /// The product of energy and time.
    #[serde(rename = "energy_delay_uj_us")]
    EnergyDelay,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Self; 7] = [
        Self::Cycles,
        Self::TimeUs,
        Self::StreamUs,
        Self::AreaMm2,
        Self::EnergyUj,
        Self::AreaDelay,
        Self::EnergyDelay,
    ];

    /// Its column in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::TimeUs => "time_us",
            Self::StreamUs => "stream_us",
            Self::AreaMm2 => "area_mm2",
            Self::EnergyUj => "energy_uj",
            Self::AreaDelay => "area_delay_mm2_us",
            Self::EnergyDelay => "energy_delay_uj_us",
        }
    }

    /// Its unit in constraints.
    const fn unit(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::TimeUs | Self::StreamUs => "us",
            Self::AreaMm2 => "mm2",
            Self::EnergyUj => "uJ",
            Self::AreaDelay => "mm2*us",
            Self::EnergyDelay => "uJ*us",
        }
    }

    /// Its heading in a table of text: `latency (us)`.
    pub(crate) fn heading(self) -> String {
        let name = Quantity::of(self.name()).name;
        match self {
            Self::Cycles => name,
            Self::TimeUs
            | Self::StreamUs
            | Self::AreaMm2
            | Self::EnergyUj
            | Self::AreaDelay
            | Self::EnergyDelay => format!("{name} ({})", self.unit()),
        }
    }

    /// The value for a design; not a number if it has none.
    pub(crate) fn of(self, costs: &Costs) -> f64 {
        let &Costs { cycles, time_us, stream_us, area_mm2, energy_uj } = costs;
        match self {
            Self::Cycles => cycles as f64,
            Self::TimeUs => time_us,
            Self::StreamUs => stream_us.unwrap_or(f64::NAN),
            Self::AreaMm2 => area_mm2,
            Self::EnergyUj => energy_uj,
            Self::AreaDelay => area_mm2 * time_us,
            Self::EnergyDelay => energy_uj * time_us,
        }
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
        let names = Measure::ALL.map(Measure::name);
        let condition = condition.resolve(&names, || names.join(", "))?;
        let limit = condition.limit()?;
        if limit <= 0.0 {
            return Err(condition.wrong("a limit is above 0", "every measure is above 0"));
        }
        let measure = Measure::ALL.into_iter().find(|measure| measure.name() == condition.column);
        let measure = measure.expect("the column is a measure");
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
        let Quantity { name, unit } = Quantity::of(self.measure.name());
        let unit = unit.map_or_else(String::new, |unit| format!(" {unit}"));
        format!("{name} {} {}{unit}", self.comparison.sign(), self.limit)
    }

    /// Whether a design keeps the limit.
    pub(crate) fn allows(&self, costs: &Costs) -> bool {
        self.comparison.holds(self.measure.of(costs).partial_cmp(&self.limit))
    }

    /// The distance of a design from the limit, as the logarithm of their ratio; 0 if it keeps the limit, and above 0 if not.
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
        let costs = Costs { cycles: 100, time_us: 4.5, stream_us: None, area_mm2: 25.0, energy_uj: 60.0 };
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
