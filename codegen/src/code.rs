//! Vector code: straight-line, every value assigned once, no registers yet.
//!
//! Factors (twiddles, twists) are [`Constant`]s rather than values: any of them can be loaded at
//! any time and dropped again, so that the scheduler decides when and how often.

use b512_asm::reg::VECTOR_LENGTH;
use b512_asm::{AddressMode, Direction, Function, Log2, Op, OperandKind, Role};
use rustc_hash::FxHashMap;

/// A vector value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(pub u32);

/// A vector of factors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConstantId(pub u32);

/// An instruction of the code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InstId(pub u32);

/// A range of the vector data memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BufferId(pub u32);

/// A modulus with its roots of unity: one limb of a number in a residue number system.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TowerId(pub u32);

macro_rules! index {
    ($($id:ident),*) => {
        $(impl $id {
            /// The number as an index.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        })*
    };
}
index!(ValueId, ConstantId, InstId, BufferId, TowerId);

/// Words of a buffer that a load or store touches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemRef {
    /// The buffer.
    pub buffer: BufferId,
    /// The word of element 0, counted from the buffer's start.
    pub word: u32,
    /// Where the other elements lie.
    pub mode: AddressMode,
}

/// A named range of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// The symbol's name.
    pub name: String,
    /// Its size.
    pub words: u32,
    /// What it is for.
    pub role: Role,
}

/// One element of a constant: psi^exponent, over n where `scaled`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Factor {
    /// The exponent, 0 to 2n - 1.
    pub exponent: u32,
    /// Whether it is multiplied by 1/n.
    pub scaled: bool,
}

/// A vector of factors, repeated to 512 elements where it is shorter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Constant {
    /// The tower whose psi and n the factors refer to.
    pub tower: TowerId,
    /// The factors; their number is a power of two, at most 512.
    pub factors: Vec<Factor>,
}

impl Constant {
    /// The addressing mode that loads it from consecutive words.
    pub fn mode(&self) -> AddressMode {
        if self.factors.len() == VECTOR_LENGTH {
            AddressMode::Linear
        } else {
            let log2 = self.factors.len().trailing_zeros() as u8;
            AddressMode::Repeated(Log2::new(log2).expect("below nine"))
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
    /// The factors that it multiplies by, in the place of its last vector source.
    pub constant: Option<ConstantId>,
    /// The values that it defines, in operand order.
    pub results: Results,
    /// What it loads or stores.
    pub memory: Option<MemRef>,
    /// The tower whose modulus it computes with.
    pub tower: TowerId,
    /// The pass over memory that it belongs to, counted from 0 in each tower.
    pub pass: u32,
}

/// Up to two values read.
pub type Sources = Few;
/// Up to two values defined.
pub type Results = Few;

/// Up to two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Few([Option<ValueId>; 2]);

impl Few {
    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = ValueId> + Clone + use<> {
        let values = self.0;
        values.into_iter().flatten()
    }

    /// Other values in the places of these.
    pub fn map(&self, mut other: impl FnMut(ValueId) -> ValueId) -> Self {
        Self(self.0.map(|value| value.map(&mut other)))
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0[0].is_none()
    }
}

impl<const N: usize> From<[ValueId; N]> for Few {
    fn from(values: [ValueId; N]) -> Self {
        let mut few = Self::default();
        for (slot, value) in few.0.iter_mut().zip(values) {
            *slot = Some(value);
        }
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

/// An equation of the code's contract, over buffers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The buffer of the result.
    pub output: BufferId,
    /// What is computed.
    pub function: Function,
    /// The buffers of the operands.
    pub inputs: Vec<BufferId>,
    /// The ring.
    pub tower: TowerId,
}

/// Straight-line vector code.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Code {
    /// The instructions in textbook order.
    pub insts: Vec<Inst>,
    /// The number of values.
    pub values: u32,
    /// The constants.
    pub constants: Vec<Constant>,
    /// The memory.
    pub buffers: Vec<Buffer>,
    /// The rings.
    pub towers: Vec<Tower>,
    /// What the code computes.
    pub claims: Vec<Claim>,
    known: FxHashMap<Constant, ConstantId>,
    /// The pass of the next instruction.
    pass: u32,
}

impl Code {
    /// Adds a ring, whose passes start from 0.
    pub fn tower(&mut self, tower: Tower) -> TowerId {
        self.pass = 0;
        self.towers.push(tower);
        TowerId(self.towers.len() as u32 - 1)
    }

    /// Ends a pass: what comes next works on its results.
    pub fn end_pass(&mut self) {
        self.pass += 1;
    }

    /// Starts from pass 0 again: what comes next needs nothing of what came before.
    pub fn first_pass(&mut self) {
        self.pass = 0;
    }

    /// Lets the towers take turns instead of coming one after the other: each one starts when the
    /// one before it is `stagger` instructions ahead.
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
        // Stable: towers whose turn it is keep their order.
        insts.sort_by_key(|&(turn, _)| turn);
        self.insts.extend(insts.into_iter().map(|(_, inst)| inst));
    }

    /// Brings the instructions into the order in which the stores, as they come, ask for them:
    /// operands are loaded when they are needed first, and results are stored as soon as there
    /// are any, so that the loads of the next block find free registers early.
    pub fn order_by_demand(&mut self) {
        let mut before = self.memory_order();
        let mut producer = vec![None; self.values as usize];
        for (number, inst) in self.insts.iter().enumerate() {
            for value in inst.results.iter() {
                producer[value.index()] = Some(InstId(number as u32));
            }
            // What an operand needs comes first, then what memory asks for.
            let asked = inst.sources.iter().filter_map(|value| producer[value.index()]);
            before[number].splice(0..0, asked);
        }
        let mut order: Vec<InstId> = Vec::with_capacity(self.insts.len());
        let mut reached = vec![false; self.insts.len()];
        // Instructions under way, each with the number of those before it that have been reached.
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

    /// Adds a buffer.
    pub fn buffer(&mut self, name: impl Into<String>, words: u32, role: Role) -> BufferId {
        self.buffers.push(Buffer { name: name.into(), words, role });
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// The constant with these contents, shared with earlier uses of it.
    pub fn constant(&mut self, constant: Constant) -> ConstantId {
        let next = ConstantId(self.constants.len() as u32);
        *self.known.entry(constant).or_insert_with_key(|constant| {
            self.constants.push(constant.clone());
            next
        })
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
            results,
            memory: Some(memory),
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
            results,
            memory: Some(memory),
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
        self.push_checked(Inst { op, sources, constant, results, memory: None, tower, pass });
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
            results: results.into(),
            memory: None,
            tower,
            pass: self.pass,
        });
        results
    }

    fn push_checked(&mut self, inst: Inst) {
        let registers = |direction| {
            let specs = inst.op.info().operands.iter();
            specs.filter(|s| s.kind == OperandKind::VReg && s.direction == direction).count()
        };
        debug_assert_eq!(
            registers(Direction::Read),
            inst.sources.len() + usize::from(inst.constant.is_some())
        );
        debug_assert_eq!(registers(Direction::Write), inst.results.len());
        self.insts.push(inst);
    }

    /// For each instruction, those that memory forces before it: a load after the stores that it
    /// reads from, a store after the loads and stores of the words that it overwrites.
    pub fn memory_order(&self) -> Vec<Vec<InstId>> {
        /// Who has accessed a word.
        #[derive(Clone, Copy, Default)]
        struct Word {
            writer: Option<InstId>,
            /// The last of those that have read what the writer wrote.
            reader: Option<Read>,
        }
        /// An entry of the list of reads.
        #[derive(Clone, Copy)]
        struct Read(u32);

        let mut words: Vec<Vec<Word>> =
            self.buffers.iter().map(|buffer| vec![Word::default(); buffer.words as usize]).collect();
        // Each read, with an earlier one of the same word.
        let mut reads: Vec<(InstId, Option<Read>)> = Vec::new();
        // The last instruction that was found to depend on each.
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
            for lane in 0..VECTOR_LENGTH as u32 {
                let word = &mut buffer[(memory.word + memory.mode.element(lane)) as usize];
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
