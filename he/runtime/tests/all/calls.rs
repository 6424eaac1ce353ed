//! Programs with calls give the results of their expansions, from functions that are lifted once.

use crate::measures::cases;
use crate::random::{Choice, LIMBS, Random};
use proptest::prelude::*;
use ring_program::{Builder, Call, FunctionIndex, Inputs, Limb, LimbId, RingProgram};
use runtime::{Keys, Runtime};
use sim::Machine;
use std::num::NonZeroU32;

/// A program of the calls of random functions. Each reads ten limbs, first of all by a reduction, so any words will do.
struct Calls {
    main: Builder,
    functions: Vec<(FunctionIndex, usize)>,
}

impl Calls {
    fn new(log2: u32, bodies: &[Vec<Choice>]) -> Self {
        let mut main = Builder::new(1 << log2).unwrap();
        for (_, modulus) in Random::new(log2).builder.program().moduli().iter() {
            main.add_modulus(modulus).unwrap();
        }
        let mut functions = Vec::new();
        for (index, choices) in bodies.iter().enumerate() {
            let mut lines = Random::new(log2);
            choices.iter().for_each(|&choice| lines.add(choice));
            let program = lines.builder.clone().finish(None).unwrap();
            let parameters: Vec<Limb> =
                program.inputs().iter().flat_map(|group| group.limbs.clone()).collect();
            let results: Vec<LimbId> =
                program.outputs().iter().flat_map(|group| program.ids(group)).collect();
            let body = lines.builder.function_of(&parameters, program.operations());
            functions.push((main.add_function(format!("f{index}"), body, &results).unwrap(), results.len()));
        }
        Self { main, functions }
    }

    fn call(&mut self, function: usize, limbs: &[u8]) {
        let builder = &mut self.main;
        let (function, count) = self.functions[function % self.functions.len()];
        let mut limbs = limbs.iter().cycle().map(|&limb| u64::from(limb));
        let arguments = (0..LIMBS).map(|_| builder.limb(LimbId(limbs.next().unwrap() % LIMBS))).collect();
        let first = limbs.next().unwrap();
        let results = (0..count as u64).map(|index| builder.limb(LimbId((first + index) % LIMBS))).collect();
        builder.call(Call { function, arguments, results }).unwrap();
    }
}

type Choices = (Vec<Vec<Choice>>, Vec<(u8, usize, Vec<u8>)>);

fn program(log2: u32, (bodies, calls): &Choices) -> RingProgram {
    let mut program = Calls::new(log2, bodies);
    for (kind, function, limbs) in calls {
        let is_repeated = kind % 3 == 0;
        if is_repeated {
            let count = NonZeroU32::new(1 + u32::from(kind / 64)).unwrap();
            program.main.begin_repeat(count).unwrap();
        }
        program.call(*function, limbs);
        if is_repeated {
            assert!(program.main.end_repeat().unwrap());
        }
    }
    program.main.finish(None).unwrap()
}

fn choices() -> impl Strategy<Value = Choices> {
    let choice = (any::<u8>(), any::<[u8; 3]>(), any::<u8>(), any::<u128>(), any::<u32>());
    let bodies = prop::collection::vec(prop::collection::vec(choice, 0..40), 1..4);
    // Few limbs, so that arguments are often the same.
    let limbs = prop::collection::vec(any::<u8>(), 1..14);
    (bodies, prop::collection::vec((any::<u8>(), any::<usize>(), limbs), 1..6))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases("CALL_CASES", 10)))]

    #[test]
    fn results_are_those_of_the_expansion(choices in choices(), log2 in 10..12u32, seed: u64, vdm in 1..3u32) {
        let program = program(log2, &choices);
        let mut machine = Machine::rpu_128x128();
        machine.edit(|values| values.vdm.size_mib = vdm).unwrap();
        let mut inputs = Inputs::new(&program);
        inputs.fill(seed);
        let runtime = Runtime::new(&program, &machine, Keys::Streamed).unwrap();
        let outputs = runtime.execute(&inputs).unwrap();
        runtime.check(&inputs, &outputs).unwrap_or_else(|error| panic!("{error}\n{}", program.to_text()));
        prop_assert!(runtime.time(false).unwrap().total_ns > 0.0);
    }

    #[test]
    fn one_call_takes_the_time_of_its_lines(choices in choices(), log2 in 10..13u32) {
        let (bodies, _) = &choices;
        let mut program = Calls::new(log2, &bodies[..1]);
        let limbs: Vec<u8> = (0..LIMBS as u8).collect();
        program.call(0, &limbs);
        let program = program.main.finish(None).unwrap();
        let machine = Machine::rpu_128x128();
        let [called, flat] = [&program, &*program.flat()].map(|program| {
            let runtime = Runtime::new(program, &machine, Keys::Streamed).unwrap();
            (runtime.time(true).unwrap(), runtime.report(&runtime.time(false).unwrap()))
        });
        prop_assert_eq!(called.0, flat.0);
        prop_assert_eq!(called.1, flat.1);
    }
}

#[test]
fn a_line_of_a_function_that_reads_a_word_that_is_not_reduced_is_named() {
    let degree = ring::Degree::new(1024).unwrap();
    let large = ring::prime::largest_prime(60, degree).unwrap();
    let text = format!(
        "modulus_count 3\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\nm[2] 0x{large:X}\n\
         function scale %1 -> %3\n\
         sr_mulps %3, %1, 7, m=2\n\
         end\n\
         function add %1, %2 -> %3\n\
         sr_mulps %4, %1, 2, m=1\n\
         sr_addp %3, %2, %4, m=1\n\
         end\n\
         call scale %1 -> %5\n\
         call add %1, %5 -> %6\n\
         halt\n"
    );
    let program =
        ring_program::read("p.fhetch", text.as_bytes(), ring_program::Interface::Degree(1024)).unwrap();
    let mut inputs = Inputs::new(&program);
    inputs.fill(1);
    let machine = Machine::rpu_128x128();
    let runtime = Runtime::new(&program, &machine, Keys::Streamed).unwrap();
    let error = runtime.execute(&inputs).unwrap_err().to_string();
    assert!(error.starts_with("line 10: `sr_addp`"), "{error}");
    let reference = ring_program::execute(&inputs).unwrap_err().to_string();
    assert!(reference.starts_with("line 10: `sr_addp` reads the limb `%2`, "), "{reference}");
}
