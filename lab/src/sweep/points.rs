//! The points of a sweep with their settings, in columns.
//!
//! A point takes its key, and four bytes for each column in which points differ. Everything else about it
//! follows from the definition, when it is needed.

use super::key::PointKey;
use super::manifest::{Settings, Workload};
use serde::de::SeqAccess;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;

/// The points of a sweep, in order.
#[derive(Clone, Debug, Default)]
pub struct Points {
    keys: Vec<PointKey>,
    /// The keys of the points that represent each point on the rungs of a halving, point by point.
    rungs: Vec<PointKey>,
    columns: Vec<Column>,
    /// The columns in the order of their names.
    order: Vec<usize>,
}

/// The values of a setting.
#[derive(Clone, Debug)]
struct Column {
    name: String,
    /// The distinct values.
    values: Vec<Value>,
    /// The number of each value.
    numbers: HashMap<Value, u32>,
    /// The number of each point's value; empty if all points have the first one.
    codes: Vec<u32>,
}

/// A value of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Code {
    column: usize,
    value: u32,
}

/// The number of a value that a point lacks.
const ABSENT: u32 = u32::MAX;

impl Column {
    fn value(&self, point: usize) -> Option<&Value> {
        self.values.get(self.codes.get(point).copied().unwrap_or(0) as usize)
    }

    /// Adds the value of the point after the first `points` ones.
    fn push(&mut self, points: usize, code: u32) {
        if self.codes.is_empty() {
            if code == 0 {
                return;
            }
            self.codes = vec![0; points];
        }
        self.codes.push(code);
    }
}

/// One point of a manifest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ManifestPoint {
    /// The point's key.
    pub key: PointKey,
    /// The value of each column.
    pub settings: Settings,
    /// The keys of the points that represent this one on the rungs of the halving.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rungs: Vec<PointKey>,
}

impl Points {
    /// The number of points.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The code of a value, which later points may have.
    pub(super) fn code(&mut self, name: &str, value: &Value) -> Code {
        let known = self.columns.iter().position(|column| column.name == name);
        let column = known.unwrap_or_else(|| {
            let codes = vec![ABSENT; self.len()];
            let (values, numbers) = (Vec::new(), HashMap::new());
            self.columns.push(Column { name: name.to_owned(), values, numbers, codes });
            let at = self.order.partition_point(|&column| self.columns[column].name.as_str() < name);
            self.order.insert(at, self.columns.len() - 1);
            self.columns.len() - 1
        });
        let Column { values, numbers, .. } = &mut self.columns[column];
        let next = values.len() as u32;
        let value = *numbers.entry(value.clone()).or_insert_with_key(|value| {
            values.push(value.clone());
            next
        });
        Code { column, value }
    }

    /// The codes of some settings.
    pub(super) fn codes(&mut self, settings: &Settings) -> Vec<Code> {
        settings.iter().map(|(name, value)| self.code(name, value)).collect()
    }

    /// Adds a point with these settings. All points have as many rungs.
    pub(super) fn push(&mut self, key: PointKey, rungs: &[PointKey], settings: &[Code]) {
        let points = self.len();
        for (index, column) in self.columns.iter_mut().enumerate() {
            let setting = settings.iter().find(|code| code.column == index);
            column.push(points, setting.map_or(ABSENT, |code| code.value));
        }
        self.keys.push(key);
        self.rungs.extend(rungs);
    }

    /// Gives back the memory that no point needs.
    pub(super) fn shrink(&mut self) {
        self.keys.shrink_to_fit();
        self.rungs.shrink_to_fit();
        self.columns.iter_mut().for_each(|column| column.codes.shrink_to_fit());
    }

    /// The bytes that the points take, without the distinct values.
    pub fn bytes(&self) -> usize {
        let codes: usize = self.columns.iter().map(|column| column.codes.capacity() * size_of::<u32>()).sum();
        (self.keys.capacity() + self.rungs.capacity()) * size_of::<PointKey>() + codes
    }

    /// The key of a point.
    pub fn key(&self, point: usize) -> PointKey {
        self.keys[point]
    }

    /// The keys, in order.
    pub fn keys(&self) -> &[PointKey] {
        &self.keys
    }

    /// The keys that represent a point on the rungs of a halving.
    pub(super) fn rungs(&self, point: usize) -> &[PointKey] {
        let each = self.rungs.len().checked_div(self.len()).unwrap_or(0);
        &self.rungs[point * each..(point + 1) * each]
    }

    /// A setting of a point.
    pub(super) fn value(&self, point: usize, name: &str) -> Option<&Value> {
        self.columns.iter().find(|column| column.name == name)?.value(point)
    }

    /// The names of all settings, in their order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.in_order().map(|column| column.name.as_str())
    }

    fn in_order(&self) -> impl Iterator<Item = &Column> {
        self.order.iter().map(|&column| &self.columns[column])
    }

    /// The settings of a point.
    pub fn settings(&self, point: usize) -> Settings {
        let setting = |column: &Column| Some((column.name.clone(), column.value(point)?.clone()));
        self.columns.iter().filter_map(setting).collect()
    }

    /// The task of a point.
    pub fn workload(&self, point: usize) -> Workload {
        Workload::from_settings(|name| self.value(point, name))
    }

    /// Whether any setting of a point is `wanted`.
    pub(super) fn any_setting(&self, point: usize, wanted: impl Fn(&str, &Value) -> bool) -> bool {
        let is_wanted =
            |column: &Column| column.value(point).is_some_and(|value| wanted(&column.name, value));
        self.columns.iter().any(is_wanted)
    }

    /// Whether `other` has the same settings, in the same order; keys do not count.
    pub(super) fn have_settings_of(&self, other: &Self) -> bool {
        let same_column = |column: &Column| {
            let of_other = other.columns.iter().find(|of_other| of_other.name == column.name);
            let value = |point| of_other.and_then(|of_other| of_other.value(point));
            (0..self.len()).all(|point| column.value(point) == value(point))
        };
        let names = |points: &Self| -> Vec<String> { points.names().map(str::to_owned).collect() };
        self.len() == other.len() && names(self) == names(other) && self.columns.iter().all(same_column)
    }
}

impl PartialEq for Points {
    fn eq(&self, other: &Self) -> bool {
        self.keys == other.keys && self.rungs == other.rungs && self.have_settings_of(other)
    }
}

impl FromIterator<ManifestPoint> for Points {
    fn from_iter<I: IntoIterator<Item = ManifestPoint>>(points: I) -> Self {
        let mut all = Self::default();
        for ManifestPoint { key, settings, rungs } in points {
            let codes = all.codes(&settings);
            all.push(key, &rungs, &codes);
        }
        all.shrink();
        all
    }
}

/// A list of [`ManifestPoint`]s, none of which is made.
impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.len()).map(|index| Row { points: self, index }))
    }
}

/// A [`ManifestPoint`] in its columns.
struct Row<'p> {
    points: &'p Points,
    index: usize,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { points, index } = *self;
        let rungs = points.rungs(index);
        let mut row = serializer.serialize_struct("ManifestPoint", 2 + usize::from(!rungs.is_empty()))?;
        row.serialize_field("key", &points.key(index))?;
        row.serialize_field("settings", &RowSettings { points, index })?;
        if !rungs.is_empty() {
            row.serialize_field("rungs", rungs)?;
        }
        row.end()
    }
}

struct RowSettings<'p> {
    points: &'p Points,
    index: usize,
}

impl Serialize for RowSettings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let settings = self.points.in_order().map(|column| (&column.name, column.value(self.index)));
        serializer.collect_map(settings.filter_map(|(name, value)| Some((name, value?))))
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Points;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of points")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Points, A::Error> {
                let mut points = Points::default();
                let mut rungs = None;
                while let Some(point) = list.next_element::<ManifestPoint>()? {
                    if *rungs.get_or_insert(point.rungs.len()) != point.rungs.len() {
                        return Err(serde::de::Error::custom("points with different numbers of rungs"));
                    }
                    let codes = points.codes(&point.settings);
                    points.push(point.key, &point.rungs, &codes);
                }
                points.shrink();
                Ok(points)
            }
        }

        deserializer.deserialize_seq(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn point(settings: Value, rungs: &[&str]) -> ManifestPoint {
        let settings = settings.as_object().unwrap().clone();
        let rungs = rungs.iter().map(PointKey::of).collect();
        ManifestPoint { key: PointKey::of(&settings), settings, rungs }
    }

    #[test]
    fn points_come_back_as_they_were() {
        let settings = [
            json!({ "n": 1024 }),
            json!({ "n": 1024, "hple.count": 64 }),
            json!({ "n": 2048 }),
            json!({ "n": 1024, "hple.count": 32, "plan": "best" }),
        ];
        for first in 0..settings.len() {
            let listed: Vec<ManifestPoint> = settings[first..]
                .iter()
                .enumerate()
                .map(|(i, settings)| point(settings.clone(), &[["a", "b", "c", "d"][i], "z"]))
                .collect();
            let points: Points = listed.iter().cloned().collect();
            let json = serde_json::to_string(&points).unwrap();
            assert_eq!(json, serde_json::to_string(&listed).unwrap());
            let read: Points = serde_json::from_str(&json).unwrap();
            assert_eq!(read, points);
            for (i, point) in listed.iter().enumerate() {
                assert_eq!(points.settings(i), point.settings);
                assert_eq!(points.rungs(i), point.rungs);
                assert_eq!(points.workload(i), Workload::of(&point.settings));
            }
            let fewer: Points = listed[1..].iter().cloned().collect();
            assert_ne!(fewer, points);
        }
    }

    /// The limit that the documentation of sweeps states.
    #[test]
    fn a_point_takes_its_key_and_four_bytes_for_each_axis() {
        let count: u32 = 20_000;
        let listed = (0..count).map(|i| {
            point(json!({ "kernel": "ntt", "n": 65536, "a": i % 7, "b": i / 7 % 30, "c": i / 210 }), &[])
        });
        let points: Points = listed.collect();
        assert_eq!(points.bytes(), count as usize * (16 + 3 * 4));
    }
}
