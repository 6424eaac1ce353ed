//! The manifest of a sweep's folder.

use super::explore::Measure;
use super::goals::Goals;
use super::key::PointKey;
use super::points::Points;
use diagnostic::counted;
use lab_run::kernel::parse_u128;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Keys and values of a point, kernel keys first.
pub type Settings = serde_json::Map<String, serde_json::Value>;

/// The format of a sweep's folder. Up to format 2, records and manifests could have parts of searches that no sweep makes now.
pub(super) const FORMAT: u32 = 3;

/// The structure of a sweep, for users who have only its results.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub schema: u32,
    /// The sweep's name.
    pub name: String,
    /// The chart's title.
    pub title: String,
    /// The columns: kernel keys, then the machine keys that vary.
    pub columns: Vec<String>,
    /// The axes.
    pub varying: Vec<String>,
    /// Published results for comparison.
    pub references: Vec<Reference>,
    /// Whether it is an exploration: its points are those with a record, and `points` is empty.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explored: bool,
    /// The objectives and constraints of an exploration; the fronts of other sweeps are those of time and area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goals: Option<Goals>,
    /// The definition.
    pub source: Source,
    /// The points, in the order of the sweep.
    pub points: Points,
}

/// The text that defines a sweep.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Source {
    /// The file as the command line named it.
    pub file: String,
    /// Its content.
    pub text: String,
    /// `key=value` of each key that the command line set, in order.
    pub changes: Vec<String>,
}

/// The task of a point. Only points with the same workload are comparable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Workload {
    /// The ring operation, or the file of a given program.
    pub kernel: String,
    /// The ring degree; 0 for a given program.
    pub n: u64,
    /// The size of the modulus in bits.
    pub modulus_bits: u64,
    /// The number of towers.
    pub towers: u64,
    /// The parameter set of a ring program; empty for others.
    pub set: String,
    /// The moduli of its ciphertexts; 0 for all of the set, and for others.
    pub level: u64,
    /// The runs of a stream; 0 for a single run without transfers.
    pub stream: u64,
}

/// The settings that make a [`Workload`], each with its name in a sentence. All other keys are choices in a design.
pub(super) const TASK_KEYS: [(&str, &str); 9] = [
    ("kernel", "kernel"),
    ("program", "program"),
    ("set", "parameter set"),
    ("n", "ring degree"),
    ("level", "level"),
    ("modulus_bits", "size of the modulus"),
    ("modulus", "modulus"),
    ("towers", "number of towers"),
    ("stream", "length of the stream"),
];

impl Workload {
    /// The workload of a point with these settings.
    pub fn of(settings: &Settings) -> Self {
        Self::from_settings(|key| settings.get(key))
    }

    /// The workload of a point whose settings `get` returns by name.
    pub(super) fn from_settings<'v>(get: impl Fn(&str) -> Option<&'v serde_json::Value>) -> Self {
        let number = |key: &str| get(key).and_then(serde_json::Value::as_u64);
        let text = |key: &str| get(key).and_then(serde_json::Value::as_str);
        let modulus =
            || text("modulus").and_then(parse_u128).map(|q| u64::from(u128::BITS - q.leading_zeros()));
        Self {
            kernel: text("kernel").or(text("program")).unwrap_or_default().into(),
            n: number("n").unwrap_or_default(),
            modulus_bits: number("modulus_bits").or_else(modulus).unwrap_or_default(),
            towers: number("towers").unwrap_or(1),
            set: text("set").unwrap_or_default().into(),
            level: number("level").unwrap_or_default(),
            stream: number("stream").unwrap_or_default(),
        }
    }

    /// The time of a point: that of its stream, if it has one.
    pub(super) fn time(&self) -> Measure {
        if self.stream > 0 { Measure::StreamUs } else { Measure::TimeUs }
    }

    /// The stream, to follow the name: `, stream of 8 runs`; empty without one.
    pub(super) fn stream(&self) -> String {
        match self.stream {
            0 => String::new(),
            runs => format!(", stream of {}", counted(runs as usize, "run", "runs")),
        }
    }

    /// The name without the modulus: `16K-point NTT`; or the file of a given program.
    pub(super) fn name(&self) -> String {
        if !self.set.is_empty() {
            let level = if self.level > 0 { format!(", level {}", self.level) } else { String::new() };
            return format!("{} of the parameter set {}, n = {}{level}", self.kernel, self.set, self.n);
        }
        if self.n == 0 {
            return self.kernel.clone();
        }
        let kernel = match self.kernel.as_str() {
            // Acronyms; other names are words.
            "ntt" | "intt" => self.kernel.to_uppercase(),
            _ => self.kernel.clone(),
        };
        if self.n.is_multiple_of(1024) {
            format!("{}K-point {kernel}", self.n / 1024)
        } else {
            format!("{}-point {kernel}", self.n)
        }
    }

    /// The name in file names: `ntt-16384-60`.
    pub fn slug(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._".contains(c) { c } else { '-' };
        let kernel: String = self.kernel.chars().map(plain).collect();
        let mut slug = match (self.n, self.towers) {
            _ if !self.set.is_empty() => {
                let set: String = self.set.chars().map(plain).collect();
                format!("{kernel}-{set}-{}", self.n)
            }
            (0, _) => kernel,
            (n, 1) => format!("{kernel}-{n}-{}", self.modulus_bits),
            (n, towers) => format!("{kernel}-{n}-{}x{towers}", self.modulus_bits),
        };
        for (name, value) in [("level", self.level), ("stream", self.stream)] {
            if value > 0 {
                slug += &format!("-{name}-{value}");
            }
        }
        slug
    }
}

/// The display name: `16K-point NTT, 60-bit modulus`.
impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        match (self.n, self.towers) {
            (0, _) => {}
            _ if !self.set.is_empty() => {}
            (_, 1) => write!(f, ", {}-bit modulus", self.modulus_bits)?,
            (_, towers) => write!(f, ", {towers} moduli of {} bits", self.modulus_bits)?,
        }
        f.write_str(&self.stream())
    }
}

impl Manifest {
    /// The points of an exploration, from the key and the settings of each record, in the order of their
    /// settings.
    pub(super) fn explored_points(&self, records: impl Iterator<Item = (PointKey, Settings)>) -> Points {
        let order = |settings: &Settings| -> Vec<(Option<u64>, String)> {
            let value = |column: &String| {
                let value = settings.get(column);
                (
                    value.and_then(serde_json::Value::as_u64),
                    value.map(ToString::to_string).unwrap_or_default(),
                )
            };
            self.columns.iter().map(value).collect()
        };
        let mut points: Vec<(PointKey, Settings)> = records.collect();
        points.sort_by_cached_key(|(key, settings)| (order(settings), *key));
        points.into_iter().collect()
    }

    /// Whether `other` has the same points and the same presentation; the file and its comments do
    /// not count.
    pub fn is_same_sweep(&self, other: &Self) -> bool {
        let Self { schema, name, title, columns, varying, references, explored, goals, source: _, points } =
            self;
        (schema, name, title, columns, varying)
            == (&other.schema, &other.name, &other.title, &other.columns, &other.varying)
            && (references, explored, goals) == (&other.references, &other.explored, &other.goals)
            && *points == other.points
    }
}

/// A published result, shown beside the sweep's.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Description and source.
    pub label: String,
    /// Latency.
    #[serde(deserialize_with = "positive")]
    pub time_us: f64,
    /// Area.
    #[serde(deserialize_with = "positive")]
    pub area_mm2: f64,
    /// Its kernel; `None` for the kernel of the sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Its ring degree; `None` means the sweep's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Its modulus size; `None` means the sweep's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modulus_bits: Option<u64>,
}

/// A finite number above 0.
fn positive<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(value)?;
    if number.is_finite() && number > 0.0 {
        Ok(number)
    } else {
        Err(D::Error::custom(format_args!("invalid value {number}: it must be a number above 0")))
    }
}

impl Reference {
    /// Its value of a measure, if it is published.
    pub(super) fn value(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::TimeUs => Some(self.time_us),
            Measure::AreaMm2 => Some(self.area_mm2),
            Measure::AreaDelay => Some(self.area_mm2 * self.time_us),
            Measure::Cycles | Measure::StreamUs | Measure::EnergyUj | Measure::EnergyDelay => None,
        }
    }

    /// Whether it is comparable with results of a workload.
    pub(super) fn is_about(&self, workload: &Workload) -> bool {
        self.kernel.as_ref().is_none_or(|kernel| *kernel == workload.kernel)
            && self.n.is_none_or(|n| n == workload.n)
            && self.modulus_bits.is_none_or(|bits| bits == workload.modulus_bits)
    }
}
