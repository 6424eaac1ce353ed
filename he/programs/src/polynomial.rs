//! Polynomials that a program is given, or computes limb by limb when it needs them.

use crate::base::{Extended, Tower};
use crate::emitter::Emitter;
use ring_program::Limb;

/// A polynomial on values, with a limb for each modulus q of its level.
#[derive(Clone, Debug)]
pub(crate) enum Polynomial {
    /// Limbs with values.
    Limbs(Extended),
    /// The sum of the products of pairs of polynomials, recomputed at each use.
    Products(Vec<[Extended; 2]>),
}

impl Polynomial {
    /// The limb of a tower.
    pub(crate) fn limb(&self, e: &mut Emitter, tower: Tower) -> Limb {
        match self {
            Self::Limbs(limbs) => limbs[&tower],
            Self::Products(pairs) => {
                let mut sum = None;
                for [a, b] in pairs {
                    let product = e.multiply(a[&tower], b[&tower], tower);
                    sum = Some(e.accumulate(sum, product, tower));
                }
                sum.expect("a sum has at least one product")
            }
        }
    }

    /// All limbs, computed now.
    pub(crate) fn limbs(&self, e: &mut Emitter) -> Extended {
        self.towers().into_iter().map(|tower| (tower, self.limb(e, tower))).collect()
    }

    /// The moduli of its limbs.
    pub(crate) fn towers(&self) -> Vec<Tower> {
        match self {
            Self::Limbs(limbs) => limbs.keys().copied().collect(),
            Self::Products(pairs) => pairs[0][0].keys().copied().collect(),
        }
    }

    /// The polynomial modulo some of its moduli only.
    pub(crate) fn modulo(&self, towers: &[Tower]) -> Self {
        let modulo = |limbs: &Extended| towers.iter().map(|tower| (*tower, limbs[tower])).collect();
        match self {
            Self::Limbs(limbs) => Self::Limbs(modulo(limbs)),
            Self::Products(pairs) => {
                Self::Products(pairs.iter().map(|pair| pair.each_ref().map(modulo)).collect())
            }
        }
    }
}
