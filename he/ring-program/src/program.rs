//! Programs.

use crate::moduli::ModulusTable;
use crate::{
    ConstantIndex, Constants, Fault, Function, Limb, LimbId, LimbTable, ModulusIndex, Operation, Parameters,
    Regions, Step,
};
use ring::Degree;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

/// The limbs of an input or an output, in the order of its data file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The name.
    pub name: String,
    /// The limbs.
    pub limbs: Vec<Limb>,
    /// The modulus of each limb, if the generator or the manifest says it. `None` for a limb that no line
    /// reads, of a modulus that the table lacks.
    pub moduli: Option<Vec<Option<ModulusIndex>>>,
}

/// A program of operations on limbs, or of [calls](Step) of functions that have such operations; valid in all
/// parts.
///
/// Two programs are equal if they have the same degree, moduli, operations, functions, calls, inputs, outputs
/// and seeded limbs. Source lines, parameters, purposes of keys and regions do not matter.
#[derive(Clone, Debug)]
pub struct RingProgram {
    pub(crate) degree: Degree,
    /// Functions share it.
    pub(crate) moduli: Arc<ModulusTable>,
    pub(crate) limbs: LimbTable,
    pub(crate) constants: Constants,
    pub(crate) operations: Vec<Operation>,
    /// The source lines, 0 for none.
    pub(crate) lines: Vec<u32>,
    pub(crate) functions: Vec<Function>,
    pub(crate) steps: Vec<Step>,
    pub(crate) inputs: Vec<Group>,
    pub(crate) outputs: Vec<Group>,
    pub(crate) seeded: Option<Vec<Limb>>,
    pub(crate) parameters: Option<Parameters>,
    pub(crate) keys: BTreeMap<String, String>,
    pub(crate) regions: Regions,
    /// The smallest roots of the moduli that have a transform without a root.
    pub(crate) default_roots: BTreeMap<ModulusIndex, u128>,
}

impl RingProgram {
    /// The degree n.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// The moduli.
    pub fn moduli(&self) -> &ModulusTable {
        &self.moduli
    }

    /// The limbs and their ids.
    pub fn limbs(&self) -> &LimbTable {
        &self.limbs
    }

    /// The scalars and roots.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// The operations in order; none in a program with functions.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The line of the text, from 1, that has the operation with this index.
    pub fn line(&self, operation: usize) -> Option<NonZeroU32> {
        NonZeroU32::new(self.lines.get(operation).copied()?)
    }

    /// The inputs in order. Their limbs may be unread, and several inputs may share a limb.
    pub fn inputs(&self) -> &[Group] {
        &self.inputs
    }

    /// The outputs in order. An output's limb may be an input's, never written.
    pub fn outputs(&self) -> &[Group] {
        &self.outputs
    }

    /// The limbs of inputs that a seed can replace, if the manifest lists them.
    pub fn seeded(&self) -> Option<&[Limb]> {
        self.seeded.as_deref()
    }

    /// The parameter set, if the generator or the manifest says it.
    pub fn parameters(&self) -> Option<&Parameters> {
        self.parameters.as_ref()
    }

    /// What each key does, in one line such as `from s^2 to s, for products`, as far as the generator or the
    /// manifest says. A key's inputs have its name, or names that begin with it and a dot.
    pub fn keys(&self) -> &BTreeMap<String, String> {
        &self.keys
    }

    /// The root of unity of a transform: the one that the text states, or else the smallest
    /// primitive 2n-th root modulo `modulus`.
    ///
    /// # Panics
    /// Panics if `root` is `None` and the program has no such transform modulo `modulus`.
    pub fn root(&self, root: Option<ConstantIndex>, modulus: ModulusIndex) -> u128 {
        root.map_or_else(|| self.default_roots[&modulus], |root| self.constants.value(root))
    }

    /// Sets the moduli of the limbs of all inputs and of all outputs, in order, as in [`Group::moduli`].
    ///
    /// # Panics
    /// Panics if there is not one for each limb.
    pub fn set_moduli(
        &mut self,
        inputs: Vec<Vec<Option<ModulusIndex>>>,
        outputs: Vec<Vec<Option<ModulusIndex>>>,
    ) {
        for (groups, moduli) in [(&mut self.inputs, inputs), (&mut self.outputs, outputs)] {
            assert_eq!(groups.len(), moduli.len(), "a list for each name");
            for (group, moduli) in groups.iter_mut().zip(moduli) {
                assert_eq!(group.limbs.len(), moduli.len(), "a modulus for each limb");
                group.moduli = Some(moduli);
            }
        }
    }

    pub(crate) fn find_default_root(&mut self, modulus: ModulusIndex) -> Result<(), Fault> {
        if !self.default_roots.contains_key(&modulus) {
            let root = ring::root::smallest_root(self.moduli.value(modulus), self.degree)
                .map_err(|error| Fault::new(crate::Part::Named(crate::Name::Root), error.to_string()))?;
            self.default_roots.insert(modulus, root);
        }
        Ok(())
    }

    /// The ids of a group's limbs.
    pub fn ids(&self, group: &Group) -> Vec<LimbId> {
        group.limbs.iter().map(|&limb| self.limbs.id(limb)).collect()
    }
}

impl PartialEq for RingProgram {
    fn eq(&self, other: &Self) -> bool {
        let parts = |program: &Self| (program.degree, program.operations.len());
        parts(self) == parts(other)
            && self.moduli == other.moduli
            && self.limbs == other.limbs
            && self.constants == other.constants
            && self.operations == other.operations
            && self.functions == other.functions
            && self.steps == other.steps
            && self.inputs == other.inputs
            && self.outputs == other.outputs
            && self.seeded == other.seeded
    }
}

impl Eq for RingProgram {}
