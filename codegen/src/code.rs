//! Vector code: straight-line, in single-assignment form, before register allocation.
//!
//! Known vectors, such as twiddle factors, are [`Constant`]s rather than values: they can be loaded
//! and dropped at any time, so the scheduler decides when and how often. Known numbers that
//! every lane uses are [`Scalar`]s.

mod statement;

pub use crate::ids::{BufferId, ConstantId, InstId, ScalarId, TowerId, ValueId};

use crate::ids::NumberId;
use crate::number::{Expression, Number};
use crate::parameters::Parameters;
use b512_asm::{AddressMode, Direction, Isa, LaneMap, Log2, Op, OperandKind, Role, Setting};
use golden::Operation;
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
    /// The place of a part of another buffer.
    pub within: Option<Place>,
}

/// A word of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
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

impl Default for Few {
    fn default() -> Self {
        Self { len: 0, values: [ValueId(0); 3] }
    }
}

impl<const N: usize> From<[ValueId; N]> for Few {
    fn from(list: [ValueId; N]) -> Self {
        const { assert!(N <= 3) };
        let mut few = Self { len: N as u8, ..Self::default() };
        few.values[..N].copy_from_slice(&list);
        few
    }
}

/// One tower of the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tower {
    /// The ring's degree.
    pub n: u32,
    /// The modulus.
    pub modulus: u128,
    /// The primitive 2n-th root of unity psi.
    pub root: u128,
}

/// What the code computes: an operation over buffers. The towers of the buffers give its moduli.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The operation.
    pub operation: Operation,
    /// The buffers of the results.
    pub outputs: Vec<BufferId>,
    /// The buffers of the operands.
    pub inputs: Vec<BufferId>,
    /// The settings that the towers do not give.
    pub parameters: Parameters,
}

impl Claim {
    /// The value of a parameter.
    pub fn parameter(&self, name: &str) -> Option<&Setting> {
        self.parameters.get(name)
    }

    /// The value of a parameter that is a word.
    ///
    /// # Panics
    /// Panics if the claim has no such word. [`Code::stated`] refuses such claims.
    pub fn word(&self, name: &str) -> &str {
        let word = self.parameters.word(name);
        word.unwrap_or_else(|| panic!("the claim of `{}` has no word `{name}`", self.operation))
    }

    /// The value of a parameter that is a number.
    ///
    /// # Panics
    /// Panics if the claim has no such number. [`Code::stated`] refuses such claims.
    pub fn number(&self, name: &str) -> u128 {
        let number = self.parameters.number(name);
        number.unwrap_or_else(|| panic!("the claim of `{}` has no number `{name}`", self.operation))
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

    /// Interleaves the towers: each one starts when the previous one is `stagger` instructions
    /// ahead.
    pub fn interleave(&mut self, stagger: u32) {
        let mut turns = vec![0u64; self.towers.len()];
        for (tower, turn) in turns.iter_mut().enumerate() {
            *turn = tower as u64 * u64::from(stagger);
        }
        let mut insts: Vec<(u64, Inst)> = Vec::with_capacity(self.insts.len());
        for inst in self.insts.drain(..) {
            let turn = &mut turns[inst.tower.index()];
            insts.push((*turn, inst));
            *turn += 1;
        }
        // A stable sort: towers that are due together keep their order.
        insts.sort_by_key(|&(turn, _)| turn);
        self.insts.extend(insts.into_iter().map(|(_, inst)| inst));
    }

    /// Sorts the instructions by demand of the stores: operands are loaded when they are first
    /// needed, and results are stored as soon as they exist, so that the loads of the next block
    /// find free registers early.
    pub fn order_by_demand(&mut self) {
        let mut before = self.memory_order();
        let mut producer = vec![None; self.values as usize];
        for (number, inst) in self.insts.iter().enumerate() {
            for value in inst.results.iter() {
                producer[value.index()] = Some(InstId(number as u32));
            }
            // The operands of an instruction come first, then its memory dependences.
            let asked = inst.sources.iter().filter_map(|value| producer[value.index()]);
            before[number].splice(0..0, asked);
        }
        let mut order: Vec<InstId> = Vec::with_capacity(self.insts.len());
        let mut reached = vec![false; self.insts.len()];
        // Instructions in progress, each with the number of its predecessors visited so far.
        let mut path: Vec<(InstId, usize)> = Vec::new();
        for number in 0..self.insts.len() {
            if self.insts[number].op != Op::Vstore || std::mem::replace(&mut reached[number], true) {
                continue;
            }
            path.push((InstId(number as u32), 0));
            while let Some((id, next)) = path.last_mut() {
                match before[id.index()].get(*next) {
                    Some(&earlier) => {
                        *next += 1;
                        if !std::mem::replace(&mut reached[earlier.index()], true) {
                            path.push((earlier, 0));
                        }
                    }
                    None => {
                        order.push(*id);
                        path.pop();
                    }
                }
            }
        }
        self.insts = order.iter().map(|id| self.insts[id.index()].clone()).collect();
    }

    /// Removes instructions other than stores whose results no instruction reads.
    pub fn remove_unread(&mut self) {
        let mut read = vec![false; self.values as usize];
        let mut is_needed = |inst: &Inst| {
            let keep = inst.results.is_empty() || inst.results.iter().any(|value| read[value.index()]);
            if keep {
                inst.sources.iter().for_each(|value| read[value.index()] = true);
            }
            keep
        };
        let mut kept: Vec<bool> = self.insts.iter().rev().map(&mut is_needed).collect();
        self.insts.retain(|_| kept.pop() == Some(true));
    }

    /// Adds a buffer.
    pub fn buffer(&mut self, name: impl Into<String>, words: u32, role: Role, tower: TowerId) -> BufferId {
        self.buffers.push(Buffer { name: name.into(), words, role, tower, within: None });
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// Names words of a buffer: the operand or the result of a claim, of that tower. Instructions access the
    /// buffer as a whole. Programs have symbols for the parts, and none for a buffer with parts.
    pub fn part(&mut self, name: impl Into<String>, place: Place, words: u32, tower: TowerId) -> BufferId {
        let role = self.buffers[place.buffer.index()].role;
        self.buffers.push(Buffer { name: name.into(), words, role, tower, within: Some(place) });
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// The first word of a buffer, as a word of the buffer that holds it.
    pub fn place(&self, buffer: BufferId) -> Place {
        self.buffers[buffer.index()].within.unwrap_or(Place { buffer, word: 0 })
    }

    /// Whether each buffer has a symbol in programs: those without parts.
    pub fn have_symbols(&self) -> Vec<bool> {
        let mut have_symbols = vec![true; self.buffers.len()];
        for place in self.buffers.iter().filter_map(|buffer| buffer.within) {
            have_symbols[place.buffer.index()] = false;
        }
        have_symbols
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
        let (sources, results) = (Few::default(), [value].into());
        self.insts.push(Inst {
            op: Op::Vload,
            sources,
            constant: None,
            scalar: None,
            results,
            memory: Some(memory),
            map: None,
            tower,
            pass: self.pass,
        });
        value
    }

    /// Appends a store.
    pub fn store(&mut self, value: ValueId, memory: MemRef, tower: TowerId) {
        let (sources, results) = ([value].into(), Few::default());
        self.insts.push(Inst {
            op: Op::Vstore,
            sources,
            constant: None,
            scalar: None,
            results,
            memory: Some(memory),
            map: None,
            tower,
            pass: self.pass,
        });
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
        let results = [value].into();
        let (sources, pass) = (sources.into(), self.pass);
        let (scalar, memory, map) = (None, None, None);
        self.push_checked(Inst { op, sources, constant, scalar, results, memory, map, tower, pass });
        value
    }

    /// Appends an affine map of lanes.
    pub fn map_lanes(&mut self, source: ValueId, map: LaneMap, tower: TowerId) -> ValueId {
        let value = self.value();
        let (sources, results, pass) = ([source].into(), [value].into(), self.pass);
        self.push_checked(Inst {
            op: Op::Vaff,
            sources,
            constant: None,
            scalar: None,
            results,
            memory: None,
            map: Some(map),
            tower,
            pass,
        });
        value
    }

    /// Appends a multiplication by a scalar.
    pub fn scale(&mut self, source: ValueId, number: Number, tower: TowerId) -> ValueId {
        self.with_scalar(Op::Vmuls, source, number, tower)
    }

    /// Appends an instruction on a vector and a scalar.
    pub fn with_scalar(&mut self, op: Op, source: ValueId, number: Number, tower: TowerId) -> ValueId {
        let (value, scalar) = (self.value(), Some(self.scalar(tower, number)));
        let (sources, results, pass) = ([source].into(), [value].into(), self.pass);
        let (constant, memory, map) = (None, None, None);
        self.push_checked(Inst { op, sources, constant, scalar, results, memory, map, tower, pass });
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
        self.push_checked(Inst {
            op,
            sources: sources.into(),
            constant: Some(factor),
            scalar: None,
            results: results.into(),
            memory: None,
            map: None,
            tower,
            pass: self.pass,
        });
        results
    }

    /// Appends a butterfly of vectors: `sum + a b` and `sum - a b`.
    pub fn multiply_add(&mut self, sum: ValueId, [a, b]: [ValueId; 2], tower: TowerId) -> [ValueId; 2] {
        let results = [self.value(), self.value()];
        self.push_checked(Inst {
            op: Op::Bfly,
            sources: [sum, a, b].into(),
            constant: None,
            scalar: None,
            results: results.into(),
            memory: None,
            map: None,
            tower,
            pass: self.pass,
        });
        results
    }

    fn push_checked(&mut self, inst: Inst) {
        let registers = |kind, direction| {
            let specs = inst.op.info().operands.iter();
            specs.filter(|s| s.kind == kind && s.direction == direction).count()
        };
        debug_assert_eq!(
            registers(OperandKind::VReg, Direction::Read),
            inst.sources.len() + usize::from(inst.constant.is_some())
        );
        debug_assert_eq!(registers(OperandKind::VReg, Direction::Write), inst.results.len());
        debug_assert_eq!(registers(OperandKind::SReg, Direction::Read), usize::from(inst.scalar.is_some()));
        self.insts.push(inst);
    }

    /// The memory dependences of each instruction: a load comes after the stores that it reads
    /// from, a store after the loads and stores of the words that it overwrites.
    pub fn memory_order(&self) -> Vec<Vec<InstId>> {
        /// The accesses to a word, or to a vector.
        #[derive(Clone, Copy, Default)]
        struct Word {
            writer: Option<InstId>,
            /// The last reader of the writer's word.
            reader: Option<Read>,
        }
        /// An entry of the list of reads.
        #[derive(Clone, Copy)]
        struct Read(u32);

        // Whole vectors stand for their words in buffers with no other accesses.
        let length = self.isa.vector_length();
        let mut sizes = vec![length; self.buffers.len()];
        for memory in self.insts.iter().filter_map(|inst| inst.memory) {
            if memory.mode != AddressMode::Linear || memory.word % length != 0 {
                sizes[memory.buffer.index()] = 1;
            }
        }
        let count = |(buffer, &size): (&Buffer, &u32)| buffer.words.div_ceil(size) as usize;
        let mut words: Vec<Vec<Word>> =
            self.buffers.iter().zip(&sizes).map(|sized| vec![Word::default(); count(sized)]).collect();
        // Each read, with an earlier read of the same word.
        let mut reads: Vec<(InstId, Option<Read>)> = Vec::new();
        // For each instruction, the last one found to depend on it.
        let mut successor = vec![None; self.insts.len()];
        let mut order = vec![Vec::new(); self.insts.len()];
        for (number, inst) in self.insts.iter().enumerate() {
            let (Some(memory), id) = (inst.memory, InstId(number as u32)) else { continue };
            let before: &mut Vec<InstId> = &mut order[number];
            let mut depends_on = |earlier: InstId| {
                if earlier != id && successor[earlier.index()] != Some(id) {
                    successor[earlier.index()] = Some(id);
                    before.push(earlier);
                }
            };
            let buffer = &mut words[memory.buffer.index()];
            let size = sizes[memory.buffer.index()];
            for lane in (0..length).step_by(size as usize) {
                let word = &mut buffer[((memory.word + memory.mode.element(lane)) / size) as usize];
                word.writer.into_iter().for_each(&mut depends_on);
                if inst.op == Op::Vstore {
                    while let Some(Read(read)) = word.reader {
                        let (reader, earlier) = reads[read as usize];
                        depends_on(reader);
                        word.reader = earlier;
                    }
                    word.writer = Some(id);
                } else {
                    reads.push((id, word.reader));
                    word.reader = Some(Read(reads.len() as u32 - 1));
                }
            }
            before.sort_unstable();
        }
        order
    }
}
