//! Values of each pipe in documents: maps with the names of the pipes.

use b512_asm::{PerPipe, Pipe};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error};
use serde::ser::{Serialize, Serializer};
use std::collections::BTreeMap;

/// Instructions by pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Instructions {
    /// The instructions of each pipe.
    pub pipes: PerPipe<u64>,
}

impl Instructions {
    /// All instructions.
    pub fn total(&self) -> u64 {
        self.pipes.values().sum()
    }
}

/// The share of the cycles for which each pipe with a queue was occupied, from 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Utilisation {
    /// The share of each pipe. Documents leave out pipes without a queue.
    pub pipes: PerPipe<f64>,
}

/// Cycles for which instructions waited, or took longer, after their dispatch. They overlap. The stalls
/// contain their effect on the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    /// Cycles for which the next instruction of each pipe waited for ports of the register file.
    /// Documents leave out pipes without a queue.
    pub vrf_ports: PerPipe<u64>,
    /// Cycles that loads and stores took longer because of bank conflicts.
    pub bank_conflict_cycles: u64,
}

/// The key of the wait of a pipe for ports of the register file.
pub(super) fn vrf_ports_key(pipe: Pipe) -> String {
    format!("vrf_ports_{}_cycles", pipe.name())
}

const TOTAL: &str = "total";
const BANK_CONFLICTS: &str = "bank_conflict_cycles";

impl Serialize for Instructions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pipes = self.pipes.iter().map(|(pipe, &count)| (pipe.name(), count));
        serializer.collect_map(pipes.chain([(TOTAL, self.total())]))
    }
}

impl<'de> Deserialize<'de> for Instructions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::<u64>::deserialize(deserializer)?;
        let pipes: PerPipe<u64> = map.of_each(&Pipe::ALL, |pipe| pipe.name().into())?;
        let sum = pipes.values().try_fold(0_u64, |sum, &count| sum.checked_add(count));
        if sum != Some(map.get(TOTAL)?) {
            return Err(D::Error::custom(format_args!("`{TOTAL}` is not the sum of the pipes")));
        }
        Ok(Self { pipes })
    }
}

impl Serialize for Utilisation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(Pipe::VECTOR.map(|pipe| (pipe.name(), self.pipes[pipe])))
    }
}

impl<'de> Deserialize<'de> for Utilisation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::<f64>::deserialize(deserializer)?;
        Ok(Self { pipes: map.of_each(&Pipe::VECTOR, |pipe| pipe.name().into())? })
    }
}

impl Serialize for Waits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ports = Pipe::VECTOR.map(|pipe| (vrf_ports_key(pipe), self.vrf_ports[pipe]));
        serializer.collect_map(ports.into_iter().chain([(BANK_CONFLICTS.into(), self.bank_conflict_cycles)]))
    }
}

impl<'de> Deserialize<'de> for Waits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::<u64>::deserialize(deserializer)?;
        let vrf_ports = map.of_each(&Pipe::VECTOR, vrf_ports_key)?;
        Ok(Self { vrf_ports, bank_conflict_cycles: map.get(BANK_CONFLICTS)? })
    }
}

/// The numbers of a document's map by their keys.
struct Map<T>(BTreeMap<String, T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Map<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(Self)
    }
}

impl<T: Copy + Default> Map<T> {
    fn get<E: Error>(&self, key: &str) -> Result<T, E> {
        self.0.get(key).copied().ok_or_else(|| E::custom(format_args!("missing field `{key}`")))
    }

    /// The values of some pipes; every other pipe has the default.
    fn of_each<E: Error>(&self, pipes: &[Pipe], key: impl Fn(Pipe) -> String) -> Result<PerPipe<T>, E> {
        let mut values = PerPipe::default();
        for &pipe in pipes {
            values[pipe] = self.get(&key(pipe))?;
        }
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, json: &str) {
        assert_eq!(serde_json::to_string(value).unwrap(), json);
        assert_eq!(serde_json::from_str::<T>(json).unwrap(), *value);
    }

    #[test]
    fn documents_name_the_pipes() {
        let pipes = PerPipe::from_fn(|pipe| pipe.index() as u64 + 1);
        let json = r#"{"load_store":1,"compute":2,"shuffle":3,"scalar":4,"total":10}"#;
        round_trip(&Instructions { pipes }, json);
        let other = json.replace("10", "11");
        let too_many = json.replace("10", "9").replace(":1,", ":18446744073709551615,");
        for text in [other, too_many] {
            let error = serde_json::from_str::<Instructions>(&text).unwrap_err().to_string();
            assert!(error.starts_with("`total` is not the sum of the pipes"), "{error}");
        }
        let mut shares = pipes.map(|count| count as f64 / 8.0);
        shares[Pipe::Scalar] = 0.0;
        round_trip(&Utilisation { pipes: shares }, r#"{"load_store":0.125,"compute":0.25,"shuffle":0.375}"#);
        let mut vrf_ports = pipes;
        vrf_ports[Pipe::Scalar] = 0;
        round_trip(
            &Waits { vrf_ports, bank_conflict_cycles: 9 },
            r#"{"vrf_ports_load_store_cycles":1,"vrf_ports_compute_cycles":2,"vrf_ports_shuffle_cycles":3,"bank_conflict_cycles":9}"#,
        );
        let error = serde_json::from_str::<Utilisation>(r#"{"load_store":0.5}"#).unwrap_err();
        assert!(error.to_string().starts_with("missing field `compute`"), "{error}");
    }
}
