//! A descent over the parts of a mapping.

use super::{Batch, Effort, Form, Mapping, Order, Recipes};
use codegen::Merit;
use rayon::prelude::*;

/// The best mapping of a search, and what else was computed for it.
#[derive(Debug)]
pub(crate) struct Search<T> {
    pub(crate) mapping: Mapping,
    /// What its evaluation returned.
    pub(crate) found: T,
    /// The number of schedules.
    pub(crate) tried: usize,
}

/// The parts of a mapping.
#[derive(Clone, Copy)]
enum Part {
    Order,
    Recipes,
    Elementwise,
    Batch,
}

/// The order of the parts. That of lines comes first: dataflows of key switches need other forms in each.
const PARTS: [Part; 4] = [Part::Order, Part::Recipes, Part::Elementwise, Part::Batch];

impl Part {
    /// The other mappings to try.
    fn others(self, of: Mapping, merit: Merit) -> Vec<Mapping> {
        match self {
            Self::Order => [Order::Modulus, Order::Program].map(|order| Mapping { order, ..of }).into(),
            Self::Recipes => {
                Recipes::for_merit(merit).iter().map(|&recipes| Mapping { recipes, ..of }).collect()
            }
            Self::Elementwise => Form::ALL.map(|elementwise| Mapping { elementwise, ..of }).into(),
            Self::Batch => Batch::ALL.map(|batch| Mapping { batch, ..of }).into(),
        }
    }
}

/// Descends from [`Mapping::START`]. `evaluate` schedules a program with a mapping, and returns its value, if
/// that can be less than the given one, and what else it computed. `is_same` says whether two mappings that
/// differ in their batch have the same launches. None if the first mapping has no value.
///
/// # Errors
/// Returns the error of the first mapping. Others with an error are not taken.
pub(crate) fn descend<T: Send, E: Send>(
    merit: Merit,
    effort: Effort,
    is_same: impl Fn(Mapping, Mapping) -> bool,
    evaluate: impl Fn(Mapping, f64) -> Result<Option<(f64, T)>, E> + Sync,
) -> Result<Option<Search<T>>, E> {
    let Some((mut value, found)) = evaluate(Mapping::START, f64::INFINITY)? else { return Ok(None) };
    let mut best = Search { mapping: Mapping::START, found, tried: 1 };
    let mut known = vec![Mapping::START];
    loop {
        let before = value;
        for part in PARTS {
            let mut others = part.others(best.mapping, merit);
            others.retain(|other| !known.contains(other));
            known.extend(&others);
            if matches!(part, Part::Batch) {
                let mut distinct = vec![best.mapping];
                others.retain(|&other| {
                    let is_new = !distinct.iter().any(|&one| is_same(one, other));
                    distinct.push(other);
                    is_new
                });
            }
            others.truncate(effort.schedules - best.tried);
            best.tried += others.len();
            let evaluated = others.into_par_iter().map(|other| (other, evaluate(other, value)));
            for (mapping, result) in evaluated.collect::<Vec<_>>() {
                if let Ok(Some((less, found))) = result
                    && less < value
                {
                    value = less;
                    (best.mapping, best.found) = (mapping, found);
                }
            }
        }
        let is_slow = value >= before * (1.0 - effort.gain);
        if best.tried >= effort.schedules || is_slow {
            return Ok(Some(best));
        }
    }
}
