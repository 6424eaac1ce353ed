//! The rules for claims: the settings of their operations and the numbers of operands.

use crate::operation::Operation;
use crate::signature::{Kind, Range, SettingSpec, Signature, listed, settings};
use b512_asm::reg::MAX_VDM_WORDS;
use b512_asm::{Call, Claim, ClaimPart, Code, Expression, Setting};
use diagnostic::{counted, nearest};
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

/// A claim that breaks no rule.
#[derive(Clone, Debug)]
pub(crate) struct Valid<'c> {
    pub(crate) claim: &'c Claim,
    /// Each operation, in the order of [`Claim::calls`].
    pub(crate) calls: Vec<(Operation, Settings<'c>)>,
}

/// The settings of every claim, which hold for all its operations: the degree and the modulus.
pub const OF_CLAIM: [SettingSpec; 2] = [settings::N, settings::MODULUS];

impl<'c> Valid<'c> {
    /// Checks a claim: its operations are known and have as many operands as they take, all settings are given, none is unknown,
    /// and each has a value of its kind that suits the others.
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

/// The settings of an operation in a claim: those of the operation, and those that hold for all of the claim.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'c> {
    signature: &'static Signature,
    claim: &'c Claim,
    call: &'c Call,
    /// The place of the operation in the claim.
    place: usize,
}

impl<'c> Settings<'c> {
    /// Settings of the operation alone that are unknown or invalid, and settings that are not given.
    fn own_faults(&self) -> Vec<ClaimFault> {
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
    fn count_fault(&self) -> Option<ClaimFault> {
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
            _ => panic!("`{}` has no number `{name}`", self.signature.name),
        }
    }

    /// The value of a setting that is a word.
    ///
    /// # Panics
    /// Panics if the operation has no such setting.
    pub fn word(&self, name: &str) -> &'c str {
        match self.find(name) {
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
    fn part(&self, name: &str) -> ClaimPart {
        let position = |settings: &[(String, Setting)]| settings.iter().position(|(known, _)| known == name);
        match position(&self.call.settings) {
            Some(own) => ClaimPart::SettingOf(self.place, own),
            None => position(&self.claim.settings).map_or(ClaimPart::Whole, ClaimPart::Setting),
        }
    }
}

fn unknown_setting(specs: &[SettingSpec], name: &str, part: ClaimPart) -> ClaimFault {
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
