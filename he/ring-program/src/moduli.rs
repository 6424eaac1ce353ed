//! The table of moduli.

use ring::{Degree, Error};
use std::num::NonZeroU16;

/// The index of a modulus in the table of a program, from 1. Entry 0 is the [sentinel](SENTINEL).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModulusIndex(NonZeroU16);

impl ModulusIndex {
    /// The index, from 1.
    pub const fn get(self) -> usize {
        self.0.get() as usize
    }
}

/// Entry 0 of the table of moduli, which means "no modulus".
pub const SENTINEL: u128 = u64::MAX as u128;

/// The moduli of a program: distinct primes of at most 128 bits that are 1 mod 2n.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ModulusTable {
    values: Vec<u128>,
}

impl ModulusTable {
    /// The largest number of moduli, without the sentinel.
    pub const MAX: usize = u16::MAX as usize;

    /// A table with these moduli, which get the indices 1, 2, ..
    ///
    /// # Errors
    /// Returns an error if a modulus is invalid or a duplicate, or if there are too many.
    pub fn new(degree: Degree, moduli: impl IntoIterator<Item = u128>) -> Result<Self, ModulusFault> {
        let mut table = Self::default();
        moduli.into_iter().try_for_each(|modulus| table.push(degree, modulus).map(|_| ()))?;
        Ok(table)
    }

    /// Appends a modulus.
    ///
    /// # Errors
    /// Returns an error if the modulus is not a prime that is 1 mod 2n, or is in the table already,
    /// or if the table is full.
    pub fn push(&mut self, degree: Degree, modulus: u128) -> Result<ModulusIndex, ModulusFault> {
        if let Some(at) = self.values.iter().position(|&value| value == modulus) {
            return Err(ModulusFault::Duplicate { modulus, first: at + 1 });
        }
        ring::root::transform_modulus(modulus, degree).map_err(ModulusFault::Invalid)?;
        let index = u16::try_from(self.values.len() + 1).map_err(|_| ModulusFault::TooMany)?;
        self.values.push(modulus);
        Ok(ModulusIndex(NonZeroU16::new(index).expect("indices start at 1")))
    }

    /// The number of moduli, without the sentinel.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if there are no moduli but the sentinel.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The index `index` if the table has such an entry and it is not the sentinel.
    pub fn index(&self, index: u64) -> Option<ModulusIndex> {
        let index = NonZeroU16::new(u16::try_from(index).ok()?)?;
        (index.get() as usize <= self.values.len()).then_some(ModulusIndex(index))
    }

    /// The index of a modulus, if the table has it.
    pub fn find(&self, modulus: u128) -> Option<ModulusIndex> {
        self.index(self.values.iter().position(|&value| value == modulus)? as u64 + 1)
    }

    /// The modulus with an index.
    ///
    /// # Panics
    /// Panics if the index is of another table that has more entries.
    pub fn value(&self, index: ModulusIndex) -> u128 {
        self.values[index.get() - 1]
    }

    /// All indices and moduli, without the sentinel.
    pub fn iter(&self) -> impl Iterator<Item = (ModulusIndex, u128)> + '_ {
        let index = |at: usize| self.index(at as u64 + 1).expect("an entry of the table");
        self.values.iter().enumerate().map(move |(at, &value)| (index(at), value))
    }
}

/// An invalid modulus.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ModulusFault {
    /// The modulus is not a prime that is 1 mod 2n.
    #[error(transparent)]
    Invalid(Error),
    /// The table has the modulus already.
    #[error("duplicate modulus {modulus:#x}, the same as m[{first}]: moduli must be coprime")]
    Duplicate {
        /// The modulus.
        modulus: u128,
        /// The index of its first entry.
        first: usize,
    },
    /// The table is full.
    #[error("more than {} moduli", ModulusTable::MAX)]
    TooMany,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moduli_have_indices_from_1() {
        let (degree, primes) = (Degree::new(512).unwrap(), [12289, 40961]);
        let mut table = ModulusTable::default();
        assert!(table.is_empty());
        let indices = primes.map(|prime| table.push(degree, prime).unwrap());
        assert!(!table.is_empty());
        assert_eq!(indices.map(ModulusIndex::get), [1, 2]);
        assert_eq!(primes.map(|prime| table.find(prime)), indices.map(Some));
        assert_eq!(table.find(7681), None);
        assert_eq!(table.iter().collect::<Vec<_>>(), indices.into_iter().zip(primes).collect::<Vec<_>>());
    }
}
