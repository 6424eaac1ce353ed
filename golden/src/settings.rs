//! The settings of operations in claims, and their rules.

use crate::error::ClaimFault;
use crate::signature::{Kind, SettingSpec, Signature, listed, settings};
use b512_asm::reg::MAX_VDM_WORDS;
use b512_asm::{Call, Claim, ClaimPart, Code, Setting};
use diagnostic::{counted, nearest};

/// The settings of every claim, which hold for all its operations: the degree and the modulus.
pub const OF_CLAIM: [SettingSpec; 2] = [settings::N, settings::MODULUS];

/// The settings of an operation in a claim: those of the operation, and those that hold for all of the claim.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'c> {
    pub(crate) signature: &'static Signature,
    pub(crate) claim: &'c Claim,
    pub(crate) call: &'c Call,
    /// The place of the operation in the claim.
    pub(crate) place: usize,
}

impl<'c> Settings<'c> {
    /// Settings of the operation alone that are unknown or invalid, and settings that are not given.
    pub(crate) fn own_faults(&self) -> Vec<ClaimFault> {
        let specs = self.signature.settings;
        let mut faults = Vec::new();
        for (number, (name, value)) in self.call.settings.iter().enumerate() {
            let part = ClaimPart::SettingOf(self.place, number);
            match specs.iter().find(|spec| spec.name == name) {
                None => faults.push(unknown_setting(specs, name, part)),
                Some(spec) if !spec.kind.is_parameter() => {
                    let fault = ClaimFault::new(part, format!("`{name}` is one for the whole claim"));
                    faults.push(fault.help("give it after the expressions"));
                }
                Some(spec) => faults.extend(value_fault(spec, value, part)),
            }
        }
        let is_missing = |spec: &&SettingSpec| !OF_CLAIM.contains(spec) && self.find(spec.name).is_none();
        faults.extend(specs.iter().filter(is_missing).map(|SettingSpec { name, .. }| {
            let part = ClaimPart::Operation(self.place);
            let fault = ClaimFault::new(part, format!("the claim does not give `{name}`"));
            fault.help(format!("add `, {name}=...`"))
        }));
        faults
    }

    /// A wrong number of operands.
    pub(crate) fn count_fault(&self) -> Option<ClaimFault> {
        let (Signature { name, inputs, .. }, given) = (*self.signature, self.call.operands.len());
        (given != inputs.len()).then(|| {
            let expected = counted(inputs.len(), "operand", "operands");
            let message = format!("`{name}` takes {expected}, not {given}");
            ClaimFault::new(ClaimPart::Operation(self.place), message)
        })
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

    fn find(&self, name: &str) -> Option<&'c Setting> {
        let own = self.call.settings.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        own.or_else(|| self.claim.setting(name))
    }

    /// The value of a setting that is a number.
    ///
    /// # Panics
    /// Panics if the operation has no such setting.
    pub fn number(&self, name: &str) -> u128 {
        match self.find(name) {
            Some(Setting::Number(number)) => *number,
            Some(Setting::Word(_)) | None => panic!("`{}` has no number `{name}`", self.signature.name),
        }
    }

    /// The value of a setting that is a word.
    ///
    /// # Panics
    /// Panics if the operation has no such setting.
    pub fn word(&self, name: &str) -> &'c str {
        match self.find(name) {
            Some(Setting::Word(word)) => word,
            Some(Setting::Number(_)) | None => panic!("`{}` has no word `{name}`", self.signature.name),
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
    fn part(&self, name: &str) -> ClaimPart {
        let position = |settings: &[(String, Setting)]| settings.iter().position(|(known, _)| known == name);
        match position(&self.call.settings) {
            Some(own) => ClaimPart::SettingOf(self.place, own),
            None => position(&self.claim.settings).map_or(ClaimPart::Whole, ClaimPart::Setting),
        }
    }
}

/// A setting that is none of `specs`.
pub(crate) fn unknown_setting(specs: &[SettingSpec], name: &str, part: ClaimPart) -> ClaimFault {
    let names = || specs.iter().map(|spec| spec.name);
    let fault = ClaimFault::new(part, format!("unknown setting `{name}`"));
    match nearest(name, names()) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => {
            let names: Vec<String> = names().map(|name| format!("`{name}`")).collect();
            fault.help(format!("the settings here are {}", names.join(", ")))
        }
    }
}

/// The violation of the setting's kind by `value`, as far as no other setting counts.
pub(crate) fn value_fault(spec: &SettingSpec, value: &Setting, part: ClaimPart) -> Option<ClaimFault> {
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

/// The range is wider than that of `ring`, which this crate does not import: a claim may be of any vector
/// that a memory holds.
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
    let what = if modulus < 3 {
        "too small"
    } else if modulus.is_multiple_of(2) {
        "even"
    } else {
        return None;
    };
    let fault = ClaimFault::new(part, format!("the modulus {modulus:#x} is {what}"));
    Some(ClaimFault { code: Code::Modulus, ..fault.help("a modulus is odd and at least 3") })
}
