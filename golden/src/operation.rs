//! Operations: their definitions, and their claims.

use crate::claim::{ClaimFault, Settings};
use crate::error::GoldenError;
use crate::signature::{Kind, Operand, SettingSpec, Signature};
use b512_asm::{Claim, Setting};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// The meaning of an operation.
///
/// All operands and results are vectors of n residues, where n is the setting of kind
/// [`Kind::Degree`].
pub trait Definition: Sync {
    /// The name in claims and on the command line, and of the operation's file in each layer.
    fn name(&self) -> &'static str;

    /// The result in one line, over Z_q\[x\]/(x^n + 1).
    fn definition(&self) -> &'static str;

    /// The operands.
    fn inputs(&self) -> &'static [Operand];

    /// The results.
    fn outputs(&self) -> &'static [Operand];

    /// The settings, in the order in which claims give them. All are required.
    fn settings(&self) -> &'static [SettingSpec];

    /// Valid values of the [parameters](Operation::parameters), for examples, tests and timing.
    fn examples(&self) -> Vec<(String, Setting)> {
        Vec::new()
    }

    /// Checks rules that no setting's [`Kind`] can express.
    ///
    /// # Errors
    /// Returns the violations if the settings define no result.
    fn check(&self, settings: &Settings<'_>) -> Result<(), Vec<ClaimFault>> {
        let _ = settings;
        Ok(())
    }

    /// The results for valid operands: their number and lengths are right, and every word is in the
    /// [range](crate::Range) of its operand.
    ///
    /// # Errors
    /// Returns an error if the settings define no result although [`check`](Self::check) accepts
    /// them: expensive checks belong here.
    fn evaluate(&self, settings: &Settings<'_>, inputs: &[&[u128]]) -> Result<Vec<Vec<u128>>, GoldenError>;
}

/// An operation of the list [`OPERATIONS`](crate::OPERATIONS).
#[derive(Clone, Copy)]
pub struct Operation(&'static dyn Definition);

impl Operation {
    pub(crate) const fn new(definition: &'static dyn Definition) -> Self {
        Self(definition)
    }

    /// Its name, operands, results and settings.
    pub fn signature(self) -> Signature {
        let (inputs, outputs, settings) = (self.inputs(), self.outputs(), self.settings());
        Signature { name: self.name(), inputs, outputs, settings }
    }

    /// The settings of a claim of this operation.
    ///
    /// # Errors
    /// Returns every rule that the claim breaks.
    pub fn settings_of(self, claim: &Claim) -> Result<Settings<'_>, Vec<ClaimFault>> {
        let settings = Settings::new(self.signature(), claim)?;
        let mut faults = settings.count_faults();
        faults.extend(self.check(&settings).err().into_iter().flatten());
        if faults.is_empty() { Ok(settings) } else { Err(faults) }
    }

    /// The settings that no ring gives, in the order of claims.
    pub fn parameters(self) -> impl Iterator<Item = &'static SettingSpec> {
        self.settings().iter().filter(|setting| setting.kind.is_parameter())
    }

    /// Whether the operation is defined by roots of unity.
    pub fn has_root(self) -> bool {
        self.settings().iter().any(|setting| matches!(setting.kind, Kind::Root | Kind::Roots(_)))
    }

    /// Whether all operands and results are residues of one modulus. Other operations have
    /// [lists](Self::lists).
    pub fn in_one_ring(self) -> bool {
        self.settings().iter().all(|setting| setting.kind != Kind::Moduli)
    }

    /// The settings with moduli of an operation that works in several rings, in the order of claims; none
    /// for other operations. A [`Kind::Modulus`] counts as a list of one.
    pub fn lists(self) -> impl Iterator<Item = &'static SettingSpec> {
        let settings = self.settings().iter().filter(move |_| !self.in_one_ring());
        settings.filter(|setting| matches!(setting.kind, Kind::Modulus | Kind::Moduli))
    }

    /// The claim of this operation in one ring, with the default names of its symbols. A list of
    /// moduli contains `modulus` only; operations without a root omit it. The caller adds the
    /// [parameters](Self::parameters), whose examples give the numbers of operands.
    pub fn in_ring(self, n: u32, modulus: u128, root: u128) -> Claim {
        let mut claim = self.in_rings(n, &|_| vec![(modulus, root)], &self.examples());
        claim.settings.retain(|(name, _)| self.parameters().all(|parameter| parameter.name != name));
        claim
    }

    /// The claim of this operation with the default names of its symbols. `rings` gives the moduli of
    /// each setting with moduli, and their roots, which count only for operations with roots. A
    /// parameter without a value is omitted.
    pub fn in_rings(
        self,
        n: u32,
        rings: &dyn Fn(&str) -> Vec<(u128, u128)>,
        parameters: &[(String, Setting)],
    ) -> Claim {
        let parameter = |name: &str| parameters.iter().find(|(known, _)| known == name);
        let names = |operands: &[Operand]| -> Vec<String> {
            let is_list = |name| {
                self.settings().iter().any(|setting| setting.name == name && setting.kind == Kind::Moduli)
            };
            let names = operands.iter().flat_map(|operand| {
                let count = match operand.count.and_then(parameter) {
                    Some((_, Setting::Number(count))) => Some(*count as usize),
                    _ => is_list(operand.modulus).then(|| rings(operand.modulus).len()),
                };
                match count {
                    None => vec![operand.name.to_owned()],
                    Some(count) => (0..count).map(|number| format!("{}{number}", operand.name)).collect(),
                }
            });
            names.collect()
        };
        let (moduli, roots) = (
            |list: &str| rings(list).into_iter().map(|(modulus, _)| modulus).collect(),
            |list: &str| rings(list).into_iter().map(|(_, root)| root).collect(),
        );
        let value = |setting: &SettingSpec| {
            let value = match setting.kind {
                Kind::Degree => Setting::Number(n.into()),
                Kind::Modulus => Setting::Number(rings(setting.name).first()?.0),
                Kind::Moduli => Setting::Numbers(moduli(setting.name)),
                Kind::Root => Setting::Number(rings("modulus").first()?.1),
                Kind::Roots(list) => Setting::Numbers(roots(list)),
                Kind::Number | Kind::Numbers | Kind::Word => parameter(setting.name)?.1.clone(),
            };
            Some((setting.name.to_owned(), value))
        };
        Claim {
            outputs: names(self.outputs()),
            operation: self.name().to_owned(),
            inputs: names(self.inputs()),
            settings: self.settings().iter().filter_map(value).collect(),
        }
    }
}

impl Deref for Operation {
    type Target = dyn Definition;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for Operation {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Operation {}

impl PartialOrd for Operation {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Operation {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name().cmp(other.name())
    }
}

impl Hash for Operation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
