//! The uses of limbs and tables.

use crate::schedule::place::{ItemId, NextUse};

/// The launches that use each item, in order.
#[derive(Debug)]
pub(crate) struct Uses {
    starts: Vec<u32>,
    launches: Vec<u32>,
    past: Vec<u32>,
}

impl Uses {
    pub(crate) fn of(items: usize, pairs: impl Iterator<Item = (ItemId, u32)> + Clone) -> Self {
        let mut starts = vec![0; items + 1];
        pairs.clone().for_each(|(item, _)| starts[item.0 as usize + 1] += 1);
        for item in 0..items {
            starts[item + 1] += starts[item];
        }
        let (mut launches, mut past) = (vec![0; starts[items] as usize], starts.clone());
        for (item, launch) in pairs {
            let place = &mut past[item.0 as usize];
            launches[*place as usize] = launch;
            *place += 1;
        }
        past.clone_from(&starts);
        Self { starts, launches, past }
    }

    /// Whether a launch uses the item.
    pub(super) fn any(&self, item: ItemId) -> bool {
        let item = item.0 as usize;
        self.starts[item] < self.starts[item + 1]
    }

    pub(super) fn next(&self, item: ItemId) -> NextUse {
        self.ahead(item, 0)
    }

    /// The use after the next `skip` ones.
    pub(super) fn ahead(&self, item: ItemId, skip: u32) -> NextUse {
        let item = item.0 as usize;
        let place = self.past[item] + skip;
        if place < self.starts[item + 1] { self.launches[place as usize] } else { NextUse::MAX }
    }

    pub(super) fn advance(&mut self, item: ItemId) {
        self.past[item.0 as usize] += 1;
    }
}
