//! Polynomials of slots in the Chebyshev basis.

use super::{Ciphertext, Circuit};
use crate::Error;
use crate::scale::Scale;
use std::collections::BTreeMap;

impl Circuit {
    /// The value of sum p_i T_i, T_i the Chebyshev polynomials, for slots from -1 to 1, by the method of
    /// Paterson and Stockmeyer. It uses up a modulus for each bit of the degree. The result has the operand's
    /// scale.
    ///
    /// # Errors
    /// Returns an error if the degree is below 1, the coefficients are too large, or the operand has too few
    /// moduli.
    pub fn chebyshev(&mut self, x: &Ciphertext, p: &[f64]) -> Result<Ciphertext, Error> {
        self.chebyshev_to(x, p, &x.scale)
    }

    /// As [`chebyshev`](Self::chebyshev), with a scale of the result.
    pub(crate) fn chebyshev_to(
        &mut self,
        x: &Ciphertext,
        p: &[f64],
        scale: &Scale,
    ) -> Result<Ciphertext, Error> {
        self.needs_ckks()?;
        let degree = p.iter().rposition(|&coefficient| coefficient != 0.0).unwrap_or(0);
        if degree == 0 {
            return Err(Error::Degree { program: self.program.to_string() });
        }
        // Each division by a T_m may double the sum of the magnitudes, and there is one for each bit of the
        // degree.
        let sum: f64 = p.iter().map(|coefficient| coefficient.abs()).sum();
        if !(sum * 2.0 * degree as f64).is_finite() {
            return Err(Error::Coefficients { program: self.program.to_string() });
        }
        let needed = 2 + degree.ilog2() as usize;
        if x.level() < needed {
            let program = self.program.to_string();
            return Err(Error::TooLow { program, operation: "polynomial", level: x.level(), needed });
        }
        let x = self.relinearised(x.clone());
        self.in_operation("polynomial", |c| {
            scaled_polynomial(c, x, &p[..=degree], (true, &|_, _| scale.clone()))
        })
    }
}

/// The value of a polynomial in the Chebyshev basis, for slots from -1 to 1. Its scale is the modulus of its
/// last rescale: the next one may be much smaller. It uses up a modulus for each bit of the degree. `merged`
/// as in [`Rescale::Merged`](crate::Rescale).
pub(crate) fn polynomial(
    c: &mut Circuit,
    x: Ciphertext,
    p: &[f64],
    merged: bool,
) -> Result<Ciphertext, Error> {
    scaled_polynomial(c, x, p, (merged, &|c, level| c.divisor(level)))
}

/// The scale at a level.
pub(crate) type ScaleAt<'t> = dyn Fn(&Circuit, usize) -> Scale + 't;

/// As [`polynomial`], with the scale that a function gives for the level before the last rescale.
pub(crate) fn scaled_polynomial(
    c: &mut Circuit,
    x: Ciphertext,
    p: &[f64],
    (merged, target): (bool, &ScaleAt<'_>),
) -> Result<Ciphertext, Error> {
    Powers { known: BTreeMap::from([(1, x)]), merged }.polynomial(c, p, target)
}

pub(super) fn rescaled(c: &mut Circuit, a: &Ciphertext, merged: bool) -> Result<Ciphertext, Error> {
    if merged { c.relinearise_and_rescale(a) } else { c.rescale(a) }
}

/// The Chebyshev polynomials T_i of a ciphertext.
struct Powers {
    known: BTreeMap<usize, Ciphertext>,
    merged: bool,
}

impl Powers {
    /// T_i, by T_(a+b) = 2 T_a T_b - T_(a-b).
    fn get(&mut self, c: &mut Circuit, i: usize) -> Result<Ciphertext, Error> {
        if let Some(known) = self.known.get(&i) {
            return Ok(known.clone());
        }
        let a = if i.is_power_of_two() { i / 2 } else { 1 << i.ilog2() };
        let b = i - a;
        let (first, second) = (self.get(c, a)?, self.get(c, b)?);
        let twice = c.add(&first, &first)?;
        let product = c.multiply(&twice, &second);
        let difference = match a - b {
            0 => c.add_real(&product, -1.0),
            rest => {
                let rest = self.get(c, rest)?;
                let rest = c.lowered(&rest, product.level());
                let rest = c.multiply_real(&rest, 1.0, &product.scale);
                c.subtract(&product, &rest)?
            }
        };
        let power = rescaled(c, &difference, self.merged)?;
        self.known.insert(i, power.clone());
        Ok(power)
    }

    /// The value of a polynomial, by the method of Paterson and Stockmeyer, with a scale as in
    /// [`scaled_polynomial`].
    fn polynomial(&mut self, c: &mut Circuit, p: &[f64], target: &ScaleAt<'_>) -> Result<Ciphertext, Error> {
        let degree = p.len() - 1;
        let babies = 1 << (degree.ilog2() as usize + 2).div_ceil(2).min(degree.ilog2() as usize);
        // Even polynomials need no odd T_i, and odd ones of the even T_i only powers of two.
        let has = |parity: usize| p.iter().skip(2 - parity).step_by(2).any(|&coefficient| coefficient != 0.0);
        for i in (1..babies).filter(|i| has(i % 2)) {
            self.get(c, i)?;
        }
        let top = self.get(c, 1 << degree.ilog2())?;
        let level = top.level();
        let scale = target(c, level).times(&c.divisor(level));
        let value = self.value(c, p, babies, (level, &scale))?;
        rescaled(c, &value, self.merged)
    }

    /// The value at a level and with a scale. It is a sum of scalar multiples of T_i, i below `babies`, if
    /// they have the level; else q T_m + r.
    fn value(
        &mut self,
        c: &mut Circuit,
        p: &[f64],
        babies: usize,
        (level, scale): (usize, &Scale),
    ) -> Result<Ciphertext, Error> {
        let degree = p.iter().rposition(|&coefficient| coefficient != 0.0).unwrap_or(0);
        let p = &p[..=degree];
        let has_level =
            |i: usize| p[i] == 0.0 || self.known.get(&i).is_some_and(|power| power.level() >= level);
        if degree < babies && (1..=degree).all(has_level) || degree == 1 {
            let mut sum: Option<Ciphertext> = None;
            for i in (1..=degree).filter(|&i| p[i] != 0.0) {
                let power = self.get(c, i)?;
                let power = c.lowered(&power, level);
                let term = c.multiply_real(&power, p[i], scale);
                sum = Some(match sum {
                    None => term,
                    Some(sum) => c.add(&sum, &term)?,
                });
            }
            let sum = sum.expect("a polynomial of degree at least 1 has a term");
            return Ok(c.add_real(&sum, p[0]));
        }
        let m = 1 << degree.ilog2();
        let (quotient, rest) = divided(p, m);
        let power = self.get(c, m)?;
        let power = c.lowered(&power, level);
        let product = if quotient.iter().skip(1).all(|&coefficient| coefficient == 0.0) {
            c.multiply_real(&power, quotient[0], scale)
        } else {
            let above = scale.over(&power.scale).times(&c.divisor(level + 1));
            let quotient = self.value(c, &quotient, babies, (level + 1, &above))?;
            let quotient = rescaled(c, &quotient, self.merged)?;
            c.multiply(&quotient, &power)
        };
        if rest.iter().skip(1).all(|&coefficient| coefficient == 0.0) {
            return Ok(c.add_real(&product, rest[0]));
        }
        let rest = self.value(c, &rest, babies, (level, scale))?;
        c.add(&product, &rest)
    }
}

/// q and r with p = q T_m + r, for a degree below 2m.
fn divided(p: &[f64], m: usize) -> (Vec<f64>, Vec<f64>) {
    let mut quotient = vec![0.0; p.len() - m];
    let mut rest = p[..m].to_vec();
    quotient[0] = p[m];
    for i in 1..quotient.len() {
        quotient[i] = 2.0 * p[m + i];
        rest[m - i] -= p[m + i];
    }
    (quotient, rest)
}
