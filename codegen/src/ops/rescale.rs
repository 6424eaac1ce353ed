//! The rounded division by a modulus.

use super::conversion::{Conversion, TRANSFORMS, quotients};
use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use crate::plan::Direction;

pub(crate) struct Rescale;

impl RingOp for Rescale {
    fn transforms(&self) -> &'static [Direction] {
        TRANSFORMS
    }

    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.in_rings(|rings| rings.divide("last", Conversion { centred: true, t: 1 }))
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        quotients(domain, claim, Conversion { centred: true, t: 1 })
    }
}
