//! Polynomials that a program is given, or computes limb by limb when it needs them.

use crate::base::Tower;
use crate::emitter::Emitter;
use ring_program::Limb;

/// A polynomial on values, with a limb for each modulus q of its level.
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

    /// All limbs, computed now.
    pub(crate) fn limbs(&self, e: &mut Emitter) -> Vec<Limb> {
        (0..self.level()).map(|tower| self.limb(e, Tower(tower))).collect()
    }

    /// The number of limbs.
    pub(crate) fn level(&self) -> usize {
        match self {
            Self::Limbs(limbs) => limbs.len(),
            Self::Products(pairs) => pairs[0][0].len(),
        }
    }

    /// The polynomial modulo the first `level` moduli only.
    pub(crate) fn truncated(&self, level: usize) -> Self {
        let truncated = |limbs: &Vec<Limb>| limbs[..level].to_vec();
        match self {
            Self::Limbs(limbs) => Self::Limbs(truncated(limbs)),
            Self::Products(pairs) => {
                Self::Products(pairs.iter().map(|pair| pair.each_ref().map(truncated)).collect())
            }
        }
    }
}
