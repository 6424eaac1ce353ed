//! Linear transforms of slots, with baby and giant steps and double hoisting.
//!
//! ```text
//! M x = sum_G rot_G( sum_b rot_(-G)(diag_(G+b)) rot_b(x) )
//! ```
//!
//! Digits of c_1 are raised once for all baby rotations b, whose sums stay modulo Q and P. So do the sums over the giant
//! rotations G, which are divided by P once, at the end.

use super::{Ciphertext, Circuit, Plaintext};
use crate::Error;
use crate::base::Tower;
use crate::dataflow::dc;
use crate::definition::{Definition, SwitchingKey};
use crate::matrix::Slots;
use crate::polynomial::Polynomial;
use crate::scale::Scale;
use crate::switch::{Extended, Switch};
use std::collections::{BTreeMap, BTreeSet};

/// The giant steps of a linear transform: rotations in slots, from 0.
pub(crate) type Plan = Vec<(usize, Vec<(usize, Slots)>)>;

/// When the first component of a giant step's sum is divided by P.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ModDowns {
    /// Once, with the second one, at the end.
    Once,
    /// For each giant step, as OpenFHE 1.5.1 does.
    EachStep,
}

/// A matrix to multiply slots with.
#[derive(Debug)]
pub(crate) struct LinearTransform<'p> {
    /// The name of its plaintexts, which their diagonals follow.
    pub(crate) name: String,
    pub(crate) plan: &'p Plan,
    /// The scale of its plaintexts.
    pub(crate) scale: Scale,
    pub(crate) mod_downs: ModDowns,
    /// Whether the division by P is also one by the last modulus.
    pub(crate) rescales: bool,
}

impl Circuit<'_> {
    /// The product of a matrix and the slots of a ciphertext. It is not rescaled, unless the transform says so.
    pub(crate) fn transform(
        &mut self,
        x: &Ciphertext,
        transform: &LinearTransform<'_>,
    ) -> Result<Ciphertext, Error> {
        let x = self.relinearised(x.clone());
        if transform.rescales && x.level() == 1 {
            return Err(Error::NothingToDrop { program: self.program });
        }
        let base = self.emitter.base().at(x.level());
        let rotations: BTreeSet<usize> =
            transform.plan.iter().flat_map(|(_, terms)| terms.iter().map(|(baby, _)| *baby)).collect();
        let babies = self.babies(&x, &rotations)?;
        let mut sums: [Option<Extended>; 2] = [None, None];
        // What is divided by P already.
        let mut divided = None;
        for (step, (giant, terms)) in transform.plan.iter().enumerate() {
            let [mut inner0, inner1] = self.weighted_sums(&babies, terms, (step, x.level()), transform);
            let exponent = match giant {
                0 => None,
                &giant => Some(self.exponent(giant as i64)?),
            };
            if transform.mod_downs == ModDowns::EachStep {
                let lowered = self.divided_by_p(x.level(), std::mem::take(&mut inner0));
                let lowered = self.permuted(&lowered, exponent);
                divided = Some(self.sum_of(divided, lowered));
            }
            let [outer0, outer1] = match exponent {
                None => [inner0, inner1],
                Some(exponent) => {
                    let c1 = self.divided_by_p(x.level(), inner1);
                    let c1 = Polynomial::Limbs(base.q().iter().map(|tower| c1[tower]).collect());
                    let key = self.key(SwitchingKey::Galois(exponent), &base);
                    let mut switch = Switch::new(&mut self.emitter, base.clone(), c1, vec![key], false);
                    dc::accumulate(&mut switch);
                    let [first, second] = switch.into_sums().pop().expect("a key");
                    let first = self.sum_of(Some(first), inner0);
                    [first, second].map(|sum| self.permuted(&sum, Some(exponent)))
                }
            };
            sums = match sums {
                [None, None] => [Some(outer0), Some(outer1)],
                [first, second] => [Some(self.sum_of(first, outer0)), Some(self.sum_of(second, outer1))],
            };
        }
        let sums = sums.map(|sum| sum.expect("a matrix has a diagonal"));
        let sums = sums.map(|sum| self.complete(sum, x.level())).to_vec();
        let mut switch = Switch::of_sums(&mut self.emitter, base.clone(), sums, transform.rescales);
        dc::divide(&mut switch);
        let mut components: Vec<_> = switch.results().into_iter().flatten().collect();
        if let Some(divided) = divided {
            let last = components[0].clone();
            let sum = base
                .q()
                .into_iter()
                .zip(last)
                .map(|(tower, limb)| self.emitter.add(limb, divided[&tower], tower));
            components[0] = sum.collect();
        }
        let mut scale = x.scale.times(&transform.scale);
        if transform.rescales {
            scale = scale.over(&self.last_modulus(x.level()));
        }
        Ok(Ciphertext::new(components, scale))
    }

    /// Rotations of a ciphertext, times P, modulo Q and P. The rotation by 0 is 0 modulo P, and has no limbs there.
    fn babies(
        &mut self,
        x: &Ciphertext,
        rotations: &BTreeSet<usize>,
    ) -> Result<BTreeMap<usize, [Extended; 2]>, Error> {
        let base = self.emitter.base().at(x.level());
        let special = base.conversion(base.p());
        let e = &mut self.emitter;
        let [c0, c1] = [0, 1].map(|component| x.components[component].limbs(e));
        let scaled = |e: &mut crate::emitter::Emitter, limbs: &[ring_program::Limb]| -> Extended {
            let product = |tower: Tower| {
                (tower, e.multiply_scalar(limbs[tower.0], special.product(base.ring(tower)), tower))
            };
            base.q().into_iter().map(product).collect()
        };
        let first = scaled(e, &c0);
        let mut babies = BTreeMap::new();
        if rotations.contains(&0) {
            let second = scaled(e, &c1);
            babies.insert(0, [first.clone(), second]);
        }
        let rotations: Vec<usize> = rotations.iter().copied().filter(|&rotation| rotation > 0).collect();
        let exponents = rotations
            .iter()
            .map(|&rotation| self.exponent(rotation as i64))
            .collect::<Result<Vec<_>, _>>()?;
        let keys = exponents.iter().map(|&g| self.key(SwitchingKey::Galois(g), &base)).collect();
        let mut switch = Switch::new(&mut self.emitter, base.clone(), Polynomial::Limbs(c1), keys, false);
        if !rotations.is_empty() {
            dc::accumulate(&mut switch);
        }
        let sums = if rotations.is_empty() { Vec::new() } else { switch.into_sums() };
        for ((rotation, exponent), [sum0, sum1]) in rotations.into_iter().zip(exponents).zip(sums) {
            let sum0 = self.sum_of(Some(sum0), first.clone());
            babies.insert(rotation, [sum0, sum1].map(|sum| self.permuted(&sum, Some(exponent))));
        }
        Ok(babies)
    }

    /// The sums of the products of plaintexts and rotations, in both components.
    fn weighted_sums(
        &mut self,
        babies: &BTreeMap<usize, [Extended; 2]>,
        terms: &[(usize, Slots)],
        (step, level): (usize, usize),
        transform: &LinearTransform<'_>,
    ) -> [Extended; 2] {
        let mut sums = [Extended::new(), Extended::new()];
        for (baby, slots) in terms {
            let name = format!("{}.{step}.{baby}", transform.name);
            let definition = Definition::Plaintext { slots: slots.clone(), scale: transform.scale.clone() };
            let Plaintext { limbs, .. } =
                self.plaintext(name, (level, true), transform.scale.clone(), definition);
            for (sum, component) in sums.iter_mut().zip(&babies[baby]) {
                for (&tower, &limb) in component {
                    let product = self.emitter.multiply(limb, limbs[&tower], tower);
                    let total = self.emitter.accumulate(sum.get(&tower).copied(), product, tower);
                    sum.insert(tower, total);
                }
            }
            self.ledger.current().plaintext_products += 1;
        }
        sums
    }

    /// Limb by limb; a limb that one of them lacks is 0.
    fn sum_of(&mut self, a: Option<Extended>, b: Extended) -> Extended {
        let mut sum = a.unwrap_or_default();
        for (tower, limb) in b {
            let total = self.emitter.accumulate(sum.get(&tower).copied(), limb, tower);
            sum.insert(tower, total);
        }
        sum
    }

    fn permuted(&mut self, a: &Extended, exponent: Option<u32>) -> Extended {
        let Some(exponent) = exponent else { return a.clone() };
        let e = &mut self.emitter;
        a.iter().map(|(&tower, &limb)| (tower, e.automorphism(limb, exponent, tower))).collect()
    }

    /// The sum with limbs of zeros where it lacks some.
    fn complete(&mut self, mut sum: Extended, level: usize) -> Extended {
        for tower in self.emitter.base().at(level).all() {
            sum.entry(tower).or_insert_with(|| self.emitter.zero());
        }
        sum
    }

    /// A sum modulo Q and P divided by P.
    fn divided_by_p(&mut self, level: usize, sum: Extended) -> Extended {
        let base = self.emitter.base().at(level);
        let sum = self.complete(sum, level);
        let mut switch = Switch::of_sums(&mut self.emitter, base.clone(), vec![sum], false);
        dc::divide(&mut switch);
        let limbs = switch.results().pop().and_then(|mut sums| sums.pop()).expect("one sum");
        base.q().into_iter().zip(limbs).collect()
    }
}
