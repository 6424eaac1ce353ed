//! The choice among recipes by the size of a batch, for plans of [`Strategy::Best`].

use super::Plan;
use crate::recipe::Card;
#[cfg(doc)]
use crate::recipe::Strategy;
use crate::{Error, Recipe, Word};
use std::sync::OnceLock;

/// Transforms from which on the recipe is the same for every number.
const MANY: usize = 1 << 10;

/// The recipes of a plan's batches, and their plans, made when a batch needs them.
pub(super) struct Choice<W> {
    /// For each number of polynomials, from 1 on, the place of its recipe. The last is for all larger ones.
    by_polynomials: Vec<usize>,
    /// The first is the plan's own.
    recipes: Vec<Recipe>,
    plans: Vec<OnceLock<Box<Plan<W>>>>,
}

/// The recipe of one polynomial, and the choice.
pub(super) fn recipes<W>(
    card: Card,
    word_bits: u32,
    log_n: u32,
    largest: u128,
    limbs: usize,
) -> Result<(Recipe, Choice<W>), Error> {
    let limbs = limbs.max(1);
    let mut recipes: Vec<Recipe> = Vec::new();
    let mut by_polynomials = Vec::new();
    for polynomials in 1..=MANY.div_ceil(limbs) {
        let recipe = Recipe::for_card(card, word_bits, log_n, largest, polynomials * limbs)?;
        let place = recipes.iter().position(|known| *known == recipe).unwrap_or(recipes.len());
        if place == recipes.len() {
            recipes.push(recipe);
        }
        by_polynomials.push(place);
    }
    let plans = recipes.iter().map(|_| OnceLock::new()).collect();
    Ok((recipes[0].clone(), Choice { by_polynomials, recipes, plans }))
}

impl<W: Word> Plan<W> {
    /// The plan for batches of that many polynomials.
    pub(super) fn of_batch(&self, polynomials: usize) -> Result<&Self, Error> {
        let Some(choice) = &self.choice else { return Ok(self) };
        let last = choice.by_polynomials.len();
        let place = choice.by_polynomials[polynomials.clamp(1, last) - 1];
        if place == 0 {
            return Ok(self);
        }
        if let Some(plan) = choice.plans[place].get() {
            return Ok(plan);
        }
        let made: Vec<&Self> = choice.plans.iter().filter_map(|plan| plan.get().map(Box::as_ref)).collect();
        let others = [&[self][..], &made].concat();
        let plan = Self::build(&self.device, choice.recipes[place].clone(), &self.moduli, &others)?;
        Ok(choice.plans[place].get_or_init(|| Box::new(plan)))
    }
}
