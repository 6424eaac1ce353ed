//! Construction of programs, operation by operation.

use crate::check::{Roots, check};
use crate::fault::{Fault, Part};
use crate::program::{Group, RingProgram};
use crate::shape::{Duplicate, Shape};
use crate::{
    ConstantIndex, Constants, Limb, LimbId, LimbTable, ModulusFault, ModulusIndex, ModulusTable, Operation,
    Parameters,
};
use ring::Degree;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A program under construction.
///
/// ```
/// use ring_program::{Builder, LimbId, Operation, shape::Binary};
///
/// let mut program = Builder::new(512)?;
/// let m = program.add_modulus(12289)?;
/// let [a, b, d] = [1, 2, 3].map(|id| program.limb(LimbId(id)));
/// program.declare_input("x", vec![a, b]);
/// program.push(Operation::Multiply(Binary { d, a, b, m }))?;
/// let program = program.finish(Some(vec![("y".into(), vec![d])]))?;
/// assert!(program.to_text().ends_with("sr_mulp %3, %1, %2, m=1\nhalt\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    program: RingProgram,
    roots: Roots,
    /// For each limb, whether it has a value. May be shorter than the table of limbs.
    defined: Vec<bool>,
    /// The limbs without a value that copies without a value come from.
    origins: FxHashMap<Limb, Limb>,
    /// Whether the inputs were declared; otherwise each limb that is read first is one.
    declared: bool,
}

impl Builder {
    /// An empty program for polynomials of degree `n`. Its inputs are the limbs that are read
    /// before they are written, unless inputs are declared.
    ///
    /// # Errors
    /// Returns an error if `n` is no [`Degree`].
    pub fn new(n: u64) -> Result<Self, ring::Error> {
        let degree = Degree::new(n)?;
        let program = RingProgram {
            degree,
            moduli: ModulusTable::default(),
            limbs: LimbTable::default(),
            constants: Constants::default(),
            operations: Vec::new(),
            lines: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            seeded: None,
            parameters: None,
            default_roots: BTreeMap::new(),
        };
        let (defined, origins) = (Vec::new(), FxHashMap::default());
        Ok(Self { program, roots: Roots::default(), defined, origins, declared: false })
    }

    /// The program so far.
    pub fn program(&self) -> &RingProgram {
        &self.program
    }

    /// Appends a modulus to the table.
    ///
    /// # Errors
    /// Returns an error if the modulus is invalid or a duplicate, or if the table is full.
    pub fn add_modulus(&mut self, modulus: u128) -> Result<ModulusIndex, ModulusFault> {
        self.program.moduli.push(self.program.degree, modulus)
    }

    /// The limb with an id.
    pub fn limb(&mut self, id: LimbId) -> Limb {
        self.program.limbs.intern(id)
    }

    /// The constant with a value.
    pub fn constant(&mut self, value: u128) -> ConstantIndex {
        self.program.constants.intern(value)
    }

    /// Whether all inputs are declared from now on. If not, a limb that is read before it is written is an input, too.
    pub fn set_declared(&mut self, declared: bool) {
        self.declared = declared;
    }

    /// Declares an input.
    pub fn declare_input(&mut self, name: impl Into<String>, limbs: Vec<Limb>) {
        self.declared = true;
        limbs.iter().for_each(|&limb| self.define(limb));
        self.program.inputs.push(Group { name: name.into(), limbs });
    }

    /// Declares the limbs of inputs that a seed can replace.
    pub fn declare_seeded(&mut self, limbs: Vec<Limb>) {
        self.program.seeded = Some(limbs);
    }

    /// Declares the parameter set.
    pub fn declare_parameters(&mut self, parameters: Parameters) {
        self.program.parameters = Some(parameters);
    }

    /// Appends an operation.
    ///
    /// # Errors
    /// Returns an error if an operand is invalid, or if inputs were declared and a source has no
    /// value.
    pub fn push(&mut self, operation: Operation) -> Result<(), Fault> {
        self.push_from_line(operation, 0)
    }

    /// As [`push`](Self::push), for an operation from the text's line `line`, from 1.
    ///
    /// # Errors
    /// Returns an error if an operand is invalid, or if inputs were declared and a source has no value. Then
    /// the destination counts as written, so that one error causes no other error.
    pub fn push_from_line(&mut self, operation: Operation, line: u32) -> Result<(), Fault> {
        let checked = check(&operation, &mut self.program, &mut self.roots);
        if let Operation::Copy(Duplicate { d, a }) = operation
            && self.declared
            && !self.is_defined(a)
        {
            // Recorders copy limbs that nobody computed. Only what reads such a copy is wrong.
            let origin = self.origins.get(&a).copied().unwrap_or(a);
            self.origins.insert(d, origin);
            self.set_defined(d, false);
            return checked;
        }
        let checked = checked.and_then(|()| self.check_sources(&operation));
        self.define(operation.destination());
        checked?;
        self.program.operations.push(operation);
        self.program.lines.push(line);
        Ok(())
    }

    fn check_sources(&mut self, operation: &Operation) -> Result<(), Fault> {
        for (limb, part) in operation.sources().into_iter().zip([Part::First, Part::Second]) {
            let Some(limb) = limb else { continue };
            if self.is_defined(limb) {
                continue;
            }
            self.define(limb);
            let id = self.program.limbs.id(limb);
            if self.declared {
                let copy = match self.origins.get(&limb) {
                    Some(&origin) => format!("a copy of `{}`, which is ", self.program.limbs.id(origin)),
                    None => String::new(),
                };
                let message = format!("`{id}` is {copy}read before it is written, and no input has it");
                return Err(
                    Fault::new(part, message).help("list the id under `inputs` of the manifest, or write it")
                );
            }
            self.program.inputs.push(Group { name: default_name(id), limbs: vec![limb] });
        }
        Ok(())
    }

    pub(crate) fn is_defined(&self, limb: Limb) -> bool {
        self.defined.get(limb.index()).copied().unwrap_or(false)
    }

    pub(crate) fn define(&mut self, limb: Limb) {
        self.set_defined(limb, true);
    }

    fn set_defined(&mut self, limb: Limb, defined: bool) {
        if self.defined.len() <= limb.index() {
            // Growth by doubling, like the table's.
            self.defined.resize(self.program.limbs.len().max(2 * self.defined.len()), false);
        }
        self.defined[limb.index()] = defined;
    }

    /// The program with these outputs; by default, each limb that is never read after its last
    /// write is an output, in the order of the writes.
    ///
    /// # Errors
    /// Returns an error if a declared output has a limb without a value.
    pub fn finish(
        mut self,
        outputs: Option<Vec<(String, Vec<Limb>)>>,
    ) -> Result<RingProgram, UnwrittenOutput> {
        self.program.outputs = match outputs {
            None => default_outputs(&self.program),
            Some(outputs) => outputs.into_iter().map(|(name, limbs)| Group { name, limbs }).collect(),
        };
        let program = self.program;
        let defined = |limb: Limb| self.defined.get(limb.index()).copied().unwrap_or(false);
        for Group { name, limbs } in &program.outputs {
            if let Some(&limb) = limbs.iter().find(|&&limb| !defined(limb)) {
                return Err(UnwrittenOutput { name: name.clone(), id: program.limbs.id(limb) });
            }
        }
        Ok(program)
    }
}

/// The name of an input or an output that nobody named.
fn default_name(id: LimbId) -> String {
    format!("id{}", id.0)
}

/// The limbs that are never read after their last write.
fn default_outputs(program: &RingProgram) -> Vec<Group> {
    let mut seen = vec![false; program.limbs.len()];
    let mut outputs = Vec::new();
    for operation in program.operations.iter().rev() {
        // The destination is written last.
        let limb = operation.destination();
        if !std::mem::replace(&mut seen[limb.index()], true) {
            outputs.push(Group { name: default_name(program.limbs.id(limb)), limbs: vec![limb] });
        }
        operation.sources().into_iter().flatten().for_each(|limb| seen[limb.index()] = true);
    }
    outputs.reverse();
    outputs
}

/// An output whose limb has no value at the end.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the limb `{id}` of the output `{name}` is never written and is of no input")]
pub struct UnwrittenOutput {
    /// The name of the output.
    pub name: String,
    /// The id of the limb.
    pub id: LimbId,
}
