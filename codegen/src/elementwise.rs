//! Elementwise kernels: several operations on whole limbs in one launch.
//!
//! A base conversion, a modulus switch or an inner product is a sequence of additions and
//! multiplications of limbs, coefficient by coefficient, modulo several moduli. Its kernel loads each
//! operand once, keeps intermediate limbs in registers, and stores the results. Moduli and scalars
//! are launch parameters, so one kernel serves all sequences of one shape.
//!
//! A butterfly adds a product in one instruction, so a sum of products costs one instruction per product. Its
//! factor is a vector. A scalar factor therefore is a constant of the kernel's table, with the scalar in all
//! lanes. Vectors go through the steps in blocks, so that one load of such a constant serves a block.

mod tiles;

use self::tiles::Tiles;
use crate::code::{BufferId, Code, Constant, MemRef, Tower, TowerId, ValueId};
use crate::compile::{compile_code, longest_factor_bits};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::number::{Expression, Number};
use crate::recipe::{Order, Recipe};
use crate::schedule::{PartSettings, SramCare, Tuning};
use b512_asm::{AddressMode, Op, Role};
use sim::Machine;

/// An operand of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// The input with this index.
    Input(u16),
    /// The result of the step with this index, an earlier one.
    Step(u16),
}

/// The operation of a step, on residues modulo the modulus of the step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StepOp {
    /// The sum.
    Add(Operand, Operand),
    /// The difference.
    Subtract(Operand, Operand),
    /// The product. The first factor may be any word.
    Multiply(Operand, Operand),
    /// The sum with a scalar.
    AddScalar(Operand),
    /// The difference with a scalar.
    SubtractScalar(Operand),
    /// The product of any word with a scalar.
    MultiplyScalar(Operand),
    /// The first operand plus the product of the second and third. The first factor may be any word.
    MultiplyAdd(Operand, [Operand; 2]),
    /// The first operand minus the product of the second and third. The first factor may be any word.
    MultiplySubtract(Operand, [Operand; 2]),
    /// The first operand plus the product of the second, any word, with a scalar.
    MultiplyAddScalar(Operand, Operand),
    /// The first operand minus the product of the second, any word, with a scalar.
    MultiplySubtractScalar(Operand, Operand),
}

impl StepOp {
    /// The operands in order.
    pub fn operands(self) -> impl Iterator<Item = Operand> {
        let operands = match self {
            Self::Add(a, b) | Self::Subtract(a, b) | Self::Multiply(a, b) => [Some(a), Some(b), None],
            Self::AddScalar(a) | Self::SubtractScalar(a) | Self::MultiplyScalar(a) => [Some(a), None, None],
            Self::MultiplyAdd(a, [b, c]) | Self::MultiplySubtract(a, [b, c]) => [Some(a), Some(b), Some(c)],
            Self::MultiplyAddScalar(a, b) | Self::MultiplySubtractScalar(a, b) => [Some(a), Some(b), None],
        };
        operands.into_iter().flatten()
    }

    /// The operation with each operand replaced by `map`.
    #[must_use]
    pub fn map(self, mut map: impl FnMut(Operand) -> Operand) -> Self {
        match self {
            Self::Add(a, b) => Self::Add(map(a), map(b)),
            Self::Subtract(a, b) => Self::Subtract(map(a), map(b)),
            Self::Multiply(a, b) => Self::Multiply(map(a), map(b)),
            Self::AddScalar(a) => Self::AddScalar(map(a)),
            Self::SubtractScalar(a) => Self::SubtractScalar(map(a)),
            Self::MultiplyScalar(a) => Self::MultiplyScalar(map(a)),
            Self::MultiplyAdd(a, factors) => Self::MultiplyAdd(map(a), factors.map(map)),
            Self::MultiplySubtract(a, factors) => Self::MultiplySubtract(map(a), factors.map(map)),
            Self::MultiplyAddScalar(a, b) => Self::MultiplyAddScalar(map(a), map(b)),
            Self::MultiplySubtractScalar(a, b) => Self::MultiplySubtractScalar(map(a), map(b)),
        }
    }

    /// Whether the step has a scalar operand.
    pub fn has_scalar(self) -> bool {
        match self {
            Self::AddScalar(_)
            | Self::SubtractScalar(_)
            | Self::MultiplyScalar(_)
            | Self::MultiplyAddScalar(..)
            | Self::MultiplySubtractScalar(..) => true,
            Self::Add(..)
            | Self::Subtract(..)
            | Self::Multiply(..)
            | Self::MultiplyAdd(..)
            | Self::MultiplySubtract(..) => false,
        }
    }
}

/// One step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// The operation.
    pub op: StepOp,
    /// The index of its modulus.
    pub modulus: u16,
}

/// The order in which a kernel executes its steps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StepOrder {
    /// That of [`Elementwise::steps`].
    Program,
    /// Tiles of several outputs, whose steps alternate. The last tile may have fewer outputs.
    Tiles {
        /// Whether all tiles have the same number of outputs, or one more.
        equal: bool,
    },
}

/// The scheduler's settings for a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Settings {
    /// Few candidates, so that about the order of the steps is kept, in which the vectors of a block
    /// alternate; and one copy of a constant. Long slices need them. Fitted to conversions, inner products
    /// and sums; the test `long_slices_need_settings_of_their_own` prints the gain.
    InStep,
    /// Those of other code. Some conversions of few vectors are faster with them.
    Usual,
}

impl Settings {
    fn tuning(self) -> Tuning {
        match self {
            Self::InStep => {
                let tuning = Tuning { srams: SramCare::Queues, ..Tuning::default() };
                PartSettings::new([32, 12, 0, 2, 20, 1]).of(tuning)
            }
            Self::Usual => Tuning::default(),
        }
    }
}

/// A way to make a kernel of its shape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Way {
    /// The order of its steps.
    pub order: StepOrder,
    /// The scheduler's settings.
    pub settings: Settings,
}

/// The shape of an elementwise kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Elementwise {
    /// The number of inputs. Their symbols are `x0`, `x1`, ..
    pub inputs: u16,
    /// The number of moduli. Modulus register i holds modulus i.
    pub moduli: u16,
    /// The steps in order. The scalars of the steps that have one are launch parameters, counted from
    /// 0 in this order.
    pub steps: Vec<Step>,
    /// The steps whose results are outputs. Their symbols are `y0`, `y1`, ..
    pub outputs: Vec<u16>,
}

impl Elementwise {
    /// The name of an input's symbol.
    pub fn input_name(index: usize) -> String {
        format!("x{index}")
    }

    /// The name of an output's symbol.
    pub fn output_name(index: usize) -> String {
        format!("y{index}")
    }

    /// The number of scalars.
    pub fn scalars(&self) -> usize {
        self.steps.iter().filter(|step| step.op.has_scalar()).count()
    }

    /// The instructions for one vector of each operand.
    pub fn instructions(&self) -> usize {
        usize::from(self.inputs) + self.steps.len() + self.outputs.len()
    }

    /// The ways that may be the fastest: each order with all settings.
    pub fn ways(&self) -> impl Iterator<Item = Way> {
        let with = |order| [Settings::InStep, Settings::Usual].map(|settings| Way { order, settings });
        self.orders().into_iter().flat_map(with)
    }

    /// The orders that may be the fastest. [Tiles](StepOrder::Tiles) load the inputs again, but more of a
    /// tile's vectors fit in registers than of the whole program's.
    fn orders(&self) -> Vec<StepOrder> {
        let mut orders = vec![StepOrder::Program];
        let whole = Tiles::of(self, StepOrder::Program);
        if whole.block == LONGEST_BLOCK {
            return orders;
        }
        let [full, equal] = [false, true].map(|equal| Tiles::of(self, StepOrder::Tiles { equal }));
        orders.extend((full.block > whole.block).then_some(StepOrder::Tiles { equal: false }));
        let differs = equal.tiles != full.tiles && equal.block > whole.block;
        orders.extend(differs.then_some(StepOrder::Tiles { equal: true }));
        orders
    }

    /// Compiles the kernel for limbs of `n` words. Its moduli are `placeholder`; the scalar with index
    /// i is i, in the [`Kernel::number_words`] of i.
    ///
    /// # Errors
    /// Returns an error if the kernel does not fit the registers or memories of the machine, or if
    /// its vectors are longer than a limb.
    ///
    /// # Panics
    /// Panics if an operand, a modulus or an output does not exist, or if `placeholder` is even or
    /// below 3.
    pub fn compile(
        &self,
        name: String,
        n: u32,
        placeholder: u128,
        Way { order, settings }: Way,
        machine: &Machine,
    ) -> Result<Kernel, Error> {
        let isa = machine.instruction_set();
        if n < isa.vector_length() {
            return Err(Error::Degree { n, least: isa.vector_length() });
        }
        let recipe = Recipe {
            tuning: settings.tuning(),
            order: Order::ByStep,
            stagger: None,
            forwarding: None,
            method: None,
            plans: Vec::new(),
        };
        let tiles = Tiles::of(self, order);
        let code = self.lower(Code::for_isa(isa), n, placeholder, tiles, longest_factor_bits(machine));
        compile_code(name, code, &recipe, machine)
    }

    /// `copies` is the binary logarithm of the words of a constant.
    fn lower(&self, mut code: Code, n: u32, placeholder: u128, tiles: Tiles, copies: u32) -> Code {
        let tower = Tower { n, modulus: placeholder, root: 0 };
        let towers: Vec<TowerId> = (0..self.moduli.max(1)).map(|_| code.tower(tower)).collect();
        let mut buffer = |name, role| code.buffer(name, n, role, towers[0]);
        let inputs: Vec<_> =
            (0..self.inputs.into()).map(|i| buffer(Self::input_name(i), Role::Input)).collect();
        let outputs: Vec<_> =
            (0..self.outputs.len()).map(|i| buffer(Self::output_name(i), Role::Output)).collect();
        let length = code.isa.vector_length();
        let Tiles { tiles, block } = tiles;
        let mut scalars = 0..;
        let scalar_of = |step: &Step| step.op.has_scalar().then(|| scalars.next().expect("an endless range"));
        let scalars: Vec<Option<u128>> = self.steps.iter().map(scalar_of).collect();
        for first in (0..n).step_by((block * length) as usize) {
            let words = (first..n).step_by(length as usize).take(block as usize);
            let mut vectors: Vec<Vector> = words.map(|word| Vector::new(word, self)).collect();
            for tile in &tiles {
                vectors.iter_mut().for_each(Vector::forget_inputs);
                for &number in tile {
                    let step = self.steps[number];
                    let tower = towers[usize::from(step.modulus)];
                    let output = self.outputs.iter().position(|&output| usize::from(output) == number);
                    for vector in &mut vectors {
                        let mut lowering = Lowering { code: &mut code, inputs: &inputs, tower, copies };
                        let result = lowering.step(vector, step.op, scalars[number]);
                        if let Some(output) = output {
                            let (buffer, word) = (outputs[output], vector.word);
                            code.store(result, MemRef { buffer, word, mode: AddressMode::Linear }, tower);
                        }
                        vector.results[number] = Some(result);
                    }
                }
            }
        }
        code
    }
}

/// The registers for the vectors of a block. The remaining ones hold constants, and results on their way to
/// memory.
const BLOCK_REGISTERS: usize = 44;

/// The most vectors that go through the steps together. More would save few loads of constants.
pub const LONGEST_BLOCK: u32 = 4;

/// The values of one vector.
struct Vector {
    word: u32,
    /// The inputs that the tile has loaded.
    loaded: Vec<Option<ValueId>>,
    /// The results of the steps so far.
    results: Vec<Option<ValueId>>,
}

impl Vector {
    fn new(word: u32, shape: &Elementwise) -> Self {
        Self { word, loaded: vec![None; shape.inputs.into()], results: vec![None; shape.steps.len()] }
    }

    fn forget_inputs(&mut self) {
        self.loaded.fill(None);
    }
}

/// The code of a step under construction.
struct Lowering<'c> {
    code: &'c mut Code,
    inputs: &'c [BufferId],
    tower: TowerId,
    copies: u32,
}

impl Lowering<'_> {
    /// An operand. Inputs are loaded at their first use, so that long sums need few registers.
    fn value(&mut self, vector: &mut Vector, operand: Operand) -> ValueId {
        match operand {
            Operand::Step(step) => vector.results[usize::from(step)].expect("operands are earlier steps"),
            Operand::Input(input) => {
                let input = usize::from(input);
                let memory =
                    MemRef { buffer: self.inputs[input], word: vector.word, mode: AddressMode::Linear };
                *vector.loaded[input].get_or_insert_with(|| self.code.load(memory, self.tower))
            }
        }
    }

    fn step(&mut self, vector: &mut Vector, op: StepOp, scalar: Option<u128>) -> ValueId {
        match op {
            StepOp::Add(a, b) => self.apply(vector, Op::Vadd, [a, b]),
            StepOp::Subtract(a, b) => self.apply(vector, Op::Vsub, [a, b]),
            StepOp::Multiply(a, b) => self.apply(vector, Op::Vmul, [a, b]),
            StepOp::AddScalar(a) => self.with_scalar(vector, Op::Vadds, a, scalar),
            StepOp::SubtractScalar(a) => self.with_scalar(vector, Op::Vsubs, a, scalar),
            StepOp::MultiplyScalar(a) => self.with_scalar(vector, Op::Vmuls, a, scalar),
            StepOp::MultiplyAdd(a, factors) => self.with_product(vector, a, factors)[0],
            StepOp::MultiplySubtract(a, factors) => self.with_product(vector, a, factors)[1],
            StepOp::MultiplyAddScalar(a, b) => self.with_multiple(vector, [a, b], scalar)[0],
            StepOp::MultiplySubtractScalar(a, b) => self.with_multiple(vector, [a, b], scalar)[1],
        }
    }

    fn apply(&mut self, vector: &mut Vector, op: Op, operands: [Operand; 2]) -> ValueId {
        let values = operands.map(|operand| self.value(vector, operand));
        self.code.apply(op, values, None, self.tower)
    }

    fn number(&mut self, scalar: Option<u128>) -> Number {
        self.code.number(Expression::Value(scalar.expect("the step has a scalar")))
    }

    fn with_scalar(&mut self, vector: &mut Vector, op: Op, a: Operand, scalar: Option<u128>) -> ValueId {
        let (value, number) = (self.value(vector, a), self.number(scalar));
        self.code.with_scalar(op, value, number, self.tower)
    }

    /// The sum and the difference of an operand and a product.
    fn with_product(&mut self, vector: &mut Vector, a: Operand, factors: [Operand; 2]) -> [ValueId; 2] {
        let sum = self.value(vector, a);
        let factors = factors.map(|factor| self.value(vector, factor));
        self.code.multiply_add(sum, factors, self.tower)
    }

    /// The sum and the difference of an operand and a multiple of another.
    fn with_multiple(
        &mut self,
        vector: &mut Vector,
        operands: [Operand; 2],
        scalar: Option<u128>,
    ) -> [ValueId; 2] {
        let values = operands.map(|operand| self.value(vector, operand));
        let numbers = vec![self.number(scalar); 1 << self.copies];
        let factor = self.code.constant(Constant { tower: self.tower, numbers });
        self.code.butterfly(Op::Bfly, values, factor, self.tower)
    }
}
