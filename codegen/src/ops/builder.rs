//! Tools for lowering an operation.

use crate::code::{BufferId, Claim, Code, Constant, ConstantId, MemRef, Tower, TowerId, ValueId};
use crate::error::Error;
use crate::lower::{Dialect, Memory, Scratch, Second, product, transform};
use crate::number::Number;
use crate::parameters::Parameters;
use crate::plan::Plan;
use crate::request::Request;
use b512_asm::{AddressMode, Role};
use golden::Operation;

/// The second buffer of transforms that do not work in place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Workspace {
    /// A scratch buffer.
    Separate,
    /// The operand, which is overwritten to save memory.
    Operand,
}

/// The code of a request under construction.
pub(crate) struct Builder<'a> {
    /// The code.
    pub(crate) code: &'a mut Code,
    /// The operation, its rings and its parameters.
    pub(crate) request: &'a Request,
    /// The plans of the operation's transforms.
    pub(crate) plans: &'a [Plan],
    /// The instructions of the target.
    pub(crate) dialect: Dialect,
    /// The second buffer of transforms.
    pub(crate) workspace: Workspace,
    /// The operation's method; empty if it has only one.
    pub(crate) method: &'static str,
}

impl Builder<'_> {
    /// Runs `lower` for each ring. Its buffers carry the ring's number if there are several.
    ///
    /// # Errors
    /// Returns the first error of `lower`.
    pub(crate) fn each_ring(
        &mut self,
        lower: impl Fn(&mut RingBuilder<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Request { operation, ref rings, ref parameters } = *self.request;
        let n = self.request.n();
        for (number, ring) in rings.iter().enumerate() {
            let tower = self.code.tower(Tower::of(ring));
            let suffix = if rings.len() > 1 { number.to_string() } else { String::new() };
            let scratch = Scratch::new(format!("scratch{suffix}"), tower);
            lower(&mut RingBuilder {
                code: self.code,
                operation,
                parameters: Parameters::new(parameters.in_ring(operation, number)),
                n,
                plans: self.plans,
                dialect: self.dialect,
                workspace: self.workspace,
                tower,
                suffix,
                scratch,
            })?;
        }
        Ok(())
    }
}

/// The code of a request in one of its rings.
pub(crate) struct RingBuilder<'a> {
    /// The code.
    pub(crate) code: &'a mut Code,
    operation: Operation,
    parameters: Parameters,
    n: u32,
    plans: &'a [Plan],
    dialect: Dialect,
    workspace: Workspace,
    tower: TowerId,
    suffix: String,
    scratch: Scratch,
}

impl RingBuilder<'_> {
    /// Adds a buffer for a polynomial of the ring.
    pub(crate) fn buffer(&mut self, name: &str, role: Role) -> BufferId {
        self.code.buffer(self.name(name), self.n, role, self.tower)
    }

    /// A name with the ring's number.
    fn name(&self, name: &str) -> String {
        let numbered = name.ends_with(|last: char| last.is_ascii_digit()) && !self.suffix.is_empty();
        format!("{name}{}{}", if numbered { "_" } else { "" }, self.suffix)
    }

    /// Adds memory for intermediate results, of a number of words.
    pub(crate) fn scratch(&mut self, name: &str, words: u32) -> BufferId {
        self.code.buffer(self.name(name), words, Role::Scratch, self.tower)
    }

    /// Adds an operand.
    pub(crate) fn input(&mut self, name: &str) -> BufferId {
        self.buffer(name, Role::Input)
    }

    /// Adds a result.
    pub(crate) fn output(&mut self, name: &str) -> BufferId {
        self.buffer(name, Role::Output)
    }

    /// The second buffer of a transform of `operand`.
    pub(crate) fn second(&self, operand: BufferId) -> Second {
        match self.workspace {
            Workspace::Separate => Second::New,
            Workspace::Operand => Second::Reuse(operand),
        }
    }

    /// Appends a transform by the plan of that number.
    ///
    /// # Errors
    /// Returns an error if the plan is invalid.
    pub(crate) fn transform(&mut self, plan: usize, memory: Memory) -> Result<(), Error> {
        let plan = &self.plans[plan];
        transform(self.code, self.dialect, plan, self.tower, memory, &mut self.scratch)
            .map_err(|error| Error::Plan { name: plan.name.clone(), error })
    }

    /// Appends the product of two polynomials by the plans of those numbers, in the buffers of the operands
    /// and of the result. Returns false if these plans need more buffers.
    ///
    /// # Errors
    /// Returns an error if a plan is invalid.
    pub(crate) fn product(&mut self, plans: [usize; 2], buffers: [BufferId; 3]) -> Result<bool, Error> {
        let plans = plans.map(|plan| &self.plans[plan]);
        product(self.code, self.dialect, plans, self.tower, buffers)
            .map_err(|(plan, error)| Error::Plan { name: plans[plan].name.clone(), error })
    }

    /// Appends an elementwise operation: `compute` takes a vector of each input, and returns the
    /// vector of the result.
    pub(crate) fn pointwise<const N: usize>(
        &mut self,
        inputs: [BufferId; N],
        output: BufferId,
        compute: impl Fn(&mut Code, TowerId, [ValueId; N]) -> ValueId,
    ) {
        self.each_vector(inputs, [output], |code, tower, values| [compute(code, tower, values)]);
    }

    /// Appends an elementwise operation with several results.
    pub(crate) fn each_vector<const N: usize, const M: usize>(
        &mut self,
        inputs: [BufferId; N],
        outputs: [BufferId; M],
        compute: impl Fn(&mut Code, TowerId, [ValueId; N]) -> [ValueId; M],
    ) {
        let tower = self.tower;
        for word in (0..self.n).step_by(self.code.isa.vector_length() as usize) {
            let at = |buffer| MemRef { buffer, word, mode: AddressMode::Linear };
            let values = inputs.map(|input| self.code.load(at(input), tower));
            let results = compute(self.code, tower, values);
            for (result, output) in results.into_iter().zip(outputs) {
                self.code.store(result, at(output), tower);
            }
        }
    }

    /// The degree of the ring.
    pub(crate) const fn n(&self) -> u32 {
        self.n
    }

    /// The ring's tower.
    pub(crate) const fn tower(&self) -> TowerId {
        self.tower
    }

    /// A known vector with a number for each lane. It is stored as the shortest vector that repeats in it
    /// and that the machine loads well.
    pub(crate) fn vector(&mut self, mut numbers: Vec<Number>) -> ConstantId {
        let shortest = 1 << self.dialect.factor_bits;
        while numbers.len() > shortest {
            let (low, high) = numbers.split_at(numbers.len() / 2);
            if low != high {
                break;
            }
            numbers.truncate(numbers.len() / 2);
        }
        self.code.constant(Constant { tower: self.tower, numbers })
    }

    /// The value of a parameter that is a number.
    ///
    /// # Panics
    /// Panics if there is no such number. The request has been checked.
    pub(crate) fn number(&self, name: &str) -> u128 {
        let number = self.parameters.number(name);
        number.unwrap_or_else(|| panic!("`{}` has no number `{name}`", self.operation))
    }

    /// The value of a parameter that is a word.
    ///
    /// # Panics
    /// Panics if there is no such word. The request has been checked.
    pub(crate) fn word(&self, name: &str) -> &str {
        let word = self.parameters.word(name);
        word.unwrap_or_else(|| panic!("`{}` has no word `{name}`", self.operation))
    }

    /// Claims the request's operation over these buffers.
    pub(crate) fn claim(&mut self, outputs: &[BufferId], inputs: &[BufferId]) {
        let (outputs, inputs, parameters) = (outputs.to_vec(), inputs.to_vec(), self.parameters.clone());
        self.code.claims.push(Claim::of(self.operation, outputs, inputs, parameters));
    }
}
