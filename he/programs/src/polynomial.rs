//! Polynomials that a program is given, or computes limb by limb when it needs them.

use crate::base::Tower;
use crate::emitter::Emitter;
use ring_program::Limb;

/// A polynomial on values, with a limb for each modulus q in use.
#[derive(Clone, Debug)]
pub(crate) enum Polynomial {
    /// Limbs with values.
    Limbs(Vec<Limb>),
    /// The sum of the products of pairs of polynomials, recomputed at each use.
    Products(Vec<[Vec<Limb>; 2]>),
}

impl Polynomial {
    /// The limb of a tower.
    pub(crate) fn limb(&self, e: &mut Emitter, tower: Tower) -> Limb {
        match self {
            Self::Limbs(limbs) => limbs[tower.0],
            Self::Products(pairs) => {
                let mut sum = None;
                for [a, b] in pairs {
                    let product = e.multiply(a[tower.0], b[tower.0], tower);
                    sum = Some(e.accumulate(sum, product, tower));
                }
                sum.expect("a sum has at least one product")
            }
        }
    }

    /// The polynomial with all limbs computed now.
    pub(crate) fn computed(&self, e: &mut Emitter) -> Self {
        let towers = e.base().q();
        Self::Limbs(towers.into_iter().map(|tower| self.limb(e, tower)).collect())
    }
}
