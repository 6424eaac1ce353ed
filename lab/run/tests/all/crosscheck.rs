//! Comparisons of witnesses.

use codegen::{Parameters, PlanChoice, Request};
use golden::Operation;
use lab_run::crosscheck::{
    Composite, Composition, GoldenModel, Operands, Results, Simulator, Task, Witness, crosscheck,
};
use lab_run::draw;
use ring::Degree;
use sim::MachineFile;

fn task(operation: Operation, n: u32) -> Task {
    let request = Request::with_primes(operation, Degree::try_from(n).unwrap(), 30, 1).unwrap();
    Task::Operation(request.with(Parameters::new(operation.examples())))
}

/// Correct except for the last operands, for which it changes or omits one coefficient.
struct Liar {
    cuts: bool,
}

impl Witness for Liar {
    fn name(&self) -> &str {
        "liar"
    }

    fn compute(&self, task: &Task, sets: &[Operands]) -> Results {
        let mut results = GoldenModel.compute(task, sets)?;
        let last = results.last_mut().ok_or("no operands")?;
        if self.cuts {
            last.truncate(700);
        } else {
            last[700] ^= 1;
        }
        Ok(results)
    }
}

#[test]
fn the_simulator_agrees_and_a_lie_is_found() {
    let machine = MachineFile::built_in("rpu-128x128", &[]).unwrap();
    let simulator = Simulator { machine, plan: PlanChoice::Classical };
    for function in golden::OPERATIONS.iter().copied() {
        let task = task(function, 1024);
        let witnesses: [&dyn Witness; 3] = [&simulator, &Liar { cuts: false }, &Liar { cuts: true }];
        let verdicts = crosscheck(&task, 5, &GoldenModel, &witnesses).unwrap();
        assert_eq!(verdicts[0], Ok(()));
        let changed = verdicts[1].clone().unwrap_err();
        assert_eq!((changed.index, changed.operands), (700, "random"));
        assert_eq!(changed.found, Some(changed.expected ^ 1));
        assert_eq!(
            changed.to_string(),
            format!(
                "{function} of 1024 coefficients modulo {:#x}: on the random operands, the liar has {:#x} at index 700 \
                 where the golden model has {:#x}",
                task.modulus(),
                changed.expected ^ 1,
                changed.expected
            )
        );
        let cut = verdicts[2].clone().unwrap_err();
        assert_eq!((cut.index, cut.found), (700, None));
    }
}

#[test]
fn the_simulator_computes_composites_as_the_executor() {
    use Composition::{BaseConversion, InnerProduct, KeySwitch};
    let machine = MachineFile::built_in("rpu-128x128", &[]).unwrap();
    let simulator = Simulator { machine, plan: PlanChoice::Classical };
    for composition in [BaseConversion, InnerProduct, KeySwitch] {
        let composite = Composite::with_primes(composition, Degree::new(1024).unwrap(), 30).unwrap();
        let limbs = composite.program().inputs().iter().map(|group| group.limbs.len());
        assert_eq!(limbs.sum::<usize>(), composite.operands().len());
        let witnesses: [&dyn Witness; 2] = [&simulator, &Liar { cuts: false }];
        let verdicts = crosscheck(&Task::Composite(composite), 5, &GoldenModel, &witnesses).unwrap();
        assert_eq!(verdicts[0], Ok(()));
        assert_eq!(verdicts[1].clone().unwrap_err().operation, composition.name());
    }
}

/// An integer below each modulus is its own residue, and the conversion finds it.
#[test]
fn a_conversion_of_small_integers_is_exact() {
    let degree = Degree::new(1024).unwrap();
    let composite = Composite::with_primes(Composition::BaseConversion, degree, 30).unwrap();
    let set = Operands { name: "constant", vectors: vec![vec![5; 1024]; 2] };
    let words = GoldenModel.compute(&Task::Composite(composite.clone()), &[set]).unwrap().concat();
    let found: Vec<u128> = words.chunks(1024).map(|words| words[0]).collect();
    // x + u S with u below the number of sources.
    let (sources, targets) = composite.rings();
    let product = sources.iter().map(ring::Ring::q).product::<u128>();
    let overflow = |u: u128| targets.iter().map(move |ring| (5 + u * product) % ring.q());
    assert!((0..2).any(|u| overflow(u).eq(found.iter().copied())), "{found:?}");
}

#[test]
fn a_witness_that_cannot_is_named() {
    let machine = MachineFile::built_in("rpu-128x128", &[]).unwrap();
    let task = task(golden::NTT, 256);
    let simulator = Simulator { machine, plan: PlanChoice::Classical };
    let error = crosscheck(&task, 0, &simulator, &[]).unwrap_err();
    assert!(error.to_string().starts_with("the simulator cannot compute ntt of 256 "), "{error}");
}

#[test]
fn operands_reach_the_ends_of_the_range() {
    let task = task(golden::POLYMUL, 1024);
    let q = task.modulus();
    let sets = Operands::sets(&task.operands(), 1024, 3);
    assert_eq!(sets.iter().map(|set| set.vectors.len()).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(sets[0].vectors[0], vec![q - 1; 1024]);
    assert_eq!(sets[0].vectors[1][..4], [q - 1, 0, 1, q - 1]);
    assert_eq!(sets[1].vectors[1], draw(3, 1, 1024, q));
}
