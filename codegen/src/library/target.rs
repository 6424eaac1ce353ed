//! The machines for which a library holds recipes.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sim::Machine;
use sim::machine::table::{Distance, Key, Recipes};
use sim::machine::{Assignment, keys};
use std::sync::LazyLock;
use toml::{Table, Value};

/// The properties of a machine that decide which recipe is fast on it: the values of the keys whose row in
/// the table of keys says so. By default those of the paper's machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Target(Vec<Value>);

/// A key of a target.
struct Property {
    key: &'static Key,
    recipes: Recipes,
}

static PROPERTIES: LazyLock<Vec<Property>> =
    LazyLock::new(|| keys().filter_map(|key| Some(Property { key, recipes: key.recipes? })).collect());

static PAPER: LazyLock<Machine> = LazyLock::new(Machine::rpu_128x128);

/// The most units that count.
const MOST_UNITS: u64 = 16;

impl Default for Target {
    fn default() -> Self {
        Self::of(&PAPER)
    }
}

impl Target {
    /// The target of a machine.
    pub fn of(machine: &Machine) -> Self {
        // Recipes depend on the cycles of an access to the VDM, which may follow from its size.
        let machine = machine.resolved();
        Self(PROPERTIES.iter().map(|Property { key, .. }| key.value(&machine)).collect())
    }

    /// The paper's machine with this target's properties.
    pub fn machine(&self) -> Machine {
        self.obeyed().expect("a target obeys the rules over several keys")
    }

    /// The paper's machine with this target's properties; `None` if they break a rule over several keys.
    fn obeyed(&self) -> Option<Machine> {
        let assignments: Option<Vec<_>> =
            self.properties().map(|(key, _, value)| Assignment::new(key.path, value.clone())).collect();
        PAPER.with(&assignments?)
    }

    /// Its keys with their names in the files of a library, and their values, in the order of the table.
    pub fn properties(&self) -> impl Iterator<Item = (&'static Key, &'static str, &Value)> {
        PROPERTIES.iter().zip(&self.0).map(|(Property { key, recipes }, value)| (*key, recipes.name, value))
    }

    /// The properties that differ from those of the paper's machine.
    pub fn unusual(&self) -> impl Iterator<Item = (&'static Key, &'static str, &Value)> {
        let usual = Self::default();
        self.properties().zip(usual.0).filter(|((_, _, own), usual)| *own != usual).map(|(own, _)| own)
    }

    /// The dissimilarity of two targets. The vector length weighs most, since plans depend on it. Next comes
    /// the ratio of banks to HPLEs: it decides whether memory or arithmetic is the bottleneck.
    pub(super) fn distance(&self, other: &Self) -> u32 {
        let of = |(property, (own, others)): (&Property, (&Value, &Value))| {
            let number = |value: &Value| value.as_integer().unwrap_or_default();
            let doublings = |value: &Value| number(value).max(1).ilog2() as i32;
            match property.recipes.distance {
                Distance::Another(weight) => weight * u32::from(own != others),
                Distance::Units(weight) => {
                    weight * number(own).abs_diff(number(others)).min(MOST_UNITS) as u32
                }
                Distance::Doublings(weight) => weight * doublings(own).abs_diff(doublings(others)),
                Distance::DoublingsPer(base, weight) => {
                    let place = PROPERTIES.iter().position(|property| property.key.path == base);
                    let place = place.expect("recipes depend on the key that the row names");
                    let ratio = |value, target: &Self| doublings(value) - doublings(&target.0[place]);
                    weight * ratio(own, self).abs_diff(ratio(others, other))
                }
            }
        };
        PROPERTIES.iter().zip(self.0.iter().zip(&other.0)).map(of).sum()
    }

    /// The inline table of its file: what differs from the paper's machine.
    pub(super) fn to_toml(&self) -> Value {
        let unusual = self.unusual().map(|(_, name, value)| (name.to_owned(), value.clone()));
        Value::Table(unusual.collect())
    }

    /// The JSON schema of that table.
    pub(super) fn schema() -> serde_json::Value {
        let property = |Property { key, recipes }: &Property| {
            let mut schema = key.kind.schema();
            schema["description"] = format!("`{}`.", key.path).into();
            (recipes.name.to_owned(), schema)
        };
        let properties: serde_json::Map<String, serde_json::Value> =
            PROPERTIES.iter().map(property).collect();
        serde_json::json!({
            "type": "object",
            "description": "The properties of a machine that decide which recipe is fast on it; the others, and those left \
                out, are those of rpu-128x128.",
            "additionalProperties": false,
            "properties": properties,
        })
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_toml().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut target = Self::default();
        for (name, value) in Table::deserialize(deserializer)? {
            let place = PROPERTIES.iter().position(|property| property.recipes.name == name);
            let place = place.ok_or_else(|| D::Error::custom(format!("a target has no `{name}`")))?;
            let kind = PROPERTIES[place].key.kind;
            if !kind.allows(&value) {
                let message = format!("invalid value `{value}` for `{name}`: it must be {}", kind.describe());
                return Err(D::Error::custom(message));
            }
            target.0[place] = value;
        }
        let obeys = target.obeyed().is_some();
        obeys.then_some(target).ok_or_else(|| D::Error::custom("a target breaks a rule over several keys"))
    }
}
