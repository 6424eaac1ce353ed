//! Kernels of elementwise steps.

use codegen::elementwise::{Elementwise, LONGEST_BLOCK, Operand, Settings, Step, StepOp, StepOrder, Way};
use codegen::testing::conversion;
use codegen::{NumberWords, check};
use ring::modular::Modulus;
use sim::Machine;
use sim::functional::Executor;

/// Many sums grow together: they wait neither for each other's results nor for constants.
#[test]
fn a_conversion_of_many_limbs_is_bound_by_its_multiplications() {
    for (inputs, outputs) in [(28, 28), (20, 14), (18, 12)] {
        is_bound_by_its_multiplications(inputs, outputs);
    }
}

fn is_bound_by_its_multiplications(inputs: u16, outputs: u16) {
    let shape = conversion(inputs, outputs);
    let mut machine = Machine::rpu_128x128();
    machine.edit(|values| values.vdm.size_mib = 32).unwrap();
    let n = LONGEST_BLOCK * machine.vector_length();
    let way = Way { order: StepOrder::Tiles { equal: true }, settings: Settings::InStep };
    let kernel = shape.compile("conversion".into(), n, 97, way, &machine).unwrap();
    check::schedule(&kernel.code, &kernel.program).unwrap();
    let vectors = LONGEST_BLOCK as usize * shape.steps.len();
    let bound = (vectors as u32 * machine.vector_length() / machine.hple.count) as f64;
    let cycles = sim::timing::simulate(&machine, &kernel.program).cycles.0 as f64;
    assert!((1.0..1.3).contains(&(cycles / bound)), "{inputs}, {outputs}: {cycles} cycles, bound {bound}");

    let mut executor = Executor::for_program(&machine, &kernel.program);
    executor.load(&kernel.program).unwrap();
    let scalars = (0..shape.scalars() as u128).map(|index| {
        let NumberWords { space, words } = kernel.number_words(index).unwrap();
        (space, words, index % 97)
    });
    executor.write_constants(scalars);
    let word = |input: usize, index: usize| ((input * 31 + index * 7) % 97) as u128;
    for input in 0..inputs.into() {
        let words: Vec<u128> = (0..n as usize).map(|index| word(input, index)).collect();
        executor.write(&Elementwise::input_name(input), &words).unwrap();
    }
    executor.run().unwrap();
    let inputs = usize::from(inputs);
    for output in 0..outputs.into() {
        let sum = |index: usize| {
            let product = |input| word(input, index) * (output * inputs + input) as u128;
            (0..inputs).map(product).sum::<u128>() % 97
        };
        let expected: Vec<u128> = (0..n as usize).map(sum).collect();
        assert_eq!(executor.read(&Elementwise::output_name(output)).unwrap(), expected, "{output}");
    }
}

/// A machine of so many HPLEs and banks, and instructions a cycle.
fn machine(hples: u32, width: u32) -> Machine {
    let mut machine = Machine::rpu_128x128();
    machine
        .edit(|values| {
            (values.vdm.size_mib, values.frontend.width) = (32, width);
            (values.hple.count, values.vdm.banks) = (hples, hples);
        })
        .unwrap();
    machine
}

/// The cycles of a kernel for so many vectors, whose schedule is checked.
fn cycles(shape: &Elementwise, vectors: u32, way: Way, machine: &Machine) -> f64 {
    let kernel = shape.compile("conversion".into(), vectors * 512, 97, way, machine).unwrap();
    check::schedule(&kernel.code, &kernel.program).unwrap();
    sim::timing::simulate(machine, &kernel.program).cycles.0 as f64
}

/// The vectors of a long slice do not crowd each other out of the registers.
#[test]
fn long_slices_are_bound_by_their_multiplications() {
    for (inputs, outputs, hples) in [(5, 10, 128), (8, 8, 256), (5, 10, 512)] {
        let shape = conversion(inputs, outputs);
        let machine = machine(hples, 2);
        let cycles = shape.ways().map(|way| cycles(&shape, 32, way, &machine));
        let fastest = cycles.fold(f64::INFINITY, f64::min);
        let bound = (32 * shape.steps.len() as u32 * 512 / hples) as f64;
        let range = 1.0..1.35;
        assert!(range.contains(&(fastest / bound)), "{inputs}, {outputs}, {hples}: {fastest} of {bound}");
    }
}

/// The cycles with the settings for long slices, over those with the usual ones: the geometric means of
/// conversions on several machines, and the extremes.
#[test]
fn long_slices_need_settings_of_their_own() {
    let conversions = [(5, 24), (5, 10), (3, 12), (8, 8), (13, 6), (2, 20)];
    for (vectors, range) in [(2, 0.9..1.02), (8, 0.5..0.8), (32, 0.3..0.6)] {
        let mut ratios: Vec<f64> = Vec::new();
        for (hples, width) in [(128, 1), (128, 2), (512, 1), (512, 2)] {
            let machine = machine(hples, width);
            for (inputs, outputs) in conversions {
                let shape = conversion(inputs, outputs);
                let least = |settings| {
                    let ways = shape.ways().filter(|way| way.settings == settings);
                    ways.map(|way| cycles(&shape, vectors, way, &machine)).fold(f64::INFINITY, f64::min)
                };
                ratios.push(least(Settings::InStep) / least(Settings::Usual));
            }
        }
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        ratios.sort_by(f64::total_cmp);
        println!("{vectors} vectors: {mean:.3}, from {:.3} to {:.3}", ratios[0], ratios[ratios.len() - 1]);
        assert!(range.contains(&mean), "{vectors} vectors: {ratios:?}");
    }
}

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
            step(StepOp::MultiplyAddScalar(Operand::Step(4), y), 1),
            step(StepOp::MultiplySubtract(Operand::Step(5), [x, Operand::Step(2)]), 1),
        ],
        outputs: vec![1, 4, 6],
    };
    let machine = Machine::rpu_128x128();
    let way = Way { order: StepOrder::Program, settings: Settings::InStep };
    let kernel = shape.compile("example".into(), 1024, 97, way, &machine).unwrap();
    check::schedule(&kernel.code, &kernel.program).unwrap();

    let (q, p) = (u128::MAX - 158, 12289);
    let scalars = [q - 5, 7, 1, 12000];
    let mut executor = Executor::for_program(&machine, &kernel.program);
    executor.load(&kernel.program).unwrap();
    for (&(register, _), modulus) in kernel.program.moduli.iter().zip([q, p]) {
        executor.set_modulus(register, Modulus::new(modulus).unwrap());
    }
    executor.write_constants((0..).zip(scalars).map(|(index, scalar)| {
        let NumberWords { space, words } = kernel.number_words(index).unwrap();
        (space, words, scalar)
    }));
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
    let second: Vec<u128> = first.iter().zip(&y).map(of).collect();
    assert_eq!(executor.read("y1").unwrap(), second);
    let of = |(i, &second): (usize, &u128)| {
        let sum = p.add(second, p.mul(y[i], 12000));
        p.sub(sum, p.mul(x[i], p.residue(first[i])))
    };
    assert_eq!(executor.read("y2").unwrap(), second.iter().enumerate().map(of).collect::<Vec<_>>());
}
