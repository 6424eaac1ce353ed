//! From plans to vector code.

mod product;

pub use self::product::product;

use crate::code::{BufferId, Code, Constant, ConstantId, MemRef, TowerId, ValueId};
use crate::number::Number;
use crate::plan::{Algorithm, Bit, Placement, Plan, PlanError, Step, TracedPass};
use b512_asm::{Op, Role};
use rustc_hash::FxHashMap;

/// The dialect of vector code for a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dialect {
    /// Whether the machine has the `gsbfly` extension.
    pub gs_butterfly: bool,
    /// Whether every step is done on all registers before the next one. Otherwise consecutive steps
    /// that pair the same registers are done pair by pair.
    pub by_level: bool,
    /// log2 of the shortest vector of factors in memory; shorter ones are repeated up to this
    /// length. If lanes that read one word do not share its access, a load of fewer words than a
    /// beat has lanes would have bank conflicts.
    pub factor_bits: u32,
    /// log2 of the most factors that a stage, or the twist, has in memory. If it has more, its vectors are
    /// products of one vector for all blocks and a factor for each block, which costs one more multiplication
    /// for each vector.
    pub most_factor_bits: u32,
}

/// The memory of a transform.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The operand.
    pub input: BufferId,
    /// The result.
    pub output: BufferId,
    /// The second buffer, for passes that do not work in place.
    pub second: Second,
    /// A buffer that multiplies the result element by element.
    pub times: Option<BufferId>,
}

/// The second buffer of a transform.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Second {
    /// The tower's scratch buffer.
    New,
    /// This buffer, which may be the operand: the scratch buffer then replaces it while it is
    /// still being read.
    Reuse(BufferId),
}

/// The scratch buffer that the transforms of a tower share. It is allocated at its first use.
#[derive(Clone, Debug)]
pub struct Scratch {
    name: String,
    tower: TowerId,
    buffer: Option<BufferId>,
}

impl Scratch {
    /// A buffer of that name for a polynomial of the tower.
    pub fn new(name: String, tower: TowerId) -> Self {
        Self { name, tower, buffer: None }
    }

    fn get(&mut self, code: &mut Code) -> BufferId {
        let n = code.towers[self.tower.index()].n;
        *self.buffer.get_or_insert_with(|| code.buffer(&*self.name, n, Role::Scratch, self.tower))
    }
}

/// Appends the code of a transform.
///
/// # Errors
/// Returns an error if the plan is invalid.
pub fn transform(
    code: &mut Code,
    dialect: Dialect,
    plan: &Plan,
    tower: TowerId,
    memory: Memory,
    scratch: &mut Scratch,
) -> Result<(), PlanError> {
    let mut factored = Factored::new(plan)?;
    let passes = factored.passes.clone();
    let buffers = pass_buffers(code, &passes, memory, scratch);
    let mut lowering = factored.lowering(code, dialect, tower);
    for (number, pass) in passes.iter().enumerate() {
        let last = number + 1 == passes.len();
        lowering.pass(pass, &[[buffers[number], buffers[number + 1]]], memory.times.filter(|_| last));
        lowering.code.end_pass();
    }
    if plan.shape().bits() > plan.log_n {
        code.remove_unread();
    }
    Ok(())
}

/// A plan with the factors that its code has so far, in one tower.
struct Factored {
    algorithm: Algorithm,
    log_n: u32,
    passes: Vec<TracedPass>,
    /// See [`scaling_stages`].
    scaling: u32,
    constants: Constants,
}

impl Factored {
    fn new(plan: &Plan) -> Result<Self, PlanError> {
        let passes = plan.trace()?;
        let small = plan.shape().vectors() <= WHOLE_VECTORS;
        let scaling = passes.last().filter(|_| small).map_or(1, scaling_stages);
        let (algorithm, log_n) = (plan.algorithm, plan.log_n);
        Ok(Self { algorithm, log_n, passes, scaling, constants: Constants::default() })
    }

    fn lowering<'c>(&'c mut self, code: &'c mut Code, dialect: Dialect, tower: TowerId) -> Lowering<'c> {
        let Self { algorithm, log_n, scaling, ref mut constants, .. } = *self;
        Lowering { code, dialect, algorithm, log_n, tower, scaling, constants }
    }
}

/// log2 of the number of vectors that fill half of the registers. For larger transforms, the time
/// and latency of a multiplication are negligible, and memory for factors is scarce.
const WHOLE_VECTORS: u32 = 5;

/// The number of final stages of [`Algorithm::Inverse`] whose twiddle factors include 1/n. Elements that are
/// only ever summed need their own multiplication. A stage's bit must stay in the registers, so that a
/// register is scaled as a whole. More than three stages would save little and need many factors in two
/// versions.
fn scaling_stages(last: &TracedPass) -> u32 {
    let mut moved = Vec::new();
    let mut stages = 0;
    for &step in last.steps.iter().rev() {
        match step {
            // The steps after the last stage permute all elements alike.
            Step::Stage(bit) if stages == 0 || stages < 3 && !moved.contains(&bit) => stages += 1,
            Step::Unpack(bit) | Step::Pack(bit) => moved.push(bit),
            Step::Stage(_) | Step::Twist | Step::TwistedStage(_) => break,
        }
    }
    stages
}

/// The buffer before each pass and after the last one. A pass that cannot work in place alternates
/// between two buffers; scratch memory is allocated only if it is needed.
fn pass_buffers(
    code: &mut Code,
    passes: &[TracedPass],
    memory: Memory,
    scratch: &mut Scratch,
) -> Vec<BufferId> {
    let Memory { input, output, second, .. } = memory;
    let mut buffers = vec![output];
    for (number, pass) in passes.iter().enumerate().skip(1).rev() {
        let after = buffers[buffers.len() - 1];
        // The first pass still reads the operand that it would overwrite.
        let reads = (number == 1 && !passes[0].in_place()).then_some(input);
        let before = match second {
            _ if pass.in_place() => after,
            _ if after != output => output,
            Second::New => scratch.get(code),
            Second::Reuse(buffer) => buffer,
        };
        buffers.push(if Some(before) == reads { scratch.get(code) } else { before });
    }
    buffers.push(input);
    buffers.reverse();
    buffers
}

/// The register bit, counted from the least significant, that the next step pairs; `Some(None)`
/// for a step on single registers, `None` after the last step.
fn position(placement: &Placement, steps: &[Step]) -> Option<Option<usize>> {
    let bit = steps.first()?.bit();
    Some(bit.and_then(|bit| placement.registers.iter().rev().position(|&b| b == bit)))
}

struct Lowering<'c> {
    code: &'c mut Code,
    dialect: Dialect,
    algorithm: Algorithm,
    log_n: u32,
    tower: TowerId,
    /// See [`scaling_stages`].
    scaling: u32,
    constants: &'c mut Constants,
}

/// The vectors of factors that exist, by their keys.
type Constants = FxHashMap<FactorKey, ConstantId>;

/// Factors of a vector, which it is multiplied by.
#[derive(Clone, Copy)]
struct Factors {
    /// The part that is the same in all blocks, if the factors are split.
    lanes: Option<ConstantId>,
    /// The factors, or the rest of them.
    block: ConstantId,
}

/// The purpose of factors.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Purpose {
    /// A stage. In an inverse transform, its factors may contain 1/n.
    Stage { bit: Bit, scaled: bool },
    /// The twist.
    Twist,
    /// The product of a stage's factor and the twist of the element whose index has a zero in the
    /// stage's bit.
    TwistedStage(Bit),
    /// The quotient of the twists of two elements whose indices differ in a bit.
    Between(Bit),
}

/// The key of a vector of factors: its purpose, the relevant index bits outside the lanes, and the
/// relevant index bit of each lane. The part of all blocks has no bits outside the lanes.
type FactorKey = (Purpose, Option<u32>, Vec<Option<Bit>>);

/// Deposits the bits of `number` at the index bits in `bits`, most significant first.
fn scatter(bits: &[Bit], number: u32) -> u32 {
    let positions = bits.iter().rev().enumerate();
    positions.map(|(i, bit)| (number >> i & 1) << bit.0).sum()
}

/// The index bits that number each block of a pass.
fn blocks(pass: &TracedPass) -> impl Iterator<Item = u32> {
    (0..1 << pass.blocks.len()).map(|block| scatter(&pass.blocks, block))
}

/// The exponent of psi that a stage of the forward transform multiplies a block by. Stages and blocks are
/// counted from 0; stage s has 2^s blocks.
pub(crate) const fn root_of_block(log_n: u32, stage: u32, block: u32) -> u32 {
    u32::reverse_bits(1 << stage | block) >> (32 - log_n)
}

/// The word address of the element with that index. Above the index bits, a layout of `log_n` address
/// bits has copy bits, which do not count.
fn address(layout: &[Bit], index: u32, log_n: u32) -> u32 {
    let positions = layout.iter().enumerate().take(log_n as usize);
    positions.map(|(position, bit)| (index >> bit.0 & 1) << position).sum()
}

impl Lowering<'_> {
    /// Appends a pass over several operands, block by block, each from the first buffer to the second. They
    /// share the factors of a block.
    fn pass(&mut self, pass: &TracedPass, operands: &[[BufferId; 2]], times: Option<BufferId>) {
        for block in blocks(pass) {
            let mut values: Vec<_> = operands.iter().map(|[from, _]| self.load(pass, block, *from)).collect();
            self.compute(pass, block, &mut values);
            for (values, [_, to]) in values.iter().zip(operands) {
                self.store(pass, block, values, *to, times);
            }
        }
    }

    /// Loads a block: its registers.
    fn load(&mut self, pass: &TracedPass, block: u32, from: BufferId) -> Vec<ValueId> {
        let mut loads: Vec<u32> = (0..1 << pass.start.registers.len()).collect();
        if let Some(Some(position)) = position(&pass.start, &pass.steps)
            && self.dialect.by_level
        {
            // Registers that the first step pairs are adjacent.
            loads.sort_by_key(|register| (register & !(1 << position), *register));
        }
        let mut values = vec![ValueId(0); loads.len()];
        for register in loads {
            let word = address(&pass.from, block | scatter(&pass.start.registers, register), self.log_n);
            let memory = MemRef { buffer: from, word, mode: pass.load_mode };
            values[register as usize] = self.code.load(memory, self.tower);
        }
        values
    }

    /// Applies the steps of a pass to the registers of a block, of one or several operands.
    fn compute(&mut self, pass: &TracedPass, block: u32, operands: &mut [Vec<ValueId>]) {
        let mut placement = pass.start.clone();
        let mut steps = pass.steps.as_slice();
        while let Some(at) = position(&placement, steps) {
            let mut together = 1;
            let mut after = placement.clone();
            after.apply(steps[0]);
            while !self.dialect.by_level && at.is_some() && position(&after, &steps[together..]) == Some(at) {
                after.apply(steps[together]);
                together += 1;
            }
            for values in &mut *operands {
                self.steps(&steps[..together], &placement, at, block, values);
            }
            placement = after;
            steps = &steps[together..];
        }
    }

    /// Stores the registers of a block, multiplied by the words of `times`.
    fn store(
        &mut self,
        pass: &TracedPass,
        block: u32,
        values: &[ValueId],
        to: BufferId,
        times: Option<BufferId>,
    ) {
        for (register, &value) in (0..).zip(values) {
            let index = block | scatter(&pass.end.registers, register);
            let is_copy = scatter(&pass.end.registers, register) >> self.log_n != 0;
            if is_copy {
                continue;
            }
            let word = address(&pass.to, index, self.log_n);
            let value = match times {
                Some(buffer) => {
                    let other = self.code.load(MemRef { buffer, word, mode: pass.store_mode }, self.tower);
                    self.code.apply(Op::Vmul, [value, other], None, self.tower)
                }
                None => value,
            };
            self.code.store(value, MemRef { buffer: to, word, mode: pass.store_mode }, self.tower);
        }
    }

    fn steps(
        &mut self,
        steps: &[Step],
        before: &Placement,
        position: Option<usize>,
        block: u32,
        values: &mut [ValueId],
    ) {
        let Some(position) = position else {
            for (register, value) in values.iter_mut().enumerate() {
                let fixed = block | scatter(&before.registers, register as u32);
                let twist = self.factors(Purpose::Twist, before, fixed);
                *value = self.multiply(*value, twist);
            }
            return;
        };
        for low in (0..values.len()).filter(|register| register >> position & 1 == 0) {
            let high = low | 1 << position;
            let mut placement = before.clone();
            for &step in steps {
                let pair = [values[low], values[high]];
                let fixed = block | scatter(&placement.registers, low as u32);
                let result = match step {
                    Step::Stage(bit) => self.stage(bit, &placement, fixed, pair),
                    Step::TwistedStage(bit) => self.twisted_stage(bit, &placement, fixed, pair),
                    Step::Unpack(_) => self.shuffle(Op::Unpklo, Op::Unpkhi, pair),
                    Step::Pack(_) => self.shuffle(Op::Pklo, Op::Pkhi, pair),
                    Step::Twist => unreachable!("a twist pairs no registers"),
                };
                [values[low], values[high]] = result;
                placement.apply(step);
            }
        }
    }

    /// The product of a vector and factors.
    fn multiply(&mut self, value: ValueId, factors: Factors) -> ValueId {
        let value = self.by_lanes(value, factors);
        self.code.apply(Op::Vmul, [value], Some(factors.block), self.tower)
    }

    /// The product of a vector and the part of the factors that is the same in all blocks.
    fn by_lanes(&mut self, value: ValueId, factors: Factors) -> ValueId {
        let lanes = factors.lanes.map(|lanes| self.code.apply(Op::Vmul, [value], Some(lanes), self.tower));
        lanes.unwrap_or(value)
    }

    /// A Cooley-Tukey butterfly.
    fn butterfly(&mut self, [low, high]: [ValueId; 2], factors: Factors) -> [ValueId; 2] {
        let high = self.by_lanes(high, factors);
        self.code.butterfly(Op::Bfly, [low, high], factors.block, self.tower)
    }

    fn shuffle(&mut self, low: Op, high: Op, pair: [ValueId; 2]) -> [ValueId; 2] {
        [low, high].map(|op| self.code.apply(op, pair, None, self.tower))
    }

    fn stage(&mut self, bit: Bit, placement: &Placement, fixed: u32, pair: [ValueId; 2]) -> [ValueId; 2] {
        // The bits of the earlier stages that absorb 1/n: if one is set, the element is scaled.
        let first_scaling = self.log_n - self.scaling;
        let stage = u32::from(bit.0);
        let earlier = (1 << stage) - (1 << first_scaling.min(stage));
        let unscaled = self.algorithm == Algorithm::Inverse && fixed & earlier == 0;
        let scaled = unscaled && stage >= first_scaling;
        let factor = self.factors(Purpose::Stage { bit, scaled }, placement, fixed);
        if self.algorithm != Algorithm::Inverse {
            return self.butterfly(pair, factor);
        }
        let tower = self.tower;
        let [sum, product] = if self.dialect.gs_butterfly {
            let [sum, product] = self.code.butterfly(Op::Gsbfly, pair, factor.block, tower);
            [sum, self.by_lanes(product, factor)]
        } else {
            let sum = self.code.apply(Op::Vadd, pair, None, tower);
            let difference = self.code.apply(Op::Vsub, pair, None, tower);
            [sum, self.multiply(difference, factor)]
        };
        let last = stage + 1 == self.log_n;
        let sum = if last && unscaled { self.code.scale(sum, Number::INVERSE_DEGREE, tower) } else { sum };
        [sum, product]
    }

    /// See [`Step::TwistedStage`].
    fn twisted_stage(
        &mut self,
        bit: Bit,
        placement: &Placement,
        fixed: u32,
        [low, high]: [ValueId; 2],
    ) -> [ValueId; 2] {
        let twist = self.factors(Purpose::Twist, placement, fixed);
        let twisted = self.factors(Purpose::TwistedStage(bit), placement, fixed);
        let between = self.factors(Purpose::Between(bit), placement, fixed);
        let low = self.multiply(low, twist);
        let [sum, difference] = self.butterfly([low, high], twisted);
        [sum, self.multiply(difference, between)]
    }

    /// The factors for the registers with the index bits `fixed` outside the lanes.
    fn factors(&mut self, purpose: Purpose, placement: &Placement, fixed: u32) -> Factors {
        let relevant = |bit: Bit| u32::from(bit.0) < self.log_n && self.depends_on(purpose, bit);
        let bits: Vec<Bit> = (0..self.log_n as u8).map(Bit).filter(|&bit| relevant(bit)).collect();
        let mask: u32 = bits.iter().map(|bit| 1 << bit.0).sum();
        let mut lanes: Vec<Option<Bit>> =
            placement.lanes.iter().map(|&bit| Some(bit).filter(|&b| relevant(b))).collect();
        // Above the last relevant lane bit, the vector repeats.
        while lanes.last() == Some(&None) {
            lanes.pop();
        }
        if lanes.is_empty() || bits.len() as u32 <= self.dialect.most_factor_bits {
            return Factors { lanes: None, block: self.constant((purpose, Some(fixed & mask), lanes)) };
        }
        Factors {
            lanes: Some(self.constant((purpose, None, lanes))),
            block: self.constant((purpose, Some(fixed & mask), Vec::new())),
        }
    }

    /// Whether factors depend on an index bit.
    fn depends_on(&self, purpose: Purpose, bit: Bit) -> bool {
        match purpose {
            Purpose::Stage { bit: stage, .. } => match self.algorithm {
                Algorithm::Forward | Algorithm::Inverse => bit > stage,
                Algorithm::InverseTwisted => bit < stage,
            },
            Purpose::Twist | Purpose::TwistedStage(_) => true,
            Purpose::Between(_) => false,
        }
    }

    /// The vector of factors with this key.
    fn constant(&mut self, key: FactorKey) -> ConstantId {
        if let Some(&known) = self.constants.get(&key) {
            return known;
        }
        let (purpose, fixed, lanes) = &key;
        // The index of each lane's element: with each bit, the lanes so far occur once more.
        let mut indices = vec![fixed.unwrap_or(0); 1 << lanes.len()];
        for (position, bit) in lanes.iter().enumerate() {
            let (known, new) = indices.split_at_mut(1 << position);
            let value = bit.map_or(0, |bit| 1 << bit.0);
            new.iter_mut().zip(known).for_each(|(new, known)| *new = *known | value);
        }
        let mut numbers = self.factors_of(*purpose, &indices);
        if fixed.is_none() {
            let log_n = self.log_n;
            numbers = over_the_first(&numbers, (2 << log_n) - 1);
        }
        while numbers.len() < 1 << self.dialect.factor_bits {
            numbers.extend_from_within(..);
        }
        let id = self.code.constant(Constant { tower: self.tower, numbers });
        self.constants.insert(key, id);
        id
    }

    /// The factors for the elements with these indices, in which irrelevant bits are zero.
    fn factors_of(&self, purpose: Purpose, indices: &[u32]) -> Vec<Number> {
        let log_n = self.log_n;
        let inverse = move |exponent: u32| exponent.wrapping_neg() & ((2 << log_n) - 1);
        let merged = move |stage: Bit| {
            let stage = u32::from(stage.0);
            move |index: u32| root_of_block(log_n, log_n - 1 - stage, index >> (stage + 1))
        };
        let cyclic = move |stage: Bit| move |index: u32| index << (log_n - u32::from(stage.0));
        match purpose {
            Purpose::Stage { bit, scaled } => match self.algorithm {
                Algorithm::Forward => roots(indices, scaled, merged(bit)),
                Algorithm::Inverse => roots(indices, scaled, |index| inverse(merged(bit)(index))),
                Algorithm::InverseTwisted => roots(indices, scaled, |index| inverse(cyclic(bit)(index))),
            },
            Purpose::Twist => roots(indices, true, inverse),
            Purpose::TwistedStage(bit) => roots(indices, true, |index| inverse(cyclic(bit)(index) + index)),
            Purpose::Between(bit) => roots(indices, false, |_| inverse(1 << bit.0)),
        }
    }
}

/// The quotients of powers of psi and the first of them. Exponents are below `mask + 1`, a power of two.
fn over_the_first(numbers: &[Number], mask: u32) -> Vec<Number> {
    let exponent = |number: &Number| match number {
        Number::Root { exponent, .. } => *exponent,
        Number::Expression(_) => unreachable!("factors are powers of psi"),
    };
    let first = exponent(&numbers[0]);
    let quotient = |number| exponent(number).wrapping_sub(first) & mask;
    numbers.iter().map(|number| Number::Root { exponent: quotient(number), scaled: false }).collect()
}

/// The powers of psi with the exponents of some indices.
fn roots(indices: &[u32], scaled: bool, exponent: impl Fn(u32) -> u32) -> Vec<Number> {
    indices.iter().map(|&index| Number::Root { exponent: exponent(index), scaled }).collect()
}
