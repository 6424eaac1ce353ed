//! Proof that vector code computes its claims; [the parent](super) has the rules.

use super::fault::LoweringFault;
use super::proof::Proof;
use crate::code::Code;

/// Proves that `code` computes its claims, for all data.
///
/// # Errors
/// Returns the first fault.
pub fn lowering(code: &Code) -> Result<(), LoweringFault> {
    let mut proof = Proof::new(code)?;
    for (number, inst) in code.insts.iter().enumerate() {
        proof.step(number as u32, inst)?;
    }
    proof.results()
}
