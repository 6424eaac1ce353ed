//! The simulations, claims and figures together.

use crate::claims::{Assessment, CLAIMS, Tally};
use crate::evaluation::Evaluation;
use crate::figure::Figure;
use crate::leave_out::Account;
use crate::others::{self, Row};
use crate::setting::Space;
use crate::trials::{Trials, training_claims};
use crate::{Error, baseline, breakdown, order, scaling, sensitivity, tradeoff};

/// The paper's evaluation by our models.
#[derive(Clone, PartialEq, Debug)]
pub struct Reproduction {
    pub(crate) evaluation: Evaluation,
    /// The claims with their verdicts, C1 first.
    pub claims: Vec<Assessment>,
    /// The summary of the verdicts.
    pub tally: Tally,
    pub(crate) figures: Vec<Figure>,
    pub(crate) others: Vec<Row>,
    pub(crate) space: Space,
    pub(crate) trials: Trials,
    /// The choice of the setting, or `None` without trials.
    pub(crate) account: Option<Account>,
}

impl Reproduction {
    /// Simulates, in the current rayon pool, without measurements.
    ///
    /// # Errors
    /// Returns an error if a transform cannot be generated, or if its result differs from the golden model.
    pub fn new() -> Result<Self, Error> {
        let evaluation = Evaluation::new()?;
        let space = Space::built_in()?;
        let trials = Trials::built_in(&space)?;
        let training = training_claims(&space);
        let claims: Vec<Assessment> =
            CLAIMS.iter().map(|claim| claim.assess(&evaluation, &training)).collect();
        let figures = vec![
            tradeoff::area_against_latency(&evaluation),
            tradeoff::performance_per_area(&evaluation),
            breakdown::area_and_energy(&evaluation),
            order::optimised_against_unoptimised(&evaluation),
            sensitivity::multiplier(&evaluation),
            sensitivity::crossbars(&evaluation),
            scaling::runtime_by_size(&evaluation),
            baseline::over_cpu(&evaluation),
        ];
        let others = others::rows(&evaluation)?;
        let account = Account::new(&space, &trials);
        Ok(Self { tally: Tally::of(&claims), evaluation, claims, figures, others, account, space, trials })
    }
}
