//! The budget of a search: how much it tries.

use crate::plan::derive::beam_width;

/// The budget of a quick search: steps of the scheduler, and instructions to schedule.
/// [Steps](crate::schedule::Scheduled::steps) take about as long on one machine as on another, instructions
/// do not.
const STEPS: u64 = 1_680_000;
const INSTRUCTIONS: u64 = 380_000;
/// The most trials of a quick search. Small programs gain nothing from more.
const TRIALS: u64 = 1300;

/// The effort of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// How many times the budget of a quick search it has, at least once.
    pub budget: u32,
    /// The seed of its random settings.
    pub seed: u64,
}

impl Effort {
    /// A search whenever a machine needs a program: at 65,536 points, some tenths of a second.
    pub const QUICK: Self = Self { budget: 1, seed: 0 };
    /// A search for one machine, and for a target of the library.
    pub const FULL: Self = Self { budget: 30, seed: 0 };
}

/// What is left of a budget.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Budget {
    /// The instructions to schedule.
    instructions: u64,
    /// The schedules.
    trials: u64,
}

impl Budget {
    /// The whole of a search in which the scheduler takes `steps` for a program of `instructions`.
    pub(super) fn of(effort: Effort, steps: u64, instructions: u64) -> Self {
        let times = u64::from(effort.budget.max(1));
        let by_steps = STEPS * instructions / steps.max(1);
        Self { instructions: times * by_steps.min(INSTRUCTIONS), trials: times * TRIALS }
    }

    /// A share of it.
    pub(super) const fn percent(self, share: u64) -> Self {
        Self { instructions: self.instructions * share / 100, trials: self.trials * share / 100 }
    }

    /// The schedules of a program of so many instructions that it pays for.
    pub(super) fn schedules(self, instructions: u64) -> u64 {
        self.trials.min(self.instructions / instructions.max(1))
    }

    /// Pays for schedules of one code with so many instructions, if the budget allows it.
    pub(super) fn pay(&mut self, instructions: u64, schedules: u64, code_is_new: bool) -> bool {
        // The code takes some 30% of the time of a schedule.
        let code = if code_is_new { instructions * 3 / 10 } else { 0 };
        self.spend(instructions * schedules + code, schedules)
    }

    /// Pays for the derivation of so many plans for a transform with `bits` index bits, if the budget allows
    /// it.
    pub(super) fn pay_for_plans(&mut self, count: usize, bits: u32) -> bool {
        // Fitted to the times of derivations.
        self.spend(beam_width(count) as u64 * u64::from(bits).pow(3) / 2, 0)
    }

    fn spend(&mut self, instructions: u64, trials: u64) -> bool {
        let affordable = instructions <= self.instructions && trials <= self.trials;
        if affordable {
            self.instructions -= instructions;
            self.trials -= trials;
        }
        affordable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice the effort pays for twice the schedules. A machine with more steps a schedule gets fewer
    /// schedules, so that searches take about as long on all machines.
    #[test]
    fn a_budget_limits_steps_schedules_and_trials() {
        let schedules = |budget, steps, instructions| {
            Budget::of(Effort { budget, seed: 0 }, steps, instructions).schedules(instructions)
        };
        for (steps, instructions, expected) in [
            (1, 100, TRIALS),
            (8000, 4000, INSTRUCTIONS / 4000),
            (40_000, 4000, STEPS / 40_000),
            (120_000, 4000, STEPS / 120_000),
        ] {
            assert_eq!(schedules(1, steps, instructions), expected);
            assert!((2 * expected..=2 * expected + 1).contains(&schedules(2, steps, instructions)));
        }
        let mut budget = Budget::of(Effort::QUICK, 1, 100);
        assert!(!budget.pay(100, TRIALS + 1, false));
        assert!(budget.pay(100, TRIALS, true) && !budget.pay(1, 1, false));
    }
}
