//! Limbs: residue polynomials that a program names with numbers.

use rustc_hash::FxHashMap;
use std::fmt;

/// The number of a limb in text, as in `%7`: any number of 64 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LimbId(pub u64);

impl fmt::Display for LimbId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// A limb of one program: an index below [`LimbTable::len`], so that a vector can hold a value for
/// each limb.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Limb(u32);

impl Limb {
    /// The index among the limbs of the program.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The ids of a program's limbs, in the order of their first mention.
#[derive(Clone, Default, Debug)]
pub struct LimbTable {
    ids: Vec<LimbId>,
    /// For small ids: the limb plus 1, or 0 for none. Real programs number limbs from 0 or 1.
    small: Vec<u32>,
    large: FxHashMap<LimbId, Limb>,
}

impl LimbTable {
    /// Ids below this number are found without hashing.
    const SMALL: u64 = 1 << 22;

    /// The number of limbs.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True if there are no limbs.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The limbs, in the order of their first mention.
    pub fn iter(&self) -> impl Iterator<Item = Limb> + use<> {
        (0..self.ids.len() as u32).map(Limb)
    }

    /// The id of `limb`.
    ///
    /// # Panics
    /// Panics if `limb` is of another program that has more limbs.
    pub fn id(&self, limb: Limb) -> LimbId {
        self.ids[limb.index()]
    }

    /// The limb with `id`, if the program mentions it.
    pub fn find(&self, id: LimbId) -> Option<Limb> {
        if id.0 < Self::SMALL {
            let entry = self.small.get(id.0 as usize).copied().unwrap_or(0);
            return entry.checked_sub(1).map(Limb);
        }
        self.large.get(&id).copied()
    }

    /// The limb with `id`, new if there is none.
    ///
    /// # Panics
    /// Panics beyond 2^32 - 2 limbs.
    pub fn intern(&mut self, id: LimbId) -> Limb {
        if let Some(limb) = self.find(id) {
            return limb;
        }
        assert!(self.ids.len() < u32::MAX as usize - 1, "too many limbs");
        let limb = Limb(self.ids.len() as u32);
        self.ids.push(id);
        if id.0 < Self::SMALL {
            let index = id.0 as usize;
            if self.small.len() <= index {
                self.small.resize(index + 1, 0);
            }
            self.small[index] = limb.0 + 1;
        } else {
            self.large.insert(id, limb);
        }
        limb
    }
}

impl PartialEq for LimbTable {
    fn eq(&self, other: &Self) -> bool {
        self.ids == other.ids
    }
}

impl Eq for LimbTable {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_all_sizes_are_found_again() {
        let mut table = LimbTable::default();
        assert!(table.is_empty());
        let ids = [7, 0, LimbTable::SMALL - 1, LimbTable::SMALL, u64::MAX, 1].map(LimbId);
        let limbs = ids.map(|id| table.intern(id));
        assert_eq!(limbs.map(Limb::index), [0, 1, 2, 3, 4, 5]);
        assert_eq!(ids.map(|id| table.intern(id)), limbs);
        assert_eq!(limbs.map(|limb| table.id(limb)), ids);
        assert_eq!(table.find(LimbId(2)), None);
        assert_eq!(table.find(LimbId(1 << 40)), None);
        assert!(!table.is_empty());
        let same = table.clone();
        assert_eq!(table, same);
        table.intern(LimbId(2));
        assert_ne!(table, same);
    }
}
