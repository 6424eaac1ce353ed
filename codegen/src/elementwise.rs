//! Elementwise kernels: several operations on whole limbs in one launch.
//!
//! A base conversion, a modulus switch or an inner product is a sequence of additions and
//! multiplications of limbs, coefficient by coefficient, modulo several moduli. Its kernel loads each
//! operand once, keeps intermediate limbs in registers, and stores the results. Moduli and scalars
//! are launch parameters, so one kernel serves all sequences of one shape.

use crate::code::{Code, MemRef, Tower, TowerId, ValueId};
use crate::compile::compile_code;
use crate::error::Error;
use crate::kernel::Kernel;
use crate::number::Expression;
use crate::recipe::{Order, Recipe};
use crate::schedule::Tuning;
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
}

impl StepOp {
    /// The operands in order.
    pub fn operands(self) -> impl Iterator<Item = Operand> {
        let operands = match self {
            Self::Add(a, b) | Self::Subtract(a, b) | Self::Multiply(a, b) => [Some(a), Some(b)],
            Self::AddScalar(a) | Self::SubtractScalar(a) | Self::MultiplyScalar(a) => [Some(a), None],
        };
        operands.into_iter().flatten()
    }

    /// Whether the step takes a scalar.
    pub fn has_scalar(self) -> bool {
        self.operands().count() == 1
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

    /// Compiles the kernel for limbs of `n` words. Its moduli are `placeholder`; the scalar with index
    /// i is i, at [`Kernel::scalar_address`] of i.
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
        machine: &Machine,
    ) -> Result<Kernel, Error> {
        let isa = machine.instruction_set();
        if n < isa.vector_length() {
            return Err(Error::Degree { n, least: isa.vector_length() });
        }
        let recipe = Recipe {
            tuning: Tuning::default(),
            order: Order::ByStep,
            stagger: None,
            forwarding: None,
            plans: Vec::new(),
        };
        compile_code(name, self.lower(Code::for_isa(isa), n, placeholder), &recipe, machine)
    }

    fn lower(&self, mut code: Code, n: u32, placeholder: u128) -> Code {
        let tower = Tower { n, modulus: placeholder, root: 0 };
        let towers: Vec<TowerId> = (0..self.moduli.max(1)).map(|_| code.tower(tower)).collect();
        let mut buffer = |name, role| code.buffer(name, n, role, towers[0]);
        let inputs: Vec<_> =
            (0..self.inputs.into()).map(|i| buffer(Self::input_name(i), Role::Input)).collect();
        let outputs: Vec<_> =
            (0..self.outputs.len()).map(|i| buffer(Self::output_name(i), Role::Output)).collect();
        for word in (0..n).step_by(code.isa.vector_length() as usize) {
            let at = |buffer| MemRef { buffer, word, mode: AddressMode::Linear };
            let mut loaded: Vec<Option<ValueId>> = vec![None; inputs.len()];
            let mut results: Vec<ValueId> = Vec::with_capacity(self.steps.len());
            let mut scalars = 0..;
            for step in &self.steps {
                let tower = towers[usize::from(step.modulus)];
                // Inputs are loaded where they are used first, so that long sums take few registers.
                let mut value = |code: &mut Code, operand| match operand {
                    Operand::Step(step) => results[usize::from(step)],
                    Operand::Input(input) => {
                        let input = usize::from(input);
                        *loaded[input].get_or_insert_with(|| code.load(at(inputs[input]), tower))
                    }
                };
                let result = match step.op {
                    StepOp::Add(a, b) | StepOp::Subtract(a, b) | StepOp::Multiply(a, b) => {
                        let sources = [value(&mut code, a), value(&mut code, b)];
                        code.apply(instruction(step.op), sources, None, tower)
                    }
                    StepOp::AddScalar(a) | StepOp::SubtractScalar(a) | StepOp::MultiplyScalar(a) => {
                        let source = value(&mut code, a);
                        let scalar = scalars.next().expect("an endless range");
                        let number = code.number(Expression::Value(scalar));
                        code.with_scalar(instruction(step.op), source, number, tower)
                    }
                };
                let stored = self.outputs.iter().zip(&outputs);
                let stored = stored.filter(|&(&output, _)| usize::from(output) == results.len());
                stored.for_each(|(_, &buffer)| code.store(result, at(buffer), tower));
                results.push(result);
            }
        }
        code
    }
}

/// The instruction of an operation.
fn instruction(op: StepOp) -> Op {
    match op {
        StepOp::Add(..) => Op::Vadd,
        StepOp::Subtract(..) => Op::Vsub,
        StepOp::Multiply(..) => Op::Vmul,
        StepOp::AddScalar(_) => Op::Vadds,
        StepOp::SubtractScalar(_) => Op::Vsubs,
        StepOp::MultiplyScalar(_) => Op::Vmuls,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use ring::modular::Modulus;
    use sim::functional::Executor;

    #[test]
    fn a_kernel_computes_its_steps_with_the_moduli_and_scalars_of_the_launch() {
        let (x, y) = (Operand::Input(0), Operand::Input(1));
        let step = |op, modulus| Step { op, modulus };
        let shape = Elementwise {
            inputs: 2,
            moduli: 2,
            steps: vec![
                step(StepOp::MultiplyScalar(x), 0),
                step(StepOp::AddScalar(Operand::Step(0)), 0),
                step(StepOp::MultiplyScalar(Operand::Step(1)), 1),
                step(StepOp::Multiply(y, Operand::Step(2)), 1),
                step(StepOp::Subtract(Operand::Step(3), Operand::Step(2)), 1),
            ],
            outputs: vec![1, 4],
        };
        let machine = Machine::rpu_128x128();
        let kernel = shape.compile("example".into(), 1024, 97, &machine).unwrap();
        check::schedule(&kernel.code, &kernel.program).unwrap();

        let (q, p) = (u128::MAX - 158, 12289);
        let scalars = [q - 5, 7, 1];
        let mut executor = Executor::for_program(&machine, &kernel.program);
        executor.load(&kernel.program).unwrap();
        for (&(register, _), modulus) in kernel.program.moduli.iter().zip([q, p]) {
            executor.set_modulus(register, Modulus::new(modulus).unwrap());
        }
        for (index, scalar) in (0..).zip(scalars) {
            executor.write_scalar(kernel.scalar_address(index).unwrap(), scalar);
        }
        let data = |seed: u128| -> Vec<u128> { (0..1024).map(|i| (seed + i) << 100).collect() };
        let (x, y) = (data(1), data(1 << 20));
        executor.write("x0", &x).unwrap();
        executor.write("x1", &y).unwrap();
        executor.run().unwrap();

        let (q, p) = (Modulus::new(q).unwrap(), Modulus::new(p).unwrap());
        let first: Vec<u128> = x.iter().map(|&x| q.add(q.mul(x, scalars[0]), 7)).collect();
        let of = |(&first, &y): (&u128, &u128)| {
            let reduced = p.residue(first);
            p.sub(p.mul(y, reduced), reduced)
        };
        assert_eq!(executor.read("y0").unwrap(), first);
        assert_eq!(executor.read("y1").unwrap(), first.iter().zip(&y).map(of).collect::<Vec<_>>());
    }
}
