//! The division by a modulus that keeps a number modulo t.

use super::conversion::{Conversion, TRANSFORMS, quotients};
use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use crate::plan::Direction;

pub(crate) struct ModSwitch;

impl RingOp for ModSwitch {
    fn transforms(&self) -> &'static [Direction] {
        TRANSFORMS
    }

    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let t = builder.number("t");
        builder.in_rings(|rings| rings.divide("last", Conversion { centred: true, t }))
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        quotients(domain, claim, Conversion { centred: true, t: claim.number("t") })
    }
}
