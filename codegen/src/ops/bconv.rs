//! The fast conversion of coefficients to other moduli.

use super::conversion::{Conversion, converted};
use super::{Builder, RingOp};
use crate::check::{Contract, Domain};
use crate::code::Claim;
use crate::error::Error;

pub(crate) struct Bconv;

impl RingOp for Bconv {
    fn lower(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let conversion = Conversion { centred: builder.word("variant") == CENTRED, t: 1 };
        builder.in_rings(|rings| {
            let (x, y) = (rings.inputs("x", "from"), rings.outputs("y", "to"));
            rings.convert(["from", "to"], conversion, &x, &y)?;
            rings.claim(y, x);
            Ok(())
        })
    }

    fn contract(&self, domain: &mut Domain, claim: &Claim) -> Contract {
        let conversion = Conversion { centred: claim.word("variant") == CENTRED, t: 1 };
        let x: Vec<_> = claim.inputs.iter().map(|&input| domain.input(input)).collect();
        let result = |&output| {
            let tower = domain.tower_of_buffer(output);
            converted(domain, &x, tower, conversion).coefficients()
        };
        let outputs = claim.outputs.iter().map(result).collect();
        Contract { inputs: x.iter().map(|x| x.coefficients()).collect(), outputs }
    }
}

const CENTRED: &str = "centred";
