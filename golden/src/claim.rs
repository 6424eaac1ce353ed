//! The rules for claims: an operation's settings and the number of its operands.

use crate::signature::{Kind, SettingSpec, Signature, listed};
use b512_asm::reg::MAX_VDM_WORDS;
use b512_asm::{Claim, ClaimPart, Code, Setting};
use diagnostic::nearest;
use std::fmt;

/// A violated rule for claims.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimFault {
    /// The error code.
    pub code: Code,
    /// The part of the claim.
    pub part: ClaimPart,
    /// The problem, in one line.
    pub message: String,
    /// The fix.
    pub help: Option<String>,
}

impl ClaimFault {
    /// An invalid claim.
    pub fn new(part: ClaimPart, message: impl Into<String>) -> Self {
        Self { code: Code::Claim, part, message: message.into(), help: None }
    }

    /// Adds a fix.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for ClaimFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.help {
            Some(help) => write!(f, "{} ({help})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ClaimFault {}

/// The settings of a claim, all present and of the right kind.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'c> {
    signature: &'static Signature,
    claim: &'c Claim,
}

impl<'c> Settings<'c> {
    /// Checks the settings of a claim: all are given, none is unknown, and each has a value of its kind.
    ///
    /// # Errors
    /// Returns every violation.
    pub(crate) fn new(signature: &'static Signature, claim: &'c Claim) -> Result<Self, Vec<ClaimFault>> {
        let specs = signature.settings;
        let mut faults = Vec::new();
        for (number, (name, value)) in claim.settings.iter().enumerate() {
            let part = ClaimPart::Setting(number);
            match specs.iter().find(|spec| spec.name == name) {
                Some(spec) => faults.extend(value_fault(spec, value, part)),
                None => faults.push(unknown_setting(signature, name, part)),
            }
        }
        for SettingSpec { name, .. } in specs {
            if claim.setting(name).is_none() {
                let fault = ClaimFault::new(ClaimPart::Whole, format!("the claim does not give `{name}`"));
                faults.push(fault.help(format!("add `, {name}=...`")));
            }
        }
        if faults.is_empty() { Ok(Self { signature, claim }) } else { Err(faults) }
    }

    /// Wrong numbers of operands or outputs.
    pub(crate) fn count_faults(&self) -> Vec<ClaimFault> {
        let Signature { name, inputs, outputs, .. } = *self.signature;
        let mut faults = Vec::new();
        let mut count = |expected: usize, what, given: usize| {
            if given != expected {
                let plural = if expected == 1 { "" } else { "s" };
                let message = format!("`{name}` takes {expected} {what}{plural}, not {given}");
                faults.push(ClaimFault::new(ClaimPart::Operation, message));
            }
        };
        count(inputs.len(), "operand", self.claim.inputs.len());
        count(outputs.len(), "output", self.claim.outputs.len());
        faults
    }

    /// Violations of rules that relate a setting to others.
    pub(crate) fn rule_faults(&self) -> Vec<ClaimFault> {
        self.signature.settings.iter().flat_map(|spec| self.rule_faults_of(spec)).collect()
    }

    fn rule_faults_of(&self, spec: &SettingSpec) -> Vec<ClaimFault> {
        let (n, part) = (self.degree() as u128, self.part(spec.name));
        let mut faults = Vec::new();
        match spec.kind {
            Kind::Root => {
                let (modulus, root) = (self.modulus(), self.number(spec.name));
                if modulus % (2 * n) != 1 {
                    let message = format!("the modulus {modulus:#x} is not 1 mod 2n = {}", 2 * n);
                    let help = format!("`{}` needs a primitive 2n-th root of unity", self.signature.name);
                    faults.push(ClaimFault::new(self.part("modulus"), message).help(help));
                }
                if root == 0 || root >= modulus {
                    let message = format!("the root {root:#x} is not between 0 and the modulus");
                    faults.push(ClaimFault::new(part, message));
                }
            }
            Kind::Exponent => {
                let (name, exponent) = (spec.name, self.number(spec.name));
                if exponent.is_multiple_of(2) || exponent >= 2 * n {
                    let fault = ClaimFault::new(part, format!("invalid exponent {name} = {exponent}"));
                    faults.push(fault.help(format!("{name} must be odd and below 2n = {}", 2 * n)));
                }
            }
            Kind::Degree | Kind::Modulus | Kind::Number | Kind::Choice(_) => {}
        }
        faults
    }

    /// The operation's name, operands, results and settings.
    pub fn signature(&self) -> &'static Signature {
        self.signature
    }

    /// The claim.
    pub fn claim(&self) -> &'c Claim {
        self.claim
    }

    /// The value of a setting that is a number.
    ///
    /// # Panics
    /// Panics if the operation has no such setting.
    pub fn number(&self, name: &str) -> u128 {
        self.claim.number(name).unwrap_or_else(|| panic!("`{}` has no number `{name}`", self.signature.name))
    }

    /// The value of a setting that is a word.
    ///
    /// # Panics
    /// Panics if the operation has no such setting.
    pub fn word(&self, name: &str) -> &'c str {
        match self.claim.setting(name) {
            Some(Setting::Word(word)) => word,
            _ => panic!("`{}` has no word `{name}`", self.signature.name),
        }
    }

    /// The degree n of the ring, a power of two from 2 on.
    ///
    /// # Panics
    /// Panics if the operation has no setting of the kind [`Kind::Degree`].
    pub fn degree(&self) -> usize {
        self.of_kind(Kind::Degree) as usize
    }

    /// The modulus of all operands and results.
    ///
    /// # Panics
    /// Panics if the operation has no setting of the kind [`Kind::Modulus`].
    pub fn modulus(&self) -> u128 {
        self.of_kind(Kind::Modulus)
    }

    fn of_kind(&self, kind: Kind) -> u128 {
        let spec = self.signature.settings.iter().find(|spec| spec.kind == kind);
        self.number(spec.expect("every operation has a degree and a modulus").name)
    }

    /// The position of a setting in the claim.
    pub fn part(&self, name: &str) -> ClaimPart {
        let index = self.claim.settings.iter().position(|(known, _)| known == name);
        index.map_or(ClaimPart::Whole, ClaimPart::Setting)
    }
}

fn unknown_setting(signature: &Signature, name: &str, part: ClaimPart) -> ClaimFault {
    let operation = signature.name;
    let names = || signature.settings.iter().map(|spec| spec.name);
    let fault = ClaimFault::new(part, format!("unknown setting `{name}` of `{operation}`"));
    match nearest(name, names()) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => {
            let names: Vec<String> = names().map(|name| format!("`{name}`")).collect();
            fault.help(format!("the settings of `{operation}` are {}", names.join(", ")))
        }
    }
}

/// The violation of the setting's kind by `value`, as far as no other setting counts.
fn value_fault(spec: &SettingSpec, value: &Setting, part: ClaimPart) -> Option<ClaimFault> {
    let name = spec.name;
    match (spec.kind, value) {
        (Kind::Degree, Setting::Number(n)) => degree_fault(name, *n, part),
        (Kind::Modulus, Setting::Number(modulus)) => modulus_fault(*modulus, part),
        (Kind::Root | Kind::Number | Kind::Exponent, Setting::Number(_)) => None,
        (Kind::Choice(words), Setting::Word(word)) => {
            let fault = || ClaimFault::new(part, format!("unknown {name} `{word}`"));
            let help = || format!("`{name}` is {}", listed(words));
            (!words.contains(&&**word)).then(|| fault().help(help()))
        }
        (Kind::Choice(_), Setting::Number(_)) => {
            Some(ClaimFault::new(part, format!("`{name}` must be a word")))
        }
        (_, Setting::Word(_)) => Some(ClaimFault::new(part, format!("`{name}` must be a number"))),
    }
}

/// The range is wider than that of `ring`, which this crate does not import: a claim may be of any vector that a
/// memory holds.
fn degree_fault(name: &str, n: u128, part: ClaimPart) -> Option<ClaimFault> {
    if n > MAX_VDM_WORDS.into() {
        Some(ClaimFault::new(part, format!("{name} = {n} is larger than any memory")))
    } else if n < 2 || !n.is_power_of_two() {
        let fault = ClaimFault::new(part, format!("{name} = {n} is not a power of two"));
        Some(fault.help("the smallest is 2"))
    } else {
        None
    }
}

fn modulus_fault(modulus: u128, part: ClaimPart) -> Option<ClaimFault> {
    let what = match modulus {
        0..3 => "too small",
        _ if modulus.is_multiple_of(2) => "even",
        _ => return None,
    };
    let fault = ClaimFault::new(part, format!("the modulus {modulus:#x} is {what}"));
    Some(ClaimFault { code: Code::Modulus, ..fault.help("a modulus is odd and at least 3") })
}
