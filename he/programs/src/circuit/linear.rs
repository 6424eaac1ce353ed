//! Linear transforms of slots, with baby and giant steps.
//!
//! ```text
//! M x = sum_G rot_G( sum_b rot_(-G)(diag_(G+b)) rot_b(x) )
//! ```
//!
//! With double hoisting, digits of c_1 are raised once for all baby rotations b, whose sums stay modulo Q and
//! P. So do the sums over the giant rotations G, which are divided by P once, at the end. Giant steps may
//! also be inside each other, by Horner's rule.

use super::bootstrap::babies;
use super::{Ciphertext, Circuit, Plaintext};
use crate::Error;
use crate::base::{Extended, Tower};
use crate::dataflow::dc;
use crate::definition::{Definition, SwitchingKey};
use crate::matrix::Slots;
use crate::option::Hoisting;
use crate::polynomial::Polynomial;
use crate::scale::Scale;
use crate::switch::Switch;
use num_complex::Complex64;
use ring_program::{Limb, RegionKind};
use std::collections::{BTreeMap, BTreeSet};

/// The giant steps of a linear transform: rotations in slots, from 0.
pub(crate) type Plan = Vec<(usize, Vec<(usize, Slots)>)>;

/// A matrix to multiply slots with, by its diagonals: slot k of the diagonal d has the entry of row k and
/// column k + d. Diagonals have one length, which divides n/2; then all is modulo this length, and slots
/// repeat.
pub type Diagonals = BTreeMap<i64, Vec<Complex64>>;

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
    pub(crate) hoisting: Hoisting,
    /// Whether the division by P also rescales.
    pub(crate) rescales: bool,
}

/// A giant step in the order of evaluation.
struct GiantStep<'p> {
    /// The index in the plan.
    step: usize,
    /// The rotation of its sum.
    rotation: usize,
    terms: &'p [(usize, Slots)],
}

impl LinearTransform<'_> {
    /// The baby rotations.
    fn babies(&self) -> BTreeSet<usize> {
        self.plan.iter().flat_map(|(_, terms)| terms.iter().map(|(baby, _)| *baby)).collect()
    }

    /// The giant steps, the last one first if each rotates the sum of those before it.
    fn giant_steps(&self) -> Vec<GiantStep<'_>> {
        let mut steps: Vec<GiantStep<'_>> = Vec::new();
        for (step, (giant, terms)) in self.plan.iter().enumerate() {
            let before = match step.checked_sub(1).filter(|_| self.hoisting.is_nested()) {
                Some(before) => self.plan[before].0,
                None => 0,
            };
            steps.push(GiantStep { step, rotation: giant - before, terms });
        }
        if self.hoisting.is_nested() {
            steps.reverse();
        }
        steps
    }
}

impl Circuit {
    /// The product of a matrix and the slots of a ciphertext, rescaled to the ciphertext's scale. Its
    /// plaintexts are the inputs `NAME.GIANT.BABY`.
    ///
    /// # Errors
    /// Returns an error if there is no diagonal, their lengths differ or do not divide n/2, or the ciphertext
    /// has one modulus.
    pub fn linear_transform(
        &mut self,
        name: &str,
        x: &Ciphertext,
        diagonals: &Diagonals,
        hoisting: Hoisting,
    ) -> Result<Ciphertext, Error> {
        let scale = x.scale.clone();
        self.linear_transform_to(name, x, (diagonals, &scale), hoisting)
    }

    /// As [`linear_transform`](Self::linear_transform), rescaled to a scale.
    pub(crate) fn linear_transform_to(
        &mut self,
        name: &str,
        x: &Ciphertext,
        (diagonals, scale): (&Diagonals, &Scale),
        hoisting: Hoisting,
    ) -> Result<Ciphertext, Error> {
        let wrong = |reason: String| {
            let (program, name) = (self.program.to_string(), name.to_owned());
            Err(Error::Matrix { program, name, reason })
        };
        self.needs_ckks()?;
        let most = self.set.degree().len() / 2;
        let Some(slots) = diagonals.values().next().map(Vec::len) else {
            return wrong("has no diagonal".to_owned());
        };
        if slots == 0 || !most.is_multiple_of(slots) {
            return wrong(format!(
                "has diagonals of {slots} slots, which do not divide the {most} of the set"
            ));
        }
        if let Some((other, values)) = diagonals.iter().find(|(_, values)| values.len() != slots) {
            return wrong(format!(
                "has {} slots in the diagonal {other}, and {slots} in another",
                values.len()
            ));
        }
        let mut places: BTreeMap<usize, Vec<Complex64>> = BTreeMap::new();
        for (diagonal, values) in diagonals {
            let sum = places.entry(diagonal.rem_euclid(slots as i64) as usize);
            let sum = sum.or_insert_with(|| vec![Complex64::ZERO; slots]);
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        let babies = babies(&places.keys().copied().collect(), slots);
        let mut giants: BTreeMap<usize, Vec<(usize, Slots)>> = BTreeMap::new();
        for (place, mut values) in places {
            let (giant, baby) = (place / babies * babies, place % babies);
            values.rotate_right(giant);
            giants.entry(giant).or_default().push((baby, Slots::Values(values.into())));
        }
        let plan: Plan = giants.into_iter().collect();
        let scale = scale.times(&self.divisor(x.level())).over(&x.scale);
        let name = name.to_owned();
        let rescales = hoisting.is_extended();
        let mod_downs = ModDowns::Once;
        let product =
            self.transform(x, &LinearTransform { name, plan: &plan, scale, mod_downs, hoisting, rescales })?;
        if rescales { Ok(product) } else { self.rescale(&product) }
    }

    /// The product of a matrix and the slots of a ciphertext. It is not rescaled, unless the transform says
    /// so.
    pub(crate) fn transform(
        &mut self,
        x: &Ciphertext,
        transform: &LinearTransform<'_>,
    ) -> Result<Ciphertext, Error> {
        let x = self.relinearised(x.clone());
        if transform.rescales && x.level() == 1 {
            return Err(Error::NothingToDrop {
                program: self.program.to_string(),
                operation: "linear transform",
            });
        }
        self.in_operation("linear transform", |c| match transform.hoisting {
            Hoisting::Double | Hoisting::Horner => c.transform_extended(&x, transform),
            Hoisting::Single | Hoisting::None | Hoisting::MinKs => c.transform_plain(&x, transform),
            // Without a giant rotation there is nothing to divide by P.
            Hoisting::Compact if transform.plan.iter().all(|(giant, _)| *giant == 0) => {
                c.transform_plain(&x, transform)
            }
            Hoisting::Compact => c.transform_compact(&x, transform),
        })
    }

    /// Sums stay modulo Q until they are rotated.
    fn transform_plain(
        &mut self,
        x: &Ciphertext,
        transform: &LinearTransform<'_>,
    ) -> Result<Ciphertext, Error> {
        let babies = self.in_operation("baby steps", |c| c.plain_babies(x, transform))?;
        let mut sum: Option<Ciphertext> = None;
        for GiantStep { step, rotation, terms } in transform.giant_steps() {
            let scope = self.emitter.open(RegionKind::Operation, format!("giant step {step}"));
            let mut inner = if transform.hoisting.is_nested() { sum.take() } else { None };
            for (baby, slots) in terms {
                let plaintext = self.diagonal(transform, (step, *baby), (x.level(), false), slots);
                inner = Some(self.multiply_add(inner, &babies[baby], &plaintext)?);
            }
            let rotated = self.rotated(inner.expect("a giant step has a diagonal"), rotation as i64)?;
            sum = Some(match sum {
                None => rotated,
                Some(sum) => self.add(&sum, &rotated)?,
            });
            self.emitter.close(scope);
        }
        Ok(sum.expect("a matrix has a diagonal"))
    }

    /// Giant steps inside each other, with compact key switches (Falcon's): the key switch of a giant step
    /// needs the second component modulo Q only, so that the first one stays modulo Q and P, times P, from
    /// step to step. It is divided by P once, at the end.
    fn transform_compact(
        &mut self,
        x: &Ciphertext,
        transform: &LinearTransform<'_>,
    ) -> Result<Ciphertext, Error> {
        let base = self.emitter.base().at(x.level());
        let babies = self.in_operation("baby steps", |c| c.plain_babies(x, transform))?;
        // The first component times P; the second one.
        let mut sums: Option<[Extended; 2]> = None;
        for GiantStep { step, rotation, terms } in transform.giant_steps() {
            let scope = self.emitter.open(RegionKind::Operation, format!("giant step {step}"));
            let mut inner: Option<Ciphertext> = None;
            for (baby, slots) in terms {
                let plaintext = self.diagonal(transform, (step, *baby), (x.level(), false), slots);
                inner = Some(self.multiply_add(inner, &babies[baby], &plaintext)?);
            }
            let inner = inner.expect("a giant step has a diagonal");
            let [first, mut second] =
                [0, 1].map(|component| inner.components[component].limbs(&mut self.emitter));
            let mut first = self.times_p(x.level(), &first);
            if let Some([before, of_before]) = sums.take() {
                first = self.sum_of(Some(before), first);
                second = self.sum_of(Some(second), of_before);
            }
            if rotation > 0 {
                let exponent = self.exponent(rotation as i64)?;
                let input = Polynomial::Limbs(second);
                let key = self.key(SwitchingKey::Galois(exponent), &base);
                let mut switch = Switch::new(&mut self.emitter, base.clone(), input, vec![key], x.level());
                dc::accumulate(&mut switch);
                let [switched, lowered] = switch.into_sums().pop().expect("a key");
                first = self.sum_of(Some(switched), first);
                first = self.permuted(&first, Some(exponent));
                let lowered = self.divided_by_p(x.level(), lowered);
                second = self.permuted(&lowered, Some(exponent));
            }
            sums = Some([first, second]);
            self.emitter.close(scope);
        }
        let [first, second] = sums.expect("a matrix has a diagonal");
        let first = self.in_operation("mod-down", |c| c.divided_by_p(x.level(), first));
        Ok(Ciphertext::new(vec![first, second], x.level(), x.scale.times(&transform.scale)))
    }

    /// A polynomial modulo Q times P, which is 0 modulo P.
    fn times_p(&mut self, level: usize, limbs: &Extended) -> Extended {
        let e = &mut self.emitter;
        let base = e.base().at(level);
        let special = base.conversion(base.p());
        let product = |(&tower, &limb): (&Tower, &Limb)| {
            (tower, e.multiply_scalar(limb, special.product(base.ring(tower)), tower))
        };
        limbs.iter().map(product).collect()
    }

    /// Rotations of a ciphertext: with digits that are raised once, each by itself, or each from the one
    /// before.
    fn plain_babies(
        &mut self,
        x: &Ciphertext,
        transform: &LinearTransform<'_>,
    ) -> Result<BTreeMap<usize, Ciphertext>, Error> {
        let rotations: Vec<usize> = transform.babies().into_iter().filter(|&baby| baby > 0).collect();
        let rotated = match transform.hoisting {
            Hoisting::Single => {
                let exponents = rotations.iter().map(|&rotation| self.exponent(rotation as i64));
                let exponents = exponents.collect::<Result<Vec<_>, _>>()?;
                self.automorphisms(x, &exponents)
            }
            Hoisting::MinKs | Hoisting::Compact => {
                let (mut last, mut before, mut all) = (x.clone(), 0, Vec::new());
                for &rotation in &rotations {
                    last = self.rotated(last, (rotation - before) as i64)?;
                    before = rotation;
                    all.push(last.clone());
                }
                all
            }
            Hoisting::None | Hoisting::Double | Hoisting::Horner => {
                let rotated = rotations.iter().map(|&rotation| self.rotated(x.clone(), rotation as i64));
                rotated.collect::<Result<_, _>>()?
            }
        };
        Ok(rotations.into_iter().zip(rotated).chain([(0, x.clone())]).collect())
    }

    /// A ciphertext with slots rotated to the left.
    pub(crate) fn rotated(&mut self, x: Ciphertext, rotation: i64) -> Result<Ciphertext, Error> {
        if rotation == 0 {
            return Ok(x);
        }
        let exponent = self.exponent(rotation)?;
        Ok(self.automorphisms(&x, &[exponent]).pop().expect("a switch has a result for each key"))
    }

    /// Sums stay modulo Q and P until the end.
    fn transform_extended(
        &mut self,
        x: &Ciphertext,
        transform: &LinearTransform<'_>,
    ) -> Result<Ciphertext, Error> {
        let base = self.emitter.base().at(x.level());
        let babies = self.in_operation("baby steps", |c| c.babies(x, &transform.babies()))?;
        let mut sums: [Option<Extended>; 2] = [None, None];
        // What is divided by P already.
        let mut divided = None;
        for giant_step in transform.giant_steps() {
            let scope = self.emitter.open(RegionKind::Operation, format!("giant step {}", giant_step.step));
            let [mut inner0, mut inner1] = self.weighted_sums(&babies, &giant_step, x.level(), transform);
            if transform.hoisting.is_nested() {
                [inner0, inner1] =
                    [(0, inner0), (1, inner1)].map(|(c, inner)| self.sum_of(sums[c].take(), inner));
            }
            let exponent = match giant_step.rotation {
                0 => None,
                rotation => Some(self.exponent(rotation as i64)?),
            };
            if transform.mod_downs == ModDowns::EachStep {
                let lowered = self.divided_by_p(x.level(), std::mem::take(&mut inner0));
                let lowered = self.permuted(&lowered, exponent);
                divided = Some(self.sum_of(divided, lowered));
            }
            let [outer0, outer1] = match exponent {
                None => [inner0, inner1],
                Some(exponent) => {
                    let c1 = Polynomial::Limbs(self.divided_by_p(x.level(), inner1));
                    let key = self.key(SwitchingKey::Galois(exponent), &base);
                    let mut switch = Switch::new(&mut self.emitter, base.clone(), c1, vec![key], x.level());
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
            self.emitter.close(scope);
        }
        let scope = self.emitter.open(RegionKind::Operation, "mod-down");
        let sums = sums.map(|sum| sum.expect("a matrix has a diagonal"));
        let sums = sums.map(|sum| self.complete(sum, x.level())).to_vec();
        let to = x.level() - usize::from(transform.rescales);
        let mut switch = Switch::of_sums(&mut self.emitter, base, sums, to);
        dc::divide(&mut switch);
        let mut components: Vec<_> = switch.results().into_iter().flatten().collect();
        if let Some(divided) = divided {
            components[0] = self.sum_of(Some(components[0].clone()), divided);
        }
        self.emitter.close(scope);
        let mut scale = x.scale.times(&transform.scale);
        if transform.rescales {
            scale = scale.over(&self.divisor(x.level()));
        }
        Ok(Ciphertext::new(components, to, scale))
    }

    /// Rotations of a ciphertext, times P, modulo Q and P. The rotation by 0 is 0 modulo P, and has no limbs
    /// there.
    fn babies(
        &mut self,
        x: &Ciphertext,
        rotations: &BTreeSet<usize>,
    ) -> Result<BTreeMap<usize, [Extended; 2]>, Error> {
        let base = self.emitter.base().at(x.level());
        let [c0, c1] = [0, 1].map(|component| x.components[component].limbs(&mut self.emitter));
        let first = self.times_p(x.level(), &c0);
        let mut babies = BTreeMap::new();
        if rotations.contains(&0) {
            let second = self.times_p(x.level(), &c1);
            babies.insert(0, [first.clone(), second]);
        }
        let rotations: Vec<usize> = rotations.iter().copied().filter(|&rotation| rotation > 0).collect();
        let exponents = rotations
            .iter()
            .map(|&rotation| self.exponent(rotation as i64))
            .collect::<Result<Vec<_>, _>>()?;
        let keys = exponents.iter().map(|&g| self.key(SwitchingKey::Galois(g), &base)).collect();
        let mut switch = Switch::new(&mut self.emitter, base, Polynomial::Limbs(c1), keys, x.level());
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

    /// The plaintext of a diagonal, modulo P too if `extended`.
    fn diagonal(
        &mut self,
        transform: &LinearTransform<'_>,
        (step, baby): (usize, usize),
        (level, extended): (usize, bool),
        slots: &Slots,
    ) -> Plaintext {
        let (name, scale) = (format!("{}.{step}.{baby}", transform.name), transform.scale.clone());
        let definition = Definition::Plaintext { slots: slots.clone(), scale: scale.clone() };
        self.plaintext(name, (level, extended), scale, definition)
    }

    /// The sums of the products of plaintexts and rotations, in both components.
    fn weighted_sums(
        &mut self,
        babies: &BTreeMap<usize, [Extended; 2]>,
        &GiantStep { step, terms, .. }: &GiantStep<'_>,
        level: usize,
        transform: &LinearTransform<'_>,
    ) -> [Extended; 2] {
        let mut sums = [Extended::new(), Extended::new()];
        for (baby, slots) in terms {
            let Plaintext { limbs, .. } = self.diagonal(transform, (step, *baby), (level, true), slots);
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
        let mut switch = Switch::of_sums(&mut self.emitter, base, vec![sum], level);
        dc::divide(&mut switch);
        switch.results().pop().and_then(|mut sums| sums.pop()).expect("one sum")
    }
}
