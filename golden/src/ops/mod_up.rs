//! The conversion of values from one residue number system to another, as key switching raises a digit.

use crate::conversion::{FROM, FROM_ROOTS, TO, TO_ROOTS, check_coprime, check_roots, raise};
use crate::signature::settings::N;
use crate::{ClaimFault, Definition, GoldenError, Operand, SettingSpec, Settings};

/// y = transforms of the fast conversion of the inverse transforms of x.
#[derive(Clone, Copy, Debug)]
pub struct ModUp;

impl Definition for ModUp {
    fn name(&self) -> &'static str {
        "mod_up"
    }

    fn definition(&self) -> &'static str {
        "y_j = ntt(bconv(intt(x_i))), with plain residues: values modulo from become values modulo to"
    }

    fn inputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("x", "from")] }
    }

    fn outputs(&self) -> &'static [Operand] {
        const { &[Operand::residues("y", "to")] }
    }

    fn settings(&self) -> &'static [SettingSpec] {
        const { &[N, FROM, FROM_ROOTS, TO, TO_ROOTS] }
    }

    fn check(&self, settings: &Settings<'_>) -> Result<(), Vec<ClaimFault>> {
        let mut faults = check_coprime(settings, FROM.name, &[]);
        faults.extend(check_roots(settings, FROM.name, FROM_ROOTS.name));
        faults.extend(check_roots(settings, TO.name, TO_ROOTS.name));
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError> {
        raise(settings, inputs)
    }
}

#[cfg(test)]
impl crate::tests::Textbook for ModUp {
    fn textbook(&self, case: &crate::tests::Case<'_>) -> Vec<u128> {
        let from = case.list("from");
        let x: Vec<_> = (0..from.len()).map(|k| case.interpolate(k, "from", k)).collect();
        let integers: Vec<_> = (0..case.n)
            .map(|i| case.overflowing(&x.iter().map(|x| x[i].clone()).collect::<Vec<_>>(), &from))
            .collect();
        case.each_of_values("to", &integers)
    }
}
