//! Construction of programs, operation by operation.

use crate::check::{Roots, check};
use crate::code::Code;
use crate::fault::Fault;
use crate::part::Part;
use crate::program::{Group, RingProgram};
use crate::shape::{Duplicate, Shape};
use crate::{
    Call, ConstantIndex, Constants, Function, FunctionIndex, Limb, LimbId, LimbTable, ModulusFault,
    ModulusIndex, Operation, Parameters, Regions, Step,
};
use ring::Degree;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

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
    /// Whether the lines are those of a function.
    is_function: bool,
    functions: FxHashMap<String, FunctionIndex>,
    /// The lines of the steps so far, in the innermost repeat.
    length: u64,
    /// The lines of all functions.
    written: u64,
    /// The repeats that are open: their counts, and the steps before with their lines.
    repeats: Vec<(NonZeroU32, Vec<Step>, u64)>,
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
            moduli: Arc::default(),
            limbs: LimbTable::default(),
            constants: Constants::default(),
            operations: Vec::new(),
            lines: Vec::new(),
            functions: Vec::new(),
            steps: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            seeded: None,
            parameters: None,
            keys: BTreeMap::new(),
            regions: Regions::default(),
            default_roots: BTreeMap::new(),
        };
        Ok(Self::of(program))
    }

    fn of(program: RingProgram) -> Self {
        Self {
            program,
            roots: Roots::default(),
            defined: Vec::new(),
            origins: FxHashMap::default(),
            declared: false,
            is_function: false,
            functions: FxHashMap::default(),
            length: 0,
            written: 0,
            repeats: Vec::new(),
        }
    }

    /// A builder for the body of a function, with these parameters.
    ///
    /// # Errors
    /// Returns the index of a parameter that occurs twice.
    pub fn function(&self, parameters: &[LimbId]) -> Result<Self, usize> {
        let mut body = Self::new(self.program.degree.get()).expect("it is a degree");
        body.program.moduli = Arc::clone(&self.program.moduli);
        body.is_function = true;
        let mut seen = BTreeSet::new();
        if let Some(twice) = parameters.iter().position(|id| !seen.insert(id)) {
            return Err(twice);
        }
        let limbs = parameters.iter().map(|&id| body.limb(id)).collect();
        body.declare_input("parameters", limbs);
        Ok(body)
    }

    /// A builder for the body of a function with these lines, whose limbs, moduli and constants are those of
    /// this program.
    ///
    /// # Panics
    /// Panics if an operation reads a limb that is neither a parameter nor written before, or if a parameter
    /// occurs twice.
    pub fn function_of(&self, parameters: &[Limb], operations: &[Operation]) -> Self {
        let id = |limb: &Limb| self.program.limbs.id(*limb);
        let ids: Vec<LimbId> = parameters.iter().map(id).collect();
        let mut body = self.function(&ids).expect("distinct parameters");
        for operation in operations {
            let sources = operation.sources().map(|source| source.map(|limb| (limb, body.limb(id(&limb)))));
            let d = body.limb(id(&operation.destination()));
            let mut source = |limb| {
                let renamed = sources.iter().flatten().find(|(known, _)| *known == limb);
                renamed.expect("a source").1
            };
            let mut constant = |constant| body.constant(self.program.constants.value(constant));
            let operation = operation.renamed(d, &mut source, &mut constant);
            body.push(operation).expect("a valid line that reads limbs with values");
        }
        body
    }

    /// Appends a function with a body from [`Self::function`] or [`Self::function_of`]. The program has no
    /// lines of its own.
    ///
    /// # Errors
    /// Returns an error if a result has no value, if the body is empty or if a function has the name.
    pub fn add_function(
        &mut self,
        name: impl Into<String>,
        body: Self,
        results: &[LimbId],
    ) -> Result<FunctionIndex, Fault> {
        let (mut body, name) = (body, name.into());
        if self.functions.contains_key(&name) {
            return Err(Fault::new(Part::Operation, format!("a second function `{name}`")));
        }
        if body.program.operations.is_empty() {
            return Err(Fault::new(Part::Operation, format!("the function `{name}` has no lines")));
        }
        let results = results.iter().map(|&id| body.limb(id)).collect();
        let body = body.finish(Some(vec![("results".into(), results)])).map_err(|error| {
            let message = format!("the result `{}` of the function `{name}` is never written", error.id);
            Fault::new(Part::Operation, message).help("write it, or make it a parameter")
        })?;
        let index = FunctionIndex(self.program.functions.len() as u32);
        self.written += body.operations.len() as u64;
        self.functions.insert(name.clone(), index);
        self.program.functions.push(Function { name, body });
        Ok(index)
    }

    /// The function with a name.
    pub fn find_function(&self, name: &str) -> Option<FunctionIndex> {
        self.functions.get(name).copied()
    }

    /// Appends a call.
    ///
    /// # Errors
    /// Returns an error if the numbers of arguments or results are not those of the function, if an argument
    /// has no value, or a result occurs twice, or if the program becomes too long.
    pub fn call(&mut self, call: Call) -> Result<(), Fault> {
        let function = self.program.function(call.function);
        let counts = [
            ("parameter", function.parameters().len(), call.arguments.len()),
            ("result", function.results().len(), call.results.len()),
        ];
        let wrong = counts.into_iter().find(|(_, expected, found)| expected != found);
        let wrong = wrong.map(|(what, expected, found)| {
            let expected = diagnostic::counted(expected, what, &format!("{what}s"));
            Fault::new(
                Part::Operation,
                format!("the function `{}` has {expected}, found {found}", function.name),
            )
        });
        for (index, &argument) in call.arguments.iter().enumerate() {
            self.check_source(argument, Part::Argument(index))?;
        }
        call.results.iter().for_each(|&result| self.define(result));
        wrong.map_or(Ok(()), Err)?;
        let mut seen = BTreeSet::new();
        if let Some(twice) = call.results.iter().position(|result| !seen.insert(result)) {
            let message = format!("`{}` gets two results", self.program.limbs.id(call.results[twice]));
            return Err(Fault::new(Part::Result(twice), message));
        }
        let lines = self.program.function(call.function).body.length();
        let lines = lines + (call.arguments.len() + call.results.len()) as u64 / LIMBS_PER_LINE;
        self.program.steps.push(Step::Call(call));
        self.add_length(lines)
    }

    /// Begins a repeat of the calls until its end.
    ///
    /// # Errors
    /// Returns an error if too many repeats are inside each other.
    pub fn begin_repeat(&mut self, count: NonZeroU32) -> Result<(), Fault> {
        let before = std::mem::take(&mut self.program.steps);
        self.repeats.push((count, before, std::mem::take(&mut self.length)));
        if self.repeats.len() <= MOST_NESTED {
            return Ok(());
        }
        Err(Fault::new(Part::Operation, format!("more than {MOST_NESTED} repeats inside each other")))
    }

    /// Ends the innermost repeat. False if none is open.
    ///
    /// # Errors
    /// Returns an error if the program becomes too long.
    pub fn end_repeat(&mut self) -> Result<bool, Fault> {
        let Some((count, before, length)) = self.repeats.pop() else { return Ok(false) };
        let steps = std::mem::replace(&mut self.program.steps, before);
        let inner = std::mem::replace(&mut self.length, length);
        if !steps.is_empty() {
            self.program.steps.push(Step::Repeat(count, steps));
        }
        self.add_length(inner.saturating_mul(count.get().into())).map(|()| true)
    }

    fn add_length(&mut self, lines: u64) -> Result<(), Fault> {
        self.length = self.length.saturating_add(lines);
        let written = self.written.saturating_mul(RingProgram::LINES_PER_LINE);
        let most = RingProgram::FREE_LINES.saturating_add(written).min(RingProgram::MAX_LINES);
        if self.length <= most {
            return Ok(());
        }
        let message = format!(
            "the calls have {} lines in all, their arguments included, but the most for functions of {} are {most}",
            self.length,
            diagnostic::counted(self.written as usize, "line", "lines")
        );
        Err(Fault::new(Part::Operation, message).help("repeat less, or pass fewer limbs"))
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
        Arc::make_mut(&mut self.program.moduli).push(self.program.degree, modulus)
    }

    /// The limb with an id.
    pub fn limb(&mut self, id: LimbId) -> Limb {
        self.program.limbs.intern(id)
    }

    /// The constant with a value.
    pub fn constant(&mut self, value: u128) -> ConstantIndex {
        self.program.constants.intern(value)
    }

    /// Whether all inputs are declared from now on. If not, a limb that is read before it is written is an
    /// input, too.
    pub fn set_declared(&mut self, declared: bool) {
        self.declared = declared;
    }

    /// Declares an input.
    pub fn declare_input(&mut self, name: impl Into<String>, limbs: Vec<Limb>) {
        self.declared = true;
        limbs.iter().for_each(|&limb| self.define(limb));
        self.program.inputs.push(Group { name: name.into(), limbs, moduli: None });
    }

    /// Declares the limbs of inputs that a seed can replace.
    pub fn declare_seeded(&mut self, limbs: Vec<Limb>) {
        self.program.seeded = Some(limbs);
    }

    /// Declares the parameter set.
    pub fn declare_parameters(&mut self, parameters: Parameters) {
        self.program.parameters = Some(parameters);
    }

    /// Declares what keys do, as [`RingProgram::keys`] has it.
    pub fn declare_keys(&mut self, keys: BTreeMap<String, String>) {
        self.program.keys = keys;
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
        let checked = checked.and_then(|()| match self.repeats.is_empty() {
            true => Ok(()),
            false => {
                let fault = Fault::new(Part::Operation, "a line in a repeat").code(Code::Function);
                Err(fault.help("a repeat has calls: make its lines a function, and call it there"))
            }
        });
        self.define(operation.destination());
        checked?;
        self.program.operations.push(operation);
        self.program.lines.push(line);
        Ok(())
    }

    fn check_sources(&mut self, operation: &Operation) -> Result<(), Fault> {
        for (limb, part) in operation.sources().into_iter().zip([Part::First, Part::Second]) {
            limb.map_or(Ok(()), |limb| self.check_source(limb, part))?;
        }
        Ok(())
    }

    fn check_source(&mut self, limb: Limb, part: Part) -> Result<(), Fault> {
        if self.is_defined(limb) {
            return Ok(());
        }
        self.define(limb);
        let id = self.program.limbs.id(limb);
        if self.declared {
            let copy = match self.origins.get(&limb) {
                Some(&origin) => format!("a copy of `{}`, which is ", self.program.limbs.id(origin)),
                None => String::new(),
            };
            let (whose, help) = match self.is_function {
                true => ("it is no parameter", "make it a parameter of the function, or write it"),
                false => ("no input has it", "list the id under `inputs` of the manifest, or write it"),
            };
            let message = format!("`{id}` is {copy}read before it is written, and {whose}");
            return Err(Fault::new(part, message).help(help));
        }
        self.program.inputs.push(Group { name: default_name(id), limbs: vec![limb], moduli: None });
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
            Some(outputs) => {
                outputs.into_iter().map(|(name, limbs)| Group { name, limbs, moduli: None }).collect()
            }
        };
        let program = self.program;
        let defined = |limb: Limb| self.defined.get(limb.index()).copied().unwrap_or(false);
        for Group { name, limbs, .. } in &program.outputs {
            if let Some(&limb) = limbs.iter().find(|&&limb| !defined(limb)) {
                return Err(UnwrittenOutput { name: name.clone(), id: program.limbs.id(limb) });
            }
        }
        Ok(program)
    }
}

/// Arguments and results of a call that take the time of a line.
const LIMBS_PER_LINE: u64 = 16;

/// The most repeats inside each other.
const MOST_NESTED: usize = 16;

/// The name of an input or an output that nobody named.
fn default_name(id: LimbId) -> String {
    format!("id{}", id.0)
}

/// The limbs that are never read after their last write.
fn default_outputs(program: &RingProgram) -> Vec<Group> {
    let mut seen = vec![false; program.limbs.len()];
    let mut outputs = Vec::new();
    let mut output = |seen: &mut Vec<bool>, limb: Limb| {
        if !std::mem::replace(&mut seen[limb.index()], true) {
            let name = default_name(program.limbs.id(limb));
            outputs.push(Group { name, limbs: vec![limb], moduli: None });
        }
    };
    for operation in program.operations.iter().rev() {
        // The destination is written last.
        output(&mut seen, operation.destination());
        operation.sources().into_iter().flatten().for_each(|limb| seen[limb.index()] = true);
    }
    let mut open: Vec<&Step> = program.steps.iter().collect();
    while let Some(step) = open.pop() {
        match step {
            Step::Call(Call { arguments, results, .. }) => {
                results.iter().rev().for_each(|&limb| output(&mut seen, limb));
                arguments.iter().for_each(|limb| seen[limb.index()] = true);
            }
            // The last run writes all limbs of the others again.
            Step::Repeat(_, steps) => open.extend(steps),
        }
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
