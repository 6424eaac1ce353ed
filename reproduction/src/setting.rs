//! The setting of the paper's program: how the paper is read where it prints neither a latency nor a
//! scheduler, and how that reading is chosen.
//!
//! [`SPACE`] lists choices, each with the values that a reader may find in the text, the simplest
//! first. Every combination is a candidate. [`Trials::run`] simulates them; [`Trials::choose`]
//! takes the one that meets some claims, the *training set*, best. What the chosen candidate says of
//! all other claims is a prediction. Only numbers that follow from cycles choose and are compared; those
//! in which areas or energies have a part are left to the claims. The account beside the claims shows
//! what other training sets would have chosen, and how their predictions fare.
//!
//! # The rule
//!
//! The candidate of which the fewest training claims are missed; among these the one with the least
//! sum of squares, over all numbers of the training claims, of the deviation over the tolerance;
//! among these the simplest: the fewest steps from the first values of the choices; then the first in
//! the order of the file, whose last choice varies fastest.

use super::Error;
use super::claims::{Basis, CLAIMS, Claim, Part};
use super::evaluation::{Evaluation, Rings};
use super::table::cell;
use b512_asm::Function;
use codegen::schedule::Tuning;
use codegen::{PlanChoice, classical};
use rayon::prelude::*;
use serde::Deserialize;
use sim::{ConfigError, Machine, MachineBase, Override};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The choices: `configs/paper-setting.toml`.
pub const SPACE: &str = include_str!("../../configs/paper-setting.toml");

/// What [`Trials::run`] says of them: `reports/paper-setting.csv`, written by `rpu fit --setting`.
const TRIALS: &str = include_str!("../../reports/paper-setting.csv");

/// What the keys of the scheduler begin with; others are of the machine.
const SCHEDULER: &str = "scheduler.";

/// What may be chosen, and by what.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Space {
    /// The built-in machine whose keys the choices set.
    pub machine: String,
    /// The numbers of the training claims.
    pub training: Vec<String>,
    /// Stages of a rectangle, 1 to 5, for all candidates.
    pub depth: u32,
    /// Keys of the scheduler that are the same for all candidates.
    pub scheduler: toml::Table,
    /// The choices.
    pub choice: Vec<Choice>,
}

/// A question that the paper leaves open.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The key that it sets: of the machine, or after `scheduler.` of the scheduler.
    pub key: String,
    /// The answers, the simplest first.
    pub values: Vec<toml::Value>,
    /// Why these.
    pub why: String,
}

/// A candidate: for each choice the index of its value.
pub type Picks = Vec<usize>;

/// A machine and a program for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Setting {
    /// The machine, at 128 HPLEs and 128 banks.
    pub machine: Machine,
    /// Stages of a rectangle.
    pub depth: u32,
    /// The scheduler.
    pub tuning: Tuning,
}

impl Setting {
    /// The plan of the transform of `n` points.
    pub(super) fn plan(&self, n: u32) -> PlanChoice {
        PlanChoice::Recipe(Box::new(classical(Function::Ntt, n, self.depth, self.tuning.clone())))
    }
}

impl Space {
    /// The built-in space.
    ///
    /// # Errors
    /// Where its file is wrong.
    pub fn built_in() -> Result<Self, ConfigError> {
        let error = |error: toml::de::Error| ConfigError {
            file: "configs/paper-setting.toml".into(),
            text: SPACE.into(),
            span: error.span(),
            message: error.message().into(),
            help: None,
        };
        toml::from_str(SPACE).map_err(error)
    }

    /// The training claims, in their order; what is no claim's number is left out.
    pub(super) fn training_claims(&self) -> Vec<&'static str> {
        CLAIMS
            .iter()
            .map(|claim| claim.id)
            .filter(|id| self.training.iter().any(|wanted| wanted == id))
            .collect()
    }

    /// The number of candidates.
    pub fn size(&self) -> usize {
        self.choice.iter().map(|choice| choice.values.len()).product()
    }

    /// All candidates, the last choice varying fastest.
    pub fn candidates(&self) -> Vec<Picks> {
        let extend = |all: Vec<Picks>, choice: &Choice| {
            all.iter()
                .flat_map(|picks| (0..choice.values.len()).map(|pick| [&**picks, &[pick]].concat()))
                .collect()
        };
        self.choice.iter().fold(vec![Picks::new()], extend)
    }

    /// The setting of a candidate.
    ///
    /// # Errors
    /// Where a key or a value makes no sense.
    pub fn setting(&self, picks: &Picks) -> Result<Setting, ConfigError> {
        let mut overrides = Vec::new();
        let mut scheduler = self.scheduler.clone();
        for (choice, &pick) in self.choice.iter().zip(picks) {
            let value = &choice.values[pick];
            if let Some(key) = choice.key.strip_prefix(SCHEDULER) {
                scheduler.insert(key.to_owned(), value.clone());
            } else {
                overrides.push(Override::parse(&format!("{}={value}", choice.key))?);
            }
        }
        let wrong = |message: String| ConfigError {
            file: "configs/paper-setting.toml".into(),
            text: String::new(),
            span: None,
            message,
            help: None,
        };
        if !(1..=5).contains(&self.depth) {
            return Err(wrong("`depth` must be a number from 1 to 5".into()));
        }
        let tuning =
            scheduler.try_into().map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?;
        let machine = MachineBase::built_in(&self.machine)?.machine(&overrides)?;
        Ok(Setting { machine, depth: self.depth, tuning })
    }

    /// Key and value of each choice of a candidate.
    pub fn describe(&self, picks: &Picks) -> String {
        let named = self
            .choice
            .iter()
            .zip(picks)
            .map(|(choice, &pick)| format!("{} = {}", choice.key, choice.values[pick]));
        named.collect::<Vec<_>>().join(", ")
    }
}

/// The numbers of claims that depend on the setting, in the order of the claims.
pub(super) fn simulated() -> impl Iterator<Item = (&'static Claim, &'static Part)> {
    let parts = CLAIMS.iter().flat_map(|claim| claim.parts.iter().map(move |part| (claim, part)));
    parts.filter(|(_, part)| matches!(part.basis, Basis::Setting { .. }))
}

/// A candidate and what comes out.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// The candidate.
    pub picks: Picks,
    /// The numbers of the claims that depend on the setting, in the order of the claims.
    pub numbers: Vec<f64>,
}

/// All candidates that take the paper's time for the 64K transform (C1).
#[derive(Clone, PartialEq, Debug)]
pub struct Trials {
    /// In the order of [`Space::candidates`].
    pub all: Vec<Trial>,
}

impl Trials {
    /// Simulates all candidates, in the current rayon pool. Those whose runtime at 64K is off by more than C1
    /// allows are left out: no training set is without C1. `progress` is told how many candidates, of
    /// how many, have been held against C1, and then how many of those that agree were simulated in full.
    ///
    /// # Errors
    /// Where a candidate makes no sense, or its program cannot be generated.
    pub fn run(space: &Space, progress: &(dyn Fn(usize, usize) + Sync)) -> Result<Self, Error> {
        let rings = Rings::new()?;
        let counted = |done: &AtomicUsize, total| progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        let (timed, tried) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (first, second) = (&CLAIMS[0].parts[0], &CLAIMS[0].parts[1]);
        let in_time = |picks: Picks| {
            let setting = space.setting(&picks)?;
            let cycles = rings.cycles(&setting)? as f64;
            let time_us = cycles / setting.machine.frequency_ghz() * 1e-3;
            let over_theory = cycles / (65536.0 * 16.0 / 128.0);
            let agrees = first.paper.holds(time_us) && second.paper.holds(over_theory);
            counted(&timed, space.size());
            Ok(agrees.then_some((picks, setting)))
        };
        let kept = space.candidates().into_par_iter().map(in_time).collect::<Result<Vec<_>, Error>>()?;
        let kept: Vec<(Picks, Setting)> = kept.into_iter().flatten().collect();
        let total = kept.len();
        let trial = |(picks, setting): (Picks, Setting)| {
            let evaluation = Evaluation::of(&setting, &rings)?;
            let numbers = simulated().map(|(_, part)| (part.ours)(&evaluation)).collect();
            counted(&tried, total);
            Ok(Trial { picks, numbers })
        };
        Ok(Self { all: kept.into_par_iter().map(trial).collect::<Result<_, Error>>()? })
    }

    /// Simulates one candidate.
    ///
    /// # Errors
    /// Where it makes no sense, or its program cannot be generated.
    pub fn again(space: &Space, trial: &Trial) -> Result<Trial, Error> {
        let evaluation = Evaluation::of(&space.setting(&trial.picks)?, &Rings::new()?)?;
        let numbers = simulated().map(|(_, part)| (part.ours)(&evaluation)).collect();
        Ok(Trial { picks: trial.picks.clone(), numbers })
    }

    /// The committed ones.
    ///
    /// # Errors
    /// Where the file is not one of the space's.
    pub fn built_in(space: &Space) -> Result<Self, Error> {
        let stale = || {
            Error::Missing {
            what: "of `reports/paper-setting.csv` for a candidate of `configs/paper-setting.toml`: run `rpu fit --setting`"
                .into(),
        }
        };
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
    /// Where the CSV cannot be written.
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

    /// The trial that the rule takes for a training set; none where there are no trials.
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

/// A value without quotes.
fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
