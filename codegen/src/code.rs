//! Vector code: straight-line, in single-assignment form, before register allocation.
//!
//! Known vectors, such as twiddle factors, are [`Constant`]s rather than values: they can be loaded
//! and dropped at any time, so the scheduler decides when and how often. Known numbers that
//! every lane uses are [`Scalar`]s.

mod order;
mod statement;

pub use crate::ids::{BufferId, ConstantId, InstId, ScalarId, TowerId, ValueId};

use crate::ids::NumberId;
use crate::number::{Expression, Number};
use crate::parameters::Parameters;
use b512_asm::{AddressMode, Direction, Image, Isa, LaneMap, Log2, Op, OperandKind, Role};
use golden::Operation;
use ring::Ring;
use rustc_hash::FxHashMap;
use std::hash::{Hash, Hasher};

/// The words of a buffer that a load or store accesses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemRef {
    /// The buffer.
    pub buffer: BufferId,
    /// The word of element 0, relative to the buffer's start.
    pub word: u32,
    /// The pattern of the other elements.
    pub mode: AddressMode,
}

impl MemRef {
    /// The words of the buffer, in the order of the lanes.
    pub fn words(self, isa: Isa) -> impl Iterator<Item = u32> + Clone {
        (0..isa.vector_length()).map(move |lane| self.word + self.mode.element(lane))
    }
}

/// A named range of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// The symbol's name.
    pub name: String,
    /// Its size.
    pub words: u32,
    /// Its purpose.
    pub role: Role,
    /// The tower of its words, which are residues modulo the tower's modulus.
    pub tower: TowerId,
    /// The first word, if this is a part of another buffer.
    pub within: Option<BufferWord>,
    /// The words that it holds before the code runs, relative to its start. The data of an input that is its
    /// part take their place.
    pub content: Image,
    /// Whether programs have a symbol for it: not if it has parts, which have their own.
    pub has_symbol: bool,
}

/// A word of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BufferWord {
    /// The buffer, which is no part itself.
    pub buffer: BufferId,
    /// The word, relative to the buffer's start.
    pub word: u32,
}

/// A known vector. A shorter list repeats.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Constant {
    /// The tower of the numbers.
    pub tower: TowerId,
    /// The elements; their number is a power of two, at most the vector length.
    pub numbers: Vec<Number>,
}

/// A known number, in every lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar {
    /// The tower of the number.
    pub tower: TowerId,
    /// The number.
    pub number: Number,
}

impl Hash for Constant {
    /// Hashes the elements at powers of two only: in a vector of factors, each bit of the lane's number
    /// changes the exponent in its own way.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.tower, self.numbers.len()).hash(state);
        let sample = std::iter::successors(Some(1usize), |lane| Some(2 * lane));
        self.numbers.first().hash(state);
        sample.map_while(|lane| self.numbers.get(lane)).for_each(|number| number.hash(state));
    }
}

impl Constant {
    /// The addressing mode that loads it from consecutive words.
    pub fn mode(&self, isa: Isa) -> AddressMode {
        if self.numbers.len() == isa.vector_length() as usize {
            AddressMode::Linear
        } else {
            let log2 = self.numbers.len().trailing_zeros() as u8;
            AddressMode::Repeated(Log2::new(log2).expect("below the lane bits"))
        }
    }
}

/// One instruction, without registers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// The operation.
    pub op: Op,
    /// The values that it reads, in operand order.
    pub sources: Sources,
    /// The constant that it multiplies by, its last vector source.
    pub constant: Option<ConstantId>,
    /// The scalar that it multiplies by, adds or subtracts, its scalar source.
    pub scalar: Option<ScalarId>,
    /// The values that it defines, in operand order.
    pub results: Results,
    /// The words that it loads or stores.
    pub memory: Option<MemRef>,
    /// Its map of lanes.
    pub map: Option<LaneMap>,
    /// The tower whose modulus it computes with.
    pub tower: TowerId,
    /// The pass over memory to which it belongs, counted from 0 in each tower.
    pub pass: u32,
}

/// Up to three values read.
pub type Sources = Few;
/// Up to two values defined.
pub type Results = Few;

/// Up to three values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Few {
    len: u8,
    /// The values, and zeros behind them.
    values: [ValueId; 3],
}

impl Few {
    /// The values in order.
    #[inline]
    pub fn as_slice(&self) -> &[ValueId] {
        &self.values[..usize::from(self.len)]
    }

    /// The values in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = ValueId> + Clone + use<> {
        self.values.into_iter().take(self.len.into())
    }

    /// The list with each value replaced by `map`.
    pub fn map(&self, other: impl FnMut(ValueId) -> ValueId) -> Self {
        let mut few = *self;
        for (slot, value) in few.values.iter_mut().zip(self.iter().map(other)) {
            *slot = value;
        }
        few
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.len.into()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Few {
    /// Some values, at most three.
    pub(crate) fn of(list: &[ValueId]) -> Self {
        let mut few = Self { len: list.len() as u8, ..Self::default() };
        few.values[..list.len()].copy_from_slice(list);
        few
    }
}

impl Default for Few {
    fn default() -> Self {
        Self { len: 0, values: [ValueId(0); 3] }
    }
}

impl<const N: usize> From<[ValueId; N]> for Few {
    fn from(list: [ValueId; N]) -> Self {
        const { assert!(N <= 3) };
        Self::of(&list)
    }
}

/// One tower of the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tower {
    /// The ring's degree.
    pub n: u32,
    /// The modulus.
    pub modulus: u128,
    /// The primitive 2n-th root of unity psi; 0 if the code needs none.
    pub root: u128,
}

impl Tower {
    /// The tower of a ring.
    pub fn of(ring: &Ring) -> Self {
        Self { n: ring.degree().get() as u32, modulus: ring.q(), root: ring.root().unwrap_or(0) }
    }
}

/// What the code computes: expressions over buffers. The towers of the buffers give their moduli.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The buffers of the results.
    pub outputs: Vec<BufferId>,
    /// What each result is.
    pub expressions: Vec<b512_asm::Expression>,
    /// The buffers of the operands.
    pub inputs: Vec<BufferId>,
    /// The settings that the towers do not give.
    pub parameters: Parameters,
}

impl Claim {
    /// An operation over buffers.
    pub fn of(
        operation: Operation,
        outputs: Vec<BufferId>,
        inputs: Vec<BufferId>,
        parameters: Parameters,
    ) -> Self {
        let expressions = vec![b512_asm::Expression::of_inputs(operation.name(), inputs.len())];
        Self { outputs, expressions, inputs, parameters }
    }
}

/// Straight-line vector code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// The vector length and word width.
    pub isa: Isa,
    /// The instructions in textbook order.
    pub insts: Vec<Inst>,
    /// The number of values.
    pub values: u32,
    /// The constants.
    pub constants: Vec<Constant>,
    /// The scalars.
    pub scalars: Vec<Scalar>,
    /// The constants and scalars that are not powers of psi.
    pub expressions: Vec<Expression>,
    /// The memory.
    pub buffers: Vec<Buffer>,
    /// The rings.
    pub towers: Vec<Tower>,
    /// The claims.
    pub claims: Vec<Claim>,
    known: Known,
    /// The pass of the next instruction.
    pass: u32,
}

/// The indices of interned numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Known {
    constants: FxHashMap<Constant, ConstantId>,
    scalars: FxHashMap<Scalar, ScalarId>,
    expressions: FxHashMap<Expression, NumberId>,
}

/// The index of `item` in `items`; appends the item if it is new.
fn intern<T: Clone + Eq + Hash, Id: Copy>(
    items: &mut Vec<T>,
    known: &mut FxHashMap<T, Id>,
    item: T,
    id: fn(u32) -> Id,
) -> Id {
    let next = id(items.len() as u32);
    *known.entry(item).or_insert_with_key(|item| {
        items.push(item.clone());
        next
    })
}

impl Code {
    /// Empty code for an instruction set.
    pub fn for_isa(isa: Isa) -> Self {
        Self { isa, ..Self::default() }
    }

    /// Adds a ring; its passes are counted from 0.
    pub fn tower(&mut self, tower: Tower) -> TowerId {
        self.pass = 0;
        self.towers.push(tower);
        TowerId(self.towers.len() as u32 - 1)
    }

    /// Ends a pass: the instructions that follow work on its results.
    pub fn end_pass(&mut self) {
        self.pass += 1;
    }

    /// Restarts from pass 0: the instructions that follow are independent of the earlier ones.
    pub fn first_pass(&mut self) {
        self.pass = 0;
    }

    /// Adds a buffer.
    pub fn buffer(&mut self, name: impl Into<String>, words: u32, role: Role, tower: TowerId) -> BufferId {
        let (within, content) = (None, Image::default());
        self.add(Buffer { name: name.into(), words, role, tower, within, content, has_symbol: true })
    }

    /// Names words of a buffer: the operand or the result of a claim, of that tower. Instructions access the
    /// buffer as a whole. Programs have symbols for the parts, and none for a buffer with parts.
    pub fn part(
        &mut self,
        name: impl Into<String>,
        start: BufferWord,
        words: u32,
        tower: TowerId,
    ) -> BufferId {
        let whole = &mut self.buffers[start.buffer.index()];
        whole.has_symbol = false;
        let (role, within, content) = (whole.role, Some(start), Image::default());
        self.add(Buffer { name: name.into(), words, role, tower, within, content, has_symbol: true })
    }

    pub(crate) fn add(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer);
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// The first word of a buffer, as a word of the buffer that holds it.
    pub fn start(&self, buffer: BufferId) -> BufferWord {
        self.buffers[buffer.index()].within.unwrap_or(BufferWord { buffer, word: 0 })
    }

    /// The constant with this content, shared with earlier uses.
    pub fn constant(&mut self, constant: Constant) -> ConstantId {
        intern(&mut self.constants, &mut self.known.constants, constant, ConstantId)
    }

    /// The scalar with this value, shared with earlier uses.
    pub fn scalar(&mut self, tower: TowerId, number: Number) -> ScalarId {
        intern(&mut self.scalars, &mut self.known.scalars, Scalar { tower, number }, ScalarId)
    }

    /// The number with this value.
    pub fn number(&mut self, expression: Expression) -> Number {
        let known = &mut self.known.expressions;
        Number::Expression(intern(&mut self.expressions, known, expression, NumberId))
    }

    fn value(&mut self) -> ValueId {
        self.values += 1;
        ValueId(self.values - 1)
    }

    /// Appends a load.
    pub fn load(&mut self, memory: MemRef, tower: TowerId) -> ValueId {
        let value = self.value();
        let inst = self.inst(Op::Vload, Few::default(), [value], tower);
        self.insts.push(Inst { memory: Some(memory), ..inst });
        value
    }

    /// Appends a store.
    pub fn store(&mut self, value: ValueId, memory: MemRef, tower: TowerId) {
        let inst = self.inst(Op::Vstore, [value], Few::default(), tower);
        self.insts.push(Inst { memory: Some(memory), ..inst });
    }

    /// Appends a compute or shuffle instruction with one result.
    pub fn apply<const N: usize>(
        &mut self,
        op: Op,
        sources: [ValueId; N],
        constant: Option<ConstantId>,
        tower: TowerId,
    ) -> ValueId {
        let value = self.value();
        let inst = self.inst(op, sources, [value], tower);
        self.push_checked(Inst { constant, ..inst });
        value
    }

    /// Appends an affine map of lanes.
    pub fn map_lanes(&mut self, source: ValueId, map: LaneMap, tower: TowerId) -> ValueId {
        let value = self.value();
        let inst = self.inst(Op::Vaff, [source], [value], tower);
        self.push_checked(Inst { map: Some(map), ..inst });
        value
    }

    /// Appends a multiplication by a scalar.
    pub fn scale(&mut self, source: ValueId, number: Number, tower: TowerId) -> ValueId {
        self.with_scalar(Op::Vmuls, source, number, tower)
    }

    /// Appends an instruction on a vector and a scalar.
    pub fn with_scalar(&mut self, op: Op, source: ValueId, number: Number, tower: TowerId) -> ValueId {
        let (value, scalar) = (self.value(), Some(self.scalar(tower, number)));
        let inst = self.inst(op, [source], [value], tower);
        self.push_checked(Inst { scalar, ..inst });
        value
    }

    /// Appends a butterfly.
    pub fn butterfly(
        &mut self,
        op: Op,
        sources: [ValueId; 2],
        factor: ConstantId,
        tower: TowerId,
    ) -> [ValueId; 2] {
        let results = [self.value(), self.value()];
        let inst = self.inst(op, sources, results, tower);
        self.push_checked(Inst { constant: Some(factor), ..inst });
        results
    }

    /// Appends a butterfly of vectors: `sum + a b` and `sum - a b`.
    pub fn multiply_add(&mut self, sum: ValueId, [a, b]: [ValueId; 2], tower: TowerId) -> [ValueId; 2] {
        let results = [self.value(), self.value()];
        self.push_checked(self.inst(Op::Bfly, [sum, a, b], results, tower));
        results
    }

    /// An instruction of this pass that accesses no memory.
    fn inst(&self, op: Op, sources: impl Into<Sources>, results: impl Into<Results>, tower: TowerId) -> Inst {
        let (sources, results, pass) = (sources.into(), results.into(), self.pass);
        Inst { op, sources, constant: None, scalar: None, results, memory: None, map: None, tower, pass }
    }

    /// Adds an instruction that has the operands of its operation.
    fn push_checked(&mut self, inst: Inst) {
        let (mut reads, mut writes, mut scalars) = (0, 0, 0);
        for spec in inst.op.info().operands {
            let is = |kind, direction| usize::from((spec.kind, spec.direction) == (kind, direction));
            reads += is(OperandKind::VReg, Direction::Read);
            writes += is(OperandKind::VReg, Direction::Write);
            scalars += is(OperandKind::SReg, Direction::Read);
        }
        let given = (inst.sources.len() + usize::from(inst.constant.is_some()), inst.results.len());
        assert_eq!((reads, writes), given, "vectors of {:?}", inst.op);
        assert_eq!(scalars, usize::from(inst.scalar.is_some()), "scalars of {:?}", inst.op);
        self.insts.push(inst);
    }
}
