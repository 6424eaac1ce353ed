//! The division by the special moduli of key switching.

use super::conversion::{Conversion, TRANSFORMS, quotients};
use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;
use crate::plan::Direction;

pub(crate) struct ModDown;

impl RingOp for ModDown {
    fn transforms(&self) -> &'static [Direction] {
        TRANSFORMS
    }

    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let t = builder.number("t");
        builder.in_rings(|rings| rings.divide("from", Conversion { centred: false, t }))
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        quotients(domain, claim, Conversion { centred: false, t: claim.number("t") })
    }
}
