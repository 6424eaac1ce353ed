//! The order of launches.
//!
//! Launches run in the order of lifting, in the *deep* order or in the *lean* one. In the deep order, the next launch is the one
//! whose operands were complete last; of equals, the first in the order of lifting. Inputs, zero and tables are complete from the
//! beginning. So what a launch makes is used soon, and of two copies of a program whose lines alternate, one runs first, and does
//! not compete with the other for the VDM.
//!
//! In the lean order, the next launch is the one that adds the fewest limbs to those that are alive: its results that launches
//! read, less the operands that a launch has made and that no other launch has still to read. Of equals, it is the next one by the
//! rule of the deep order.
//!
//! All orders are tried with each variant of the kernels. More than 4,096 launches keep the order of lifting.

use crate::flow::ValueId;
use crate::lift::Launches;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// More launches hide how long each waits, and each schedule takes time.
const MOST_LAUNCHES: usize = 4096;

/// The launches in each order: in that of lifting, the deep one and the lean one.
pub(crate) fn all(lifted: Launches) -> Vec<Launches> {
    let is_lean = if lifted.launches.len() > MOST_LAUNCHES { &[][..] } else { &[false, true] };
    let others = is_lean.iter().map(|&is_lean| {
        let order = Order::new(&lifted, is_lean).run();
        let mut ordered = lifted.clone();
        ordered.launches = order.into_iter().map(|index| lifted.launches[index].clone()).collect();
        ordered
    });
    let others: Vec<Launches> = others.collect();
    std::iter::once(lifted).chain(others).collect()
}

/// Launches on their way into an order. Limbs are those that a launch makes, by numbers.
struct Order {
    is_lean: bool,
    /// For each launch, the operands that are missing, and the number of launches that had run when the last was complete.
    missing: Vec<usize>,
    complete: Vec<usize>,
    /// The limbs that it adds to those that are alive.
    growth: Vec<i64>,
    makes: Vec<Vec<usize>>,
    reads: Vec<Vec<usize>>,
    /// For each limb, the launches that have still to read it.
    readers: Vec<Vec<usize>>,
    /// The launches whose operands are complete, the next one first.
    ready: BTreeSet<Rank>,
}

/// What decides which launch is next, the least: its growth, when its operands were complete, and its index.
type Rank = (i64, Reverse<usize>, usize);

impl Order {
    fn new(launches: &Launches, is_lean: bool) -> Self {
        let all = &launches.launches;
        let made = all.iter().flat_map(|launch| launches.results(launch));
        let numbers: FxHashMap<ValueId, usize> = made.copied().zip(0..).collect();
        let of = |values: &[ValueId]| values.iter().filter_map(|value| numbers.get(value).copied()).collect();
        let makes: Vec<Vec<usize>> = all.iter().map(|launch| of(launches.results(launch))).collect();
        let reads: Vec<Vec<usize>> = all.iter().map(|launch| of(launches.sources(launch))).collect();
        let mut readers = vec![Vec::new(); numbers.len()];
        for (launch, reads) in reads.iter().enumerate() {
            reads.iter().for_each(|&limb| readers[limb].push(launch));
        }
        let is_read = |limb: &&usize| !readers[**limb].is_empty();
        let growth = makes.iter().map(|makes| makes.iter().filter(is_read).count() as i64).collect();
        let missing: Vec<usize> = reads.iter().map(Vec::len).collect();
        let (complete, ready) = (vec![0; all.len()], BTreeSet::new());
        let mut order = Self { is_lean, missing, complete, growth, makes, reads, readers, ready };
        (0..order.readers.len()).for_each(|limb| order.note_last_reader(limb));
        let of_given = (0..all.len()).filter(|&launch| order.missing[launch] == 0);
        order.ready = of_given.map(|launch| order.rank(launch)).collect();
        order
    }

    fn rank(&self, launch: usize) -> Rank {
        let growth = if self.is_lean { self.growth[launch] } else { 0 };
        (growth, Reverse(self.complete[launch]), launch)
    }

    /// If one launch has still to read a limb, it ends the limb's life.
    fn note_last_reader(&mut self, limb: usize) {
        if let [last] = self.readers[limb][..] {
            let is_ready = self.ready.remove(&self.rank(last));
            self.growth[last] -= 1;
            if is_ready {
                self.ready.insert(self.rank(last));
            }
        }
    }

    /// The indices of the launches.
    fn run(mut self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.missing.len());
        while let Some((.., next)) = self.ready.pop_first() {
            order.push(next);
            for limb in std::mem::take(&mut self.reads[next]) {
                self.readers[limb].retain(|&reader| reader != next);
                self.note_last_reader(limb);
            }
            for limb in std::mem::take(&mut self.makes[next]) {
                for reader in self.readers[limb].clone() {
                    self.missing[reader] -= 1;
                    if self.missing[reader] == 0 {
                        self.complete[reader] = order.len();
                        self.ready.insert(self.rank(reader));
                    }
                }
            }
        }
        order
    }
}
