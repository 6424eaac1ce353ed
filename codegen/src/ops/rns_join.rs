//! The digits of an integer from its residues, by Garner's algorithm.

use super::{Builder, RingOp};
use crate::check::{Contract, Domain, PolynomialId};
use crate::code::Claim;
use crate::error::Error;
use ring::modular::Modulus;

pub(crate) struct RnsJoin;

impl RingOp for RnsJoin {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.in_rings(|rings| {
            let (x, y) = (rings.inputs("x", "from"), rings.outputs("y", "from"));
            rings.join("from", &x, &y)?;
            rings.claim(y, x);
            Ok(())
        })
    }

    /// Each digit is what is left of its residue below the earlier digits, over their weight.
    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x: Vec<PolynomialId> = claim.inputs.iter().map(|&input| domain.input(input)).collect();
        let moduli: Vec<Modulus> = x.iter().map(|&x| *domain.modulus_of(x)).collect();
        let mut digits: Vec<PolynomialId> = Vec::new();
        for (&x, q) in x.iter().zip(&moduli) {
            let (mut rest, mut weight) = (x, 1);
            for (&digit, s) in digits.iter().zip(&moduli) {
                let digit = domain.residue_in(digit, domain.tower_of(x));
                let below = domain.multiple(digit, weight);
                rest = domain.difference(rest, below);
                weight = q.mul(weight, q.residue(s.value()));
            }
            digits.push(domain.multiple(rest, q.inverse(weight).unwrap_or(0)));
        }
        let coefficients = |list: &[PolynomialId]| list.iter().map(|p| p.coefficients()).collect();
        Contract { inputs: coefficients(&x), outputs: coefficients(&digits) }
    }
}
