//! The order of launches.
//!
//! Launches run in the order of lifting or in the *deep* order. In the deep order, the next launch is the one whose operands were
//! complete last; of equals, the first in the order of lifting. Inputs, zero and tables are complete from the beginning. So what
//! a launch makes is used soon, and of two copies of a program whose lines alternate, one runs first, and does not compete with the
//! other for the VDM.
//!
//! Both orders are tried with each variant of the kernels. More than 4,096 launches keep the order of lifting.

use crate::flow::ValueId;
use crate::lift::Launches;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The launches in the deep order.
pub(crate) fn deep(launches: &Launches) -> Launches {
    let all = &launches.launches;
    let mut makers: FxHashMap<ValueId, usize> = FxHashMap::default();
    for (index, launch) in all.iter().enumerate() {
        makers.extend(launches.results(launch).iter().map(|&result| (result, index)));
    }
    // For each launch, the operands that are missing, and the launches that read its results.
    let (mut missing, mut readers) = (vec![0_usize; all.len()], vec![Vec::new(); all.len()]);
    for (index, launch) in all.iter().enumerate() {
        for maker in launches.sources(launch).iter().filter_map(|source| makers.get(source)) {
            missing[index] += 1;
            readers[*maker].push(index);
        }
    }
    // With the number of launches that had run when the operands were complete.
    let of_given = (0..all.len()).filter(|&index| missing[index] == 0);
    let mut ready: BinaryHeap<(usize, Reverse<usize>)> = of_given.map(|index| (0, Reverse(index))).collect();
    let mut ordered = Vec::with_capacity(all.len());
    while let Some((_, Reverse(next))) = ready.pop() {
        ordered.push(all[next].clone());
        for &reader in &readers[next] {
            missing[reader] -= 1;
            if missing[reader] == 0 {
                ready.push((ordered.len(), Reverse(reader)));
            }
        }
    }
    let mut deep = launches.clone();
    deep.launches = ordered;
    deep
}
