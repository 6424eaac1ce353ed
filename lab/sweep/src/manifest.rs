//! The manifest of a sweep's folder.

use super::front::Goals;
use super::key::PointKey;
use super::measure::{Costs, Measure};
use super::parameter::Settings;
use super::points::Points;
use super::workload::Workload;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;

/// The format of a sweep's folder. Up to format 2, records and manifests could have parts of searches that no
/// sweep makes now.
pub(super) const FORMAT: u32 = 3;

/// The maximum number of references of a sweep: a chart with more has no room for their labels.
pub(super) const MAX_REFERENCES: usize = 100;

/// The longest text of a chart, in bytes.
pub(super) const MAX_LABEL: usize = 1000;

/// The structure of a sweep, for users who have only its results.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the folder.
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
    /// Of an exploration, the key of its space: its points are those with a record, and `points` is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explored: Option<PointKey>,
    /// The objectives and constraints of an exploration; the fronts of other sweeps are those of time and
    /// area.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goals: Option<Goals>,
    /// The definition.
    pub source: Source,
    /// The points, in the order of the sweep.
    pub points: Points,
}

/// The text that defines a sweep.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Source {
    /// The file as the command line named it.
    pub file: String,
    /// Its folder, if the name does not say it: paths are bytes, names are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<OsString>,
    /// Its content.
    pub text: String,
    /// `key=value` of each key that the command line set, in order.
    pub changes: Vec<String>,
}

impl Manifest {
    /// Checks what charts show in a line each, as the reader of definitions does.
    pub(super) fn check_texts(&self) -> Result<(), String> {
        let labels = self.references.iter().map(|reference| &reference.label);
        let longest = labels.chain([&self.name, &self.title]).map(String::len).max().unwrap_or(0);
        match (self.references.len(), longest) {
            (number, _) if number > MAX_REFERENCES => Err(format!("more than {MAX_REFERENCES} references")),
            (_, longest) if longest > MAX_LABEL => Err(format!("a text of more than {MAX_LABEL} bytes")),
            _ => Ok(()),
        }
    }

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

    /// The keys of documents on which the fronts of all tasks depend.
    pub(super) fn keys(&self) -> Vec<Measure> {
        let has_stream = self.points.names().any(|name| name == "stream");
        let times = [Measure::TimeUs, Measure::StreamUs].into_iter().take(1 + usize::from(has_stream));
        match &self.goals {
            Some(goals) => goals.keys(),
            None => times.chain([Measure::AreaMm2]).collect(),
        }
    }

    /// Whether `other` has the same points and the same presentation; the file and its comments do
    /// not count.
    pub fn is_same_sweep(&self, other: &Self) -> bool {
        self.is_presented_as(other) && self.explored == other.explored && self.points == other.points
    }

    /// Whether `other` has the same presentation. Keys depend on the version of the models, so they do not
    /// count.
    pub(super) fn is_presented_as(&self, other: &Self) -> bool {
        let Self { schema, name, title, columns, varying, references, explored, goals, source: _, points: _ } =
            self;
        (schema, name, title, columns, varying)
            == (&other.schema, &other.name, &other.title, &other.columns, &other.varying)
            && (references, goals) == (&other.references, &other.goals)
            && explored.is_some() == other.explored.is_some()
    }
}

/// A published result, shown beside the sweep's.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reference {
    /// Description and source.
    pub label: String,
    /// Its kernel; `None` for the kernel of the sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Its ring degree; `None` means the sweep's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Its modulus size; `None` means the sweep's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modulus_bits: Option<u64>,
    /// What is published: measures by their columns. Charts of others leave it out.
    #[serde(flatten, deserialize_with = "positive")]
    pub values: BTreeMap<String, f64>,
}

/// Finite numbers above 0, by the columns of measures.
fn positive<'de, D: Deserializer<'de>>(values: D) -> Result<BTreeMap<String, f64>, D::Error> {
    let values = BTreeMap::<String, f64>::deserialize(values)?;
    for (column, &number) in &values {
        if Measure::find(column).is_none() {
            return Err(D::Error::custom(format_args!("`{column}` is no measure")));
        }
        if !(number.is_finite() && number > 0.0) {
            return Err(D::Error::custom(format_args!(
                "invalid value {number}: it must be a number above 0"
            )));
        }
    }
    Ok(values)
}

impl Reference {
    /// Its value of a measure, if it is published or follows from what is.
    pub(super) fn value(&self, measure: Measure) -> Option<f64> {
        let mut costs = Costs::UNKNOWN;
        for (column, &value) in &self.values {
            Measure::find(column).into_iter().for_each(|measure| costs.set(measure, value));
        }
        let own = self.values.get(measure.name()).copied();
        own.or_else(|| Some(measure.of(&costs))).filter(|value| value.is_finite())
    }

    /// Whether it is comparable with results of a workload.
    pub(super) fn is_about(&self, workload: &Workload) -> bool {
        self.kernel.as_ref().is_none_or(|kernel| *kernel == workload.kernel)
            && self.n.is_none_or(|n| n == workload.n)
            && self.modulus_bits.is_none_or(|bits| bits == workload.modulus_bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reference(value: serde_json::Value) -> Result<Reference, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// The manifest of one point.
    fn manifest(settings: serde_json::Value) -> Manifest {
        let settings = settings.as_object().unwrap().clone();
        let names: Vec<String> = settings.keys().cloned().collect();
        Manifest {
            schema: FORMAT,
            name: "test".into(),
            title: "title".into(),
            columns: names.clone(),
            varying: names,
            references: Vec::new(),
            explored: None,
            goals: None,
            source: Source { file: "test.toml".into(), ..Source::default() },
            points: [(PointKey::of(&settings), settings)].into_iter().collect(),
        }
    }

    #[test]
    fn a_reference_is_about_workloads_that_it_does_not_exclude() {
        let workload = Workload::of(&Settings::from_iter([
            ("kernel".to_owned(), json!("add")),
            ("n".to_owned(), json!(512)),
            ("modulus_bits".to_owned(), json!(60)),
        ]));
        for (about, is_about) in [
            (json!({ "label": "a" }), true),
            (json!({ "label": "a", "kernel": "add", "n": 512, "modulus_bits": 60 }), true),
            (json!({ "label": "a", "kernel": "sub", "n": 512, "modulus_bits": 60 }), false),
            (json!({ "label": "a", "kernel": "add", "n": 1024, "modulus_bits": 60 }), false),
            (json!({ "label": "a", "kernel": "add", "n": 512, "modulus_bits": 61 }), false),
        ] {
            assert_eq!(reference(about.clone()).unwrap().is_about(&workload), is_about, "{about}");
        }
    }

    #[test]
    fn published_values_are_measures_above_0() {
        let error = |column: &str, value: f64| reference(json!({ "label": "a", column: value })).unwrap_err();
        assert!(reference(json!({ "label": "a", "time_us": 0.001 })).is_ok());
        assert!(error("colour", 1.0).contains("`colour` is no measure"));
        for wrong in [0.0, -1.0] {
            assert!(error("time_us", wrong).contains("it must be a number above 0"), "{wrong}");
        }
    }

    #[test]
    fn texts_and_references_have_limits() {
        let with = |label: usize, references: usize| {
            let one = reference(json!({ "label": "a".repeat(label) })).unwrap();
            Manifest { references: vec![one; references], ..manifest(json!({ "kernel": "add" })) }
                .check_texts()
        };
        assert_eq!(with(MAX_LABEL, 1), Ok(()));
        assert!(with(MAX_LABEL + 1, 1).unwrap_err().starts_with("a text of more than"));
        assert_eq!(with(1, MAX_REFERENCES), Ok(()));
        assert!(with(1, MAX_REFERENCES + 1).unwrap_err().starts_with("more than"));
    }

    #[test]
    fn fronts_need_the_time_of_a_stream_only_if_there_is_one() {
        let without = manifest(json!({ "kernel": "add" }));
        assert_eq!(without.keys(), [Measure::TimeUs, Measure::AreaMm2]);
        let with = manifest(json!({ "kernel": "add", "stream": 8 }));
        assert_eq!(with.keys(), [Measure::TimeUs, Measure::StreamUs, Measure::AreaMm2]);
    }

    #[test]
    fn a_presentation_is_all_but_the_definition_and_the_points() {
        let one = manifest(json!({ "hple.count": 32 }));
        let source = Source { file: "other".into(), ..one.source.clone() };
        assert!(one.is_presented_as(&Manifest { source, points: Points::default(), ..one.clone() }));
        for other in [
            Manifest { schema: 1, ..one.clone() },
            Manifest { name: "other".into(), ..one.clone() },
            Manifest { title: "other".into(), ..one.clone() },
            Manifest { columns: Vec::new(), ..one.clone() },
            Manifest { varying: Vec::new(), ..one.clone() },
            Manifest { references: vec![reference(json!({ "label": "a" })).unwrap()], ..one.clone() },
            Manifest { explored: Some(one.points.key(0)), ..one.clone() },
            Manifest { goals: Some(Goals::of_sweep(Measure::TimeUs)), ..one.clone() },
        ] {
            assert!(!one.is_presented_as(&other) && !one.is_same_sweep(&other), "{other:?}");
        }
    }
}
