//! The check that no two events of a timeline disturb each other.

use super::{Fault, Place};
use crate::schedule::record::{Action, Extent};
use crate::schedule::{Plan, Timeline};
use rustc_hash::FxHashMap;

impl Plan<'_> {
    /// Checks that no two events of a recorded timeline disturb each other, and that runs write other words
    /// than they read.
    ///
    /// # Errors
    /// Returns the fault of the first event that has one.
    pub fn check_events(&self, timeline: &Timeline) -> Result<(), Fault> {
        let page = self.pages().1 as u32;
        let mut accesses: FxHashMap<Place, Vec<Access>> = FxHashMap::default();
        for (number, event) in timeline.events.iter().enumerate() {
            let mut add = |place, words, writes| {
                let (begin, end) = (event.span.begin_ns, event.span.end_ns);
                accesses.entry(place).or_default().push(Access { begin, end, words, writes, event: number });
            };
            let mut in_vdm = |extent: &Extent, writes| {
                parts(extent, page).for_each(|(number, words)| add(Place::Page(number), words, writes));
            };
            let mut off_chip: Vec<(u32, (u32, u32))> = Vec::new();
            match &event.action {
                Action::Load(extents) | Action::Store(extents) => {
                    let loads = matches!(event.action, Action::Load(_));
                    extents.iter().for_each(|extent| in_vdm(extent, loads));
                    let words = |extent: &Extent| (extent.item, (extent.first, extent.first + extent.words));
                    off_chip.extend(extents.iter().map(words));
                }
                Action::Gather { launch, result } => {
                    in_vdm(result, true);
                    let sources = self.launches.sources(&self.launches.launches[*launch as usize]);
                    off_chip.extend(sources.iter().map(|value| (value.0, (0, result.words))));
                }
                Action::Run { launch, operands, results, scratch } => {
                    let kernel = self.kernel(&self.launches.launches[*launch as usize]);
                    let [in_place, overwrites] = kernel
                        .map_or([false; 2], |kernel| [kernel.may_work_in_place, kernel.overwrites_operand]);
                    if !is_disjoint(operands, results, scratch, (page, in_place)) {
                        return Err(Fault::NotInPlace(number));
                    }
                    let is_limb = |operand: &Extent| (operand.item as usize) < self.flow.values;
                    operands.iter().for_each(|operand| in_vdm(operand, overwrites && is_limb(operand)));
                    results.iter().for_each(|result| in_vdm(result, true));
                    scratch.iter().for_each(|&number| add(Place::Page(number), (0, page), true));
                }
                Action::Fetch { .. } => {}
            }
            let writes = matches!(event.action, Action::Store(_));
            for (item, words) in off_chip {
                match timeline.places.items[item as usize] {
                    Some(place) => add(Place::OffChip(place), words, writes),
                    // Keys on the chip, and those that are all expanded, are not there.
                    None if !writes && self.is_given(item) => {}
                    None => return Err(Fault::NoPlace { event: number, item }),
                }
            }
        }
        let faults = accesses.into_iter().filter_map(|(place, accesses)| overlap(place, accesses));
        match faults.min_by_key(|&(later, earlier, place)| (later, earlier, place)) {
            Some((later, earlier, place)) => Err(Fault::Overlap { place, earlier, later }),
            None => Ok(()),
        }
    }

    /// Whether an item is an input.
    fn is_given(&self, item: u32) -> bool {
        self.flow.inputs.iter().any(|(_, value)| value.0 == item)
    }
}

/// The words of an extent in each page.
fn parts(extent: &Extent, page: u32) -> impl Iterator<Item = (u32, (u32, u32))> + '_ {
    let (first, end) = (extent.offset, extent.offset + extent.words);
    (first / page..end.div_ceil(page)).map(move |index| {
        let start = index * page;
        (extent.pages[index as usize], (first.max(start) - start, end.min(start + page) - start))
    })
}

fn meet(one: (u32, u32), other: (u32, u32)) -> bool {
    one.0 < other.1 && other.0 < one.1
}

/// Words of a page that a run writes, and the result that they belong to; none for scratch words.
type Written = ((u32, u32), Option<usize>);

/// Whether a run writes each word once, and none that it reads. A kernel that works in place may write a
/// result over its operand.
fn is_disjoint(
    operands: &[Extent],
    results: &[Extent],
    scratch: &[u32],
    (page, in_place): (u32, bool),
) -> bool {
    let mut written: FxHashMap<u32, Vec<Written>> = FxHashMap::default();
    scratch.iter().for_each(|&number| written.entry(number).or_default().push(((0, page), None)));
    for (index, result) in results.iter().enumerate() {
        for (number, words) in parts(result, page) {
            let others = written.entry(number).or_default();
            if others.iter().any(|&(other, _)| meet(words, other)) {
                return false;
            }
            others.push((words, Some(index)));
        }
    }
    operands.iter().enumerate().all(|(index, operand)| {
        let is_result = |result: usize| in_place && result == index && results[result].pages == operand.pages;
        parts(operand, page).all(|(number, words)| {
            let others = written.get(&number).into_iter().flatten();
            others.clone().all(|&(other, result)| !meet(words, other) || result.is_some_and(is_result))
        })
    })
}

/// The use of words by an event.
struct Access {
    begin: f64,
    end: f64,
    words: (u32, u32),
    writes: bool,
    event: usize,
}

/// The later and the earlier of two events that use the same words at once, if one writes them.
fn overlap(place: Place, mut accesses: Vec<Access>) -> Option<(usize, usize, Place)> {
    accesses.sort_by(|one, other| one.begin.total_cmp(&other.begin).then(one.end.total_cmp(&other.end)));
    let mut active: Vec<Access> = Vec::new();
    for access in accesses {
        active.retain(|other| other.end > access.begin);
        let disturbs = |other: &&Access| {
            let at_once = other.begin < access.end || access.begin == access.end;
            let writes = other.writes || access.writes;
            at_once && writes && other.event != access.event && meet(other.words, access.words)
        };
        if let Some(other) = active.iter().find(disturbs) {
            return Some((access.event, other.event, place));
        }
        active.push(access);
    }
    None
}
