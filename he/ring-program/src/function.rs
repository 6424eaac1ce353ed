//! Functions, and calls of them.
//!
//! A program has lines, or calls of functions that have lines. A function reads its parameters and what it
//! wrote itself; its limbs are its own. A call gives the parameters the values of its arguments, and its
//! results get the values of the function's results, all at once. So a program with calls means its
//! [expansion](RingProgram::flat): the same lines in the same order. Functions call nothing: recursion is
//! impossible.

use crate::program::Group;
use crate::{Limb, LimbId, Operation, RingProgram, Shape};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::slice;

/// Lines with parameters and results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    pub(crate) name: String,
    /// It has the moduli of the program, one input and one output.
    pub(crate) body: RingProgram,
}

impl Function {
    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The lines: a program without calls, with the moduli of the whole. Its only input has the parameters,
    /// its only output the results.
    pub fn body(&self) -> &RingProgram {
        &self.body
    }

    /// The limbs of the body that get the arguments of a call, all distinct.
    pub fn parameters(&self) -> &[Limb] {
        &self.body.inputs[0].limbs
    }

    /// The limbs of the body whose values a call returns.
    pub fn results(&self) -> &[Limb] {
        &self.body.outputs[0].limbs
    }
}

/// The index of a function in its program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionIndex(pub(crate) u32);

impl FunctionIndex {
    /// The index as a number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A call of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The function.
    pub function: FunctionIndex,
    /// The limbs of the program for the parameters.
    pub arguments: Vec<Limb>,
    /// The limbs of the program for the results, all distinct.
    pub results: Vec<Limb>,
}

/// A part of a program with calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A call.
    Call(Call),
    /// Steps that run several times, one after the other.
    Repeat(NonZeroU32, Vec<Step>),
}

/// The calls of some steps, those in repeats again and again, each with its index among the calls as written.
#[derive(Clone, Debug)]
struct Calls<'p> {
    /// The steps that are left, those of the innermost repeat last.
    open: Vec<OpenSteps<'p>>,
    /// The index of the next call.
    next: usize,
}

#[derive(Clone, Debug)]
struct OpenSteps<'p> {
    left: slice::Iter<'p, Step>,
    whole: &'p [Step],
    /// The index of the first call.
    first: usize,
    /// The runs that are left.
    runs: u32,
}

impl<'p> Iterator for Calls<'p> {
    type Item = (&'p Call, usize);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let open = self.open.last_mut()?;
            match open.left.next() {
                Some(Step::Call(call)) => {
                    self.next += 1;
                    return Some((call, self.next - 1));
                }
                Some(Step::Repeat(count, whole)) => {
                    let (first, runs) = (self.next, count.get() - 1);
                    self.open.push(OpenSteps { left: whole.iter(), whole, first, runs });
                }
                None if open.runs > 0 => {
                    (open.left, open.runs) = (open.whole.iter(), open.runs - 1);
                    self.next = open.first;
                }
                None => drop(self.open.pop()),
            }
        }
    }
}

/// Adds operations that are executed `times` times.
fn count(operations: &[Operation], times: u64, lines: &mut BTreeMap<&'static str, u64>) {
    for operation in operations.iter().filter(|_| times > 0) {
        *lines.entry(operation.opcode()).or_default() += times;
    }
}

impl RingProgram {
    /// The most lines that the calls of a program may have in all, arguments and results included.
    pub const MAX_LINES: u64 = 1 << 25;

    /// The most that any program may have of them; further ones need lines of functions, of which each allows
    /// for [`Self::LINES_PER_LINE`]. So a small text costs little time and memory.
    pub const FREE_LINES: u64 = 1 << 20;

    /// See [`Self::FREE_LINES`].
    pub const LINES_PER_LINE: u64 = 64;

    /// The functions, in order. A program with functions has no [operations](Self::operations) of its own.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The function with an index.
    ///
    /// # Panics
    /// Panics if `index` is of another program that has more functions.
    pub fn function(&self, index: FunctionIndex) -> &Function {
        &self.functions[index.index()]
    }

    /// The index of the function with a name.
    pub fn function_index(&self, name: &str) -> Option<FunctionIndex> {
        let at = self.functions.iter().position(|function| function.name == name)?;
        Some(FunctionIndex(at as u32))
    }

    /// The calls and the repeats, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// All calls in order, those in repeats again and again.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.written_calls().map(|(call, _)| call)
    }

    /// As [`calls`](Self::calls), each with its index among the calls as written.
    pub(crate) fn written_calls(&self) -> impl Iterator<Item = (&Call, usize)> {
        let open = OpenSteps { left: self.steps.iter(), whole: &self.steps, first: 0, runs: 0 };
        Calls { open: vec![open], next: 0 }
    }

    /// The number of lines that a run executes.
    pub fn length(&self) -> u64 {
        self.operations.len() as u64 + self.lines_of(&self.steps)
    }

    /// The lines of all calls of some steps.
    fn lines_of(&self, steps: &[Step]) -> u64 {
        let lines = |step: &Step| match step {
            Step::Call(call) => self.function(call.function).body.operations.len() as u64,
            Step::Repeat(count, steps) => self.lines_of(steps) * u64::from(count.get()),
        };
        steps.iter().map(lines).sum()
    }

    /// The number of lines that a run executes, by opcode.
    pub fn lines_by_opcode(&self) -> BTreeMap<&'static str, u64> {
        let mut lines = BTreeMap::new();
        count(&self.operations, 1, &mut lines);
        let mut calls = vec![0; self.functions.len()];
        self.calls().for_each(|call| calls[call.function.index()] += 1);
        for (function, &times) in self.functions.iter().zip(&calls) {
            count(&function.body.operations, times, &mut lines);
        }
        lines
    }

    /// The program with the lines with this index among those of the text, and their index in it: lines of
    /// functions count in the order of the functions.
    ///
    /// # Panics
    /// Panics if there are fewer lines.
    pub fn place(&self, mut index: usize) -> (&RingProgram, usize) {
        for Function { body, .. } in &self.functions {
            match index.checked_sub(body.operations.len()) {
                Some(rest) => index = rest,
                None => return (body, index),
            }
        }
        assert!(index < self.operations.len(), "a line of another program");
        (self, index)
    }

    /// The program with the line that a run executes after `index` others, and its index in it.
    pub(crate) fn executed(&self, mut index: usize) -> (&RingProgram, usize) {
        for call in self.calls() {
            let body = &self.function(call.function).body;
            match index.checked_sub(body.operations.len()) {
                Some(rest) => index = rest,
                None => return (body, index),
            }
        }
        (self, index)
    }

    /// The same program without calls: the lines of each call in turn. Inputs and their limbs stay; outputs
    /// are other limbs. Results of each call get new ids, and so do the other limbs of each function.
    pub fn flat(&self) -> Cow<'_, Self> {
        if self.steps.is_empty() && self.functions.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut flat = Self { functions: Vec::new(), steps: Vec::new(), outputs: Vec::new(), ..self.clone() };
        flat.regions = self.flat_regions();
        for Function { body, .. } in &self.functions {
            flat.default_roots.extend(&body.default_roots);
        }
        let ids = self.limbs.iter().map(|limb| self.limbs.id(limb).0);
        // Ids behind the last one. If there are too few, those between others.
        let mut next = ids.max().map_or(0, |id| id.wrapping_add(1));
        let mut fresh = |flat: &mut Self| {
            while flat.limbs.find(LimbId(next)).is_some() {
                next = next.wrapping_add(1);
            }
            flat.limbs.intern(LimbId(next))
        };
        // The limb with the value of each limb of the program.
        let mut current: Vec<Limb> = self.limbs.iter().collect();
        // The limbs that each function writes.
        let mut locals: Vec<Vec<Option<Limb>>> =
            self.functions.iter().map(|function| vec![None; function.body.limbs.len()]).collect();
        for Call { function, arguments, results } in self.calls() {
            let locals = &mut locals[function.index()];
            let function = self.function(*function);
            let body = &function.body;
            function.results().iter().for_each(|limb| locals[limb.index()] = None);
            let mut values: Vec<Option<Limb>> = vec![None; body.limbs.len()];
            for (parameter, argument) in function.parameters().iter().zip(arguments) {
                values[parameter.index()] = Some(current[argument.index()]);
            }
            for (operation, line) in body.operations.iter().zip(&body.lines) {
                let index = operation.destination().index();
                let d = *locals[index].get_or_insert_with(|| fresh(&mut flat));
                let mut source =
                    |limb: Limb| values[limb.index()].expect("a function reads limbs with values");
                let mut constant = |constant| flat.constants.intern(body.constants.value(constant));
                flat.operations.push(operation.renamed(d, &mut source, &mut constant));
                flat.lines.push(*line);
                values[index] = Some(d);
            }
            for (limb, result) in function.results().iter().zip(results) {
                current[result.index()] = values[limb.index()].expect("results have values");
            }
        }
        let of_group = |Group { name, limbs, moduli }: &Group| Group {
            name: name.clone(),
            moduli: moduli.clone(),
            limbs: limbs.iter().map(|limb| current[limb.index()]).collect(),
        };
        flat.outputs = self.outputs.iter().map(of_group).collect();
        Cow::Owned(flat)
    }
}
