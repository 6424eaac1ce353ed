//! The points of a sweep with their settings, in columns.
//!
//! A point takes its key, and four bytes for each column in which points differ. Everything else about it
//! follows from the definition, when it is needed.

use super::key::PointKey;
use super::parameter::Settings;
use super::workload::Workload;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// The points of a sweep, in order.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "Form")]
pub struct Points {
    keys: Vec<PointKey>,
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

    /// Adds a point with these settings.
    pub(super) fn push(&mut self, key: PointKey, settings: &[Code]) {
        let points = self.len();
        for (index, column) in self.columns.iter_mut().enumerate() {
            let setting = settings.iter().find(|code| code.column == index);
            column.push(points, setting.map_or(ABSENT, |code| code.value));
        }
        self.keys.push(key);
    }

    /// Gives back the memory that no point needs.
    pub(super) fn shrink(&mut self) {
        self.keys.shrink_to_fit();
        self.columns.iter_mut().for_each(|column| column.codes.shrink_to_fit());
    }

    /// The bytes that the points take, without the distinct values.
    pub fn bytes(&self) -> usize {
        let codes: usize = self.columns.iter().map(|column| column.codes.capacity() * size_of::<u32>()).sum();
        self.keys.capacity() * size_of::<PointKey>() + codes
    }

    /// The key of a point.
    pub fn key(&self, point: usize) -> PointKey {
        self.keys[point]
    }

    /// The keys, in order.
    pub fn keys(&self) -> &[PointKey] {
        &self.keys
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
    pub fn workload<'p>(&'p self, point: usize) -> Workload {
        let setting = |column: &'p Column| Some((column.name.as_str(), column.value(point)?));
        Workload::from_settings(self.columns.iter().filter_map(setting))
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
        self.keys == other.keys && self.have_settings_of(other)
    }
}

/// From the key of each point and the value of each of its columns.
impl FromIterator<(PointKey, Settings)> for Points {
    fn from_iter<I: IntoIterator<Item = (PointKey, Settings)>>(points: I) -> Self {
        let mut all = Self::default();
        for (key, settings) in points {
            let codes = all.codes(&settings);
            all.push(key, &codes);
        }
        all.shrink();
        all
    }
}

/// The form in `sweep.json`: the keys, and the distinct values of each setting with their numbers. A point of
/// a sweep takes some fifty bytes in it, however long its settings are.
impl Serialize for Points {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Points", 2)?;
        fields.serialize_field("keys", &self.keys)?;
        fields.serialize_field("columns", &Listed(self))?;
        fields.end()
    }
}

/// The columns, in the order of their names.
struct Listed<'p>(&'p Points);

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.in_order().map(ColumnForm::of))
    }
}

/// A column in `sweep.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnForm<'c> {
    name: Cow<'c, str>,
    /// The distinct values.
    values: Cow<'c, [Value]>,
    /// The number of each point's value; none if all points have the first one.
    #[serde(default, skip_serializing_if = "Codes::is_empty")]
    codes: Codes<'c>,
}

/// The numbers of values; `null` for a point without one.
#[derive(Default)]
struct Codes<'c>(Cow<'c, [u32]>);

impl Codes<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Codes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|&code| (code != ABSENT).then_some(code)))
    }
}

impl<'de> Deserialize<'de> for Codes<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let codes: Vec<Option<u32>> = Deserialize::deserialize(deserializer)?;
        Ok(Self(codes.into_iter().map(|code| code.unwrap_or(ABSENT)).collect()))
    }
}

impl<'c> ColumnForm<'c> {
    fn of(column: &'c Column) -> Self {
        let Column { name, values, numbers: _, codes } = column;
        Self { name: name.into(), values: values.into(), codes: Codes(codes.into()) }
    }

    /// The column of a number of points; the error says what is wrong with it.
    fn column(self, points: usize) -> Result<Column, String> {
        let Self { name, values, codes: Codes(codes) } = self;
        let known = |&code: &u32| code == ABSENT || (code as usize) < values.len();
        if !(codes.is_empty() || codes.len() == points) || !codes.iter().all(known) {
            return Err(format!("invalid codes in the column `{name}`"));
        }
        let numbers: HashMap<Value, u32> = values.iter().cloned().zip(0..).collect();
        if numbers.len() != values.len() || values.is_empty() && codes.is_empty() {
            return Err(format!("invalid values in the column `{name}`"));
        }
        let (name, values) = (name.into_owned(), values.into_owned());
        Ok(Column { name, values, numbers, codes: codes.into_owned() })
    }
}

/// The fields in `sweep.json`. Earlier versions wrote a list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "points in columns; the command of the sweep writes the file again")]
struct Form {
    keys: Vec<PointKey>,
    columns: Vec<ColumnForm<'static>>,
}

impl TryFrom<Form> for Points {
    type Error = String;

    fn try_from(Form { keys, columns }: Form) -> Result<Self, String> {
        let columns = columns.into_iter().map(|column| column.column(keys.len()));
        let columns: Vec<Column> = columns.collect::<Result<_, _>>()?;
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by(|&a, &b| columns[a].name.cmp(&columns[b].name));
        if order.windows(2).any(|pair| columns[pair[0]].name == columns[pair[1]].name) {
            return Err("two columns of one name".into());
        }
        let mut points = Self { keys, columns, order };
        points.shrink();
        Ok(points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn point(settings: Value) -> (PointKey, Settings) {
        let settings = settings.as_object().unwrap().clone();
        (PointKey::of(&settings), settings)
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
            let listed: Vec<_> = settings[first..].iter().cloned().map(point).collect();
            let points: Points = listed.iter().cloned().collect();
            let json = serde_json::to_string(&points).unwrap();
            let read: Points = serde_json::from_str(&json).unwrap();
            assert_eq!(read, points);
            assert!(!points.is_empty() && !json.contains("\"codes\":[]"), "{json}");
            for (i, (_, settings)) in listed.iter().enumerate() {
                assert_eq!(points.settings(i), *settings);
                let known = points.names().chain(["absent"]);
                known.for_each(|name| assert_eq!(points.value(i, name), settings.get(name)));
                assert_eq!(points.workload(i), Workload::of(settings));
            }
            let fewer: Points = listed[1..].iter().cloned().collect();
            assert_ne!(fewer, points);
        }
        assert!(Points::default().is_empty());
    }

    #[test]
    fn points_have_the_settings_of_others_in_their_order_whatever_their_keys() {
        let of = |settings: &[Value], key: &str| -> Points {
            let settings = settings.iter().cloned().map(point).map(|(_, settings)| settings);
            settings.enumerate().map(|(i, settings)| (PointKey::of(&(key, i)), settings)).collect()
        };
        let listed = [json!({ "n": 1024, "plan": "kl" }), json!({ "n": 2048, "plan": "best" })];
        let points = of(&listed, "a");
        assert!(points.have_settings_of(&of(&listed, "b")) && points != of(&listed, "b"));
        let [first, second] = listed;
        for others in [
            vec![first.clone()],
            vec![second.clone(), first.clone()],
            vec![first.clone(), json!({ "n": 2048, "plan": "kl" })],
            vec![first.clone(), json!({ "n": 2048, "plan": "best", "vdm.banks": 64 })],
            vec![json!({ "n": 1024, "machine": "kl" }), json!({ "n": 2048, "machine": "best" })],
        ] {
            assert!(!points.have_settings_of(&of(&others, "a")), "{others:?}");
            assert!(!of(&others, "a").have_settings_of(&points), "{others:?}");
        }
    }

    #[test]
    fn a_point_takes_some_fifty_bytes_in_a_file() {
        let listed = (0..10_000).map(|i| {
            let long = ["interleaved", "folded together by exclusive or"][i % 2];
            point(
                json!({ "kernel": "ntt", "n": 65536, "a": i % 7, "b": i / 7 % 30, "c": long, "d": i / 210 }),
            )
        });
        let points: Points = listed.collect();
        let json = serde_json::to_string(&points).unwrap();
        assert!(json.len() < 50 * points.len(), "{}", json.len());
    }

    #[test]
    fn broken_columns_are_errors() {
        let key = PointKey::of(&"a point").to_string();
        let read = |points: Value| serde_json::from_value::<Points>(points).map(|_| ());
        let with = |column: Value| json!({ "keys": [key, key], "columns": [column] });
        assert!(read(with(json!({ "name": "n", "values": [4] }))).is_ok());
        assert!(read(with(json!({ "name": "n", "values": [4, 8], "codes": [1, null] }))).is_ok());
        for wrong in [
            with(json!({ "name": "n", "values": [] })),
            with(json!({ "name": "n", "values": [4, 4], "codes": [0, 1] })),
            with(json!({ "name": "n", "values": [4], "codes": [0, 1] })),
            with(json!({ "name": "n", "values": [4], "codes": [0] })),
            json!({ "keys": [key], "columns": [{ "name": "n", "values": [4] }, { "name": "n", "values": [4] }] }),
            json!([{ "key": key, "settings": {} }]),
        ] {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
        let error = read(json!([])).unwrap_err().to_string();
        assert!(error.contains("the command of the sweep writes the file again"), "{error}");
    }

    /// The limit that the documentation of sweeps states.
    #[test]
    fn a_point_takes_its_key_and_four_bytes_for_each_axis() {
        let count: u32 = 20_000;
        let listed = (0..count).map(|i| {
            point(json!({ "kernel": "ntt", "n": 65536, "a": i % 7, "b": i / 7 % 30, "c": i / 210 }))
        });
        let points: Points = listed.collect();
        assert_eq!(points.bytes(), count as usize * (16 + 3 * 4));
        let read: Points = serde_json::from_str(&serde_json::to_string(&points).unwrap()).unwrap();
        assert_eq!(read.bytes(), points.bytes());
    }
}
