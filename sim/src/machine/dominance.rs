//! The order of machines by speed.

use super::Machine;
use super::fit::Resources;
use super::keys::{LawOperands, VbarPaths};
use super::schema;
use super::table::{Effect, Faster, Key};
use toml::Value;

/// The keys that affect cycles by the access of the VDM only.
const OF_ACCESS: [&str; 2] = ["vdm.size_mib", "vdm.access_cycles"];

/// The properties of a machine that decide which programs it runs, and in how many cycles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Speed {
    /// The value of each key that affects cycles by itself, in the order of the table.
    values: Vec<Rank>,
    access_cycles: u32,
    /// Whether loads may use both ports of the VDM: on split paths, they have one.
    both_ports_are_shared: bool,
    paths_are_split: bool,
    resources: Resources,
    law_accepts_words: bool,
}

/// The value of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rank {
    /// A greater one is faster.
    Of(i64),
    /// A value without an order.
    Unordered(i64),
}

impl Machine {
    /// Its speed, comparable between machines.
    pub fn speed(&self) -> Speed {
        let values = self.resolved().to_value();
        let by_itself = |key: &&Key| key.effects.contains(&Effect::Cycles) && !OF_ACCESS.contains(&key.path);
        let keys = schema::keys().filter(by_itself);
        Speed {
            values: keys.map(|key| Rank::new(key, schema::value_at(&values, key.path))).collect(),
            access_cycles: self.vdm_access_cycles(),
            both_ports_are_shared: self.vbar.paths == VbarPaths::Shared && self.vdm.ports > 1,
            paths_are_split: self.vbar.paths == VbarPaths::Split,
            resources: self.resources(),
            law_accepts_words: self.law.operands == LawOperands::Word,
        }
    }

    /// See [`Speed::dominates`].
    pub fn dominates(&self, other: &Self) -> bool {
        self.speed().dominates(&other.speed())
    }
}

impl Speed {
    /// Whether a machine of this speed dominates the other: it runs every program of the other in no more
    /// cycles, VRF port conflicts aside. These depend on the cycle of each access, so that an earlier one can
    /// cost time.
    ///
    /// Each key has the same value or a [faster](Key::faster) one, and memories and instruction set are at
    /// least as large.
    pub fn dominates(&self, other: &Self) -> bool {
        let is_as_good = |(own, other): (&Rank, &Rank)| match (own, other) {
            (Rank::Of(own), Rank::Of(other)) => own >= other,
            (Rank::Unordered(own), Rank::Unordered(other)) => own == other,
            (Rank::Of(_), Rank::Unordered(_)) | (Rank::Unordered(_), Rank::Of(_)) => false,
        };
        self.values.iter().zip(&other.values).all(is_as_good)
            && self.access_cycles <= other.access_cycles
            && !(self.paths_are_split && other.both_ports_are_shared)
            && self.resources.include(&other.resources)
            && self.law_accepts_words >= other.law_accepts_words
    }
}

impl Rank {
    fn new(key: &Key, value: &Value) -> Self {
        let number =
            key.number(value).expect("a key that affects cycles is a whole number, a switch or a choice");
        match key.faster {
            Some(Faster::Larger) => Self::Of(number),
            Some(Faster::Smaller) => Self::Of(-number),
            None => Self::Unordered(number),
        }
    }
}
