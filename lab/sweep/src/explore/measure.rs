//! What a front minimises, and the limits of its designs.

use crate::quantity::Quantity;
use crate::record::Costs;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

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
    /// The value that it must not exceed.
    pub limit: f64,
}

/// Text that is not a constraint.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("invalid constraint `{0}`; the measures are {names}", names = Measure::ALL.map(Measure::name).join(", "))]
pub struct ConstraintError(String);

impl Constraint {
    /// Its notation, as help.
    pub(crate) const NOTATION: &str = "write MEASURE < NUMBER, for example \"area_mm2 < 25\"";
}

impl FromStr for Constraint {
    type Err = ConstraintError;

    fn from_str(text: &str) -> Result<Self, ConstraintError> {
        let parse = || {
            let (name, limit) = text.split_once("<=").or_else(|| text.split_once('<'))?;
            let name = name.trim();
            // `area` stands for `area_mm2`.
            let short = |measure: Measure| measure.name().split('_').next() == Some(name);
            let exact = Measure::ALL.into_iter().find(|measure| measure.name() == name);
            let measure = exact.or_else(|| Measure::ALL.into_iter().find(|&measure| short(measure)))?;
            let limit = limit.trim();
            let number = limit.strip_suffix(measure.unit()).unwrap_or(limit).trim();
            let limit: f64 = number.parse().ok()?;
            (limit.is_finite() && limit > 0.0).then_some(Self { measure, limit })
        };
        parse().ok_or_else(|| ConstraintError(text.to_owned()))
    }
}

impl TryFrom<String> for Constraint {
    type Error = ConstraintError;

    fn try_from(text: String) -> Result<Self, ConstraintError> {
        text.parse()
    }
}

impl From<Constraint> for String {
    fn from(constraint: Constraint) -> Self {
        constraint.to_string()
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <= {}", self.measure.name(), self.limit)
    }
}

impl Constraint {
    /// Whether a design keeps the limit.
    pub(crate) fn allows(&self, costs: &Costs) -> bool {
        self.measure.of(costs) <= self.limit
    }

    /// The logarithm of the ratio by which a design exceeds the limit; 0 if it does not.
    pub(super) fn violation(&self, costs: &Costs) -> f64 {
        (self.measure.of(costs) / self.limit).ln().max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_have_long_and_short_names_and_units() {
        let limit = |text: &str| text.parse::<Constraint>().map(|c| (c.measure, c.limit));
        assert_eq!(limit("area < 25 mm2"), Ok((Measure::AreaMm2, 25.0)));
        assert_eq!(limit("energy_uj<=60"), Ok((Measure::EnergyUj, 60.0)));
        assert_eq!(limit("time < 4.5us"), Ok((Measure::TimeUs, 4.5)));
        assert_eq!(limit("stream < 40 us"), Ok((Measure::StreamUs, 40.0)));
        assert_eq!(limit("energy_delay_uj_us < 100"), Ok((Measure::EnergyDelay, 100.0)));
        for wrong in ["area", "area > 3", "speed < 3", "area < x", "area < -1", "area < 3 uJ", "area < inf"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }
}
