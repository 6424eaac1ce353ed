//! The dataflow of a program: values in place of limbs that are written again and again.
//!
//! A copy is another name of a value, and zero is a value of its own, so neither is work. Neither is
//! a sum with zero. Lines whose results nothing reads are left out.

pub mod operation;
mod order;
pub mod permute;

use crate::flow::operation::RingOperation;
use crate::flow::permute::Permutation;
use crate::mapping::Order;
use codegen::elementwise::{Operand, StepOp};
use ring_program::reduction::{InputModulus, input_moduli};
use ring_program::shape::{
    Binary, Duplicate, Galois, GaloisCoefficients, Monomial, Scalar, Transform, Unary,
};
use ring_program::{Limb, ModulusIndex, Operation, RingProgram, Shape};

/// A limb's words at one time: an input, zero, or the result of one line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(pub(crate) u32);

impl ValueId {
    /// The limb of zeros.
    pub const ZERO: Self = Self(0);

    /// The index of the value.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    /// An operation on two values, or on a value and a scalar, coefficient by coefficient.
    Elementwise { op: Elementary, a: ValueId, by: By, modulus: ModulusIndex },
    /// An operation of the registry; transforms have a root of unity.
    Operation { operation: RingOperation, a: ValueId, root: Option<ConstantId>, modulus: ModulusIndex },
    /// A movement of the words of `a`; negated words come from `negative`.
    Permute { permutation: Permutation, a: ValueId, negative: Option<ValueId> },
}

/// An elementwise operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Elementary {
    Add,
    Subtract,
    Multiply,
}

/// The second operand of an elementwise operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    Value(ValueId),
    /// A residue of the operation's modulus.
    Scalar(ConstantId),
}

/// A scalar or a root of a flow. Flows have millions of nodes, so these hold an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ConstantId(u32);

impl Elementary {
    /// The step of a kernel. Without `b`, the second operand is a scalar.
    pub(crate) fn step(self, a: Operand, b: Option<Operand>) -> StepOp {
        match (self, b) {
            (Self::Add, Some(b)) => StepOp::Add(a, b),
            (Self::Subtract, Some(b)) => StepOp::Subtract(a, b),
            (Self::Multiply, Some(b)) => StepOp::Multiply(a, b),
            (Self::Add, None) => StepOp::AddScalar(a),
            (Self::Subtract, None) => StepOp::SubtractScalar(a),
            (Self::Multiply, None) => StepOp::MultiplyScalar(a),
        }
    }
}

impl Task {
    /// The values that the task reads.
    pub(crate) fn sources(&self) -> impl Iterator<Item = ValueId> {
        let sources = match *self {
            Self::Elementwise { a, by: By::Value(b), .. } => [Some(a), Some(b)],
            Self::Elementwise { a, by: By::Scalar(_), .. } | Self::Operation { a, .. } => [Some(a), None],
            Self::Permute { a, negative, .. } => [Some(a), negative],
        };
        sources.into_iter().flatten()
    }

    /// The same values, each once, with the times that the task reads it.
    pub(crate) fn reads(&self) -> impl Iterator<Item = (ValueId, u32)> {
        let mut sources = self.sources();
        let first = sources.next();
        let reads = match (first, sources.next()) {
            (Some(a), Some(b)) if a == b => [Some((a, 2)), None],
            (a, b) => [a, b].map(|source| source.map(|source| (source, 1))),
        };
        reads.into_iter().flatten()
    }
}

/// One line of the program, or a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    /// The index of the operation in the program.
    pub(crate) operation: u32,
    pub(crate) result: ValueId,
    pub(crate) task: Task,
}

/// The dataflow of a program.
#[derive(Debug, Default)]
pub struct Flow {
    pub(crate) nodes: Vec<Node>,
    /// The scalars and the roots of the nodes.
    pub(crate) constants: Vec<u128>,
    /// The values of the inputs that the program depends on.
    pub(crate) inputs: Vec<(Limb, ValueId)>,
    /// The values of the outputs' limbs, in the order of [`RingProgram::outputs`].
    pub outputs: Vec<Vec<ValueId>>,
    /// The number of values.
    pub(crate) values: usize,
    /// The operations that are other names of values: copies, zeros, and sums with zero.
    pub(crate) renamed: u64,
    /// The operations whose results no output depends on.
    pub(crate) unused: u64,
}

impl Flow {
    /// The dataflow of a program without calls, its lines in an order.
    pub fn of(program: &RingProgram, order: Order) -> Self {
        let outputs: Vec<&[Limb]> = program.outputs().iter().map(|group| &*group.limbs).collect();
        Self::with_aliases(program, &[], &outputs, order)
    }

    /// The dataflow of a program without calls of which some inputs have the words of others: `aliases` has
    /// an earlier limb for the limb, by index, and may be shorter. `outputs` are in place of the program's.
    pub(crate) fn with_aliases(
        program: &RingProgram,
        aliases: &[Option<Limb>],
        outputs: &[&[Limb]],
        order: Order,
    ) -> Self {
        let mut flow = Renaming::new(program, aliases);
        for index in 0..program.operations().len() {
            flow.add(index);
        }
        flow.finish(outputs, order)
    }

    /// The same without its nodes, which take as much memory as the program.
    pub(crate) fn without_nodes(&self) -> Self {
        let Self { inputs, outputs, values, renamed, unused, nodes: _, constants: _ } = self;
        let (nodes, constants, inputs, outputs) = (Vec::new(), Vec::new(), inputs.clone(), outputs.clone());
        Self { nodes, constants, inputs, outputs, values: *values, renamed: *renamed, unused: *unused }
    }

    /// The scalar or the root.
    pub(crate) fn constant(&self, constant: ConstantId) -> u128 {
        self.constants[constant.0 as usize]
    }

    /// The number of reads of each value, where an output counts as one read.
    pub(crate) fn reads(&self) -> Vec<u32> {
        let mut reads = vec![0; self.values];
        let sources = self.nodes.iter().flat_map(|node| node.task.sources());
        sources.chain(self.outputs.iter().flatten().copied()).for_each(|value| reads[value.index()] += 1);
        reads
    }
}

/// A flow under construction.
struct Renaming<'p> {
    program: &'p RingProgram,
    /// The value of each limb.
    current: Vec<Option<ValueId>>,
    /// For each value, a modulus of whose residues it consists, if one is known.
    residues: Vec<Option<ModulusIndex>>,
    nodes: Vec<Node>,
    constants: Vec<u128>,
    inputs: Vec<(Limb, ValueId)>,
}

impl<'p> Renaming<'p> {
    fn new(program: &'p RingProgram, aliases: &[Option<Limb>]) -> Self {
        let mut renaming = Self {
            program,
            current: vec![None; program.limbs().len()],
            residues: vec![None],
            nodes: Vec::with_capacity(program.operations().len()),
            constants: Vec::new(),
            inputs: Vec::new(),
        };
        let moduli = input_moduli(program);
        for &limb in program.inputs().iter().flat_map(|group| &group.limbs) {
            let alias = aliases.get(limb.index()).copied().flatten().filter(|&alias| alias != limb);
            if let Some(alias) = alias {
                renaming.current[limb.index()] = renaming.current[alias.index()];
            }
            if renaming.current[limb.index()].is_none() {
                let residues = match moduli[limb.index()] {
                    Some(InputModulus::Residues(m)) => Some(m),
                    Some(InputModulus::Words(_)) | None => None,
                };
                let value = renaming.value(residues);
                renaming.current[limb.index()] = Some(value);
                renaming.inputs.push((limb, value));
            }
        }
        renaming
    }

    fn value(&mut self, residues: Option<ModulusIndex>) -> ValueId {
        self.residues.push(residues);
        ValueId(u32::try_from(self.residues.len() - 1).expect("fewer values"))
    }

    fn source(&self, limb: Limb) -> ValueId {
        self.current[limb.index()].expect("a valid program writes limbs before it reads them")
    }

    fn modulus(&self, m: ModulusIndex) -> u128 {
        self.program.moduli().value(m)
    }

    /// Whether the words of a value are known to be residues.
    fn is_reduced(&self, value: ValueId, m: ModulusIndex) -> bool {
        let of = self.residues[value.index()];
        value == ValueId::ZERO || of.is_some_and(|of| self.modulus(of) <= self.modulus(m))
    }

    fn constant(&mut self, value: u128) -> ConstantId {
        self.constants.push(value);
        ConstantId(u32::try_from(self.constants.len() - 1).expect("fewer constants"))
    }

    fn node(&mut self, operation: usize, task: Task, residues: Option<ModulusIndex>) -> ValueId {
        let result = self.value(residues);
        self.nodes.push(Node { operation: operation as u32, result, task });
        result
    }

    fn elementwise(
        &mut self,
        operation: usize,
        op: Elementary,
        (a, by): (ValueId, By),
        modulus: ModulusIndex,
    ) -> ValueId {
        self.node(operation, Task::Elementwise { op, a, by, modulus }, Some(modulus))
    }

    fn add(&mut self, index: usize) {
        let operation = self.program.operations()[index];
        let value = match operation {
            Operation::Add(operands) => self.sum(index, operands),
            Operation::Subtract(operands) => self.difference(index, operands),
            Operation::Multiply(operands) => self.product(index, operands),
            Operation::AddScalar(operands) => self.with_scalar(index, Elementary::Add, operands),
            Operation::SubtractScalar(operands) => self.with_scalar(index, Elementary::Subtract, operands),
            Operation::MultiplyScalar(operands) => self.with_scalar(index, Elementary::Multiply, operands),
            Operation::Negate(Unary { a, m, .. }) => self.negative(index, self.source(a), m),
            Operation::Ntt(operands) => self.transform(index, RingOperation::Ntt, operands),
            Operation::Intt(operands) => self.transform(index, RingOperation::Intt, operands),
            Operation::AutomorphEvaluation(Galois { a, k, .. }) => {
                let a = self.source(a);
                match self.residues[a.index()] {
                    // One limb of 512 words would move in less time than a kernel of its own takes. In
                    // launches of several limbs, as programs have them, a kernel takes half of a movement
                    // for each.
                    Some(m) => self.automorphism(index, RingOperation::AutomorphismOfValues { k }, a, m),
                    None => self.node(
                        index,
                        Task::Permute { permutation: Permutation::Values { k }, a, negative: None },
                        None,
                    ),
                }
            }
            Operation::AutomorphCoefficients(GaloisCoefficients { a, k, m, .. }) => {
                self.automorphism(index, RingOperation::AutomorphismOfCoefficients { k }, self.source(a), m)
            }
            Operation::MultiplyMonomial(operands) => self.shift(index, operands),
            Operation::Copy(Duplicate { a, .. }) => self.source(a),
            Operation::Zero(_) => ValueId::ZERO,
        };
        self.current[operation.destination().index()] = Some(value);
    }

    fn sum(&mut self, index: usize, Binary { a, b, m, .. }: Binary) -> ValueId {
        let (a, b) = (self.source(a), self.source(b));
        match (a, b) {
            (ValueId::ZERO, other) | (other, ValueId::ZERO) if self.is_reduced(other, m) => other,
            _ => self.elementwise(index, Elementary::Add, (a, By::Value(b)), m),
        }
    }

    fn difference(&mut self, index: usize, Binary { a, b, m, .. }: Binary) -> ValueId {
        let (a, b) = (self.source(a), self.source(b));
        if b == ValueId::ZERO && self.is_reduced(a, m) {
            a
        } else if a == ValueId::ZERO && self.is_reduced(b, m) {
            self.negative(index, b, m)
        } else {
            self.elementwise(index, Elementary::Subtract, (a, By::Value(b)), m)
        }
    }

    /// The second factor must be reduced, the first may be any word.
    fn product(&mut self, index: usize, Binary { a, b, m, .. }: Binary) -> ValueId {
        let (mut a, mut b) = (self.source(a), self.source(b));
        if !self.is_reduced(b, m) {
            std::mem::swap(&mut a, &mut b);
        }
        if !self.is_reduced(b, m) {
            let one = By::Scalar(self.constant(1));
            b = self.elementwise(index, Elementary::Multiply, (b, one), m);
        }
        self.elementwise(index, Elementary::Multiply, (a, By::Value(b)), m)
    }

    fn with_scalar(&mut self, index: usize, op: Elementary, Scalar { a, scalar, m, .. }: Scalar) -> ValueId {
        let scalar = self.program.constants().value(scalar) % self.modulus(m);
        let scalar = By::Scalar(self.constant(scalar));
        self.elementwise(index, op, (self.source(a), scalar), m)
    }

    fn negative(&mut self, index: usize, a: ValueId, m: ModulusIndex) -> ValueId {
        let minus_one = By::Scalar(self.constant(self.modulus(m) - 1));
        self.elementwise(index, Elementary::Multiply, (a, minus_one), m)
    }

    fn transform(
        &mut self,
        index: usize,
        operation: RingOperation,
        Transform { a, root, m, .. }: Transform,
    ) -> ValueId {
        let (a, root) = (self.source(a), Some(self.constant(self.program.root(root, m))));
        self.node(index, Task::Operation { operation, a, root, modulus: m }, Some(m))
    }

    fn automorphism(
        &mut self,
        index: usize,
        operation: RingOperation,
        a: ValueId,
        modulus: ModulusIndex,
    ) -> ValueId {
        self.node(index, Task::Operation { operation, a, root: None, modulus }, Some(modulus))
    }

    fn shift(&mut self, index: usize, Monomial { a, offset, m, .. }: Monomial) -> ValueId {
        let a = self.source(a);
        let negative = Some(self.negative(index, a, m));
        self.node(index, Task::Permute { permutation: Permutation::Shift { offset }, a, negative }, Some(m))
    }

    fn finish(self, outputs: &[&[Limb]], order: Order) -> Flow {
        let Self { program, current, residues, mut nodes, constants, inputs } = self;
        let value =
            |limb: &Limb| current[limb.index()].expect("a valid program has the values of its outputs");
        let outputs: Vec<Vec<ValueId>> =
            outputs.iter().map(|limbs| limbs.iter().map(value).collect()).collect();
        let mut live = vec![false; residues.len()];
        outputs.iter().flatten().for_each(|value| live[value.index()] = true);
        for node in nodes.iter().rev() {
            if live[node.result.index()] {
                node.task.sources().for_each(|source| live[source.index()] = true);
            }
        }
        let worked = |nodes: &[Node]| {
            let lines = nodes.iter().zip(nodes.iter().skip(1));
            let lines = lines.filter(|(node, next)| node.operation != next.operation).count();
            (lines + usize::from(!nodes.is_empty())) as u64
        };
        let before = worked(&nodes);
        nodes.retain(|node| live[node.result.index()]);
        let (renamed, unused) = (program.operations().len() as u64 - before, before - worked(&nodes));
        let inputs = inputs.into_iter().filter(|(_, value)| live[value.index()]).collect();
        let nodes = by_part(nodes, residues.len());
        Flow {
            nodes: match order {
                Order::Program => nodes,
                Order::Modulus => order::by_modulus(nodes, &residues),
            },
            constants,
            inputs,
            outputs,
            values: residues.len(),
            renamed,
            unused,
        }
    }
}

/// The nodes of a flow with `values` values, those of each part of the program together: lines that share no
/// result, directly or by others, are of different parts. Parts run one after the other, in the order of
/// their first lines. So two programs whose lines alternate take the time of both, and do not compete for the
/// VDM. Inputs and zeros connect nothing.
fn by_part(mut nodes: Vec<Node>, values: usize) -> Vec<Node> {
    // Of each value that a node makes, an earlier one of its part, or itself: the first one in the end.
    let mut earlier: Vec<Option<u32>> = vec![None; values];
    let first = |earlier: &mut Vec<Option<u32>>, value: u32| {
        let mut at = value;
        while let Some(before) = earlier[at as usize].filter(|&before| before != at) {
            earlier[at as usize] = earlier[before as usize];
            at = before;
        }
        at
    };
    for node in &nodes {
        let result = node.result.0;
        earlier[node.result.index()] = Some(result);
        for source in node.task.sources() {
            if earlier[source.index()].is_some() {
                let (one, other) = (first(&mut earlier, source.0), first(&mut earlier, result));
                earlier[one.max(other) as usize] = Some(one.min(other));
            }
        }
    }
    nodes.sort_by_cached_key(|node| first(&mut earlier, node.result.0));
    nodes
}

#[cfg(test)]
mod tests {
    use super::Node;

    #[test]
    fn nodes_are_small() {
        // Flows have millions of them.
        assert!(size_of::<Node>() <= 32, "{}", size_of::<Node>());
    }
}
