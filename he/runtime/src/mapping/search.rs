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
enum MappingPart {
    Order,
    Recipes,
    Elementwise,
    Batch,
}

/// The order of the parts. That of lines comes first: dataflows of key switches need other forms in each.
const PARTS: [MappingPart; 4] =
    [MappingPart::Order, MappingPart::Recipes, MappingPart::Elementwise, MappingPart::Batch];

impl MappingPart {
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
/// that can be less than the given one, and what else it computed. `launches` has those of a mapping: of
/// batches that have the same, one is tried. None if the first mapping has no value.
///
/// # Errors
/// Returns the error of the first mapping. Others with an error are not taken.
pub(crate) fn descend<T: Send, E: Send, L: PartialEq + Send>(
    merit: Merit,
    effort: Effort,
    launches: impl Fn(Mapping) -> L + Sync,
    evaluate: impl Fn(Mapping, f64) -> Result<Option<(f64, T)>, E> + Sync,
) -> Result<Option<Search<T>>, E> {
    let (mut value, mut mapping, mut found) = (f64::INFINITY, Mapping::START, None);
    let (mut tried, mut known) = (0, Vec::new());
    loop {
        let mut before = value;
        for part in PARTS {
            let mut others = part.others(mapping, merit);
            others.retain(|other| !known.contains(other));
            known.extend(&others);
            if matches!(part, MappingPart::Batch) && !others.is_empty() {
                others = distinct(mapping, others, &launches);
            }
            others.truncate(effort.schedules - tried);
            tried += others.len();
            // The first mapping is among the others of the first part.
            let evaluated = others.into_par_iter().map(|other| (other, evaluate(other, value)));
            for (other, result) in evaluated.collect::<Vec<_>>() {
                let valued = match result {
                    Ok(valued) => valued,
                    Err(error) if other == Mapping::START => return Err(error),
                    Err(_) => None,
                };
                if other == Mapping::START {
                    let Some((first, _)) = valued else { return Ok(None) };
                    before = first;
                }
                if let Some((less, of)) = valued
                    && less < value
                {
                    (value, mapping, found) = (less, other, Some(of));
                }
            }
        }
        let is_slow = value >= before * (1.0 - effort.gain);
        if tried >= effort.schedules || is_slow {
            return Ok(found.map(|found| Search { mapping, found, tried }));
        }
    }
}

/// Those of the others whose launches are not of a mapping before them.
fn distinct<L: PartialEq + Send>(
    mapping: Mapping,
    others: Vec<Mapping>,
    launches: impl Fn(Mapping) -> L + Sync,
) -> Vec<Mapping> {
    let all: Vec<Mapping> = [mapping].into_iter().chain(others).collect();
    let launches: Vec<L> = all.par_iter().map(|&mapping| launches(mapping)).collect();
    let is_new = |index: usize| !launches[..index].contains(&launches[index]);
    (1..all.len()).filter(|&index| is_new(index)).map(|index| all[index]).collect()
}
