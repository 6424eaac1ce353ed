//! The choice among the candidate settings of the paper's program.
//!
//! [`Trials::run`] simulates every candidate of a [`Space`]; [`Trials::choose`] selects the candidate that
//! best meets some claims, the *training set*. Its results for all other claims are predictions. Only numbers
//! that follow from cycles take part in the choice; numbers that depend on areas or energies are left to the
//! claims. The report shows the choices of other training sets, and the success of their predictions.
//!
//! # The rule
//!
//! The rule selects the candidate that misses the fewest training claims. Ties are broken by the
//! least sum of squares, over all numbers of the training claims, of deviation divided by
//! tolerance; then by simplicity: the fewest steps from the first values of the choices; then by
//! the order of the file, in which the last choice varies fastest.

mod log;

pub use log::{Log, LogError};

use crate::Error;
use crate::claims::{Basis, CLAIMS, Claim, Number};
use crate::evaluation::{Evaluation, Rings};
use crate::setting::{Choice, PaperSetting, Picks, Space, plain};
use crate::table::cell;
use log::Entry;
use rayon::prelude::*;
use sim::Clock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The committed output of [`Trials::run`], written by `rpu fit --setting`.
const TRIALS: &str = include_str!("../data/paper-setting.csv");

/// The training claims of a space, in the order of the claims. Unknown ids are ignored.
pub(crate) fn training_claims(space: &Space) -> Vec<&'static str> {
    let ids = CLAIMS.iter().map(|claim| claim.id);
    ids.filter(|id| space.training.iter().any(|wanted| wanted == id)).collect()
}

/// The numbers of claims that depend on the setting, in the order of the claims.
pub(crate) fn simulated() -> impl Iterator<Item = (&'static Claim, &'static Number)> {
    let parts = CLAIMS.iter().flat_map(|claim| claim.parts.iter().map(move |part| (claim, part)));
    parts.filter(|(_, part)| matches!(part.basis, Basis::Setting { .. }))
}

/// A candidate and its results.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// The candidate.
    pub picks: Picks,
    /// The numbers of the claims that depend on the setting, in the order of the claims.
    pub numbers: Vec<f64>,
}

/// All candidates with the paper's runtime of the 64K transform (C1).
#[derive(Clone, PartialEq, Debug)]
pub struct Trials {
    /// In the order of [`Space::candidates`].
    pub all: Vec<Trial>,
}

impl Trials {
    /// Simulates all candidates, in the current rayon pool. Candidates whose runtime at 64K misses C1 are
    /// left out, since every training set contains C1. Results that `log` has are not simulated again, and
    /// new ones are appended to it. `progress` receives the number of candidates
    /// compared with C1 and their total, then the number simulated in full and their total.
    ///
    /// # Errors
    /// Returns an error if a candidate is invalid, if its program cannot be generated, or if the log cannot
    /// be written.
    pub fn run(
        space: &Space,
        log: Option<&Log>,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Self, Error> {
        let known = |picks: &Picks| log.and_then(|log| log.get(picks));
        let put = |entry: &Entry| log.map_or(Ok(()), |log| log.put(entry));
        let rings = Rings::new()?;
        let counted = |done: &AtomicUsize, total| progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        let (timed, tried) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (first, second) = (&CLAIMS[0].parts[0], &CLAIMS[0].parts[1]);
        let in_time = |picks: Picks| {
            let setting = space.setting(&picks)?;
            if let Some(entry) = known(&picks) {
                counted(&timed, space.size());
                return Ok(entry.in_time.then_some((picks, setting)));
            }
            let cycles = rings.cycles(&setting)? as f64;
            let time_us = cycles / Clock::of(&setting.machine).ghz() * 1e-3;
            let over_theory = cycles / (65536.0 * 16.0 / 128.0);
            let agrees = first.paper.holds(time_us) && second.paper.holds(over_theory);
            put(&Entry { picks: picks.clone(), in_time: agrees, numbers: None })?;
            counted(&timed, space.size());
            Ok(agrees.then_some((picks, setting)))
        };
        let kept = space.candidates().into_par_iter().map(in_time).collect::<Result<Vec<_>, Error>>()?;
        let kept: Vec<(Picks, PaperSetting)> = kept.into_iter().flatten().collect();
        let total = kept.len();
        let trial = |(picks, setting): (Picks, PaperSetting)| {
            let numbers = match known(&picks).and_then(|entry| entry.numbers.clone()) {
                Some(numbers) => numbers,
                None => {
                    let evaluation = Evaluation::of(&setting, &rings)?;
                    let numbers: Vec<f64> = simulated().map(|(_, part)| (part.ours)(&evaluation)).collect();
                    put(&Entry { picks: picks.clone(), in_time: true, numbers: Some(numbers.clone()) })?;
                    numbers
                }
            };
            counted(&tried, total);
            Ok(Trial { picks, numbers })
        };
        Ok(Self { all: kept.into_par_iter().map(trial).collect::<Result<_, Error>>()? })
    }

    /// Simulates one candidate.
    ///
    /// # Errors
    /// Returns an error if it is invalid, or if its program cannot be generated.
    pub fn again(space: &Space, trial: &Trial) -> Result<Trial, Error> {
        let evaluation = Evaluation::of(&space.setting(&trial.picks)?, &Rings::new()?)?;
        let numbers = simulated().map(|(_, part)| (part.ours)(&evaluation)).collect();
        Ok(Trial { picks: trial.picks.clone(), numbers })
    }

    /// The committed trials.
    ///
    /// # Errors
    /// Returns an error if the file was written for another space.
    pub fn built_in(space: &Space) -> Result<Self, Error> {
        let stale =
            || Error::Stale { file: "lab/reproduction/data/paper-setting.csv", command: "rpu fit --setting" };
        let mut reader = csv::Reader::from_reader(TRIALS.as_bytes());
        if reader.headers()?.iter().ne(header(space)) {
            return Err(stale());
        }
        let trial = |record: Result<csv::StringRecord, csv::Error>| {
            let record = record?;
            let pick = |(choice, text): (&Choice, &str)| {
                choice.values.iter().position(|value| plain(value) == text).ok_or_else(stale)
            };
            let number = |text: &str| text.parse().map_err(|_| stale());
            Ok(Trial {
                picks: space.choice.iter().zip(&record).map(pick).collect::<Result<_, Error>>()?,
                numbers: record.iter().skip(space.choice.len()).map(number).collect::<Result<_, _>>()?,
            })
        };
        Ok(Self { all: reader.records().map(trial).collect::<Result<_, Error>>()? })
    }

    /// The trials as CSV: a column for each choice, then one for each number.
    ///
    /// # Errors
    /// Returns an error if the CSV cannot be written.
    pub fn csv(&self, space: &Space) -> Result<Vec<u8>, Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(header(space))?;
        for trial in &self.all {
            let choices =
                space.choice.iter().zip(&trial.picks).map(|(choice, &pick)| plain(&choice.values[pick]));
            writer.write_record(choices.chain(trial.numbers.iter().map(|&number| cell(number))))?;
        }
        writer.into_inner().map_err(|error| csv::Error::from(error.into_error()).into())
    }

    /// The trial that the rule chooses for a training set, or `None` without trials.
    pub fn choose(&self, training: &[&str]) -> Option<&Trial> {
        let merit = |trial: &Trial| {
            let numbers =
                simulated().zip(&trial.numbers).filter(|((claim, _), _)| training.contains(&claim.id));
            let mut missed: Vec<&str> = Vec::new();
            let mut squares = 0.0;
            for ((claim, part), &ours) in numbers {
                if !part.paper.holds(ours) {
                    missed.push(claim.id);
                }
                squares += part.paper.misfit(ours).powi(2);
            }
            missed.dedup();
            (missed.len(), squares, trial.picks.iter().sum::<usize>())
        };
        let merits = self.all.iter().map(|trial| (merit(trial), trial));
        let best =
            merits.min_by(|(a, _), (b, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        best.map(|(_, trial)| trial)
    }
}

fn header(space: &Space) -> Vec<String> {
    let choices = space.choice.iter().map(|choice| choice.key.clone());
    choices.chain(simulated().map(|(claim, part)| format!("{}: {}", claim.id, part.quantity))).collect()
}

#[cfg(test)]
mod tests;
