//! The residues of an integer that is given by digits: one multiplication and addition for each.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain, PolynomialId};
use crate::code::Claim;
use crate::error::Error;

pub(crate) struct RnsSplit;

impl RingOp for RnsSplit {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.in_rings(|rings| {
            let (x, y) = (rings.inputs("x", "from"), rings.outputs("y", "to"));
            rings.split(["from", "to"], &x, &y);
            rings.claim(y, x);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x: Vec<PolynomialId> = claim.inputs.iter().map(|&input| domain.input(input)).collect();
        let radices: Vec<u128> = x.iter().map(|&x| domain.modulus_of(x).value()).collect();
        let residue = |&output| {
            let tower = domain.tower_of_buffer(output);
            let q = *domain.modulus(tower);
            let (mut sum, mut weight) = (domain.residue_in(x[0], tower), q.residue(radices[0]));
            for (&digit, &radix) in x.iter().zip(&radices).skip(1) {
                let digit = domain.residue_in(digit, tower);
                let term = domain.multiple(digit, weight);
                sum = domain.sum(sum, term);
                weight = q.mul(weight, q.residue(radix));
            }
            sum.coefficients()
        };
        let outputs = claim.outputs.iter().map(residue).collect();
        Contract { inputs: x.iter().map(|x| x.coefficients()).collect(), outputs }
    }
}
