//! Values modulo other moduli: inverse transforms, a fast conversion, and transforms.

use super::conversion::{Conversion, TRANSFORMS, converted};
use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use crate::plan::Direction;

pub(crate) struct ModUp;

impl RingOp for ModUp {
    fn transforms(&self) -> &'static [Direction] {
        TRANSFORMS
    }

    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.in_rings(|rings| rings.raise("from", "to"))
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let x: Vec<_> = claim.inputs.iter().map(|&input| domain.input(input)).collect();
        let raised = |&output| {
            let tower = domain.tower_of_buffer(output);
            converted(domain, &x, tower, Conversion::PLAIN).evaluations()
        };
        let outputs = claim.outputs.iter().map(raised).collect();
        Contract { inputs: x.iter().map(|x| x.evaluations()).collect(), outputs }
    }
}
