//! Parts of a sweep, for several processes.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A part of a sweep: every N-th point, starting with the K-th.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    number: usize,
    of: usize,
}

/// Invalid text of a shard.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("invalid shard `{0}`: write K/N with K from 1 to N, for example 1/4")]
pub struct ShardError(String);

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// The `count` parts of a sweep, in order.
    pub fn all(count: usize) -> impl Iterator<Item = Self> {
        (1..=count).map(move |number| Self { number, of: count })
    }

    /// Its number, from 1.
    pub const fn number(self) -> usize {
        self.number
    }

    /// Whether the shard contains the point with this index.
    pub const fn has(self, index: usize) -> bool {
        index % self.of == self.number - 1
    }

    /// The name of its journal in the sweep's folder.
    pub fn journal(self) -> String {
        if self == Self::WHOLE {
            "journal.jsonl".into()
        } else {
            format!("journal-{}-of-{}.jsonl", self.number, self.of)
        }
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let number = |text: &str| diagnostic::number(text.as_bytes()).ok()?.try_into().ok();
        let parts = text.split_once('/').and_then(|(k, n)| Some((number(k)?, number(n)?)));
        match parts {
            Some((number, of)) if number >= 1 && number <= of => Ok(Self { number, of }),
            _ => Err(ShardError(text.into())),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_have_each_point_once() {
        let shards: Vec<Shard> = ["1/3", "2/3", "3/3"].map(|text| text.parse().unwrap()).into();
        assert!(Shard::all(3).eq(shards.iter().copied()));
        for index in 0..20 {
            assert_eq!(shards.iter().filter(|shard| shard.has(index)).count(), 1);
        }
        for wrong in ["0/3", "4/3", "1", "a/b", "", "+1/3", "01/3"] {
            assert!(wrong.parse::<Shard>().is_err());
        }
    }
}
