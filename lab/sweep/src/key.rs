//! The key of a point.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The key of a point: BLAKE3, shortened to 128 bits, of everything that determines its result.
///
/// Its text is 32 hexadecimal digits. A text is never part of a path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointKey([u8; 16]);

/// Text that is not a key.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("invalid key: expected 32 hexadecimal digits")]
pub struct PointKeyError;

impl PointKey {
    /// The key of plain data.
    pub(super) fn of(value: &impl Serialize) -> Self {
        Self::of_bytes(&serde_json::to_vec(value).expect("plain data becomes JSON"))
    }

    /// The key of a sequence of keys.
    pub(super) fn of_all(keys: &[Self]) -> Self {
        let mut hasher = blake3::Hasher::new();
        keys.iter().for_each(|key| _ = hasher.update(&key.0));
        Self::of_hash(&hasher.finalize())
    }

    /// The key of some bytes.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self::of_hash(&blake3::hash(bytes))
    }

    /// The key of what has this hash.
    pub(super) fn of_hash(hash: &blake3::Hash) -> Self {
        let mut key = [0; 16];
        key.copy_from_slice(&hash.as_bytes()[..16]);
        Self(key)
    }
}

impl PointKey {
    /// The last 64 bits, as evenly distributed as the hash.
    pub(super) const fn number(self) -> u64 {
        u128::from_be_bytes(self.0) as u64
    }
}

impl fmt::Display for PointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for PointKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PointKey {
    type Err = PointKeyError;

    fn from_str(text: &str) -> Result<Self, PointKeyError> {
        // The standard library would accept a sign and capital letters.
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 32 || !text.bytes().all(is_digit) {
            return Err(PointKeyError);
        }
        let number = u128::from_str_radix(text, 16).map_err(|_| PointKeyError)?;
        Ok(Self(number.to_be_bytes()))
    }
}

impl Serialize for PointKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PointKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl serde::de::Visitor<'_> for Visitor {
            type Value = PointKey;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("32 hexadecimal digits")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<PointKey, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_one_text() {
        let key = PointKey::of(&"a point");
        assert_eq!(key.to_string().parse(), Ok(key));
        assert_eq!(format!("{key:?}"), key.to_string());
        assert_eq!(serde_json::from_str::<PointKey>(&serde_json::to_string(&key).unwrap()).unwrap(), key);
        let text = key.to_string();
        assert_eq!(key.number(), u64::from_str_radix(&text[16..], 16).unwrap());
        for wrong in ["", "../x", &text[1..], &text.to_uppercase(), &format!("+{}", &text[1..])] {
            assert_eq!(wrong.parse::<PointKey>(), Err(PointKeyError), "{wrong}");
        }
        let error = serde_json::from_str::<PointKey>("5").unwrap_err().to_string();
        assert!(error.contains("expected 32 hexadecimal digits"), "{error}");
    }
}
