//! The rules for claims: an operation's settings and the number of its operands.

use crate::signature::{Kind, Operand, Range, SettingSpec, Signature};
use b512_asm::reg::MAX_VDM_WORDS;
use b512_asm::{Claim, ClaimPart, Code, Setting};
use diagnostic::nearest;
use std::fmt;
use std::slice;

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
    signature: Signature,
    claim: &'c Claim,
}

impl<'c> Settings<'c> {
    /// Checks the settings of a claim: all are given, none is unknown, and each has a value of its kind.
    ///
    /// # Errors
    /// Returns every violation.
    pub(crate) fn new(signature: Signature, claim: &'c Claim) -> Result<Self, Vec<ClaimFault>> {
        let specs = signature.settings;
        let mut faults = Vec::new();
        for (number, (name, value)) in claim.settings.iter().enumerate() {
            let part = ClaimPart::Setting(number);
            match specs.iter().find(|spec| spec.name == name) {
                Some(spec) => faults.extend(value_faults(spec, value, part)),
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
        let Signature { name, inputs, outputs, .. } = self.signature;
        let mut faults = Vec::new();
        // Every vector costs memory.
        let most = u128::from(MAX_VDM_WORDS);
        for operand in inputs.iter().chain(outputs) {
            let Some(count) = operand.count else { continue };
            if !(1..=most).contains(&self.number(count)) {
                let message = format!("invalid number `{count}` = {}", self.number(count));
                let fault = ClaimFault::new(self.part(count), message);
                return vec![fault.help("it must be at least 1, and the operands must fit the memory")];
            }
        }
        let mut count = |operands, what, given| {
            let expected = self.moduli(operands).len();
            if given != expected {
                let plural = if expected == 1 { "" } else { "s" };
                let message = format!("`{name}` takes {expected} {what}{plural}, not {given}");
                faults.push(ClaimFault::new(ClaimPart::Operation, message));
            }
        };
        count(inputs, "operand", self.claim.inputs.len());
        count(outputs, "output", self.claim.outputs.len());
        faults
    }

    /// The operation's name, operands, results and settings.
    pub fn signature(&self) -> Signature {
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

    /// The value of a setting that is a list; one number is a list as well.
    ///
    /// # Panics
    /// Panics if the operation has no such setting.
    pub fn numbers(&self, name: &str) -> &'c [u128] {
        match self.claim.setting(name) {
            Some(Setting::Number(number)) => slice::from_ref(number),
            Some(Setting::Numbers(numbers)) => numbers,
            Some(Setting::Word(_)) | None => panic!("`{}` has no list `{name}`", self.signature.name),
        }
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
        let spec = self.signature.settings.iter().find(|spec| spec.kind == Kind::Degree);
        self.number(spec.expect("every operation has a degree").name) as usize
    }

    /// The modulus of each of the operands or results.
    pub fn moduli(&self, operands: &[Operand]) -> Vec<u128> {
        self.each(operands).map(|(_, modulus)| modulus).collect()
    }

    /// The range of each of the operands or results.
    pub fn ranges(&self, operands: &[Operand]) -> Vec<Range> {
        self.each(operands).map(|(operand, _)| operand.range).collect()
    }

    /// Each vector's operand and modulus.
    fn each<'o>(&self, operands: &'o [Operand]) -> impl Iterator<Item = (&'o Operand, u128)> + use<'c, 'o> {
        let settings = *self;
        operands.iter().flat_map(move |operand| {
            let times = operand.count.map_or(1, |count| settings.number(count) as usize);
            let moduli = std::iter::repeat_n(settings.numbers(operand.modulus), times).flatten();
            moduli.map(move |&modulus| (operand, modulus))
        })
    }

    /// The position of a setting in the claim.
    pub fn part(&self, name: &str) -> ClaimPart {
        let index = self.claim.settings.iter().position(|(known, _)| known == name);
        index.map_or(ClaimPart::Whole, ClaimPart::Setting)
    }
}

fn unknown_setting(signature: Signature, name: &str, part: ClaimPart) -> ClaimFault {
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

/// The violations of the setting's kind by `value`.
fn value_faults(spec: &SettingSpec, value: &Setting, part: ClaimPart) -> Vec<ClaimFault> {
    let name = spec.name;
    match (spec.kind, value) {
        (Kind::Degree, Setting::Number(n)) => degree_fault(name, *n, part).into_iter().collect(),
        (Kind::Modulus, Setting::Number(modulus)) => modulus_fault(*modulus, part).into_iter().collect(),
        (Kind::Moduli, Setting::Numbers(moduli)) => {
            let empty = moduli.is_empty().then(|| ClaimFault::new(part, format!("`{name}` has no modulus")));
            empty.into_iter().chain(moduli.iter().filter_map(|&q| modulus_fault(q, part))).collect()
        }
        (Kind::Root | Kind::Number, Setting::Number(_))
        | (Kind::Numbers | Kind::Roots(_), Setting::Numbers(_))
        | (Kind::Word, Setting::Word(_)) => Vec::new(),
        (Kind::Degree | Kind::Modulus | Kind::Root | Kind::Number, _) => {
            vec![ClaimFault::new(part, format!("`{name}` must be a number"))]
        }
        (Kind::Moduli | Kind::Numbers | Kind::Roots(_), _) => {
            let fault = ClaimFault::new(part, format!("`{name}` must be a list of numbers"));
            vec![fault.help(format!("write `{name}=[..]`"))]
        }
        (Kind::Word, _) => vec![ClaimFault::new(part, format!("`{name}` must be a word"))],
    }
}

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
