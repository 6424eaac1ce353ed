//! EvalMod: the sine of each slot.

use super::Bootstrapping;
use crate::Error;
use crate::circuit::chebyshev::{polynomial, rescaled, scaled_polynomial};
use crate::circuit::{Ciphertext, Circuit};
use crate::scale::Scale;

impl Bootstrapping {
    /// t - I in each slot, for t/K with t next to an integer I. The scale of the result is next to the
    /// target; without one, it is the last modulus.
    pub(super) fn eval_mod(
        &self,
        c: &mut Circuit,
        x: &Ciphertext,
        target: Option<&Scale>,
    ) -> Result<Ciphertext, Error> {
        let sine = &self.sine;
        // A quarter less: the cosine is even.
        let x = c.add_real(x, -0.25 / f64::from(sine.range));
        let mut value = match target.filter(|_| sine.arcsine.is_none()) {
            Some(target) => {
                let scale =
                    |c: &Circuit, level| before_squares(c, target, level, sine.double_angles as usize);
                scaled_polynomial(c, x, &sine.cosine, (self.options.merged, &scale))?
            }
            None => polynomial(c, x, &sine.cosine, self.options.merged)?,
        };
        let mut amplitude = sine.amplitude;
        for _ in 0..sine.double_angles {
            amplitude *= amplitude;
            let twice = c.add(&value, &value)?;
            let square = c.multiply(&twice, &value);
            let sum = c.add_real(&square, -amplitude);
            value = rescaled(c, &sum, self.options.merged)?;
        }
        if let Some(arcsine) = &sine.arcsine {
            value = match target {
                Some(target) => {
                    scaled_polynomial(c, value, arcsine, (self.options.merged, &|_, _| target.clone()))?
                }
                None => polynomial(c, value, arcsine, self.options.merged)?,
            };
        }
        Ok(value)
    }
}

/// The scale after a rescale at a level that so many squares, each with a rescale, bring next to a target.
fn before_squares(c: &Circuit, target: &Scale, level: usize, squares: usize) -> Scale {
    let scale = (0..squares)
        .rev()
        .fold(target.to_f64(), |scale, square| (scale * c.divisor(level - 1 - square).to_f64()).sqrt());
    Scale::integer(scale.round() as u128)
}
