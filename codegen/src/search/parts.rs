//! Schedules with other settings for each part of the code.
//!
//! A beam search: the schedules of the beam continue through the next part with each of several settings,
//! and the best of them are the next beam. The best settings of each part together are better than the best
//! settings of the whole.

use super::candidates::{Random, random_part};
use crate::compile::Prepared;
use crate::recipe::Recipe;
use crate::schedule::{Outlook, PartSettings, Partial, Tuning};
use rayon::prelude::*;
use sim::Machine;

/// The effort of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Beam {
    /// The schedules that continue after each part.
    width: usize,
    /// The settings that each of them tries in a part.
    settings: usize,
}

/// The widths of a beam, which tries as many settings. Wide ones find more in the same time than many narrow
/// ones. One of two settings would try no new ones: the known ones and those of the part before come first.
const WIDTHS: [u64; 2] = [3, 12];

impl Beam {
    /// The whole schedules of the narrowest beam.
    pub(super) const NARROWEST: u64 = WIDTHS[0] * (WIDTHS[0] + 1);

    /// The widest beam that takes as long as so many whole schedules, or the narrowest.
    pub(super) fn of(schedules: u64) -> Self {
        let [least, most] = WIDTHS;
        let width = schedules.isqrt().clamp(least, most) as usize;
        Self { width, settings: width }
    }

    /// The number of whole schedules that take as long. The results are scheduled again.
    pub(super) const fn schedules(self) -> u64 {
        (self.width * (self.settings + 1)) as u64
    }
}

/// The instructions of a part, about, and the most parts.
const PART: usize = 24;
const MOST_PARTS: usize = 24;

/// A schedule in progress, and the settings of its parts so far.
#[derive(Clone)]
struct State<'a> {
    partial: Partial<'a>,
    parts: Vec<PartSettings>,
}

/// The best recipes found that differ from one in the settings of parts only, the most promising first.
pub(super) fn by_parts(
    prepared: &Prepared,
    machine: &Machine,
    recipe: &Recipe,
    beam: Beam,
    random: &mut Random,
) -> Vec<Recipe> {
    let parts = (prepared.instructions() / PART).clamp(1, MOST_PARTS);
    let tuning = Tuning { parts: Vec::new(), ..recipe.tuning.clone() };
    let assumed = tuning.scheduled_for(machine);
    let mut states = vec![State { partial: prepared.start(&assumed, &tuning), parts: Vec::new() }];
    for number in 0..parts {
        let known = recipe.tuning.parts.get(number * recipe.tuning.parts.len() / parts);
        let mut settings = vec![known.copied().unwrap_or(tuning.whole())];
        // The last is the state's own of the part before.
        settings.extend((2..beam.settings).map(|_| random_part(random, machine)));
        let mut continued = continuations(&states, &settings, (number + 1, parts));
        // The sort is stable. Equal outlooks are most often those of equal schedules.
        continued.sort_by_key(|&(outlook, _)| outlook);
        continued.dedup_by_key(|&mut (outlook, _)| outlook);
        states = continued.into_iter().take(beam.width).map(|(_, state)| *state).collect();
    }
    let with_parts = |State { parts, .. }: State<'_>| Recipe {
        tuning: Tuning { parts, ..tuning.clone() },
        ..recipe.clone()
    };
    states.into_iter().map(with_parts).collect()
}

/// The continuations of all states through a part, with each of the settings and with those of the part
/// before.
fn continuations<'a>(
    states: &[State<'a>],
    settings: &[PartSettings],
    (number, parts): (usize, usize),
) -> Vec<(Outlook, Box<State<'a>>)> {
    let choices = |state: &'_ State<'a>| {
        let again = state.parts.last().filter(|last| !settings.contains(last));
        settings.iter().chain(again).copied().collect::<Vec<PartSettings>>()
    };
    let choices: Vec<(&State<'a>, PartSettings)> =
        states.iter().flat_map(|state| choices(state).into_iter().map(move |part| (state, part))).collect();
    let continue_with = |&(state, part): &(&State<'a>, PartSettings)| {
        // Sorting moves the results: a box is small.
        let mut state = Box::new(state.clone());
        state.partial.advance(part, number, parts).ok()?;
        state.parts.push(part);
        Some((state.partial.outlook(), state))
    };
    choices.par_iter().filter_map(continue_with).collect()
}
