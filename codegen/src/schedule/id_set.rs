//! Sets of instructions in program order.

use crate::code::InstId;

/// A set of the instructions of one code, in program order.
///
/// A bit per instruction, and above it a bit per word with a member: the next member of a set is two
/// steps away, however few there are.
#[derive(Clone, Default)]
pub(super) struct IdSet {
    members: Vec<u64>,
    /// For each word of `members`, whether it has a member.
    words: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl IdSet {
    /// The empty set, for code with `count` instructions.
    pub(super) fn new(count: usize) -> Self {
        let members = count.div_ceil(BITS);
        Self { members: vec![0; members], words: vec![0; members.div_ceil(BITS)] }
    }

    pub(super) fn insert(&mut self, id: InstId) {
        let word = id.index() / BITS;
        self.members[word] |= 1 << (id.index() % BITS);
        self.words[word / BITS] |= 1 << (word % BITS);
    }

    pub(super) fn remove(&mut self, id: InstId) {
        let word = id.index() / BITS;
        self.members[word] &= !(1 << (id.index() % BITS));
        if self.members[word] == 0 {
            self.words[word / BITS] &= !(1 << (word % BITS));
        }
    }

    pub(super) fn contains(&self, id: InstId) -> bool {
        self.members[id.index() / BITS] >> (id.index() % BITS) & 1 != 0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.iter().all(|&words| words == 0)
    }

    /// The first member.
    pub(super) fn first(&self) -> Option<InstId> {
        self.next_from(InstId(0))
    }

    /// The first member at or after `from`.
    #[inline]
    pub(super) fn next_from(&self, from: InstId) -> Option<InstId> {
        let word = from.index() / BITS;
        let here = self.members.get(word)? & u64::MAX << (from.index() % BITS);
        if here != 0 {
            return Some(member(word, here));
        }
        let next = word + 1;
        let mut group = next / BITS;
        let mut words = self.words.get(group)? & u64::MAX << (next % BITS);
        while words == 0 {
            group += 1;
            words = *self.words.get(group)?;
        }
        let word = group * BITS + words.trailing_zeros() as usize;
        Some(member(word, self.members[word]))
    }

    /// The members.
    pub(super) fn iter(&self) -> impl Iterator<Item = InstId> {
        std::iter::successors(self.first(), |id| self.next_from(InstId(id.0 + 1)))
    }
}

/// The first member in a word that has one.
fn member(word: usize, bits: u64) -> InstId {
    InstId((word * BITS) as u32 + bits.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_sorted_set(changes in prop::collection::vec((0..10_000u32, any::<bool>()), 0..200), from in 0..10_000u32) {
            let (mut set, mut sorted) = (IdSet::new(10_000), BTreeSet::new());
            for (id, add) in changes {
                if add {
                    set.insert(InstId(id));
                    sorted.insert(id);
                } else {
                    set.remove(InstId(id));
                    sorted.remove(&id);
                }
            }
            prop_assert_eq!(set.is_empty(), sorted.is_empty());
            prop_assert_eq!(set.contains(InstId(from)), sorted.contains(&from));
            prop_assert_eq!(set.next_from(InstId(from)).map(|id| id.0), sorted.range(from..).next().copied());
            prop_assert!(set.iter().map(|id| id.0).eq(sorted));
        }
    }
}
