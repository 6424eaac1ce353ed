//! Programs with calls give the results of their expansions, from functions that are lifted once.

use crate::cases;
use proptest::prelude::*;
use ring_program::{Inputs, Interface, Manifest};
use runtime::testing::{Calls, Choices, LIMBS, program_with_calls};
use runtime::{Keys, Runtime};
use sim::Machine;
use std::path::Path;

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
        let program = program_with_calls(log2, &choices, true);
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
        let mut program = Calls::new(log2, &bodies[..1], true);
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

/// The same meaning without functions and without what no output needs takes the same time.
#[test]
fn calls_and_results_that_no_output_needs_cost_nothing() {
    let head = "modulus_count 2\nm[0] 0xFFFFFFFFFFFFFFFF\nm[1] 0x3001\n";
    let function = "function f %1 -> %2, %3\n sr_mulps %2, %1, 3, m=1\n sr_ntt %3, %1, m=1\nend\n";
    let calls = "call f %1 -> %2, %3\nrepeat 50\n call f %1 -> %4, %5\n call f %4 -> %4, %6\nend\n";
    let manifest = r#"{"ring_dimension": 1024, "inputs": {"x": [1]}, "outputs": {"y": [2]}}"#;
    let manifest = Manifest::parse("p.json", manifest, Path::new("")).unwrap();
    let read = |text: &str| {
        let text = format!("{head}{text}halt\n");
        ring_program::read("p.fhetch", text.as_bytes(), Interface::Manifest(&manifest)).unwrap()
    };
    let (with_calls, plain) = (read(&format!("{function}{calls}")), read("sr_mulps %2, %1, 3, m=1\n"));
    let machine = Machine::rpu_128x128();
    let run = |program| {
        let runtime = Runtime::new(program, &machine, Keys::Streamed).unwrap();
        let timeline = runtime.time(false).unwrap();
        (timeline.total_ns, runtime.report(&timeline).unused_operations)
    };
    let ((time, unused), (plain_time, _)) = (run(&with_calls), run(&plain));
    assert_eq!((time, unused), (plain_time, 201));
    let findings = ring_program::lint(&with_calls);
    let of_calls = findings.iter().find(|finding| finding.line.is_none()).expect("a finding");
    assert!(of_calls.fault.to_string().contains("no output depends on 100 of 101 calls of `f`"));
}
