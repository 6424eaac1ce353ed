//! The rules for claims.

use crate::error::ClaimFault;
use crate::operation::Operation;
use crate::settings::{OF_CLAIM, Settings, unknown_setting, value_fault};
use crate::signature::{Range, SettingSpec, settings};
use b512_asm::{Claim, ClaimPart, Expression};

/// A claim that breaks no rule.
#[derive(Clone, Debug)]
pub(crate) struct Valid<'c> {
    pub(crate) claim: &'c Claim,
    /// Each operation, in the order of [`Claim::calls`].
    pub(crate) calls: Vec<(Operation, Settings<'c>)>,
}

impl<'c> Valid<'c> {
    /// Checks a claim: its operations are known and have as many operands as they take, all settings are
    /// given, none is unknown, and each has a value of its kind that suits the others.
    ///
    /// # Errors
    /// Returns every violation.
    pub(crate) fn new(claim: &'c Claim) -> Result<Self, Vec<ClaimFault>> {
        let valid = Self::well_formed(claim)?;
        let faults: Vec<ClaimFault> =
            valid.calls.iter().flat_map(|(_, settings)| settings.rule_faults()).collect();
        if faults.is_empty() { Ok(valid) } else { Err(faults) }
    }

    /// Checks operations, operands and settings, but no rule that relates a setting to others.
    pub(crate) fn well_formed(claim: &'c Claim) -> Result<Self, Vec<ClaimFault>> {
        let operations = claim.calls().enumerate().map(|(place, call)| {
            call.operation.parse::<Operation>().map_err(|unknown| {
                let message = format!("unknown operation `{}`", unknown.name);
                vec![ClaimFault::new(ClaimPart::Operation(place), message).help(unknown.help())]
            })
        });
        let operations: Vec<Operation> = operations.collect::<Result<_, _>>()?;
        let mut faults = shared_faults(claim, &operations);
        let calls = claim.calls().zip(&operations).enumerate().map(|(place, (call, operation))| {
            (*operation, Settings { signature: operation.signature(), claim, call, place })
        });
        let calls: Vec<(Operation, Settings<'c>)> = calls.collect();
        faults.extend(calls.iter().flat_map(|(_, settings)| settings.own_faults()));
        faults.extend(calls.iter().filter_map(|(_, settings)| settings.count_fault()));
        if faults.is_empty() { Ok(Self { claim, calls }) } else { Err(faults) }
    }

    /// The degree n of the ring, a power of two from 2 on.
    pub(crate) fn degree(&self) -> usize {
        self.claim.number(settings::N.name).expect("every claim has a degree") as usize
    }

    /// The modulus of all operands and results.
    pub(crate) fn modulus(&self) -> u128 {
        self.claim.number(settings::MODULUS.name).expect("every claim has a modulus")
    }

    /// The position of a setting in the claim.
    pub(crate) fn part(&self, name: &str) -> ClaimPart {
        let index = self.claim.settings.iter().position(|(known, _)| known == name);
        index.map_or(ClaimPart::Whole, ClaimPart::Setting)
    }

    /// The words that each input may have: any, if they are reduced wherever it is used.
    pub(crate) fn ranges(&self) -> Vec<Range> {
        fn narrow(expression: &Expression, range: Range, ranges: &mut [Range]) {
            match expression {
                Expression::Input(index) if range == Range::Residue => ranges[*index] = range,
                Expression::Input(_) | Expression::Number(_) => {}
                Expression::Call(call) => {
                    let operation: Operation = call.operation.parse().expect("the claim is valid");
                    for (operand, spec) in call.operands.iter().zip(operation.inputs()) {
                        narrow(operand, spec.range, ranges);
                    }
                }
            }
        }
        let mut ranges = vec![Range::Word; self.claim.inputs.len()];
        self.claim.expressions.iter().for_each(|root| narrow(root, Range::Residue, &mut ranges));
        ranges
    }
}

/// The operations of a claim with their settings, in the order of [`Claim::calls`].
///
/// # Errors
/// Returns the violations of all rules but those that relate a setting to others.
pub fn operations(claim: &Claim) -> Result<Vec<(Operation, Settings<'_>)>, Vec<ClaimFault>> {
    Valid::well_formed(claim).map(|valid| valid.calls)
}

/// The words that each input of a claim may have, in the order of the inputs.
///
/// # Errors
/// Returns the errors of [`operations`].
pub fn ranges(claim: &Claim) -> Result<Vec<Range>, Vec<ClaimFault>> {
    Valid::well_formed(claim).map(|valid| valid.ranges())
}

/// The rules that a claim breaks.
pub fn faults(claim: &Claim) -> Vec<ClaimFault> {
    Valid::new(claim).err().unwrap_or_default()
}

/// Violations by the settings that hold for all operations of a claim.
fn shared_faults(claim: &Claim, operations: &[Operation]) -> Vec<ClaimFault> {
    let mut specs = OF_CLAIM.to_vec();
    for spec in operations.iter().flat_map(|operation| operation.settings()) {
        if !specs.contains(spec) {
            specs.push(*spec);
        }
    }
    let mut faults = Vec::new();
    for (number, (name, value)) in claim.settings.iter().enumerate() {
        let part = ClaimPart::Setting(number);
        let mut own = specs.iter().filter(|spec| spec.name == name).peekable();
        match own.peek() {
            None => faults.push(unknown_setting(&specs, name, part)),
            Some(_) => faults.extend(own.filter_map(|spec| value_fault(spec, value, part)).next()),
        }
    }
    let missing = OF_CLAIM.iter().filter(|spec| claim.setting(spec.name).is_none());
    faults.extend(missing.map(|SettingSpec { name, .. }| {
        let fault = ClaimFault::new(ClaimPart::Whole, format!("the claim does not give `{name}`"));
        fault.help(format!("add `, {name}=...`"))
    }));
    faults
}
